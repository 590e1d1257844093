"""Normalization rules, from the formation of one node to that of another: section 3, Algorithms 2 and 3, equations 3 and 6."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...data.frame import NEVER_KEPT
from ...data.grouping import grouped
from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Codes, Hashes, Rows
from ..options import PatternTreeOptions
from .tree import ANYTHING, Fixed, Node, Pattern, PatternTree, View

_WILD = 2**31 - 1

# Section 3: rules


@dataclass(frozen=True, slots=True)
class KeepKey:
    """The target key has one value, and is filled with it."""

    value: str


@dataclass(frozen=True, slots=True)
class ReplaceKey:
    """The target key gets the value of a key of the source."""

    source: str


@dataclass(frozen=True, slots=True)
class IgnoreKey:
    """The target key is the wildcard: its value does not affect the page."""


KeyOperation = KeepKey | ReplaceKey | IgnoreKey


@dataclass(frozen=True, slots=True)
class NormalizationRule:
    """A normalization rule: URLs of ``source`` are rewritten to the format of ``target``.

    ``operations``: one for every key of the target. ``nodes``: the numbers of the two nodes.
    ``support``: URLs that it can normalise; ``fpr``: equation 3 on the training set;
    ``overlap``: equation 6. ``last``: of a chain, the target keys that its last rule ignores.
    """

    source: Pattern
    target: Pattern
    operations: Mapping[str, KeyOperation]
    nodes: tuple[int, int] = (0, 0)
    support: int = 0
    fpr: float = 0.0
    overlap: float = 0.0
    last: frozenset[str] | None = None

    @property
    def of_one_node(self) -> bool:
        """Whether source and target are the same node."""
        return self.nodes[0] == self.nodes[1]

    @property
    def ignored(self) -> frozenset[str]:
        """The target keys that are ignored."""
        return frozenset(key for key, operation in self.operations.items() if isinstance(operation, IgnoreKey))

    @property
    def asked_of_target(self) -> frozenset[str]:
        """The keys that the target's own URLs must ignore too, to be equal to rewritten ones."""
        return self.ignored if self.last is None else self.last


def rewritten(view: Mapping[str, str], operations: Mapping[str, KeyOperation]) -> View:
    """Return the keys and values that operations make of those of a URL, all at once.

    A replace from a key that the URL does not have leaves its target out.
    """
    result: View = {}
    for key, operation in operations.items():
        if isinstance(operation, IgnoreKey):
            result[key] = ANYTHING
        elif isinstance(operation, KeepKey):
            result[key] = operation.value
        elif (value := view.get(operation.source)) is not None:
            result[key] = value
    return result


def forms(table: Table, operations: Mapping[str, KeyOperation], rows: Rows) -> Hashes:
    """Return the hash of what *operations* make of each of some rows: equal hashes, equal results."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for key, operation in operations.items():
        if key in NEVER_KEPT:
            continue
        if isinstance(operation, ReplaceKey):
            column = table.columns.get(operation.source)
            codes = np.zeros(len(rows), dtype=np.int32) if column is None else column[rows]
        else:
            code = _WILD if isinstance(operation, IgnoreKey) else table.numbers[operation.value]
            codes = np.full(len(rows), code, dtype=np.int32)
        total += np.where(codes != ABSENT, table.hashes(key, codes), np.uint64(0))
    return total


def same_formation(pattern: Pattern, ignored: Iterable[str] = ()) -> dict[str, KeyOperation]:
    """Return the operations that leave URLs of a pattern as they are, *ignored* keys as the wildcard."""
    found: dict[str, KeyOperation] = {
        key: KeepKey(part.value) if isinstance(part, Fixed) else ReplaceKey(key) for key, part in pattern.parts.items()
    }
    return found | dict.fromkeys(sorted(ignored), IgnoreKey())


# Section 5.2.1: duplicate nodes


def duplicate_nodes(tree: PatternTree, min_overlap: float) -> dict[tuple[int, int], float]:
    """Return the overlap (equation 6) of the pairs of nodes, by number, that overlap by *min_overlap* or more.

    As the inverted index of Algorithm 2, with the clusters that touch the same leaves taken together:
    the cost is that of one pass over the URLs and one over the pairs of nodes of each such set. A node and its ancestor,
    which share all pages, are no pair; a node with itself has its duplicate rate. A URL counts once for each node that it
    is in.
    """
    of_cluster: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for cluster, leaf in zip(tree.table.content.tolist(), tree.leaf_of.tolist(), strict=True):
        of_cluster[cluster][leaf] += 1
    index: defaultdict[frozenset[int], Counter[int]] = defaultdict(Counter)
    for urls in of_cluster.values():
        index[frozenset(urls)].update(urls)
    common: Counter[tuple[int, int]] = Counter()
    for urls in index.values():
        below: Counter[int] = Counter()
        for leaf, count in urls.items() if len(urls) > 1 else ():
            below.update({node.number: count for node in tree.nodes[leaf].line()})
        numbers = sorted(below)
        for place, one in enumerate(numbers):
            for other in numbers[place + 1 :]:
                if not nested(tree.nodes[one], tree.nodes[other]):
                    common[one, other] += below[one] + below[other]
    found = {}
    for (one, other), shared in sorted(common.items()):
        found[one, other] = shared / (tree.nodes[one].volume + tree.nodes[other].volume)
        found[other, one] = found[one, other]
    found |= {(node.number, node.number): duplicate_rate(tree, node) for node in tree.nodes}
    return {pair: overlap for pair, overlap in found.items() if overlap >= min_overlap}


def duplicate_rate(tree: PatternTree, node: Node) -> float:
    """Return the duplicate rate of a node's URLs: 1 - clusters / URLs (section 3)."""
    return 1 - len(np.unique(tree.table.content[node.rows])) / node.volume if node.volume else 0.0


