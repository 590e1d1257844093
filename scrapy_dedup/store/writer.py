"""Writing to the store without holding up the crawl: a thread, and a queue before it."""

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple

from .database import StoreError
from .rows import DiscardRow, ObservationRow
from .store import Store

logger = logging.getLogger(__name__)

_LOCK_WAIT = 1.0  # seconds that the database itself waits for another writer
_LOCK_PATIENCE = 30.0  # seconds of waiting for other writers before it is told
_LONGEST_PAUSE = 30.0  # seconds between two attempts on a store that fails

Row = ObservationRow | DiscardRow
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


class _Barrier:
    """Stands in the queue behind the rows that a flush waits for."""

    def __init__(self) -> None:
        self.reached = Event()
        self.written = False

    def pass_by(self, written: bool) -> None:
        self.written = written
        self.reached.set()


class Writer:
    """Writes rows in batches, in a thread of its own.

    :meth:`add` never waits and nothing here raises into the crawl. A row is in
    the store after *interval* seconds and the time its batch takes, so that this
    is what a killed process loses. While the store cannot be written, one warning
    tells so and rows wait, up to *max_waiting* of them or *max_bytes* of what
    tasks hold; those past the bound are dropped and counted.

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
        self._target = target
        self._batch = batch
        self._interval = interval
        self._max_waiting = max_waiting
        self._max_bytes = max_bytes
        self._sketches_per_site = sketches_per_site
        self._queue: SimpleQueue[tuple[Row | Task | _Barrier, int]] = SimpleQueue()
        self._wake = Event()
        self._closing: float | None = None
        # Each number is changed by one side only, so that no lock is needed.
        self._refused = 0  # by add()
        self._bytes_in = 0  # by add()
        self._bytes_out = 0  # this one and the following by the thread
        self._written = 0
        self._lost = 0
        self._failed = 0
        self._held: list[Row] = []  # taken from the queue, not written yet
        self._barriers: list[_Barrier] = []  # behind the held rows
        self._store: Store | None = None
        self._retry_at = 0.0
        self._pause = 0.0
        self._locked_since = 0.0
        self._warned = False
        self._thread = Thread(target=self._run, name="dedup-writer", daemon=True)
        self._thread.start()

    # The crawl's side

    def add(self, row: Row | Task, size: int = 0) -> bool:
        """Hand over a row, or a task that makes rows; return False if it is dropped.

        *size* is the bytes that a task holds, a page's body for instance.
        """
        waiting = self._bytes_in - self._bytes_out
        if self._closing is not None or self._queue.qsize() >= self._max_waiting or waiting + size > self._max_bytes:
            self._refused += 1
            return False
        if size:
            self._bytes_in += size
            if (waiting + size) * 2 > self._max_bytes:
                self._wake.set()
        self._queue.put((row, size))
        return True

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that was handed over is written; return False if that fails or takes longer."""
        barrier = _Barrier()
        self._queue.put((barrier, 0))
        self._retry_at = 0.0
        self._wake.set()
        return barrier.reached.wait(timeout) and barrier.written

    def close(self, timeout: float = 10.0) -> bool:
        """Write what is left, for *timeout* seconds at most, and end the thread.

        Return False if not all could be written. It waits: call it in a thread
        where an event loop runs.
        """
        if self._closing is None:
            self._closing = time.monotonic() + timeout
        self._wake.set()
        self._thread.join(timeout + 1)
        return not self._thread.is_alive() and not self._lost

    @property
    def counts(self) -> WriterCounts:
        """Return what became of the rows so far."""
        waiting = self._queue.qsize() + len(self._held)
        return WriterCounts(self._written, self._refused + self._lost, self._failed, waiting)

    # The thread's side

    def _run(self) -> None:
        try:
            self._open()
            while True:
                self._wake.wait(self._interval)
                self._wake.clear()
                closing = self._closing  # asked before the queue is emptied: what came before it is written
                self._write_waiting(closing)
                if closing is not None:
                    return
        except Exception:
            logger.exception("The thread that records what the crawl sees has ended")
        finally:
            if self._closing is None:
                self._closing = time.monotonic()
            self._lose_the_rest()
            if self._store is not None:
                self._store.close()

    def _write_waiting(self, closing: float | None) -> None:
        """Write what waits. While the store fails, try again after a pause only, or once more when closing."""
        while closing is not None or time.monotonic() >= self._retry_at:
            if not self._held and not self._barriers:
                self._take()
            if not self._held and not self._barriers:
                return
            error = self._write(self._held) if self._held else None
            if error is None:
                self._held = []
            for barrier in self._barriers:
                barrier.pass_by(error is None)
            self._barriers = []
            if error is not None:
                self._troubled(error)
                if closing is not None and (not error.locked or time.monotonic() > closing):
                    return

    def _take(self) -> None:
        """Move a batch out of the queue, up to a barrier at most; run the tasks in it."""
        while len(self._held) < self._batch:
            try:
                item, size = self._queue.get_nowait()
            except Empty:
                return
            if isinstance(item, _Barrier):
                self._barriers.append(item)
                return
            if isinstance(item, tuple):
                self._held.append(item)
            else:
                self._held.extend(self._made_by(item))
                self._bytes_out += size

    def _made_by(self, task: Task) -> Iterable[Row]:
        try:
            made = task()
            return () if made is None else (made,) if isinstance(made, (ObservationRow, DiscardRow)) else list(made)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._fail("A response could not be recorded")
            return ()

    def _write(self, rows: list[Row]) -> StoreError | None:
        """Write rows; return what hinders it. Rows that the database refuses by themselves are counted."""
        try:
            store = self._open_store()
            try:
                store.add(rows)
                self._written += len(rows)
            except StoreError:
                raise
            except Exception:  # noqa: BLE001 (one row is bad: find it)
                for row in rows:
                    self._write_one(store, row)
        except StoreError as error:
            return error
        if self._warned:
            self._warned = False
            logger.info("The store %s can be written again", store.place)
        self._pause = self._locked_since = 0.0
        return None

    def _write_one(self, store: Store, row: Row) -> None:
        try:
            store.add([row])
            self._written += 1
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._fail(f"The store refused the row of {row.url}")

    def _open(self) -> None:
        try:
            self._open_store()
        except StoreError as error:
            self._troubled(error)

    def _open_store(self) -> Store:
        """Return the store, opened anew where its file has vanished."""
        if self._store is not None and not self._store.intact():
            self._store.close()
            self._store = None
        if self._store is None:
            self._store = Store.open(self._target, timeout=_LOCK_WAIT, sketches_per_site=self._sketches_per_site)
        return self._store

    def _troubled(self, error: StoreError) -> None:
        """Tell the trouble once, and say when to try again."""
        now = time.monotonic()
        if error.locked:
            self._locked_since = self._locked_since or now
            if now - self._locked_since < _LOCK_PATIENCE:
                return
        elif self._store is not None:
            self._store.close()
            self._store = None
        self._pause = min(max(2 * self._pause, 1.0), _LONGEST_PAUSE)
        self._retry_at = now + self._pause
        if not self._warned:
            self._warned = True
            logger.warning("The crawl goes on, but what it sees is not recorded: %s", error)

    def _fail(self, message: str) -> None:
        self._failed += 1
        if self._failed == 1:
            logger.error("%s (told once, the others are counted)", message, exc_info=True)  # noqa: LOG014

    def _lose_the_rest(self) -> None:
        self._lost += len(self._held)
        self._held = []
        while True:
            try:
                item, _ = self._queue.get_nowait()
            except Empty:
                break
            if isinstance(item, _Barrier):
                item.pass_by(False)
            else:
                self._lost += 1
        for barrier in self._barriers:
            barrier.pass_by(False)
