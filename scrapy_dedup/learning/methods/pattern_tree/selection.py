"""Which of the candidate rules are deployed, and the whole method (pattern-tree, section 5.3, Figures 5, 7 and 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from heapq import heappop, heappush
from math import log

import numpy as np
import numpy.typing as npt

from ....urls import GroupsLike, normal_form
from ...data.url_table import encode
from ...evidence.arrays import Rows
from ..options import PatternTreeOptions
from .rules import (
    IgnoreKey,
    KeyOperation,
    NormalizationRule,
    ReplaceKey,
    candidate_rules,
    forms,
    qualified,
    rewritten,
    same_formation,
)
from .tree import Node, PatternTree, View, build_pattern_tree, composed, view_of

_Step = tuple[int, float, NormalizationRule | None]
"""A node, the cost of the step from it, and the rule; None where it is a link."""
Matrix = npt.NDArray[np.float64]

STEPS = 200
DAMPING = 0.85
"""Of the walk of energy, which else leaves at nodes without edges, and swings for ever in circles."""
LINK_WEIGHT = 0.1
"""Of a link from a node to its ancestor in that walk; with the paper's 1 all energy ends at the root."""
LINK_COST = 1.0
MIN_COST = 1e-6
"""Of one more rule in a chain, so that of equally safe chains the shorter is taken."""


def concatenated(first: NormalizationRule, second: NormalizationRule) -> NormalizationRule:
    """Return the direct rule of two chained ones (Figure 8 (d), (e)): *first*, then *second*."""
    operations: dict[str, KeyOperation] = {}
    for key, operation in second.operations.items():
        said = first.operations.get(operation.source) if isinstance(operation, ReplaceKey) else operation
        if said is not None:
            operations[key] = said
    return replace(
        first,
        target=second.target,
        operations=operations,
        nodes=(first.nodes[0], second.nodes[1]),
        fpr=1 - (1 - first.fpr) * (1 - second.fpr),
        overlap=min(first.overlap, second.overlap),
        last=second.asked_of_target,
    )


# Figure 7: the naive strategy


def select_naively(
    rules: Sequence[NormalizationRule], tree: PatternTree, *, by_fpr: bool = False
) -> list[NormalizationRule]:
    """Return the rules that the paper's straightforward strategy keeps, chains concatenated.

    Of one source, the rule with the least false-positive rate (Figure 7 (a)); of an ancestor and its
    descendants, the rule of the ancestor (b), or *by_fpr* that with the lower false-positive rate, which the
    paper has as the other way out ("first apply the rules with smaller false-positive rates"); of a circle, all but the
    rule with the least support (c).
    """
    by_source: dict[int, NormalizationRule] = {}
    for rule in sorted(rules, key=lambda r: (r.fpr, -r.overlap, r.nodes)):
        by_source.setdefault(rule.nodes[0], rule)
    kept: dict[int, NormalizationRule] = {}
    for source, rule in by_source.items():
        above = [by_source[node.number] for node in tree.nodes[source].ancestors() if node.number in by_source]
        # The rule of the deeper node is applied first: it stays where it is the better one.
        if not above or (by_fpr and rule.fpr < min(other.fpr for other in above)):
            kept[source] = rule
    ways = {source: _way(rule, kept, tree) for source, rule in kept.items()}
    while circle := next((way for way in ways.values() if way[0].nodes == way[-1].nodes and len(way) > 1), None):
        del kept[min(circle, key=lambda r: (r.support, r.nodes)).nodes[0]]
        ways = {source: _way(rule, kept, tree) for source, rule in kept.items()}
    return [reduce(concatenated, way) for _, way in sorted(ways.items())]


def _way(rule: NormalizationRule, kept: Mapping[int, NormalizationRule], tree: PatternTree) -> list[NormalizationRule]:
    """Return a rule and those that act, one after another, on what it wrote; of a circle its rules, the first one again."""
    way = [rule]
    while not way[-1].of_one_node:
        target = tree.nodes[way[-1].nodes[1]]
        following = next((kept[node.number] for node in target.line() if node.number in kept), way[-1])
        if following.nodes == way[-1].nodes:
            break
        before = [one.nodes for one in way]
        way.append(following)
        if following.nodes in before:
            return way[before.index(following.nodes) :]
    return way


