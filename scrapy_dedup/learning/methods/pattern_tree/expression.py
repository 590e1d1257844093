"""The tree's rules in the common representation: what the pipeline is offered.

What cannot be said there is left out: a pattern of "all values but these", of a value that looks like
a session id, a literal in the place of any value. Rules between nodes are joint proposals, and are only
offered if they really bring URLs of both nodes together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ....rules import Absent, Ignore, Literal, OfClass, Operation, Predicate, Replace, Set
from ....rules.model import BARE, operation_problem
from ....urls import DeepSplit, class_of
from ...config import current
from ...data.judgement import SiteUrls, book_of, judged
from ...data.url_table import RARE, REPEAT, Table
from ...evidence.arrays import mixed
from ...evidence.shares import worth_asking
from ...evidence.value_kinds import is_token
from ...proposals.combining import rules_of
from ...proposals.dropping import dropped, seen_values, value_dropped, widened
from ...proposals.proposal import Match, Proposal
from ..method_decision import NotSayable
from ..pattern_tree_gaps import IMPROVED
from .normalization_rules import KeepKey, NormalizationRule, ReplaceKey, SetLiteral
from .patterns import Fixed, Part, Pattern, Varied
from .tree import TRIVIAL, Node
from .whole_method import LearnedTree, learn_from, learn_tree, selected

MAX_JOINED = 4_000
"""URLs of two nodes on which it is tried whether a rule brings them together."""
MIN_NAMED = 0.9
"""Share of a node's URLs that salient values and absence must cover for a pattern to name one of them."""


def proposals(
    sample: SiteUrls, deep: Mapping[str, DeepSplit], table: Table | None = None, plain: Table | None = None
) -> list[Proposal]:
    """Return what the improved pattern tree finds in a site's URLs, [] where there is nothing.

    *table* and *plain* are the URLs encoded with and without deep tokens, made where they are not given.
    Nothing is validated here but that a rule between nodes joins them; linear in the URLs for a tree of
    bounded size.
    """
    learned = _learned(sample, deep, table)
    if learned is None:
        return []
    found = list(_peeled(learned))
    for rule in learned.qualified:
        if rule.of_one_node:
            found += _of_one_node(learned, rule)
    found += _between_nodes(learned, found, sample, deep)
    # A rule cannot write one of two deep tokens, but it can write the whole value.
    whole = _learned(sample, {}, plain) if deep else None
    if whole is not None:
        found += _between_nodes(whole, found, sample, deep)
    return list(dict.fromkeys(found))


def _learned(sample: SiteUrls, deep: Mapping[str, DeepSplit], table: Table | None) -> LearnedTree | None:
    if table is None:
        return learn_tree(sample.urls, sample.content, IMPROVED, groups=sample.site_groups, deep=deep)
    # The paper knows no noise: a content of one URL is one.
    table = replace(table, lone=np.zeros(len(table), dtype=np.bool_))
    return learn_from(table, np.arange(len(table)), IMPROVED)


def _peeled(learned: LearnedTree) -> Iterator[Proposal]:
    table, rows = learned.whole, learned.tree.root.rows
    for key, (_, presence) in learned.peel.keys.items():
        if key == RARE:
            continue
        yield Proposal((), key, (value_dropped if presence else dropped)(table, rows, key))


def _of_one_node(learned: LearnedTree, rule: NormalizationRule) -> list[Proposal]:
    """Return the proposals to drop what a node drops beyond its ancestors."""
    node = learned.tree.nodes[rule.nodes[0]]
    above = learned.ignored(node.parent) if node.parent is not None else frozenset[str]()
    try:
        match = _branches(learned, node)
    except NotSayable:
        return []
    gone = sorted(rule.ignored - above - {RARE})
    return [Proposal(match, key, dropped(learned.whole, node.rows, key)) for key in gone]


def _branches(learned: LearnedTree, node: Node) -> Match:
    """Return the predicates on the keys that a node was split off by, and on no others."""
    table = learned.tree.table
    found: dict[str, Predicate] = {}
    line = [node, *node.ancestors()]
    for lower, upper in pairwise(line):
        key, branch = lower.key, lower.branch
        named = sum(child.volume for child in upper.children if child.branch is not TRIVIAL)
        if key in {RARE, BARE} or (key != "path.len" and named < MIN_NAMED * upper.volume):
            raise NotSayable
        if branch is None:
            found[key] = Absent()
        elif branch is TRIVIAL:
            shape = widened(class_of(seen_values(table, lower.rows, key)))
            if any(shape.matches(value) for value in lower.excluded):
                raise NotSayable
            found[key] = OfClass(shape)
        else:
            found[key] = _literal(str(branch))
            if key.startswith("q.") and key in table.repeated:
                found[f"{key}[1]"] = Absent()
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def _literal(value: str) -> Literal:
    if REPEAT in value or is_token(value):
        raise NotSayable
    return Literal(value)


def _between_nodes(
    learned: LearnedTree, before: Sequence[Proposal], sample: SiteUrls, deep: Mapping[str, DeepSplit]
) -> list[Proposal]:
    """Return the joint proposals of all selected rules between nodes; *before* are those made already."""
    rules, completing = selected(learned, IMPROVED, "graph")
    own = {rule.nodes[0]: rule for rule in (*rules, *completing) if rule.of_one_node}
    found: list[Proposal] = []
    for rule in rules:
        if not rule.of_one_node:
            known = [*before, *found]
            found += _between(learned, rule, own.get(rule.nodes[1]), known, sample=sample, deep=deep)
    return found


