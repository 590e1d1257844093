"""Directories that hold the same pages under the same names, and such that do but for one page.

A directory is what a segment of the path names, under the segments before it. Pages whose paths end in a slash are compared
apart from the others: what a server makes of a directory names the directory.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...urls import PLACEHOLDER, values_of
from ..config import current
from ..data.frame import Frame, Level
from ..evidence.arrays import ABSENT, Codes, Flags, Hashes, Rows, mixed
from ..evidence.value_kinds import is_token

MIN_SHARED = 3
"""Distinct pages that tell nothing yet, whatever the site."""

TRAIL = "path.trail"


@dataclass(frozen=True, slots=True)
class AlikeDirectories:
    """Directories named by the segment *key* under the same *parents*, with the same names and the same pages."""

    key: str
    parents: tuple[tuple[str, str], ...]
    trail: bool
    """Whether the paths of the pages end in a slash."""
    target: str
    """The name of the directory that the others are shown as."""
    others: tuple[str, ...]
    pages: frozenset[int]
    lengths: frozenset[str]
    """The lengths of their paths."""
    extensions: frozenset[str | None]
    names: frozenset[tuple[str, str | None]]
    """The segments after *key*, with their extensions; none where these do not tell the pages apart."""

    @property
    def is_large(self) -> bool:
        """Whether it shows enough by itself."""
        return len(self.pages) >= 2 * current().proposed_groups


@dataclass(frozen=True, slots=True)
class Missed:
    """Directories with the same names that are equal in *shared* pages or more, and not in the one left out.

    There they show *lost* pages more than one.
    """

    shared: int
    lost: int


def alike_directories(frame: Frame) -> tuple[list[AlikeDirectories], list[Missed]]:
    """Return the directories that are alike, and those that are in all pages but one. O(n log n) for each segment of the paths."""
    support = frame.support()
    found: list[AlikeDirectories] = []
    missed: list[Missed] = []
    position = 0
    while any(part in frame.columns for part in _parts(f"path.{position}")):
        if support.get(f"path.{position}", 0) >= current().proposed_groups:
            alike, misses = _compared(frame, position)
            found += alike
            missed += misses
        position += 1
    return found, missed


@dataclass(frozen=True, slots=True)
class _Entries:
    """What is in the directories that one segment names: an entry for each name, those of a directory together.

    ``number``: the directory of each entry, ascending from 0; ``name``: the hash of all that follows it in the URL;
    ``row``: the URL. ``parent``: the hash of what stands before each directory.
    """

    number: Rows
    name: Hashes
    row: Rows
    parent: Hashes


def _compared(frame: Frame, position: int) -> tuple[list[AlikeDirectories], list[Missed]]:
    """Return the directories named by one segment that are alike, and those that are in all pages but one."""
    entries = _entries(frame, position)
    if not len(entries.number):
        return [], []
    content = frame.content[entries.row]
    starts = np.flatnonzero(np.r_[True, entries.number[1:] != entries.number[:-1]])
    ends = np.r_[starts[1:], len(entries.number)]
    own = mixed(entries.name + mixed(content.astype(np.uint64)))
    whole = np.add.reduceat(own, starts)
    pages = np.bincount(np.unique(np.stack((entries.number, content)), axis=1)[0], minlength=len(starts))
    chosen = pages > MIN_SHARED
    alone = mixed(entries.parent) + whole
    by_whole: defaultdict[int, list[Rows]] = defaultdict(list)
    for place in np.flatnonzero(chosen & _recurs(alone)).tolist():
        by_whole[int(alone[place])].append(entries.row[starts[place] : ends[place]])
    alike = [_alike(frame, position, members) for members in by_whole.values() if len(members) > 1]
    inside = chosen[entries.number]
    number = entries.number[inside]
    rest = alone[number] - own[inside] + mixed(mixed(entries.name[inside]))
    return [each for each in alike if each is not None], list(_misses(rest, content[inside], pages[number] - 1))


def _entries(frame: Frame, position: int) -> _Entries:
    """Return the contents of the directories named by the segment at *position*."""
    parents = [f"path.{number}" for number in range(position)]
    rows = np.arange(len(frame))
    # A rule asks for segments before it by their whole values.
    inside = np.all([_codes(frame, key, rows) != ABSENT for key in parents], axis=0) & _is_there(frame, position + 1)
    rows = np.flatnonzero(inside)
    before = [key for key in (*parents, TRAIL) if key in frame.columns]
    parts = [key for key in _parts(f"path.{position}") if key in frame.columns]
    parent = _hashes(frame, before, rows)
    directory = parent + _hashes(frame, parts, rows)
    name = frame.kept_hashes({}, without=[*before, *parts])[rows]
    order = np.lexsort((name, directory))
    _, first, number = np.unique(directory[order], return_index=True, return_inverse=True)
    return _Entries(number, name[order], rows[order], parent[order][first])


def _misses(rest: Hashes, content: Codes, shared: Rows) -> Iterator[Missed]:
    """Yield where directories are equal but for one page: *rest* is equal where all but that page is."""
    again = _recurs(rest)
    if not again.any():
        return
    _, place = np.unique(rest[again], return_inverse=True)
    contents = np.bincount(np.unique(np.stack((place, content[again])), axis=1)[0])
    least = np.full(len(contents), np.iinfo(np.intp).max, dtype=np.intp)
    np.minimum.at(least, place, shared[again])
    for number in np.flatnonzero(contents > 1).tolist():
        yield Missed(int(least[number]), int(contents[number]) - 1)


def _alike(frame: Frame, position: int, members: Sequence[Rows]) -> AlikeDirectories | None:
    """Return directories, each given by its URLs, as one; None where rules cannot name them.

    A value that rules see by its parts can stand for others; no operation shows it as another one.
    """
    table, key = frame.table, f"path.{position}"
    views = [values_of(table.urls[rows[0]]) for rows in members]
    whole = _codes(frame, key, np.array([rows[0] for rows in members])) != ABSENT
    named = sorted((bool(seen), len(view[key] or ""), view[key] or "") for seen, view in zip(whole, views, strict=True))
    target, others = named[0][2], [name for seen, _, name in named[1:] if seen]
    rows = members[0]
    parents = tuple((parent, views[0][parent] or "") for parent in (f"path.{number}" for number in range(position)))
    if not others or any(map(_is_passing, (target, *others, *(value for _, value in parents)))):
        return None
    lengths = {table.vocabulary[code] for code in frame.columns["path.len"][rows].tolist()}
    following, extension = (_texts(frame, name, rows) for name in (f"path.{position + 1}", "ext"))
    names = {(name, ext) for name, ext in zip(following, extension, strict=True) if name is not None}
    is_told = lengths == {str(position + 2)} and len(names) == len(rows)
    is_told &= not any(map(_is_passing, (name for name, _ in names)))
    if any(map(_is_passing, filter(None, extension))):
        return None
    return AlikeDirectories(
        key,
        parents,
        bool(_codes(frame, TRAIL, rows)[0] != ABSENT),
        target,
        tuple(others),
        frozenset(frame.content[rows].tolist()),
        frozenset(lengths),
        frozenset(extension),
        frozenset(names if is_told else ()),
    )


def _is_passing(value: str) -> bool:
    """Return whether a value is none that a pattern may rest on: a session id, or what rules show of any value."""
    return value == PLACEHOLDER or is_token(value)


def _parts(key: str) -> tuple[str, ...]:
    """Return the keys by which the values of a segment may be seen."""
    return (key, f"{key}.head", f"{key}.tail")


def _codes(frame: Frame, key: str, rows: Rows) -> Codes:
    """Return the codes of a key, which may be absent everywhere, in some rows."""
    codes = frame.columns.get(key)
    return np.zeros(len(rows), dtype=np.int32) if codes is None else codes[rows]


def _texts(frame: Frame, key: str, rows: Rows) -> list[str | None]:
    """Return the values of a key in some rows, None where it is absent."""
    return [frame.table.vocabulary[code] if code != ABSENT else None for code in _codes(frame, key, rows).tolist()]


def _is_there(frame: Frame, position: int) -> Flags:
    """Return which URLs have a segment, as a whole or in parts."""
    rows = np.arange(len(frame))
    found: Flags = np.any([_codes(frame, part, rows) != ABSENT for part in _parts(f"path.{position}")], axis=0)
    return found


def _hashes(frame: Frame, keys: Sequence[str], rows: Rows) -> Hashes:
    """Return the hash of some keys together."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for key in keys:
        total += frame.hashes(key, Level.KEPT)[rows]
    return total


def _recurs(numbers: Hashes) -> Flags:
    """Return which of some numbers are there twice or more."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    found: Flags = counts[place] > 1
    return found
