"""The two tokens of a value that duplicate clusters tell apart."""

import numpy as np

from ...urls import DeepSplit
from ..config import current
from ..evidence.arrays import ABSENT
from .table import Table


def varies_alone(table: Table, key: str, split: DeepSplit) -> bool:
    """Tell whether one of the two tokens varies, and the other stays, in clusters enough to learn from."""
    if key not in table.columns:
        return False
    codes, place = np.unique(table.columns[key], return_inverse=True)
    parts = [split.parts(table.vocabulary[code]) if code != ABSENT else None for code in codes.tolist()]
    numbers: dict[str, int] = {}
    tokens = np.array(
        [[numbers.setdefault(part, len(numbers) + 1) for part in pair] if pair else (0, 0) for pair in parts],
        dtype=np.int32,
    )[place]
    order = np.argsort(table.content, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(table.content[order]) != 0])
    ordered = tokens[order]
    varies = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    present = np.minimum.reduceat(ordered, starts) > 0
    head, tail = varies.T
    return bool(np.count_nonzero((head ^ tail) & present.all(axis=1)) >= current().least_contents)
