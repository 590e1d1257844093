"""Kinds of pages on which a rule was never put to the test: what is dropped elsewhere is kept there.

No evidence is not evidence of safety. A parameter that is noise on most pages, and the same on every URL of one
kind, may be another page there when it varies (``v=1`` on all that was crawled, ``v=2`` on what comes later). So it is
with one that makes no difference to the news and of which no two reports that differ in it alone were ever seen, while
by chance there would have been some. To keep it there keeps no two of the observed URLs apart, so that this caution
is free.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..rules import Ignore, IgnoreValue, Keep, Literal, OfClass, Set
from ..urls import ValueClass
from .emission import Proposal
from .evidence import CONFIDENCE
from .grouping import Flags
from .judgement import Judgement
from .scope import clean_groups, concerned, is_like_session, matching, tested
from .table import ABSENT, REPEAT, Codes, Rows, Table, is_token

MIN_URLS = 10
"""URLs of a kind on which a key is constant."""
MIN_PAGES = 3
"""Pages of a kind on which a key was never tested."""
MAX_KINDS = 500
"""Values of a key of the path by which kinds are told apart."""
KINDS = ("path.0", "path.1", "path.2")


def kept_where_untested(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return proposals that keep a key where another one drops it and nothing speaks for that.

    Kinds are the URLs that share one of the first segments of the path. O(n) per proposal.
    """
    found: dict[Proposal, None] = {}
    groups = clean_groups(judgement)
    for proposal in proposals:
        if not isinstance(proposal.operation, Ignore | IgnoreValue | Set):
            continue
        codes = table.columns.get(proposal.key)
        if codes is not None and proposal.key.startswith(("q.", "m.", "s.", "host.", "scheme")):
            rows = np.flatnonzero(matching(table, proposal.match) & concerned(table, proposal.key, proposal.operation))
            found.update(dict.fromkeys(_keeping(proposal, table, rows, tested(proposal.key, table, groups)[rows])))
    return list(found)


def _keeping(proposal: Proposal, table: Table, rows: Rows, speaking: Flags) -> Iterator[Proposal]:
    asked = {key for key, predicate in proposal.match if not isinstance(predicate, OfClass)}
    codes = table.columns[proposal.key][rows]
    for name in KINDS:
        column = table.columns.get(name)
        if column is None or name in asked or not len(rows):
            continue
        kinds, place, counts = np.unique(column[rows], return_inverse=True, return_counts=True)
        if not 1 < len(kinds) <= MAX_KINDS:
            continue
        everywhere = np.bincount(column)[kinds] == counts
        kept = _untested(proposal, place, counts, speaking, table.content[rows])
        if proposal.key.startswith(("q.", "m.", "s.")) and not isinstance(proposal.operation, Set):
            # What is constant, and sometimes missing, was tested: with it and without it are one page.
            kept |= _is_constant(codes, place, len(kinds)) & (counts >= MIN_URLS) & everywhere
        for kind in kinds[kept].tolist():
            value = table.vocabulary[kind]
            if kind != ABSENT and REPEAT not in value and not is_token(value):
                others = (part for part in proposal.match if part[0] != name)
                yield Proposal((*others, (name, Literal(value))), proposal.key, Keep())


def _is_constant(codes: Codes, place: Rows, kinds: int) -> Flags:
    """Return on which kinds all URLs have one value."""
    low = np.full(kinds, np.iinfo(codes.dtype).max, dtype=codes.dtype)
    high = np.zeros(kinds, dtype=codes.dtype)
    np.minimum.at(low, place, codes)
    np.maximum.at(high, place, codes)
    constant: Flags = low == high
    return constant


def _untested(proposal: Proposal, place: Rows, counts: Rows, speaking: Flags, content: Codes) -> Flags:
    """Return the kinds of which no URL is in a group that speaks for a proposal, though that is no chance.

    *speaking* tells which URLs are. What looks like a session id is noise wherever it is.
    """
    only = getattr(proposal.operation, "only", None)
    if isinstance(only, ValueClass) and is_like_session(only):
        return np.zeros(len(counts), dtype=np.bool_)
    spoken = np.bincount(place[speaking], minlength=len(counts))
    pages = np.bincount(np.unique(np.stack((place, content)), axis=1)[0], minlength=len(counts))
    elsewhere = (spoken.sum() - spoken) / np.maximum(counts.sum() - counts, 1)
    chance = (1 - elsewhere) ** counts
    untested: Flags = (spoken == 0) & (pages >= MIN_PAGES) & (chance < (1 - CONFIDENCE) / len(counts))
    return untested
