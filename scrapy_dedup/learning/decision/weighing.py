"""The evidence of each rule, counted on the function that is deployed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from ...rules import Evidence, Keep, Operation, Rule, Status
from ...rules.lifecycle import pooled_evidence
from ...rules.model import BARE
from ...rules.redaction import redact
from ...urls import DeepSplit, values_of
from ..data.judgement import Deep, SiteUrls, book_of, judged, rules_acting
from ..data.url_table import joined_repeats
from ..evidence.shares import upper_bound
from ..proposals.blame import MAX_MEMBERS, View, bare_texts, is_arranged
from ..proposals.combining import combined, rules_of
from ..proposals.dropping import changes
from ..proposals.proposal import Proposal

EXAMPLES = 2


@dataclass(slots=True)
class _Count:
    """The counts of one rule's witness groups, URLs and pages, from which its evidence is made."""

    groups: int = 0
    bad: int = 0
    odd: int = 0
    """Of the bad ones those that the judge takes for one page."""
    removed: int = 0
    urls: int = 0
    later: int = 0
    """Of the groups those whose URLs were all seen after the snapshot in the rule's file."""
    until: float = 0.0
    apart: int = 0
    pages: set[int] = field(default_factory=set)
    examples: list[tuple[str, str]] = field(default_factory=list)


def weighed(
    proposals: Sequence[Proposal],
    sample: SiteUrls,
    deep: Mapping[str, DeepSplit],
    sources: Mapping[Proposal, tuple[str, ...]],
    before: Iterable[Rule] = (),
) -> list[Rule]:
    """Return the rules of validated proposals, active, with their evidence; *sources* are their learners.

    What stands in the files of the rules of *before* counts, too, and what both have seen once. What only keeps is left
    out where it keeps no page apart that was seen.
    """
    snapshots = {rule.id: rule.evidence for rule in before}
    rules = rules_of(sample.site, proposals)
    proposed_by = {rule.id: _learners(rule, proposals, sources) for rule in rules}
    found = with_counts(rules, sample, deep, proposed_by, snapshots)
    return [
        rule for rule in found if rule.evidence is not None and (rule.id in snapshots or _has_evidence(rule.evidence))
    ]


def with_counts(
    rules: Sequence[Rule],
    sample: SiteUrls,
    deep: Mapping[str, DeepSplit],
    proposed_by: Mapping[str, Sequence[str]],
    snapshots: Mapping[str, Evidence | None] | None = None,
) -> list[Rule]:
    """Return rules, active, with the evidence that a sample has for each; *proposed_by*: id -> its learners."""
    if not rules:
        return []
    snapshots = snapshots or {}
    book = book_of(rules, sample, deep)
    counted: defaultdict[str, _Count] = defaultdict(_Count)
    acting_on = rules_acting(book, [operation for rule in rules for operation in rule.ops.values()])
    judgement = judged(book, sample)
    witnessed = judgement.witnessed()
    for key, members in judgement.by_key.items():
        by_rule: defaultdict[str, list[int]] = defaultdict(list)
        acting: dict[str, Rule] = {}
        for i in members:
            for rule in acting_on(sample.urls[i]):
                by_rule[rule.id].append(i)
                acting[rule.id] = rule
        views = _views(members, sample, deep) if len(members) > 1 else []
        contents = {sample.content[i] for i in members}
        for name, own in by_rule.items():
            count = counted[name]
            count.urls += len(own)
            count.pages |= contents
            if sample.times is not None:
                count.until = max(count.until, *(sample.times[i] for i in own))
            if _merges(acting[name], views, {sample.urls[i] for i in members[:MAX_MEMBERS]}):
                snapshot = snapshots.get(name)
                if snapshot is not None and sample.times is not None and len(contents) == 1:
                    count.later += min(sample.times[i] for i in members) > snapshot.until
                count.groups += 1
                count.bad += len(contents) > 1
                count.odd += len(contents) > 1 and key in witnessed
                count.removed += len(own) - (len(own) == len(members)) if key in witnessed else 0
                if len(count.examples) < EXAMPLES and key in witnessed:
                    count.examples += _example(own, members, sample)
    secret = _all_operations(rules)
    for name, pages in _kept_pages(rules, sample, deep).items():
        counted[name].apart = pages
    found = [_with_evidence(rule, counted[rule.id], proposed_by[rule.id], secret, deep) for rule in rules]
    return [
        replace(rule, evidence=pooled_evidence(snapshots.get(rule.id), rule.evidence, counted[rule.id].later))
        for rule in found
        if rule.evidence is not None
    ]


