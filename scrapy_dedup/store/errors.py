"""What goes wrong with the database of a store, as a user can understand it, and the name of a store without its password."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, InterfaceError, ProgrammingError


class StoreError(Exception):
    """The store cannot be used: which one, why, and what can be done."""

    def __init__(self, place: str, problem: str, remedy: str, *, locked: bool = False) -> None:
        self.place = place
        self.problem = problem
        self.remedy = remedy
        #: True if another process holds the store, so that it may work later.
        self.locked = locked
        super().__init__(f"store {place}: {problem}. {remedy}")


#: The problem of a store in which nothing is yet.
EMPTY = "is empty"

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


# The same for PostgreSQL, whose messages are in the language of the server.
_SERVER_REMEDIES = (
    ("password", "Is the password right? It stands in DEDUP_STORE, PGPASSWORD or ~/.pgpass."),
    ("does not exist", "Make that database or user on the server, or name another one in DEDUP_STORE."),
    ("ssl", "See sslmode and sslrootcert in DEDUP_STORE, or PGSSLMODE and PGSSLROOTCERT."),
    ("permission denied", "Grant the user of DEDUP_STORE the right to create and change tables there."),
    ("read-only", "Name the primary server, and a user that may write, in DEDUP_STORE."),
)
_UNREACHABLE = "Is the server up, and are host and port in DEDUP_STORE right?"
_TAKE_TURNS = "Another process writes to it; try again when it has ended."

#: States of SQL in which another process is in the way: a lock was not got in time, transactions waited for each other.
_LOCKED_STATES = ("55P03", "40P01", "40001")
#: Classes of states in which it is the data that is wrong.
_DATA_CLASSES = ("21", "22", "23")


@contextmanager
def clear_errors(place: str) -> Iterator[None]:
    """Turn the errors of database and file system into :exc:`StoreError`.

    Errors in the data that was to be written are left as they are.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        clear = _clear_error(place, error)
        if clear is None:
            raise
        raise clear from error
    except OSError as error:
        remedy = "Make its directory writable, or name another file in DEDUP_STORE."
        raise StoreError(place, f"{error.strerror or error} ({error.filename})", remedy) from error


def _clear_error(place: str, error: DBAPIError | sqlite3.Error) -> StoreError | None:
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(error, DBAPIError) and hasattr(cause, "sqlstate"):  # psycopg
        return _server_error(place, cause, lost=error.connection_invalidated)
    if isinstance(error, IntegrityError | DataError | InterfaceError | ProgrammingError):
        return None
    problem = str(cause)
    lower = problem.lower()
    remedy = next((remedy for part, remedy in _REMEDIES if part in lower), "See the message of the database.")
    return StoreError(place, problem, remedy, locked="locked" in lower or "busy" in lower)


def _server_error(place: str, cause: Any, *, lost: bool) -> StoreError | None:
    state: str | None = cause.sqlstate
    kind = type(cause).__name__
    if state is None and not lost and kind in ("DataError", "ProgrammingError"):  # found by psycopg itself
        return None
    if state is not None and state[:2] in _DATA_CLASSES:
        return None
    problem = " ".join(str(cause).split()).rstrip(".") or kind
    if state in _LOCKED_STATES:
        return StoreError(place, problem, _TAKE_TURNS, locked=True)
    lower = problem.lower()
    other = _UNREACHABLE if state is None or state[:2] in ("08", "57") else "See the message of the database."
    return StoreError(place, problem, next((found for part, found in _SERVER_REMEDIES if part in lower), other))


def place_of(target: str | Path) -> str:
    """Return the name of a store for messages, without a password."""
    if isinstance(target, Path) or "://" not in target:
        return str(target)
    try:
        url = make_url(target)
    except (ArgumentError, ValueError):  # nobody knows where in it the password stands
        return re.sub(r"://.*@", "://***@", target, flags=re.DOTALL)
    if is_ambiguous(url):  # as is what of it is the password
        return f"{url.drivername}://***"
    secret = [name for name in url.query if "password" in name.lower()]
    return url.difference_update_query(secret).render_as_string(hide_password=True)


#: What to write where :func:`is_ambiguous`.
UNAMBIGUOUS = "Write %40 for @ in a password, and %2F for /."


def is_ambiguous(url: URL) -> bool:
    """Whether there is an @ after the one that ends the password: that of a password, most likely, whose rest is taken for a host."""
    return "@" in (url.host or "") or (url.password is not None and "@" in (url.database or ""))
