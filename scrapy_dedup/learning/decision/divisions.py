"""Divisions of a site: by the sections that its paths name, or by a key of few values; in each part a proposal is judged anew.

And what was seen of each of the values that a proposal names.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...rules import Absent, Literal, OfClass, OneOf, Predicate
from ...urls import class_of
from ..data.url_table import REPEAT, Table
from ..evidence.arrays import ABSENT, Codes, Rows
from ..evidence.value_kinds import are_named, is_token
from ..proposals.proposal import Match, Proposal

PATH = ("path.0", "path.1")
ANY = -1
"""Stands for any value of a segment."""
MOST_MEMBERS = 8
"""URLs of one value that are looked at in a group."""
OTHER = -1
"""Code of any value that is not under test."""
MAX_SECTIONS = 200
"""Sections of a site that are judged each by their own evidence: it takes time for each."""


@dataclass(frozen=True, slots=True)
class Division:
    """The parts of a site that some keys name."""

    keys: tuple[str, ...]
    names: Sequence[tuple[int, ...]]
    """Of each part the code of each key, or ANY."""
    part_of_url: Rows
    """The number of each URL's part (shape: URLs)."""

    def divides(self, proposal: Proposal) -> bool:
        """Return whether a proposal may be true of some parts only: it asks for none, and is not about their names."""
        asked = {key for key, predicate in proposal.match if not isinstance(predicate, OfClass)}
        return (
            set(self.names) != {(ANY,) * len(self.keys)}
            and not asked.intersection(self.keys)
            and proposal.key not in self.keys
        )

    def matches(self, match: Match, table: Table, parts: Sequence[int]) -> list[Match]:
        """Return the patterns that ask for *match* and some parts, as few as can be."""
        names = [self.names[number] for number in parts]
        others = tuple(part for part in match if part[0] not in self.keys)
        whole = [name[0] for name in names if ANY in name[1:] or len(name) == 1]
        inner: defaultdict[int, list[int]] = defaultdict(list)
        for name in names:
            if len(name) > 1 and name[1] != ANY:
                inner[name[0]].append(name[1])
        found = [(*others, (self.keys[0], _among(table, whole)))] if whole else []
        return found + [
            (*others, (self.keys[0], _among(table, [first])), (self.keys[1], _among(table, seconds)))
            for first, seconds in inner.items()
        ]


def divisions_of(table: Table) -> list[Division]:
    """Return the divisions of a site: the one by sections first, then those by keys of few values."""
    every = np.arange(len(table))
    found = [by_sections(table)]
    for key, codes in table.columns.items():
        names = _naming(table, codes, every) if key.startswith("q.") else []
        if (
            len(names) > 1
            and are_named(len(names), len(table))
            and not any(REPEAT in table.vocabulary[code] for code in names)
        ):
            found.append(Division((key,), [(code,) for code in names], np.searchsorted(names, codes)))
    return found


def by_sections(table: Table) -> Division:
    """Return the division by what the first segments of the path name: not by numbers, and not by what hardly repeats."""
    none = np.zeros(len(table), dtype=np.int32)
    first, second = (table.columns.get(key, none) for key in PATH)
    part_of_url = np.zeros(len(table), dtype=np.intp)
    every = np.arange(len(table))
    names: list[tuple[int, ...]] = []
    for value in _naming(table, first, every) or [ANY]:
        rows = every if value == ANY else np.flatnonzero(first == value)
        inner = _naming(table, second, rows) if value != ANY else []
        for other in inner or [ANY]:
            part_of_url[rows if other == ANY else rows[second[rows] == other]] = len(names)
            names.append((value, other))
    return Division(PATH, names, part_of_url)


def without_sections(match: Match) -> Match:
    """Return a pattern that asks for no section of the site."""
    return tuple((key, predicate) for key, predicate in match if key not in PATH or isinstance(predicate, OfClass))


def _naming(table: Table, codes: Codes, rows: Rows) -> list[int]:
    """Return the values of a key that name parts of a site; none where they do not."""
    values = np.unique(codes[rows]).tolist()
    texts = [table.vocabulary[value] for value in values if value != ABSENT]
    if not len(values) <= MAX_SECTIONS or len(rows) < 2 * len(values):
        return []
    return [] if all(text.isdigit() for text in texts) or any(is_token(text) for text in texts) else values


def _among(table: Table, codes: Sequence[int]) -> Predicate:
    """Return the predicate that asks for one of some values."""
    values = [table.vocabulary[code] for code in codes if code != ABSENT]
    if not values:
        return Absent()
    return Literal(values[0], ABSENT in codes) if len(values) == 1 else OneOf(values, ABSENT in codes)


def are_numbers(values: Sequence[str]) -> bool:
    """Return whether values are whole numbers, several of them."""
    return len(values) > 1 and class_of(values).name == "int"


@dataclass(slots=True)
class ByValue:
    """Witness groups value by value: the places of their rows, and of each group the size and the number of the value."""

    rows: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)


def by_value(numbers: Mapping[int, int], codes: Codes, content: Codes, rows: Rows, group: Rows) -> ByValue:
    """Return the URLs of each value of a key, beside one of those that have another value in their group.

    *rows* are the URLs of groups, one *group* after the other; *numbers* are those of the values, by code. The other URL, the
    last of its group, shows what most of the others show.
    """
    of = np.array([numbers.get(code, OTHER) for code in codes[rows].tolist()])
    shows = content[rows]
    found = ByValue()
    ends = np.flatnonzero(np.r_[group[1:] != group[:-1], True]) + 1
    for start, end in zip(np.r_[0, ends[:-1]].tolist(), ends.tolist(), strict=True):
        members = np.arange(start, end)
        for value in np.unique(of[members]).tolist():
            rest = members[of[members] != value]
            if value == OTHER or not len(rest):
                continue
            shown, counts = np.unique(shows[rest], return_counts=True)
            other = rest[shows[rest] == shown[counts.argmax()]][:1]
            own = members[of[members] == value][:MOST_MEMBERS]
            found.rows += [*own.tolist(), *other.tolist()]
            found.sizes.append(len(own) + 1)
            found.values.append(value)
    return found
