"""How far a proposal reaches: only where it was tested.

A value that is noise on all pages of one kind is found at a wide pattern when the other kinds show
nothing against it; but no evidence is not evidence of safety. Where a kind of URLs (a value of an
enumerable key) holds a fair number of URLs that a proposal would change, and none of its groups, the
proposal is narrowed to the kinds that do speak for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..rules import Absent, Ignore, IgnoreValue, Literal, OneOf, Operation, Predicate, Set
from .emission import Match, Proposal
from .grouping import Flags
from .table import ABSENT, REPEAT, Codes, Table
from .validation import Judgement

MIN_UNTESTED = 10
"""URLs of one kind that a proposal may change without any evidence there."""
MIN_UNTESTED_SHARE = 0.2
"""Share of the URLs a proposal changes that must lie in such kinds for it to be narrowed."""
MAX_KINDS = 24
MIN_COVERAGE = 0.9
ROUNDS = 3


def scoped(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, narrowed to where their groups are."""
    kinds = enumerable(table)
    return [_scoped(proposal, table, kinds, _tested(proposal.key, table, judgement)) for proposal in proposals]


def enumerable(table: Table) -> dict[str, Codes]:
    """Return the columns whose few values, and absence, cover almost all URLs; other values as -1."""
    found = {}
    for key, codes in table.columns.items():
        values, counts = np.unique(codes, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MAX_KINDS]
        if len(values) > 1 and counts[order].sum() >= MIN_COVERAGE * len(table):
            found[key] = np.where(np.isin(codes, values[order]), codes, np.int32(-1))
    return found


def _tested(key: str, table: Table, judgement: Judgement) -> Flags:
    """Return which URLs are in a group of one content whose URLs differ in *key*."""
    tested = np.zeros(len(table), dtype=np.bool_)
    codes = table.columns.get(key)
    if codes is None:
        return tested
    content = judgement.sample.content
    for members in judgement.merged:
        rows = np.asarray(members)
        if (codes[rows] != codes[rows[0]]).any() and len({content[i] for i in members}) == 1:
            tested[rows] = True
    return tested


def _scoped(proposal: Proposal, table: Table, kinds: Mapping[str, Codes], tested: Flags) -> Proposal:
    changed = _matching(table, proposal.match) & _concerned(table, proposal.key, proposal.operation)
    for _ in range(ROUNDS):
        asked = {key for key, _ in proposal.match} | {proposal.key}
        best: tuple[int, str, Match] | None = None
        for key, codes in kinds.items():
            if key in asked:
                continue
            untested = _untested(codes[changed], tested[changed])
            count = int(sum(untested.values()))
            if count > MIN_UNTESTED_SHARE * changed.sum() and (best is None or count > best[0]):
                spoken_for = sorted({int(code) for code in codes[changed & tested]} - {-1})
                predicate = _among(table, spoken_for)
                if predicate is not None:
                    best = count, key, ((key, predicate),)
        if best is None:
            return proposal
        proposal = replace(proposal, match=proposal.match + best[2])
        changed &= _matching(table, best[2])
    return proposal


def _untested(codes: Codes, tested: Flags) -> dict[int, int]:
    """Return the kinds with a fair number of URLs and no evidence: {code: URLs}."""
    every, counts = np.unique(codes, return_counts=True)
    spoken_for = set(np.unique(codes[tested]).tolist())
    return {
        int(code): int(count)
        for code, count in zip(every, counts, strict=True)
        if count >= MIN_UNTESTED and int(code) not in spoken_for and code != -1
    }


def _among(table: Table, codes: Sequence[int]) -> Predicate | None:
    """Return the predicate that asks for one of some codes, None where no rule can ask for them."""
    values = [table.vocabulary[code] for code in codes if code != ABSENT]
    absent = ABSENT in codes
    if any(REPEAT in value for value in values) or not codes:
        return None
    if not values:
        return Absent()
    return Literal(values[0], absent) if len(values) == 1 else OneOf(values, absent)


def _matching(table: Table, match: Match) -> Flags:
    """Return which URLs a match holds for."""
    holds = np.ones(len(table), dtype=np.bool_)
    for key, predicate in match:
        codes = table.columns.get(key)
        if codes is None:
            if not predicate.optional:
                holds[:] = False
            continue
        present, place = np.unique(codes, return_inverse=True)
        answers = [
            predicate.optional if code == ABSENT else predicate.holds(table.vocabulary[code].split(REPEAT)[0])
            for code in present
        ]
        holds &= np.array(answers, dtype=np.bool_)[place]
    return holds


def _concerned(table: Table, key: str, operation: Operation) -> Flags:
    """Return which URLs have a value that an operation changes."""
    codes = table.columns.get(key)
    if codes is None:
        return np.zeros(len(table), dtype=np.bool_)
    present, place = np.unique(codes, return_inverse=True)
    answers = []
    for code in present:
        value = None if code == ABSENT else table.vocabulary[code]
        if value is None:
            answers.append(False)
        elif isinstance(operation, Ignore | IgnoreValue):
            answers.append(any(operation.concerns(one) for one in value.split(REPEAT)))
        elif isinstance(operation, Set):
            answers.append(value in {source for source, _ in operation.values})
        else:
            answers.append(REPEAT in value)
    return np.array(answers, dtype=np.bool_)[place]
