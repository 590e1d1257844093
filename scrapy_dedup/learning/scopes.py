"""Where an operation acts: for the values and in the sections of the site in which it was seen, and in others as far as sections are alike."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ..urls import ValueClass, class_of
from . import judge as judging
from .judge import TESTED, UNTESTED, Kind
from .kinds import kind_of
from .operations import Drop, Literal, Operation, Scope, Sections
from .rewrites import Cut, SetOf
from .table import is_long_token
from .trial import Judged, Trial
from .views import is_position

VALUES_UNLIKE: Final = 0.8
"""Probability that some of a choice of few values mean something else than the others."""


def restricted(trial: Trial, found: Judged) -> Operation:
    """Return an operation as far as it was seen: for the values, and in the sections, that it may act on."""
    operation = found.operation
    if isinstance(operation, Drop):
        scopes = {key: _scope(trial, found, key) for key in operation.keys}
        return replace(operation, scopes={key: scope for key, scope in scopes.items() if scope is not None})
    if isinstance(operation, Cut | SetOf | Literal):
        keys = [key for key, _, _ in operation.changes] if isinstance(operation, Literal) else [operation.key]
        sections, acting = _sections(trial, found, keys, range(len(found.rows)), found.kind)
        return replace(operation, sections=sections, acting=acting)
    return operation


def _scope(trial: Trial, found: Judged, key: str) -> Scope | None:
    """Return the values of a key that are dropped, and where."""
    assert isinstance(found.operation, Drop)
    column = trial.table.columns.get(key, {})
    alone = replace(found.operation, keys=(key,), scopes={})
    kind = kind_of(alone, trial.table)
    sections, acting = _sections(trial, found, [key], found.differing(trial.table.hashes_of(key)), kind)
    texts = [value for value in column.values() if value]
    if trial.table.is_enumerated(key) and not (texts and all(map(is_long_token, texts))):
        return _tested_values(trial, found, key, sections, acting)
    where = found.operation.where(trial.table)
    shape = class_of([value for unit, value in column.items() if where[unit]])
    shape = ValueClass(shape.name, shape.min_len and max(1, shape.min_len // 2), shape.max_len * 2)
    return Scope(shape=shape, sections=sections, acting=acting)


def _sections(
    trial: Trial, found: Judged, keys: Sequence[str], numbers: Sequence[int], kind: Kind
) -> tuple[Sections | None, frozenset[str] | None]:
    """Return the sections in which an operation on some keys acts; None for all."""
    positions = [int(key[5:]) for key in keys if is_position(key)]
    words = tuple([word for word in trial.table.words if word not in found.operation.touched])
    sections = Sections(words, min(positions, default=10))
    if not len(numbers) or not sections.depth or found.groups is None:
        return None, None
    names: dict[str, int] = {}
    of_group = [
        names.setdefault(sections.of(trial.table.views[int(found.rows[each][0])]), len(names)) for each in numbers
    ]
    groups = replace(found.groups.part(np.array(numbers, np.intp)), section=np.array(of_group, np.intp))
    new, seen = judging.by_section(groups, kind, trial.rates)
    wrong = {name for name, number in names.items() if seen[number] > TESTED}
    if new > UNTESTED:
        return sections, frozenset(names.keys() - wrong)
    if wrong:
        return sections, frozenset({sections.of(view) for view in trial.table.views} - wrong)
    return None, None


def _tested_values(
    trial: Trial, found: Judged, key: str, sections: Sections | None, acting: frozenset[str] | None
) -> Scope:
    """Return the scope of a key of few values: those that were seen to make no difference, section by section."""
    column = trial.table.columns.get(key, {})
    everywhere = Sections(tuple([word for word in trial.table.words if word not in found.operation.touched]))
    pairs, owners = [], []
    for units in found.rows:
        where = everywhere.of(trial.table.views[int(units[0])])
        for value in {column.get(int(unit)) for unit in units} - {None}:
            own = [int(unit) for unit in units if column.get(int(unit)) == value]
            rest = [int(unit) for unit in units if column.get(int(unit)) != value]
            if rest:
                usual = Counter(trial.table.page[rest].tolist())
                pairs.append(
                    np.array([own[0], max(rest, key=lambda unit: usual[int(trial.table.page[unit])])], np.intp)
                )
                owners.append((where, str(value)))
    good = {value for value in trial.table.counts.get(key, ()) if value is not None}
    if not pairs:
        return Scope(values=frozenset(good), sections=sections, acting=acting)
    kind = kind_of(Drop(keys=(key,)), trial.table)
    judged = trial.judge(found.operation, kind, pairs)
    assert judged.groups is not None
    numbers: dict[tuple[str, str], int] = {}
    section = np.array([numbers.setdefault(each, len(numbers)) for each in owners], np.intp)
    kind = replace(kind, unlike=VALUES_UNLIKE) if kind.right < 0.5 else kind
    new, seen = judging.by_section(
        replace(judged.groups, section=section), replace(kind, is_position=False), trial.rates
    )
    passing = {each for each, number in numbers.items() if seen[number] <= TESTED}
    by_section: dict[str, set[str]] = {where: set() for where, _ in numbers}
    if new > UNTESTED:
        for where, value in passing:
            by_section[where].add(value)
        good = {value for _, value in passing}
    else:
        for where, values in by_section.items():
            values |= {value for value in good if (where, value) not in numbers or (where, value) in passing}
    other = {where: frozenset(values) for where, values in by_section.items() if values != good}
    scope = Scope(sections=sections, acting=acting, whole=everywhere, by_section=other)
    if len(good) >= 10 and all(value.isdecimal() for value in good):
        return replace(scope, shape=class_of(good), but=frozenset(trial.table.counts[key].keys() - good))
    return replace(scope, values=frozenset(good))
