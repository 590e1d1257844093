"""Replaying the ledger: discarded requests whose key nobody stands for are scheduled after all."""

from itertools import chain, islice
from typing import TYPE_CHECKING

from ...store.rows import DiscardRow, DiscardState
from ...store.store import Store
from ..support.compatibility import run_in_thread
from ..support.cooperative import in_turns
from .seen import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..composition import CrawlComponents as Shared

_CHUNK = 500


class _Reader:
    """Reads the discards of a job; used in threads, by one at a time."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._store: Store | None = None
        self._rows: Iterator[DiscardRow] = iter(())

    def some(self) -> list[DiscardRow]:
        """Return the next rows; none at the end."""
        shared = self._shared
        if self._store is None:
            if shared.store.writer is not None:
                shared.store.writer.flush()
            self._store = Store.open(shared.settings.store, readonly=True)
            self._rows = chain.from_iterable(map(self._in_state, (DiscardState.PENDING, DiscardState.LOST)))
        return list(islice(self._rows, _CHUNK))

    def _in_state(self, state: DiscardState) -> "Iterator[DiscardRow]":
        assert self._store is not None
        shared = self._shared
        return self._store.discards(
            shared.settings.scope, spider=shared.status.spider.name, state=state, job=shared.seen.job
        )

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


async def replay(shared: "Shared", *, idle: bool = False) -> None:
    """Schedule the discarded requests of this job whose slot is free, the first of each slot.

    Some of the others wait for its outcome. When the spider is *idle* nothing is on its way: a slot whose page
    has not come is free, too. It never works for more than some milliseconds on end. Raises StoreError.
    """
    reader = _Reader(shared)
    freed: set[int] = set()
    try:
        while rows := await run_in_thread(reader.some):
            async for row in in_turns(rows):
                _replay_row(shared, row, freed, idle=idle)
    finally:
        await run_in_thread(reader.close)


async def replay_owed(shared: "Shared") -> None:
    """Schedule what an earlier crawl of the spider owes, since it had ended when its rule was refuted.

    What is a duplicate by the rules of now is discarded anew. Raises StoreError.
    """
    async for row in in_turns(await run_in_thread(_owed, shared)):
        _pay(shared, row)


def _owed(shared: "Shared") -> list[DiscardRow]:
    """Return what is owed; where the run before was killed, note first what is lost. It waits for the store."""
    if shared.store.writer is None or not shared.store.writer.flush():  # it makes the store
        return []
    killed = shared.seen.was_killed
    with Store.open(shared.settings.store, readonly=not killed) as store:
        if killed:
            store.lose_queue(shared.settings.scope, shared.status.spider.name, shared.seen.job)
        return list(store.discards(shared.settings.scope, spider=shared.status.spider.name, state=DiscardState.OWED))


def _pay(shared: "Shared", row: DiscardRow) -> None:
    request = shared.ledger.request(row)
    if request is None or row.url in shared.rescheduler.done:
        return
    # Before it is scheduled: should it be discarded once more, that is written after this.
    shared.ledger.scheduled(row, DiscardState.REPLAYED)
    if shared.seen.persistent:  # should this run of the job be killed
        shared.ledger.scheduled(row._replace(job=shared.seen.job), DiscardState.REPLAYED)
    shared.rescheduler.done.add(row.url)
    if shared.rescheduler.schedule(request, row, earlier=True):
        shared.stats.inc_value("dedup/retracted")
    else:
        shared.ledger.scheduled(row, DiscardState.OWED)


def _replay_row(shared: "Shared", row: DiscardRow, freed: set[int], *, idle: bool) -> None:
    if row.state is DiscardState.LOST and shared.seen.is_doubtful(row.url):
        return  # it had come before the kill, and Scrapy would not fetch this URL of it again either
    request = shared.ledger.request(row)
    identity = shared.identities.of(request) if request is not None else None
    if request is None or identity is None or row.url in shared.rescheduler.done:
        return
    slot = identity.slot
    if idle and not freed and slot in shared.seen and not shared.seen.is_fetched(slot):
        shared.seen.release(slot)  # what stood for it was discarded itself by other rules, say
    if slot in shared.seen:
        if slot in freed and shared.seen.wait(slot, Waiting(request, row)):
            shared.rescheduler.done.add(row.url)
        elif slot not in freed and not shared.seen.is_fetched(slot):
            shared.rescheduler.is_due = True  # should what is on its way fail, it is seen to when the spider is idle
        return
    same_key = identity.key == row.key
    if not same_key and shared.suspended.defers(row.site):
        return
    freed.add(slot)
    if shared.rescheduler.schedule(request, row):
        shared.rescheduler.done.add(row.url)
        if same_key:
            shared.stats.inc_value("dedup/released/scheduled")
        else:
            # The row names the first of the rules that had discarded it, which need not be the one that is refuted.
            retracted = any(site == row.site for site, _ in shared.suspended.found)
            shared.stats.inc_value("dedup/retracted" if retracted else "dedup/replayed")
        shared.ledger.scheduled(row, DiscardState.RELEASED if same_key else DiscardState.REPLAYED)
