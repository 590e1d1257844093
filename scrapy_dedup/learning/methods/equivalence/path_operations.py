"""What rewrite rules say of the segments of a path, as patterns with operations.

Segments that are dropped let the next ones move up, so that a pattern is about paths of one length. It
asks of the segments that stay what they had in common where the rules were confirmed, and is tested once
more, with all that is dropped elsewhere, on every URL that it matches.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....rules import Ignore, Literal, OfClass, OneOf, Operation, Predicate
from ....urls import DeepSplit, class_of
from ...data.frame import Frame, Level
from ...data.grouping import grouped
from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Codes, Flags, Hashes, Rows, mixed
from ...evidence.shares import worth_asking
from ...evidence.value_kinds import are_named
from ...proposals.dropping import guard_of, widened
from ...proposals.proposal import Match, Proposal
from .rewriting import Fixed, RewriteRule
from .views import path_positions

BESIDE = frozenset({"ext", "path.trail"})
"""Keys that belong to a path and go with the segments that are dropped."""


@dataclass(slots=True)
class PathPattern:
    """Rules that drop the same segments of paths of one length. ``rows``: URLs for which they were confirmed.

    ``literals``: position -> value of the segments that are dropped by name; ``gone``: positions of all
    that are dropped; ``beside``: of :data:`BESIDE`, those that are dropped with them.
    """

    length: int
    literals: Mapping[int, str]
    gone: frozenset[int]
    beside: frozenset[str]
    fixed: Mapping[int, str]
    """Position -> value of segments that stay and are the same in every URL."""
    rows: list[int] = field(default_factory=list)
    groups: int = 0


def path_key(rule: RewriteRule, length: int) -> PathPattern:
    """Return the pattern of a rule, with no rows yet."""
    form = rule.form
    places = path_positions(form.keys)
    gone = frozenset(places[position] for position in form.dropped if position in places)
    slots = {number: rule.slots[position] for position, number in places.items() if position not in form.lowered}
    values = {number: slot.value for number, slot in slots.items() if isinstance(slot, Fixed)}
    literals = {number: value for number, value in values.items() if number in gone}
    fixed = {number: value for number, value in values.items() if number not in gone}
    beside = frozenset(form.keys[position] for position in form.dropped) & BESIDE
    return PathPattern(length, literals, gone, beside, fixed)


def tested_pattern(
    pattern: PathPattern, table: Table, dropped_elsewhere: Iterable[str], deep: Mapping[str, DeepSplit]
) -> list[Proposal]:
    """Return the proposals of a pattern, none where it joins different pages.

    That it joins URLs of one page was seen when its rules were tested, with others of that right side.
    """
    found = list(proposals_of_path(pattern, table, deep))
    if any(isinstance(one.operation, Ignore) and shown_by_tokens(table, one, deep) for one in found):
        return []
    (match, *_) = {proposal.match for proposal in found}
    rows = np.flatnonzero(holds_for(table, match, deep))
    levels = dict.fromkeys((*dropped_elsewhere, *pattern.beside), Level.DROPPED)
    good, bad = _outcome(table, pattern, rows, levels)
    return found if worth_asking(bad, good + bad) else []


def shown_by_tokens(table: Table, proposal: Proposal, deep: Mapping[str, DeepSplit]) -> bool:
    """Return whether rules see a segment that is to be dropped as two deep tokens."""
    split = deep.get(proposal.key)
    operation = proposal.operation
    if split is None or proposal.key not in table.columns or not isinstance(operation, Ignore):
        return False
    values = operation.only if isinstance(operation.only, frozenset) else table_values(table, proposal.key)
    return any(split.delimiter in value for value in values)


def table_values(table: Table, key: str) -> list[str]:
    """Return the values of a key."""
    return [table.vocabulary[code] for code in np.unique(table.columns[key]).tolist() if code != ABSENT]


def proposals_of_path(pattern: PathPattern, table: Table, deep: Mapping[str, DeepSplit]) -> Iterator[Proposal]:
    """Yield the operations of a pattern."""
    rows = np.unique(np.asarray(pattern.rows, dtype=np.intp))
    last = max(set(range(pattern.length)) - pattern.gone, default=-1)
    match: list[tuple[str, Predicate]] = [("path.len", Literal(str(pattern.length)))]
    operations: dict[str, Operation] = {}
    for number in range(pattern.length):
        key = f"path.{number}"
        if number in pattern.literals:
            match.append((key, Literal(pattern.literals[number])))
            operations[key] = Ignore(only={pattern.literals[number]})
        elif number in pattern.gone:
            operations[key] = Ignore(only=guard_of(table, rows, key), cut=number < last)
        elif (predicate := seen_at(table, rows, key, deep.get(key))) is not None:
            match.append((key, predicate))
    for key in sorted(pattern.beside):
        operations[key] = Ignore() if key == "path.trail" else Ignore(only=guard_of(table, rows, key))
    for key, operation in operations.items():
        yield Proposal(tuple(match), key, operation, joint=len(operations) > 1)


def seen_at(table: Table, rows: Rows, key: str, split: DeepSplit | None) -> Predicate | None:
    """Return what the values of a key were in *rows*: some, that come again and again, or their shape.

    None where it is shown by its deep tokens.
    """
    codes = table.columns[key][rows] if key in table.columns else np.zeros(len(rows), dtype=np.int32)
    present = codes[codes != ABSENT]
    if len(present) < len(rows):
        return None
    values = [table.vocabulary[code] for code in np.unique(present).tolist()]
    if split is not None and any(split.delimiter in value for value in values):
        return None
    if len(values) == 1:
        return Literal(values[0])
    # A value of one page is its number, and there will be others; one of several pages is a kind of them.
    pages = len(np.unique(np.stack([present, table.content[rows]]), axis=1).T)
    if are_named(len(values), pages):
        return OneOf(values)
    return OfClass(widened(class_of(values)))


def holds_for(table: Table, match: Match, deep: Mapping[str, DeepSplit]) -> Flags:
    """Return for which URLs a match holds; *deep* are the tokens that rules see, the table may have fewer."""
    holds = np.ones(len(table), dtype=np.bool_)
    for key, predicate in match:
        codes = table.columns.get(key, np.zeros(len(table), dtype=np.int32))
        split = deep.get(key)
        present, place = np.unique(codes, return_inverse=True)
        answers = [
            predicate.optional
            if code == ABSENT or (split is not None and split.delimiter in table.vocabulary[code])
            else predicate.holds(table.vocabulary[code])
            for code in present.tolist()
        ]
        holds &= np.array(answers, dtype=np.bool_)[place]
    return holds


def _outcome(table: Table, pattern: PathPattern, rows: Rows, levels: Mapping[str, Level]) -> tuple[int, int]:
    """Return the informative groups of one content, and the others, that a pattern brings together."""
    kept = [number for number in range(pattern.length) if number not in pattern.gone]
    shorter = table.columns["path.len"] == table.numbers.get(str(len(kept)), -1)
    targets = np.flatnonzero(shorter)
    targets = targets[~np.isin(targets, rows)]
    own = _hashes(table, rows, kept, levels)
    others = _hashes(table, targets, range(len(kept)), levels)
    near = np.isin(others, own)
    groups = grouped(np.r_[own, others[near]], np.r_[table.content[rows], table.content[targets[near]]])
    bad = groups.bad
    return groups.informative - bad, bad


def _hashes(table: Table, rows: Rows, kept: Sequence[int], levels: Mapping[str, Level]) -> Hashes:
    """Return the hash of each URL as it is shown: the kept segments in order, and all that is not dropped."""
    dropped = dict(levels) | {
        key: Level.DROPPED for key in table.columns if key.startswith("path.") and key[5:].isdigit()
    }
    total = Frame(table, rows).kept_hashes(dropped)
    for place, number in enumerate(kept):
        codes = _column(table, number)[rows]
        seed = np.uint64((2 * place + 1) * 0xD1342543DE82EF95 % 2**64)
        total = total + np.where(codes != ABSENT, mixed(codes.astype(np.uint64) + seed), np.uint64(0))
    return total


def _column(table: Table, number: int) -> Codes:
    found = table.columns.get(f"path.{number}")
    return np.zeros(len(table), dtype=np.int32) if found is None else found
