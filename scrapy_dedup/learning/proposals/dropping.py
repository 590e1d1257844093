"""Operations: what drops the values of a key that were seen, which values an operation changes, and which URLs a proposal is about."""

import numpy as np

from ...rules import Ignore, IgnoreValue, Operation, Set, SetOfValues
from ...urls import ValueClass, class_of
from ..data.url_table import REPEAT, Table, with_inverse
from ..evidence.arrays import ABSENT, Flags, Rows
from ..evidence.value_kinds import MIN_TOKEN, ValueKind, are_named, kind_of_key, other_part
from .proposal import Match

MIN_HEX = 8


def dropped(table: Table, rows: Rows, key: str) -> Operation:
    """Return the operation that drops a key, guarded by the values or the shape of values it had."""
    values = seen_values(table, rows, key)
    if key == "scheme":
        target = min(values)
        return Set({value: target for value in values if value != target})
    if key.startswith("host."):
        return Ignore(only=values)
    if key == "path.trail":
        return Ignore()
    only = guard_of(table, rows, key)
    position = path_position(key)
    if isinstance(only, frozenset) and position is not None:
        following = table.columns.get(f"path.{position + 1}")
        if following is not None and bool((following[rows] != ABSENT).any()):
            # A segment dropped by name would be cut out, and the next ones move up.
            return IgnoreValue(only=only)
    return Ignore(only=only)


def value_dropped(table: Table, rows: Rows, key: str) -> Operation:
    """Return the operation that drops the value of a key and keeps its presence."""
    return IgnoreValue(only=guard_of(table, rows, key))


def guard_of(table: Table, rows: Rows, key: str) -> frozenset[str] | ValueClass:
    """Return which values of a key are dropped.

    Where a few values come again and again, a new one is something new (a language, a kind of list),
    and nothing was seen of it: those that were seen. Where values hardly repeat, their shape.
    """
    values = seen_values(table, rows, key)
    present = int(np.count_nonzero(table.columns[key][rows] != ABSENT))
    other = other_part(key)
    # What stands beside a drawn token is of its kind.
    is_token_part = (
        other in table.columns and kind_of_key(key, table.columns, table.vocabulary, rows) is ValueKind.DRAWN
    )
    if not is_token_part and are_named(len(values), present):
        return frozenset(values)
    return widened(class_of(values))


def seen_values(table: Table, rows: Rows, key: str) -> list[str]:
    """Return the distinct values of a key, those of repeats one by one."""
    codes = np.unique(table.columns[key][rows])
    texts = (table.vocabulary[code] for code in codes if code != ABSENT)
    return sorted({value for text in texts for value in text.split(REPEAT)})


def widened(shape: ValueClass) -> ValueClass:
    """Return a class with room for the values that were not met yet: half to double the lengths."""
    if shape.name == "empty" or (shape.min_len == shape.max_len and shape.min_len >= MIN_TOKEN):
        return shape
    # Short values that are all of A to F are letters by chance.
    name = "alnum" if shape.name == "hex" and shape.max_len < MIN_HEX else shape.name
    return ValueClass(name, shape.min_len // 2 or min(shape.min_len, 1), 2 * shape.max_len)


def path_position(key: str) -> int | None:
    """Return the position of a path segment, None for other keys."""
    kind, _, number = key.partition(".")
    return int(number) if kind == "path" and number.isdigit() else None


def changes(operation: Operation, value: str) -> bool:
    """Return whether an operation says something of a value (those of a repeated key are joined).

    >>> changes(Ignore(only={"1"}), "1"), changes(Ignore(only={"1"}), "2"), changes(Ignore(), "2")
    (True, False, True)
    """
    if isinstance(operation, Ignore | IgnoreValue):
        return any(_is_among(operation.only, one) for one in value.split(REPEAT))
    if isinstance(operation, Set):
        return value in {source for source, _ in operation.values}
    if isinstance(operation, SetOfValues):
        return bool(operation.delimiter) or REPEAT in value
    return True


def adds_value(operation: Operation) -> bool:
    """Return whether an operation gives a value to a key that a URL lacks."""
    return isinstance(operation, Set) and any(source is None for source, _ in operation.values)


def _is_among(only: frozenset[str] | ValueClass | None, value: str) -> bool:
    if isinstance(only, ValueClass):
        return only.matches(value)
    return only is None or value in only


def matching(table: Table, match: Match) -> Flags:
    """Return which URLs a match holds for."""
    holds = np.ones(len(table), dtype=np.bool_)
    for key, predicate in match:
        codes = table.columns.get(key)
        if codes is None:
            if not predicate.optional:
                holds[:] = False
            continue
        present, place = with_inverse(codes)
        answers = [
            predicate.optional if code == ABSENT else predicate.holds(table.vocabulary[code].split(REPEAT)[0])
            for code in present.tolist()
        ]
        holds &= np.array(answers, dtype=np.bool_)[place]
    return holds


def concerned(table: Table, key: str, operation: Operation) -> Flags:
    """Return which URLs have a value that an operation changes."""
    codes = table.columns.get(key)
    if codes is None:
        return np.zeros(len(table), dtype=np.bool_)
    present, place = with_inverse(codes)
    vocabulary = table.vocabulary
    answers = [code != ABSENT and changes(operation, vocabulary[code]) for code in present.tolist()]
    return np.array(answers, dtype=np.bool_)[place]
