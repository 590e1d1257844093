"""Opening the database of a store, whose tables are made where there are none."""

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from ..files.locked import locked
from . import schema
from .errors import EMPTY, UNAMBIGUOUS, StoreError, clear_errors, is_ambiguous, place_of
from .postgresql import server_engine, take_turn

__all__ = ["StoreError", "clear_errors", "database_path", "open_engine", "place_of"]

logger = logging.getLogger(__name__)

_TAKES = "DEDUP_STORE takes a path or an SQLAlchemy URL such as postgresql+psycopg://user@host/database."
_MEMORY = ":memory:"
_ANOTHER = "Name another file or database in DEDUP_STORE."
#: The name of the row in which the version of the tables stands.
_VERSION_ROW = "schema"


def database_path(target: str | Path) -> Path | None:
    """Return the file that *target*, a path or an SQLAlchemy URL, names; None for another database."""
    if isinstance(target, Path) or "://" not in target:
        return Path(target).absolute()
    url = make_url(target)
    return Path(url.database or _MEMORY).absolute() if url.get_backend_name() == "sqlite" else None


def open_engine(
    target: str | Path, *, readonly: bool, timeout: float, patience: Callable[[], float] | None = None
) -> Engine:
    """Return an engine on *target*, with the tables made or checked. Raises :exc:`StoreError`.

    A file whose tables are of another version is set aside, unless it is opened to be read only. *patience* gives the seconds
    that a server may be silent after a quick statement.
    """
    place = place_of(target)
    try:
        if isinstance(target, str) and "://" in target and is_ambiguous(make_url(target)):
            raise StoreError(place, "has two @ before the path", UNAMBIGUOUS)
        path = database_path(target)
        if path is None:
            engine = server_engine(str(target), readonly=readonly, patience=patience)
        else:
            engine = _sqlite_engine(path, readonly, timeout)
    except NoSuchModuleError as error:
        raise StoreError(place, str(error), _TAKES) from error
    except ImportError as error:
        raise StoreError(place, f"{error}", "Install it: pip install scrapy-dedup[postgresql].") from error
    except (ArgumentError, ValueError):  # what SQLAlchemy says of it may show the password
        raise StoreError(place, "Could not parse it as an SQLAlchemy URL", _TAKES) from None
    # Nobody may hold a file open that is set aside: closing it would take away what stands beside the new one.
    with clear_errors(place), nullcontext() if path is None or readonly else locked(path):
        try:
            version = _version_of(engine, place, readonly=readonly, timeout=timeout)
        except Exception:
            engine.dispose()
            raise
        if version == str(schema.VERSION):
            return engine
        engine.dispose()
    problem = f"has tables of version {version}, this release of scrapy-dedup has {schema.VERSION}"
    if path is None:
        raise StoreError(place, problem, "Name another database in DEDUP_STORE, or drop those tables.")
    if readonly:
        raise StoreError(place, problem, "Crawl first: the crawl sets that file aside and begins a new one.")
    with clear_errors(place):
        _set_aside(path, problem, timeout)
    return open_engine(target, readonly=readonly, timeout=timeout, patience=patience)


def _version_of(engine: Engine, place: str, *, readonly: bool, timeout: float) -> str:
    """Return the version of the tables, which are made where there are none. Raises StoreError for another database."""
    with engine.connect() as connection:
        version = _version_in(connection, place)
    if version is not None:
        return version
    if readonly:
        raise StoreError(place, EMPTY, "Crawl first: the crawl records what it sees there.")
    with engine.execution_options(writes=True, slow=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            take_turn(connection, timeout, None)
        version = _version_in(connection, place)
        if version is None:  # another process may have been here meanwhile
            version = str(schema.VERSION)
            schema.metadata.create_all(connection)
            connection.execute(schema.meta.insert(), {"name": _VERSION_ROW, "value": version})
    return version


def _version_in(connection: Connection, place: str) -> str | None:
    """Return the version of the tables, None if there are none. Raises StoreError for another database."""
    found = set(inspect(connection).get_table_names())
    if not found:
        return None
    if not found >= {schema.meta.name, schema.observation.name, schema.discard.name}:
        raise StoreError(place, "is a database, but no store", _ANOTHER)
    return connection.scalar(select(schema.meta.c.value).where(schema.meta.c.name == _VERSION_ROW)) or "0"


def _set_aside(path: Path, problem: str, timeout: float) -> None:
    """Rename the file of a store whose tables are of another version, unless another process has done it meanwhile."""
    with locked(path):
        engine = _sqlite_engine(path, readonly=False, timeout=timeout)
        try:
            with engine.connect() as connection:
                version = _version_in(connection, str(path))
        finally:
            engine.dispose()
        if version in (None, str(schema.VERSION)):
            return
        names = (f"{path.name}.version-{version}{f'-{number}' if number > 1 else ''}" for number in count(1))
        aside = next(free for free in map(path.with_name, names) if not free.exists())
        path.replace(aside)
        for part in ("-wal", "-shm"):
            beside = path.with_name(path.name + part)
            if beside.exists():
                beside.replace(aside.with_name(aside.name + part))
        logger.warning("The store %s %s: it is %s now, and a new one is begun", path, problem, aside)


def _sqlite_engine(path: Path, readonly: bool, timeout: float) -> Engine:
    """Return an engine on a file, which is made if it is not there. Raises StoreError."""
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
                connection.execute("PRAGMA secure_delete = ON")
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
