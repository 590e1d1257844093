"""Fewer URLs that ask the same question: which duplicates a function still keeps apart.

URLs drawn at random say little: two URLs of one page are both in a twelfth of the URLs once in 150
times, and a page that a guard would wrongly merge with it is hardly ever the third.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..config import current
from ..evidence.arrays import Flags, Hashes, Rows
from .frame import Frame, Level


@dataclass(frozen=True, slots=True)
class FrameSample:
    """Some URLs of a frame, and the share that they hold of the duplicates that are kept apart."""

    frame: Frame
    share: float


SEED = 0
"""Seed of all random choices of learning: the same observations give the same rules."""


def sampled(frame: Frame, levels: Mapping[str, Level], most: int, rng: np.random.Generator) -> FrameSample:
    """Return at most about *most* URLs of a frame that show what *levels* leave to be found.

    Of URLs that the function merges one is kept. Of the others come first whole duplicate clusters
    that are still kept apart, at random, then the URLs that are nearest to them - those that
    differ in a single key, or only in keys that vary inside clusters -, since these are the pages that
    a wrong function would take for theirs.
    """
    groups = frame.groups(levels)
    one_each = frame.subset(np.sort(groups.first))
    _, cluster, sizes = np.unique(one_each.content, return_inverse=True, return_counts=True)
    kept_apart = int((sizes - 1).sum())
    if len(one_each) <= most:
        return FrameSample(one_each, 1.0)
    order = rng.permutation(np.flatnonzero(sizes > 1))
    clusters = order[np.cumsum(sizes[order]) <= most // 2]
    taken = np.zeros(len(sizes), dtype=np.bool_)
    taken[clusters] = True
    chosen = taken[cluster]
    near = np.flatnonzero(~chosen & _near(one_each, levels, chosen))
    room = most - int(chosen.sum())
    if len(near) > room:
        near = rng.choice(near, room, replace=False)
    rows: Rows = np.sort(np.r_[np.flatnonzero(chosen), near])
    return FrameSample(one_each.subset(rows), int((sizes[clusters] - 1).sum()) / max(kept_apart, 1))


def searched(frame: Frame, keys: Rows, most: int, rng: np.random.Generator) -> Rows:
    """Return the rows of at most *most* URLs of whole duplicate clusters, those that are kept apart first.

    *keys* tells which URLs a function makes one. Half of the rows are of clusters that it keeps apart, a
    quarter are URLs that are nearest to these, the others are clusters at random.
    """
    _, cluster, sizes = np.unique(frame.content, return_inverse=True, return_counts=True)
    order = np.lexsort((keys, cluster))
    by_cluster, by_key = cluster[order], keys[order]
    new = np.r_[True, (by_cluster[1:] != by_cluster[:-1]) | (by_key[1:] != by_key[:-1])]
    apart = np.bincount(by_cluster[new], minlength=len(sizes)) > 1
    chosen = _whole(cluster, sizes, rng.permutation(np.flatnonzero(apart)), most // 2)
    near = np.flatnonzero(~chosen & _near(frame, {}, chosen))
    chosen[near if len(near) <= most // 4 else rng.choice(near, most // 4, replace=False)] = True
    others = rng.permutation(np.flatnonzero(~np.isin(np.arange(len(sizes)), cluster[chosen])))
    chosen |= _whole(cluster, sizes, others, most - int(chosen.sum()))
    return np.flatnonzero(chosen)


def _whole(cluster: Rows, sizes: Rows, order: Rows, most: int) -> Flags:
    """Return the rows of clusters, in this order, as long as there is room for them."""
    taken = np.zeros(len(sizes), dtype=np.bool_)
    small = order[sizes[order] <= most // current().least_contents]
    taken[small[np.cumsum(sizes[small]) <= most]] = True
    found: Flags = taken[cluster]
    return found


def _near(frame: Frame, levels: Mapping[str, Level], chosen: Flags) -> Flags:
    """Return which URLs differ from a chosen one in one key, or only in keys that vary in clusters."""
    kept = frame.kept_hashes(levels)
    near = np.zeros(len(frame), dtype=np.bool_)
    rest = kept.copy()
    for key, clusters in frame.support().items():
        if clusters >= current().least_contents and levels.get(key, Level.KEPT) is not Level.DROPPED:
            own = frame.hashes(key, levels.get(key, Level.KEPT))
            near |= _meets(kept - own, chosen)
            rest -= own
    return near | _meets(rest, chosen)


def _meets(rest: Hashes, chosen: Flags) -> Flags:
    """Return which rows have the *rest* of a chosen row: in linear time, with few false positives."""
    size = 1 << max(10, (8 * len(rest)).bit_length())
    bucket = (rest & np.uint64(size - 1)).astype(np.intp)
    met = np.zeros(size, dtype=np.bool_)
    met[bucket[chosen]] = True
    return met[bucket]