def nested(one: Node, other: Node) -> bool:
    """Return whether one of two nodes is an ancestor of the other."""
    return one in other.ancestors() or other in one.ancestors()


# Section 5.2.2: candidate rules


Common = tuple[Rows, Rows]
"""The URLs of a source and of a target that have a duplicate in the other one."""


def common_duplicates(tree: PatternTree, source: Node, target: Node) -> Common:
    """Return the URLs of the clusters that two nodes share; of one node, those with a duplicate."""
    left, right = tree.table.content[source.rows], tree.table.content[target.rows]
    if source is target:
        numbers, counts = np.unique(left, return_counts=True)
        rows = source.rows[np.isin(left, numbers[counts > 1])]
        return rows, rows
    both = np.intersect1d(left, right)
    return source.rows[np.isin(left, both)], target.rows[np.isin(right, both)]


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
    columns = tree.table.columns
    from_rows, to_rows = common
    found: dict[str, ReplaceKey] = {}
    for key in target.pattern.varied:
        column = columns[key][to_rows]
        rates = {other: sigma(columns[other][from_rows], column) for other in source.pattern.parts}
        # Of equal ones the key of the same name.
        best = max(rates, key=lambda other: (rates[other], other == key), default=None)
        if best is not None and rates[best] > min_sigma:
            found[key] = ReplaceKey(best)
    return found


def share_differing(tree: PatternTree, common: Common, mapped: ReplaceKey, key: str) -> float:
    """Return the share of duplicates whose clusters differ in the value of a mapped key.

    The test of a fake replace: if too many URLs with different values are duplicates, the key does
    not affect the page.
    """
    table = tree.table
    from_rows, to_rows = common
    codes, content = table.columns[key][to_rows], table.content[to_rows]
    if from_rows is not to_rows:
        codes = np.r_[codes, table.columns[mapped.source][from_rows]]
        content = np.r_[content, table.content[from_rows]]
    _, clusters, sizes = np.unique(content, return_inverse=True, return_counts=True)
    pairs = np.unique(np.stack([clusters.reshape(-1), codes]), axis=1)
    values = np.bincount(pairs[0], minlength=len(sizes))
    several = int(sizes[sizes > 1].sum())
    return int(sizes[values > 1].sum()) / several if several else 0.0


def candidate_rules(tree: PatternTree, options: PatternTreeOptions) -> list[NormalizationRule]:
    """Return one raw candidate rule for every two duplicate nodes."""
    found = []
    for nodes, overlap in duplicate_nodes(tree, options.min_overlap).items():
        source, target = (tree.nodes[number] for number in nodes)
        ops = operations(tree, source, target, options)
        found.append(NormalizationRule(source.pattern, target.pattern, ops, nodes, source.volume, overlap=overlap))
    return found


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


# Section 5.2.3: the filter


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
    support, right = (int((sizes * (sizes - 1) // 2).sum()) for sizes in (groups.size, np.bincount(groups.run)))
    return FalsePositives(support - right, support)


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
            own = same_formation(rule.target, rule.ignored)
            made, rows = np.r_[made, forms(tree.table, own, target)], np.r_[source, target]
        found = false_positives(made, tree.table.content[rows])
        if found.support and found.rate <= fpr_max:
            passed.append(replace(rule, fpr=found.rate))
    return passed
