"""What a crawl notes of itself in the store when it closes: for each site what was saved and spent."""

from collections.abc import Iterator
from time import time
from typing import TYPE_CHECKING

import attrs

from ...store.rows import CrawlRow

if TYPE_CHECKING:
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
    _learning_runs: "LearningRuns"

    def write(self, reason: str) -> None:
        """Write the rows; the crawl closes for *reason*. In a thread. Raises StoreError."""
        rows = list(self._rows(reason))
        if rows:
            self._store.put(rows)

    def _rows(self, reason: str) -> Iterator[CrawlRow]:
        sites = {
            site: counts
            for site, counts in self._tally.sites.items()
            if site and (counts.pages or counts.discarded or counts.samples)
        }
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
                learning_seconds=self._learning_runs.counts.seconds,
                dropped=dropped,
                undecided=counts.undecided,
            )
