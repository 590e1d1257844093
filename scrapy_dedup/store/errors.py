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
    """Return what an error of the database says to a user; None if it is the data that is wrong."""
    cause: Any = error.orig if isinstance(error, DBAPIError) else error
    is_lost = isinstance(error, DBAPIError) and error.connection_invalidated
    on_server = hasattr(cause, "sqlstate")  # psycopg
    state: str = getattr(cause, "sqlstate", None) or ""
    kinds = (
        (DataError, ProgrammingError) if on_server else (IntegrityError, DataError, InterfaceError, ProgrammingError)
    )
    if state[:2] in _DATA_CLASSES or (not state and not is_lost and isinstance(error, kinds)):
        return None
    problem = " ".join(str(cause).split()).rstrip(".") or type(cause).__name__
    lower = problem.lower()
    if state in _LOCKED_STATES or (not on_server and ("locked" in lower or "busy" in lower)):
        return StoreError(place, problem, "Another process writes to it; try again when it has ended.", locked=True)
    is_away = on_server and (not state or state[:2] in ("08", "57"))
    remedies = _SERVER_REMEDIES if on_server else _REMEDIES
    other = _UNREACHABLE if is_away else "See the message of the database."
    return StoreError(place, problem, next((remedy for part, remedy in remedies if part in lower), other))


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
