"""Writing to the store without holding up the crawl: a thread, and a queue before it."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple, TypeVar

from .access import StoreAccess
from .database import StoreError
from .postgresql import ANSWER_SECONDS
from .rows import DiscardRow, DiscardState, ObservationRow, SightingRow
from .store import Store

logger = logging.getLogger(__name__)

#: Seconds beyond the time to close, in which a batch on its way may end.
_ENDING_SECONDS = 5.0

_T = TypeVar("_T")

Row = ObservationRow | DiscardRow | SightingRow
#: Work that makes rows; it runs in the thread.
Task = Callable[[], Row | Iterable[Row] | None]


class WriterCounts(NamedTuple):
    """What became of the rows."""

    #: Rows that are in the store.
    written: int
    #: Rows that are not, since the queue was full or the store could not be written.
    dropped: int
    #: Rows that the store refused, and tasks that raised.
    failed: int
    #: Rows and tasks that wait.
    waiting: int


class _Flush:
    """Somebody waits for all rows to be written."""

    def __init__(self) -> None:
        self.ended = Event()
        self.written = False

    def end(self, *, written: bool) -> None:
        self.written = written
        self.ended.set()


def all_of(queue: SimpleQueue[_T]) -> Iterator[_T]:
    """Yield what is in a queue until it is empty, and take it out."""
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


class Writer:
    """Writes rows in batches, in a thread of its own.

    :meth:`add` never waits and nothing here raises into the crawl. A row is in the store after *interval* seconds and the time
    its batch takes, so that this is what a killed process loses. While the store cannot be written, one warning tells so and
    rows wait in memory, up to *max_waiting* of them or *max_bytes* of what tasks hold. Those past the bound are dropped and counted.

    *target* is what :meth:`Store.open` takes; the thread opens it.
    """

    def __init__(
        self,
        target: str | Path,
        *,
        batch: int = 500,
        interval: float = 0.5,
        max_waiting: int = 10_000,
        max_bytes: int = 64 << 20,
        sketches_per_site: int = 20_000,
    ) -> None:
        self._batch = batch
        self._interval = interval
        self._max_waiting = max_waiting
        self._max_bytes = max_bytes
        self._queue: SimpleQueue[tuple[Row | Task, int]] = SimpleQueue()
        self._flushes: SimpleQueue[_Flush] = SimpleQueue()
        self._wake = Event()
        self._closing: float | None = None
        # Each number is changed by one side only, so that no lock is needed.
        self._refused = self._bytes_in = self._accepted = 0  # by add()
        self._bytes_out = 0  # this one and the following by the thread
        self._written = 0
        self._lost = self._failed = 0
        self._taken = 0  # rows and tasks out of the queue
        self._settled = 0
        self.refused: SimpleQueue[DiscardRow] = SimpleQueue()  # filtered requests whose rows the database has refused
        self._held: list[Row] = []  # taken from the queue, not written yet
        self._access = StoreAccess(target, sketches_per_site, self._patience)
        self._thread = Thread(target=self._run, name="dedup-writer", daemon=True)
        self._thread.start()

    # The crawl's side

    def add(self, row: Row | Task, size: int = 0) -> bool:
        """Hand over a row, or a task that makes rows; return False if it is dropped.

        *size* is the bytes that a task holds, a page's body for instance.
        """
        waiting = self._queue.qsize()
        held = self._bytes_in - self._bytes_out + size
        if self._closing is not None or waiting >= self._max_waiting or held > self._max_bytes:
            self._refused += 1
            return False
        self._bytes_in += size
        self._accepted += 1
        self._queue.put((row, size))
        is_crowded = waiting * 2 > self._max_waiting or held * 2 > self._max_bytes
        if is_crowded and not self._access.pause and not self._wake.is_set():
            self._wake.set()
        return True

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that was handed over is written; return False if that fails or takes longer."""
        if not self._thread.is_alive():
            return False
        flush = _Flush()
        self._flushes.put(flush)
        self._wake.set()
        return flush.ended.wait(timeout) and flush.written

    def close(self, timeout: float = 10.0) -> bool:
        """Write the waiting rows, for *timeout* seconds at most, and end the thread.

        Return False if rows were dropped, now or before. It waits: call it in a thread where an event loop runs.
        """
        if self._closing is None:
            self._closing = time.monotonic() + timeout
        self._wake.set()
        self._thread.join(timeout + _ENDING_SECONDS)
        return not self._thread.is_alive() and not self.counts.dropped

    @property
    def counts(self) -> WriterCounts:
        """Return what became of the rows so far."""
        waiting = self._queue.qsize() + len(self._held)
        return WriterCounts(self._written, self._refused + self._lost, self._failed, waiting)

    @property
    def failing(self) -> bool:
        """Whether the store cannot be written now, so that what is handed over may be lost."""
        return self._access.pause > 0 or self._closing is not None

    @property
    def told(self) -> bool:
        """Whether the warning that the store cannot be written was given."""
        return self._access.warned

    @property
    def accepted(self) -> int:
        """Rows and tasks that :meth:`add` has taken."""
        return self._accepted

    @property
    def settled(self) -> int:
        """How many of those, the first ones, are in the store, or were refused by it alone."""
        return self._settled

    # The thread's side

    def _patience(self) -> float:
        """Return the seconds that a server may be silent: none when the time to close is over."""
        return (
            ANSWER_SECONDS if self._closing is None else min(ANSWER_SECONDS, max(0.0, self._closing - time.monotonic()))
        )

    def _run(self) -> None:
        try:
            self._open()
            while True:
                self._wake.wait(self._interval)
                self._wake.clear()
                # Asked before the queue is emptied: what was handed over before them is written.
                closing = self._closing
                flushes = list(all_of(self._flushes))
                error = self._write_waiting(closing, self._accepted if flushes else 0)
                for flush in flushes:
                    flush.end(written=error is None)
                if closing is not None:
                    return
        except Exception:
            logger.exception("The thread that records what the crawl sees has ended")
        finally:
            if self._closing is None:
                self._closing = time.monotonic()
            self._lose_the_rest()
            self._access.close()

    def _write_waiting(self, closing: float | None, wanted: int) -> StoreError | None:
        """Write what waits, the first *wanted* rows and tasks at least; return what hinders it.

        A store that failed is tried again after a pause, or when somebody waits. Nobody waits for what comes
        meanwhile: in a crawl that would be a batch for every few rows.
        """
        waited_for = wanted > 0 or closing is not None
        if not waited_for and time.monotonic() < self._access.retry_at:
            return None
        while True:
            self._take()
            if not self._held:
                self._settled = self._taken
                return None
            full = len(self._held) >= self._batch
            error = self._write()
            if error is not None:
                self._access.failed(error)
                if closing is None or not error.locked or time.monotonic() > closing:
                    return error
            elif not full and closing is None and self._taken >= wanted:
                return None  # what has come meanwhile makes the next batch

    def _take(self) -> None:
        """Move a batch out of the queue; run the tasks in it."""
        items = all_of(self._queue)
        while len(self._held) < self._batch and (found := next(items, None)) is not None:
            item, size = found
            self._taken += 1
            try:
                self._held.extend(_rows_of(item))
            except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                self._fail("A response could not be recorded")
            self._bytes_out += size

    def _write(self) -> StoreError | None:
        """Write the held rows; return what hinders it. Rows that the database refuses by themselves are counted."""
        try:
            store = self._access.store()
            try:
                store.add(self._held)
                self._written += len(self._held)
                self._held = []
            except StoreError:
                raise
            except Exception:  # noqa: BLE001 (one row is bad: find it)
                while self._held:
                    self._write_one(store, self._held[0])
                    del self._held[0]
        except StoreError as error:
            return error
        self._access.succeeded()
        self._settled = self._taken
        return None

    def _write_one(self, store: Store, row: Row) -> None:
        try:
            store.add([row])
            self._written += 1
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._fail(f"The store refused the row of {row.page if isinstance(row, SightingRow) else row.url}")
            if isinstance(row, DiscardRow) and row.state is DiscardState.PENDING:
                self.refused.put(row)

    def _open(self) -> None:
        try:
            self._access.store()
        except StoreError as error:
            self._access.failed(error)

    def _fail(self, message: str) -> None:
        self._failed += 1
        if self._failed == 1:
            logger.error("%s (told once, the others are counted)", message, exc_info=True)  # noqa: LOG014

    def _lose_the_rest(self) -> None:
        self._lost += len(self._held) + sum(1 for _ in all_of(self._queue))
        self._held = []
        for flush in all_of(self._flushes):
            flush.end(written=False)


def _rows_of(handed_over: Row | Task) -> Iterable[Row]:
    """Return a row, or the rows that a task makes."""
    made = handed_over if isinstance(handed_over, tuple) else handed_over()
    if made is None:
        return ()
    return (made,) if isinstance(made, (ObservationRow, DiscardRow, SightingRow)) else list(made)
