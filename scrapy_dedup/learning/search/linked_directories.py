"""Directories that are one: a symbolic link, a mirror, ``/docs/current/`` that is ``/docs/16/``.

Such directories are a few among many, often with a few pages each, so that two values of the segment are not compared
one with another (:mod:`.values`), or show too few pages to be believed by themselves. That some pages of two directories
are equal says little: sisters share a licence and a change log, and differ in the next file. Two that hold the same
names, and under each name the same page, may be one. From how many pages on they are is asked of the site: where one
page is left out, directories with the same names that are equal in all others must be equal in it, too. The least
number for which that holds on enough pages, with no more exceptions than noise explains, is what directories are
taken for one by.

What is compared are URLs as the rules that were found show them, so that a session id hides no directory. Pages whose
paths end in a slash are compared apart from the others: what a server makes of a directory names the directory.

What directories that show little by themselves are one in is what was seen: the rule asks for the names that each of
them has. What is in others beside them may be in these, too, and another page there. Files with other extensions, and
with parameters that none was seen with, are kept.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from ...rules import Absent, Literal, OneOf, Predicate, Set
from ...urls import PLACEHOLDER, values_of
from ..config import current
from ..data.frame import Frame, Level
from ..data.judgement import Deep, Judgement, Sample, book_of, judged
from ..data.table import Table, encode
from ..evidence.arrays import ABSENT, Codes, Flags, Hashes, Rows, mixed
from ..evidence.shares import worth_asking
from ..evidence.value_kinds import is_token
from ..proposals.matching import concerned, matching
from ..proposals.proposal import Proposal

__all__ = ["in_linked_directories", "linked_directories"]

MIN_SHARED = 3
"""Distinct pages that tell nothing yet, whatever the site."""
MAX_NAMES = 100
"""Names of pages that a rule asks for one by one."""
MAX_DIRECTORIES = 1_000
"""Directories that one rule shows as others."""
MAX_RULES = 20
"""Rules at most, those that save most first."""
MAX_ABSENT = 24
"""Parameters that a rule may ask not to be there."""

_TRAIL = "path.trail"


def linked_directories(judgement: Judgement, table: Table, deep: Deep) -> list[Proposal]:
    """Return proposals that show directories as those that they are the same as.

    *judgement* is that of the rules that were found before, on the URLs of *table*. O(n log n) for each segment of
    the paths.
    """
    sample = judgement.sample
    if len(judgement.by_key) - len(set(sample.content)) < 2 * current().proposed_groups:
        return []
    # Keys with several pages are noise, or wrong: they say nothing.
    pages = {key: {sample.content[i] for i in members} for key, members in judgement.by_key.items()}
    urls = [key for key, contents in pages.items() if len(contents) == 1]
    keys = encode(urls, (values_of(url, groups=sample.groups) for url in urls), [min(pages[url]) for url in urls])
    frame = Frame(keys.with_deep(deep) if deep else keys, np.arange(len(keys)))
    support = frame.support()
    found: list[_Alike] = []
    missed: list[_Missed] = []
    position = 0
    while any(part in frame.columns for part in _parts(f"path.{position}")):
        if support.get(f"path.{position}", 0) >= current().proposed_groups:
            alike, misses = _compared(frame, position)
            found += alike
            missed += misses
        position += 1
    shared = _shared_by_one(found, missed)
    if shared is None:
        return []
    together: defaultdict[tuple[object, ...], list[_Alike]] = defaultdict(list)
    for each in found:
        if len(each.pages) > shared and (each.is_large or 0 < len(each.names) <= MAX_NAMES):
            asked = None if each.is_large else each.names
            together[each.key, each.parents, each.trail, asked].append(each)
    ranked = sorted(map(_proposal, together.values()), key=lambda item: (-item[0], repr(item[1])))
    some = (_without_parameters(proposal, frame) for _, proposal in ranked[:MAX_RULES])
    return [one for one in some if one is not None and _says_something(one, table)]


def in_linked_directories(sample: Sample, table: Table) -> Flags:
    """Return which URLs of a sample lie in directories that are one, where nothing is known of the site but these URLs."""
    inside = np.zeros(len(table), dtype=np.bool_)
    for proposal in linked_directories(judged(book_of((), sample, {}), sample), table, {}):
        assert isinstance(proposal.operation, Set)
        shown = dict(proposal.operation.values)
        names = [table.numbers[name] for name in {*shown, *shown.values()} if name is not None]
        inside |= matching(table, proposal.match) & np.isin(table.columns[proposal.key], names)
    return inside


def _without_parameters(proposal: Proposal, frame: Frame) -> Proposal | None:
    """Return a proposal that asks for no parameter with which other URLs of the kind were seen, and these never."""
    kind = matching(frame.table, proposal.match)
    own = kind & concerned(frame.table, proposal.key, proposal.operation)
    keys = [key for key in frame.columns if key.startswith(("q.", "m.", "s."))]
    missing = sorted(key for key in keys if frame.columns[key][kind].any() and not frame.columns[key][own].any())
    if len(missing) > MAX_ABSENT:
        return None
    return replace(proposal, match=(*proposal.match, *((key, Absent()) for key in missing)))


def _says_something(proposal: Proposal, table: Table) -> bool:
    """Tell whether a proposal changes URLs as they came: where segments are cut, keys have other paths."""
    changed = matching(table, proposal.match) & concerned(table, proposal.key, proposal.operation)
    return int(np.count_nonzero(changed)) >= current().proposed_groups


@dataclass(frozen=True, slots=True)
class _Alike:
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
class _Missed:
    """Directories with the same names that are equal in *shared* pages or more, and not in the one left out.

    There they show *lost* pages more than one.
    """

    shared: int
    lost: int


def _shared_by_one(found: Sequence[_Alike], missed: Sequence[_Missed]) -> int | None:
    """Return how many equal pages tell that the next one is equal, too; None where no number does on this site."""
    for shared in sorted({MIN_SHARED, *(miss.shared + 1 for miss in missed if miss.shared >= MIN_SHARED)}):
        pages = len(frozenset[int]().union(*(each.pages for each in found if len(each.pages) > shared)))
        if pages < 2 * current().proposed_groups:
            return None
        lost = sum(miss.lost for miss in missed if miss.shared >= shared)
        if worth_asking(lost, pages + lost):
            return shared
    return None


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


def _compared(frame: Frame, position: int) -> tuple[list[_Alike], list[_Missed]]:
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
    """Return what is in the directories that the segment at *position* names."""
    parents = [f"path.{number}" for number in range(position)]
    rows = np.arange(len(frame))
    # A rule asks for segments before it by their whole values.
    inside = np.all([_codes(frame, key, rows) != ABSENT for key in parents], axis=0) & _is_there(frame, position + 1)
    rows = np.flatnonzero(inside)
    before = [key for key in (*parents, _TRAIL) if key in frame.columns]
    parts = [key for key in _parts(f"path.{position}") if key in frame.columns]
    parent = _hashes(frame, before, rows)
    directory = parent + _hashes(frame, parts, rows)
    name = frame.kept_hashes({}, without=[*before, *parts])[rows]
    order = np.lexsort((name, directory))
    _, first, number = np.unique(directory[order], return_index=True, return_inverse=True)
    return _Entries(number, name[order], rows[order], parent[order][first])


def _misses(rest: Hashes, content: Codes, shared: Rows) -> Iterator[_Missed]:
    """Yield where directories are equal but for one page: *rest* is equal where all but that page is."""
    again = _recurs(rest)
    if not again.any():
        return
    _, place = np.unique(rest[again], return_inverse=True)
    contents = np.bincount(np.unique(np.stack((place, content[again])), axis=1)[0])
    least = np.full(len(contents), np.iinfo(np.intp).max, dtype=np.intp)
    np.minimum.at(least, place, shared[again])
    for number in np.flatnonzero(contents > 1).tolist():
        yield _Missed(int(least[number]), int(contents[number]) - 1)


def _alike(frame: Frame, position: int, members: Sequence[Rows]) -> _Alike | None:
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
    return _Alike(
        key,
        parents,
        bool(_codes(frame, _TRAIL, rows)[0] != ABSENT),
        target,
        tuple(others),
        frozenset(frame.content[rows].tolist()),
        frozenset(lengths),
        frozenset(extension),
        frozenset(names if is_told else ()),
    )


def _proposal(alike: Sequence[_Alike]) -> tuple[int, Proposal]:
    """Return how many URLs are saved by, and what is said of, directories under the same parents.

    Those that are not large have the same names in them, which are asked for.
    """
    first = alike[0]
    shown: dict[str | None, str | None] = {}
    kept = []
    for each in sorted(alike, key=lambda each: (-len(each.others) * len(each.pages), each.others)):
        if len(shown) + len(each.others) <= MAX_DIRECTORIES:
            shown.update(dict.fromkeys(each.others, each.target))
            kept.append(each)
    match: list[tuple[str, Predicate]] = [(key, Literal(value)) for key, value in first.parents]
    match.append(("path.len", _one_of({length for each in kept for length in each.lengths})))
    match.append((_TRAIL, Literal("/") if first.trail else Absent()))
    match.append(("ext", _one_of({extension for each in kept for extension in each.extensions})))
    if not first.is_large:
        match.append((f"path.{len(first.parents) + 1}", _one_of({name for name, _ in first.names})))
    return sum(len(each.others) * len(each.pages) for each in kept), Proposal(tuple(match), first.key, Set(shown))


def _one_of(values: AbstractSet[str | None]) -> Predicate:
    """Return what asks for one of some values; None is that there is none."""
    texts = frozenset(value for value in values if value is not None)
    if not texts:
        return Absent()
    return Literal(min(texts), None in values) if len(texts) == 1 else OneOf(texts, None in values)


def _is_passing(value: str) -> bool:
    """Tell whether a value is none that a pattern may rest on: a session id, or what rules show of any value."""
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
