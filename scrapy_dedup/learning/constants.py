"""Keys that are constant on one kind of page: what is dropped elsewhere is kept there.

A parameter that is noise on most pages, and the same on every URL of one kind, was never put to the
test there: another value of it may be another page (``v=1`` on all that was crawled, ``v=2`` on what
comes later). To keep a constant keeps no two of the observed URLs apart, so that this caution is free.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..rules import Ignore, IgnoreValue, Keep, Literal
from .emission import Proposal
from .scope import concerned, matching
from .table import ABSENT, REPEAT, Rows, Table, is_token

MIN_URLS = 10
"""URLs of a kind on which a key is constant."""
MAX_KINDS = 500
"""Values of a key of the path by which kinds are told apart."""
KINDS = ("path.0", "path.1", "path.2")


def kept_where_constant(proposals: Sequence[Proposal], table: Table) -> list[Proposal]:
    """Return proposals that keep a key where another one drops it and it has one value only.

    Kinds are the URLs that share one of the first segments of the path. O(n) per proposal.
    """
    found: dict[Proposal, None] = {}
    for proposal in proposals:
        if isinstance(proposal.operation, Ignore | IgnoreValue) and proposal.key.startswith(("q.", "m.", "s.")):
            codes = table.columns.get(proposal.key)
            if codes is not None:
                changed = matching(table, proposal.match) & concerned(table, proposal.key, proposal.operation)
                found.update(dict.fromkeys(_keeping(proposal, table, np.flatnonzero(changed))))
    return list(found)


def _keeping(proposal: Proposal, table: Table, rows: Rows) -> Iterator[Proposal]:
    asked = {key for key, _ in proposal.match}
    codes = table.columns[proposal.key][rows]
    for name in KINDS:
        column = table.columns.get(name)
        if column is None or name in asked or not len(rows):
            continue
        kinds, place, counts = np.unique(column[rows], return_inverse=True, return_counts=True)
        if not 1 < len(kinds) <= MAX_KINDS:
            continue
        low = np.full(len(kinds), np.iinfo(codes.dtype).max, dtype=codes.dtype)
        high = np.zeros(len(kinds), dtype=codes.dtype)
        np.minimum.at(low, place, codes)
        np.maximum.at(high, place, codes)
        for number in np.flatnonzero((low == high) & (counts >= MIN_URLS)):
            # What is constant, and sometimes missing, was tested: with it and without it are one page.
            kind = kinds[number]
            everywhere = int(np.count_nonzero(column == kind)) == int(counts[number])
            value = table.vocabulary[kind]
            if kind != ABSENT and everywhere and REPEAT not in value and not is_token(value):
                yield Proposal((*proposal.match, (name, Literal(value))), proposal.key, Keep())
