"""Rules tested on the URLs that were observed, and the document's method as a whole.

Source: "url-normalization-rule-inference", FIG. 1, step 130, and FIG. 2, steps 220 to 260, claims 1, 4 and 8: URLs that a
rule gives one normalized URL must lead to near-identical pages. A single counterexample rejects; more
URLs than a threshold, and none, activate; and what is tested may be bounded by a window of time.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ..options import EquivalenceOptions
from .rewriting import (
    ClassRules,
    Form,
    RewriteRule,
    Values,
    asked_values,
    generalised,
    rule_of_class,
    rules_of_classes,
    spread_of,
)
from .segments import by_intersection, by_prefix_and_suffix, segmented

CONFLICT = -2
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Observed:
    """A URL, the class of what it led to (any number), and when (seconds, None where unknown)."""

    url: str
    content: int
    time: float | None = None


def within_window(observed: Iterable[Observed], days: float | None) -> list[Observed]:
    """Return what was observed in the last *days* before the latest observation.

    Naming schemes of a site change over time. Without a window, all; what has no time stays.
    """
    rows = list(observed)
    latest = max((row.time for row in rows if row.time is not None), default=None)
    if days is None or latest is None:
        return rows
    return [row for row in rows if row.time is None or row.time >= latest - days * _DAY]


@dataclass(slots=True)
class Shape:
    """The observed URLs of one origin whose segments have the same keys."""

    rows: list[int] = field(default_factory=list)
    values: list[Values] = field(default_factory=list)
    _by_values: dict[Values, list[int]] | None = None

    @property
    def by_values(self) -> dict[Values, list[int]]:
        """The URLs by their values; made when it is first asked for, which is not so of most shapes."""
        if self._by_values is None:
            self._by_values = {}
            for row, values in zip(self.rows, self.values, strict=True):
                self._by_values.setdefault(values, []).append(row)
        return self._by_values


class Index:
    """Observed URLs by their shape: a rule is tested on those that it can match, and on no others."""

    def __init__(self, observed: Sequence[Observed]) -> None:
        self.members = [segmented(row.url) for row in observed]
        self.content = [row.content for row in observed]
        self._shapes: dict[tuple[str, tuple[str, ...]], Shape] = {}
        for row, member in enumerate(self.members):
            shape = self._shapes.setdefault((member.origin, member.keys), Shape())
            shape.rows.append(row)
            shape.values.append(member.values)

    def shape(self, origin: str, keys: tuple[str, ...]) -> Shape:
        """Return the URLs of a shape, none where it was not met."""
        return self._shapes.get((origin, keys)) or Shape()

    def urls_matched(self, form: Form) -> Shape:
        """Return the URLs that rules of a form may match."""
        return self.shape(form.origin, form.keys)

    def targets(self, form: Form) -> dict[Values, list[int]]:
        """Return the URLs that may stand on the right of rules of a form, by their values."""
        if form.kept == tuple(range(len(form.keys))):
            return {}  # they are on the left as well
        return self.shape(form.origin, form.right_keys).by_values


class RuleVerdict(str, Enum):
    """What a test leads to: activated, rejected, or not enough evidence for either."""

    ACTIVE = "active"
    REJECTED = "rejected"
    CANDIDATE = "candidate"

    __str__ = str.__str__


@dataclass(frozen=True, slots=True)
class Tested:
    """A rule and the outcome of its test.

    ``urls``: URLs, in groups of one normalized URL and one content, for which the prediction held;
    ``bad``: groups of two contents or more.
    """

    rule: RewriteRule
    urls: int
    bad: int

    def verdict(self, min_urls: int) -> RuleVerdict:
        """Return the document's verdict: one counterexample rejects, more URLs than *min_urls* activate."""
        if self.bad:
            return RuleVerdict.REJECTED
        return RuleVerdict.ACTIVE if self.urls > min_urls else RuleVerdict.CANDIDATE


Groups = dict[Values, list[int]]
"""Values on the right side -> numbers of the URLs that lead there."""


def tested(rule: RewriteRule, index: Index) -> Tested:
    """Return how a rule does by itself. Linear in the URLs of the shape of its left side."""
    (found,) = tested_together([rule], index)
    return found


def tested_together(rules: Sequence[RewriteRule], index: Index) -> list[Tested]:
    """Return how each of *rules* does, all of which have right sides of one shape, when all are applied.

    The URLs of a group may have come there by several rules: each of them counts it.
    """
    taken = [groups_of(rule, index) for rule in rules]
    held = {
        right: len(members)
        for right, members in joined(rules, taken, index).items()
        if len({index.content[row] for row in members}) == 1
    }
    return [
        Tested(
            rule,
            urls=sum(held[right] for right in own if held.get(right, 0) > 1),
            bad=sum(right not in held for right in own),
        )
        for rule, own in zip(rules, taken, strict=True)
    ]


