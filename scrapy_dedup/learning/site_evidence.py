"""One site's URLs as the learners are given them: encoded, without soft errors, and with what is believed of the site."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..rules.model import ORDERED
from ..urls import DeepSplit, learn_deep_splits, values_of
from ..urls.deep_tokens import may_be_parted
from .config import current
from .data.error_rate import judge_of
from .data.frame import Frame
from .data.judgement import SiteUrls
from .data.shells import repeated_shells
from .data.soft_errors import soft_errors
from .data.url_table import REPEAT, Table, encode
from .data.value_tokens import lists_of_values, significant_splits
from .evidence.arrays import ABSENT
from .evidence.value_kinds import ORDER, kind_of_key
from .learners.core import SiteEvidence
from .opinions.declared import Declarations
from .opinions.said import said_of
from .proposals.proposal import Proposal
from .search.constant_pages import constant_pages, numbers_of


def evidence_of(
    sample: SiteUrls,
    table: Table | None = None,
    declarations: Declarations | None = None,
) -> SiteEvidence:
    """Return what the learners are given of a sample: its columns, deep tokens and kinds of keys, and what is said of them.

    *table* is that of the sample, made where not given.
    """
    table = encoded(sample) if table is None else table
    declared = declarations or Declarations()
    judge = replace(table.judge, said=said_of(table, declared, sample.site_groups, sample.names))
    sample, table = replace(sample, judge=judge), replace(table, judge=judge)
    varying = varying_keys(table)
    table = replace(table, lists=lists_of_values(table, varying))
    deep = deep_splits(table, varying)
    evidence = SiteEvidence(sample, deep, table.with_deep(deep) if deep else table)
    columns, vocabulary = evidence.table.columns, evidence.table.vocabulary
    kinds = {key: kind_of_key(key, columns, vocabulary) for key in columns} | dict.fromkeys(ORDERED, ORDER)
    return replace(evidence, sample=replace(sample, kinds=kinds))


def encoded(sample: SiteUrls) -> Table:
    """Return the table of a sample."""
    views = (values_of(url, groups=sample.site_groups) for url in sample.urls)
    return replace(encode(sample.urls, views, sample.content, sample.lone), judge=sample.judge)


def judged_sample(sample: SiteUrls, controls: Iterable[tuple[int, int]]) -> tuple[SiteUrls, Table, SiteUrls]:
    """Return a sample that knows its site's error rate and constant pages, without soft errors, and its table.

    Of URLs that show one answer, as different pages may do, one stays; all of them are the last sample.

    *controls* are as :func:`.error_rate.judge_of` takes them.
    """
    table = encoded(sample)
    # What is said of a key is said of other pages than those of one content.
    said = said_of(table, Declarations(), sample.site_groups, sample.names)
    table = replace(table, judge=replace(table.judge, said=said))
    every = np.arange(len(table))
    soft = soft_errors(sample.urls, table.content)
    frame = Frame(table, every)
    shells = repeated_shells(table)
    pages, covered = constant_pages(frame, sample, shells)
    shells &= ~covered
    sample = replace(sample, constant=numbers_of(frame, pages).tolist())
    soft &= ~covered  # a page that answers for whatever a parameter says is one, and told as such
    rows = np.flatnonzero(~(soft | shells))
    judge = judge_of(Frame(table, rows), controls)
    alike = np.flatnonzero(np.isin(table.content, table.content[shells & ~soft]))
    evidence = replace(sample.part(rows.tolist()), judge=judge)
    return evidence, replace(table.part(rows), judge=judge), sample.part(alike.tolist())


def varying_keys(table: Table) -> list[str]:
    """Return the keys whose values may have parts, and differ where URLs show one page."""
    support = Frame(table, np.arange(len(table))).support()
    return [key for key, pages in support.items() if may_be_parted(key) and pages >= current().least_contents]


def deep_splits(table: Table, varying: Sequence[str]) -> dict[str, DeepSplit]:
    """Return the deep tokens that the values of a table show: by numbers and ids, or by pages.

    Where a token is seen to be optional, values without it are parted, too. *varying* are the keys that differ where URLs show one page.
    """
    columns: dict[str, list[str]] = {}
    for key, codes in table.columns.items():
        if key in table.lists:
            continue  # its values have any number of parts
        texts = [table.vocabulary[code] for code in np.unique(codes).tolist() if code != ABSENT]
        columns[key] = [value for text in texts for value in text.split(REPEAT)]
    numbered = learn_deep_splits(columns)
    shown = significant_splits(table, [key for key in varying if key in columns])
    return {**shown, **numbered, **{key: split for key, split in shown.items() if split.optional}}


def used_splits(proposals: Iterable[Proposal], deep: Mapping[str, DeepSplit]) -> dict[str, DeepSplit]:
    """Return the deep tokens that proposals speak of, or whose keys they speak of."""
    named = {key for proposal in proposals for key in (proposal.key, *(key for key, _ in proposal.match))}
    return {key: split for key, split in deep.items() if named & {key, f"{key}.head", f"{key}.tail"}}
