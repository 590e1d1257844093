"""The close of a crawl: what waits is written, what is too old forgotten, what is new learned, and the report logged."""

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...store.database import StoreError, database_path
from ...store.store import Store

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ...store.writer import WriterCounts
    from ..items.content_fields import FieldHints
    from ..learn.live import Learning
    from ..seen.ledger import Ledger
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from ..verify.comparing import PageComparer
    from ..verify.retraction import Retraction
    from ..verify.spot_check_judge import SpotCheckJudge
    from .closing_report import ClosingReport
    from .crawl_log import CrawlLog
    from .report_file import ReportFile

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
    _crawl_log: "CrawlLog"
    _report_file: "ReportFile"
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
            await run_in_thread(self._tidy)
        await self._learning.finish(last=last)
        if written:
            await self._note_crawl(reason)
        if written:
            await run_in_thread(_close_store, self._settings.store)
            if last:
                self._report_file.begin()

    async def _note_crawl(self, reason: str) -> None:
        try:
            await run_in_thread(self._crawl_log.write, reason)
        except Exception as error:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
            if isinstance(error, StoreError) and self._store.has_warned:
                self._faults.count("store")
            else:
                self._faults.report("crawls", "What the crawl has saved could not be noted in the store")

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
        try:
            with Store.open(settings.store) as store:
                if self._ledger.written and not self._seen.persistent:
                    store.end_job(settings.scope, self._status.spider.name, self._seen.job)
                store.prune(settings.evidence_days, settings.store_max_rows)
        except Exception as error:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
            if isinstance(error, StoreError) and self._store.has_warned:
                self._faults.count("store")
            else:
                self._faults.report("store", "The store could not be tidied up")

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
