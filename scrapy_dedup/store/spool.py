"""The spool: rows on this machine's disk that wait for a store which cannot be reached.

It is a store itself, a file of the process that writes it. What a process that was killed has left is taken over by the next one
that writes to the same store from this machine.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from filelock import FileLock, Timeout
from sqlalchemy import Table, delete, select

from ..content.fingerprints import ContentKind, Fingerprints
from ..content.sketch import Sketch
from .errors import StoreError, clear_errors, place_of
from .rows import CheckRow, CrawlRow, DiscardRow, DiscardState, ObservationRow, SightingRow, StoreRow
from .schema import alias_sighting, crawl, discard, observation, page_sketch, page_version, rule_check, signed_hash
from .store import Store

logger = logging.getLogger(__name__)

#: Bytes that the spool of one process takes at most, and rows that are written back at a time.
MOST_BYTES: Final = 512 << 20
BATCH: Final = 1_000


class Spool:
    """The files of rows that one process has, in *folder*, for the store at *target*. Its methods raise StoreError."""

    def __init__(self, folder: Path, target: str) -> None:
        # Rows of another store, in the same folder of the project, are not ours.
        self.folder = folder / f"{signed_hash(place_of(target)) & 0xFFFF_FFFF:08x}"
        #: The files, the oldest first; new rows go into the last one.
        self._files: list[_SpoolFile] = []
        self._own: _SpoolFile | None = None

    def __bool__(self) -> bool:
        """Whether rows wait."""
        return bool(self._files)

    def take_over(self) -> None:
        """Take the files of processes that have ended; what goes wrong is a warning."""
        try:
            for path in sorted(self.folder.glob("*.sqlite"), key=_age):
                file = _SpoolFile.taken(path)
                if file is not None:
                    self._files.insert(0, file)
        except (OSError, StoreError) as error:
            logger.warning("What an earlier crawl has left to be recorded cannot be read: %s", error)

    def add(self, rows: Sequence[StoreRow]) -> bool:
        """Write rows; return False if there is no room for them."""
        if self._own is None:
            with clear_errors(str(self.folder)):
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._own = _SpoolFile.taken(self.folder / f"{token_hex(8)}.sqlite")
            assert self._own is not None
            self._files.append(self._own)
        if self._own.store.size() > MOST_BYTES:
            return False
        self._own.store.add(rows)
        return True

    def move_some(self, store: Store) -> tuple[int, int]:
        """Write some rows into *store*, the oldest first, and remove them here.

        Return their number, 0 if there are none left, and how many of them the store has refused by themselves.
        """
        while self._files:
            file = self._files[0]
            number, refused = file.move_some(store)
            if number:
                return number, refused
            self._files.remove(file)
            if file is self._own:
                self._own = None
            file.remove()
        return 0, 0

    def close(self) -> None:
        """Close the files; what is in them waits for the next process."""
        for file in self._files:
            file.close()
        self._files, self._own = [], None


class _SpoolFile:
    """One file, held by a lock as long as its process lives."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock
        self.store = Store.open(path, sketches_per_site=1 << 40)

    @classmethod
    def taken(cls, path: Path) -> "_SpoolFile | None":
        """Open a file, or make it; None if another process has it."""
        lock = FileLock(path.with_suffix(".lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        try:
            return cls(path, lock)
        except StoreError:
            lock.release()
            raise

    def move_some(self, store: Store) -> tuple[int, int]:
        """Write a batch of rows of one kind into *store*, and remove them here; return their number, and how many were refused."""
        for table, rows in _kinds(self.store):
            found = list(rows)
            if found:
                refused = _added(store, [row for _, row in found])
                with self.store._transaction() as connection:
                    connection.execute(delete(table).where(table.c.id <= found[-1][0]))
                return len(found), refused
        return 0, 0

    def close(self) -> None:
        """Close the file, so that another process may have it."""
        self.store.close()
        self._lock.release()

    def remove(self) -> None:
        """Remove the file: all that was in it is elsewhere."""
        self.store.close()
        self.path.unlink(missing_ok=True)
        self.path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.release()


def _age(path: Path) -> float:
    """Return the negative time of its last change: of several files, the oldest is taken last and so comes first."""
    try:
        return -path.stat().st_mtime
    except OSError:  # it is gone
        return 0.0


def _added(store: Store, rows: Sequence[StoreRow]) -> int:
    """Write rows; return how many of them the store has refused by themselves."""
    try:
        store.add(rows)
    except StoreError:
        raise
    except Exception:  # noqa: BLE001 (one row is bad)
        return 1 if len(rows) == 1 else sum(_added(store, [row]) for row in rows)
    return 0


def _kinds(store: Store) -> Iterator[tuple[Table, Iterator[tuple[int, StoreRow]]]]:
    """Yield each table with its first rows and their ids."""
    yield observation, _observations(store)
    others: tuple[tuple[Table, Any], ...] = (
        (discard, DiscardRow),
        (alias_sighting, SightingRow),
        (rule_check, CheckRow),
        (crawl, CrawlRow),
    )
    for table, kind in others:
        yield table, _rows(store, table, kind)


def _observations(store: Store) -> Iterator[tuple[int, ObservationRow]]:
    """Yield (id, row) as they came."""
    sources = observation.outerjoin(page_sketch, page_sketch.c.id == observation.c.sketch)
    sources = sources.outerjoin(page_version, page_version.c.id == observation.c.version)
    query = select(observation, page_sketch.c.data.label("packed"), page_version.c.data.label("texts"))
    for row in store.rows(query.select_from(sources).order_by(observation.c.id).limit(BATCH)):
        prints = None
        if row.text is not None:
            sketch = None if row.packed is None else Sketch.from_bytes(row.packed)
            prints = Fingerprints(ContentKind.OTHER, row.text, row.bag, row.digest, row.words, sketch)
        given = {name: getattr(row, name) for name in ObservationRow._fields if hasattr(row, name)}
        given |= {"fingerprints": prints, "version": row.texts, "hops": row.hops or ()}
        yield row.id, ObservationRow(**given)


def _rows(store: Store, table: Table, kind: Any) -> Iterator[tuple[int, StoreRow]]:
    for row in store.rows(select(table).order_by(table.c.id).limit(BATCH)):
        given = {name: getattr(row, name) for name in kind._fields if name != "id"}
        if kind is DiscardRow:
            given["state"] = DiscardState(given["state"])
        yield row.id, kind(**given)


def put_or_spool(target: str, rows: Sequence[StoreRow], folder: Path) -> None:
    """Write rows into the store at *target*; where it cannot be reached, into the spool in *folder*. Raises StoreError."""
    try:
        with Store.open(target) as store:
            store.add(rows)
    except StoreError:
        spool = Spool(folder, target)
        try:
            if not spool.add(rows):
                raise
        finally:
            spool.close()
