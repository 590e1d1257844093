"""The evidence of each rule, counted on the function that is deployed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..rules import Evidence, Operation, Rule, Status
from ..rules.redaction import redact
from ..urls import DeepSplit, values_of
from .blame import MAX_MEMBERS, View, changes
from .combining import combined, rules_of
from .emission import LEARNER, Proposal
from .evidence import upper_bound
from .judgement import Deep, Sample, book_of, judged
from .table import joined_repeats

EXAMPLES = 2


@dataclass(slots=True)
class _Count:
    groups: int = 0
    bad: int = 0
    removed: int = 0
    urls: int = 0
    pages: set[int] = field(default_factory=set)
    examples: list[tuple[str, str]] = field(default_factory=list)


def weighed(proposals: Sequence[Proposal], sample: Sample, deep: Mapping[str, DeepSplit]) -> list[Rule]:
    """Return the rules of validated proposals, active, with their evidence."""
    rules = rules_of(sample.site, proposals)
    if not rules:
        return []
    book = book_of(rules, sample, deep)
    counted: defaultdict[str, _Count] = defaultdict(_Count)
    judgement = judged(book, sample)
    for members in judgement.by_key.values():
        by_rule: defaultdict[str, list[int]] = defaultdict(list)
        acting: dict[str, Rule] = {}
        for i in members:
            for rule in book.matching(sample.urls[i]):
                by_rule[rule.id].append(i)
                acting[rule.id] = rule
        views = _views(members, sample, deep) if len(members) > 1 else []
        contents = {sample.content[i] for i in members}
        for name, own in by_rule.items():
            count = counted[name]
            count.urls += len(own)
            count.pages |= contents
            if _merges(acting[name], views):
                count.groups += 1
                count.bad += len(contents) > 1
                count.removed += len(own) - (len(own) == len(members)) if len(contents) == 1 else 0
                if len(count.examples) < EXAMPLES and len(contents) == 1:
                    other = next((i for i in members if i != own[0]), None)
                    if other is not None:
                        count.examples.append((sample.urls[own[0]], sample.urls[other]))
    secret = _all_operations(rules)
    return [_with_evidence(rule, counted[rule.id], secret, deep) for rule in rules]


def _views(members: Sequence[int], sample: Sample, deep: Deep) -> list[View]:
    """Return the values of some URLs of a group."""
    urls = (sample.urls[i] for i in members[:MAX_MEMBERS])
    return [dict(joined_repeats(values_of(url, groups=sample.groups, deep=deep))) for url in urls]


def _merges(rule: Rule, views: Sequence[View]) -> bool:
    """Tell whether a rule has a part in that URLs are one: they differ in a key whose value it changes.

    What all rules together merge would tell the same of each that acts everywhere.
    """
    for key, operation in rule.ops.items():
        values = {view.get(key) for view in views}
        if len(values) > 1 and any(value is not None and changes(operation, value) for value in values):
            return True
    return False


def _all_operations(rules: Sequence[Rule]) -> dict[str, Operation]:
    """Return what is done to each key by any rule: an example of one may hold what another drops."""
    operations: dict[str, list[Operation]] = {}
    for rule in rules:
        for key, operation in rule.ops.items():
            operations.setdefault(key, []).append(operation)
    return {key: combined(several) for key, several in operations.items()}


def _with_evidence(rule: Rule, count: _Count, secret: Mapping[str, Operation], deep: Mapping[str, DeepSplit]) -> Rule:
    evidence = Evidence(
        learners=(LEARNER,),
        groups=count.groups - count.bad,
        counterexamples=count.bad,
        pages=len(count.pages),
        urls=count.urls,
        removed=count.removed,
        upper95=round(upper_bound(count.bad, count.groups), 4),
        examples=tuple(
            (redact(one, secret, deep=deep), redact(other, secret, deep=deep)) for one, other in count.examples
        ),
    )
    return replace(rule, status=Status.ACTIVE, evidence=evidence)
