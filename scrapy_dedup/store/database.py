"""Opening the database of a store, and what its errors mean."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, inspect, make_url, select
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    ProgrammingError,
    SQLAlchemyError,
)

from . import schema


class StoreError(Exception):
    """The store cannot be used: which one, why, and what can be done."""

    def __init__(self, place: str, problem: str, remedy: str, *, locked: bool = False) -> None:
        self.place = place
        self.problem = problem
        self.remedy = remedy
        #: True if another process holds the store, so that it may work later.
        self.locked = locked
        super().__init__(f"store {place}: {problem}. {remedy}")


class _OldTables(Exception):
    """The store was written by an older version, and opened to be read only."""


_MEMORY = ":memory:"
_FIRST_TABLES = {"observation", "page_sketch", "discard"}  # others have come since

# Part of the database's message -> what can be done about it.
_REMEDIES = (
    (
        "not a database",
        "Move that file away, or name another one in DEDUP_STORE; a new store is made by the next crawl.",
    ),
    ("malformed", "Move that file away, or name another one in DEDUP_STORE; a new store is made by the next crawl."),
    ("locked", "Another process writes to it; try again when it has ended."),
    ("busy", "Another process writes to it; try again when it has ended."),
    ("full", "Make room on that disk, or name a file on another one in DEDUP_STORE."),
    ("readonly", "Make the file and its directory writable, or name another file in DEDUP_STORE."),
    ("read-only", "Make the file and its directory writable, or name another file in DEDUP_STORE."),
    ("unable to open", "Make sure that its directory exists and that the file may be read and written."),
    ("disk i/o", "Look after that disk, or name a file on another one in DEDUP_STORE."),
)


@contextmanager
def clear_errors(place: str) -> Iterator[None]:
    """Turn the errors of database and file system into :exc:`StoreError`.

    Errors in the data that was to be written are left as they are.
    """
    try:
        yield
    except (IntegrityError, DataError, InterfaceError, ProgrammingError):
        raise
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        problem = str(cause)
        lower = problem.lower()
        remedy = next((remedy for part, remedy in _REMEDIES if part in lower), "See the message of the database.")
        raise StoreError(place, problem, remedy, locked="locked" in lower or "busy" in lower) from error
    except OSError as error:
        remedy = "Make its directory writable, or name another file in DEDUP_STORE."
        raise StoreError(place, f"{error.strerror or error} ({error.filename})", remedy) from error


def database_path(target: str | Path) -> Path | None:
    """Return the file that *target*, a path or an SQLAlchemy URL, names; None for another database."""
    if isinstance(target, Path) or "://" not in target:
        return Path(target).absolute()
    url = make_url(target)
    return Path(url.database or _MEMORY).absolute() if url.get_backend_name() == "sqlite" else None


def open_engine(target: str | Path, *, readonly: bool, timeout: float) -> Engine:
    """Return an engine on *target*, with the tables made or checked. Raises :exc:`StoreError`."""
    place = place_of(target)
    try:
        path = database_path(target)
        engine = create_engine(str(target)) if path is None else _sqlite(path, readonly, timeout)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        remedy = "DEDUP_STORE takes a path or an SQLAlchemy URL such as sqlite:////var/lib/crawl/store.sqlite."
        raise StoreError(place, str(error), remedy) from error
    try:
        with clear_errors(place):
            _check(engine, place, readonly)
    except _OldTables:
        engine.dispose()
        open_engine(target, readonly=False, timeout=timeout).dispose()
        return open_engine(target, readonly=readonly, timeout=timeout)
    except (StoreError, SQLAlchemyError):
        engine.dispose()
        raise
    return engine


def place_of(target: str | Path) -> str:
    """Return the name of a store for messages, without a password."""
    if isinstance(target, Path) or "://" not in target:
        return str(target)
    try:
        return make_url(target).render_as_string(hide_password=True)
    except ArgumentError:
        return target


def _sqlite(path: Path, readonly: bool, timeout: float) -> Engine:
    place = str(path)
    if path.name == _MEMORY:
        raise StoreError(place, "is gone when the crawl ends", "Name a file in DEDUP_STORE.")
    with clear_errors(place):
        if not readonly:
            # The mode holds for directories that are made here, not for one that is there.
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                path.touch(mode=0o600)
        elif not path.exists():
            raise StoreError(place, "does not exist", "Crawl first: the crawl records what it sees there.")
    # Whoever closes the file last takes away what stands beside it, which takes the right to write.
    may_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    uri = path.as_uri() + ("?mode=rw" if may_write or not readonly else "?mode=ro")
    if readonly and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # Readers, too, write an index of the write-ahead log beside the file, unless they are told
        # that nobody else can write.
        uri += "&immutable=1"

    def connect() -> sqlite3.Connection:
        # isolation_level None: transactions are begun below, by us.
        connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            if readonly:
                connection.execute("PRAGMA query_only = ON")
            else:
                if not path.stat().st_size:
                    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # works before there are tables
                _write_ahead(connection, timeout)
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA journal_size_limit = 16777216")
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=2)

    def begin(connection: Any) -> None:
        # A writer that begins as a reader cannot wait for its turn once another has written.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "begin", begin)
    return engine


def _write_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch to a write-ahead log, which SQLite does not wait for where others open the file, too."""
    deadline = monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > deadline:
                raise
            sleep(0.01)
        else:
            return


