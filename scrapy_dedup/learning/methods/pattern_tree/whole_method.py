"""The whole method: tree, candidates, filter, selection (pattern-tree, Figure 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from ....urls import DeepSplit, GroupsLike, normal_form, site_of_url
from ...data.grouping import grouped
from ...data.url_table import Table, encode
from ...evidence.arrays import Hashes, Rows
from ...evidence.shares import worth_asking
from ..pattern_tree_gaps import FAITHFUL, PatternTreeChoices
from .deployment import select_by_graph, select_naively, widened_to_targets
from .effects import Effects
from .filtering import qualified
from .normalization_rules import NormalizationRule, rewritten
from .peeling import Peel, peeled
from .rule_candidates import candidate_rules
from .tree import Node, PatternTree, build_pattern_tree
from .views import View, composed, view_of

Selection = Literal["naive", "naive by fpr", "graph"]
MAX_FPR = 0.05


@dataclass(frozen=True, slots=True)
class PatternTreeRules:
    """What was learned of one site: the deployed rules, and how many there were on the way.

    ``raw``: candidate rules; ``qualified``: those that pass the filter; ``deployed``: those that were
    selected. ``completing`` are the rules that bring a target's own URLs to its format.
    """

    rules: tuple[NormalizationRule, ...] = ()
    completing: tuple[NormalizationRule, ...] = ()
    raw: int = 0
    qualified: int = 0
    options: PatternTreeChoices = FAITHFUL
    groups: GroupsLike = None
    peel: Peel = field(default_factory=Peel)
    tree: PatternTree | None = field(default=None, repr=False, compare=False)
    _by_depth: tuple[NormalizationRule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        both = (*self.rules, *self.completing)
        # The most specific pattern first: more literals, then the deeper node.
        order = sorted(both, key=lambda r: (-_depth(self.tree, r), -len(r.source.literals), r.nodes))
        object.__setattr__(self, "_by_depth", tuple(order))

    @property
    def deployed(self) -> int:
        """The number of deployed rules, each peeled key counted as one."""
        return len(self.rules) + len(self.peel.keys)

    def canonical(self, url: str) -> str:
        """Return the canonical form of a URL; the normal form of one that no rule is for."""
        view = view_of(url, self.options, self.groups)
        if not view:
            return normal_form(url)
        left = self.peel.view(view)
        for rule in self._by_depth:
            if rule.source.matches(left):
                return self._composed(rewritten(left, rule.operations), url)
        return normal_form(url) if left == view else self._composed(left, url)

    def _composed(self, view: View, url: str) -> str:
        return composed(view, site_of_url(url, groups=self.groups))


@dataclass(frozen=True, slots=True)
class LearnedTree:
    """A tree with its candidate rules, before and after the filter."""

    tree: PatternTree
    effects: Effects
    whole: Table
    """The columns before keys were peeled off."""
    peel: Peel
    places: Rows
    """Where each URL of the table stands in what was given."""
    raw: Sequence[NormalizationRule]
    qualified: Sequence[NormalizationRule]

    def ignored(self, node: Node) -> frozenset[str]:
        """Return the keys that a node, or the nearest ancestor with a rule of its own, ignores."""
        own = {rule.nodes[0]: rule.ignored for rule in self.qualified if rule.of_one_node}
        return next((own[n.number] for n in (node, *node.ancestors()) if n.number in own), frozenset())


def learn(
    urls: Sequence[str],
    content: Sequence[int],
    options: PatternTreeChoices = FAITHFUL,
    *,
    selection: Selection = "graph",
    fpr_max: float = MAX_FPR,
    groups: GroupsLike = None,
) -> PatternTreeRules:
    """Return the rules that the method learns from the URLs of one site.

    ``content[i]`` is the duplicate cluster of ``urls[i]``, a number from 0; URLs with a negative one, and texts that are no
    URL with a host, are left out.

    *selection* is the paper's graph strategy, or its naive one: then the rules of ancestors go before others, or those with
    fewer false positives. *fpr_max* is the false-positive rate that a rule may have (equation 3; 0.05 in the paper's text).

    Raises ValueError when the two sequences have not the same length, *fpr_max* is no share, or
    *selection* is not known.
    """
    if len(urls) != len(content):
        raise ValueError(f"{len(urls)} URLs and {len(content)} duplicate clusters: each URL needs one")
    if not 0 <= fpr_max <= 1:
        raise ValueError(f"fpr_max is {fpr_max!r}: it must be a share from 0 to 1, such as 0.05")
    if selection not in get_args(Selection):
        raise ValueError(f"selection is {selection!r}, and must be 'naive', 'naive by fpr' or 'graph'")
    learned = learn_tree(urls, content, options, fpr_max=fpr_max, groups=groups)
    return rules_of_tree(learned, options, selection, groups)


def rules_of_tree(
    learned: LearnedTree | None, options: PatternTreeChoices, selection: str, groups: GroupsLike = None
) -> PatternTreeRules:
    """Return the rules that a selection takes from the candidates of a tree; none where there is no tree."""
    if learned is None:
        return PatternTreeRules(options=options, groups=groups)
    rules, completing = selected(learned, options, selection)
    return PatternTreeRules(
        rules=tuple(rules),
        completing=tuple(completing),
        raw=len(learned.raw) + len(learned.peel.keys),
        qualified=len(learned.qualified) + len(learned.peel.keys),
        options=options,
        groups=groups,
        peel=learned.peel,
        tree=learned.tree,
    )


def learn_tree(
    urls: Sequence[str],
    content: Sequence[int],
    options: PatternTreeChoices,
    *,
    fpr_max: float = MAX_FPR,
    groups: GroupsLike = None,
    deep: Mapping[str, DeepSplit] | None = None,
) -> LearnedTree | None:
    """Return the tree and the candidate rules of a site; None where there are no duplicates.

    With deep tokens (*deep*) the rules are for the common representation only: :func:`composed` does not
    know them.
    """
    whole, places = _table(urls, content, options, groups, deep)
    return learn_from(whole, places, options, fpr_max=fpr_max)


def learn_from(
    whole: Table, places: Rows, options: PatternTreeChoices, *, fpr_max: float = MAX_FPR
) -> LearnedTree | None:
    """Return what :func:`learn_tree` does, of URLs that are encoded; *places* is where they stood in what was given."""
    if not len(whole) or len(np.unique(whole.content)) == len(whole):
        return None
    tree, peel = _grown(whole, options)
    effects = Effects(tree.table)
    raw = candidate_rules(tree, options)
    return LearnedTree(tree, effects, whole, peel, places, raw, qualified(raw, tree, effects, options, fpr_max))


def _grown(whole: Table, options: PatternTreeChoices) -> tuple[PatternTree, Peel]:
    """Return the tree, and the keys that were removed before."""
    table, peel = peeled(whole) if options.peel == "drop set" else (whole, Peel())
    return build_pattern_tree(table, options), peel


def selected(
    learned: LearnedTree, options: PatternTreeChoices, selection: str
) -> tuple[list[NormalizationRule], list[NormalizationRule]]:
    """Return the deployed rules, and those that complete them."""
    candidates = list(learned.qualified)
    while True:
        if selection == "graph":
            chosen = select_by_graph(candidates, learned.tree, options)
        else:
            chosen = select_naively(candidates, learned.tree, by_fpr=selection == "naive by fpr")
        rules, completing = widened_to_targets(chosen, learned.tree)
        worst = _worst(learned, [*rules, *completing]) if options.composed else None
        if worst is None:
            return rules, completing
        # A chain is as bad as one of its rules; what completes a target is asked for by the rules into it.
        gone = {worst.nodes, *worst.chain}
        left = [rule for rule in candidates if rule.nodes not in gone]
        if len(left) == len(candidates):
            left = [rule for rule in candidates if rule.nodes[1] != worst.nodes[1]]
        candidates = left


def _worst(learned: LearnedTree, rules: Sequence[NormalizationRule]) -> NormalizationRule | None:
    """Return the rule with a part in most wrong groups of the composed rules; None where they are few."""
    tree = learned.tree
    forms, by = _forms(learned, rules)
    groups = grouped(forms, tree.table.content)
    if worth_asking(groups.lost, groups.informative) or not rules:
        return None
    wrong = groups.order[(groups.contents > 1)[groups.group]]
    counts = np.bincount(by[wrong] + 1, minlength=len(rules) + 1)[1:]
    return rules[int(np.argmax(counts))] if counts.any() else None


def _forms(learned: LearnedTree, rules: Sequence[NormalizationRule]) -> tuple[Hashes, Rows]:
    """Return the form of each URL under all rules together, and the rule that gave it, -1 for none."""
    tree = learned.tree
    everything = np.arange(len(tree.table))
    forms = learned.effects.whole(everything)
    by = np.full(len(everything), -1, dtype=np.intp)
    # Deeper nodes come later and overwrite what was said for their ancestors.
    for number in sorted(range(len(rules)), key=lambda i: _depth(tree, rules[i])):
        rows = tree.nodes[rules[number].nodes[0]].rows
        forms[rows] = learned.effects.hashes(rules[number].operations, rows)
        by[rows] = number
    return forms, by


def _depth(tree: PatternTree | None, rule: NormalizationRule) -> int:
    return tree.nodes[rule.nodes[0]].depth if tree is not None else 0


def _table(
    urls: Sequence[str],
    content: Sequence[int],
    options: PatternTreeChoices,
    groups: GroupsLike,
    deep: Mapping[str, DeepSplit] | None,
) -> tuple[Table, Rows]:
    """Return the columns of the URLs that are evidence, each normal form once, and their places."""
    seen: dict[str, int] = {}
    for place, (url, number) in enumerate(zip(urls, content, strict=True)):
        if number >= 0:
            seen.setdefault(normal_form(url), place)
    views: dict[str, View] = {}
    for url in seen:
        view = view_of(url, options, groups, deep)
        if view:
            views[url] = view
    places = [seen[url] for url in views]
    table = encode(list(views), views.values(), [content[place] for place in places])
    return table, np.array(places, dtype=np.intp)
