"""What the entropies propose to the pipeline, in the common representation."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...rules import Lower, Nested
from ...urls import DeepSplit, values_of
from ..combining import rules_of
from ..constant_pages import constant_pages
from ..emission import Match, Proposal, dropped
from ..emission import proposals as pattern_proposals
from ..frame import Frame
from ..guards import Node
from ..scope import scoped
from ..table import ABSENT, Rows, Table, encode
from ..validation import Sample, book_of, judged
from .joint import Irrelevant, irrelevant
from .templates import Template, templates
from .values import case_insensitive, nested


def proposals(sample: Sample, deep: Mapping[str, DeepSplit]) -> list[Proposal]:
    """Return what is irrelevant on the whole site, or under single paths where paths are in conflict.

    Then, of what is kept: which keys' case means nothing, which values are URLs to be canonicalized.
    Empty where there is nothing to learn from. Nothing of it is validated. O(n log n) per key.
    """
    table = table_of(sample, deep)
    if table is None:
        return []
    rows = np.arange(len(table))
    # Table 1 of the document: whatever the value, one fingerprint. One page is one group, for which the
    # unit of evidence is the URL.
    constants, covered = constant_pages(Frame(table, rows))
    fixed = pattern_proposals(table, rows, Node(()), constants)
    frame = Frame(table, np.flatnonzero(~covered))
    everywhere = irrelevant(frame)
    parts = [(part, irrelevant(frame.subset(part.rows))) for part in templates(table, frame, everywhere.dropped)]
    found = _dropping(table, frame, parts)
    if found:
        book = book_of(rules_of(sample.site, [*fixed, *found]), sample, deep)
        found = scoped(found, table, judged(book, sample))
    rest = _peeled(frame, found)
    gone = {proposal.key for proposal in found if not proposal.match}
    found += [Proposal((), key, Lower()) for key in case_insensitive(rest)]
    found += [Proposal((), key, Nested()) for key in nested(rest, sample.site, gone, sample.groups)]
    return [*fixed, *found]


def table_of(sample: Sample, deep: Mapping[str, DeepSplit]) -> Table | None:
    """Return the encoded URLs of a sample, None where no two of them lead to one page."""
    if len(set(sample.content)) == len(sample.content):
        return None
    views = (values_of(url, groups=sample.groups, deep=deep) for url in sample.urls)
    return encode(sample.urls, views, sample.content)


def _dropping(table: Table, frame: Frame, parts: Sequence[tuple[Template, Irrelevant]]) -> list[Proposal]:
    """Return what is dropped: under the widest template within which none objects.

    That is the document's path-specific way out of a conflict.
    """
    demanded = [(template, key) for template, found in parts for key in found.put_back]
    done: list[tuple[Template, str]] = []
    clean = [(template, found.dropped) for template, found in parts]
    # What is clean nowhere is proposed all the same: whether noise explains it is for validation to say.
    doubtful = [(template, found.doubtful) for template, found in parts]
    proposed = []
    for sure, chosen in ((True, clean), (False, doubtful)):
        settled = {key for _, key in done} if not sure else set()
        for template, keys in chosen:
            asked = {key for key, _ in template.match} | settled
            for key in keys:
                conflict = any(key == other and narrower.within(template) for narrower, other in demanded)
                known = any(key == other and template.within(wider) for wider, other in done)
                if not (conflict or known or key in asked):
                    done.append((template, key))
                    proposed.append(_drop(table, frame.rows[template.rows], template.match, key))
    return proposed


def _drop(table: Table, rows: Rows, match: Match, key: str) -> Proposal:
    return Proposal(match, key, dropped(table, rows, key))


def _peeled(frame: Frame, found: list[Proposal]) -> Frame:
    """Return the frame without what is dropped everywhere."""
    gone = {proposal.key for proposal in found if not proposal.match}
    return Frame(
        frame.table,
        frame.rows,
        {key: np.full_like(codes, ABSENT) if key in gone else codes for key, codes in frame.columns.items()},
    )
