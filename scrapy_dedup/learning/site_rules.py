"""One site's rules, from its observed URLs: the steps of learning in their order (:func:`learn_site`)."""

import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from ..rules import Rule, RuleBook, Status
from ..rules.lifecycle import Departure, Reason
from ..urls import DeepSplit
from .asking.refetching import odd_responses
from .best_pattern import best_pattern
from .data.clusters import Clusters
from .data.judgement import SiteUrls, book_of, judged
from .decision.candidates import candidate_rules
from .decision.validation import counted_with_files, within_budget
from .decision.weighing import weighed, with_counts
from .learners.core import SiteEvidence
from .learners.widening import generalised, wider_families, wider_spellings
from .learning_options import LearningOptions
from .lifetime.incumbents import said_by, with_incumbents
from .lifetime.kept_rules import returned, switched_off, with_those_of_the_user
from .lifetime.redundant import redundant
from .methods.policy import MethodPolicy
from .opinions.declared import Declarations
from .proposals.proposal import Proposal
from .selection import selected
from .site_evidence import evidence_of, judged_sample, used_splits
from .site_report import SiteReport, one_answer, site_report

logger = logging.getLogger(__name__)

SEARCH = 0.4
"""Share of the time left that is spent on looking for rules; the rest is for testing them."""
LEARNED = (Status.ACTIVE, Status.CANDIDATE)
"""What becomes of rules that are learned, as long as nobody speaks against them."""


@dataclass(frozen=True, slots=True)
class LearnedSite:
    """The rules and deep tokens of one site, their report, and the earlier rules that leave."""

    rules: list[Rule]
    deep: Mapping[str, DeepSplit]
    report: SiteReport
    departures: tuple[Departure, ...] = ()
    candidates: tuple[Rule, ...] | None = ()
    """None where the time was up before they were looked for."""
    odd: tuple[str, ...] = ()
    out_of_time: bool = False


def learn_site(
    site: str,
    found: Clusters,
    options: LearningOptions,
    *,
    known: RuleBook,
    declarations: Declarations | None = None,
    may_return: AbstractSet[str] = frozenset(),
    others: RuleBook | None = None,
) -> LearnedSite:
    """Return the rules of one site, learned beside those that act already.

    *may_return* are the ids of suspended rules that may be learned again, *others* the rules of the sites whose URLs are nested in its own.
    """
    deadline = options.deadline
    every = SiteUrls.of(site, found, options.site_groups, others, options.names)
    judged_urls, encoded, alike = judged_sample(every, found.controls.values())
    evidence = evidence_of(judged_urls, encoded, declarations)
    sample, table, splits = evidence.sample, evidence.table, evidence.deep

    searching = deadline.share(SEARCH)
    chosen = selected(replace(evidence, deadline=searching))
    out_of_time = searching.passed()
    accepted = within_budget(chosen.proposals, sample, splits, options.max_loss)
    wider, widened_by = (accepted, {}) if deadline.passed() else _widened(accepted, evidence)

    before = known.for_site(site)
    filed = {one: rule.evidence for rule in before if rule.evidence is not None for one in said_by(rule)}
    counted = counted_with_files(filed, sample, splits)
    settled = with_incumbents(wider, before, sample, splits, known.site_rules(site).deep, counted=counted, alike=alike)
    deep = used_splits(settled.proposals, settled.deep)

    trusted = [rule for rule in before if rule.status is not Status.SUSPENDED]
    sources = {**settled.sources, **chosen.sources, **widened_by}
    fresh = returned(weighed(settled.proposals, sample, deep, sources, trusted), before, may_return)
    back = {rule.id for rule in fresh} & may_return
    rules = with_those_of_the_user(fresh, [rule for rule in before if rule.id not in back])
    covered = redundant(rules, before, every, deep, deadline)
    rules = [rule for rule in rules if all(rule.id != each.rule.id for each in covered)]
    departures = (*settled.departures, *covered)
    departures = (*departures, *switched_off(before, rules, departures))

    book = book_of(rules, sample, deep)
    judgement = judged(book, sample)
    report = site_report(site, found, rules, judgement)
    if odd := len(set(every.urls) - set(sample.urls) - set(alike.urls)):
        report = replace(report, notes=(*report.notes, f"left out: {odd} odd responses"))
    if told := one_answer(alike):
        report = replace(report, notes=(*report.notes, told), one_answer=told)
    if report.duplicates and not report.rules and (pattern := best_pattern(table)) is not None:
        report = replace(report, notes=(*report.notes, str(pattern)))
    if out_of_time:
        logger.warning("Out of time: %s was not searched to the end", site)
        report = replace(report, notes=(*report.notes, "out of time: more may be found in more time"))
    likely: tuple[Rule, ...] | None = None if out_of_time else ()
    if options.candidates and not out_of_time:
        likely = candidate_rules(sample, table, splits, book, acting=settled.proposals, before=rules)
    if likely:
        judgement = judged(book.with_candidates(site, likely), sample)
    again = odd_responses(judgement, found.again)
    return LearnedSite(rules, deep, report, departures, likely, again, out_of_time)


def _widened(
    proposals: Sequence[Proposal], evidence: SiteEvidence
) -> tuple[list[Proposal], dict[Proposal, tuple[str, ...]]]:
    """Return accepted proposals, widened to names, hosts and spellings that were not seen, and what widened each."""
    table, found = evidence.table, list(proposals)
    sources: dict[Proposal, tuple[str, ...]] = {}
    for name in ("affixes", "casing"):
        wider = wider_families(found, table, evidence.deep) if name == "affixes" else wider_spellings(found, table)
        more = generalised(found, wider, evidence.sample, evidence.deep)
        sources.update(dict.fromkeys([one for one in more if one not in found], (name,)))
        found = more
    return found, sources


def decide_site(
    policy: MethodPolicy,
    site: str,
    found: Clusters,
    options: LearningOptions,
    *,
    known: RuleBook,
    others: RuleBook | None = None,
) -> LearnedSite:
    """Return the rules of one site that a published method decides on, beside those of the user and the suspended ones.

    Learned rules that it does not make leave.
    """
    sample = SiteUrls.of(site, found, options.site_groups, others)
    written, notes = policy.written(sample)
    proposed_by = {rule.id: (policy.method,) for rule in written}
    fresh = [
        replace(rule, evidence=replace(rule.evidence, method=policy.method))
        for rule in with_counts(written, sample, {}, proposed_by)
        if rule.evidence is not None
    ]
    return decided(site, found, sample, fresh, {}, known=known, notes=notes)


def decided(
    site: str,
    found: Clusters,
    sample: SiteUrls,
    fresh: Sequence[Rule],
    deep: Mapping[str, DeepSplit],
    *,
    known: RuleBook,
    notes: tuple[str, ...] = (),
) -> LearnedSite:
    """Return a site whose learned rules are *fresh* ones alone: those of the user stay, the other ones of before leave."""
    before = known.for_site(site)
    rules = with_those_of_the_user(fresh, before)
    ids = {rule.id for rule in rules}
    gone = [Departure(rule, Reason.METHOD) for rule in before if _is_learned(rule) and rule.id not in ids]
    report = site_report(site, found, rules, judged(book_of(rules, sample, deep), sample), notes)
    return LearnedSite(rules, {**known.site_rules(site).deep, **deep}, report, tuple(gone))


def _is_learned(rule: Rule) -> bool:
    return rule.status in LEARNED and not rule.is_alias