# Equation 7 and Figure 8: the graph


@dataclass(frozen=True, slots=True)
class Graph:
    """Vertices are tree nodes in candidate rules; edges are rules and descendant-ancestor links.

    ``volumes[i]``: URLs of vertex i; ``rules[i, j]``: the false-positive rate of the rule from i to j;
    ``links``: (descendant, ancestor) pairs.
    """

    volumes: Sequence[int]
    rules: Mapping[tuple[int, int], float]
    links: Sequence[tuple[int, int]] = ()


def graph_of(rules: Sequence[NormalizationRule], tree: PatternTree) -> tuple[list[Node], Graph]:
    """Return the nodes of candidate rules and the graph whose vertices they are (Figure 8 (b)).

    A rule of a node with itself is no edge.
    """
    nodes = [tree.nodes[number] for number in sorted({number for rule in rules for number in rule.nodes})]
    place = {node.number: i for i, node in enumerate(nodes)}
    edges = {(place[r.nodes[0]], place[r.nodes[1]]): r.fpr for r in rules if not r.of_one_node}
    links = [
        (place[node.number], place[above.number])
        for node in nodes
        for above in node.ancestors()
        if above.number in place
    ]
    return nodes, Graph([node.volume for node in nodes], edges, links)


def transitions(graph: Graph) -> Matrix:
    """Return P of equation 7: w / outdegree, each row brought to a sum of 1; w = 1 - fpr of a rule, and a constant of a link."""
    count = len(graph.volumes)
    weights = np.zeros((count, count))
    for i, j in graph.links:
        weights[i, j] = LINK_WEIGHT
    for (i, j), rate in graph.rules.items():
        if i != j:
            weights[i, j] = max(weights[i, j], 1 - rate)
    sums = weights.sum(axis=1)
    matrix: Matrix = weights / np.where(sums > 0, sums, 1)[:, None]
    return matrix


def energy(graph: Graph) -> Matrix:
    """Return the energy of each vertex after the damped walk, which begins with the volumes.

    A share of the walk begins anew by volume in each step, and what reaches a vertex without edges does so too.
    """
    volumes = np.asarray(graph.volumes, dtype=float)
    matrix = transitions(graph)
    matrix[matrix.sum(axis=1) == 0] = volumes / max(volumes.sum(), 1)
    state = volumes
    for _ in range(STEPS):
        state = DAMPING * (state @ matrix) + (1 - DAMPING) * volumes
    return state


@dataclass(frozen=True, slots=True)
class Way:
    """How a node gets to its destination: by these rules, after a step to its ancestor if ``by_link``."""

    rules: tuple[NormalizationRule, ...] = ()
    by_link: bool = False


def destinations(rules: Sequence[NormalizationRule], tree: PatternTree) -> dict[int, dict[int, Way]]:
    """Return, per destination node, the way in which each node gets there, its own included.

    Nodes in the order of their energy become destinations, each of all those that can still get to it by rules
    and descendant-ancestor links.
    """
    nodes, graph = graph_of(rules, tree)
    energies = energy(graph).tolist()
    incoming: dict[int, list[_Step]] = {node.number: [] for node in nodes}
    for rule in rules:
        if not rule.of_one_node:
            cost = MIN_COST - log(max(1 - rule.fpr, 1e-12))
            incoming[rule.nodes[1]].append((rule.nodes[0], cost, rule))
    most = max(energies, default=0.0) or 1.0
    for low, high in graph.links:
        # Few links, and from nodes that many others are rewritten to.
        cost = LINK_COST * (2 - energies[low] / most)
        incoming[nodes[high].number].append((nodes[low].number, cost, None))
    found: dict[int, dict[int, Way]] = {}
    assigned: set[int] = set()
    for i in sorted(range(len(nodes)), key=lambda i: (-round(energies[i], 6), i)):
        number = nodes[i].number
        if number not in assigned:
            found[number] = _ways(number, incoming, assigned)
            assigned |= found[number].keys()
    return found


