"""Candidate rules and their filter: Algorithms 2 and 3, equations 3 and 6 (pattern-tree, section 5.2)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...data.grouping import grouped
from ...evidence.arrays import ABSENT, Codes, Hashes, Rows
from ..options import PatternTreeOptions
from .patterns import Fixed
from .rules import IgnoreKey, KeepKey, KeyOperation, NormalizationRule, ReplaceKey, forms, same_formation
from .tree import Node, PatternTree

Signature = tuple[int, ...]
"""The leaves that a duplicate cluster touches."""


@dataclass(frozen=True, slots=True)
class DuplicateNodes:
    """Two nodes of a tree (by number; one and the same for a rule of a node with itself)."""

    source: int
    target: int
    overlap: float
    """Equation 6; for a node with itself its duplicate rate."""


def duplicate_nodes(tree: PatternTree, min_overlap: float) -> list[DuplicateNodes]:
    """Return the pairs of nodes that overlap by *min_overlap* or more, in both directions.

    As the inverted index of Algorithm 2, with the clusters that touch the same leaves taken together:
    the cost is that of one pass over the URLs and one over the pairs of nodes of each such set. A node and its ancestor,
    which share all pages, are no pair. A URL counts once for each node that it is in.
    """
    common: defaultdict[tuple[int, int], int] = defaultdict(int)
    for leaves, urls in _index(tree).items():
        below = _below(tree, leaves, urls)
        numbers = sorted(below)
        for position, one in enumerate(numbers):
            for other in numbers[position + 1 :]:
                if not nested(tree.nodes[one], tree.nodes[other]):
                    common[one, other] += below[one] + below[other]
    found = []
    for (one, other), shared in sorted(common.items()):
        value = shared / (tree.nodes[one].volume + tree.nodes[other].volume)
        if value >= min_overlap:
            found += [DuplicateNodes(one, other, value), DuplicateNodes(other, one, value)]
    for node in tree.nodes:
        rate = duplicate_rate(tree, node)
        if rate >= min_overlap:
            found.append(DuplicateNodes(node.number, node.number, rate))
    return found


def duplicate_rate(tree: PatternTree, node: Node) -> float:
    """Return the duplicate rate of a node's URLs: 1 - clusters / URLs (section 3)."""
    return 1 - len(np.unique(tree.table.content[node.rows])) / node.volume if node.volume else 0.0


def nested(one: Node, other: Node) -> bool:
    """Return whether one of two nodes is an ancestor of the other."""
    deep, high = (one, other) if one.depth > other.depth else (other, one)
    return any(node is high for node in deep.ancestors())


def _index(tree: PatternTree) -> dict[Signature, list[int]]:
    """Return, per set of two leaves or more that a cluster touches, the URLs that such clusters have in each."""
    content = tree.table.content.astype(np.int64)
    pairs, counts = np.unique(content * len(tree.nodes) + tree.leaf_of, return_counts=True)
    numbers, leaves = np.divmod(pairs, len(tree.nodes))
    starts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]]) if len(numbers) else numbers
    ends = np.r_[starts[1:], len(numbers)]
    index: dict[Signature, list[int]] = {}
    leaf_list, count_list = leaves.tolist(), counts.tolist()
    for low, high in zip(starts.tolist(), ends.tolist(), strict=True):
        if high - low > 1:
            urls, signature = count_list[low:high], tuple(leaf_list[low:high])
            known = index.get(signature)
            index[signature] = urls if known is None else [a + b for a, b in zip(known, urls, strict=True)]
    return index


def _below(tree: PatternTree, leaves: Signature, urls: Sequence[int]) -> dict[int, int]:
    """Return the URLs of a set of clusters in each node that they touch."""
    found: defaultdict[int, int] = defaultdict(int)
    for leaf, count in zip(leaves, urls, strict=True):
        for node in _line(tree.nodes[leaf]):
            found[node.number] += count
    return found


def _line(node: Node) -> Iterator[Node]:
    yield node
    yield from node.ancestors()


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
    tree: PatternTree, source: Node, target: Node, common: Common, min_sigma: float
) -> dict[str, ReplaceKey]:
    """Return, per key of the target with many values, the key of the source that it maps to (Algorithm 3).

    The values are those of the duplicates that the nodes share, since a rule is made of these alone (section 5.2.3).
    """
    table = tree.table
    keys = list(source.pattern.parts)
    found: dict[str, ReplaceKey] = {}
    for key in target.pattern.varied:
        column = table.columns[key][common.target]
        rates = {other: sigma(table.columns[other][common.source], column) for other in keys}
        # Of equal ones the key of the same name.
        best = max(keys, key=lambda other: (rates[other], other == key), default=None)
        if best is not None and rates[best] > min_sigma:
            found[key] = ReplaceKey(best)
    return found


