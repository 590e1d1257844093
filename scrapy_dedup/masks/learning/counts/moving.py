"""Texts that move from page to page: a list loses them on one page, and the next page has them then.

News come in front of a list and push the rest on. What such a page loses has not passed: it is another page's now. An
advertisement that rotates is lost on one page and stands on others, too, but on several at once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from ....content.versions import Version, by_place
from ...words import is_calendar
from ..parameters import current
from .place_counts import Place

Number = tuple[int, int]
"""Of a version: its crawl, and its number among the page's in that crawl, 0 being the latest."""


@dataclass(slots=True)
class _Where:
    """The pages that have a text at one place; two at most, since only one or several matters."""

    pages: set[str] = field(default_factory=set)
    by_version: dict[Number, set[int]] = field(default_factory=dict)

    def add(self, page: str, number: Number, shown: int) -> None:
        """Take in that it stands on *page*, whose version of that number shows *shown* (a hash)."""
        if len(self.pages) < 2:
            self.pages.add(page)
        there = self.by_version.setdefault(number, set())
        if len(there) < 2:
            there.add(shown)

    @property
    def is_at_once(self) -> bool:
        """Whether it stands on several pages in versions of one number."""
        return any(len(pages) > 1 for pages in self.by_version.values())


class Moves:
    """Which texts that places lose or get are lost and got by other pages.

    *changes* are (place, texts before, texts after); *pages* are (name, versions in order of time, the crawl that each
    is of, or none where that is not known); *lasting* are the places that no page was seen to change at, by which two
    URLs of one page are known. Linear in all.
    """

    def __init__(
        self,
        changes: Iterable[tuple[Place, Sequence[str], Sequence[str]]],
        pages: Iterable[tuple[str, Sequence[Version], Sequence[int]]],
        lasting: AbstractSet[Place] = frozenset(),
    ) -> None:
        asked: dict[Place, dict[int, _Where]] = defaultdict(dict)
        for place, before, after in changes:
            for text in _lost(before, after) + _lost(after, before):
                if wording := _wording(text):
                    asked[place].setdefault(wording, _Where())
        for page, versions, crawls in pages if asked else ():
            for number, version in zip(_numbers(len(versions), crawls), versions, strict=True):
                frame = hash(tuple([row for row in version.blocks if not row[1] and row[:2] in lasting]))
                for place, texts in by_place(row for row in version.rows() if row[:2] in asked).items():
                    # With the same texts here, and wherever none pass, they are one page at two URLs.
                    shown = hash((frame, *texts))
                    for wording in map(_wording, texts):
                        if wording in asked[place]:
                            asked[place][wording].add(page, number, shown)
        self._moving = {place: moving for place, wordings in asked.items() if (moving := _moving(wordings))}

    def without(self, place: Place, before: Sequence[str], after: Sequence[str]) -> tuple[int, int] | None:
        """Return how many texts were lost and came without moving; None if none has moved."""
        moving = self._moving.get(place)
        if moving is None:
            return None
        lost, came = _lost(before, after), _lost(after, before)
        lost_left = sum(_wording(text) not in moving for text in lost)
        came_left = sum(_wording(text) not in moving for text in came)
        return None if (lost_left, came_left) == (len(lost), len(came)) else (lost_left, came_left)


def _moving(wordings: dict[int, _Where]) -> set[int]:
    """Return the texts of a place that move, none where they rotate."""
    several = {wording: where for wording, where in wordings.items() if len(where.pages) > 1}
    moving = {wording for wording, where in several.items() if not where.is_at_once}
    return moving if len(several) - len(moving) <= current().rotating * len(several) else set()


def _numbers(versions: int, crawls: Sequence[int]) -> list[Number]:
    of_each = crawls if len(crawls) == versions else [0] * versions
    left = Counter(of_each)
    found = []
    for crawl in of_each:
        left[crawl] -= 1
        found.append((crawl, left[crawl]))
    return found


def _lost(before: Sequence[str], after: Sequence[str]) -> list[str]:
    return list((Counter(before) - Counter(after)).elements())


def _wording(text: str) -> int:
    """Return a hash of the words of a text that are neither numbers nor the calendar's; 0 where there are none.

    So a counter that by chance shows what another page's did is one that all pages have.
    """
    words = [word for word in text.split() if any(map(str.isalpha, word)) and not is_calendar(word)]
    return xxh3_64_intdigest(" ".join(words).encode("utf-8", "surrogatepass")) or 1 if words else 0
