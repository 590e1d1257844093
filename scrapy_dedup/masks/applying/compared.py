"""Pages compared without their transient and volatile texts: fingerprints and reduced versions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from ...content.sketch import Sketch, sketch_of_texts
from ...urls.templates import template_of
from .plan import Plan, Ranges, Reach
from .spans import lasting_texts, without

if TYPE_CHECKING:
    from ...content.versions import Version

MOST_REMEMBERED: Final = 12
"""Of one version: what the masks of a learning, and of the one before, have made of it."""
_Made = TypeVar("_Made")


class ComparedPages:
    """What is left out where pages are compared, by a *plan* of the given *reach*; *digest* tells one plan from another."""

    def __init__(self, plan: Plan, reach: Reach, digest: str) -> None:
        self._plan = plan
        self._reach = reach
        self._digest = digest

    def hidden(self, version: "Version", url: str | None, *, carried: bool = False) -> Mapping[int, Ranges]:
        """Return the ranges left out of each row of a version, by its index."""
        if not self._reach.applies_to(url):
            return {}
        return self._remembered(
            version,
            ("rows", url and template_of(url), carried),
            lambda: self._plan.hidden(version.blocks, self._reach.kind(version.blocks, url, carried=carried)),
        )

    def _remembered(self, version: "Version", what: tuple[object, ...], make: Callable[[], _Made]) -> _Made:
        """Return what *make* makes of a version, computed once for each plan."""
        known, key = version.compared, (self._digest, what)
        if key not in known:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            known[key] = make()
        found: _Made = known[key]
        return found

    def sketch(self, version: "Version", url: str | None, *, carried: bool) -> Sketch:
        """Return the sketch of the texts that are compared."""
        return self._remembered(
            version,
            ("sketch", url and template_of(url), carried),
            lambda: sketch_of_texts(lasting_texts(version.blocks, self.hidden(version, url, carried=carried))),
        )

    def left_of(self, version: "Version", url: str | None, *, carried: bool) -> "Version":
        """Return a version with its texts reduced to what is compared."""
        hidden = self.hidden(version, url, carried=carried)
        rows = [
            (selector, "", text if index not in hidden else without(text, hidden[index]))
            for index, (selector, attribute, text) in enumerate(version.blocks)
            if not attribute
        ]
        return replace(version, blocks=tuple([row for row in rows if row[2]]), markup=())

    def parted(self, version: "Version", url: str | None) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the texts that are compared as they are, and (text, what is compared of it) of the others."""
        hidden = self.hidden(version, url)
        whole, cut = [], []
        for index, (_, attribute, text) in enumerate(version.blocks):
            if attribute:
                continue
            if index in hidden:
                cut.append((text, without(text, hidden[index])))
            else:
                whole.append(text)
        return whole, cut
