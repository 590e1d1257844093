"""URLs grouped by their kept keys: which groups support a function, and which speak against it."""

from dataclasses import dataclass

import numpy as np

from ..evidence.arrays import Codes, Flags, Hashes, Rows


@dataclass(frozen=True, slots=True)
class Groups:
    """URLs that agree on the kept keys stand together, sorted by content inside each group.

    The unit of evidence is the informative group (two URLs or more), never the pair: 1000+1+1+1
    merged URLs lose three of four pages and hardly show in a count of pairs.
    """

    order: Rows
    """Row numbers, groups and contents contiguous."""
    group: Rows
    """Group number of each entry of ``order``, ascending."""
    run: Rows
    """Number of the (group, content) run of each entry of ``order``, ascending."""
    size: Rows
    """URLs in each group."""
    contents: Rows
    """Distinct contents in each group."""
    first: Rows
    """A row of each group."""
    merged: Rows
    """Entries of ``order`` in groups of two URLs or more."""
    merged_starts: Rows
    """Where in ``merged`` each of these groups starts."""

    @property
    def informative(self) -> int:
        """Number of groups of two URLs or more."""
        return int(np.count_nonzero(self.size > 1))

    @property
    def bad(self) -> int:
        """Number of groups with two contents or more: the counterexamples."""
        return int(np.count_nonzero(self.contents > 1))

    @property
    def lost(self) -> int:
        """Number of contents that a crawl would miss: all but one of each group."""
        return int((self.contents - 1).sum())

    @property
    def removed(self) -> int:
        """Number of URLs that need no download, those of bad groups not credited."""
        return int((self.size - 1)[self.contents == 1].sum())

    def rows(self, chosen: Flags) -> Rows:
        """Return the rows in the *chosen* groups."""
        return self.order[chosen[self.group]]


def grouped(kept: Hashes, content: Codes) -> Groups:
    """Return the groups of URLs with equal *kept* hashes; O(n log n)."""
    order = np.lexsort((content, kept))
    if not len(order):
        empty = np.zeros(0, dtype=np.intp)
        return Groups(empty, empty, empty, empty, empty, empty, empty, empty)
    new_group = np.ones(len(order), dtype=np.bool_)
    new_group[1:] = kept[order][1:] != kept[order][:-1]
    new_run = new_group.copy()
    new_run[1:] |= content[order][1:] != content[order][:-1]
    group = np.cumsum(new_group) - 1
    run = np.cumsum(new_run) - 1
    size = np.bincount(group)
    contents = np.bincount(group[new_run])
    first = order[np.flatnonzero(new_group)]
    merged = np.flatnonzero(size[group] > 1)
    sizes = size[size > 1]
    return Groups(order, group, run, size, contents, first, merged, np.cumsum(sizes) - sizes)


def varying(groups: Groups, codes: Codes) -> Flags:
    """Return, for each group, whether its URLs differ in *codes*."""
    result = np.zeros(len(groups.size), dtype=np.bool_)
    if len(groups.merged):
        ordered = codes[groups.order[groups.merged]]
        starts = groups.merged_starts
        low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
        result[groups.size > 1] = low != high
    return result


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sampled pairs of URLs of one group: row numbers, left and right."""

    left: Rows
    right: Rows


def sampled_pairs(groups: Groups, chosen: Flags, *, same: bool, most: int, rng: np.random.Generator) -> Pairs:
    """Return at most *most* pairs inside the *chosen* groups, of the *same* content or of different ones.

    Groups take part with at most 64 URLs each, so that a huge one does not outvote the others.
    """
    position = np.flatnonzero(chosen[groups.group])
    if not len(position):
        return Pairs(position, position)
    number = groups.group[position]
    shuffled = rng.permutation(len(position))
    by_group = shuffled[np.argsort(number[shuffled], kind="stable")]
    starts = np.flatnonzero(np.r_[True, number[by_group][1:] != number[by_group][:-1]])
    rank = np.arange(len(by_group)) - np.repeat(starts, np.diff(np.r_[starts, len(by_group)]))
    left = position[by_group[rank < 64]]
    if len(left) > most:
        left = rng.choice(left, most, replace=False)
    label = groups.run if same else groups.group
    first = np.searchsorted(label, label[left], "left")
    last = np.searchsorted(label, label[left], "right")
    # Any entry of the same run (or group) but the left one itself.
    width = last - first
    left, first, width = left[width > 1], first[width > 1], width[width > 1]
    right = first + (left - first + 1 + rng.integers(0, width - 1)) % width
    if not same:
        differ = groups.run[left] != groups.run[right]
        left, right = left[differ], right[differ]
    return Pairs(groups.order[left], groups.order[right])
