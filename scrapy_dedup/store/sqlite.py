"""SQLite: the file that a store is, opened to be read or written by several processes."""

import os
import sqlite3
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Engine, QueuePool, create_engine, event

from .errors import StoreError, clear_errors

MEMORY = ":memory:"


def sqlite_engine(path: Path, readonly: bool, timeout: float) -> Engine:
    """Return an engine on a file, which is made if it is not there. Raises StoreError."""
    place = str(path)
    if path.name == MEMORY:
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
