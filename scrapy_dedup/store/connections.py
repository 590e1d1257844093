"""Connections to the database of a store: transactions, rows that are streamed, and the file on disk."""

from array import array
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, delete, exists, func, select, true

from .database import clear_errors, database_path, place_of
from .postgresql import claiming, take_turn
from .schema import IDS_IN_A_QUERY

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
        self._results: set[CursorResult[Any]] = set()
        self._writing = engine.execution_options(writes=True)
        self._looking = engine.execution_options(slow=True)

    def close(self) -> None:
        """Close all connections, also those of results that are not read to the end."""
        for result in list(self._results):
            result.close()
            result.connection.close()
        self._engine.dispose()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def intact(self) -> bool:
        """Return False if the file of the store was removed or replaced since it was opened."""
        return self._file_identity() == self._identity != _GONE

    def _delete(self, table: Any, condition: Any) -> int:
        """Delete the rows of *table* for which *condition* holds, in chunks. Return their number."""
        removed = 0
        while True:
            chunk = select(table.c.id).where(condition).limit(CHUNK)
            with self._transaction(slow=True) as connection:
                number = connection.execute(delete(table).where(table.c.id.in_(chunk))).rowcount
            removed += number
            if number < CHUNK:
                return removed

    def _delete_unused(self, table: Any, used: Any) -> None:
        """Delete the rows of *table* that no observation names in its column *used*."""
        if not self._is_server:
            self._delete(table, table.c.id.not_in(select(used).where(used.is_not(None))))
            return
        # They are looked for while others write, and once more, among later observations alone, when nobody does.
        with self._transaction() as connection:
            last = connection.scalar(select(func.max(used.table.c.id))) or 0
        later = exists().where(used.table.c.id > last, used == table.c.id)
        self._delete_found(table, ~exists().where(used == table.c.id), ~later)

    def _delete_found(self, table: Any, condition: Any, still: Any = None) -> int:
        """Look for the rows of *table* for which *condition* holds, and delete them in small steps, if *still* holds then.

        Return their number.
        """
        ids = iter(array("q", (row.id for row in self.rows(select(table.c.id).where(condition)))))
        removed = 0
        while some := list(islice(ids, IDS_IN_A_QUERY)):
            query = delete(table).where(table.c.id.in_(some), true() if still is None else still)
            with self._transaction(slow=True) as connection:
                removed += connection.execute(query).rowcount
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
        self, sites: Iterable[tuple[str, str]] | None = None, *, secure: bool = False, slow: bool = False
    ) -> Iterator[Connection]:
        """Begin to write: rows of these sites (scope and site), None: any rows; *slow* is for what reads much to find them."""
        with clear_errors(self.place), self._writing.connect().execution_options(slow=slow) as connection:
            if secure and self.path is not None:
                connection.connection.dbapi_connection.execute("PRAGMA secure_delete = ON")  # type: ignore[union-attr]
            with connection.begin():
                if self._is_server:
                    take_turn(connection, self._timeout, sites)
                yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with clear_errors(self.place), self._looking.connect() as connection:
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
        with self._reading() as connection:
            result = connection.execution_options(yield_per=_STREAM).execute(query)
            self._results.add(result)
            try:
                yield from result
            finally:
                result.close()
                self._results.discard(result)

    def _file_identity(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except OSError:
            return _GONE
        return found.st_dev, found.st_ino
