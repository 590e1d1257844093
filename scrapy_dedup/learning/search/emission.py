"""Proposals from findings in columns: patterns, operations, value guards."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...rules import Absent, Ignore, Literal, OfClass, Predicate, Set, SetOfValues
from ...rules.model import BARE
from ...urls import class_of
from ..data.frame import Level
from ..data.url_table import REPEAT, Table
from ..evidence.arrays import ABSENT, Rows
from ..proposals.dropping import dropped, path_position, seen_values, value_dropped, widened
from ..proposals.proposal import ANY_VALUE, Match, Proposal
from .constant_pages import ConstantPage
from .guards import PRESENT, GuardNode, Pattern
from .recoding import Gone, Merged, Recoding, SegmentGone, UnorderedValues


def proposals(table: Table, rows: Rows, node: GuardNode, constants: Sequence[ConstantPage]) -> list[Proposal]:
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
            found += _recoded(match, recoding)
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


def _asked(key: str, value: str | None) -> tuple[str, Predicate]:
    """Return the match part for a value, None for an absent one; a bare parameter is matched by its name."""
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


def _recoded(match: Match, recoding: Recoding) -> Iterator[Proposal]:
    if isinstance(recoding, Gone):
        pairs = list(zip(recoding.keys, recoding.values, strict=True))
        if len(pairs) > 1:
            match = _narrowed(match, tuple((key, _literal(value)) for key, value in pairs))
        for key, value in pairs:
            position = path_position(key)
            last: Match = ((f"path.{position + 1}", Absent()),) if position is not None else ()
            yield Proposal(_narrowed(match, last), key, Ignore(only={value}), joint=len(pairs) > 1)
    elif isinstance(recoding, Merged):
        yield Proposal(match, recoding.key, Set({recoding.value: recoding.other}))
    elif isinstance(recoding, SegmentGone):
        position = path_position(recoding.key)
        assert position is not None
        following: Match = (
            (recoding.key, _literal(recoding.value)),
            (f"path.{position + 1}", OfClass(ANY_VALUE)),
        )
        yield Proposal(_narrowed(match, following), recoding.key, Ignore(only={recoding.value}))
    elif isinstance(recoding, UnorderedValues):
        yield Proposal(match, recoding.key, SetOfValues(recoding.delimiter))


def _narrowed(match: Match, more: Match) -> Match:
    """Return a match with *more* conditions, one for each key."""
    asked = dict(match)
    for key, predicate in more:
        if key not in asked or predicate != OfClass(ANY_VALUE):
            asked[key] = predicate
    return tuple(asked.items())
