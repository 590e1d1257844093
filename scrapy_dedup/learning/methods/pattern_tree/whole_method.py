"""The whole method: tree, candidates, filter, selection (pattern-tree, Figure 5)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ....urls import GroupsLike, normal_form
from ...data.url_table import encode
from ...evidence.arrays import Rows
from ..options import PatternTreeOptions
from .candidates import candidate_rules, qualified
from .deployment import select_by_graph, select_naively, widened_to_targets
from .patterns import View, composed, view_of
from .rules import NormalizationRule, rewritten
from .tree import PatternTree, build_pattern_tree


@dataclass(frozen=True, slots=True)
class PatternTreeRules:
    """What was learned of one site: the deployed rules, and how many there were on the way.

    ``raw``: candidate rules; ``qualified``: those that pass the filter; ``deployed``: those that were
    selected. ``completing`` are the rules that bring a target's own URLs to its format. ``places`` are where the URLs of the
    tree stood in what was given.
    """

    rules: tuple[NormalizationRule, ...] = ()
    completing: tuple[NormalizationRule, ...] = ()
    raw: int = 0
    qualified: int = 0
    groups: GroupsLike = None
    tree: PatternTree | None = field(default=None, repr=False, compare=False)
    places: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp), repr=False, compare=False)
    _by_depth: tuple[NormalizationRule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        both = (*self.rules, *self.completing)
        # The most specific pattern first: more literals, then the deeper node.
        order = sorted(both, key=lambda r: (-self.depth_of(r), -len(r.source.literals), r.nodes))
        object.__setattr__(self, "_by_depth", tuple(order))

    def depth_of(self, rule: NormalizationRule) -> int:
        """Return the depth of the node that a rule starts from."""
        return self.tree.nodes[rule.nodes[0]].depth if self.tree is not None else 0

    @property
    def deployed(self) -> int:
        """The number of deployed rules."""
        return len(self.rules)

    def canonical(self, url: str) -> str:
        """Return the canonical form of a URL; the normal form of one that no rule is for."""
        view = view_of(url, self.groups)
        for rule in self._by_depth if view else ():
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
    found = PatternTreeRules(tuple(rules), tuple(completing), len(raw), len(passed), groups)
    return replace(found, tree=tree, places=places)
