"""The pattern tree: Algorithm 1 (pattern-tree, section 5.1)."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ....urls import class_of
from ...data.url_table import REPEAT, Table
from ...evidence.arrays import ABSENT, Codes, Rows
from ...proposals.dropping import widened
from ..pattern_tree_gaps import PatternTreeChoices
from .node_split import Distribution, choice, distribution, salient_values
from .patterns import Fixed, Part, Pattern, Varied, ordered

TRIVIAL = object()
"""Stands for all trivial values of a key together."""


@dataclass(slots=True, eq=False)
class Node:
    """A node: a group of URLs with one formation.

    ``key`` and ``branch`` say by what it was split off its parent: a value, None where the key is
    absent, or ``TRIVIAL``. ``leaves`` are the leaves below it, itself if it is one.
    """

    number: int
    rows: Rows
    parent: "Node | None" = None
    key: str = ""
    branch: object = None
    excluded: frozenset[str] = frozenset()
    """Where the branch is ``TRIVIAL``: the salient values."""
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

    def branches(self) -> dict[str, tuple[object, frozenset[str]]]:
        """Return, per key split by on the way from the root, the branch taken."""
        found: dict[str, tuple[object, frozenset[str]]] = {}
        node: Node | None = self
        while node is not None and node.parent is not None:
            found[node.key] = node.branch, node.excluded
            node = node.parent
        return found


class PatternTree:
    """All nodes, parents before children; ``leaf_of[row]`` is the number of the row's leaf.

    ``cells`` counts the values that were looked at to build it: the work.
    """

    def __init__(self, table: Table, options: PatternTreeChoices) -> None:
        self.table = table
        self.options = options
        self.nodes: list[Node] = []
        self.leaf_of: Rows = np.zeros(len(table), dtype=np.intp)
        self.cells = 0

    @property
    def root(self) -> Node:
        """The node of all URLs."""
        return self.nodes[0]


def build_pattern_tree(table: Table, options: PatternTreeChoices) -> PatternTree:
    """Return the pattern tree of the URLs of a table (Algorithm 1).

    Breadth first, so that a limit on nodes leaves out the deepest splits. Each level looks at each
    value of each key once or twice: linear in the URLs for a tree of bounded height.
    """
    tree = PatternTree(table, options)
    columns = {key: table.columns[key] for key in ordered(table.columns)}
    waiting = deque([(Node(0, np.arange(len(table))), frozenset[str](), list(columns))])
    while waiting:
        node, done, keys = waiting.popleft()
        tree.nodes.append(node)
        node.number = len(tree.nodes) - 1
        found = {}
        for key in keys:
            codes = columns[key][node.rows]
            tree.cells += len(codes)
            if codes.any():
                found[key] = distribution(key, codes)
        node.pattern = _pattern(tree, node, found)
        tree.leaf_of[node.rows] = node.number
        if len(tree.nodes) + len(waiting) >= options.max_nodes or node.volume < options.min_urls:
            continue
        for child, also_done in _children(tree, node, done, found):
            node.children.append(child)
            waiting.append((child, done | also_done, list(found)))
    return tree


def _pattern(tree: PatternTree, node: Node, found: dict[str, Distribution]) -> Pattern:
    """Return the regular expression of a node (Algorithm 1, line 2)."""
    branches = node.branches()
    table = tree.table
    parts: dict[str, Part] = {}
    for key, values in found.items():
        if values.constant:
            parts[key] = Fixed(table.vocabulary[values.codes[0]])
            continue
        shape = None
        if tree.options.wildcard == "class":
            texts = (text for code in values.codes for text in table.vocabulary[code].split(REPEAT))
            shape = widened(class_of(texts))
        _, excluded = branches.get(key, (None, frozenset()))
        parts[key] = Varied(shape, values.absent > 0, excluded)
    return Pattern(parts)


def _children(
    tree: PatternTree, node: Node, done: frozenset[str], found: dict[str, Distribution]
) -> Iterator[tuple[Node, frozenset[str]]]:
    """Yield the nodes that a node is split into, and the keys that are done in them."""
    options = tree.options
    constant = {key for key, values in found.items() if values.constant}
    if options.single_value == "constant":
        done |= constant
    candidates = sorted((values for key, values in found.items() if key not in done), key=lambda v: choice(v, options))
    for values in candidates:
        done |= {values.key}
        codes = tree.table.columns[values.key][node.rows]
        tree.cells += len(codes)
        salient = salient_values(values, options)
        if len(salient) or _absence_counts(values, options):
            yield from ((child, done) for child in _split(tree, node, values, codes, salient))
            return
        if options.stop == "first":
            return


def _absence_counts(values: Distribution, options: PatternTreeChoices) -> bool:
    """Return whether URLs with and without a key are split although none of its values is salient."""
    if options.without_decline == "trivial":
        return values.absent > 0
    least = max(options.min_urls, 0.1 * values.total)
    return min(values.absent, values.total - values.absent) >= least


def _split(tree: PatternTree, node: Node, values: Distribution, codes: Codes, salient: Codes) -> Iterator[Node]:
    """Yield a child for each salient value, one for all trivial values, one for no value."""
    table, key = tree.table, values.key
    order = np.argsort(codes, kind="stable")
    sorted_codes = codes[order]
    branch: object
    for code in salient:
        low, high = np.searchsorted(sorted_codes, [code, code + 1])
        yield Node(0, node.rows[np.sort(order[low:high])], node, key, table.vocabulary[code], depth=node.depth + 1)
    absent = codes == ABSENT
    trivial = ~absent & ~np.isin(codes, salient)
    texts = frozenset(table.vocabulary[code] for code in salient)
    for chosen, branch, excluded in ((trivial, TRIVIAL, texts), (absent, None, frozenset[str]())):
        if chosen.any():
            yield Node(0, node.rows[chosen], node, key, branch, excluded, depth=node.depth + 1)
