"""The spool: rows on this machine's disk that wait for a store which cannot be reached.

It is a store itself, a file of the process that writes it. What a process that was killed has left is taken over by the next one
that writes to the same store from this machine.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from filelock import FileLock, Timeout
from sqlalchemy import Table, delete, func, select

from .errors import StoreError, clear_errors, place_of
from .rows import StoreRow
from .schema import signed_hash
from .spooled_rows import first_rows, kinds_of_rows
from .store import Store

logger = logging.getLogger(__name__)

#: Bytes that the rows which wait for one store take on this machine's disk at most, those of all processes together.
MOST_BYTES: Final = 512 << 20
#: Parts of that which a process writes before it looks again how much the others have written.
_PARTS: Final = 64


class Spool:
    """The files of rows that one process has, in *folder*, for the store at *target*. Its methods raise StoreError."""

    def __init__(self, folder: Path, target: str) -> None:
        # Rows of another store, in the same folder of the project, are not ours.
        self.folder = folder / f"{signed_hash(place_of(target)) & 0xFFFF_FFFF:08x}"
        #: The files, the oldest first; new rows go into the last one.
        self._files: list[_SpoolFile] = []
        self._own: _SpoolFile | None = None
        #: Rows that wait, also those that an earlier process has left; what :meth:`close` leaves is still told.
        self.rows = 0
        #: Bytes up to which our own file may grow before the others are looked at again.
        self._granted = 0
        self._told = False
        self._told_full = False

    def __bool__(self) -> bool:
        """Whether rows wait."""
        return bool(self._files)

    def take_over(self) -> None:
        """Take the files of processes that have ended; what goes wrong is a warning."""
        for path in sorted(self.folder.glob("*.sqlite"), key=_age):
            try:
                file = _SpoolFile.taken(path)
            except Exception as error:  # noqa: BLE001 (whatever it is, the other files can be read)
                place = _set_aside(path) if _is_damaged(error) else path
                logger.warning(
                    "What an earlier crawl has left to be recorded, now in %s, cannot be read: %s", place, error
                )
                continue
            if file is not None:
                self._files.insert(0, file)
        self._count()

    def add(self, rows: Sequence[StoreRow]) -> bool:
        """Write rows; return False if there is no room for them."""
        if not self._has_room():
            self._tell_full()
            return False
        if self._own is None:
            with clear_errors(str(self.folder)):
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._own = _SpoolFile.taken(self.folder / f"{token_hex(8)}.sqlite")
            assert self._own is not None
            self._files.append(self._own)
        self._own.store.add(rows)
        self._own.rows += len(rows)
        self._count()
        return True

    def _has_room(self) -> bool:
        """Whether more may wait; the files of all processes are looked at when ours has grown by a part of the limit only."""
        own = 0 if self._own is None else self._own.store.size()
        if self._own is None or own >= self._granted:
            room = MOST_BYTES - sum(_bytes_of(path) for path in self._paths())
            if room <= 0:
                return False
            self._granted = own + min(room, MOST_BYTES // _PARTS)
        return True

    def _paths(self) -> list[Path]:
        """Return the files in which rows wait, of all processes, with what SQLite has beside them."""
        return [*self.folder.glob("*.sqlite"), *self.folder.glob("*.sqlite-wal")]

    def _tell_full(self) -> None:
        if not self._told_full:
            self._told_full = True
            logger.warning(
                "No more than %d MiB may wait in %s to be recorded, of all crawls together: what comes beyond that is lost"
                " (told once, the rows are counted)",
                MOST_BYTES >> 20,
                self.folder,
            )

    def move_some(self, store: Store) -> tuple[int, int]:
        """Write some rows into *store*, the oldest first, and remove them here.

        Return their number, 0 if there are none left, and how many of them cannot be read or were refused by the store.
        A file that cannot be read is set aside.
        """
        while self._files:
            file = self._files[0]
            lost = 0
            try:
                number, refused, unreadable = file.move_some(store)
            except Exception as error:
                if isinstance(error, StoreError) and (error.place != file.store.place or not _is_damaged(error)):
                    raise
                lost = file.rows
                place = file.set_aside()
                logger.warning("What waits to be recorded, now in %s, cannot be read: %s", place, error)
            else:
                if unreadable and not self._told:
                    self._told = True
                    message = "Some rows that have waited in %s cannot be read: they are removed (told once, the others are counted)"
                    logger.warning(message, self.folder)
                if number:
                    self._count()
                    return number, refused + unreadable
                file.remove()
            self._files.remove(file)
            if file is self._own:
                self._own = None
            self._count()
            if lost:
                return lost, lost
        return 0, 0

    def _count(self) -> None:
        self.rows = sum(file.rows for file in self._files)

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
        try:
            self.rows = sum(self._size_of(table) for table, _ in kinds_of_rows(self.store))
        except BaseException:
            self.store.close()
            raise

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
        except BaseException:
            lock.release()
            raise

    def _size_of(self, table: Table) -> int:
        return int(next(self.store.rows(select(func.count()).select_from(table)))[0])

    def move_some(self, store: Store) -> tuple[int, int, int]:
        """Write a batch of rows of one kind into *store*, and remove them here.

        Return their number, how many of them were refused, and how many cannot be read.
        """
        for table, read in kinds_of_rows(self.store):
            found = first_rows(self.store, table, read)
            if found:
                readable = [row for _, row in found if row is not None]
                refused = _added(store, readable)
                with self.store._transaction() as connection:
                    connection.execute(delete(table).where(table.c.id <= found[-1][0]))
                self.rows = max(0, self.rows - len(found))
                return len(found), refused, len(found) - len(readable)
        return 0, 0, 0

    def close(self) -> None:
        """Close the file, so that another process may have it."""
        self.store.close()
        self._lock.release()

    def remove(self) -> None:
        """Remove the file: all that was in it is elsewhere."""
        self.store.close()
        with suppress(OSError):  # an empty file is no harm
            self.path.unlink(missing_ok=True)
            self.path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.release()

    def set_aside(self) -> Path:
        """Close the file and rename it, so that no process takes it over again; return its path now."""
        self.store.close()
        path = _set_aside(self.path)
        self._lock.release()
        return path


def _is_damaged(error: Exception) -> bool:
    """Whether a file will never be read; else it may be later, when a disk has room again for instance."""
    if isinstance(error, StoreError):
        return any(sign in error.problem for sign in ("not a database", "malformed", "no store", "no such"))
    return not isinstance(error, OSError)


def _set_aside(path: Path) -> Path:
    """Rename a file of rows, which cannot be read, with its parts; return its path now."""
    aside = path.with_name(f"{path.name}.unreadable")
    try:
        path.replace(aside)
        for part in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + part).replace(aside.with_name(aside.name + part))
        path.with_suffix(".lock").unlink(missing_ok=True)
    except OSError:  # a folder that cannot be written
        return aside if aside.exists() else path
    return aside


def _age(path: Path) -> float:
    """Return the negative time of its last change: of several files, the oldest is taken last and so comes first."""
    try:
        return -path.stat().st_mtime
    except OSError:  # it is gone
        return 0.0


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # another process has emptied it meanwhile
        return 0


def _added(store: Store, rows: Sequence[StoreRow]) -> int:
    """Write rows; return how many of them the store has refused by themselves."""
    try:
        store.add(rows)
    except StoreError:
        raise
    except Exception:  # noqa: BLE001 (one row is bad)
        return 1 if len(rows) == 1 else sum(_added(store, [row]) for row in rows)
    return 0


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
