"""The close of a crawl: what waits is written, what is too old forgotten, what is new learned, what was saved noted, and logged."""

import logging
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...store.database import StoreError, database_path
from ...store.rows import CrawlRow
from ...store.store import Store
from .report_file import begin_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector

    from ...store.writer import WriterCounts
    from ..items.content_fields import FieldHints
    from ..learn.learning_runs import LearningRuns
    from ..learn.live import Learning
    from ..own_requests.request_budgets import StarterBudget
    from ..seen.ledger import Ledger
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from ..support.tally import Tally
    from ..verify.comparing import PageComparer
    from ..verify.retraction import Retraction
    from ..verify.spot_check_judge import SpotCheckJudge
    from .closing_report import ClosingReport

logger = logging.getLogger(__name__)

#: Seconds to write what waits; less where the user wants the crawl to end.
_WRITING, _WRITING_HASTILY = 10.0, 3.0


@attrs.define(eq=False, repr=False, kw_only=True)
class CrawlClose:
    """Winds up a crawl."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _store: "CrawlStore"
    _seen: "Seen"
    _ledger: "Ledger"
    _judge: "SpotCheckJudge"
    _comparer: "PageComparer"
    _retraction: "Retraction"
    _learning: "Learning"
    _closing_report: "ClosingReport"
    _tally: "Tally"
    _starter_budget: "StarterBudget"
    _learning_runs: "LearningRuns"
    _field_hints: "FieldHints | None"

    async def close(self, reason: str) -> None:
        """Wind up the crawl, which closes for *reason*."""
        shutdown = reason == "shutdown"
        self._learning.cease()
        self._seen.close()
        written = False
        if self._store.writer is not None:
            await run_in_thread(self._store.writer.close, _WRITING_HASTILY if shutdown else _WRITING)
            counts = self._store.writer.counts
            self._count(counts)
            if counts.dropped:
                logger.warning(
                    "scrapy-dedup: %d of the rows that the crawl had for the store could not be written and are lost",
                    counts.dropped,
                    extra={"spider": self._status.spider},
                )
            written = counts.written > 0
        await self._settle_spot_checks(finished=reason == "finished")
        self._closing_report.count()
        for line in self._closing_report.lines():
            logger.info("scrapy-dedup: %s", line, extra={"spider": self._status.spider})
        if self._field_hints is not None:
            self._field_hints.log()
        # Of a fleet, the last worker does it for all, whoever has written.
        last = (written or self._seen.is_shared) and not shutdown and not self._seen.others_go_on
        if last:
            await self._try(self._tidy, "store", "The store could not be tidied up")
        await self._learning.finish(last=last)
        if written:
            unnoted = "What the crawl has saved could not be noted in the store"
            await self._try(lambda: self._note_crawl(reason), "crawls", unnoted)
            await run_in_thread(_close_store, self._settings.store)
            if last:
                begin_report(self._settings, self._status.spider, self._faults)

    async def _try(self, work: "Callable[[], None]", name: str, problem: str) -> None:
        """Do what needs the store, in a thread; that it is away was told before."""
        try:
            await run_in_thread(work)
        except Exception as error:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
            if isinstance(error, StoreError) and self._store.has_warned:
                self._faults.count("store")
            else:
                self._faults.report(name, problem)

    def _note_crawl(self, reason: str) -> None:
        """Write what was saved and spent on each site in the crawl, which closes for *reason*, into the store."""
        sites = {
            site: counts
            for site, counts in self._tally.sites.items()
            if site and (counts.pages or counts.discarded or counts.samples)
        }
        dropped = self._store.writer.counts.dropped if self._store.writer is not None else 0
        rows = [
            CrawlRow(
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
            for site, counts in sites.items()
        ]
        if rows:
            self._store.put(rows)

    def _count(self, counts: "WriterCounts") -> None:
        stats, ledger = self._stats, self._ledger
        stats.set_value("dedup/store/written", counts.written)
        if counts.dropped:
            stats.set_value("dedup/store/dropped", counts.dropped)
        if counts.failed:
            stats.set_value("dedup/errors/store", counts.failed)
        if ledger.written:
            stats.set_value("dedup/ledger/written", ledger.written)
        if ledger.dropped:
            stats.set_value("dedup/ledger/dropped", ledger.dropped)

    def _tidy(self) -> None:
        """Forget what is too old or too much; keep one filtered request of each URL where the job does not go on."""
        settings = self._settings
        with Store.open(settings.store) as store:
            if self._ledger.written and not self._seen.persistent:
                store.end_job(settings.scope, self._status.spider.name, self._seen.job)
            store.prune(settings.evidence_days, settings.store_max_rows)

    async def _settle_spot_checks(self, *, finished: bool) -> None:
        """Write what spot checks have shown into the store, and what is owed to the next crawl into the ledger."""
        try:
            await self._judge.settle()
            await run_in_thread(self._comparer.close)
            await run_in_thread(self._retraction.write)
            owed = await run_in_thread(lambda: self._retraction.owe(finished=finished))
        except Exception:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
            self._faults.report("monitor", "What spot checks have shown could not be written")
            return
        if owed:
            self._stats.set_value("dedup/owed", owed)


def _close_store(store: str) -> None:
    """Take away what stands beside the file of the store where a process was ended that read it."""
    path = database_path(store)
    if path is not None and path.with_name(f"{path.name}-wal").exists():
        with suppress(StoreError), Store.open(path):
            pass
