"""What rules of many forms say of one key, said once.

A rewrite rule names all segments of a URL, so that n optional parameters take 2**n rules, each with its
own share of the evidence. In the common representation a rule is about one key. Here what the rewrite
rules drop is dropped from all URLs at once, and where that would join different pages, only under the
values of another key that tell these places from the others.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....rules import Absent, Ignore, Literal, Operation
from ...config import current
from ...data.frame import Frame, Level
from ...data.grouping import Groups, varying
from ...data.url_table import REPEAT, Table
from ...evidence.arrays import ABSENT, Codes, Flags, Rows
from ...evidence.shares import worth_asking
from ...evidence.value_kinds import is_token
from ...proposals.dropping import dropped
from ...proposals.proposal import Match
from .path_operations import holds_for

MAX_SPLITS = 3
MAX_VALUES = 24
"""Values, absence among them, of a key under which it is looked for places where a drop holds."""
MIN_GAIN = 0.05
"""Bits that such a key must tell about whether groups are of one content."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A key that some rules drop: with any value, or with one of ``values`` only."""

    key: str
    values: frozenset[str] | None = None

    def operation(self, table: Table, rows: Rows) -> Operation:
        """Return the operation, guarded by the values that the key has in *rows*."""
        return dropped(table, rows, self.key) if self.values is None else Ignore(only=self.values)

    def codes(self, table: Table) -> Codes:
        """Return the codes of ``values``; none where they are not restricted."""
        return np.array([table.numbers[value] for value in sorted(self.values or ())], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Pooled:
    """A drop that holds for the URLs of a pattern, ``rows`` of the table."""

    match: Match
    drop: Drop
    rows: Rows


def pooled(table: Table, dropping: Mapping[Drop, Flags], hidden: Container[str] = ()) -> list[Pooled]:
    """Return where each drop holds. ``dropping[drop]`` tells from which URLs rewrite rules drop it.

    *hidden* are keys that no rule can ask for, since it sees their deep tokens.
    """
    pooling = _Pooling(table, dropping, hidden)
    whole = [drop for drop in dropping if drop.values is None]
    rows = np.arange(len(table))
    found = list(pooling.held(rows, (), [], whole))
    everywhere = [one.drop for one in found if not one.match]
    named = [drop for drop in dropping if drop.values is not None and Drop(drop.key) not in everywhere]
    return [*found, *pooling.held(rows, (), everywhere, named)]


def pooled_within(
    table: Table, dropping: Mapping[Drop, Flags], hidden: Container[str], match: Match, held: Sequence[Pooled]
) -> list[Pooled]:
    """Return where each drop holds under a pattern, beyond what is *held* already."""
    rows = np.flatnonzero(holds_for(table, match, {}))
    given = [one.drop for one in held if not one.match]
    return list(_Pooling(table, dropping, hidden).held(rows, match, given, list(dropping), 1))


@dataclass(frozen=True, slots=True)
class _Pooling:
    table: Table
    dropping: Mapping[Drop, Flags]
    hidden: Container[str]

    def held(
        self, rows: Rows, match: Match, given: Sequence[Drop], candidates: Sequence[Drop], splits: int = MAX_SPLITS
    ) -> Iterator[Pooled]:
        """Yield the *candidates* that hold for *rows*, with the *given* drops, and those that hold in parts of them."""
        frame = Frame(self.table, rows)
        tried = [drop for drop in candidates if self.dropping[drop][rows].any()]
        refused: list[Drop] = []
        while tried:
            groups = _groups(frame, [*given, *tried])
            worst = _worst(frame, groups, tried)
            if worst is None:
                yield from (
                    Pooled(match, drop, rows)
                    for drop in tried
                    if _clean(frame, groups, drop) >= current().proposed_groups
                )
                break
            tried.remove(worst)
            refused.append(worst)
        if not refused or not splits:
            return
        given = [*given, *tried]
        key = _telling(frame, given, refused, self.hidden)
        if key is None:
            return
        codes = frame.columns[key]
        for code in np.unique(codes).tolist():
            value = self.table.value(code)
            if value is None or not (is_token(value) or REPEAT in value):
                narrower: Match = ((key, Absent() if value is None else Literal(value)),)
                yield from self.held(rows[codes == code], match + narrower, given, refused, splits - 1)


def _clean(frame: Frame, groups: Groups, drop: Drop) -> int:
    """Return the number of groups of one content whose URLs differ in what a drop drops."""
    return int(np.count_nonzero(_varying(frame, groups, drop) & (groups.contents == 1)))


def _groups(frame: Frame, drops: Sequence[Drop]) -> Groups:
    """Return the groups of URLs that agree on all that is not dropped."""
    levels = {drop.key: Level.DROPPED for drop in drops if drop.values is None}
    named = [drop for drop in drops if drop.values is not None and drop.key in frame.columns]
    if not named:
        return frame.groups(levels)
    frame = Frame(frame.table, frame.rows)
    for drop in named:
        codes = frame.columns[drop.key]
        frame.recode(drop.key, np.where(np.isin(codes, drop.codes(frame.table)), ABSENT, codes).astype(np.int32))
    return frame.groups(levels)


def _varying(frame: Frame, groups: Groups, drop: Drop) -> Flags:
    """Return in which groups the URLs differ in what a drop drops."""
    codes = frame.columns.get(drop.key)
    return np.zeros(len(groups.size), dtype=np.bool_) if codes is None else varying(groups, codes)


def _worst(frame: Frame, groups: Groups, drops: Sequence[Drop]) -> Drop | None:
    """Return the drop with the largest share of counterexamples, None where noise explains them all."""
    bad = groups.contents > 1
    if not bad.any():
        return None
    shares = []
    for drop in drops:
        differs = _varying(frame, groups, drop)
        against, all_ = int(np.count_nonzero(differs & bad)), int(np.count_nonzero(differs))
        if not worth_asking(against, all_):
            shares.append((against / all_, against, drop.key, drop))
    return max(shares, key=lambda share: share[:3])[3] if shares else None


def _telling(frame: Frame, given: Sequence[Drop], refused: Sequence[Drop], hidden: Container[str]) -> str | None:
    """Return the key whose values tell best where the refused drops join different pages."""
    groups = _groups(frame, [*given, *refused])
    differs = np.zeros(len(groups.size), dtype=np.bool_)
    for drop in refused:
        differs |= _varying(frame, groups, drop)
    first, bad = groups.first[differs], groups.contents[differs] > 1
    if not bad.any() or bad.all():
        return None
    gone = {drop.key for drop in (*given, *refused)}
    best: tuple[float, str] | None = None
    for key, codes in frame.columns.items():
        if key in gone or key in hidden:
            continue
        values, place = np.unique(codes[first], return_inverse=True)
        if not 2 <= len(values) <= MAX_VALUES:
            continue
        gain = _gain(place, bad)
        if gain >= MIN_GAIN and (best is None or gain > best[0]):
            best = gain, key
    return best[1] if best else None


def _gain(place: Rows, bad: Flags) -> float:
    """Return the mutual information, in bits, of a value and of being bad."""
    all_ = np.bincount(place)
    wrong = np.bincount(place[bad], minlength=len(all_))
    return _entropy(bad.mean()) - float(
        np.dot(all_ / all_.sum(), [_entropy(w / a) for w, a in zip(wrong, all_, strict=True)])
    )


def _entropy(share: float) -> float:
    if share <= 0 or share >= 1:
        return 0.0
    return float(-share * np.log2(share) - (1 - share) * np.log2(1 - share))
