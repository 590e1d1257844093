"""What a crawl hands over to the thread that writes, and what became of it."""

from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Event
from typing import NamedTuple, TypeVar

from .rows import DiscardRow, ObservationRow, SightingRow

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
    #: Rows that the store refused or that cannot be read back from disk, and tasks that raised.
    failed: int
    #: Rows and tasks that wait.
    waiting: int
    #: Rows that wait on disk, also of earlier crawls, for a store that cannot be reached: a later crawl writes them.
    spooled: int = 0


class Flush:
    """Somebody waits for all rows to be written."""

    def __init__(self) -> None:
        self.ended = Event()
        self.written = False

    def end(self, *, written: bool) -> None:
        self.written = written
        self.ended.set()


def rows_of(handed_over: Row | Task) -> Iterable[Row]:
    """Return a row, or the rows that a task makes."""
    made = handed_over if isinstance(handed_over, tuple) else handed_over()
    if made is None:
        return ()
    return (made,) if isinstance(made, (ObservationRow, DiscardRow, SightingRow)) else list(made)


def all_of(queue: SimpleQueue[_T]) -> Iterator[_T]:
    """Yield what is in a queue until it is empty, and take it out."""
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return
