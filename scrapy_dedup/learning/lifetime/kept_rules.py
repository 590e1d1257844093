"""Rules of before that stay whatever is learned: the user's, and refuted ones until later evidence speaks for them.

A site may have changed since the refutation, and what a rule of then rests on may be older: only what was seen later
can speak for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ...observation import Observation
from ...rules import Rule, RuleBook, Status
from ...rules.lifecycle import Departure, Reason
from ..config import current
from ..data.clusters import clusters
from ..data.judgement import SiteUrls, judged
from ..proposals.coverage import exclude_each_other, keys_meet


def switched_off(before: Iterable[Rule], rules: Iterable[Rule], departures: Iterable[Departure]) -> Iterator[Departure]:
    """Yield the rules that leave since the user has switched off what they do, or a part of it."""
    known = {rule.id for rule in rules} | {departure.rule.id for departure in departures}
    for rule in before:
        if rule.status is Status.ACTIVE and not rule.is_alias and rule.id not in known:
            yield Departure(rule, Reason.OFF)


def with_those_of_the_user(fresh: Sequence[Rule], before: Sequence[Rule]) -> list[Rule]:
    """Return the learned rules with the user's, less what the user or a refutation forbids.

    What is off is never learned back, under whatever other pattern or shape of values.
    """
    kept = [rule for rule in before if rule.status.users or rule.status is Status.SUSPENDED]
    forbidden = {rule.id for rule in kept}
    off = [rule for rule in kept if rule.status is Status.OFF]
    allowed = (_without_what_is_off(rule, off) for rule in fresh)
    return kept + [rule for rule in allowed if rule.ops and rule.id not in forbidden]


def _without_what_is_off(rule: Rule, off: Sequence[Rule]) -> Rule:
    """Return a rule without the operations on keys that a rule which is off, where both hold, acts on."""
    keys = {key for other in off if not exclude_each_other(rule.match, other.match) for key in other.ops}
    forbidden = {key for key in rule.ops if any(keys_meet(key, other) for other in keys)}
    if not forbidden:
        return rule
    ops = {key: operation for key, operation in rule.ops.items() if key not in forbidden}
    return Rule(rule.site, rule.match, ops, rule.status, rule.evidence)


def may_return(
    site: str,
    known: RuleBook,
    observations: Sequence[Observation],
    *,
    site_groups: Mapping[str, Sequence[str]] | None = None,
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
        book = RuleBook([replace(rule, status=Status.ACTIVE)], {site: known.site_rules(site).deep}, site_groups)
        judgement = judged(book, SiteUrls.of(site, clusters(later), site_groups))
        if not judgement.bad and len(judgement.clean) >= current().proposed_groups:
            found.add(rule.id)
    return frozenset(found)


def returned(fresh: Iterable[Rule], before: Iterable[Rule], may: AbstractSet[str]) -> list[Rule]:
    """Return the learned rules; those that *may* return keep the time of their refutation."""
    refuted_at = {rule.id: rule.evidence.refuted_at for rule in before if rule.evidence is not None}
    return [
        replace(rule, evidence=replace(rule.evidence, refuted_at=refuted_at[rule.id]))
        if rule.id in may and rule.evidence is not None
        else rule
        for rule in fresh
    ]
