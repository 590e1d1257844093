"""Two versions of one place of a page: which texts stayed, moved, came and went.

The place is a selector; its texts are compared as a multiset first, so that the same texts in another order are no
change. Texts that came and went are then told by their positions, with what both versions share at the beginning
and at the end left aside, and what they share in between in the same order kept (patience): linear but for a sort of
the texts that stand once in each.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["TextDifference", "aligned", "compared"]


@dataclass(frozen=True, slots=True)
class TextDifference:
    """How the texts of one place differ between two versions.

    ``lost`` and ``came``: texts of the one and not (so often) of the other. ``replaced``: the positions, from 0, whose
    text was lost and has another in its place, where the rest stayed in its place; None where texts moved, or their
    number changed, so that positions say nothing.
    """

    lost: int
    came: int
    replaced: tuple[int, ...] | None

    @property
    def is_same(self) -> bool:
        """Whether all texts are there in both, in any order."""
        return not self.lost and not self.came

    @property
    def is_growth(self) -> bool:
        """Whether texts came and none went."""
        return bool(self.came) and not self.lost


SAME = TextDifference(0, 0, ())


def compared(before: Sequence[str], after: Sequence[str]) -> TextDifference:
    """Compare the texts of one place in two versions.

    >>> compared(["a", "b", "c"], ["c", "a", "b"]).is_same
    True
    >>> compared(["a", "b", "c"], ["a", "x", "c"])
    TextDifference(lost=1, came=1, replaced=(1,))
    >>> compared(["a", "b"], ["new", "a", "b"])
    TextDifference(lost=0, came=1, replaced=None)
    """
    if before == after:
        return SAME
    old, new = Counter(before), Counter(after)
    lost, came = (old - new).total(), (new - old).total()
    if not lost and not came:
        return SAME
    replaced = None
    if len(before) == len(after):
        differing = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        if len(differing) == lost == came:
            replaced = tuple(differing)
    return TextDifference(lost, came, replaced)


def aligned(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of positions of equal items, in rising order in both: what stayed in its order.

    >>> aligned("Today is Sunday the 24th".split(), "Today is Monday the 25th".split())
    [(0, 0), (1, 1), (3, 3)]
    """
    start = 0
    least = min(len(before), len(after))
    while start < least and before[start] == after[start]:
        start += 1
    end = 0
    while end < least - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old_end, new_end = len(before) - end, len(after) - end
    pairs = [(i, i) for i in range(start)]
    pairs += _patience(before, after, start, old_end, new_end)
    return pairs + [(old_end + i, new_end + i) for i in range(end)]


def _patience(
    before: Sequence[str], after: Sequence[str], start: int, old_end: int, new_end: int
) -> list[tuple[int, int]]:
    """Return the longest rising sequence of the items that stand once in each."""
    old = _once(before, start, old_end)
    new = _once(after, start, new_end)
    common = [(i, new[item]) for item, i in old.items() if item in new]  # rising in i
    tails: list[int] = []  # the least last position of a rising sequence, by its length
    last: list[int] = []  # the index in common of that
    links: list[int] = []
    for index, (_, j) in enumerate(common):
        length = bisect_left(tails, j)
        links.append(last[length - 1] if length else -1)
        if length == len(tails):
            tails.append(j)
            last.append(index)
        else:
            tails[length] = j
            last[length] = index
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(common[index])
        index = links[index]
    return found[::-1]


def _once(items: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(items[start:end])
    return {items[i]: i for i in range(start, end) if counts[items[i]] == 1}