def _between(
    learned: LearnedTree,
    rule: NormalizationRule,
    own: NormalizationRule | None,
    before: Sequence[Proposal],
    *,
    sample: SiteUrls,
    deep: Mapping[str, DeepSplit],
) -> list[Proposal]:
    """Return the joint proposals of a rule between two nodes, with those for the target's own URLs.

    *own* is the rule that brings these to the target's format; what *before* already drops of them is
    not said again.
    """
    source, target = (learned.tree.nodes[number] for number in rule.nodes)
    more = sorted(own.ignored - learned.ignored(target)) if own is not None else []
    try:
        match = _formation(learned, rule.source)
        ops = _operations(learned, rule, source)
        target_match = _formation(learned, rule.target) if more else ()
    except NotSayable:
        return []
    found = [Proposal(match, key, operation, joint=True) for key, operation in sorted(ops.items())]
    found += [Proposal(target_match, key, dropped(learned.whole, target.rows, key), joint=True) for key in more]
    if any(one.key == RARE or operation_problem(one.key, one.operation) for one in found):
        return []
    if not found or not _joins(learned, [*before, *found], (source, target), sample, deep):
        return []
    return found


def _formation(learned: LearnedTree, pattern: Pattern) -> Match:
    """Return the predicates for the whole formation of a node's URLs."""
    found: dict[str, Predicate] = {}
    for key, part in pattern.parts.items():
        if key in learned.peel.keys:
            continue
        if key in {RARE, BARE}:
            raise NotSayable
        found[key] = _predicate(part)
        if key.startswith("q.") and key in learned.tree.table.repeated:
            found[f"{key}[1]"] = Absent()
    if not isinstance(pattern.parts.get("path.len"), Fixed):
        raise NotSayable
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def _predicate(part: Part) -> Predicate:
    if isinstance(part, Fixed):
        return _literal(part.value)
    if part.shape is None or any(part.shape.matches(value) for value in part.excluded):
        raise NotSayable
    return OfClass(part.shape, part.optional)


def _operations(learned: LearnedTree, rule: NormalizationRule, source: Node) -> dict[str, Operation]:
    """Return the operations that bring URLs of the source to the format of the target."""
    here = rule.source.parts
    length = int(rule.target.literals.get("path.len", "0"))
    found: dict[str, Operation] = {}
    for key, operation in rule.operations.items():
        if key == "path.len" or key in learned.peel.keys:
            continue
        part = here.get(key)
        if isinstance(operation, (KeepKey, SetLiteral)):
            if not (isinstance(part, Fixed) and part.value == operation.value):
                found[key] = _set(rule, part, operation.value)
        elif isinstance(operation, ReplaceKey):
            if operation != ReplaceKey(key):
                transform = "lower" if operation.lower else ""
                found[key] = Replace(operation.source, operation.prefix, operation.suffix, transform)
        elif part is not None:
            found[key] = dropped(learned.whole, source.rows, key)
        elif key.startswith("path.") and key[5:].isdigit() and int(key[5:]) < length - 1:
            # A dropped segment before others is shown as the wildcard.
            found[key] = Set({None: "*"})
    for key in here.keys() - rule.operations.keys() - learned.peel.keys.keys():
        if key != "path.len":
            found[key] = Ignore() if key == "path.trail" else dropped(learned.whole, source.rows, key)
    return found


def _set(rule: NormalizationRule, part: Part | None, value: str) -> Operation:
    if isinstance(part, Fixed):
        return Set({part.value: value})
    if part is None:
        return Set({None: value})
    assert isinstance(part, Varied)
    # No operation puts a literal in the place of any value, but another key may hold that literal.
    for key, other in rule.source.parts.items():
        if other == Fixed(value) and key != "path.len":
            return Replace(key)
    raise NotSayable


def _joins(
    learned: LearnedTree,
    found: Sequence[Proposal],
    nodes: tuple[Node, Node],
    sample: SiteUrls,
    deep: Mapping[str, DeepSplit],
) -> bool:
    """Return whether the proposals, run as they would be deployed, bring URLs of both nodes together."""
    from_source = set(learned.places[nodes[0].rows].tolist())
    part = _some(learned, nodes)
    judgement = judged(book_of(rules_of(sample.site, found), sample, deep), sample.part(part))
    both = [members for members in judgement.merged if _is_mixed([part[i] for i in members], from_source)]
    bad = len(judgement.bad)
    return len(both) >= current().proposed_groups and worth_asking(bad, len(judgement.merged))


def _some(learned: LearnedTree, nodes: tuple[Node, Node]) -> list[int]:
    """Return the places of some of the URLs of two nodes, those of the pages that they share first."""
    content = learned.tree.table.content
    rows = np.union1d(nodes[0].rows, nodes[1].rows)
    if len(rows) > MAX_JOINED:
        shared = np.isin(content[rows], np.intersect1d(content[nodes[0].rows], content[nodes[1].rows]))
        # Pages as a whole, in an order that has nothing to do with their URLs.
        order = np.lexsort((mixed(content[rows].astype(np.uint64)), ~shared))
        few = min(int(shared.sum()), MAX_JOINED // 2)
        rows = np.sort(rows[np.r_[order[:few], order[shared.sum() :][: MAX_JOINED - few]]])
    return [int(place) for place in learned.places[rows]]


def _is_mixed(members: Sequence[int], some: set[int]) -> bool:
    inside = sum(number in some for number in members)
    return 0 < inside < len(members)
