"""Keys whose case means nothing, lowered together: a path is often written in another case as a whole.

Source: url-parameter-relevance, the passage on case sensitivity, taken given the rest of the
URL: two pages whose names differ in case alone, and in nothing else, are what speaks for the case.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ...rules import Absent, Ignore, Lower, OneOf, Predicate
from ...urls.percent import lower_value
from ..config import current
from ..data.frame import Frame
from ..data.grouping import varying
from ..data.url_table import MIN_TESTED
from ..evidence.arrays import ABSENT, Codes, Rows
from ..evidence.shares import worth_asking
from ..proposals.proposal import Match, Proposal

MIN_URLS = 30
"""URLs that a first segment needs to be asked by itself."""
MAX_VALUES = 60
"""First segments that are asked by themselves, those with most URLs."""
_CASED = ("path.", "q.", "ext", "m.", "s.")


def case_insensitive(found: Sequence[Proposal], frame: Frame) -> list[Proposal]:
    """Return the keys whose case does not matter, each with the pattern under which that was seen.

    *found* are proposals: what they drop everywhere is left out. It is asked under each first segment of the path, whose own
    case makes no difference. Where none objects and hardly any capitals are elsewhere, it is so on the whole site.
    """
    gone = {one.key for one in found if not one.match and isinstance(one.operation, Ignore)}
    frame = Frame(frame.table, frame.rows, {key: codes for key, codes in frame.columns.items() if key not in gone})
    if not any(_lowered(frame, key) is not None for key in frame.columns):
        return []
    parts = _by_first_segment(frame)
    verdicts = [_case_insensitive(frame.subset(rows)) for _, rows in parts]
    lowered: list[Proposal] = []
    for key in sorted({key for keys, _ in verdicts for key in keys}):
        where = [(match, keys[key]) for (match, _), (keys, _) in zip(parts, verdicts, strict=True) if key in keys]
        tested = sum(count for _, count in where)
        everywhere = tested >= MIN_TESTED * frame.table.repeated_capitals(frame.columns[key])
        if everywhere and not any(key in kept for _, kept in verdicts):
            lowered.append(Proposal((), key, Lower()))
        else:
            lowered += [Proposal(match, key, Lower()) for match, _ in where if match]
    return lowered


def _by_first_segment(frame: Frame) -> list[tuple[Match, Rows]]:
    """Return the URLs of each first segment that has enough of them, in whatever case; last, all others."""
    codes = frame.columns.get("path.0", np.zeros(len(frame), dtype=np.int32))
    lowered = _lowered(frame, "path.0") if "path.0" in frame.columns else None
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


def _case_insensitive(frame: Frame) -> tuple[dict[str, int], list[str]]:
    """Return the keys whose case does not matter, each with the URLs whose capitals were tested, and those whose case tells pages apart.

    Where pages differ after all are lowered, the key is put back in which most such URLs differ for the fewest equal ones.
    """
    lowered = {key: codes for key in frame.columns if (codes := _lowered(frame, key)) is not None}
    kept: list[str] = []
    while lowered:
        groups = _recoded(frame, lowered).groups({})
        concerned = {key: varying(groups, frame.columns[key]) for key in lowered}
        several = groups.contents > 1
        any_of = np.logical_or.reduce(list(concerned.values()))
        clean = {key: int((rows & ~several).sum()) for key, rows in concerned.items()}
        if worth_asking(int((any_of & several).sum()), int(any_of.sum())):
            proved = [key for key in lowered if clean[key] >= current().proposed_groups]
            return {
                key: frame.table.repeated_capitals(frame.columns[key][groups.rows(concerned[key] & ~several)])
                for key in proved
            }, kept
        shares = {key: float((rows & several).sum()) / (1 + clean[key]) for key, rows in concerned.items()}
        worst = max(shares, key=lambda key: (shares[key], key))
        kept.append(worst)
        del lowered[worst]
    return {}, kept


def _lowered(frame: Frame, key: str) -> Codes | None:
    """Return the codes of a key with values that differ in case made one, None where each has its own."""
    if not key.startswith(_CASED):
        return None
    present, place = np.unique(frame.columns[key], return_inverse=True)
    first: dict[str, int] = {}
    shown = [
        code if code == ABSENT else first.setdefault(lower_value(frame.table.vocabulary[code]), code)
        for code in present.tolist()
    ]
    return None if shown == present.tolist() else np.asarray(shown, dtype=np.int32)[place]


def _recoded(frame: Frame, columns: Mapping[str, Codes]) -> Frame:
    return Frame(frame.table, frame.rows, {**frame.columns, **columns})