def _check(engine: Engine, place: str, readonly: bool) -> None:
    """Make the tables where there are none, renew those of an older version; refuse a database that is not ours or too new."""
    with engine.begin() as connection:
        version = _version(connection, place)
        if version == schema.VERSION:
            missing = set(schema.metadata.tables) - set(inspect(connection).get_table_names())
            if not missing or readonly:
                return
    if readonly:
        if version:
            raise _OldTables
        raise StoreError(place, "is empty", "Crawl first: the crawl records what it sees there.")
    with engine.execution_options(writes=True).begin() as connection:
        version = _version(connection, place)  # another process may have been here meanwhile
        if version == 1:
            connection.exec_driver_sql("ALTER TABLE observation ADD COLUMN version BIGINT")
        if version in (1, 2):
            connection.exec_driver_sql("ALTER TABLE discard ADD COLUMN job TEXT NOT NULL DEFAULT ''")
            connection.exec_driver_sql("DROP INDEX discard_by_url")
            for index in schema.discard.indexes:
                index.create(connection)
        if version in (1, 2, 3):
            connection.exec_driver_sql("ALTER TABLE observation ADD COLUMN ends BOOLEAN")
            schema.observation_without_end.create(connection)
        if version in (1, 2, 3, 4):
            connection.exec_driver_sql("ALTER TABLE observation ADD COLUMN password BOOLEAN")
        schema.metadata.create_all(connection)  # those that are missing
        number = str(schema.VERSION)
        if version:
            connection.execute(schema.meta.update().where(schema.meta.c.name == "schema").values(value=number))
        else:
            connection.execute(schema.meta.insert(), {"name": "schema", "value": number})


def _version(connection: Connection, place: str) -> int:
    """Return the version of the tables, 0 for none. Raises :exc:`StoreError` for another database, or a newer one."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return 0
    version = None
    if schema.meta.name in tables:
        version = connection.scalar(select(schema.meta.c.value).where(schema.meta.c.name == "schema"))
    if version is None or not version.isdigit() or not _FIRST_TABLES <= tables:
        raise StoreError(place, "is a database, but no store", "Name another file in DEDUP_STORE.")
    if int(version) > schema.VERSION:
        raise StoreError(
            place,
            f"was written by a newer version (tables {version}, this version knows {schema.VERSION})",
            "Upgrade scrapy-dedup, or name another file in DEDUP_STORE.",
        )
    return int(version)