def _example(own: Sequence[int], members: Sequence[int], sample: SiteUrls) -> list[tuple[str, str]]:
    """Return a URL of a group on which a rule acts, and another one that shows the same; none where there are no two."""
    for one in own:
        other = next((i for i in members if i != one and sample.content[i] == sample.content[one]), None)
        if other is not None:
            return [(sample.urls[one], sample.urls[other])]
    return []


def _has_evidence(evidence: Evidence) -> bool:
    return bool(evidence.groups or evidence.counterexamples or evidence.apart)


def _kept_pages(rules: Sequence[Rule], sample: SiteUrls, deep: Deep) -> dict[str, int]:
    """Return how many pages were seen where rules that only keep do so, by the id of the rule."""
    keeping = [rule for rule in rules if all(isinstance(operation, Keep) for operation in rule.ops.values())]
    places = {
        rule.id: Rule(rule.site, {key: rule.match[key] for key in rule.match.keys() - rule.ops.keys()}, rule.ops)
        for rule in keeping
    }
    if not places:
        return {}
    book = book_of(list({place.id: place for place in places.values()}.values()), sample, deep)
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for url, content in zip(sample.urls, sample.content, strict=True):
        for rule in book.matching(url):
            pages[rule.id].add(content)
    return {name: len(pages[place.id]) for name, place in places.items()}


def _learners(rule: Rule, proposals: Sequence[Proposal], sources: Mapping[Proposal, tuple[str, ...]]) -> list[str]:
    """Return the learners that have proposed a part of a rule."""
    of_it = (proposal for proposal in proposals if dict(proposal.match) == rule.match and proposal.key in rule.ops)
    return sorted({name for proposal in of_it for name in sources.get(proposal, ())})


def _views(members: Sequence[int], sample: SiteUrls, deep: Deep) -> list[View]:
    """Return the values of some URLs of a group."""
    urls = (sample.urls[i] for i in members[:MAX_MEMBERS])
    return [dict(joined_repeats(values_of(url, groups=sample.site_groups, deep=deep))) for url in urls]


def _merges(rule: Rule, views: Sequence[View], urls: AbstractSet[str]) -> bool:
    """Return whether a rule has a part in that URLs are one: they differ in a key whose value it changes.

    What all rules together merge would tell the same of each that acts everywhere.
    """
    acting = [(key, operation) for key, operation in rule.ops.items() if not key.endswith("*")]
    for prefix, operation in rule.ops.items():
        if prefix.endswith("*"):
            covered = {key for view in views for key in view if key.startswith(prefix[:-1])}
            acting += [(key, operation) for key in covered]
    if any(is_arranged(Proposal((), key, operation), urls) for key, operation in acting):
        return True
    if BARE in rule.ops:
        texts = {tuple(bare_texts(view)) for view in views}
        if len(texts) > 1 and any(changes(rule.ops[BARE], text) for some in texts for text in some):
            return True
    for key, operation in acting:
        values = {view.get(key) for view in views}
        if len(values) > 1 and any(value is not None and changes(operation, value) for value in values):
            return True
    return False


def _all_operations(rules: Sequence[Rule]) -> dict[str, Operation]:
    """Return the operations on each key by any rule: an example of one may hold a key that another drops."""
    operations: dict[str, list[Operation]] = {}
    for rule in rules:
        for key, operation in rule.ops.items():
            operations.setdefault(key, []).append(operation)
    return {key: combined(several) for key, several in operations.items()}


def _with_evidence(
    rule: Rule,
    count: _Count,
    learners: Sequence[str],
    secret: Mapping[str, Operation],
    deep: Mapping[str, DeepSplit],
) -> Rule:
    if count.groups == count.bad:
        # A page of hundreds of URLs has no group without an odd response: the judge says what it is.
        count.bad -= count.odd
    evidence = Evidence(
        learners=tuple(learners),
        groups=count.groups - count.bad,
        apart=count.apart,
        until=int(count.until),
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
