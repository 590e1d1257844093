"""What is done when a crawl closes: write what waits, forget what is too old, learn, sum up."""

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from ...store.database import StoreError, database_path
from ...store.store import Store
from ...store.writer import Writer
from ..support.compatibility import run_in_thread
from . import closing_report

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings
    from ..shared import Shared

logger = logging.getLogger(__name__)

#: Seconds to write what waits; less where the user wants the crawl to end.
_WRITING, _WRITING_HASTILY = 10.0, 3.0


async def close(shared: "Shared", reason: str) -> None:
    """Wind up a crawl that closes for *reason*."""
    shutdown = reason == "shutdown"
    shared.learning.cease()
    shared.seen.close()
    written = False
    if shared.writer is not None:
        await run_in_thread(shared.writer.close, _WRITING_HASTILY if shutdown else _WRITING)
        _count(shared, shared.writer)
        written = shared.writer.counts.written > 0
    await _settle_samples(shared, finished=reason == "finished")
    closing_report.count(shared)
    for line in closing_report.report(shared):
        logger.info("scrapy-dedup: %s", line, extra={"spider": shared.spider})
    if shared.field_hints is not None:
        shared.field_hints.tell()
    if written and not shutdown:
        await run_in_thread(_tidy, shared)
    await shared.learning.finish(last=written and not shutdown)
    try:
        await run_in_thread(shared.extras.write)
    except Exception:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
        shared.faults.report("probes", "What probes have shown could not be written")
    if written:
        await run_in_thread(_close_store, shared.settings)


def _count(shared: "Shared", writer: Writer) -> None:
    counts = writer.counts
    stats = shared.stats
    stats.set_value("dedup/store/written", counts.written)
    if counts.dropped:
        stats.set_value("dedup/store/dropped", counts.dropped)
    if counts.failed:
        stats.set_value("dedup/errors/store", counts.failed)
    if shared.ledger.written:
        stats.set_value("dedup/ledger/written", shared.ledger.written)
    if shared.ledger.dropped:
        stats.set_value("dedup/ledger/dropped", shared.ledger.dropped)


def _tidy(shared: "Shared") -> None:
    """Forget what is too old or too much; keep one discard of each URL where nothing goes on with the job."""
    settings: DedupSettings = shared.settings
    try:
        with Store.open(settings.store) as store:
            if shared.ledger.written and not shared.seen.persistent:
                store.end_job(settings.scope, shared.spider.name, shared.seen.job)
            store.prune(settings.evidence_days, settings.store_max_rows)
    except Exception as error:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
        if isinstance(error, StoreError) and shared.writer is not None and shared.writer.told:
            shared.faults.count("store")
        else:
            shared.faults.report("store", "The store could not be tidied up")


def _close_store(settings: "DedupSettings") -> None:
    """Take away what stands beside the file of the store where a process was ended that read it."""
    path = database_path(settings.store)
    if path is not None and path.with_name(f"{path.name}-wal").exists():
        with suppress(StoreError), Store.open(path):
            pass


async def _settle_samples(shared: "Shared", *, finished: bool) -> None:
    """Write what samples have shown into the rule files, and what is owed to the next crawl into the ledger."""
    try:
        await shared.monitor.settle()
        await run_in_thread(shared.monitor.close)
        await run_in_thread(shared.retraction.write)
        owed = await run_in_thread(lambda: shared.retraction.owe(finished=finished))
    except Exception:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
        shared.faults.report("monitor", "What samples have shown could not be written")
        return
    if owed:
        shared.stats.set_value("dedup/owed", owed)
