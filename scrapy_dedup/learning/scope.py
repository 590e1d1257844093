"""How far a proposal reaches: only where it was tested.

A value that is noise on all pages of one kind is found at a wide pattern when the other kinds show
nothing against it; but no evidence is not evidence of safety. Where a kind of URLs (a value of an
enumerable key) holds a fair number of URLs that a proposal would change, and none of its groups, the
proposal is narrowed to the kinds that do speak for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..rules import Absent, Ignore, IgnoreValue, Literal, OneOf, Operation, Predicate
from ..urls import ValueClass
from .blame import changes
from .emission import Match, Proposal
from .grouping import Flags
from .judgement import Judgement
from .table import ABSENT, REPEAT, Codes, Rows, Table, is_token, places

MIN_UNTESTED = 10
"""URLs of one kind that a proposal may change without any evidence there."""
MIN_UNTESTED_SHARE = 0.2
"""Share of the URLs a proposal changes that must lie in such kinds for it to be narrowed."""
MAX_KINDS = 24
MAX_KEYS = 60
"""Keys by whose values a proposal may be narrowed."""
SESSION_LENGTH = 16
"""Values that may be so long are like session ids."""
MIN_COVERAGE = 0.9
ROUNDS = 3


def scoped(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, narrowed to where their groups are."""
    kinds = enumerable(table)
    if len(kinds) > MAX_KEYS:
        # What is dropped itself hardly tells where something else is; each key costs a look for each proposal.
        proposed = {proposal.key for proposal in proposals}
        chosen = sorted(kinds, key=lambda key: (key in proposed, key.startswith("q.")))[:MAX_KEYS]
        kinds = {key: kinds[key] for key in kinds if key in chosen}
    groups = clean_groups(judgement)
    return [_scoped(proposal, table, kinds, tested(proposal.key, table, groups)) for proposal in proposals]


def anchored(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, those that speak of one section of the site asked for it by its name.

    What is dropped from a path means something in its section: ``/product/7-any-title`` says nothing
    of ``/news/2024-summer``. So it is with a parameter that was tested in one section only, unless
    its values look like those of a session: these are noise wherever they are.
    """
    sections = table.columns.get("path.0")
    if sections is None:
        return list(proposals)
    groups = clean_groups(judgement)
    found = []
    for proposal in proposals:
        most = _most_sections(proposal)
        if most and not proposal.joint and all(key != "path.0" for key, _ in proposal.match):
            rows = np.flatnonzero(tested(proposal.key, table, groups) & matching(table, proposal.match))
            named = np.unique(sections[rows]).tolist()
            predicate = _among(table, named) if len(named) <= most else None
            if predicate is not None:
                proposal = replace(proposal, match=(*proposal.match, ("path.0", predicate)))
        found.append(proposal)
    return found


def _most_sections(proposal: Proposal) -> int:
    """Return of how many sections a proposal may speak to be asked for them; 0 where it need not be."""
    operation = proposal.operation
    if not isinstance(operation, Ignore | IgnoreValue):
        return 0
    kind, _, rest = proposal.key.partition(".")
    if kind == "path":
        return MAX_KINDS if rest[:1].isdigit() and rest[:1] != "0" else 0
    like_session = isinstance(operation.only, ValueClass) and is_like_session(operation.only)
    return 1 if kind in ("q", "m") and not like_session and not proposal.key.endswith("*") else 0


def is_like_session(shape: ValueClass) -> bool:
    """Tell whether values of a shape are like session ids: these are noise wherever they are."""
    return shape.name in ("hex", "uuid") or shape.max_len >= SESSION_LENGTH


@dataclass(frozen=True, slots=True)
class Kinds:
    """An enumerable key: ``numbers[i]`` is the place of the code of URL i in ``codes``; -1: any other."""

    codes: Codes
    numbers: Codes


def enumerable(table: Table) -> dict[str, Kinds]:
    """Return the columns whose few values, and absence, cover almost all URLs."""
    found = {}
    for key, codes in table.columns.items():
        values, place = places(codes)
        counts = np.bincount(place)
        order = np.argsort(-counts, kind="stable")[:MAX_KINDS]
        if len(values) > 1 and counts[order].sum() >= MIN_COVERAGE * len(table):
            numbers = np.full(len(values), -1, dtype=np.int32)
            numbers[order] = np.arange(len(order))
            found[key] = Kinds(values[order], numbers[place])
    return found


def clean_groups(judgement: Judgement) -> tuple[Rows, Rows]:
    """Return the URLs of the informative groups of one content, and where each group starts."""
    clean = judgement.clean
    sizes = np.array([len(members) for members in clean], dtype=np.intp)
    rows = np.array([i for members in clean for i in members], dtype=np.intp)
    return rows, np.cumsum(sizes) - sizes


def tested(key: str, table: Table, groups: tuple[Rows, Rows]) -> Flags:
    """Return which URLs are in a group of one content whose URLs differ in *key*."""
    found = np.zeros(len(table), dtype=np.bool_)
    rows, starts = groups
    codes = table.columns.get(key)
    if codes is None or not len(starts):
        return found
    ordered = codes[rows]
    differs = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    found[rows[np.repeat(differs, np.diff(np.r_[starts, len(rows)]))]] = True
    return found


def _scoped(proposal: Proposal, table: Table, kinds: Mapping[str, Kinds], speaks: Flags) -> Proposal:
    changed = matching(table, proposal.match) & concerned(table, proposal.key, proposal.operation)
    for _ in range(ROUNDS):
        asked = {key for key, _ in proposal.match} | {proposal.key}
        rows, speaking = np.flatnonzero(changed), np.flatnonzero(changed & speaks)
        best: tuple[int, str, Predicate] | None = None
        for key, kind in kinds.items():
            if key in asked:
                continue
            # One place more, at the front, for any other value.
            urls = np.bincount(kind.numbers[rows] + 1, minlength=len(kind.codes) + 1)[1:]
            spoken_for = np.bincount(kind.numbers[speaking] + 1, minlength=len(kind.codes) + 1)[1:] > 0
            untested = int(urls[(urls >= MIN_UNTESTED) & ~spoken_for].sum())
            if untested > MIN_UNTESTED_SHARE * len(rows) and (best is None or untested > best[0]):
                predicate = _among(table, kind.codes[spoken_for].tolist())
                if predicate is not None:
                    best = untested, key, predicate
        if best is None:
            return proposal
        narrower: Match = ((best[1], best[2]),)
        proposal = replace(proposal, match=proposal.match + narrower)
        changed &= matching(table, narrower)
    return proposal


def _among(table: Table, codes: Sequence[int]) -> Predicate | None:
    """Return the predicate that asks for one of some codes, None where no rule can ask for them."""
    values = [table.vocabulary[code] for code in codes if code != ABSENT]
    absent = ABSENT in codes
    if any(REPEAT in value or is_token(value) for value in values) or not codes:
        return None
    if not values:
        return Absent()
    return Literal(values[0], absent) if len(values) == 1 else OneOf(values, absent)


def matching(table: Table, match: Match) -> Flags:
    """Return which URLs a match holds for."""
    holds = np.ones(len(table), dtype=np.bool_)
    for key, predicate in match:
        codes = table.columns.get(key)
        if codes is None:
            if not predicate.optional:
                holds[:] = False
            continue
        present, place = places(codes)
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
    present, place = places(codes)
    vocabulary = table.vocabulary
    answers = [code != ABSENT and changes(operation, vocabulary[code]) for code in present.tolist()]
    return np.array(answers, dtype=np.bool_)[place]
