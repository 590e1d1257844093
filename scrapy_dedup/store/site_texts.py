"""Files of rules and masks whose texts are in the store: ``DEDUP_DIR = "store:"``.

Each process shows them in a folder of its own, for the time it runs. Each change is a new row, so that earlier texts are there, too.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Final
from weakref import finalize

from sqlalchemy import delete, func, select

from ..files.errors import RuleWriteError
from ..files.locked import locked_file, replace
from ..files.mirrored import STORED, mirror
from .database import StoreError, database_path
from .errors import EMPTY
from .postgresql import holding
from .schema import site_text
from .store import Store

#: Texts of one file that are kept, the latest ones.
MOST_VERSIONS: Final = 100
#: Seconds that another process may hold the lock of a file, and that a server is left alone when it was away.
_LOCK_SECONDS: Final = 60
_PAUSE: Final = 5.0

_folders: dict[str, Path] = {}
_making = Lock()


def stored_folder(target: str, scope: str = "") -> Path:
    """Return the folder in which this process sees the files of the store at *target*; it goes with the process."""
    with _making:
        folder = _folders.get(target)
        if folder is None:
            folder = _folders[target] = Path(mkdtemp(prefix="dedup-store-")).resolve()
            mirror(folder, StoredTexts(target, folder))
    if not scope:
        return folder
    (folder / scope).mkdir(exist_ok=True)
    return folder / scope


def named_directory(value: str, target: str) -> Path:
    """Return the directory that an argument names: a path, or ``store:`` and a scope."""
    return stored_folder(target, value[len(STORED) :]) if value.startswith(STORED) else Path(value)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


class StoredTexts:
    """The texts of the files in one folder, which it shows; made once in a process for each store."""

    def __init__(self, target: str, folder: Path) -> None:
        self._target = target
        self._folder = folder
        #: The last row that was seen.
        self._last = 0
        self._away_until = 0.0
        self._lock = Lock()
        finalize(self, _remove, folder, os.getpid())

    def refresh(self) -> None:
        """Bring all files up to date. Raises OSError where the store cannot be read."""
        with self._lock:
            if time.monotonic() < self._away_until:
                return
            try:
                self._refresh()
            except StoreError as error:
                if error.problem == EMPTY:
                    return
                self._away_until = time.monotonic() + _PAUSE
                raise OSError(str(error)) from error

    def _refresh(self) -> None:
        path = database_path(self._target)
        if path is not None and not path.exists():
            return
        t = site_text.c
        with Store.open(self._target, readonly=True) as store:
            rows = list(store.rows(select(t.id, t.folder, t.name, t.text).where(t.id > self._last).order_by(t.id)))
        latest = {(row.folder, row.name): row.text for row in rows}
        for (folder, name), text in latest.items():
            place = self._folder / folder / name
            if text is None:
                place.unlink(missing_ok=True)
            else:
                place.parent.mkdir(exist_ok=True)
                replace(place, text)
        if rows:
            self._last = rows[-1].id

    @contextmanager
    def locked(self, path: Path) -> Iterator[None]:
        """Hold the lock of a file in the folder, among all processes that use the store. Raises RuleWriteError."""
        folder, name = self._names(path)
        try:
            own = database_path(self._target)
            with Store.open(self._target) as store:
                lock = (
                    locked_file(own.with_name(f"{own.name}:{folder}:{name}"))
                    if own
                    else holding(store._engine, f"{folder}/{name}", _LOCK_SECONDS)
                )
                with lock:
                    self.refresh()
                    yield
        except StoreError as error:
            raise self._unwritten(path, error) from error

    def keep(self, path: Path, text: str) -> None:
        """Write a new text of a file. Raises RuleWriteError."""
        folder, name = self._names(path)
        t = site_text.c
        its = t.folder == folder, t.name == name
        try:
            with Store.open(self._target) as store, store._transaction() as connection:
                version = (connection.scalar(select(func.max(t.version)).where(*its)) or 0) + 1
                row = {"folder": folder, "name": name, "version": version, "time": time.time(), "text": text}
                connection.execute(site_text.insert(), row)
                connection.execute(delete(site_text).where(*its, t.version <= version - MOST_VERSIONS))
        except StoreError as error:
            raise self._unwritten(path, error) from error

    def _names(self, path: Path) -> tuple[str, str]:
        folder = path.parent.relative_to(self._folder)
        return "" if folder == Path() else str(folder), path.name

    def _unwritten(self, path: Path, error: StoreError) -> RuleWriteError:
        name = STORED + "/".join(filter(None, self._names(path)))
        return RuleWriteError(Path(name), f"cannot be written: {error.problem}", error.remedy)
