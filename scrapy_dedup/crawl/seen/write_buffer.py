"""Filtered requests whose rows of the ledger are not written yet: a thread writes them.

What a rule has filtered can be fetched after all, in this run or a later one of the job, because it is in the ledger. So
where the store cannot be written nothing is filtered, and what was just filtered is fetched.
"""

from collections import deque
from typing import TYPE_CHECKING

import attrs

from ...store.rows import DiscardState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.statscollectors import StatsCollector

    from ...store.rows import DiscardRow
    from ...store.writer import Writer
    from ..identity.identities import Identities
    from ..support.crawl_store import CrawlStore
    from .ledger import Ledger
    from .rescheduling import Rescheduler
    from .seen import Waiting


@attrs.define(eq=False, repr=False)
class WriteBuffer:
    """The filtered requests of about the last second, in the order in which they were handed over to the thread."""

    _store: "CrawlStore"
    _stats: "StatsCollector"
    _identities: "Identities"
    _ledger: "Ledger"
    _rescheduler: "Rescheduler"
    #: With each, the number of rows handed over up to and with its own.
    _requests: "deque[tuple[int, Waiting]]" = attrs.field(factory=deque, init=False)
    #: Rows that the database has refused, by their identity in memory.
    _refused: "dict[int, DiscardRow]" = attrs.field(factory=dict, init=False)
    _fetching: bool = attrs.field(default=False, init=False)

    def accepts(self) -> bool:
        """Whether a request may be filtered now; count those that may not."""
        if not self.fails():
            return True
        self.count_prevented()
        return False

    def count_prevented(self) -> None:
        """Count a request that is fetched because the ledger does not take it."""
        self._stats.inc_value("dedup/ledger/prevented")

    def fails(self) -> bool:
        """Whether the ledger cannot be written; if so, fetch what it was to hold."""
        writer = self._store.writer
        if writer is not None and not writer.failing and not self._fetching:
            return False
        if self._requests:
            self.fetch_all()
        return True

    def add(self, filtered: "Waiting") -> None:
        """Keep a filtered request whose row was handed over just now until that is written."""
        writer = self._store.writer
        assert writer is not None
        self._forget_written(writer)
        self._requests.append((writer.accepted, filtered))

    def __bool__(self) -> bool:
        """Whether some are not written yet."""
        if self._requests and self._store.writer is not None:
            self._forget_written(self._store.writer)
        return bool(self._requests)

    def _forget_written(self, writer: "Writer") -> None:
        """Forget what is written by now; what the database has refused is fetched."""
        requests, settled, unwritten = self._requests, writer.settled, []
        while writer.refused:
            row = writer.refused.popleft()
            self._refused[id(row)] = row
        while requests and requests[0][0] <= settled:
            _, filtered = requests.popleft()
            if self._refused.pop(id(filtered.row), None) is not None:
                unwritten.append(filtered)
        if unwritten:
            self._fetch(unwritten)

    def fetch_all(self) -> None:
        """Schedule all of them after all."""
        requests, self._requests = self._requests, deque()
        self._refused.clear()
        self._fetch([filtered for _, filtered in requests])

    def _fetch(self, requests: "Iterable[Waiting]") -> None:
        self._fetching = True  # otherwise they would be filtered again
        try:
            for filtered in requests:
                self._identities.of_url(filtered.request.url).discarded = -1
                if self._rescheduler.schedule(filtered.request, filtered.row) and filtered.row is not None:
                    self._ledger.scheduled(filtered.row, DiscardState.RELEASED)
        finally:
            self._fetching = False
