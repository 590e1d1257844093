"""What the entropies propose to the pipeline, in the common representation."""

from collections.abc import Mapping

import numpy as np

from ...rules import Lower, Nested
from ...urls import DeepSplit, values_of
from ..combining import rules_of
from ..emission import Match, Proposal, dropped
from ..frame import Frame
from ..scope import scoped
from ..table import ABSENT, Rows, Table, encode
from ..validation import Sample, book_of, judged
from .analysis import ParameterRule
from .joint import Irrelevant, irrelevant
from .merging import merged
from .relevance import Relevance
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
    frame = Frame(table, np.arange(len(table)))
    everywhere = irrelevant(frame)
    parts = [(template, irrelevant(frame.subset(template.rows))) for template in templates(table, frame)]
    found = _dropping(table, everywhere, parts)
    if found:
        book = book_of(rules_of(sample.site, found), sample, deep)
        found = scoped(found, table, judged(book, sample))
    rest = _peeled(frame, found)
    gone = {proposal.key for proposal in found if not proposal.match}
    found += [Proposal((), key, Lower()) for key in case_insensitive(rest)]
    found += [Proposal((), key, Nested()) for key in nested(rest, sample.site, gone, sample.groups)]
    return found


def table_of(sample: Sample, deep: Mapping[str, DeepSplit]) -> Table | None:
    """Return the encoded URLs of a sample, None where no two of them lead to one page."""
    if len(set(sample.content)) == len(sample.content):
        return None
    views = (values_of(url, groups=sample.groups, deep=deep) for url in sample.urls)
    return encode(sample.urls, views, sample.content)


def _dropping(table: Table, everywhere: Irrelevant, parts: list[tuple[Template, Irrelevant]]) -> list[Proposal]:
    """Return what is dropped: everywhere if no path objects, otherwise path by path."""
    clusters = {repr(template.match): _rules(found) for template, found in parts}
    by_name = {repr(template.match): template for template, _ in parts}
    rules = merged(clusters)
    rows = np.arange(len(table))
    proposed = [
        _drop(table, rows, (), key)
        for key in everywhere.dropped
        if key not in rules.everywhere or rules.everywhere[key].relevance is Relevance.IGNORE
        if all(key not in own for own in rules.by_path.values())
    ]
    done = {proposal.key for proposal in proposed}
    for name, found in clusters.items():
        template = by_name[name]
        asked = {key for key, _ in template.match}
        for key, rule in found.items():
            if rule.relevance is Relevance.IGNORE and key not in done and key not in asked:
                proposed.append(_drop(table, template.rows, template.match, key))
    return proposed


def _rules(found: Irrelevant) -> dict[str, ParameterRule]:
    verdicts = {**dict.fromkeys(found.dropped, Relevance.IGNORE), **dict.fromkeys(found.put_back, Relevance.ACCEPT)}
    return {key: ParameterRule(key, relevance) for key, relevance in verdicts.items()}


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
