"""Rewrite rules expressed in the common representation.

What no rule of that representation can say - another order of segments, a segment whose extension
outlives it - is left out, and counted, never bent.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...rules import Ignore, Literal, Lower, OfClass, Operation, Predicate
from ...urls import class_of
from ..emission import Match, Proposal, dropped, guard_of, widened
from ..evidence import MIN_GROUPS
from ..grouping import Flags  # noqa: TC001
from ..table import REPEAT, Rows, Table, is_token
from .pooling import Drop, pooled
from .rewriting import Fixed, Form, RewriteRule
from .segments import is_named
from .views import PATH, path_positions

__all__ = ["Accepted", "Expressed", "expressed"]

MAX_PATTERNS = 200
"""Path patterns at most, those with the most groups."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A rule that passed its test: the URLs that it matches (numbers of rows), and its clean groups."""

    rule: RewriteRule
    rows: Sequence[int]
    groups: int

    @property
    def of_one_page(self) -> bool:
        """Tell whether the right side is one URL: everything it matches is one page."""
        return not self.rule.variables


@dataclass(frozen=True, slots=True)
class Expressed:
    """Proposals, and how many rules could not be said, by reason."""

    proposals: list[Proposal]
    left_out: dict[str, int]


def expressed(accepted: Iterable[Accepted], table: Table) -> Expressed:
    """Return what the accepted rules say of keys, under the widest patterns that were tested."""
    rules = list(accepted)
    left_out: Counter[str] = Counter()
    dropping: dict[Drop, Flags] = {}
    of_paths: defaultdict[Match, _Pattern] = defaultdict(_Pattern)
    found: list[Proposal] = []
    for one in rules:
        reason = unsayable(one.rule.form)
        if reason:
            left_out[reason] += 1
            continue
        if one.of_one_page:
            found += _of_one_page(one, table, left_out)
            continue
        form = one.rule.form
        for position in form.dropped:
            if is_named(form.keys[position]):
                slot = one.rule.slots[position]
                drop = Drop(form.keys[position], frozenset({slot.value}) if isinstance(slot, Fixed) else None)
                flags = dropping.setdefault(drop, np.zeros(len(table), dtype=np.bool_))
                flags[list(one.rows)] = True
        if any(not is_named(form.keys[position]) for position in form.dropped) or form.lowered:
            pattern = of_paths[path_match(one.rule, table, one.rows)]
            pattern.rules.append(one)
            pattern.groups += one.groups
    for one_drop in pooled(table, dropping):
        operation = one_drop.drop.operation(table, one_drop.rows)
        found.append(Proposal(one_drop.match, one_drop.drop.key, operation))
    enough = [(match, pattern) for match, pattern in of_paths.items() if pattern.groups >= MIN_GROUPS]
    enough.sort(key=lambda item: (-item[1].groups, repr(item[0])))
    left_out["too many patterns"] += max(0, len(enough) - MAX_PATTERNS)
    left_out["little evidence"] += len(of_paths) - len(enough)
    for match, pattern in enough[:MAX_PATTERNS]:
        found += _of_path(match, pattern, table)
    return Expressed(list(dict.fromkeys(found)), {reason: count for reason, count in left_out.items() if count})


def unsayable(form: Form) -> str | None:
    """Return why no rule of the common representation says what a form does; None where one does."""
    kept = [position for position in form.kept if form.keys[position] == PATH]
    if any(a > b for a, b in pairwise(kept)):
        return "another order"
    paths = [position for position, key in enumerate(form.keys) if key == PATH]
    gone = [position for position in paths if position not in form.kept]
    if gone and any(key.startswith("path.") and key != "path.trail" for key in form.keys):
        return "deep tokens"
    if gone and paths[-1] in gone and any(form.keys[position] == "ext" for position in form.kept):
        return "extension of a dropped segment"
    if any(
        form.keys[position] in {"scheme", "ext"} or form.keys[position].startswith("host.") for position in form.lowered
    ):
        return "case of a host"
    return None


@dataclass(slots=True)
class _Pattern:
    """The rules that drop or lower the same segments of the same paths."""

    rules: list[Accepted]
    groups: int

    def __init__(self) -> None:
        self.rules, self.groups = [], 0


def path_match(rule: RewriteRule, table: Table, rows: Sequence[int]) -> Match:
    """Return what a rule asks of the segments of a path: their number, their literals, the classes of others."""
    places = path_positions(rule.form.keys)
    match: list[tuple[str, Predicate]] = [("path.len", Literal(_length(table, rows)))]
    for place, number in places.items():
        slot = rule.slots[place]
        if isinstance(slot, Fixed) and place not in rule.form.lowered:
            match.append((f"path.{number}", Literal(slot.value)))
    return tuple(match)


def _length(table: Table, rows: Sequence[int]) -> str:
    return table.value(int(table.columns["path.len"][rows[0]])) or "0"


def _of_path(match: Match, pattern: _Pattern, table: Table) -> Iterable[Proposal]:
    """Yield the operations on the segments of a path, and on keys that are in lower case."""
    rows = np.unique(np.concatenate([np.asarray(one.rows, dtype=np.intp) for one in pattern.rules]))
    operations: dict[str, Operation] = {}
    variable: set[str] = set()
    for one in pattern.rules:
        form = one.rule.form
        places = path_positions(form.keys)
        last = max((places[place] for place in form.kept if place in places), default=-1)
        for place, number in places.items():
            key = f"path.{number}"
            slot = one.rule.slots[place]
            if place not in form.kept:
                if isinstance(slot, Fixed):
                    operations[key] = Ignore(only={slot.value})
                else:
                    operations[key] = Ignore(only=guard_of(table, rows, key), cut=number < last)
            elif not isinstance(slot, Fixed) and place not in form.lowered:
                variable.add(key)
        for place in form.lowered:
            operations[f"path.{places[place]}" if place in places else form.keys[place]] = Lower()
    classes = []
    for key in sorted(variable):
        values = [value for value in _values(table, rows, key) if value is not None]
        classes.append((key, OfClass(widened(class_of(values)))))
    asked: Match = (*match, *classes)
    for key, operation in operations.items():
        yield Proposal(asked, key, operation, joint=len(operations) > 1)


def _values(table: Table, rows: Rows, key: str) -> list[str | None]:
    return [table.value(code) for code in np.unique(table.columns[key][rows]).tolist()]


def _of_one_page(one: Accepted, table: Table, left_out: Counter[str]) -> list[Proposal]:
    """Return the proposals of a rule whose right side is one URL."""
    form = one.rule.form
    if any(not is_named(form.keys[position]) for position in form.dropped) or form.lowered:
        left_out["one page under many paths"] += 1
        return []
    places = path_positions(form.keys)
    match: list[tuple[str, Predicate]] = [("path.len", Literal(_length(table, one.rows)))]
    for position, slot in enumerate(one.rule.slots):
        key = f"path.{places[position]}" if position in places else form.keys[position]
        if isinstance(slot, Fixed) and not is_token(slot.value) and REPEAT not in slot.value and key != "scheme":
            match.append((key, Literal(slot.value)))
    rows = np.asarray(one.rows, dtype=np.intp)
    keys = [form.keys[position] for position in form.dropped]
    return [Proposal(tuple(match), key, dropped(table, rows, key)) for key in keys]
