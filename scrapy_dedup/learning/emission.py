"""From what was learned in columns to rules: patterns, operations, value guards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..rules import Absent, Ignore, IgnoreValue, Literal, OfClass, Operation, Predicate, Set, SetOfValues
from ..urls import ValueClass, class_of
from .config import current
from .constant_pages import ConstantPage
from .frame import Level
from .guards import PRESENT, Node, Pattern
from .shapes import Alike
from .table import ABSENT, BARE, REPEAT, Rows, Table
from .value_kinds import ValueKind, kind_of_key, other_part
from .values import Gone, Merged, Recoding, SegmentGone
from .values import SetOfValues as ValuesAsSet

MIN_HEX = 8
ANY_VALUE = ValueClass("any", 0, 1_000_000)

Match = tuple[tuple[str, Predicate], ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One operation under one pattern, the unit that validation accepts or rejects."""

    match: Match
    key: str
    operation: Operation
    joint: bool = False
    """It only holds together with the other joint proposals of its match (a bundle of keys)."""
    constant: bool = field(default=False, compare=False)
    """Its URLs are all one page."""

    def __post_init__(self) -> None:
        # Two learners say the same in whatever order they say it.
        object.__setattr__(self, "match", tuple(sorted(self.match, key=lambda part: part[0])))


def proposals(table: Table, rows: Rows, node: Node, constants: Sequence[ConstantPage]) -> list[Proposal]:
    """Return what a tree of functions and the constant pages say, operation by operation."""
    found: list[Proposal] = []
    for page in constants:
        if any(key == BARE and (value is None or REPEAT in value) for key, value in page.literals):
            continue  # a pattern cannot ask for it
        match = tuple(_asked(key, value) for key, value in page.literals)
        covered = rows_matching(table, rows, page.literals)
        found += [Proposal(match, key, dropped(table, covered, key), constant=True) for key in page.ignored]
    for part in node.walk():
        match = tuple(_predicates(table, rows, part.pattern))
        covered = rows_matching(table, rows, part.pattern)
        for key, level in part.levels.items():
            operation = dropped(table, covered, key) if level is Level.DROPPED else value_dropped(table, covered, key)
            found.append(Proposal(match, key, operation))
        for recoding in part.recodings:
            found += _recoded(table, match, recoding)
    return list(dict.fromkeys(found))


def rows_matching(table: Table, rows: Rows, pattern: Pattern) -> Rows:
    """Return those of *rows* whose columns have the literals of a pattern."""
    for key, value in pattern:
        codes = table.columns[key][rows]
        if value is PRESENT:
            rows = rows[codes != ABSENT]
        elif value is None:
            rows = rows[codes == ABSENT]
        else:
            rows = rows[codes == table.numbers[value]]
    return rows


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
    position = _position(key)
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
    if not is_token_part and len(values) <= current().named_values and present >= current().named_repeats * len(values):
        return frozenset(values)
    return widened(class_of(values))


def seen_values(table: Table, rows: Rows, key: str) -> list[str]:
    """Return the distinct values of a key, those of repeats one by one."""
    codes = np.unique(table.columns[key][rows])
    texts = (table.vocabulary[code] for code in codes if code != ABSENT)
    return sorted({value for text in texts for value in text.split(REPEAT)})


def widened(shape: ValueClass) -> ValueClass:
    """Return a class with room for the values that were not met yet: half to double the lengths."""
    if shape.name == "empty" or (shape.min_len == shape.max_len and shape.min_len >= current().fixed_length):
        return shape
    # Short values that are all of A to F are letters by chance.
    name = "alnum" if shape.name == "hex" and shape.max_len < MIN_HEX else shape.name
    return ValueClass(name, shape.min_len // 2 or min(shape.min_len, 1), 2 * shape.max_len)


def _asked(key: str, value: str | None) -> tuple[str, Predicate]:
    """Return what asks for a value, None for none; a parameter without one is asked for by its name."""
    if key == BARE and value is not None:
        return f"q.{value}", _literal("")
    return key, Absent() if value is None else _literal(value)


def _literal(value: str) -> Predicate:
    return Literal(value)


def _predicates(table: Table, rows: Rows, pattern: Pattern) -> Iterator[tuple[str, Predicate]]:
    for key, value in pattern:
        if value is None:
            yield key, Absent()
        elif value is PRESENT:
            shape = class_of(seen_values(table, rows, key))
            yield key, OfClass(widened(shape))
        else:
            yield key, _literal(value)
            if key.startswith("q.") and any(REPEAT in text for text in _texts(table, rows, key)):
                yield f"{key}[1]", Absent()


def _texts(table: Table, rows: Rows, key: str) -> list[str]:
    return [table.vocabulary[code] for code in np.unique(table.columns[key][rows])]


def _recoded(table: Table, match: Match, recoding: Recoding) -> Iterator[Proposal]:
    if isinstance(recoding, Gone):
        pairs = list(zip(recoding.keys, recoding.values, strict=True))
        if len(pairs) > 1:
            match = _narrowed(match, tuple((key, _literal(value)) for key, value in pairs))
        for key, value in pairs:
            position = _position(key)
            last: Match = ((f"path.{position + 1}", Absent()),) if position is not None else ()
            yield Proposal(_narrowed(match, last), key, Ignore(only={value}), joint=len(pairs) > 1)
    elif isinstance(recoding, Merged):
        yield Proposal(match, recoding.key, Set({recoding.value: recoding.other}))
    elif isinstance(recoding, SegmentGone):
        position = _position(recoding.key)
        assert position is not None
        following: Match = (
            (recoding.key, _literal(recoding.value)),
            (f"path.{position + 1}", OfClass(ANY_VALUE)),
        )
        yield Proposal(_narrowed(match, following), recoding.key, Ignore(only={recoding.value}))
    elif isinstance(recoding, Alike):
        yield Proposal(match, recoding.key, IgnoreValue(only=recoding.only))
    elif isinstance(recoding, ValuesAsSet):
        yield Proposal(match, recoding.key, SetOfValues())


def _narrowed(match: Match, more: Match) -> Match:
    """Return a match that asks for *more*, and for each key once: what is asked of it already is no narrower."""
    asked = dict(match)
    for key, predicate in more:
        if key not in asked or predicate != OfClass(ANY_VALUE):
            asked[key] = predicate
    return tuple(asked.items())


def _position(key: str) -> int | None:
    """Return the position of a path segment, None for other keys."""
    kind, _, number = key.partition(".")
    return int(number) if kind == "path" and number.isdigit() else None
