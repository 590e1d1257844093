"""How far a proposal reaches: only where it was tested.

A value that is noise on all pages of one kind is found at a wide pattern when the other kinds show
nothing against it; but no evidence is not evidence of safety. Where a kind of URLs (a value of an
enumerable key) holds a fair number of URLs that a proposal would change, and none of its groups, the
proposal is narrowed to the kinds that do speak for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..rules import Absent, Ignore, IgnoreValue, Literal, OfClass, OneOf, Operation, Predicate, Set
from ..urls import ValueClass
from .blame import changes
from .emission import Match, Proposal
from .evidence import MIN_GROUPS
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
MIN_OF_SHAPE = 5
"""Values of a shape that must have been tested for any value of it to be dropped."""
ROUNDS = 3
SECTIONS = ("path.0", "path.1")
"""The segments by which a site is divided; the second one where all that is seen shares the first."""


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
    of ``/news/2024-summer``. So it is with a parameter, or a host, that was tested in fewer sections than a
    rule needs groups, unless its values look like those of a session: these are noise wherever they are.
    """
    groups = clean_groups(judgement)
    found = []
    for proposal in proposals:
        most = _most_sections(proposal)
        if most and not proposal.joint:
            speaking = tested(proposal.key, table, groups) & matching(table, proposal.match)
            proposal = _anchored(proposal, table, np.flatnonzero(speaking), most)
        found.append(proposal)
    return found


def _anchored(proposal: Proposal, table: Table, rows: Rows, most: int) -> Proposal:
    """Return a proposal that asks for the sections in which some URLs speak for it, if they are few."""
    for name in SECTIONS[:1] if proposal.key.startswith("path.") else SECTIONS:
        sections = table.columns.get(name)
        if sections is None or name == proposal.key:
            return proposal
        named = np.unique(sections[rows]).tolist()
        if len(named) > 1 and not proposal.key.startswith("path.") and not name_sections(table, named):
            return proposal
        asked = dict(proposal.match).get(name)
        if asked is None or isinstance(asked, OfClass):
            predicate = _among(table, named) if len(named) <= most else None
            if predicate is None:
                return proposal
            others = (part for part in proposal.match if part[0] != name)
            proposal = replace(proposal, match=(*others, (name, predicate)))
        if len(named) > 1:
            return proposal
    return proposal


def name_sections(table: Table, codes: Sequence[int]) -> bool:
    """Tell whether values of a segment are names: years, months and ids divide no site."""
    return not all(table.vocabulary[code].isdigit() for code in codes if code != ABSENT)


def named_where_few(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, those that drop values of a shape, and were tested with few of them, with these only.

    That ``q=`` is the same as no ``q`` says nothing of ``q=word``.
    """
    groups = clean_groups(judgement)
    found = []
    for proposal in proposals:
        operation = proposal.operation
        if isinstance(operation, Ignore | IgnoreValue) and isinstance(operation.only, ValueClass):
            changed = matching(table, proposal.match) & concerned(table, proposal.key, operation)
            codes = table.columns.get(proposal.key)
            if codes is not None and changed.any():
                texts = [
                    table.vocabulary[code] for code in np.unique(codes[changed & tested(proposal.key, table, groups)])
                ]
                values = {value for text in texts for value in text.split(REPEAT)}
                if 0 < len(values) < MIN_OF_SHAPE and not any(is_token(value) for value in values):
                    proposal = replace(proposal, operation=replace(operation, only=frozenset(values)))
        found.append(proposal)
    return found


def _most_sections(proposal: Proposal) -> int:
    """Return of how many sections a proposal may speak to be asked for them; 0 where it need not be."""
    operation = proposal.operation
    if not isinstance(operation, Ignore | IgnoreValue | Set):
        return 0
    kind, _, rest = proposal.key.partition(".")
    if kind == "path":
        return MAX_KINDS if rest[:1].isdigit() and rest[:1] != "0" else 0
    only = getattr(operation, "only", None)
    like_session = isinstance(only, ValueClass) and is_like_session(only)
    is_asked = kind in ("q", "m", "host") and not like_session and not proposal.key.endswith("*")
    return MIN_GROUPS - 1 if is_asked else 0


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
