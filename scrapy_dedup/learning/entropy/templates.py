"""Clusters of a host's URLs by path, for sites whose paths hold ids.

The document clusters by host and path. Where a segment has a value of its own for each page, such
clusters are too small for rules; so a path is taken for what is enumerable in it, segment by segment.
Where one script serves the whole site, the parameters that name what it shall do stand for the path.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...rules import Absent, Literal, Predicate
from ..emission import Match
from ..frame import Frame
from ..scope import Kinds, enumerable
from ..table import ABSENT, REPEAT, Rows, Table, is_token

MIN_URLS = 30
MAX_TEMPLATES = 30
MAX_ROUTING = 3
"""Parameters that may stand for the path, those that most URLs have."""


@dataclass(frozen=True, slots=True)
class Template:
    """URLs whose paths are alike: their rows, and the pattern that tells them from others."""

    match: Match
    rows: Rows

    def within(self, other: "Template") -> bool:
        """Tell whether all URLs of this template are of the *other* one."""
        return set(other.match) <= set(self.match)


def templates(table: Table, frame: Frame, dropped: Collection[str]) -> Iterator[Template]:
    """Yield the templates of a frame's URLs, by path, then by path and one parameter.

    *dropped* are keys that are irrelevant everywhere: they name no template. The largest come first, and
    small ones not at all.
    """
    kinds = {key: kind for key, kind in enumerable(table).items() if key not in dropped}
    by_path = sorted(key for key in kinds if key.startswith(("path.", "ext")) and key != "path.trail")
    has = {key: int(np.count_nonzero(table.columns[key])) for key in kinds if key.startswith("q.")}
    routing = sorted(has, key=lambda key: (-has[key], key))
    yield from _templates(table, frame, kinds, by_path)
    for key in routing[:MAX_ROUTING]:
        yield from _templates(table, frame, kinds, [*by_path, key])


def _templates(table: Table, frame: Frame, kinds: dict[str, Kinds], keys: Sequence[str]) -> Iterator[Template]:
    if not keys:
        return
    codes = np.stack([table.columns[key][frame.rows] for key in keys], axis=1)
    known = np.stack([kinds[key].numbers[frame.rows] >= 0 for key in keys], axis=1)
    distinct, of_row, counts = np.unique(np.where(known, codes, -1), axis=0, return_inverse=True, return_counts=True)
    of_row = of_row.reshape(-1)
    for number in np.argsort(-counts, kind="stable")[:MAX_TEMPLATES].tolist():
        if counts[number] < MIN_URLS or len(distinct) == 1:
            return
        match = _match(table, keys, distinct[number].tolist())
        if match is not None:
            yield Template(match, np.flatnonzero(of_row == number))


def _match(table: Table, keys: Sequence[str], codes: Sequence[int]) -> Match | None:
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
