"""Trials of operations: what an operation makes of the table of a site, as the judge takes it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from . import judge as judging
from .evidence.arrays import Flags, Hashes, Numbers, Rows
from .judge import NOTHING, Groups, Kind, Look, Verdict
from .kinds import kind_of
from .operations import Drop, Literal, Operation
from .table import Table, groups_of

WITNESSES: Final = 2.0
"""Groups of one page that count."""
SURE: Final = 0.9
"""Probability of a group to be several pages from which on these are surely lost."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An operation with the groups that it makes, and the verdict."""

    operation: Operation
    hashes: Hashes
    """What it leaves of each view."""
    rows: Sequence[Rows]
    """The views of each group, by their numbers."""
    groups: Groups | None
    kind: Kind
    verdict: Verdict = NOTHING

    @property
    def surely_lost(self) -> int:
        """Pages that are lost in groups that are surely several."""
        if self.groups is None:
            return 0
        return int(self.groups.lost[self.verdict.bad > SURE].sum())

    def differing(self, column: Hashes) -> list[int]:
        """Return the groups whose views differ in a key, from what it adds to the hash of each view."""
        return [number for number, units in enumerate(self.rows) if (column[units] != column[units[0]]).any()]


@dataclass(frozen=True, slots=True)
class Trial:
    """The table of a site with what is believed of its responses.

    *urls*: of each content the URLs that show it; *confirmed*: contents that were seen again when they were asked for, no odd
    responses; *rates*: logarithms of what is believed of the share of odd responses.
    """

    table: Table
    urls: Mapping[int, int]
    confirmed: frozenset[int]
    rates: Numbers

    def judge(self, operation: Operation, kind: Kind | None = None, rows: Sequence[Rows] | None = None) -> Judged:
        """Return an operation with its verdict; of some groups (*rows*) where they are given."""
        kind = kind or kind_of(operation, self.table)
        hashes = operation.hashes(self.table)
        found = Judged(operation, hashes, groups_of(hashes) if rows is None else rows, None, kind)
        if not found.rows:
            return found
        groups = self.groups(found, kind, found.rows)
        return replace(found, groups=groups, verdict=judging.verdict(groups, kind, self.rates))

    def groups(self, judged: Judged, kind: Kind, rows: Sequence[Rows], having: Flags | None = None) -> Groups:
        """Return witness groups; what tells of their places are the URLs on which the operation acts, those *having* a key."""
        operation, hashes = judged.operation, judged.hashes
        looks: dict[Look, int] = {}
        look, page, lost = [], [], []
        for units in rows:
            shown = Counter(self.table.page[units].tolist())
            page.append(max(shown, key=lambda each: (shown[each], each)))
            lost.append(len(shown) - 1.0)
            one = tuple(sorted([self._look_of(each, number) for each, number in shown.items()]))
            look.append(looks.setdefault(one, len(looks)))
        times = Counter(page)
        size = np.array([len(units) - 1.0 for units in rows])
        fine, coarse = self.table.forms(operation.touched if isinstance(operation, Drop) else ())
        first = np.array([units[0] for units in rows], np.intp)
        # What is kept of the URLs on which the operation acts tells whether contents tell pages apart there.
        acts = hashes != self.table.hashes
        acting = np.unique(hashes[acts if having is None else acts & having])
        left, first_of_key = np.unique(hashes, return_index=True)
        keys = first_of_key[np.isin(left, acting)]
        # One number for another is said of all numbers of its key, one after the other.
        numbers = (
            [len(self.table.counts[key]) - 1.0 for key in operation.tested] if isinstance(operation, Literal) else []
        )
        claimed = np.maximum(size, max(numbers, default=0.0))
        place, contrast = _contrast(fine, first, keys, self.table.page, claimed)
        coarse_place, coarse_seen = _seen(coarse, first, keys, self.table.page)
        of_forms = np.minimum(1.0, coarse_seen[coarse_place] / claimed.mean())
        return Groups(
            looks=tuple(looks),
            look=np.array(look, np.intp),
            place=place,
            contrast=contrast,
            shell=judging.shell_of(kind, of_forms.tolist()),
            weight=np.array([min(1.0, WITNESSES / times[each]) for each in page]),
            removed=size,
            lost=np.array(lost),
            section=np.zeros(len(rows), np.intp),
        )

    def _look_of(self, page: int, number: int) -> tuple[int, bool]:
        is_confirmed = page in self.confirmed
        return number + is_confirmed, self.urls[page] == 1 and not is_confirmed

    def part(self, judged: Judged, chosen: Sequence[int]) -> Judged:
        """Return the verdict of some of the groups of an operation."""
        assert judged.groups is not None
        groups = judged.groups.part(np.array(chosen, np.intp))
        verdict = judging.verdict(groups, judged.kind, self.rates)
        return replace(judged, rows=[judged.rows[number] for number in chosen], groups=groups, verdict=verdict)


def _seen(form: Hashes, first: Rows, keys: Rows, page: Rows) -> tuple[Rows, Numbers]:
    """Return the place of each group, and how many contents beyond one, and beyond odd responses, each place shows."""
    places, of_key = np.unique(form[keys], return_inverse=True)
    of_key = of_key.reshape(-1)
    pages = np.bincount(of_key)
    distinct = np.unique(of_key.astype(np.int64) * (int(page.max()) + 1) + page[keys])
    contents = np.bincount(distinct // (int(page.max()) + 1), minlength=len(places))
    place = np.searchsorted(places, form[first])
    return place, np.maximum(0.0, contents - 1 - 0.05 * pages)


def _contrast(form: Hashes, first: Rows, keys: Rows, page: Rows, size: Numbers) -> tuple[Rows, Numbers]:
    """Return the place of each group, and the contrast of each place."""
    place, seen = _seen(form, first, keys, page)
    number = np.bincount(place, minlength=len(seen))
    mean = np.bincount(place, weights=size, minlength=len(seen)) / np.maximum(1, number)
    return place, judging.contrast_of(seen, mean)