def groups_of(rule: RewriteRule, index: Index) -> Groups:
    """Return the URLs that a rule matches, by the values on its right side."""
    shape = index.urls_matched(rule.form)
    groups: defaultdict[Values, list[int]] = defaultdict(list)
    for row, values in zip(shape.rows, shape.values, strict=True):
        if rule.matches(values):
            groups[rule.form.right_values(values)].append(row)
    return groups


def joined(rules: Sequence[RewriteRule], taken: Sequence[Groups], index: Index) -> Groups:
    """Return the URLs that several rules bring to each right side, with those that stand there."""
    found: dict[Values, set[int]] = {}
    for rule, groups in zip(rules, taken, strict=True):
        targets = index.targets(rule.form)
        for right, members in groups.items():
            found.setdefault(right, set(targets.get(right, ()))).update(members)
    return {right: sorted(members) for right, members in found.items()}


def refuted_classes(rules: ClassRules, index: Index) -> set[Values]:
    """Return which of the rules of single classes, of one form, have a counterexample.

    All are tested in one pass over the URLs of their shape.
    """
    form = rules.form
    shape = index.urls_matched(form)
    every = rules.asked
    found: dict[Values, int] = {}
    for row, values in zip(shape.rows, shape.values, strict=True):
        asked = asked_values(form, values)
        if asked in every and found.setdefault(asked, index.content[row]) != index.content[row]:
            found[asked] = CONFLICT
    targets = index.targets(form)
    for asked in every:
        for row in targets.get(asked[: len(form.kept)], ()):
            if found.setdefault(asked, index.content[row]) != index.content[row]:
                found[asked] = CONFLICT
    return {asked for asked, content in found.items() if content == CONFLICT}


@dataclass(frozen=True, slots=True)
class Inference:
    """All rules that were tested, the class rules that had a counterexample, and what became of both."""

    rules: tuple[Tested, ...]
    refuted: tuple[RewriteRule, ...]
    """Rules of single classes that were refuted before they were generalised."""
    min_urls: int

    @property
    def active(self) -> tuple[RewriteRule, ...]:
        """The rules that were activated."""
        return tuple(test.rule for test in self.rules if test.verdict(self.min_urls) is RuleVerdict.ACTIVE)

    def normalized(self, url: str) -> str:
        """Return *url* as the first active rule that matches it has it; without one, *url*."""
        for rule in self.active:
            found = rule.rewrite(url)
            if found is not None:
                return found
        return url


def inferred(observed: Iterable[Observed], options: EquivalenceOptions | None = None) -> Inference:
    """Return the rules that observations of any web servers lead to.

    Rules of single classes are tested before they are generalised; those without a counterexample are
    generalised over classes, and what comes of it is tested: by itself, and then with all rules that
    have similar right sides. A rule that is refuted by itself is no part of that second test.
    """
    options = options or EquivalenceOptions()
    index = Index(within_window(observed, options.window_days))
    every, refuted = tested_class_rules(index, options)
    spread = spread_of(every)
    families: defaultdict[tuple[str, tuple[str, ...]], list[RewriteRule]] = defaultdict(list)
    found = []
    for rules in every:
        family = rules.form.origin, rules.form.right_keys
        rule = generalised(rules, spread[family])
        alone = tested(rule, index)
        if alone.bad:
            found.append(alone)
        else:
            families[family].append(rule)
    for together in families.values():
        found += tested_together(together, index)
    return Inference(tuple(found), tuple(refuted), options.min_urls)


def tested_class_rules(index: Index, options: EquivalenceOptions) -> tuple[list[ClassRules], list[RewriteRule]]:
    """Return the rules of single classes that have no counterexample, by form, and those that have."""
    kept, refuted = [], []
    method = by_prefix_and_suffix if options.representative == "ends" else by_intersection
    for rules in rules_of_classes(index.members, index.content, method=method, fold_case=options.fold_case):
        wrong: set[Values] = refuted_classes(rules, index)
        refuted += [rule_of_class(rules, asked) for asked in sorted(wrong)]
        rows = [row for row in rules.rows if asked_values(rules.form, row[0]) not in wrong] if wrong else rules.rows
        if rows:
            kept.append(ClassRules(rules.form, rows))
    return kept, refuted
