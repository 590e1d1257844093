"""Candidate rules: operations that are more likely right than not, but not sure enough to act.

What the judge lets act is left out of the URLs before. Of each other parameter it says how likely no page is lost by
dropping it, together with the others; and of what acts in some sections of the site, how likely it is right in others, too.
Where that is likelier than not, requests that would be duplicates by it are worth
postponing (``DEDUP_POSTPONE``). Nothing is filtered by a candidate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...rules import Ignore, IgnoreValue, Rule, RuleBook, Status
from ...urls import values_of
from ..config import current
from ..data.frame import Frame, Level
from ..data.grouping import varying
from ..data.judgement import Deep, SiteUrls, book_of, judged
from ..data.url_table import Table, encode
from ..evidence.value_kinds import kind_of_values
from ..proposals.combining import rules_of
from ..proposals.coverage import keys_meet
from ..proposals.proposal import Proposal
from .divisions import without_sections
from .strata import narrowed

MOST_PARAMETERS = 24
"""Parameters of a site that are looked at, those of most URLs first."""
MOST_URLS = 50_000
"""URLs that are looked at, the last ones: a crawl that has more has learned what it can."""


def candidate_rules(
    sample: SiteUrls,
    table: Table,
    deep: Deep,
    book: RuleBook,
    *,
    acting: Sequence[Proposal],
    before: Sequence[Rule] = (),
) -> tuple[Rule, ...]:
    """Return the candidate rules of a site, beside those of *book*, which *acting* proposals are of.

    What rules of *before* change that are switched off or refuted is left out. *table* is that of *sample* with the tokens *deep*.
    """
    forbidden = [rule for rule in before if rule.status in (Status.OFF, Status.SUSPENDED)]
    keys = _likely_parameters(sample, book, forbidden)
    wider = [one for one in _elsewhere(acting, sample, table, deep) if not _is_forbidden(one.key, forbidden)]
    made = [Rule(sample.site, {}, dict.fromkeys(keys, Ignore()))] if keys else []
    return tuple(replace(rule, status=Status.CANDIDATE) for rule in (*made, *rules_of(sample.site, wider)))


def _elsewhere(acting: Sequence[Proposal], sample: SiteUrls, table: Table, deep: Deep) -> list[Proposal]:
    """Return proposals that act in some sections, for all sections in which they are likely."""
    wide = dict.fromkeys(
        replace(one, match=match)
        for one in acting
        if not (one.constant or one.joint) and isinstance(one.operation, Ignore | IgnoreValue)
        if (match := without_sections(one.match)) != one.match
    )
    if not wide:
        return []
    both = [*acting, *(one for one in wide if one not in acting)]
    judgement = judged(book_of(rules_of(sample.site, both), sample, deep), sample)
    likely = narrowed(both, table, judgement, deep, accepts=lambda posterior: posterior.is_likely)
    return [one for one in likely if one not in acting]


def _likely_parameters(sample: SiteUrls, book: RuleBook, forbidden: Sequence[Rule]) -> tuple[str, ...]:
    """Return the keys of query parameters that probably make no difference, beside what *book* drops already.

    Those of *forbidden* rules are left out. O(URLs x parameters).
    """
    table = _of_keys(sample, book)
    frame = Frame(table, np.arange(len(table)))
    used = {key: int(np.count_nonzero(codes)) for key, codes in frame.columns.items() if key.startswith("q.")}
    some = sorted(used, key=lambda key: (-used[key], key))[:MOST_PARAMETERS]
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


def _of_keys(sample: SiteUrls, book: RuleBook) -> Table:
    """Return the table of the canonical keys of a sample's URLs."""
    chosen = range(max(0, len(sample.urls) - MOST_URLS), len(sample.urls))
    keys = [book.canonical_key(sample.urls[i]) for i in chosen]
    views = (values_of(key, groups=sample.site_groups) for key in keys)
    return replace(encode(keys, views, [sample.content[i] for i in chosen], sample.lone), judge=sample.judge)


def _is_forbidden(key: str, rules: Iterable[Rule]) -> bool:
    return any(keys_meet(key, other) for rule in rules for other in rule.ops)


def _right(frame: Frame, key: str, levels: Mapping[str, Level]) -> float:
    """Return how likely dropping a key loses hardly any page, where *levels* are dropped."""
    judge = frame.table.judge
    groups = frame.groups(levels)
    differ = varying(groups, frame.columns[key])[groups.size > 1]
    prior = judge.prior(key, kind_of_values(key, frame.columns[key], frame.table.vocabulary).prior)
    return judge.posterior(frame.witnesses(groups, prior, key).part(differ)).right
