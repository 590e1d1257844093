"""Replay of the ledger: filtered requests whose key nobody stands for are scheduled after all."""

from itertools import chain, islice
from typing import TYPE_CHECKING

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...store.rows import DiscardRow, DiscardState
from ...store.store import Store
from ..support.cooperative import in_turns
from .seen import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from .ledger import Ledger
    from .rescheduling import Rescheduler
    from .seen import Seen

_CHUNK = 500


@attrs.define(eq=False, repr=False, kw_only=True)
class LedgerReplay:
    """Reads filtered requests from the ledger and schedules those that are needed."""

    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _identities: "Identities"
    _seen: "Seen"
    _ledger: "Ledger"
    _rescheduler: "Rescheduler"
    _suspended: "SuspendedRules"

    async def replay(self, *, idle: bool = False) -> None:
        """Schedule the filtered requests of this job whose slot is free, the first of each slot.

        Some of the others wait for its outcome. When the spider is *idle* nothing is on its way: a slot whose page
        has not come is free, too. It works in turns with the rest of the crawl. Raises StoreError.
        """
        reader = _ChunkReader(self._store, self._status.spider.name, self._seen.job)
        freed: set[int] = set()
        try:
            while rows := await run_in_thread(reader.some):
                async for row in in_turns(rows):
                    self._replay_row(row, freed, idle=idle)
        finally:
            await run_in_thread(reader.close)

    async def replay_owed(self) -> None:
        """Schedule what an earlier crawl of the spider owes, since it had ended when its rule was refuted.

        What is a duplicate by the rules of now is filtered anew. Raises StoreError.
        """
        async for row in in_turns(await run_in_thread(self._owed)):
            self._pay(row)

    def _owed(self) -> list[DiscardRow]:
        """Return what is owed; where the run before was killed, note first what is lost. It waits for the store."""
        if not self._store.flush():  # it makes the store
            return []
        killed, scope, spider = self._seen.was_killed, self._store.scope, self._status.spider.name
        with Store.open(self._store.path, readonly=not killed) as store:
            if killed:
                store.lose_queue(scope, spider, self._seen.job)
            return list(store.discards(scope, spider=spider, state=DiscardState.OWED))

    def _pay(self, row: DiscardRow) -> None:
        request = self._ledger.request(row)
        if request is None or row.url in self._rescheduler.done:
            return
        # Before it is scheduled: should it be filtered once more, that is written after this.
        self._ledger.scheduled(row, DiscardState.REPLAYED)
        if self._seen.persistent:  # should this run of the job be killed
            self._ledger.scheduled(row._replace(job=self._seen.job), DiscardState.REPLAYED)
        self._rescheduler.done.add(row.url)
        if self._rescheduler.schedule(request, row, earlier=True):
            self._stats.inc_value("dedup/retracted")
        else:
            self._ledger.scheduled(row, DiscardState.OWED)

    def _replay_row(self, row: DiscardRow, freed: set[int], *, idle: bool) -> None:
        seen, rescheduler = self._seen, self._rescheduler
        if row.state is DiscardState.LOST and seen.is_doubtful(row.url):
            return  # it had come before the kill, and Scrapy would not fetch this URL of it again either
        request = self._ledger.request(row)
        identity = self._identities.of(request) if request is not None else None
        if request is None or identity is None or row.url in rescheduler.done:
            return
        slot = identity.slot
        if idle and not freed and slot in seen and not seen.is_fetched(slot):
            seen.release(slot)  # what stood for it was filtered itself by other rules, say
        if slot in seen:
            if slot in freed:  # until its page has come, which may be an odd response
                seen.wait(slot, Waiting(request, row))
            elif not seen.is_fetched(slot):
                rescheduler.is_due = True  # should what is on its way fail, it is seen to when the spider is idle
            return
        same_key = identity.key == row.key
        if not same_key and self._suspended.defers(row.site):
            return
        freed.add(slot)
        # A worker that was killed may have had it from the queue, and its row in memory: the filter of scrapy-redis knows it then.
        if rescheduler.schedule(request, row, is_lost=idle and seen.is_shared):
            if seen.is_shared and not idle and slot not in seen:
                rescheduler.is_due = True  # it was stopped: when nothing is on its way it is lost
                return
            rescheduler.done.add(row.url)
            if same_key:
                self._stats.inc_value("dedup/released/scheduled")
            else:
                # The row names the first of the rules that had filtered it, which need not be the one that is refuted.
                retracted = any(site == row.site for site, _ in self._suspended.found)
                self._stats.inc_value("dedup/retracted" if retracted else "dedup/replayed")
            self._ledger.scheduled(row, DiscardState.RELEASED if same_key else DiscardState.REPLAYED)


class _ChunkReader:
    """Reads the filtered requests of a job; used in threads, by one at a time."""

    def __init__(self, store: "CrawlStore", spider: str, job: str) -> None:
        self._crawl_store = store
        self._spider = spider
        self._job = job
        self._store: Store | None = None
        self._rows: Iterator[DiscardRow] = iter(())

    def some(self) -> list[DiscardRow]:
        """Return the next rows; none at the end."""
        if self._store is None:
            self._store = self._crawl_store.read()
            self._rows = chain.from_iterable(map(self._in_state, (DiscardState.PENDING, DiscardState.LOST)))
        return list(islice(self._rows, _CHUNK))

    def _in_state(self, state: DiscardState) -> "Iterator[DiscardRow]":
        assert self._store is not None
        return self._store.discards(self._crawl_store.scope, spider=self._spider, state=state, job=self._job)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
