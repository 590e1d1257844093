"""The rows in a file of the spool, as they are read back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, select, true

from ..content.fingerprints import ContentKind, Fingerprints
from ..content.sketch import Sketch
from .errors import StoreError
from .rows import CheckRow, CrawlRow, DiscardRow, DiscardState, ObservationRow, SightingRow, StoreRow
from .schema import alias_sighting, crawl, discard, observation, page_sketch, page_version, rule_check
from .store import Store

#: Rows that are written back at a time.
BATCH: Final = 1_000

#: Reads the first rows, with their ids, for which a condition holds.
_Read = Callable[[ColumnElement[bool]], Iterator[tuple[int, StoreRow]]]


def first_rows(store: Store, table: Table, read: _Read) -> Sequence[tuple[int, StoreRow | None]]:
    """Return the first rows of a table with their ids; None for a row that cannot be read."""
    with suppress(_Unreadable):
        return _read_all(read, true())
    ids = [row.id for row in store.rows(select(table.c.id).order_by(table.c.id).limit(BATCH))]
    found: list[tuple[int, StoreRow | None]] = []
    for number in ids:
        try:
            found += _read_all(read, table.c.id == number)
        except _Unreadable:
            found.append((number, None))
    return found


class _Unreadable(Exception):
    """A row was written by another version, or is damaged."""


def _read_all(read: _Read, condition: ColumnElement[bool]) -> list[tuple[int, StoreRow]]:
    try:
        return list(read(condition))
    except StoreError:
        raise
    except Exception as error:
        raise _Unreadable from error


def kinds_of_rows(store: Store) -> Iterator[tuple[Table, _Read]]:
    """Yield each table with what reads its rows."""
    yield observation, partial(_observations, store)
    others: tuple[tuple[Table, Any], ...] = (
        (discard, DiscardRow),
        (alias_sighting, SightingRow),
        (rule_check, CheckRow),
        (crawl, CrawlRow),
    )
    for table, kind in others:
        yield table, partial(_rows, store, table, kind)


def _observations(store: Store, condition: ColumnElement[bool]) -> Iterator[tuple[int, ObservationRow]]:
    """Yield (id, row) as they came."""
    sources = observation.outerjoin(page_sketch, page_sketch.c.id == observation.c.sketch)
    sources = sources.outerjoin(page_version, page_version.c.id == observation.c.version)
    query = select(observation, page_sketch.c.data.label("packed"), page_version.c.data.label("texts"))
    for row in store.rows(query.select_from(sources).where(condition).order_by(observation.c.id).limit(BATCH)):
        prints = None
        if row.text is not None:
            sketch = None if row.packed is None else Sketch.from_bytes(row.packed)
            prints = Fingerprints(ContentKind.OTHER, row.text, row.bag, row.digest, row.words, sketch)
        given = {name: getattr(row, name) for name in ObservationRow._fields if hasattr(row, name)}
        given |= {"fingerprints": prints, "version": row.texts, "hops": row.hops or ()}
        yield row.id, ObservationRow(**given)


def _rows(store: Store, table: Table, kind: Any, condition: ColumnElement[bool]) -> Iterator[tuple[int, StoreRow]]:
    for row in store.rows(select(table).where(condition).order_by(table.c.id).limit(BATCH)):
        given = {name: getattr(row, name) for name in kind._fields if name != "id"}
        if kind is DiscardRow:
            given["state"] = DiscardState(given["state"])
        yield row.id, kind(**given)
