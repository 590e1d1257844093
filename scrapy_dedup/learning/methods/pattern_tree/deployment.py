"""Which of the candidate rules are deployed: equation 7, Figures 7 and 8 (pattern-tree, section 5.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import log

import numpy as np
import numpy.typing as npt

from .rules import IgnoreKey, NormalizationRule, concatenated, forms, same_formation
from .tree import Node, PatternTree

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
    while circle := _circle(kept, tree):
        del kept[min(circle, key=lambda r: (r.support, r.nodes)).nodes[0]]
    return [_followed(rule, kept, tree) for _, rule in sorted(kept.items())]


def _next(
    rule: NormalizationRule, kept: Mapping[int, NormalizationRule], tree: PatternTree
) -> NormalizationRule | None:
    """Return the rule that acts on what a rule wrote; None where none does."""
    if rule.of_one_node:
        return None
    target = tree.nodes[rule.nodes[1]]
    for node in (target, *target.ancestors()):
        found = kept.get(node.number)
        if found is not None:
            return found if found.nodes != rule.nodes else None
    return None


def _circle(kept: Mapping[int, NormalizationRule], tree: PatternTree) -> list[NormalizationRule]:
    """Return the rules of a circle, [] where there is none."""
    known_end: set[tuple[int, int]] = set()
    for start in kept.values():
        way: dict[tuple[int, int], NormalizationRule] = {}
        rule: NormalizationRule | None = start
        while rule is not None and rule.nodes not in known_end:
            if rule.nodes in way:
                nodes = list(way)
                return [way[pair] for pair in nodes[nodes.index(rule.nodes) :]]
            way[rule.nodes] = rule
            rule = _next(rule, kept, tree)
        known_end |= way.keys()
    return []


def _followed(rule: NormalizationRule, kept: Mapping[int, NormalizationRule], tree: PatternTree) -> NormalizationRule:
    """Return a rule with all that follow it concatenated."""
    last, following = rule, _next(rule, kept, tree)
    while following is not None:
        rule, last = concatenated(rule, following), following
        following = _next(last, kept, tree)
    return rule


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
    state = volumes.copy()
    total = volumes.sum()
    if not total:
        return state
    jump = volumes / total
    dangling = matrix.sum(axis=1) == 0
    sources, targets = np.nonzero(matrix)
    shares = matrix[sources, targets]
    for _ in range(STEPS):
        moved = np.bincount(targets, weights=shares * state[sources], minlength=len(state)).astype(float)
        moved += state[dangling].sum() * jump
        state = DAMPING * moved + (1 - DAMPING) * total * jump
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
    energies = energy(graph)
    incoming: dict[int, list[_Step]] = {}
    for rule in rules:
        if not rule.of_one_node:
            cost = MIN_COST - log(max(1 - rule.fpr, 1e-12))
            incoming.setdefault(rule.nodes[1], []).append((rule.nodes[0], cost, rule))
    most = max(energies, default=0.0) or 1.0
    for low, high in graph.links:
        # Few links, and from nodes that many others are rewritten to.
        cost = LINK_COST * (2 - float(energies[low]) / most)
        incoming.setdefault(nodes[high].number, []).append((nodes[low].number, cost, None))
    found: dict[int, dict[int, Way]] = {}
    assigned: set[int] = set()
    for i in sorted(range(len(nodes)), key=lambda i: (-round(float(energies[i]), 6), i)):
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
        for source, further, rule in incoming.get(number, ()):
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
    firsts: dict[int, dict[int, list[NormalizationRule]]] = {}
    formats: dict[int, NormalizationRule] = {}
    for number, ways in found.items():
        firsts[number] = {}
        for source, way in ways.items():
            if source == number:
                begin = [own[source]] if source in own else []
            else:
                # What its ancestor's rules do is not said again, only what its own adds to them.
                begin = [own[source]] if way.by_link and source in own else []
            if begin or not (way.by_link or source == number):
                firsts[number][source] = [*begin, *way.rules]
        known = format_of(tree.nodes[number], [_direct(chain) for chain in firsts[number].values()])
        if known.ignored:
            formats[number] = known
    chosen = [
        _direct([*chain, *_formats_above(tree.nodes[number], formats)])
        for number, chains in firsts.items()
        for chain in chains.values()
    ]
    settled = {number for ways in found.values() for number in ways}
    chosen += [rule for number, rule in own.items() if number not in settled]
    return _without_redundant(sorted(chosen, key=lambda rule: rule.nodes), tree)


def _formats_above(node: Node, formats: Mapping[int, NormalizationRule]) -> list[NormalizationRule]:
    """Return the rules that bring URLs to the formats of a node and its ancestors, the node's first."""
    return [formats[above.number] for above in (node, *node.ancestors()) if above.number in formats]


def _direct(chain: Sequence[NormalizationRule]) -> NormalizationRule:
    """Return the one rule that does what a chain does (Figure 8 (d), (e))."""
    direct = chain[0]
    for rule in chain[1:]:
        direct = concatenated(direct, rule)
    return direct


def _without_redundant(rules: Sequence[NormalizationRule], tree: PatternTree) -> list[NormalizationRule]:
    """Return the rules without those that do to their URLs what an ancestor's rule does (Figure 7 (b))."""
    kept: dict[int, NormalizationRule] = {}
    for rule in sorted(rules, key=lambda r: (tree.nodes[r.nodes[0]].depth, r.nodes)):
        node = tree.nodes[rule.nodes[0]]
        above = next((kept[n.number] for n in node.ancestors() if n.number in kept), None)
        if above is not None:
            mine, theirs = (forms(tree.table, r.operations, node.rows) for r in (rule, above))
            if bool((mine == theirs).all()):
                continue
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
    into: dict[int, list[NormalizationRule]] = {}
    for rule in rules:
        into.setdefault(rule.nodes[1], []).append(rule)
    formats = {number: format_of(tree.nodes[number], several) for number, several in into.items()}
    widened = [
        replace(
            rule, operations={**rule.operations, **dict.fromkeys(sorted(formats[rule.nodes[1]].ignored), IgnoreKey())}
        )
        for rule in rules
    ]
    sources = {rule.nodes[0] for rule in rules}
    return widened, [known for number, known in sorted(formats.items()) if number not in sources]


def format_of(node: Node, rules: Sequence[NormalizationRule]) -> NormalizationRule:
    """Return the rule that brings a node's own URLs to the format that rules into it give."""
    into = [rule for rule in rules if rule.nodes[1] == node.number]
    ignored = sorted({key for rule in into for key in rule.asked_of_target})
    return NormalizationRule(
        node.pattern,
        node.pattern,
        {**same_formation(node.pattern), **dict.fromkeys(ignored, IgnoreKey())},
        nodes=(node.number, node.number),
        support=node.volume,
        fpr=max((rule.fpr for rule in into), default=0.0),
    )
