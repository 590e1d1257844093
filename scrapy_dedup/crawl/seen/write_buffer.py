"""Discards that are not in the ledger yet, which a thread writes.

What a rule has discarded can be fetched after all, in this run or a later one of the
job, because it stands in the ledger. So where the store cannot be written nothing is
discarded, and what was just discarded is fetched.
"""

from collections import deque
from typing import TYPE_CHECKING

from ...store.rows import DiscardState

if TYPE_CHECKING:
    from ..composition import CrawlComponents as Shared
    from .seen import Waiting


class Unwritten:
    """The discards of about the last second, in the order they were handed over to the thread."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        #: With each, the number of rows handed over up to and with its own.
        self._discards: deque[tuple[int, Waiting]] = deque()
        self._fetching = False

    def may_grow(self) -> bool:
        """Whether a request may be discarded now; counts those that may not."""
        if not self.fails():
            return True
        self.prevented()
        return False

    def prevented(self) -> None:
        """Count a request that is fetched because the ledger does not take it."""
        self._shared.stats.inc_value("dedup/ledger/prevented")

    def fails(self) -> bool:
        """Whether the ledger cannot be written; if so, fetch what it was to hold."""
        writer = self._shared.store.writer
        if writer is not None and not writer.failing and not self._fetching:
            return False
        if self._discards:
            self.fetch()
        return True

    def add(self, discarded: "Waiting") -> None:
        """Keep a discard whose row was handed over just now until it is written."""
        writer = self._shared.store.writer
        assert writer is not None
        self._forget_written(writer.settled)
        self._discards.append((writer.accepted, discarded))

    def wait(self) -> bool:
        """Wait until all is written, in a thread; return False if that fails."""
        writer = self._shared.store.writer
        return writer is not None and writer.flush()

    def __bool__(self) -> bool:
        """Whether some are not written yet."""
        if self._discards and self._shared.store.writer is not None:
            self._forget_written(self._shared.store.writer.settled)
        return bool(self._discards)

    def _forget_written(self, settled: int) -> None:
        discards = self._discards
        while discards and discards[0][0] <= settled:
            discards.popleft()

    def fetch(self) -> None:
        """Schedule all of them after all."""
        shared = self._shared
        discards, self._discards = self._discards, deque()
        self._fetching = True  # otherwise they would be discarded again
        try:
            for _, discarded in discards:
                shared.identities.of_url(discarded.request.url).discarded = -1
                if shared.rescheduler.schedule(discarded.request, discarded.row) and discarded.row is not None:
                    shared.ledger.scheduled(discarded.row, DiscardState.RELEASED)
        finally:
            self._fetching = False
