"""A subset of a site's URLs, recoded step by step while its function is learned."""

from collections.abc import Iterable, Mapping
from enum import IntEnum

import numpy as np

from ..evidence.arrays import ABSENT, Codes, Hashes, Rows
from ..evidence.witnesses import Prior, Witnesses, witnesses
from .grouping import Groups, grouped
from .url_table import RARE, Table

PRESENCE_SEED = np.uint64(0xD6E8FEB86659FD93)

NEVER_KEPT = frozenset({"path.len"})
"""Keys that follow from the others; a pattern may ask for them, a canonical key never holds them."""


class Level(IntEnum):
    """How much of a key the canonical key holds."""

    DROPPED = 0
    PRESENCE = 1
    KEPT = 2


class Frame:
    """The rows of a table that one pattern matches, with recoded columns.

    ``columns`` holds the keys that occur in these rows; recoding (value = absent, value = value,
    optional segments) replaces entries of it, the table stays as it is.
    """

    def __init__(self, table: Table, rows: Rows, columns: Mapping[str, Codes] | None = None) -> None:
        self.table = table
        self.rows = rows
        source = table.columns if columns is None else columns
        cut = ((key, codes[rows] if columns is None else codes) for key, codes in source.items())
        self.columns = {key: codes for key, codes in cut if codes.any()}
        self.content = table.content[rows]
        self.lone = table.lone[rows]
        self._hashes: dict[str, Hashes] = {}
        self._whole: Hashes | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def subset(self, chosen: Rows) -> "Frame":
        """Return the frame of some of these rows, with their recoded columns."""
        columns = {key: codes[chosen] for key, codes in self.columns.items()}
        return Frame(self.table, self.rows[chosen], columns)

    def recode(self, key: str, codes: Codes) -> None:
        """Replace the column of a key."""
        if self._whole is not None and key not in NEVER_KEPT:
            self._whole -= self.hashes(key, Level.KEPT)
        self.columns[key] = codes
        self._hashes.pop(key, None)
        if self._whole is not None and key not in NEVER_KEPT:
            self._whole += self.hashes(key, Level.KEPT)

    def hashes(self, key: str, level: Level) -> Hashes:
        """Return what *key* adds to the hash of the kept part at a level."""
        codes = self.columns[key]
        if level is Level.DROPPED:
            return np.zeros(len(codes), dtype=np.uint64)
        if level is Level.PRESENCE:
            return np.where(codes != ABSENT, self.table.seeds[key] ^ PRESENCE_SEED, np.uint64(0))
        cached = self._hashes.get(key)
        if cached is None:
            cached = self._hashes[key] = self._kept(key)
        return cached

    def _kept(self, key: str) -> Hashes:
        codes = self.columns[key]
        return np.where(codes != ABSENT, self.table.hashes(key, codes), np.uint64(0))

    def kept_hashes(self, levels: Mapping[str, Level], without: Iterable[str] = ()) -> Hashes:
        """Return the hash of the kept part of each URL; keys that *levels* lacks are kept.

        The hash of the whole URL is computed once and what is not kept is taken off again, so that a
        call costs as much as keys are dropped, not as much as there are keys.
        """
        if self._whole is None:
            self._whole = np.zeros(len(self), dtype=np.uint64)
            for key in self.columns:
                if key not in NEVER_KEPT:
                    # Most keys are asked for here only: what they add is not remembered.
                    self._whole += self._hashes[key] if key in self._hashes else self._kept(key)
        total = self._whole.copy()
        left_out = set(without) - NEVER_KEPT
        for key in left_out:
            if key in self.columns:
                total -= self.hashes(key, Level.KEPT)
        for key, level in levels.items():
            if level is not Level.KEPT and key in self.columns and key not in left_out:
                total -= self.hashes(key, Level.KEPT)
                if level is Level.PRESENCE:
                    total += self.hashes(key, level)
        return total

    def support(self) -> dict[str, int]:
        """Return, per key, the number of duplicate clusters in which its value varies."""
        if not len(self):
            return {}
        order = np.argsort(self.content, kind="stable")
        content = self.content[order]
        sizes = np.diff(np.flatnonzero(np.r_[True, content[1:] != content[:-1], True]))
        # Clusters of one URL cannot vary: leave them out of every column.
        order = order[np.repeat(sizes > 1, sizes)]
        if not len(order):
            return {}
        content = self.content[order]
        starts = np.flatnonzero(np.r_[True, content[1:] != content[:-1]])
        found = {}
        for key, codes in self.columns.items():
            if key not in NEVER_KEPT and key != RARE:
                ordered = codes[order]
                low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
                if clusters := int(np.count_nonzero(low != high)):
                    found[key] = clusters
        return found

    def groups(self, levels: Mapping[str, Level]) -> Groups:
        """Return the groups of URLs that agree on the kept part."""
        return self.grouped(self.kept_hashes(levels))

    def witnesses(self, groups: Groups, prior: Prior, key: str | None = None) -> Witnesses:
        """Return the witness groups among *groups* (those of two URLs or more, in order); a *key* tells the pages of one apart."""
        rows = groups.order[groups.merged]
        number = np.unique(groups.group[groups.merged], return_inverse=True)[1]
        value = None if key is None else self.columns[key][rows]
        return witnesses(number, self.content[rows], self.lone[rows], prior, value)

    def grouped(self, kept: Hashes) -> Groups:
        """Return the groups of URLs with equal *kept* hashes."""
        return grouped(kept, self.content)
