"""Keys whose values say less than they show: their case means nothing.

Source: url-parameter-relevance, the passage on case sensitivity, H(F|lower(V)) - H(F|V), taken given the rest of the
URL: two pages whose names differ in case alone, and in nothing else, are what speaks for the case.
"""

from collections.abc import Callable, Mapping

import numpy as np

from ....rules import Absent, OneOf, Predicate
from ....urls.percent import lower_value
from ...config import current
from ...data.frame import Frame
from ...data.grouping import Groups, varying
from ...evidence.arrays import ABSENT, Codes, Flags, Rows
from ...evidence.shares import worth_asking
from ...proposals.proposal import Match
from .joint import case_merit
from .path_clusters import MAX_VALUES, MIN_URLS

MIN_TESTED = 0.8
"""Share of a key's capitals that must stand where the case was tested, for it to hold on the whole site."""
_CASED = ("path.", "q.", "ext", "m.", "s.")


def case_insensitive(frame: Frame) -> list[tuple[Match, str]]:
    """Return the keys whose case does not matter, each with the pattern under which that was seen.

    It is asked under each first segment of the path, whose own case makes no difference. Where none
    objects and hardly any capitals are elsewhere, it is so on the whole site.
    """
    parts = _by_first_segment(frame)
    verdicts = [_case_insensitive(frame.subset(rows)) for _, rows in parts]
    found: list[tuple[Match, str]] = []
    for key in sorted({key for lowered, _ in verdicts for key in lowered}):
        where = [(match, rows) for (match, rows), (lowered, _) in zip(parts, verdicts, strict=True) if key in lowered]
        tested = sum(_capitals(frame, key, rows) for _, rows in where)
        everywhere = tested >= MIN_TESTED * _capitals(frame, key, np.arange(len(frame)))
        if everywhere and not any(key in kept for _, kept in verdicts):
            found.append(((), key))
        else:
            found += [(match, key) for match, _ in where if match]
    return found


def _by_first_segment(frame: Frame) -> list[tuple[Match, Rows]]:
    """Return the URLs of each first segment that has enough of them, in whatever case; last, all others."""
    codes = frame.columns.get("path.0", np.zeros(len(frame), dtype=np.int32))
    lowered = _same(frame, codes, lower_value)
    values, of_row, counts = np.unique(codes if lowered is None else lowered, return_inverse=True, return_counts=True)
    parts: list[tuple[Match, Rows]] = []
    rest = np.ones(len(frame), dtype=np.bool_)
    for number in np.argsort(-counts, kind="stable")[:MAX_VALUES].tolist():
        if counts[number] < MIN_URLS:
            break
        rows = np.flatnonzero(of_row == number)
        rest[rows] = False
        spellings = [frame.table.vocabulary[code] for code in np.unique(codes[rows]).tolist()]
        predicate: Predicate = Absent() if values[number] == ABSENT else OneOf(spellings)
        parts.append(((("path.0", predicate),), rows))
    return [*parts, ((), np.flatnonzero(rest))]


def _capitals(frame: Frame, key: str, rows: Rows) -> int:
    """Return how many of the rows have a value of *key* with capitals."""
    codes, counts = np.unique(frame.columns[key][rows], return_counts=True)
    texts = (frame.table.vocabulary[code] for code in codes.tolist())
    return sum(count for text, count in zip(texts, counts.tolist(), strict=True) if text != lower_value(text))


def _case_insensitive(frame: Frame) -> tuple[list[str], list[str]]:
    """Return the keys whose case does not matter, and those whose case tells pages apart.

    They are lowered together, since a path is often written in another case as a whole; where pages
    differ after that, the key whose case tells them apart best is put back.
    """
    lowered: dict[str, Codes] = {}
    kept: list[str] = []
    for key, codes in frame.columns.items():
        if key.startswith(_CASED):
            fewer = _same(frame, codes, lower_value)
            if fewer is not None:
                lowered[key] = fewer
    while lowered:
        groups = _recoded(frame, lowered).groups({})
        concerned = {key: varying(groups, frame.columns[key]) for key in lowered}
        any_of = np.logical_or.reduce(list(concerned.values()))
        bad = any_of & (groups.contents > 1)
        if worth_asking(int(bad.sum()), int(any_of.sum())):
            return [key for key in lowered if _clean(groups, concerned[key]) >= current().proposed_groups], kept
        merit = {key: case_merit(groups, bad, frame.content, frame.columns[key]) for key in lowered}
        worst = max(merit, key=lambda key: (merit[key], key))
        kept.append(worst)
        del lowered[worst]
    return [], kept


def where_spellings(frame: Frame, codes: Codes) -> Rows | None:
    """Return the rows that show values of a key to lead to the same pages, None where it is not shown.

    *codes* are those of the values, which the frame no longer tells apart.
    """
    groups = frame.groups({})
    concerned = varying(groups, codes)
    bad = int((concerned & (groups.contents > 1)).sum())
    if _clean(groups, concerned) < current().proposed_groups or not worth_asking(bad, int(concerned.sum())):
        return None
    rows: Rows = groups.order[(concerned & (groups.contents == 1))[groups.group]]
    return rows


def _clean(groups: Groups, concerned: Flags) -> int:
    return int((concerned & (groups.contents == 1)).sum())


def _same(frame: Frame, codes: Codes, identity: Callable[[str], str]) -> Codes | None:
    """Return the codes with values of one *identity* made one, None where each has its own."""
    present, place = np.unique(codes, return_inverse=True)
    first: dict[str, int] = {}
    shown = [
        code if code == ABSENT else first.setdefault(identity(frame.table.vocabulary[code]), code)
        for code in present.tolist()
    ]
    if shown == present.tolist():
        return None
    return np.asarray(shown, dtype=np.int32)[place]


def _recoded(frame: Frame, columns: Mapping[str, Codes]) -> Frame:
    return Frame(frame.table, frame.rows, {**frame.columns, **columns})
