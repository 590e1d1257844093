"""Opening the database of a store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from . import schema
from .errors import UNAMBIGUOUS, StoreError, clear_errors, is_ambiguous, place_of
from .migrating import OldTables, check_tables
from .postgresql import server_engine, server_url
from .sqlite import MEMORY, sqlite_engine

__all__ = ["StoreError", "clear_errors", "database_path", "leaving_old_tables", "open_engine", "place_of"]

_TAKES = "DEDUP_STORE takes a path or an SQLAlchemy URL such as postgresql+psycopg://user@host/database."

_leaves_old_tables: ContextVar[bool] = ContextVar("leaves_old_tables", default=False)


@contextmanager
def leaving_old_tables() -> Iterator[None]:
    """Open no store on a server by migrating it, where it is opened to be read: workers of an older release use it, too."""
    before = _leaves_old_tables.set(True)
    try:
        yield
    finally:
        _leaves_old_tables.reset(before)


def database_path(target: str | Path) -> Path | None:
    """Return the file that *target*, a path or an SQLAlchemy URL, names; None for another database."""
    if isinstance(target, Path) or "://" not in target:
        return Path(target).absolute()
    url = make_url(target)
    return Path(url.database or MEMORY).absolute() if url.get_backend_name() == "sqlite" else None


def open_engine(
    target: str | Path, *, readonly: bool, timeout: float, patience: Callable[[], float] | None = None
) -> Engine:
    """Return an engine on *target*, with the tables made or checked. Raises :exc:`StoreError`.

    *patience* gives the seconds that a server may be silent after a quick statement.
    """
    place = place_of(target)
    try:
        if isinstance(target, str) and "://" in target and is_ambiguous(make_url(target)):
            raise StoreError(place, "has two @ before the path", UNAMBIGUOUS)
        path = database_path(target)
        engine = _server(str(target), readonly, patience) if path is None else sqlite_engine(path, readonly, timeout)
    except NoSuchModuleError as error:
        raise StoreError(place, str(error), _TAKES) from error
    except ImportError as error:
        raise StoreError(place, f"{error}", "Install it: pip install scrapy-dedup[postgresql].") from error
    except (ArgumentError, ValueError):  # what SQLAlchemy says of it may show the password
        raise StoreError(place, "Could not parse it as an SQLAlchemy URL", _TAKES) from None
    try:
        with clear_errors(place):
            check_tables(engine, place, readonly=readonly, timeout=timeout)
    except OldTables as old:
        engine.dispose()
        if path is None and _leaves_old_tables.get():
            raise StoreError(
                place,
                f"has tables of version {old.version}, this release knows {schema.VERSION}, and what only reads does not migrate them",
                "A crawl or scrapy learn-rules of this release does; older releases cannot use the store after that.",
            ) from None
        open_engine(target, readonly=False, timeout=timeout, patience=patience).dispose()
        return open_engine(target, readonly=readonly, timeout=timeout, patience=patience)
    except (StoreError, SQLAlchemyError):
        engine.dispose()
        raise
    return engine


def _server(target: str, readonly: bool, patience: Callable[[], float] | None) -> Engine:
    url = server_url(target)
    return create_engine(target) if url is None else server_engine(url, readonly=readonly, patience=patience)
