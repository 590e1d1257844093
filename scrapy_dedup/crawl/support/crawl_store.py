"""The store of a crawl: rows go to the thread that writes, and what was handed over to it can be read."""

from typing import TYPE_CHECKING

from ...store.store import Store
from ...store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...store.rows import StoreRow
    from ...store.writer import Row, Task


class CrawlStore:
    """The store, written by a thread as long as the spider is open."""

    def __init__(self, path: str, scope: str, *, sketches_per_site: int) -> None:
        self.path = path
        #: What is written under, so that crawls with other scopes do not see it.
        self.scope = scope
        self._sketches_per_site = sketches_per_site
        #: The thread; None before the spider is open, and where no thread can be started.
        self.writer: Writer | None = None

    def open(self) -> None:
        """Start the thread. Raises RuntimeError where no further one can be started."""
        self.writer = Writer(self.path, sketches_per_site=self._sketches_per_site)

    def add(self, row: "Row | Task", size: int = 0) -> bool:
        """Hand over a row, which holds *size* bytes until it is written; return False if it is dropped."""
        return self.writer is not None and self.writer.add(row, size)

    def put(self, rows: "Sequence[StoreRow]") -> None:
        """Write rows at once; it waits. Raises StoreError."""
        with Store.open(self.path) as store:
            store.add(rows)

    def flush(self) -> bool:
        """Wait until all is written, in a thread; return False if that fails."""
        return self.writer is not None and self.writer.flush()

    def read(self) -> Store:
        """Return the store with all that was handed over, to be read; it waits. Raises StoreError."""
        self.flush()
        return Store.open(self.path, readonly=True)

    @property
    def has_warned(self) -> bool:
        """Whether there was a warning that the store cannot be used."""
        return self.writer is not None and self.writer.warned
