"""Candidate parameters: those that rather make no difference, by what was seen, but may not be ignored yet.

What the judge lets act is left out of the URLs before. Of each other parameter it says how likely no page is lost by
dropping it, together with the others: where that is likelier than not, requests that would be duplicates by it are worth
postponing (``DEDUP_POSTPONE``). Nothing is discarded by a candidate.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from ...rules import Rule, RuleBook, Status
from ...urls import values_of
from ..config import current
from ..data.frame import Frame, Level
from ..data.grouping import varying
from ..data.judgement import Sample
from ..data.table import Table, encode
from ..evidence.judge import SHARES
from ..evidence.value_kinds import kind_of_values
from ..proposals.coverage import keys_meet

__all__ = ["candidate_parameters"]

MOST = 24
"""Parameters of a site that are looked at, those of most URLs first."""
MOST_URLS = 50_000
"""URLs that are looked at, the last ones: a crawl that has more has learned what it can."""


def candidate_parameters(sample: Sample, book: RuleBook, before: Iterable[Rule] = ()) -> tuple[str, ...]:
    """Return the keys of query parameters that probably make no difference, beside what *book* drops already.

    Those of rules of *before* that are switched off or refuted are left out. O(URLs x parameters).
    """
    forbidden = [rule for rule in before if rule.status in (Status.OFF, Status.SUSPENDED)]
    table = _of_keys(sample, book)
    frame = Frame(table, np.arange(len(table)))
    used = {key: int(np.count_nonzero(codes)) for key, codes in frame.columns.items() if key.startswith("q.")}
    some = sorted(used, key=lambda key: (-used[key], key))[:MOST]
    levels = {key: Level.DROPPED for key in some if not _is_forbidden(key, forbidden)}
    likely = {key: _right(frame, key, {key: Level.DROPPED}) for key in levels}
    levels = {key: level for key, level in levels.items() if likely[key] > 1 - current().most_doubt}
    while levels:
        together = {key: _right(frame, key, levels) for key in levels}
        worst = min(together, key=lambda key: (together[key], key))
        if together[worst] > 1 - current().most_doubt:
            break
        del levels[worst]
    return tuple(sorted(levels))


def _of_keys(sample: Sample, book: RuleBook) -> Table:
    """Return the table of the canonical keys of a sample's URLs."""
    chosen = range(max(0, len(sample.urls) - MOST_URLS), len(sample.urls))
    keys = [book.canonical_key(sample.urls[i]) for i in chosen]
    views = (values_of(key, groups=sample.groups) for key in keys)
    return replace(encode(keys, views, [sample.content[i] for i in chosen], sample.lone), judge=sample.judge)


def _is_forbidden(key: str, rules: Iterable[Rule]) -> bool:
    return any(keys_meet(key, other) for rule in rules for other in rule.ops)


def _right(frame: Frame, key: str, levels: Mapping[str, Level]) -> float:
    """Return how likely dropping a key loses hardly any page, where *levels* are dropped."""
    judge = frame.table.judge
    groups = frame.groups(levels)
    differ = varying(groups, frame.columns[key])[groups.size > 1]
    prior = judge.prior(key, kind_of_values(key, frame.columns[key], frame.table.vocabulary).prior)
    posterior = judge.posterior(frame.witnesses(groups, prior, key).part(differ))
    return float(posterior.shares[SHARES < current().noticed].sum())
