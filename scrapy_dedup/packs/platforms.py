"""Platforms told by what pages name as their generator, and by the URL templates of a site.

A *template* of a pack is ``PATH?NAMES``. ``PATH`` is the last segment of a path (``viewtopic.php``), or one segment
anywhere (``/product-category/``), or nothing. ``NAMES`` are parameters that a URL has to have, joined by ``&``, some with the
beginning of a value (``option=com_``).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..content.page_content import GENERATOR
from ..files.errors import FormError
from ..rules.normal_texts import normal_key, normal_value
from ..urls import values_of
from .model import Platform

__all__ = ["Template", "generators_of", "platforms_told"]

MOST_URLS: Final = 2_000
"""URLs of a site that are compared with templates; of more, every n-th is."""
LEAST_URLS: Final = 3
"""URLs that must have a platform's templates: one link may lead to another site's copy."""
LEAST_SHARE: Final = 0.2
"""Share of the URLs that is enough where all of them have the same template."""


@dataclass(frozen=True, slots=True)
class Template:
    """A URL template of a pack, taken apart."""

    path: str = ""
    names: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> "Template":
        """Return the template that a text describes. Raises FormError.

        >>> Template.of("index.php?option=com_").names
        (('q.option', 'com_'),)
        """
        path, _, query = text.partition("?")
        segments = path.strip("/").split("/")
        if len(segments) > 1 or not text.strip("/?"):
            raise FormError(
                f'"{text}" is no URL template',
                'a template is a last segment and names of parameters, such as "viewtopic.php?t"',
            )
        names = [part.partition("=") for part in query.split("&") if part]
        keys = ((normal_key(f"q.{name}"), value) for name, _, value in names)
        return cls(path, tuple((key, normal_value(key, value)) for key, value in keys))

    @property
    def stem(self) -> str:
        """The segment, without an extension if it is the last one."""
        return self.path.strip("/") if self.path.startswith("/") else self.path.rpartition(".")[0] or self.path

    @property
    def extension(self) -> str:
        """The extension of the segment, "" if it has none."""
        stem, dot, extension = self.path.rpartition(".")
        return extension if dot and stem and not self.path.startswith("/") else ""

    def holds(self, view: Mapping[str, str | None]) -> bool:
        """Return whether a URL, by its view, has this template.

        >>> Template.of("viewtopic.php?t").holds(values_of("http://a.test/forum/viewtopic.php?f=2&t=4"))
        True
        """
        if any(key not in view or not (view[key] or "").startswith(value) for key, value in self.names):
            return False
        if not self.path:
            return True
        segments = [value or "" for key, value in view.items() if key.startswith("path.") and key[5:].isdigit()]
        if self.path.startswith("/"):
            return self.stem in segments
        return bool(segments) and segments[-1] == self.stem and (view.get("ext") or "") == self.extension


def generators_of(headers: Iterable[Mapping[str, str] | None]) -> Counter[str]:
    """Return how many responses name what as their generator."""
    found: Counter[str] = Counter()
    for each in headers:
        if each and (named := each.get(GENERATOR)):
            found.update({name.strip() for name in named.split(", ") if name.strip()})
    return found


def platforms_told(
    urls: Sequence[str], generators: Mapping[str, int], platforms: Iterable[Platform]
) -> tuple[str, ...]:
    """Return the names of the platforms of a site, by its URLs and by what its pages name as their generators."""
    most = max(generators.values(), default=0)
    usual = [name.lower() for name, count in generators.items() if 2 * count >= most]
    views = [values_of(url) for url in urls[:: len(urls) // MOST_URLS + 1]]
    found = {
        each.name
        for each in platforms
        if any(name.startswith(begins.lower()) for name in usual for begins in each.generators)
        or _is_told(views, [Template.of(text) for text in each.templates])
    }
    return tuple(sorted(found))


def _is_told(views: Sequence[Mapping[str, str | None]], templates: Sequence[Template]) -> bool:
    """Return whether URLs have two of some templates, or a good part of them one."""
    counts = [sum(template.holds(view) for view in views) for template in templates]
    met = [count for count in counts if count]
    return sum(met) >= LEAST_URLS and (len(met) > 1 or sum(met) >= LEAST_SHARE * len(views))
