"""Where like pages of a site differ, in words: the places at which transient content may hide duplicates."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import shorten

from ...masks.model import Mask
from ...masks.selectors import css_of
from ..contents import COMMON
from .controls import SeenPage, UnequalPair

NOTABLE_SHARE = 0.05
"""Share of the pages of a site from which on it is worth a line that they are nearly alike."""
COMPARED = 200
"""Pairs that are compared place by place."""
WIDTH = 40
"""Characters of a text that are shown."""


def differing_note(undecided: Iterable[UnequalPair], pages: Sequence[SeenPage], mask: Mask | None) -> str | None:
    """Return how many *pages* are nearly alike, where they differ and what would help; None where there are few."""
    # Pages that have less in common differ in more than a few words.
    near = [pair for pair in undecided if pair.share >= COMMON]
    alike = {page.url for pair in near for page in (pair.one, pair.other)}
    if not near or len(alike) < NOTABLE_SHARE * len(pages):
        return None
    places: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    for pair in near[:COMPARED]:
        for place, texts in _differences(_by_place(pair.one, mask), _by_place(pair.other, mask)):
            places[place] += 1
            examples.setdefault(place, texts)
    said = f"{len(alike)} of {len(pages)} pages are like another one and differ from it in a few words"
    if places:
        place = min(places, key=lambda each: (-places[each], each))
        said += f", most often at {css_of(place)} ({' and '.join(map(_quoted, examples[place]))})"
    return f"{said}: if these are transient, another crawl may show it, or more refetches (DEDUP_STARTER, DEDUP_EXTRA)"


def _differences(
    one: Mapping[str, Counter[str]], other: Mapping[str, Counter[str]]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the places at which the texts of two pages differ, with a text that only the one or the other has."""
    for place in sorted(one.keys() | other.keys()):
        here, there = one.get(place, Counter()), other.get(place, Counter())
        if here != there:
            yield place, (min(here - there, default=""), min(there - here, default=""))


def _by_place(page: SeenPage, mask: Mask | None) -> dict[str, Counter[str]]:
    """Return the compared texts of a page by place."""
    lasting = (mask or Mask()).lasting(page.version, page.url)
    found: dict[str, Counter[str]] = {}
    for selector, attribute, text in lasting.seen:
        if not attribute:
            found.setdefault(selector, Counter())[text] += 1
    return found


def _quoted(text: str) -> str:
    return f'"{shorten(text, WIDTH, placeholder=" ...")}"' if text else "nothing"