def _ways(destination: int, incoming: Mapping[int, Sequence[_Step]], assigned: set[int]) -> dict[int, Way]:
    """Return the safest way from each node that can get to a destination (Dijkstra)."""
    ways: dict[int, Way] = {}
    # Numbers in the order of discovery decide between equals.
    waiting: list[tuple[float, int, int, Way]] = [(0.0, destination, 0, Way())]
    discovered = 0
    while waiting:
        cost, number, _, way = heappop(waiting)
        if number in ways:
            continue
        ways[number] = way
        for source, further, rule in incoming[number]:
            if source not in ways and source not in assigned:
                discovered += 1
                longer = Way(way.rules, by_link=True) if rule is None else Way((rule, *way.rules))
                heappush(waiting, (cost + further, source, discovered, longer))
    return ways


def select_by_graph(rules: Sequence[NormalizationRule], tree: PatternTree) -> list[NormalizationRule]:
    """Return the rules that lead to the destinations, chains concatenated (Figure 8 (c) to (e)).

    Rules that start from a destination are removed. The rule of a destination with itself starts and
    ends there; it says which keys its format ignores, and stays: else session ids were never dropped.
    A destination under another one is brought to that one's format.
    """
    own = {rule.nodes[0]: rule for rule in rules if rule.of_one_node}
    found = destinations(rules, tree)
    direct: dict[int, list[NormalizationRule]] = {}
    for number, ways in found.items():
        direct[number] = []
        for source, way in ways.items():
            # What its ancestor's rules do is not said again, only what its own adds to them.
            begin = [source] if way.by_link or source == number else []
            if all(each in own for each in begin):
                direct[number].append(reduce(concatenated, [*(own[each] for each in begin), *way.rules]))
    formats = {number: format_of(tree.nodes[number], into) for number, into in direct.items()}
    chosen = [rule for number, rule in own.items() if not any(number in ways for ways in found.values())]
    for number, into in direct.items():
        above = [formats[n.number] for n in tree.nodes[number].line() if n.number in formats]
        chosen += [reduce(concatenated, [known for known in above if known.ignored], rule) for rule in into]
    return _without_redundant(chosen, tree)


def _without_redundant(rules: Sequence[NormalizationRule], tree: PatternTree) -> list[NormalizationRule]:
    """Return the rules without those that do to their URLs what an ancestor's rule does (Figure 7 (b))."""
    kept: dict[int, NormalizationRule] = {}
    for rule in sorted(rules, key=lambda r: (tree.nodes[r.nodes[0]].depth, r.nodes)):
        node = tree.nodes[rule.nodes[0]]
        above = next((kept[n.number] for n in node.ancestors() if n.number in kept), None)
        mine = forms(tree.table, rule.operations, node.rows)
        if above is None or not np.array_equal(mine, forms(tree.table, above.operations, node.rows)):
            kept[node.number] = rule
    return sorted(kept.values(), key=lambda rule: rule.nodes)


def widened_to_targets(
    rules: Sequence[NormalizationRule], tree: PatternTree
) -> tuple[list[NormalizationRule], list[NormalizationRule]]:
    """Return the deployed rules with one format per target, and the rules that bring its own URLs to it.

    A format with a wildcard is shared by all URLs that are given it: what one rule into a node ignores,
    the others and the URLs of the node itself ignore too. The second list is not new knowledge, and
    not counted among the deployed rules.
    """
    formats = {number: format_of(tree.nodes[number], rules) for number in sorted({rule.nodes[1] for rule in rules})}
    wild = {number: dict.fromkeys(sorted(known.ignored), IgnoreKey()) for number, known in formats.items()}
    widened = [replace(rule, operations={**rule.operations, **wild[rule.nodes[1]]}) for rule in rules]
    sources = {rule.nodes[0] for rule in rules}
    return widened, [known for number, known in formats.items() if number not in sources]


