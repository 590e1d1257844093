"""Which keys are irrelevant together: the document's two entropies, given all that is kept.

One parameter at a time, two irrelevant parameters with a new value in every URL hide each other, and a
parameter with few values looks irrelevant however much it matters. So all keys whose values are open
when the page is known, H(V|F) > 0, are taken out together; while the rest leaves the page open, the key
is put back for which H(F|rest) - H(F|rest, V) exceeds H(V|F, rest) by most: that tells the pages apart
and is not random to them. Where no single key helps, pairs are tried, as the document tries tuples (which
page is shown may depend on whether two parameters are equal).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...config import current
from ...data.frame import Frame, Level
from ...data.grouping import Groups, varying
from ...evidence.arrays import Codes, Flags, Rows
from ...evidence.shares import worth_asking

MIN_SUPPORT = 3
"""Duplicate clusters in which a key must vary to be asked."""
MAX_CANDIDATES = 60
"""Keys that are asked, those that vary in most clusters."""
MAX_ROWS = 100_000
"""URLs of groups with several pages that entropies are taken of; of more, those of some pages."""
MAX_PAIRED = 10
"""Keys of which pairs are tried."""
MAX_BAD = 0.5
"""Share of the groups that a key brings together which may be of several pages, for it to stay out."""
MIN_EXPLAINED = 0.25
"""Share of what is open about the pages that a pair must explain beyond chance."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Irrelevant:
    """What may be dropped together, and what must not: keys that vary with the page being the same.

    Each key of ``dropped`` and ``doubtful`` varies in enough groups of one page or more; of those of
    ``doubtful`` too many are of several pages, which no key explains (noise, or other pages under
    some path).
    """

    dropped: tuple[str, ...]
    doubtful: tuple[str, ...]
    put_back: tuple[str, ...]


def irrelevant(frame: Frame) -> Irrelevant:
    """Return the keys of a frame that are irrelevant together, and those that were put back.

    O(n log n) per key and round; a round puts back all keys that the pages demand in different groups.
    """
    support = frame.support()
    chosen = sorted((key for key in support if support[key] >= MIN_SUPPORT), key=lambda key: (-support[key], key))
    kept = chosen[:MAX_CANDIDATES]
    put_back: list[str] = []
    while kept:
        wanted = _demanded(frame, kept)
        if not wanted:
            break
        put_back += wanted
        kept = [key for key in kept if key not in wanted]
    kept = _evident(frame, kept)
    dropped = _clean(frame, kept)
    doubtful = [key for key in kept if key not in dropped]
    return Irrelevant(tuple(sorted(dropped)), tuple(sorted(doubtful)), tuple(put_back))


def without(keys: Sequence[str]) -> dict[str, Level]:
    """Return the levels at which *keys* are dropped."""
    return dict.fromkeys(keys, Level.DROPPED)


def _evident(frame: Frame, dropped: Sequence[str]) -> list[str]:
    """Return those of *dropped* that enough groups of one page speak for."""
    kept = list(dropped)
    while kept:
        groups = frame.groups(without(kept))
        clean = (groups.contents == 1) & (groups.size > 1)
        weak = [
            key
            for key in kept
            if np.count_nonzero(varying(groups, frame.columns[key]) & clean) < current().proposed_groups
        ]
        if not weak:
            break
        kept = [key for key in kept if key not in weak]
    return kept


