"""Writing to the store without holding up the crawl: a thread, and a queue before it."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

from .database import StoreError
from .postgresql import ANSWER_SECONDS
from .rows import DiscardRow, DiscardState, ObservationRow, SightingRow
from .store import Store

logger = logging.getLogger(__name__)

#: Rows that are written at a time; rows and tasks that wait at most, and the bytes that these hold.
_BATCH: Final = 500
_MOST_WAITING: Final = 10_000
_MOST_BYTES: Final = 64 << 20
#: Seconds beyond the time to close, in which a batch on its way may end.
_ENDING_SECONDS = 5.0
#: Seconds that the database itself waits for another writer; of waiting for others before a warning; between two attempts on a
#: store that fails, at most.
_LOCK_WAIT = 1.0
_LOCK_PATIENCE = 30.0
_LONGEST_PAUSE = 30.0

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


class Writer:
    """Writes rows in batches, in a thread of its own.

    :meth:`add` never waits and nothing here raises into the crawl. A row is in the store after *interval* seconds and the time
    its batch takes, so that this is what a killed process loses. While the store cannot be written, one warning tells so and
    rows wait in memory, up to a number and up to the bytes that tasks hold. Those past the bound are dropped and counted.

    *target* is what :meth:`Store.open` takes; the thread opens it, and again after a pause where it fails.
    """

    def __init__(self, target: str | Path, *, interval: float = 0.5, sketches_per_site: int = 20_000) -> None:
        self._target = target
        self._interval = interval
        self._sketches_per_site = sketches_per_site
        # What two sides use is changed by one of them only, or by calls that no lock is needed for.
        self._queue: deque[tuple[Row | Task, int]] = deque()
        self._flushes: deque[Future[bool]] = deque()
        self._wake = Event()
        self._closing: float | None = None
        #: Rows and tasks that :meth:`add` has taken, and those it has not.
        self.accepted = self._refused = 0
        self._bytes_in = self._bytes_out = 0
        #: How many of the accepted ones, the first, are in the store, or were refused by it alone; how many are out of the queue.
        self.settled = self._taken = 0
        #: Filtered requests whose rows the database has refused.
        self.refused: deque[DiscardRow] = deque()
        self._written = self._lost = self._failed = 0
        self._held: list[Row] = []  # taken from the queue, not written yet
        self._store: Store | None = None
        self._locked_since = 0.0
        #: Whether the warning that the store cannot be written was given. It and the news of the recovery come once: a full
        #: disk comes and goes.
        self.warned = self._recovered = False
        # Seconds between attempts while the store fails, else 0, and the time of the next one.
        self._pause = self._retry_at = 0.0
        self._thread = Thread(target=self._run, name="dedup-writer", daemon=True)
        self._thread.start()

    # The crawl's side

    def add(self, row: Row | Task, size: int = 0) -> bool:
        """Hand over a row, or a task that makes rows; return False if it is dropped.

        *size* is the bytes that a task holds, a page's body for instance.
        """
        waiting = len(self._queue)
        held = self._bytes_in - self._bytes_out + size
        if self._closing is not None or waiting >= _MOST_WAITING or held > _MOST_BYTES:
            self._refused += 1
            return False
        self._bytes_in += size
        self.accepted += 1
        self._queue.append((row, size))
        is_crowded = waiting * 2 > _MOST_WAITING or held * 2 > _MOST_BYTES
        if is_crowded and not self._pause and not self._wake.is_set():
            self._wake.set()
        return True

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that was handed over is written; return False if that fails or takes longer."""
        if not self._thread.is_alive():
            return False
        flush: Future[bool] = Future()
        self._flushes.append(flush)
        self._wake.set()
        wait([flush], timeout)
        return flush.done() and flush.result()

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
        return WriterCounts(self._written, self._refused + self._lost, self._failed)

    @property
    def failing(self) -> bool:
        """Whether the store cannot be written now, so that what is handed over may be lost."""
        return self._pause > 0 or self._closing is not None

    # The thread's side

    def _patience(self) -> float:
        """Return the seconds that a server may be silent: none when the time to close is over."""
        return (
            ANSWER_SECONDS if self._closing is None else min(ANSWER_SECONDS, max(0.0, self._closing - time.monotonic()))
        )

    def _run(self) -> None:
        try:
            self._write()  # which opens the store
            closing = None
            while closing is None:
                self._wake.wait(self._interval)
                self._wake.clear()
                # Asked before the queue is emptied: what was handed over before them is written.
                closing = self._closing
                flushes = [self._flushes.popleft() for _ in range(len(self._flushes))]
                error = self._write_waiting(closing, self.accepted if flushes else 0)
                for flush in flushes:
                    flush.set_result(error is None)
        except Exception:
            logger.exception("The thread that records what the crawl sees has ended")
        finally:
            self._closing = self._closing or time.monotonic()
            self._lost += len(self._held) + len(self._queue)
            self._queue.clear()
            while self._flushes:
                self._flushes.popleft().set_result(False)
            self._close_store()

    def _write_waiting(self, closing: float | None, wanted: int) -> StoreError | None:
        """Write what waits, the first *wanted* rows and tasks at least; return what hinders it.

        A store that failed is tried again after a pause, or when somebody waits. Nobody waits for what comes
        meanwhile: in a crawl that would be a batch for every few rows.
        """
        if not wanted and closing is None and time.monotonic() < self._retry_at:
            return None
        while True:
            self._take()
            number = len(self._held)
            if not number:
                self.settled = self._taken
                return None
            error = self._write()
            if error is not None:
                if closing is None or not error.locked or time.monotonic() > closing:
                    return error
            elif number < _BATCH and closing is None and self._taken >= wanted:
                return None  # what has come meanwhile makes the next batch

    def _take(self) -> None:
        """Move a batch out of the queue; run the tasks in it."""
        while self._queue and len(self._held) < _BATCH:
            item, size = self._queue.popleft()
            self._taken += 1
            try:
                self._held.extend(_rows_of(item))
            except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                self._fail("A response could not be recorded")
            self._bytes_out += size

    def _write(self) -> StoreError | None:
        """Write the held rows into the store, opened anew where its file has vanished; return what hinders it."""
        try:
            if self._store is not None and not self._store.intact():
                self._close_store()
            if self._store is None:
                self._store = Store.open(
                    self._target,
                    timeout=_LOCK_WAIT,
                    sketches_per_site=self._sketches_per_site,
                    patience=self._patience,
                )
            if self._held:
                self._add(self._store, len(self._held))
        except StoreError as error:
            self._wait_for_store(error)
            return error
        if self.warned and not self._recovered:
            self._recovered = True
            logger.info("The store %s can be written again", self._store.place)
        self._pause = self._locked_since = 0.0
        self.settled = self._taken
        return None

    def _add(self, store: Store, number: int) -> None:
        """Write the first *number* of the held rows; where the database refuses one of them, each by itself."""
        rows = self._held[:number]
        try:
            store.add(rows)
            self._written += number
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            if number > 1:
                for _ in rows:
                    self._add(store, 1)
                return
            row = rows[0]
            self._fail(f"The store refused the row of {row.page if isinstance(row, SightingRow) else row.url}")
            if isinstance(row, DiscardRow) and row.state is DiscardState.PENDING:
                self.refused.append(row)
        del self._held[:number]

    def _wait_for_store(self, error: StoreError) -> None:
        """Warn once, and set the time of the next attempt. A lock is waited for without a warning at first."""
        now = time.monotonic()
        if error.locked:
            self._locked_since = self._locked_since or now
            if now - self._locked_since < _LOCK_PATIENCE:
                return
        else:
            self._close_store()
        self._pause = min(max(2 * self._pause, 1.0), _LONGEST_PAUSE)
        self._retry_at = now + self._pause
        if not self.warned:
            self.warned = True
            logger.warning(
                "The crawl goes on, but what it sees is not recorded: %s Until it is, rules filter nothing.", error
            )

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _fail(self, message: str) -> None:
        self._failed += 1
        if self._failed == 1:
            logger.error("%s (told once, the others are counted)", message, exc_info=True)  # noqa: LOG014


def _rows_of(handed_over: Row | Task) -> Iterable[Row]:
    """Return a row, or the rows that a task makes."""
    made = handed_over if isinstance(handed_over, tuple) else handed_over()
    if made is None:
        return ()
    return (made,) if isinstance(made, (ObservationRow, DiscardRow, SightingRow)) else list(made)
