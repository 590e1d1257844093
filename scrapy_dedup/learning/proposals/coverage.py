"""Whether one proposal does all that another does."""

from collections.abc import Mapping

from ...rules import AnyOrder, Ignore, IgnoreValue, Literal, Lower, OfClass, OneOf, Predicate, Set
from ...urls import ValueClass
from .proposal import Match, Proposal


def says_as_much(one: Proposal, other: Proposal) -> bool:
    """Return whether *one* does all that *other* does: to the same key and values, wherever *other* does."""
    return reaches(one.match, other.match) and _does_as_much(one, other)


def _does_as_much(one: Proposal, other: Proposal) -> bool:
    if one.key != other.key or type(one.operation) is not type(other.operation):
        return False
    if isinstance(one.operation, Lower) and one.operation.first and one.operation != other.operation:
        return False
    if isinstance(one.operation, AnyOrder) and isinstance(other.operation, AnyOrder):
        ours_of, theirs_of = one.operation, other.operation
        names = not ours_of.names or bool(theirs_of.names and set(ours_of.names) >= set(theirs_of.names))
        return names and ours_of.after <= theirs_of.after
    ours, theirs = _values(one), _values(other)
    if ours is None or theirs is None:
        return ours is None
    if isinstance(ours, ValueClass):
        if isinstance(theirs, ValueClass):
            return ours.covers(theirs)
        return all(ours.matches(value) for value in theirs)
    return not isinstance(theirs, ValueClass) and ours >= theirs


def _values(proposal: Proposal) -> frozenset[str | None] | ValueClass | None:
    """Return the values that an operation acts on, None for all."""
    operation = proposal.operation
    if isinstance(operation, Set):
        return frozenset(source for source, _ in operation.values)
    only = operation.only if isinstance(operation, Ignore | IgnoreValue) else None
    return frozenset(only) if isinstance(only, frozenset) else only


def reaches(one: Match, other: Match) -> bool:
    """Return whether URLs that match *other* match *one*."""
    asked = dict(other)
    return all(key in asked and _implied(predicate, asked[key]) for key, predicate in one)


def _implied(wide: Predicate, narrow: Predicate) -> bool:
    if wide == narrow:
        return True
    if wide.optional < narrow.optional:
        return False
    if isinstance(wide, OfClass):
        if isinstance(narrow, OfClass):
            return wide.value_class.covers(narrow.value_class)
        return bool(named := _named(narrow)) and all(map(wide.value_class.matches, named))
    ours, theirs = _named(wide), _named(narrow)
    return bool(ours and theirs and ours >= theirs)


def _named(predicate: Predicate) -> frozenset[str]:
    """Return the values that a predicate names."""
    if isinstance(predicate, Literal):
        return frozenset({predicate.value})
    return frozenset(predicate.values) if isinstance(predicate, OneOf) else frozenset()


def keys_meet(one: str, other: str) -> bool:
    """Return whether some key is both: either may be a beginning of keys (``q.utm_*``).

    >>> keys_meet("q.utm_*", "q.utm_id"), keys_meet("q.utm_*", "q.u*"), keys_meet("q.u", "q.utm_*")
    (True, True, False)
    """
    ours, theirs = one.removesuffix("*"), other.removesuffix("*")
    return one == other or (one != ours and theirs.startswith(ours)) or (other != theirs and ours.startswith(theirs))


def exclude_each_other(one: Mapping[str, Predicate], other: Mapping[str, Predicate]) -> bool:
    """Return whether no URL matches both patterns, as far as literals tell."""
    for key, predicate in one.items():
        also = other.get(key)
        if isinstance(predicate, Literal) and isinstance(also, Literal) and predicate.value != also.value:
            return True
    return False
