"""Clusters of a host's URLs by path, for sites whose paths hold ids.

The document clusters by host and path. Where a segment has a value of its own for each page, such
clusters are too small for rules; so URLs are parted by their paths segment by segment, as long as the
segment has few values. Where one script serves many pages, the parameters that name what it shall do
stand for the path.
"""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from ....rules import Absent, Literal, Predicate
from ...data.frame import Frame
from ...data.url_table import REPEAT
from ...evidence.arrays import ABSENT, Rows
from ...evidence.value_kinds import is_token
from ...proposals.proposal import Match

MIN_URLS = 30
MAX_TEMPLATES = 150
MAX_VALUES = 60
MIN_COVERAGE = 0.8
"""Share of the URLs that values of MIN_URLS or more must cover for a segment to part them."""
MAX_ROUTING = 3
"""Parameters that may stand for the path, those that most URLs have."""


@dataclass(frozen=True, slots=True)
class PathCluster:
    """URLs whose paths are alike: their rows in the frame, and the pattern that just they have."""

    match: Match
    rows: Rows

    def within(self, other: "PathCluster") -> bool:
        """Return whether all URLs of this template are of the *other* one."""
        return set(other.match) <= set(self.match)


def templates(frame: Frame, dropped: Collection[str]) -> Iterator[PathCluster]:
    """Yield the templates of a frame's URLs, wider ones first; not all of its URLs as one.

    *dropped* are keys that are irrelevant everywhere: they name no template. O(URLs x keys) per level.
    """
    keys = [key for key in sorted(frame.columns, key=_place) if _place(key)[0] < _NO_PATH and key not in dropped]
    names = [key for key in frame.columns if key.startswith("q.") and key not in dropped]
    open_ones = deque([(PathCluster((), np.arange(len(frame))), 0)])
    found = 0
    while open_ones:
        template, position = open_ones.popleft()
        parts: list[PathCluster] = []
        while position < len(keys) and not parts:
            parts = _parts(frame, template, keys[position])
            position += 1
        open_ones += [(part, position) for part in parts]
        if not parts:
            has = {name: int(np.count_nonzero(frame.columns[name][template.rows])) for name in names}
            routing = sorted((name for name in names if has[name] >= MIN_URLS), key=lambda name: (-has[name], name))
            parts = [part for name in routing[:MAX_ROUTING] for part in _parts(frame, template, name)]
        yield from parts[: MAX_TEMPLATES - found]
        found += len(parts)
        if found >= MAX_TEMPLATES:
            return


_NO_PATH = 3


def _place(key: str) -> tuple[int, int]:
    """Return where a key of the path stands: its length, its segments, its extension."""
    if key == "path.len":
        return 0, 0
    kind, _, number = key.partition(".")
    if kind == "path" and number.isdigit():
        return 1, int(number)
    return (2, 0) if key == "ext" else (_NO_PATH, 0)


def _parts(frame: Frame, template: PathCluster, key: str) -> list[PathCluster]:
    """Return a template parted by the values of a key, the largest part first; [] where they are too many."""
    codes = frame.columns[key][template.rows]
    values, counts = np.unique(codes, return_counts=True)
    many = counts >= MIN_URLS
    if len(values) == 1 or many.sum() > MAX_VALUES or counts[many].sum() < MIN_COVERAGE * len(codes):
        return []
    parts = []
    for number in sorted(np.flatnonzero(many).tolist(), key=lambda number: -int(counts[number])):
        code = int(values[number])
        text = frame.table.vocabulary[code]
        if REPEAT not in text and not is_token(text):
            asked: Predicate = Absent() if code == ABSENT else Literal(text)
            parts.append(PathCluster((*template.match, (key, asked)), template.rows[codes == code]))
    return parts