def format_of(node: Node, rules: Sequence[NormalizationRule]) -> NormalizationRule:
    """Return the rule that brings a node's own URLs to the format that rules into it give."""
    into = [rule for rule in rules if rule.nodes[1] == node.number]
    return NormalizationRule(
        node.pattern,
        node.pattern,
        same_formation(node.pattern, {key for rule in into for key in rule.asked_of_target}),
        nodes=(node.number, node.number),
        support=node.volume,
        fpr=max((rule.fpr for rule in into), default=0.0),
    )


# Figure 5: the whole method


@dataclass(frozen=True, slots=True)
class PatternTreeRules:
    """What was learned of one site: the deployed rules, and how many there were on the way.

    ``raw``: candidate rules; ``qualified``: those that pass the filter; ``deployed``: those that were
    selected. ``acting`` are these, the most specific pattern first, with the rules that bring a target's own URLs to its
    format. ``places`` are where the URLs of the tree stood in what was given.
    """

    rules: tuple[NormalizationRule, ...] = ()
    acting: tuple[NormalizationRule, ...] = ()
    raw: int = 0
    qualified: int = 0
    groups: GroupsLike = None
    tree: PatternTree | None = field(default=None, repr=False, compare=False)
    places: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp), repr=False, compare=False)

    @property
    def deployed(self) -> int:
        """The number of deployed rules."""
        return len(self.rules)

    def rows_of(self, rule: NormalizationRule) -> Rows:
        """Return which of the URLs that were given are of the node that a rule starts from."""
        return self.places[self.tree.nodes[rule.nodes[0]].rows] if self.tree is not None else self.places

    def canonical(self, url: str) -> str:
        """Return the canonical form of a URL; the normal form of one that no rule is for."""
        view = view_of(url, self.groups)
        for rule in self.acting if view else ():
            if rule.source.matches(view):
                return composed(rewritten(view, rule.operations), url, self.groups)
        return normal_form(url)


def learn(
    urls: Sequence[str],
    content: Sequence[int],
    options: PatternTreeOptions | None = None,
    *,
    groups: GroupsLike = None,
) -> PatternTreeRules:
    """Return the rules that the method learns from the URLs of one site; none where there are no duplicates.

    ``content[i]`` is the duplicate cluster of ``urls[i]``, a number from 0; URLs with a negative one, and texts that are no
    URL with a host, are left out. Each normal form counts once.

    Raises ValueError when the two sequences have not the same length.
    """
    if len(urls) != len(content):
        raise ValueError(f"{len(urls)} URLs and {len(content)} duplicate clusters: each URL needs one")
    options = options or PatternTreeOptions()
    seen: dict[str, int] = {}
    for place, (url, number) in enumerate(zip(urls, content, strict=True)):
        if number >= 0:
            seen.setdefault(normal_form(url), place)
    views: dict[str, View] = {url: view for url in seen if (view := view_of(url, groups))}
    places = np.array([seen[url] for url in views], dtype=np.intp)
    pages = [content[place] for place in places.tolist()]
    if len(set(pages)) == len(pages):
        return PatternTreeRules(groups=groups)
    tree = build_pattern_tree(encode(list(views), views.values(), pages))
    raw = candidate_rules(tree, options)
    passed = qualified(raw, tree, options.fpr_max)
    if options.selection == "graph":
        chosen = select_by_graph(passed, tree)
    else:
        chosen = select_naively(passed, tree, by_fpr=options.selection == "naive by fpr")
    rules, completing = widened_to_targets(chosen, tree)
    # The most specific pattern first: the deeper node, then more literals.
    acting = sorted(
        [*rules, *completing], key=lambda r: (-tree.nodes[r.nodes[0]].depth, -len(r.source.literals), r.nodes)
    )
    return PatternTreeRules(tuple(rules), tuple(acting), len(raw), len(passed), groups, tree, places)
