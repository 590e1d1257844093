"""Class guards: a rule guards a class of values, not the lengths that happened to be seen.

A rule that was seen with values of 2 to 54 letters holds for one of 60, unless a longer or shorter one was seen and
kept. So nested ranges of lengths under one pattern are one rule, and lengths are evidence. Values that were all of one
length are tokens of that length, and stay so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...rules import Ignore, IgnoreValue, OfClass
from ...urls import ValueClass
from ..data.judgement import Deep, SiteUrls
from ..data.url_table import REPEAT, Table
from ..evidence.arrays import ABSENT, Flags
from ..proposals.matching import concerned, matching
from ..proposals.proposal import Proposal
from .witness_counts import pages_for


def with_open_lengths(proposals: Sequence[Proposal], table: Table, sample: SiteUrls, deep: Deep) -> list[Proposal]:
    """Return *proposals* with the lengths of their classes open, where that changes no URL that was seen.

    A pattern that is all one page rests on its URLs, and says nothing of others. O(URLs) per proposal.
    """
    pages = pages_for(proposals, sample, deep)
    changed: dict[str, Flags] = {}
    for one in proposals:
        flags = matching(table, one.match) & concerned(table, one.key, one.operation)
        changed[one.key] = changed.get(one.key, np.zeros(len(table), dtype=np.bool_)) | flags
    return list(dict.fromkeys(_opened(one, table, changed) if pages[one] > 1 else one for one in proposals))


def _opened(one: Proposal, table: Table, changed: Mapping[str, Flags]) -> Proposal:
    """Return a proposal with its classes opened one by one, as far as that lets it act on no URL on which none acted."""
    acted = changed[one.key]
    for wider in _wider(one, table):
        if not (matching(table, wider.match) & concerned(table, wider.key, wider.operation) & ~acted).any():
            one = _with_open_class(one, wider)
    return one


def _wider(one: Proposal, table: Table) -> Iterable[Proposal]:
    """Yield the proposal with one of its classes open: those of its operation and of its pattern."""
    operation = one.operation
    rows = matching(table, one.match)
    only = operation.only if isinstance(operation, Ignore | IgnoreValue) else None
    if (
        isinstance(operation, Ignore | IgnoreValue)
        and isinstance(only, ValueClass)
        and _varies(only, one.key, rows, table)
    ):
        yield replace(one, operation=replace(operation, only=only.of_any_length()))
    for number, (key, predicate) in enumerate(one.match):
        if isinstance(predicate, OfClass) and _varies(predicate.value_class, key, rows, table):
            opened = key, replace(predicate, value_class=predicate.value_class.of_any_length())
            yield replace(one, match=(*one.match[:number], opened, *one.match[number + 1 :]))


def _with_open_class(one: Proposal, wider: Proposal) -> Proposal:
    """Return a proposal with the class that is open in a wider one."""
    match = tuple(
        theirs if ours[1] != theirs[1] and _is_open(theirs[1]) else ours
        for ours, theirs in zip(one.match, wider.match, strict=True)
    )
    operation = wider.operation if _is_open(wider.operation) else one.operation
    return replace(one, match=match, operation=operation)


def _is_open(part: object) -> bool:
    value_class = part.value_class if isinstance(part, OfClass) else getattr(part, "only", None)
    return isinstance(value_class, ValueClass) and value_class == value_class.of_any_length()


def _varies(value_class: ValueClass, key: str, rows: Flags, table: Table) -> bool:
    """Return whether values of several lengths were seen of a class in some URLs."""
    codes = table.columns.get(key)
    if codes is None:
        return False
    texts = (table.vocabulary[code] for code in np.unique(codes[rows]).tolist() if code != ABSENT)
    lengths = {len(value) for text in texts for value in text.split(REPEAT) if value_class.matches(value)}
    return len(lengths - {0}) > 1
