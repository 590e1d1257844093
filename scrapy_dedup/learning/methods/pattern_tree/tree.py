"""The pattern tree: Algorithm 1, equations 4 and 5 (pattern-tree, section 5.1)."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, log2, sqrt

import numpy as np
import numpy.typing as npt

from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Codes, Rows
from .patterns import Fixed, Part, Pattern, Varied, ordered

MIN_URLS = 2
"""URLs that a node must have to be split."""
MAX_NODES = 2_000
"""Nodes of a tree; the paper's largest has 634."""
MIN_SHARE = 0.1
MIN_FREQUENCY = 30
"""Where no value stands out by a decline, those of a tenth of the URLs are salient, and of 30 and the root of their number."""
MIN_COVERAGE = 0.5
"""Share of URLs that have a key; below it the key is optional, and split by last."""


@dataclass(slots=True, eq=False)
class Node:
    """A node: a group of URLs with one formation.

    ``key`` is what it was split off its parent by; ``excluded`` are the salient values of that key, where it has the trivial
    ones.
    """

    number: int
    rows: Rows
    parent: "Node | None" = None
    key: str = ""
    excluded: frozenset[str] = frozenset()
    pattern: Pattern = field(default_factory=Pattern)
    children: list["Node"] = field(default_factory=list)
    depth: int = 0

    @property
    def volume(self) -> int:
        """The number of URLs."""
        return len(self.rows)

    def ancestors(self) -> Iterator["Node"]:
        """Yield the parent, its parent and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def excluded_values(self) -> dict[str, frozenset[str]]:
        """Return, per key split by on the way from the root, the values that went another way."""
        found: dict[str, frozenset[str]] = {}
        node: Node | None = self
        while node is not None and node.parent is not None:
            found[node.key] = node.excluded
            node = node.parent
        return found


class PatternTree:
    """All nodes, parents before children; ``leaf_of[row]`` is the number of the row's leaf."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.nodes: list[Node] = []
        self.leaf_of: Rows = np.zeros(len(table), dtype=np.intp)

    @property
    def root(self) -> Node:
        """The node of all URLs."""
        return self.nodes[0]


