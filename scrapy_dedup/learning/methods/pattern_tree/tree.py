"""The pattern tree: URLs as key-value pairs, patterns of them, and Algorithm 1 (pattern-tree, sections 2, 3 and 5.1)."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import log2, sqrt

import numpy as np
import numpy.typing as npt

from ....urls import GroupsLike, normal_parts, site_of_url, values_of
from ...data.url_table import REPEAT, Table, joined_repeats
from ...evidence.arrays import ABSENT, Codes, Rows

ANYTHING = "*"
"""How the paper writes every regular expression."""
MIN_URLS = 2
"""URLs that a node must have to be split."""
MAX_NODES = 2_000
"""Nodes of a tree; the paper's largest has 634."""
MIN_SHARE = 0.1
MIN_FREQUENCY = 30
"""Where no value stands out by a decline, those of a tenth of the URLs are salient, and of 30 and the root of their number."""
MIN_COVERAGE = 0.5
"""Share of URLs that have a key; below it the key is optional, and split by last."""

View = dict[str, str]
"""Key -> value; the values of a repeated key are joined by ``REPEAT``."""

# Sections 2 and 3, Figure 2: URLs as key-value pairs, and patterns of them


def view_of(url: str, groups: GroupsLike = None) -> View:
    """Return the key-value pairs of a URL, segments of the path whole; empty where the text is no URL with a host.

    >>> view_of("http://us.example.com/images/results.aspx?q=hp")
    {'scheme': 'http', 'host.1': 'us', 'path.0': 'images', 'path.1': 'results.aspx', 'q.q': 'hp'}
    """
    values = values_of(url, groups=groups)
    path = normal_parts(url)[1].removeprefix("/")
    segments = path.split("/") if path else []
    parts = {key: value for key, value in values.items() if key.startswith(("scheme", "host."))}
    parts.update((f"path.{position}", segment) for position, segment in enumerate(segments))
    parts.update((key, value) for key, value in values.items() if key.startswith("q."))
    return dict(joined_repeats(parts))


def composed(view: Mapping[str, str], url: str, groups: GroupsLike = None) -> str:
    """Return the text that a view stands for, on the site of a URL: a key that tells pages apart, not always a URL.

    >>> composed({"scheme": "http", "host.1": "us", "path.0": "a", "path.1": "*", "q.sid": "*"}, "http://example.com/")
    'http://us.example.com/a/*?sid=*'
    """
    labels, segments = _numbered(view, "host."), _numbered(view, "path.")
    host = ".".join([*reversed(labels), view.get("host.0", site_of_url(url, groups=groups))])
    query = sorted(
        f"{key[2:]}={value}" for key, joined in view.items() if key.startswith("q.") for value in joined.split(REPEAT)
    )
    text = f"{view.get('scheme', 'http')}://{host}/{'/'.join(segments)}"
    return f"{text}?{'&'.join(query)}" if query else text


def _numbered(view: Mapping[str, str], kind: str) -> list[str]:
    """Return the values of ``host.1``, ``host.2``.. or ``path.0``, ``path.1``.. in order."""
    found = [(int(key[len(kind) :]), view[key]) for key in view if key.startswith(kind) and key != "host.0"]
    return [value for _, value in sorted(found)]


@dataclass(frozen=True, slots=True)
class Fixed:
    """The key has this value."""

    value: str

    def matches(self, value: str | None) -> bool:
        """Return whether *value*, None for an absent key, is the one."""
        return value == self.value


@dataclass(frozen=True, slots=True)
class Varied:
    """The key has one of many values. ``optional``: it may be absent. ``excluded``: the salient values of the node's siblings."""

    optional: bool = False
    excluded: frozenset[str] = frozenset()

    def matches(self, value: str | None) -> bool:
        """Return whether *value*, None for an absent key, is one of them."""
        return self.optional if value is None else value not in self.excluded


Part = Fixed | Varied


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern of a tree node: what each key of its URLs may be. Other keys are absent.

    >>> pattern = Pattern({"path.0": Fixed("album"), "q.b": Varied(optional=True)})
    >>> pattern.matches({"path.0": "album"}), pattern.matches({"path.0": "album", "q.c": "1"})
    (True, False)
    """

    parts: Mapping[str, Part] = field(default_factory=dict)

    def matches(self, view: Mapping[str, str]) -> bool:
        """Return whether a URL with these keys and values is of this pattern."""
        return view.keys() <= self.parts.keys() and all(part.matches(view.get(key)) for key, part in self.parts.items())

    @property
    def literals(self) -> dict[str, str]:
        """The keys with one value."""
        return {key: part.value for key, part in self.parts.items() if isinstance(part, Fixed)}

    @property
    def varied(self) -> list[str]:
        """The keys with many values."""
        return [key for key, part in self.parts.items() if isinstance(part, Varied)]


# Section 5.1: the tree


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

    def line(self) -> Iterator["Node"]:
        """Yield the node, its parent and so on."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def ancestors(self) -> Iterator["Node"]:
        """Yield the parent, its parent and so on."""
        return self.parent.line() if self.parent is not None else iter(())


