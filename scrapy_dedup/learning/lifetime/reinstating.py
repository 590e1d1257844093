"""Rules that samples have refuted, and what was seen since: whether they may be learned again.

Until then the refutation stands, whatever was seen before it: a site may have changed, and what a rule of then
rests on may be older than that. Only what was seen later can speak for the rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ...observation import Observation
from ...rules import Rule, RuleBook, Status
from ..config import current
from ..data.clusters import clusters
from ..data.judgement import Sample, judged


def may_return(
    site: str,
    known: RuleBook,
    observations: Sequence[Observation],
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> frozenset[str]:
    """Return the ids of suspended rules of *site* for which enough speaks that was seen after they were refuted.

    That is as many informative groups as any rule needs, and no bad one. The pages are compared with all they show:
    a mask may be what the refuted rule came from.
    """
    found = set()
    for rule in known.for_site(site):
        if rule.status is not Status.SUSPENDED or rule.evidence is None or not rule.evidence.refuted_at:
            continue
        since = rule.evidence.refuted_at
        later = [each for each in observations if each.time is not None and each.time > since]
        if len(later) < 2 * current().proposed_groups:
            continue
        book = RuleBook([replace(rule, status=Status.ACTIVE)], {site: known.site_rules(site).deep}, groups)
        judgement = judged(book, Sample.of(site, clusters(later), groups))
        if not judgement.bad and len(judgement.clean) >= current().proposed_groups:
            found.add(rule.id)
    return frozenset(found)


def returned(fresh: Iterable[Rule], before: Iterable[Rule], may: AbstractSet[str]) -> list[Rule]:
    """Return the learned rules; in those that *may* return it stands that the refutation was known."""
    refuted_at = {rule.id: rule.evidence.refuted_at for rule in before if rule.evidence is not None}
    return [
        replace(rule, evidence=replace(rule.evidence, refuted_at=refuted_at[rule.id]))
        if rule.id in may and rule.evidence is not None
        else rule
        for rule in fresh
    ]