def build_pattern_tree(table: Table) -> PatternTree:
    """Return the pattern tree of the URLs of a table (Algorithm 1).

    Breadth first, so that a limit on nodes leaves out the deepest splits. Each level looks at each
    value of each key once or twice: linear in the URLs for a tree of bounded height.
    """
    tree = PatternTree(table)
    columns = {key: table.columns[key] for key in ordered(table.columns)}
    waiting = deque([(Node(0, np.arange(len(table))), frozenset[str](), list(columns))])
    while waiting:
        node, done, keys = waiting.popleft()
        tree.nodes.append(node)
        node.number = len(tree.nodes) - 1
        found = {}
        for key in keys:
            codes = columns[key][node.rows]
            if codes.any():
                found[key] = distribution(key, codes)
        node.pattern = _pattern(tree, node, found)
        tree.leaf_of[node.rows] = node.number
        if len(tree.nodes) + len(waiting) >= MAX_NODES or node.volume < MIN_URLS:
            continue
        for child, also_done in _children(tree, node, done, found):
            node.children.append(child)
            waiting.append((child, done | also_done, list(found)))
    return tree


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of one key in one node: codes and frequencies, the most frequent first.

    ``total`` is the number of URLs, ``absent`` of those without the key.
    """

    key: str
    codes: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.intp]
    total: int

    @property
    def absent(self) -> int:
        """The number of URLs that do not have the key."""
        return self.total - int(self.frequencies.sum())

    @property
    def constant(self) -> bool:
        """Whether every URL has the key, and with the same value."""
        return len(self.frequencies) == 1 and self.absent == 0


def distribution(key: str, codes: Codes) -> Distribution:
    """Return the values of a key, given its code in each URL of a node."""
    values, counts = np.unique(codes, return_counts=True)
    present = values != ABSENT
    values, counts = values[present], counts[present]
    order = np.lexsort((values, -counts))
    return Distribution(key, values[order], counts[order], len(codes))


def entropy(frequencies: npt.ArrayLike, total: int) -> float:
    """Return equation 4 in bits: the sum of -v/N log v/N over the values of a key.

    >>> entropy([2, 2], 4), entropy([4], 4)
    (1.0, 0.0)
    """
    shares = np.asarray(frequencies, dtype=float) / total
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def choice(found: Distribution) -> tuple[object, ...]:
    """Return by what keys are put in order: the least is split first.

    It is the entropy relative to that of as many equally frequent values, absence being one: as printed, where absence is
    none, a rare key of a hundred values seems more certain than eight directories. Keys that most URLs lack go last.
    """
    counts = [*found.frequencies, found.absent] if found.absent else found.frequencies
    relative = entropy(counts, found.total) / log2(1 + len(counts))
    rare = found.absent > (1 - MIN_COVERAGE) * found.total
    return rare, round(relative, 9), not found.key.startswith("path."), found.key


def decline(frequencies: npt.ArrayLike) -> int | None:
    """Return the number of values before the largest drop of a descending curve, None without one.

    Equation 5 takes the maximum of ``log f(i) - log f(i-1)``; on descending frequencies that is never
    above zero, so that with the printed sign it picks the smallest drop.

    >>> decline([900, 850, 800, 60, 15, 1]), decline([5, 5])
    (5, None)
    """
    counts = [float(count) for count in np.asarray(frequencies)]
    if len(counts) < 2:
        return len(counts) or None
    drops = [log(high) - log(low) for high, low in pairwise(counts)]
    largest = max(drops)
    return drops.index(largest) + 1 if largest > 0 else None


def salient_values(found: Distribution) -> npt.NDArray[np.int32]:
    """Return the codes of the salient values of a key: those before the decline, or those that are frequent without one."""
    counts = found.frequencies
    number = decline(counts) if len(counts) > 1 else None
    if number is not None:
        return found.codes[:number]
    frequent = (counts >= MIN_SHARE * found.total) & (counts >= max(MIN_FREQUENCY, sqrt(found.total)))
    return found.codes[frequent]


def _pattern(tree: PatternTree, node: Node, found: dict[str, Distribution]) -> Pattern:
    """Return the regular expression of a node (Algorithm 1, line 2)."""
    excluded = node.excluded_values()
    parts: dict[str, Part] = {}
    for key, values in found.items():
        if values.constant:
            parts[key] = Fixed(tree.table.vocabulary[values.codes[0]])
        else:
            parts[key] = Varied(values.absent > 0, excluded.get(key, frozenset()))
    return Pattern(parts)


def _children(
    tree: PatternTree, node: Node, done: frozenset[str], found: dict[str, Distribution]
) -> Iterator[tuple[Node, frozenset[str]]]:
    """Yield the nodes that a node is split into, and the keys that are done in them: none when no key has salient values."""
    done |= {key for key, values in found.items() if values.constant}
    for values in sorted((values for key, values in found.items() if key not in done), key=choice):
        done |= {values.key}
        codes = tree.table.columns[values.key][node.rows]
        salient = salient_values(values)
        absent_or_not = min(values.absent, values.total - values.absent) >= max(MIN_URLS, MIN_SHARE * values.total)
        if len(salient) or absent_or_not:
            yield from ((child, done) for child in _split(tree, node, values, codes, salient))
            return


def _split(tree: PatternTree, node: Node, values: Distribution, codes: Codes, salient: Codes) -> Iterator[Node]:
    """Yield a child for each salient value, one for all trivial values, one for no value."""
    table, key = tree.table, values.key
    order = np.argsort(codes, kind="stable")
    sorted_codes = codes[order]
    for code in salient:
        low, high = np.searchsorted(sorted_codes, [code, code + 1])
        yield Node(0, node.rows[np.sort(order[low:high])], node, key, depth=node.depth + 1)
    absent = codes == ABSENT
    trivial = ~absent & ~np.isin(codes, salient)
    texts = frozenset(table.vocabulary[code] for code in salient)
    for chosen, excluded in ((trivial, texts), (absent, frozenset[str]())):
        if chosen.any():
            yield Node(0, node.rows[chosen], node, key, excluded, depth=node.depth + 1)
