"""Which keys of two nodes hold the same values: Algorithm 3 (pattern-tree, section 5.2.2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..evidence import MIN_GROUPS, upper_bound
from ..table import ABSENT, Codes, Rows, Table
from .modes import Options
from .rules import Replace
from .tree import Node, PatternTree

__all__ = ["Common", "common_duplicates", "key_mappings", "sigma"]

MAX_PAIRS = 400
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


def key_mappings(tree: PatternTree, source: Node, target: Node, common: Common, options: Options) -> dict[str, Replace]:
    """Return, per key of the target with many values, the key of the source that it maps to.

    Algorithm 3; the values are those of the duplicates that the nodes share, since a rule is made of
    these alone (section 5.2.3).
    """
    table = tree.table
    if options.mapping == "in clusters" and source is not target:
        return _inside_clusters(table, source, target, common, options)
    keys = list(source.pattern.parts)
    found: dict[str, Replace] = {}
    for key in target.pattern.varied:
        column = table.columns[key][common.target]
        rates = {other: sigma(table.columns[other][common.source], column) for other in keys}
        # Of equal ones the key of the same name.
        best = max(keys, key=lambda other: (rates[other], other == key), default=None)
        if best is not None and rates[best] > options.min_sigma:
            found[key] = Replace(best)
    return found


def _inside_clusters(table: Table, source: Node, target: Node, common: Common, options: Options) -> dict[str, Replace]:
    """Return the mappings that hold inside the clusters and not by chance, one to one."""
    left, right = _pairs(table, common)
    if len(left) < MIN_GROUPS:
        return {}
    candidates = []
    for key in target.pattern.varied:
        wanted = table.columns[key][right]
        for other in source.pattern.varied:
            given = table.columns[other][left]
            for replace in _ways(table, other, given, wanted, options):
                rate, chance = _agreement(table, replace, given, wanted)
                if rate >= MIN_AGREEMENT and rate - chance >= MIN_EXCESS:
                    plain = not (replace.prefix or replace.suffix or replace.lower)
                    candidates.append((-rate, not plain, other != key, key, other, replace))
    found: dict[str, Replace] = {}
    taken: set[str] = set()
    for *_, key, other, replace in sorted(candidates, key=lambda candidate: candidate[:-1]):
        if key not in found and other not in taken:
            found[key] = replace
            taken.add(other)
    return found


def _pairs(table: Table, common: Common) -> tuple[Rows, Rows]:
    """Return a URL of the source and one of the target of up to MAX_PAIRS shared clusters."""
    _, left = np.unique(table.content[common.source], return_index=True)
    _, right = np.unique(table.content[common.target], return_index=True)
    chosen = np.linspace(0, len(left) - 1, min(len(left), MAX_PAIRS)).astype(np.intp)
    return common.source[left[chosen]], common.target[right[chosen]]


def _ways(
    table: Table, source: str, given: npt.NDArray[np.int32], wanted: npt.NDArray[np.int32], options: Options
) -> Sequence[Replace]:
    """Return the ways in which one value may be made of the other."""
    plain = Replace(source)
    if options.copying == "verbatim":
        return (plain,)
    affixes: Counter[tuple[str, str, bool]] = Counter()
    for one, other in zip(given.tolist(), wanted.tolist(), strict=True):
        value, text = table.value(one), table.value(other)
        if value and text:
            lower = value not in text and value.lower() in text
            prefix, mark, suffix = text.partition(value.lower() if lower else value)
            if mark:
                affixes[prefix, suffix, lower] += 1
    # Mixed case is told by the values that have capitals: lower case explains the others too.
    ways = [Replace(source, prefix, suffix, lower) for (prefix, suffix, lower), _ in affixes.most_common(3)]
    return tuple(dict.fromkeys([plain, *ways]))


def _agreement(
    table: Table, replace: Replace, given: npt.NDArray[np.int32], wanted: npt.NDArray[np.int32]
) -> tuple[float, float]:
    """Return the lower 95 % bound of how often a replace is right, and how often it is by chance."""
    written = [None if (value := table.value(code)) is None else replace.text(value) for code in given.tolist()]
    texts = [table.value(code) for code in wanted.tolist()]
    present = [(one, other) for one, other in zip(written, texts, strict=True) if one is not None or other is not None]
    if not present:
        return 0.0, 0.0
    misses = sum(one != other for one, other in present)
    shifted = texts[1:] + texts[:1]
    chance = sum(one is not None and one == other for one, other in zip(written, shifted, strict=True)) / len(texts)
    return 1 - upper_bound(misses, len(present)), chance


def as_operations(keys: Mapping[str, object]) -> dict[str, Replace]:
    """Return the operations that leave keys as they are."""
    return {key: Replace(key) for key in keys}
