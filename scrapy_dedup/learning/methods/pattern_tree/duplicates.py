"""Which nodes hold the same pages: Algorithm 2 and equation 6 (pattern-tree, section 5.2.1)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..pattern_tree_gaps import PatternTreeChoices
from .tree import Node, PatternTree

MAX_SHARE = 0.05
MIN_URLS = 200
MAX_LEAVES = 16
"""A cluster with more of a site's URLs, or in more leaves, is everywhere (an error page, a log-in)."""

Signature = tuple[int, ...]
"""The leaves that a duplicate cluster touches."""


@dataclass(frozen=True, slots=True)
class DuplicateNodes:
    """Two nodes of a tree (by number; one and the same for a rule of a node with itself)."""

    source: int
    target: int
    overlap: float
    """Equation 6; for a node with itself its duplicate rate."""


def duplicate_nodes(tree: PatternTree, options: PatternTreeChoices) -> list[DuplicateNodes]:
    """Return the pairs of nodes that overlap by ``min_overlap`` or more, in both directions.

    As the inverted index of Algorithm 2, with the clusters that touch the same leaves taken together:
    the cost is that of one pass over the URLs and one over the pairs of nodes of each such set.
    """
    common: defaultdict[tuple[int, int], int] = defaultdict(int)
    for leaves, urls in _index(tree, options).items():
        below = _below(tree, leaves, urls)
        numbers = sorted(below)
        for position, one in enumerate(numbers):
            for other in numbers[position + 1 :]:
                if not options.nested_pairs and nested(tree.nodes[one], tree.nodes[other]):
                    continue
                both = below[one] + below[other]
                if options.overlap == "set" and nested(tree.nodes[one], tree.nodes[other]):
                    both = max(below[one], below[other])
                common[one, other] += both
    found = []
    for (one, other), shared in sorted(common.items()):
        value = shared / (tree.nodes[one].volume + tree.nodes[other].volume)
        if value >= options.min_overlap:
            found += [DuplicateNodes(one, other, value), DuplicateNodes(other, one, value)]
    if options.self_rule == "duplicate rate":
        for node in tree.nodes:
            rate = duplicate_rate(tree, node)
            if rate >= options.min_overlap:
                found.append(DuplicateNodes(node.number, node.number, rate))
    return found


def duplicate_rate(tree: PatternTree, node: Node) -> float:
    """Return the duplicate rate of a node's URLs: 1 - clusters / URLs (section 3)."""
    return 1 - len(np.unique(tree.table.content[node.rows])) / node.volume if node.volume else 0.0


def overlap(one: Sequence[int], other: Sequence[int], how: str = "multiplicity") -> float:
    """Return equation 6 of two nodes given as the duplicate clusters of their URLs.

    With URLs counted once for each node they are in, a node overlaps itself by 1, as the paper says;
    with each URL counted once (the set that equation 6 prints) by 1/2. The nodes are disjoint, or one
    and the same object.

    >>> node = [7, 7, 8]
    >>> overlap(node, node), overlap(node, node, "set")
    (1.0, 0.5)
    >>> overlap([1, 1, 2], [1, 3])
    0.6
    """
    common = set(one) & set(other)
    urls = sum(number in common for number in one)
    if one is not other or how == "multiplicity":
        urls += sum(number in common for number in other)
    return urls / (len(one) + len(other)) if len(one) + len(other) else 0.0


def nested(one: Node, other: Node) -> bool:
    """Return whether one of two nodes is an ancestor of the other."""
    deep, high = (one, other) if one.depth > other.depth else (other, one)
    return any(node is high for node in deep.ancestors())


def _index(tree: PatternTree, options: PatternTreeChoices) -> dict[Signature, list[int]]:
    """Return, per set of leaves that a cluster touches, the URLs that such clusters have in each."""
    content = tree.table.content.astype(np.int64)
    pairs, counts = np.unique(content * len(tree.nodes) + tree.leaf_of, return_counts=True)
    numbers, leaves = np.divmod(pairs, len(tree.nodes))
    starts = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]]) if len(numbers) else numbers
    ends = np.r_[starts[1:], len(numbers)]
    index: dict[Signature, list[int]] = {}
    leaf_list, count_list = leaves.tolist(), counts.tolist()
    most = max(MIN_URLS, MAX_SHARE * len(tree.table))
    for low, high in zip(starts.tolist(), ends.tolist(), strict=True):
        if high - low == 1 and not options.nested_pairs:
            continue
        urls = count_list[low:high]
        if options.index == "bounded" and (high - low > MAX_LEAVES or sum(urls) > most):
            continue
        signature = tuple(leaf_list[low:high])
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
