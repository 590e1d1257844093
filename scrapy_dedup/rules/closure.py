"""When one step is enough: what operations leave behind.

A canonical key is what steps of the rules lead to (:mod:`.book`). Mostly the second
step would change nothing, and what is here says so beforehand.
"""

from collections.abc import Sequence

from ..urls import PLACEHOLDER
from .actions import normal_value
from .compiled import Bound
from .operations import AnyOrder, Ignore, IgnoreValue, Keep, Lower, Operation, Set, SetOfValues
from .predicates import Predicate

__all__ = ["leaves_normal", "may_awaken"]


def leaves_normal(key: str, operation: Operation) -> bool:
    """Return whether *operation* leaves a normal form that it finds nothing more to do on.

    *key* is the operation's, or the beginning of its keys. A text that a rule sets may
    be anything: of a parameter it is one value, if it holds no ``;`` that could part it.
    """
    if not isinstance(operation, Set):
        return isinstance(operation, Ignore | IgnoreValue | Lower | SetOfValues | Keep | AnyOrder)
    values = {old and normal_value(key, old): new and normal_value(key, new) for old, new in operation.values}
    return (
        key.startswith("q.")
        and not any("%3B" in new for new in values.values() if new)
        and all(values.get(new, new) == new for new in values.values())
    )


def may_awaken(key: str, bound: Bound, predicates: Sequence[Predicate]) -> bool:
    """Return whether *bound* may leave *key* so that one of *predicates* holds that did not before.

    *predicates* are on the same key. That of the operation's own rule held before.
    """
    operation = bound.operation
    others = [predicate for predicate in predicates if predicate != bound.guard]
    changes: list[tuple[str | None, str | None]]
    match operation:
        case Keep():
            return False
        case Ignore(only) | IgnoreValue(only):
            new = None if isinstance(operation, Ignore) else PLACEHOLDER
            if not isinstance(only, frozenset):
                return any(_holds(predicate, new) for predicate in others)
            changes = [(normal_value(key, value), new) for value in only]
        case Set(pairs):
            changes = [(old and normal_value(key, old), new and normal_value(key, new)) for old, new in pairs]
        case _:
            return bool(others)
    return any(_holds(predicate, new) and not _holds(predicate, old) for old, new in changes for predicate in others)


def _holds(predicate: Predicate, value: str | None) -> bool:
    return predicate.optional if value is None else predicate.holds(value)
