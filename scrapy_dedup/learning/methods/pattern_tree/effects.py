"""What operations make of the URLs of a table, as one hash a URL: equal hashes, equal results."""

from collections.abc import Mapping

import numpy as np

from ...data.frame import NEVER_KEPT
from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Codes, Hashes, Rows
from .normalization_rules import IgnoreKey, KeyOperation, ReplaceKey

_WILD = 2**31 - 1


class Effects:
    """Runs operations on columns; texts that no URL has get codes of their own."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._more: dict[str, int] = {}

    def code(self, text: str) -> int:
        """Return the code of a value."""
        known = self.table.numbers.get(text)
        if known is None:
            known = self._more.setdefault(text, len(self.table.vocabulary) + len(self._more))
        return known

    def copied(self, operation: ReplaceKey, rows: Rows) -> Codes:
        """Return the codes of what a replace writes."""
        column = self.table.columns.get(operation.source)
        if column is None:
            return np.zeros(len(rows), dtype=np.int32)
        codes = column[rows]
        if not (operation.prefix or operation.suffix or operation.lower):
            return codes
        values, places = np.unique(codes, return_inverse=True)
        texts = (self.table.value(int(code)) for code in values)
        translated = [ABSENT if text is None else self.code(operation.text(text)) for text in texts]
        return np.array(translated, dtype=np.int32)[places.reshape(codes.shape)]

    def hashes(self, operations: Mapping[str, KeyOperation], rows: Rows) -> Hashes:
        """Return the hash of what *operations* make of each of *rows*."""
        total = np.zeros(len(rows), dtype=np.uint64)
        for key, operation in operations.items():
            if key in NEVER_KEPT:
                continue
            if isinstance(operation, ReplaceKey):
                codes = self.copied(operation, rows)
            elif isinstance(operation, IgnoreKey):
                codes = np.full(len(rows), _WILD, dtype=np.int32)
            else:
                codes = np.full(len(rows), self.code(operation.value), dtype=np.int32)
            total += np.where(codes != ABSENT, self.table.hashes(key, codes), np.uint64(0))
        return total

    def whole(self, rows: Rows) -> Hashes:
        """Return the hash of each of *rows* as it is."""
        return self.hashes({key: ReplaceKey(key) for key in self.table.columns}, rows)
