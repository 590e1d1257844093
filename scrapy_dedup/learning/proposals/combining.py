"""From single proposals to rules: one rule a pattern, as a person would write it."""

from collections.abc import Iterable

from ...rules import AnyOrder, Ignore, IgnoreValue, Keep, Lower, Operation, Rule, Set
from ...urls import ValueClass
from ..data.judgement import Deep, Judgement, SiteUrls, book_of, judged
from .proposal import Match, Proposal


def rules_of(site: str, proposals: Iterable[Proposal]) -> list[Rule]:
    """Return the rules that say what *proposals* say, in the order of their patterns."""
    by_match: dict[Match, dict[str, list[Operation]]] = {}
    for proposal in proposals:
        operations = by_match.setdefault(proposal.match, {})
        operations.setdefault(proposal.key, []).append(proposal.operation)
    return [
        Rule(site=site, match=dict(match), ops={key: combined(several) for key, several in operations.items()})
        for match, operations in by_match.items()
    ]


def outcome_of(proposals: Iterable[Proposal], sample: SiteUrls, deep: Deep) -> Judgement:
    """Return what *proposals* do together to the URLs of a sample."""
    return judged(book_of(rules_of(sample.site, proposals), sample, deep), sample)


def combined(operations: list[Operation]) -> Operation:
    """Return one operation for a key of which several were found under the same pattern.

    Dropping the key goes beyond all that is said of its values, and what keeps the key comes first.

    >>> combined([Ignore(only={"0"}), Ignore(only={"1"})]) == Ignore(only={"0", "1"})
    True
    >>> combined([Ignore(only={"0"}), Set({"a": "b"})]) == Set({"0": None, "a": "b"})
    True
    >>> combined([IgnoreValue(only={"0", "1"}), Ignore(only={"0"}), Ignore(only={"1"})]) == Ignore(only={"0", "1"})
    True
    """
    if len(operations) == 1:
        return operations[0]
    for operation in operations:
        if isinstance(operation, Keep):
            return operation
    orders = [operation for operation in operations if isinstance(operation, AnyOrder)]
    if orders:
        named = [] if any(not one.names for one in orders) else [name for one in orders for name in one.names]
        return AnyOrder(named, after=min(one.after for one in orders))
    for operation in operations:
        if isinstance(operation, Ignore) and _whatever_value(operation.only):
            return operation
    gone = {value for operation in operations if isinstance(operation, Ignore) for value in _named(operation)}
    for operation in operations:
        if isinstance(operation, IgnoreValue) and not (
            isinstance(operation.only, frozenset) and operation.only <= gone
        ):
            return operation
    changed: dict[str | None, str | None] = {
        source: target for operation in operations if isinstance(operation, Set) for source, target in operation.values
    }
    if changed:
        return Set({**changed, **dict.fromkeys(gone)})
    if gone:
        return Ignore(only=gone)
    return Lower() if Lower() in operations else operations[0]  # of the whole value, where also of its first letter


def _whatever_value(only: frozenset[str] | ValueClass | None) -> bool:
    return only is None or isinstance(only, ValueClass)


def _named(operation: Ignore) -> frozenset[str]:
    return operation.only if isinstance(operation.only, frozenset) else frozenset()
