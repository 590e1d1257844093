"""What the entropies propose to the pipeline, in the common representation."""

from collections.abc import Mapping, Sequence

import numpy as np

from ....rules import Absent, Literal, Lower, OneOf, RuleBook
from ....urls import DeepSplit, values_of
from ...config import current
from ...data.frame import Frame
from ...data.judgement import SiteUrls, book_of
from ...data.url_table import Table, encode
from ...evidence.arrays import ABSENT, Rows
from ...proposals.combining import rules_of
from ...proposals.dropping import dropped
from ...proposals.proposal import Match, Proposal
from ...search.constant_pages import constant_pages
from ...search.emission import proposals as pattern_proposals
from ...search.guards import GuardNode
from .inner import nested_operations, shown
from .joint import Irrelevant, irrelevant
from .lowered_keys import case_insensitive, where_spellings
from .path_clusters import PathCluster, templates


def proposals(sample: SiteUrls, deep: Mapping[str, DeepSplit], table: Table | None = None) -> list[Proposal]:
    """Return what is irrelevant on the whole site, or under single paths where paths are in conflict.

    Then, of what is kept: which keys' case means nothing, which values are URLs to be canonicalized.
    Empty where there is nothing to learn from. Nothing of it is validated. *table* are the URLs encoded with
    the deep tokens, made where it is not given. O(n log n) per key.
    """
    table = table_of(sample, deep, table)
    if table is None:
        return []
    rows = np.arange(len(table))
    # Table 1 of the document: whatever the value, one fingerprint. One page is one group, for which the
    # unit of evidence is the URL.
    constants, covered = constant_pages(Frame(table, rows), sample)
    fixed = pattern_proposals(table, rows, GuardNode(()), constants)
    frame = Frame(table, np.flatnonzero(~covered))
    placed = _irrelevant(frame)
    found = [_drop(table, frame, template, key) for template, key in placed]
    rest = _peeled(frame, placed)
    book = book_of(rules_of(sample.site, found), sample, deep)
    found += [Proposal(match, key, Lower()) for match, key in case_insensitive(rest)]
    return [*fixed, *found, *_nested(table, rest, book, found)]


def _nested(table: Table, rest: Frame, book: RuleBook, found: Sequence[Proposal]) -> list[Proposal]:
    """Return the keys whose values are URLs to be canonicalized, and what is irrelevant beside them.

    *book* are the rules of URLs in values. Where the URL in a value came in several spellings, nothing else
    of a URL could be told before, nor the other way round: both are tested together.
    """
    operations = nested_operations(rest, book)
    codes = {key: shown(rest, key, operation, book) for key, operation in operations.items()}
    inner = {key: fewer for key, fewer in codes.items() if fewer is not None}
    if not inner:
        return []
    canonical = Frame(table, rest.rows, {**rest.columns, **inner})
    known = {proposal.key for proposal in found} | inner.keys()
    placed = [(place, key) for place, key in _irrelevant(canonical) if key not in known]
    peeled = _peeled(canonical, placed)
    nested = []
    for key in inner:
        rows = where_spellings(peeled, rest.columns[key])
        if rows is not None:
            # What no rule of the inner site says is known only where it was seen.
            match = _sections(rest, rows) if operations[key].ignore else ()
            nested.append(Proposal(match, key, operations[key]))
    return [*nested, *(_drop(table, rest, place, key) for place, key in placed)] if nested else []


def _sections(frame: Frame, rows: Rows) -> Match:
    """Return the pattern of the first segments that some rows have, if they are fewer than a rule needs groups."""
    codes = np.unique(frame.columns["path.0"][rows]).tolist() if "path.0" in frame.columns else []
    if not codes or len(codes) >= current().proposed_groups:
        return ()
    values = [frame.table.vocabulary[code] for code in codes if code != ABSENT]
    if not values:
        return (("path.0", Absent()),)
    optional = ABSENT in codes
    return (("path.0", Literal(values[0], optional) if len(values) == 1 else OneOf(values, optional)),)


def _irrelevant(frame: Frame) -> list[tuple[PathCluster, str]]:
    """Return which keys are dropped where, of all URLs of a frame and of those of single templates."""
    everywhere = irrelevant(frame)
    parts = [(PathCluster((), np.arange(len(frame))), everywhere)]
    parts += [(part, irrelevant(frame.subset(part.rows))) for part in templates(frame, everywhere.dropped)]
    return _placed(parts)


def table_of(sample: SiteUrls, deep: Mapping[str, DeepSplit], known: Table | None = None) -> Table | None:
    """Return the encoded URLs of a sample (*known* if given), None where no two of them lead to one page."""
    if len(set(sample.content)) == len(sample.content):
        return None
    if known is not None:
        return known
    views = (values_of(url, groups=sample.site_groups, deep=deep) for url in sample.urls)
    return encode(sample.urls, views, sample.content, sample.lone)


def _placed(parts: Sequence[tuple[PathCluster, Irrelevant]]) -> list[tuple[PathCluster, str]]:
    """Return which keys are dropped where: under the widest template within which none objects.

    That is the document's path-specific way out of a conflict. What is clean nowhere is dropped all the
    same: whether noise explains it is for validation to say.
    """
    demanded = [(template, key) for template, found in parts for key in found.put_back]
    clean = _widest([(template, key) for template, found in parts for key in found.dropped], demanded)
    settled = {key for _, key in clean}
    doubtful = [(template, key) for template, found in parts for key in found.doubtful if key not in settled]
    return clean + _widest(doubtful, demanded)


def _widest(
    candidates: Sequence[tuple[PathCluster, str]], demanded: Sequence[tuple[PathCluster, str]]
) -> list[tuple[PathCluster, str]]:
    """Return the candidates, wider ones first, that no narrower demand contradicts and no wider one covers."""
    chosen: list[tuple[PathCluster, str]] = []
    for template, key in candidates:
        conflict = any(key == other and narrower.within(template) for narrower, other in demanded)
        known = any(key == other and template.within(wider) for wider, other in chosen)
        if not (conflict or known or any(key == asked for asked, _ in template.match)):
            chosen.append((template, key))
    return chosen


def _drop(table: Table, frame: Frame, template: PathCluster, key: str) -> Proposal:
    return Proposal(template.match, key, dropped(table, frame.rows[template.rows], key))


def _peeled(frame: Frame, placed: Sequence[tuple[PathCluster, str]]) -> Frame:
    """Return the frame without what is dropped."""
    columns = dict(frame.columns)
    for template, key in placed:
        columns[key] = columns[key].copy()
        columns[key][template.rows] = ABSENT
    return Frame(frame.table, frame.rows, columns)
