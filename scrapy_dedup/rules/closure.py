"""Where one step is enough: whether the operations of a table leave anything for a second step.

A canonical key is what steps of the rules lead to (:mod:`.apply`). Mostly the second
step would change nothing; this is found out once for each table, not for each URL.
"""

from collections.abc import Iterable, Mapping, Sequence

from ..urls import PLACEHOLDER
from .model import BARE
from .operations import Ignore, IgnoreValue, Keep, Set
from .predicates import Predicate, normal_value
from .table import ORIGIN_KINDS, PATH_KINDS, BoundOperation, OpTable

Guards = Mapping[str, Sequence[Predicate]]
"""Key -> the predicates on it, of all rules of a site."""


def unrepeated_for_one_step(table: OpTable, guards: Guards) -> tuple[str, ...] | None:
    """Return the parameters (``name=``) that a URL must not repeat for one step of *table* to be enough.

    None where a second step may change something. It changes nothing where no rule matches
    afterwards that did not before, and where the same operations, or some of them, find
    nothing more to do. Of origins this is found out in :mod:`.apply`.
    """
    if not table.keeps_normal_form or not _finds_nothing_more(table, guards):
        return None
    unrepeated = []
    for key, predicates in guards.items():
        if key.startswith(ORIGIN_KINDS):
            continue
        operations = table.operations_on(key)
        if not operations:
            continue
        if key[0] in "ms" or any(_may_start_a_match(key, bound, predicates) for bound in operations):
            return None
        if key.startswith("q."):
            unrepeated.append(key[2:] + "=")
    return tuple(unrepeated)


def _finds_nothing_more(table: OpTable, guards: Guards) -> bool:
    """Return whether the operations of *table* would change nothing in a second step."""
    exact = {key for rule in table.rules for key in rule.exact}
    for key in exact:
        if key.startswith(ORIGIN_KINDS):
            continue
        operations = [bound.operation for bound in table.operations_on(key)]
        if key == BARE and any(guarded.startswith("q.") for guarded in guards):
            return False
        if key in table.orders and not _moves_only_what_no_rule_names(table, (*exact, *guards)):
            return False
        if "[" in key or any(key.startswith(deep) for deep in table.deep) or key == "ext":
            return False
        if len(operations) > 1 and not all(isinstance(operation, Ignore) for operation in operations):
            return False
        # Where a segment is removed, all keys of the path mean something else.
        if key[:5] == "path." and key != "path.trail" and not isinstance(operations[0], IgnoreValue | Keep):
            return False
    prefixes = [item for rule in table.rules for item in rule.prefixes]
    return not prefixes or (
        all(prefix.startswith("q.") and isinstance(operation, Ignore) for prefix, operation in prefixes)
        and not table.deep_query
    )


def _moves_only_what_no_rule_names(table: OpTable, keys: Iterable[str]) -> bool:
    """Return whether *keys*, as far as they are of the path, are segments before those that an order moves."""
    orders = table.orders.get("path", [])
    if "matrix" in table.orders or len(orders) != 1:
        return False
    named = {key for key in keys if key.startswith(PATH_KINDS)} - {"path.len", "path.trail"}
    return all(key[5:].isdigit() and int(key[5:]) < orders[0][0].after for key in named)


def _may_start_a_match(key: str, bound: BoundOperation, predicates: Sequence[Predicate]) -> bool:
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