def _demanded(frame: Frame, dropped: Sequence[str]) -> list[str]:
    """Return the keys, or the pair, that the pages demand most; [] where none helps or all is well."""
    groups = frame.groups(without(dropped))
    if worth_asking(groups.lost, groups.informative):
        return []
    rows = groups.order[groups.contents[groups.group] > 1]
    of_group = groups.group[groups.contents[groups.group] > 1]
    content = frame.content[rows].astype(np.int64)
    if len(rows) > MAX_ROWS:
        # Integers pages, so that values still repeat within them.
        some = content % (len(rows) // MAX_ROWS + 1) == 0
        rows, of_group, content = rows[some], of_group[some], content[some]
    group, content = _renumbered(of_group), _renumbered(content)
    merits = {key: _merit(group, content, _codes(frame, rows, key)) for key in dropped}
    ranked = sorted(dropped, key=lambda key: (-merits[key][0], key))
    demanded: list[str] = []
    taken = np.zeros(int(group.max(initial=0)) + 1, dtype=np.bool_)
    for key in ranked:
        merit, concerned = merits[key]
        if merit > 0 and not (taken & concerned).any():
            demanded.append(key)
            taken |= concerned
    if demanded:
        return demanded
    if len(taken) < current().proposed_groups:
        return []
    pairs = {
        pair: _explained(group, content, _renumbered(_paired(*(_codes(frame, rows, key) for key in pair))))
        for pair in combinations(ranked[:MAX_PAIRED], 2)
        if (merits[pair[0]][1] & merits[pair[1]][1]).any()
    }
    pair = max(pairs, key=lambda keys: (pairs[keys], keys), default=None)
    if pair is not None and pairs[pair] >= MIN_EXPLAINED:
        return list(pair)
    return _guilty(frame, groups, dropped)


def _guilty(frame: Frame, groups: Groups, dropped: Sequence[str]) -> list[str]:
    """Return the key that brings different pages together oftener than one page, [] if none does."""
    counts = _counts(frame, groups, dropped)
    shares = {key: bad / informative for key, (bad, informative) in counts.items() if bad >= current().proposed_groups}
    worst = max(shares, key=lambda key: (shares[key], key), default=None)
    return [worst] if worst is not None and shares[worst] > MAX_BAD else []


def _clean(frame: Frame, dropped: Sequence[str]) -> list[str]:
    """Return *dropped* less those, the worst first, with more groups of several pages than noise makes."""
    kept = list(dropped)
    while kept:
        counts = _counts(frame, frame.groups(without(kept)), kept)
        bad = {
            key: count / informative
            for key, (count, informative) in counts.items()
            if not worth_asking(count, informative)
        }
        if not bad:
            break
        kept.remove(max(bad, key=lambda key: (bad[key], key)))
    return kept


def _counts(frame: Frame, groups: Groups, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return, per key, how many groups whose URLs differ in it are of several pages, and how many there are."""
    found = {}
    for key in keys:
        differs = varying(groups, frame.columns[key])
        found[key] = int((differs & (groups.contents > 1)).sum()), int(differs.sum())
    return found


def _codes(frame: Frame, rows: Rows, key: str) -> Numbers:
    codes: Codes = frame.columns[key]
    return codes[rows].astype(np.int64)


def _merit(group: Numbers, content: Numbers, values: Numbers) -> tuple[float, Flags]:
    """Return I(F;V|rest) - H(V|F,rest) in bits, summed over URLs, and the groups in which values differ.

    *group* is ascending. Only groups in which values also repeat are counted: where they never do (two
    URLs, two sessions, two pages) any value seems to explain the page.
    """
    concerned = _differing(group, values)
    group, content, values = _of(concerned, group, content, values)
    by_value = _paired(group, values)
    size = np.bincount(group, minlength=len(concerned))
    distinct = np.bincount(np.unique(by_value) // _radix(values), minlength=len(concerned))
    group, content, by_value = _of(size > distinct, group, content, by_value)
    by_page = _paired(group, content)
    # H(F|g) = S(g) - S(g,F), H(F|g,V) = S(g,V) - S(g,V,F), H(V|g,F) = S(g,F) - S(g,V,F), each times n.
    both = _paired(by_value, content)
    return _weight(group) - 2 * _weight(by_page) - _weight(by_value) + 2 * _weight(both), concerned


def _explained(group: Numbers, content: Numbers, values: Numbers) -> float:
    """Return the share of H(F|rest) that values explain, less what shuffled ones explain by chance."""
    whole = _weight(group) - _weight(_paired(group, content))
    group, content, values = _of(_differing(group, values), group, content, values)
    shuffled = np.empty_like(values)
    chance = np.random.default_rng(0).random(len(values))
    shuffled[np.argsort(group, kind="stable")] = values[np.lexsort((chance, group))]
    return (_left_open(group, content, shuffled) - _left_open(group, content, values)) / whole


def _differing(group: Numbers, values: Numbers) -> Flags:
    """Return, per number of the ascending *group*, whether its values differ."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    different: Flags = np.minimum.reduceat(values, starts) != np.maximum.reduceat(values, starts)
    return different


def _of(chosen: Flags, group: Numbers, *columns: Numbers) -> tuple[Numbers, ...]:
    """Return the entries of the chosen groups."""
    rows = chosen[group]
    return group[rows], *(column[rows] for column in columns)


def _left_open(group: Numbers, content: Numbers, values: Numbers) -> float:
    """Return H(F|rest, V) in bits, summed over URLs."""
    by_value = _paired(group, values)
    return _weight(by_value) - _weight(_paired(by_value, content))


def case_merit(groups: Groups, among: Flags, content: Codes, values: Codes) -> float:
    """Return H(F|rest) - H(F|rest, V) in bits, summed over the URLs of the groups *among*."""
    chosen = among[groups.group]
    rows = groups.order[chosen]
    group = _renumbered(groups.group[chosen])
    page, value = content[rows].astype(np.int64), values[rows].astype(np.int64)
    return _weight(group) - _weight(_paired(group, page)) - _left_open(group, page, value)


def _paired(one: Numbers, other: Numbers) -> Numbers:
    """Return a number for each pair. Three numbers of MAX_ROWS rows fit into one of 64 bits."""
    return one * _radix(other) + other


def _radix(numbers: Numbers) -> int:
    return int(numbers.max(initial=0)) + 1


def _renumbered(numbers: Numbers) -> Numbers:
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _weight(numbers: Numbers) -> float:
    """Return the sum of c log2 c over the counts of *numbers*."""
    ordered = np.sort(numbers)
    counts = np.diff(np.flatnonzero(np.diff(ordered, prepend=-1, append=-1)))
    return float((counts * np.log2(counts)).sum())
