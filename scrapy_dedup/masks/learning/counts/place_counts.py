"""Counts of the changes of one place from version to version, with some examples."""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from .alignment import TextDifference

Place = tuple[str, str]
"""(selector, attribute)."""
Templates = tuple[tuple[object, ...], ...]
"""The URL templates of the URLs that one page was seen under, sorted."""

MOST_EXAMPLES = 64
"""Changes that are kept of a cell."""
MOST_POSITIONS = 50
"""Longer lists are taken as a whole."""


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One change: a hash of its page (so that any sample of them is one of pages), and the texts."""

    order: int
    page: str
    pair: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionPair:
    """Two versions of a page, one after the other, by the number of the first."""

    page: str
    number: int

    def change(self, before: Iterable[str], after: Iterable[str]) -> Change:
        """Return a change between them."""
        return Change(order_of(self.page), self.page, self.number, tuple(before), tuple(after))


@dataclass(slots=True)
class Cell:
    """Counts of one position, or of a place as a whole: ``changes`` may be parts of one (3 of 5 texts went)."""

    opportunities: int = 0
    changes: float = 0.0
    pages: set[str] = field(default_factory=set)
    changed_pages: set[str] = field(default_factory=set)
    examples: list[Change] = field(default_factory=list)

    def count(self, pair: VersionPair, share: float, change: Change | None = None) -> None:
        """Count an opportunity, of which *share* changed."""
        self.opportunities += 1
        self.pages.add(pair.page)
        if share:
            self.changes += share
            self.changed_pages.add(pair.page)
        if change is not None:
            insort(self.examples, change)
            del self.examples[MOST_EXAMPLES:]

    def add(self, other: "Cell") -> None:
        """Take in another's counts."""
        self.opportunities += other.opportunities
        self.changes += other.changes
        self.pages |= other.pages
        self.changed_pages |= other.changed_pages
        self.examples = sorted([*self.examples, *other.examples])[:MOST_EXAMPLES]


@dataclass(slots=True)
class PlaceCounts:
    """What is known of one place on the pages of one template.

    ``whole`` counts pairs of versions with the place in both; ``positions`` those with the same number of texts, none
    of which moved, by (position from 0, number of texts). ``grown``: pairs in which texts only came.
    ``went``, ``appeared``: pairs in which the place was in the first version only, or in the second.
    """

    whole: Cell = field(default_factory=Cell)
    positions: dict[tuple[int, int], Cell] = field(default_factory=dict)
    grown: int = 0
    grown_examples: list[Change] = field(default_factory=list)
    went: Cell = field(default_factory=Cell)
    appeared: int = 0

    def compare(self, pair: VersionPair, before: Sequence[str], after: Sequence[str], found: TextDifference) -> None:
        """Count a pair of versions that have this place both."""
        change = None if found.is_same else pair.change(before, after)
        if found.is_growth:
            self.grown += 1
            self.whole.count(pair, 0.0)
            assert change is not None
            insort(self.grown_examples, change)
            del self.grown_examples[3:]
            return
        self.whole.count(pair, found.lost / len(before), change)
        if found.replaced is None or len(before) > MOST_POSITIONS:
            return
        number = len(before)
        replaced = set(found.replaced)
        for position in range(number):
            cell = self.positions.setdefault((position, number), Cell())
            if position in replaced:
                cell.count(pair, 1.0, pair.change((before[position],), (after[position],)))
            else:
                cell.count(pair, 0.0)

    def moved(self, pair: VersionPair, share: float) -> None:
        """Count a pair of versions between which texts moved to or from other pages; *share* went for good.

        It is no example of what passes, whatever that share is.
        """
        self.whole.count(pair, share)

    def gone(self, pair: VersionPair, before: Sequence[str]) -> None:
        """Count a pair of versions of which only the first has this place."""
        self.went.count(pair, 1.0, pair.change(before, ()))

    def add(self, other: "PlaceCounts") -> None:
        """Take in another's counts."""
        self.whole.add(other.whole)
        for at, cell in other.positions.items():
            self.positions.setdefault(at, Cell()).add(cell)
        self.grown += other.grown
        self.grown_examples = sorted([*self.grown_examples, *other.grown_examples])[:3]
        self.went.add(other.went)
        self.appeared += other.appeared


def order_of(page: str) -> int:
    """Return a number that puts pages in an order that says nothing of them."""
    return xxh3_64_intdigest(page.encode("utf-8", "surrogatepass"))


def pooled(found: Iterable[PlaceCounts]) -> PlaceCounts:
    """Return the sum of what is known."""
    total = PlaceCounts()
    for each in found:
        total.add(each)
    return total
