"""The false-positive filter: equation 3 (pattern-tree, sections 3 and 5.2.3)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ...config import current
from ...data.grouping import Groups, grouped
from ...evidence.arrays import Codes, Flags, Hashes
from ...evidence.shares import upper_bound, worth_asking
from ..pattern_tree_gaps import PatternTreeChoices
from .effects import Effects
from .normalization_rules import IgnoreKey, NormalizationRule
from .rule_candidates import same_formation
from .tree import PatternTree


@dataclass(frozen=True, slots=True)
class FalsePositives:
    """Pairs of URLs that got one form (``support``), and those of different pages (``wrong``)."""

    wrong: int
    support: int

    @property
    def rate(self) -> float:
        """Equation 3; 0 where no pair was made."""
        return self.wrong / self.support if self.support else 0.0


def false_positives(forms: Hashes, content: Codes) -> FalsePositives:
    """Return the pairs that equal *forms* make, given the page of each URL; O(n log n).

    >>> forms = np.array([1, 1, 1, 2], dtype=np.uint64)
    >>> false_positives(forms, np.array([5, 5, 6, 6], dtype=np.int32))
    FalsePositives(wrong=2, support=3)
    """
    groups = grouped(forms, content)
    support = int((groups.size * (groups.size - 1) // 2).sum())
    runs = np.bincount(groups.run) if len(groups.run) else np.zeros(0, dtype=np.intp)
    return FalsePositives(support - int((runs * (runs - 1) // 2).sum()), support)


def qualified(
    rules: Iterable[NormalizationRule], tree: PatternTree, effects: Effects, options: PatternTreeChoices, fpr_max: float
) -> list[NormalizationRule]:
    """Return the rules that pass the filter, with their false-positive rates."""
    duplicated = _duplicated(tree)
    passed = (qualify(rule, tree, effects, duplicated, options=options, fpr_max=fpr_max) for rule in rules)
    return [rule for rule in passed if rule is not None]


def qualify(
    rule: NormalizationRule,
    tree: PatternTree,
    effects: Effects,
    duplicated: Flags,
    *,
    options: PatternTreeChoices,
    fpr_max: float,
) -> NormalizationRule | None:
    """Return a rule with its false-positive rate on the training set, or None if it is unqualified.

    The rule runs on the URLs of its source; those of its target are shown in the target's format,
    ignored keys as the wildcard, since otherwise no URL of theirs could be equal to a rewritten one.
    *duplicated* tells of each row whether it has a duplicate. A rule that makes no pair is of no use.
    """
    source, target = tree.nodes[rule.nodes[0]].rows, tree.nodes[rule.nodes[1]].rows
    if options.tested_on == "duplicates":
        source, target = source[duplicated[source]], target[duplicated[target]]
    forms, rows = effects.hashes(rule.operations, source), source
    if not rule.of_one_node:
        own = {**same_formation(rule.target), **dict.fromkeys(rule.ignored, IgnoreKey())}
        forms, rows = np.r_[forms, effects.hashes(own, target)], np.r_[source, target]
    content = tree.table.content[rows]
    found = false_positives(forms, content)
    if not found.support:
        return None
    groups = grouped(forms, content)
    loss = upper_bound(groups.lost, groups.informative)
    rule = replace(rule, fpr=found.rate, loss=loss)
    if options.noise == "pairs":
        return rule if found.rate <= fpr_max else None
    if not worth_asking(groups.lost, groups.informative) or groups.informative < current().proposed_groups:
        return None
    joined = rule.of_one_node or _joined(groups, len(source)) >= current().proposed_groups
    return rule if joined else None


def _joined(groups: Groups, sources: int) -> int:
    """Return the number of groups with URLs of the source, the first *sources* rows, and of the target."""
    from_source = np.bincount(groups.group[groups.order < sources], minlength=len(groups.size))
    return int(np.count_nonzero((from_source > 0) & (from_source < groups.size)))


def _duplicated(tree: PatternTree) -> Flags:
    _, places, counts = np.unique(tree.table.content, return_inverse=True, return_counts=True)
    found: Flags = counts[places.reshape(-1)] > 1
    return found
