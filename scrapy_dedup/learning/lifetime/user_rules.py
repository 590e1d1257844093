"""Rules of the user beside learned ones: what these may not say, and which of them leave for it."""

from collections.abc import Iterable, Iterator, Sequence

from ...rules import Rule, Status
from ...rules.lifecycle import Departure, Reason
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
