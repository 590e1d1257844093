"""Values that a rule names: what was seen of each of them, and where they are so many numbers that any other is as good.

A limit that each page doubles grows without end, and no list of the numbers that were seen holds the next one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2

import numpy as np

from ...rules import Ignore, IgnoreValue
from ...urls import class_of
from ..data.url_table import Table
from ..evidence.arrays import Codes, Flags, Rows
from ..proposals.dropping import widened
from ..proposals.matching import concerned, matching
from ..proposals.proposal import Proposal

MOST_MEMBERS = 8
"""URLs of one value that are looked at in a group."""
GROWING = 4
"""Numbers that must grow for others to be as good: three values of a choice of few are no series."""
OTHER = -1
"""Code of any value that is not under test."""


def are_numbers(values: Sequence[str]) -> bool:
    """Return whether values are whole numbers, several of them."""
    return len(values) > 1 and class_of(values).name == "int"


def of_any_number(proposal: Proposal, table: Table, changed: Flags) -> Proposal:
    """Return a proposal on numbers that it names as one on all numbers like them, if that changes no other URL that was seen.

    *changed* are the URLs that it changes.
    """
    operation = proposal.operation
    assert isinstance(operation, Ignore | IgnoreValue)
    values = operation.only
    if not isinstance(values, frozenset) or not are_numbers(sorted(values)) or not _is_growing(values):
        return proposal
    wider = replace(operation, only=widened(class_of(values)))
    others = matching(table, proposal.match) & concerned(table, proposal.key, wider) & ~changed
    return proposal if others.any() else replace(proposal, operation=wider)


def _is_growing(values: Iterable[str]) -> bool:
    """Return whether each of four numbers or more is twice the one before, on average: years and page sizes are not."""
    # By their digits, as a number in a URL may be of any length; a value may be empty (``limit=``).
    sizes = sorted(_log2(value) for value in values if value)
    return len(sizes) >= GROWING and sizes[0] >= 0 and sizes[-1] - sizes[0] >= len(sizes) - 1


def _log2(digits: str) -> float:
    """Return the logarithm of a whole number, below 0 that of 0."""
    known = digits.lstrip("0")
    return log2(int(known[:15])) + (len(known) - len(known[:15])) * log2(10) if known else -1.0


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
