"""Clusters of a host's URLs by path, for sites whose paths hold ids.

The document clusters by host and path. Where a segment has a value of its own for each page, such
clusters are too small for rules; so a path is taken for what is enumerable in it, segment by segment.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...rules import Absent, Literal, Predicate
from ..emission import Match
from ..frame import Frame
from ..scope import enumerable
from ..table import ABSENT, REPEAT, Rows, Table, is_token

MIN_URLS = 30
MAX_TEMPLATES = 60


@dataclass(frozen=True, slots=True)
class Template:
    """URLs whose paths are alike: their rows, and the pattern that tells them from others."""

    match: Match
    rows: Rows


def templates(table: Table, frame: Frame) -> Iterator[Template]:
    """Yield the templates of a frame's URLs, the largest first; none where all are of one."""
    kinds = enumerable(table)
    keys = [key for key in kinds if key.startswith(("path.", "ext")) and key != "path.trail"]
    if not keys:
        return
    codes = np.stack([table.columns[key][frame.rows] for key in keys], axis=1)
    numbers = np.stack([kinds[key].numbers[frame.rows] for key in keys], axis=1)
    distinct, of_row, counts = np.unique(
        np.where(numbers >= 0, codes, -1), axis=0, return_inverse=True, return_counts=True
    )
    of_row = of_row.reshape(-1)
    for number in np.argsort(-counts, kind="stable")[:MAX_TEMPLATES].tolist():
        if counts[number] < MIN_URLS or len(distinct) == 1:
            return
        match = _match(table, keys, distinct[number].tolist())
        if match is not None:
            yield Template(match, np.flatnonzero(of_row == number))


def _match(table: Table, keys: list[str], codes: list[int]) -> Match | None:
    """Return the pattern of a template, None where no rule can ask for it."""
    found: list[tuple[str, Predicate]] = []
    for key, code in zip(keys, codes, strict=True):
        if code == ABSENT:
            found.append((key, Absent()))
        elif code > 0:
            value = table.vocabulary[code]
            if REPEAT in value or is_token(value):
                return None
            found.append((key, Literal(value)))
    return tuple(found)
