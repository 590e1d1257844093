"""Connections to the database of a store: transactions, rows that are streamed, and the file on disk."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine, delete, select

from .database import clear_errors, database_path, place_of
from .postgresql import claiming, take_turn

CHUNK = 10_000  # rows changed in one transaction, so that writers need not wait long
_STREAM = 1_000  # rows fetched at a time
_GONE = (-1, -1)  # the identity of a file that is not there


class Connections:
    """The connections of one process to a store. Every method raises :exc:`StoreError` when the database cannot be used."""

    def __init__(self, target: str | Path, engine: Engine, timeout: float) -> None:
        self.place = place_of(target)
        #: The file, None if the database is not a file.
        self.path = database_path(target)
        self._identity = self._file_identity()
        self._engine = engine
        self._timeout = timeout
        self._is_server = engine.dialect.name == "postgresql"
        self._looking = engine.execution_options(slow=True)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def intact(self) -> bool:
        """Return False if the file of the store was removed or replaced since it was opened."""
        return self._file_identity() == self._identity != _GONE

    def _delete(self, table: Any, *conditions: Any) -> int:
        """Delete the rows of *table* for which all *conditions* hold, in chunks. Return their number."""
        chunk = select(table.c.id).where(*conditions).limit(CHUNK)
        removed, number = 0, CHUNK
        while number == CHUNK:
            with self._transaction(slow=True) as connection:
                number = connection.execute(delete(table).where(table.c.id.in_(chunk))).rowcount
            removed += number
        return removed

    def _shrink(self) -> None:
        """Give free pages back to the file system."""
        if self.path is None:
            return
        with clear_errors(self.place), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert raw is not None
            # execute() would stop after one page, since there is no row to fetch.
            raw.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _transaction(
        self, sites: Iterable[tuple[str, str]] | None = None, *, slow: bool = False
    ) -> Iterator[Connection]:
        """Begin to write: rows of these sites (scope and site), None: any rows; *slow* is for what reads much to find them."""
        writing = self._engine.execution_options(writes=True, slow=slow)
        with clear_errors(self.place), writing.begin() as connection:
            if self._is_server:
                take_turn(connection, self._timeout, sites)
            yield connection

    @contextmanager
    def claimed(self, scope: str, sites: Iterable[str]) -> Iterator[set[str]]:
        """Give those of *sites* that no other process learns now, and keep others from learning them meanwhile.

        It is so on a server; of a file they are all given.
        """
        with ExitStack() as held:
            found = set(sites)
            if self._is_server:
                names = {f"learn/{scope}/{site}": site for site in sorted(found)}
                with clear_errors(self.place):
                    found = {names[name] for name in held.enter_context(claiming(self._engine, names))}
            yield found

    def rows(self, query: Any) -> Iterator[Any]:
        """Yield the rows of a query, some thousand of which are held at a time."""
        with clear_errors(self.place), self._looking.connect() as connection:
            yield from connection.execution_options(yield_per=_STREAM).execute(query)

    def _file_identity(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except OSError:
            return _GONE
        return found.st_dev, found.st_ino
