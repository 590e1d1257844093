"""Replaying the ledger: discarded requests whose key nobody stands for are scheduled after all."""

from itertools import islice
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import run_in_thread

from ..store.rows import DiscardRow, DiscardState
from ..store.store import Store
from .seen import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .shared import Shared

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
            if shared.writer is not None:
                shared.writer.flush()
            self._store = Store.open(shared.settings.store, readonly=True)
            self._rows = self._store.discards(shared.settings.scope, spider=shared.spider.name)
        job = shared.seen.job
        while rows := list(islice(self._rows, _CHUNK)):
            if of_job := [row for row in rows if shared.ledger.job_of(row) == job]:
                return of_job
        return []

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


async def replay(shared: "Shared") -> None:
    """Schedule the discarded requests of this job whose slot is free, the first of each slot.

    Some of the others wait for its outcome. Raises StoreError.
    """
    reader = _Reader(shared)
    freed: set[int] = set()
    try:
        while rows := await run_in_thread(reader.some):
            for row in rows:
                _replay_row(shared, row, freed)
    finally:
        await run_in_thread(reader.close)


def _replay_row(shared: "Shared", row: DiscardRow, freed: set[int]) -> None:
    request = shared.ledger.request(row)
    identity = shared.identities.of(request) if request is not None else None
    if request is None or identity is None or row.url in shared.replayed:
        return
    slot = identity.slot
    if slot in shared.seen:
        if slot in freed and shared.seen.wait(slot, Waiting(request, row)):
            shared.replayed.add(row.url)
        return
    freed.add(slot)
    shared.replayed.add(row.url)
    if shared.crawl(request):
        same_key = identity.key == row.key
        shared.stats.inc_value("dedup/released/scheduled" if same_key else "dedup/replayed")
        shared.ledger.scheduled(row, DiscardState.RELEASED if same_key else DiscardState.REPLAYED)
