"""Keys that can be dropped everywhere, removed before the tree is built (gap 6: peel, then tree).

With n optional junk parameters the tree has 2 to the n leaves, one for each way to have them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ....urls import ValueClass
from ...data.frame import Frame, Level
from ...data.sampling import SEED
from ...data.url_table import REPEAT, Table
from ...evidence.arrays import ABSENT
from ...proposals.dropping import guard_of
from ...search.difference_sets import drop_set
from .patterns import ANYTHING
from .views import View

Guard = frozenset[str] | ValueClass


@dataclass(frozen=True, slots=True)
class Peel:
    """Per key: which values are dropped, and whether the presence of the key stays."""

    keys: Mapping[str, tuple[Guard, bool]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(tuple(self.keys))

    def view(self, view: View) -> View:
        """Return the keys and values of a URL without those that are dropped.

        A path segment before others that stay is shown as the wildcard.
        """
        if not self.keys:
            return view
        left = {key: value for key, value in view.items() if not self._drops(key, value)}
        for key in view.keys() - left.keys():
            if self.keys[key][1] or self._holds_a_place(key, left):
                left[key] = ANYTHING
        return {key: left[key] for key in view if key in left}

    def _drops(self, key: str, joined: str) -> bool:
        guard, _ = self.keys.get(key, (None, False))
        if guard is None:
            return False
        values = joined.split(REPEAT)
        if isinstance(guard, frozenset):
            return all(value in guard for value in values)
        return all(map(guard.matches, values))

    @staticmethod
    def _holds_a_place(key: str, left: View) -> bool:
        kind, _, number = key.partition(".")
        if kind not in {"path", "host"} or not number.isdigit():
            return False
        later = range(int(number) + 1, int(number) + 1 + len(left))
        return any(f"{kind}.{following}" in left for following in later)


def peeled(table: Table) -> tuple[Table, Peel]:
    """Return the table without the keys that can be dropped jointly everywhere, and what those are."""
    if len(np.unique(table.content)) == len(table):
        return table, Peel()
    rows = np.arange(len(table))
    levels = drop_set(Frame(table, rows), {}, np.random.default_rng(SEED)).levels
    keys = {}
    columns = dict(table.columns)
    for key, level in levels.items():
        if level is Level.KEPT:
            continue
        keys[key] = guard_of(table, rows, key), level is Level.PRESENCE
        codes = columns.pop(key)
        if level is Level.PRESENCE:
            columns[key] = np.where(codes != ABSENT, _wildcard(table), ABSENT).astype(np.int32)
    return replace(table, columns=columns), Peel(keys)


def _wildcard(table: Table) -> int:
    """Return the code of ``*``, made where no URL has that value."""
    if ANYTHING not in table.numbers:
        assert isinstance(table.numbers, dict)
        assert isinstance(table.vocabulary, list)
        table.numbers[ANYTHING] = len(table.vocabulary)
        table.vocabulary.append(ANYTHING)
    return table.numbers[ANYTHING]