def candidate_rules(tree: PatternTree, options: PatternTreeOptions) -> list[NormalizationRule]:
    """Return one raw candidate rule for every two duplicate nodes."""
    return [
        NormalizationRule(
            source.pattern,
            target.pattern,
            operations(tree, source, target, options),
            nodes=(pair.source, pair.target),
            support=source.volume,
            overlap=pair.overlap,
        )
        for pair in duplicate_nodes(tree, options.min_overlap)
        for source, target in [(tree.nodes[pair.source], tree.nodes[pair.target])]
    ]


def operations(tree: PatternTree, source: Node, target: Node, options: PatternTreeOptions) -> dict[str, KeyOperation]:
    """Return the operation for every key of *target*, for URLs of *source*.

    *keep* where the target has one value, *replace* where the key maps to one of the source and is no
    fake, *ignore* otherwise.
    """
    common = common_duplicates(tree, source, target)
    mappings = key_mappings(tree, source, target, common, options.min_sigma)
    found: dict[str, KeyOperation] = {}
    for key, part in target.pattern.parts.items():
        mapped = mappings.get(key)
        if isinstance(part, Fixed):
            found[key] = KeepKey(part.value)
        elif mapped is None or share_differing(tree, common, mapped, key) > options.max_differing:
            found[key] = IgnoreKey()
        else:
            found[key] = mapped
    return found


def share_differing(tree: PatternTree, common: Common, mapped: ReplaceKey, key: str) -> float:
    """Return the share of duplicates whose clusters differ in the value of a mapped key.

    The test of a fake replace: if too many URLs with different values are duplicates, the key does
    not affect the page.
    """
    table = tree.table
    codes = table.columns[key][common.target]
    content = table.content[common.target]
    if common.source is not common.target:
        codes = np.r_[codes, table.columns[mapped.source][common.source]]
        content = np.r_[content, table.content[common.source]]
    if not len(content):
        return 0.0
    order = np.lexsort((codes, content))
    codes, content = codes[order], content[order]
    starts = np.flatnonzero(np.r_[True, content[1:] != content[:-1]])
    sizes = np.diff(np.r_[starts, len(content)])
    ends = starts + sizes - 1
    differing = codes[starts] != codes[ends]
    several = sizes > 1
    return float(sizes[differing].sum() / sizes[several].sum()) if several.any() else 0.0


@dataclass(frozen=True, slots=True)
class FalsePositives:
    """Pairs of URLs that got one form (``support``), and those of different pages (``wrong``)."""

    wrong: int
    support: int

    @property
    def rate(self) -> float:
        """Equation 3; 0 where no pair was made."""
        return self.wrong / self.support if self.support else 0.0


def false_positives(made: Hashes, content: Codes) -> FalsePositives:
    """Return the pairs that equal forms make, given the page of each URL; O(n log n).

    >>> made = np.array([1, 1, 1, 2], dtype=np.uint64)
    >>> false_positives(made, np.array([5, 5, 6, 6], dtype=np.int32))
    FalsePositives(wrong=2, support=3)
    """
    groups = grouped(made, content)
    support = int((groups.size * (groups.size - 1) // 2).sum())
    runs = np.bincount(groups.run) if len(groups.run) else np.zeros(0, dtype=np.intp)
    return FalsePositives(support - int((runs * (runs - 1) // 2).sum()), support)


def qualified(rules: Iterable[NormalizationRule], tree: PatternTree, fpr_max: float) -> list[NormalizationRule]:
    """Return the rules that pass the filter, with their false-positive rates on all URLs of the training set.

    A rule runs on the URLs of its source; those of its target are shown in the target's format,
    ignored keys as the wildcard, since otherwise no URL of theirs could be equal to a rewritten one.
    A rule that makes no pair is of no use.
    """
    passed = []
    for rule in rules:
        source, target = tree.nodes[rule.nodes[0]].rows, tree.nodes[rule.nodes[1]].rows
        made, rows = forms(tree.table, rule.operations, source), source
        if not rule.of_one_node:
            own = {**same_formation(rule.target), **dict.fromkeys(rule.ignored, IgnoreKey())}
            made, rows = np.r_[made, forms(tree.table, own, target)], np.r_[source, target]
        found = false_positives(made, tree.table.content[rows])
        if found.support and found.rate <= fpr_max:
            passed.append(replace(rule, fpr=found.rate))
    return passed
