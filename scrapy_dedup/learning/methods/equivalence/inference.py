"""The document's method, from classes of near-identical pages to tested rewrite rules.

Source: "url-normalization-rule-inference", FIG. 2, steps 220 to 260, and claims 1, 4 and 8.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .class_rules import ClassRules, Values, asked_values, rule_of_class, rules_of_classes
from .generalization import generalised, spread_of
from .representatives import Method, by_intersection
from .rewriting import RewriteRule
from .segments import SegmentedUrl, segmented
from .testing import Index, Observed, RuleVerdict, Tested, refuted_classes, tested, tested_together, within_window


@dataclass(frozen=True, slots=True)
class Policy:
    """What the document leaves to the implementer.

    ``min_urls``: a rule is activated when its prediction held for more URLs than these (the document
    says "a certain threshold number"); ``method``: what the URLs of a class share; ``fold_case``:
    segments may be case-insensitive; ``window``: seconds before the latest observation that count,
    None for all.
    """

    min_urls: int = 10
    method: Method = by_intersection
    fold_case: bool = False
    window: float | None = None


@dataclass(frozen=True, slots=True)
class Inference:
    """All rules that were tested, the class rules that had a counterexample, and what became of both."""

    rules: tuple[Tested, ...]
    refuted: tuple[RewriteRule, ...]
    """Rules of single classes that were refuted before they were generalised."""
    policy: Policy

    @property
    def active(self) -> tuple[RewriteRule, ...]:
        """The rules that were activated."""
        return tuple(test.rule for test in self.rules if test.verdict(self.policy.min_urls) is RuleVerdict.ACTIVE)

    def normalized(self, url: str) -> str:
        """Return *url* as the first active rule that matches it has it; without one, *url*."""
        for rule in self.active:
            found = rule.rewrite(url)
            if found is not None:
                return found
        return url


def inferred(observed: Iterable[Observed], policy: Policy | None = None) -> Inference:
    """Return the rules that observations of any web servers lead to.

    Rules of single classes are tested before they are generalised; those without a counterexample are
    generalised over classes, and what comes of it is tested: by itself, and then with all rules that
    have similar right sides. A rule that is refuted by itself is no part of that second test.
    """
    policy = policy or Policy()
    rows = within_window(observed, policy.window)
    members = [segmented(row.url) for row in rows]
    content = [row.content for row in rows]
    index = Index(members, content)
    every, refuted = tested_class_rules(members, content, index, policy)
    spread = spread_of(every)
    families: defaultdict[tuple[str, tuple[str, ...]], list[RewriteRule]] = defaultdict(list)
    found = []
    for rules in every:
        family = rules.form.origin, rules.form.right_keys
        rule = generalised(rules.form, rules.rows, spread[family])
        alone = tested(rule, index)
        if alone.bad:
            found.append(alone)
        else:
            families[family].append(rule)
    for together in families.values():
        found += tested_together(together, index)
    return Inference(tuple(found), tuple(refuted), policy)


def tested_class_rules(
    members: Sequence[SegmentedUrl], content: Sequence[int], index: Index, policy: Policy
) -> tuple[list[ClassRules], list[RewriteRule]]:
    """Return the rules of single classes that have no counterexample, by form, and those that have."""
    kept, refuted = [], []
    for rules in rules_of_classes(members, content, method=policy.method, fold_case=policy.fold_case):
        wrong: set[Values] = refuted_classes(rules, index)
        refuted += [rule_of_class(rules, asked) for asked in sorted(wrong)]
        rows = [row for row in rules.rows if asked_values(rules.form, row[0]) not in wrong] if wrong else rules.rows
        if rows:
            kept.append(ClassRules(rules.form, rows))
    return kept, refuted