class PatternTree:
    """All nodes, parents before children; ``leaf_of[row]`` is the number of the row's leaf."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.nodes: list[Node] = []
        self.leaf_of: Rows = np.zeros(len(table), dtype=np.intp)


def build_pattern_tree(table: Table) -> PatternTree:
    """Return the pattern tree of the URLs of a table (Algorithm 1).

    Breadth first, so that a limit on nodes leaves out the deepest splits. Each level looks at each
    value of each key once or twice: linear in the URLs for a tree of bounded height.
    """
    tree = PatternTree(table)
    waiting = deque([(Node(0, np.arange(len(table))), frozenset[str](), [*table.columns])])
    while waiting:
        node, done, keys = waiting.popleft()
        node.number = len(tree.nodes)
        tree.nodes.append(node)
        columns = {key: codes for key in keys if (codes := table.columns[key][node.rows]).any()}
        found = {key: distribution(key, codes) for key, codes in columns.items()}
        node.pattern = _pattern(tree, node, found)
        tree.leaf_of[node.rows] = node.number
        if len(tree.nodes) + len(waiting) >= MAX_NODES or node.volume < MIN_URLS:
            continue
        children, done = _children(tree, node, done, found)
        node.children += children
        waiting.extend((child, done, [*found]) for child in children)
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
    values, counts = np.unique(codes[codes != ABSENT], return_counts=True)
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

    >>> decline([900, 850, 800, 60, 15, 1]), decline([5, 5]), decline([5])
    (5, None, None)
    """
    drops = -np.diff(np.log(frequencies))
    return int(drops.argmax()) + 1 if len(drops) and drops.max() > 0 else None


def salient_values(found: Distribution) -> npt.NDArray[np.int32]:
    """Return the codes of the salient values of a key: those before the decline, or those that are frequent without one."""
    counts = found.frequencies
    number = decline(counts)
    if number is not None:
        return found.codes[:number]
    frequent = (counts >= MIN_SHARE * found.total) & (counts >= max(MIN_FREQUENCY, sqrt(found.total)))
    return found.codes[frequent]


def _pattern(tree: PatternTree, node: Node, found: Mapping[str, Distribution]) -> Pattern:
    """Return the regular expression of a node (Algorithm 1, line 2)."""
    # The values that went another way, by each key that was split by on the way from the root.
    excluded = {above.key: above.excluded for above in node.line()}
    parts: dict[str, Part] = {}
    for key, values in found.items():
        if values.constant:
            parts[key] = Fixed(tree.table.vocabulary[values.codes[0]])
        else:
            parts[key] = Varied(values.absent > 0, excluded.get(key, frozenset()))
    return Pattern(parts)


def _children(
    tree: PatternTree, node: Node, done: frozenset[str], found: Mapping[str, Distribution]
) -> tuple[list[Node], frozenset[str]]:
    """Return the nodes that a node is split into, none when no key has salient values, and the keys that are done in them."""
    done |= {key for key, values in found.items() if values.constant}
    for values in sorted((values for key, values in found.items() if key not in done), key=choice):
        done |= {values.key}
        salient = salient_values(values)
        absent_or_not = min(values.absent, values.total - values.absent) >= max(MIN_URLS, MIN_SHARE * values.total)
        if len(salient) or absent_or_not:
            return list(_split(tree, node, values, salient)), done
    return [], done


def _split(tree: PatternTree, node: Node, values: Distribution, salient: Codes) -> Iterator[Node]:
    """Yield a child for each salient value, one for all trivial values, one for no value."""
    codes = tree.table.columns[values.key][node.rows]
    order = np.argsort(codes, kind="stable")
    lows, highs = (np.searchsorted(codes[order], salient, side) for side in ("left", "right"))
    taken = [(np.sort(order[low:high]), frozenset[str]()) for low, high in zip(lows, highs, strict=True)]
    texts = frozenset(tree.table.vocabulary[code] for code in salient)
    trivial = (codes != ABSENT) & ~np.isin(codes, salient)
    taken += [(np.flatnonzero(trivial), texts), (np.flatnonzero(codes == ABSENT), frozenset())]
    for places, excluded in taken:
        if len(places):
            yield Node(0, node.rows[places], node, values.key, excluded, depth=node.depth + 1)
