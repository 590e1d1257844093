"""The texts of a site's pages at one place, as each page showed them last: what a slot must fit to act there."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ....content.versions import Version, by_place
from ....urls.templates import template_of
from ...path import Template, TransientPath
from ...slots import ANYTHING, hidden, joined, pieces
from ...words import has_digit, is_typed
from ..counts.place_counts import Place

__all__ = ["SitePage", "SiteTexts", "changing_texts", "shape_of"]

MOST_PER_TEMPLATE = 50
"""Pages of a URL template that are looked at."""
MOST_PAGES = 3_000
"""Pages of a site that are looked at."""

_code = re.compile(r"(?=.*[0-9])[0-9a-fA-F]{8,}").fullmatch
_digits = re.compile(r"[0-9]+").sub


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page: its URL, the template of that, when it was fetched (seconds since 1970), and its texts by place."""

    url: str
    template: Template
    at: float
    texts: Mapping[Place, Sequence[str]] = field(repr=False)


class SiteTexts:
    """The pages of a site, in order of time, each as it was seen last; of each URL template so many."""

    def __init__(self, kept: Iterable[tuple[str, float, Version]]) -> None:
        latest: dict[str, tuple[float, Version]] = {}
        for url, at, version in kept:
            if url not in latest or at >= latest[url][0]:
                latest[url] = at, version
        by_template: defaultdict[Template, list[tuple[float, str]]] = defaultdict(list)
        for at, url in sorted((at, url) for url, (at, _) in latest.items()):
            by_template[template_of(url)].append((at, url))
        chosen = [each for found in by_template.values() for each in _spread(found, MOST_PER_TEMPLATE)]
        self.pages = tuple(
            [
                SitePage(url, template_of(url), at, by_place(latest[url][1].rows()))
                for at, url in _spread(sorted(chosen), MOST_PAGES)
            ]
        )

    @property
    def templates(self) -> frozenset[Template]:
        """The URL templates of the pages."""
        return frozenset(page.template for page in self.pages)

    @cached_property
    def layouts(self) -> Mapping[Template, Counter[frozenset[str]]]:
        """Of each URL template the places of texts that its pages have, with the number of pages."""
        found: defaultdict[Template, Counter[frozenset[str]]] = defaultdict(Counter)
        for page in self.pages:
            found[page.template][frozenset([selector for selector, attribute in page.texts if not attribute])] += 1
        return found

    def showing(self, path: TransientPath) -> Iterator[tuple[SitePage, list[str] | None]]:
        """Yield each page that has the place of *path*, with what changes there; None where a text does not fit its slot."""
        for page in self.pages:
            texts = page.texts.get((path.selector, path.attribute))
            if texts is not None and (found := changing_texts(path, texts)) != []:
                yield page, found


def changing_texts(path: TransientPath, texts: Sequence[str]) -> list[str] | None:
    """Return what changes of the texts at the place of *path*: [] where none is meant, None where one does not fit."""
    if path.position:
        number = path.position - 1 if path.position > 0 else len(texts) + path.position
        texts = texts[number : number + 1] if 0 <= number and path.of in (0, len(texts)) else []
    found = []
    for text in texts:
        if path.slot is None:
            found.append(text)
            continue
        words = pieces(text, path.attribute)
        ranges = hidden(words, path.slot, path.attribute)
        if ranges is None:
            return None
        found.append(" ".join([joined(words[start:end], path.attribute) for start, end in ranges]))
    return found


def shape_of(text: str, words: Container[str] = ()) -> str:
    """Return the shape of a text: numbers, codes, words of the calendar and *words* stand for others of their kind.

    >>> shape_of("Sun, 22 Nov 2026 12:31:05") == shape_of("Mon, 3 May 2027 08:00:59")
    True
    """
    return " ".join(["D" if word in words else _shape_of_word(word) for word in text.split()])


def _shape_of_word(word: str) -> str:
    if _code(word):
        return "X"
    if has_digit(word):
        return _digits("0", word)
    return "D" if is_typed(word) else word


def is_whole(path: TransientPath) -> bool:
    """Return whether the slot of a path explains all of a text: no word stays that is its page's own."""
    return path.slot is None or not any(ANYTHING in literal.split() for literal in path.slot)


def _spread(found: Sequence[tuple[float, str]], most: int) -> Sequence[tuple[float, str]]:
    """Return at most so many, spread over all."""
    if len(found) <= most:
        return found
    return [found[number * len(found) // most] for number in range(most)]
