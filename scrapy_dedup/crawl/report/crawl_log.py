"""What a crawl notes of itself in the store when it closes: for each site what was saved and spent, and which rules acted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from time import time
from typing import TYPE_CHECKING

import attrs

from ...rules.files import load_sites
from ...store.rows import CrawlRow

if TYPE_CHECKING:
    from ...rules.model import Rule
    from ..identity.identities import Identities
    from ..learn.learning_runs import LearningRuns
    from ..own_requests.request_budgets import StarterBudget
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.tally import Tally


@attrs.define(eq=False, repr=False, kw_only=True)
class CrawlLog:
    """Writes a row of the crawl for each of its sites."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _store: "CrawlStore"
    _tally: "Tally"
    _starter_budget: "StarterBudget"
    _seen: "Seen"
    _identities: "Identities"
    _learning_runs: "LearningRuns"
    #: Site -> ids of the rules that acted when the crawl began.
    _before: dict[str, tuple[str, ...]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._before = _acting(self._identities.book)

    def write(self, reason: str) -> None:
        """Write the rows; the crawl closes for *reason*. In a thread. Raises StoreError, RuleFileError and OSError."""
        rows = list(self._rows(reason))
        if rows:
            self._store.put(rows)

    def _rows(self, reason: str) -> Iterator[CrawlRow]:
        sites = {
            site: counts
            for site, counts in self._tally.sites.items()
            if site and (counts.pages or counts.discarded or counts.samples)
        }
        # Those in the files: what was learned last came into no use in this crawl.
        after = _acting(load_sites(self._settings.rule_directories, sites)[0])
        dropped = self._store.writer.counts.dropped if self._store.writer is not None else 0
        for site, counts in sites.items():
            yield CrawlRow(
                scope=self._settings.scope,
                site=site,
                spider=self._status.spider.name,
                job=self._seen.job,
                began=self._status.began,
                time=time(),
                reason=reason,
                pages=counts.pages,
                size=counts.size,
                seconds=counts.seconds,
                filtered=counts.discarded,
                scheduled=counts.scheduled,
                avoided=counts.avoided,
                avoided_bytes=counts.avoided_bytes,
                avoided_seconds=counts.avoided_seconds,
                confirmed=counts.confirmed,
                differing=counts.differing,
                extra=self._tally.spent[site] + self._starter_budget.spent_on(site),
                rules_before=self._before.get(site, ()),
                rules_after=after.get(site, ()),
                learning_seconds=self._learning_runs.counts.seconds,
                dropped=dropped,
                undecided=counts.undecided,
            )


def _acting(rules: "Iterable[Rule]") -> dict[str, tuple[str, ...]]:
    """Return site -> ids of its rules that act, in order."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for rule in rules:
        if rule.status.acts:
            found[rule.site].append(rule.id)
    return {site: tuple(sorted(ids)) for site, ids in found.items()}
