"""Which keys of two nodes hold the same values: Algorithm 3 (pattern-tree, section 5.2.2)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...config import current
from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Codes, Rows
from ...evidence.shares import upper_bound
from ..pattern_tree_gaps import PatternTreeChoices
from .normalization_rules import ReplaceKey
from .tree import Node, PatternTree

MAX_PAIRS = 400
MAX_MEMBERS = 8
MAX_KEYS = 40
"""Keys of a node that are compared with those of another, those that most of its URLs have."""
MIN_AGREEMENT = 0.9
MIN_EXCESS = 0.5
"""Agreement inside clusters must be 0.9 (lower bound), and 0.5 above that of URLs put together by chance."""


@dataclass(frozen=True, slots=True)
class Common:
    """The URLs of two nodes that have a duplicate in the other one."""

    source: Rows
    target: Rows


def common_duplicates(tree: PatternTree, source: Node, target: Node) -> Common:
    """Return the URLs of the clusters that two nodes share; of one node, those with a duplicate."""
    content = tree.table.content
    if source is target:
        numbers, places, counts = np.unique(content[source.rows], return_inverse=True, return_counts=True)
        rows = source.rows[counts[places.reshape(-1)] > 1] if len(numbers) else source.rows
        return Common(rows, rows)
    both = np.intersect1d(content[source.rows], content[target.rows])
    return Common(
        source.rows[np.isin(content[source.rows], both)],
        target.rows[np.isin(content[target.rows], both)],
    )


def sigma(one: Codes, other: Codes) -> float:
    """Return the rate of common values of two keys: shared values / values of either."""
    left, right = np.unique(one[one != ABSENT]), np.unique(other[other != ABSENT])
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def key_mappings(
    tree: PatternTree, source: Node, target: Node, common: Common, options: PatternTreeChoices
) -> dict[str, ReplaceKey]:
    """Return, per key of the target with many values, the key of the source that it maps to.

    Algorithm 3; the values are those of the duplicates that the nodes share, since a rule is made of
    these alone (section 5.2.3).
    """
    table = tree.table
    if options.mapping == "in clusters" and source is not target:
        return _inside_clusters(table, source, target, common, options)
    keys = list(source.pattern.parts)
    found: dict[str, ReplaceKey] = {}
    for key in target.pattern.varied:
        column = table.columns[key][common.target]
        rates = {other: sigma(table.columns[other][common.source], column) for other in keys}
        # Of equal ones the key of the same name.
        best = max(keys, key=lambda other: (rates[other], other == key), default=None)
        if best is not None and rates[best] > options.min_sigma:
            found[key] = ReplaceKey(best)
    return found


def _inside_clusters(
    table: Table, source: Node, target: Node, common: Common, options: PatternTreeChoices
) -> dict[str, ReplaceKey]:
    """Return the mappings that hold inside the clusters and not by chance, one to one.

    A key without one is copied from that of its own name, if the source has it: that is always safe.
    """
    pairs = _pairs(table, common)
    candidates = []
    if len(pairs) >= current().proposed_groups:
        given = {key: _values(table, key, [left for left, _ in pairs]) for key in _common(table, source)}
        for key in _common(table, target):
            wanted = _values(table, key, [right for _, right in pairs])
            for other, values in given.items():
                for way in _ways(other, values, wanted, options):
                    rate, chance = _agreement(way, values, wanted)
                    if rate >= MIN_AGREEMENT and rate - chance >= MIN_EXCESS:
                        plain = not (way.prefix or way.suffix or way.lower)
                        candidates.append((-rate, not plain, other != key, key, other, way))
    found: dict[str, ReplaceKey] = {}
    taken: set[str] = set()
    for *_, key, other, way in sorted(candidates, key=lambda candidate: candidate[:-1]):
        if key not in found and other not in taken:
            found[key] = way
            taken.add(other)
    for key in target.pattern.varied:
        if key not in taken:
            found.setdefault(key, ReplaceKey(key))
    return found


def _common(table: Table, node: Node) -> list[str]:
    """Return the keys of a node whose values vary, at most MAX_KEYS."""
    keys = list(node.pattern.varied)
    if len(keys) <= MAX_KEYS:
        return keys
    return sorted(keys, key=lambda key: -int(np.count_nonzero(table.columns[key][node.rows])))[:MAX_KEYS]


def _pairs(table: Table, common: Common) -> list[tuple[Rows, Rows]]:
    """Return some URLs of the source and some of the target, for up to MAX_PAIRS shared clusters."""
    left, right = (_by_cluster(table, rows) for rows in (common.source, common.target))
    chosen = np.linspace(0, len(left) - 1, min(len(left), MAX_PAIRS)).astype(np.intp)
    return [(left[i], right[i]) for i in chosen]


def _by_cluster(table: Table, rows: Rows) -> list[Rows]:
    content = table.content[rows]
    order = np.argsort(content, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(content[order]) != 0]) if len(rows) else order
    ends = np.r_[starts[1:], len(rows)]
    return [
        rows[order[low : min(high, low + MAX_MEMBERS)]]
        for low, high in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _values(table: Table, key: str, clusters: Sequence[Rows]) -> list[set[str]]:
    """Return the values of a key in each cluster."""
    column = table.columns[key]
    return [{table.vocabulary[code] for code in column[rows].tolist() if code != ABSENT} for rows in clusters]


def _ways(
    source: str, given: Sequence[set[str]], wanted: Sequence[set[str]], options: PatternTreeChoices
) -> Sequence[ReplaceKey]:
    """Return the ways in which one value may be made of the other."""
    plain = ReplaceKey(source)
    if options.copying == "verbatim":
        return (plain,)
    affixes: Counter[tuple[str, str, bool]] = Counter()
    for values, texts in zip(given, wanted, strict=True):
        for value, text in product(sorted(values)[:2], sorted(texts)[:2]):
            lower = value not in text and value.lower() in text
            prefix, mark, suffix = text.partition((value.lower() if lower else value) or text + "?")
            if mark:
                affixes[prefix, suffix, lower] += 1
    # Lower case is told by the values that have capitals, and explains the others too.
    ways = [ReplaceKey(source, prefix, suffix, lower) for (prefix, suffix, lower), _ in affixes.most_common(3)]
    return tuple(dict.fromkeys([plain, *ways]))


def _agreement(way: ReplaceKey, given: Sequence[set[str]], wanted: Sequence[set[str]]) -> tuple[float, float]:
    """Return the lower 95 % bound of the share of clusters where a way is right, and its share by chance."""
    written = [{way.text(value) for value in values} for values in given]
    count = sum(bool(one or other) for one, other in zip(written, wanted, strict=True))
    if not count:
        return 0.0, 0.0
    hits = sum(not one.isdisjoint(other) for one, other in zip(written, wanted, strict=True))
    shifted = [*wanted[1:], wanted[0]]
    chance = sum(not one.isdisjoint(other) for one, other in zip(written, shifted, strict=True)) / len(written)
    return 1 - upper_bound(count - hits, count), chance
