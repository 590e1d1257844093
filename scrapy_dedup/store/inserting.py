"""Writing many rows of a table at a time."""

import json
from collections.abc import Callable, Collection, Sequence
from itertools import chain, islice
from sqlite3 import sqlite_version_info
from typing import Any, Final

from sqlalchemy import JSON, Connection, Float, Table, Text

_MOST_VALUES: Final = 32_766 if sqlite_version_info >= (3, 32) else 999
"""In one statement; what SQLite takes."""


def insert_rows(
    connection: Connection, table: Table, rows: Collection[Sequence[Any]], same: Sequence[str] | None = None
) -> None:
    """Write *rows*, each with the values of the table's columns in their order, but for the id that the database gives.

    A row that has the columns *same* in common with one that is there takes its place, and the last one of several that of the
    others; if these are none, a row that is there already stays.
    """
    if not rows:
        return
    # Not connection.execute(), which looks at each value of each row several times: the crawl pays for it. And many
    # rows to a statement: with each, SQLite lets go of the interpreter's lock and takes it again, for which the
    # writing thread and the crawl would have to change places for every row.
    dialect = connection.dialect
    columns = [column for column in table.columns if column is not table.autoincrement_column]
    names = [column.name for column in columns]
    quoted = ", ".join(f'"{name}"' for name in names)
    end = ""
    if same is not None:
        new = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in same)
        end = f" ON CONFLICT ({', '.join(same)}) DO UPDATE SET {new}" if same else " ON CONFLICT DO NOTHING"
    if same:
        places = [names.index(name) for name in same]
        rows = {tuple(row[place] for place in places): row for row in rows}.values()
    stored = [_stored(column.type, dialect) for column in columns]
    values = [
        each if store is None else [value if value is None else store(value) for value in each]
        for store, each in zip(stored, zip(*rows, strict=True), strict=True)
    ]
    if dialect.name == "postgresql":
        # An array for each column, however many rows there are. Binary: as text, the elements of an array are written by Python.
        kinds = [column.type.compile(dialect).partition(" COLLATE ")[0] for column in columns]
        arrays = ", ".join(f"%b::{'TEXT' if kind == 'JSON' else kind}[]" for kind in kinds)
        chosen = ", ".join(f'"{name}"::{kind}' for name, kind in zip(names, kinds, strict=True))
        given = f"SELECT {chosen} FROM unnest({arrays}) AS given ({quoted})"  # noqa: S608 (names of our own)
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({quoted}) {given}{end}", tuple(map(list, values)))
        return
    form = f"({', '.join('?' * len(columns))})"
    made = zip(*values, strict=True)
    while some := list(islice(made, _MOST_VALUES // len(columns))):
        given = f"VALUES {', '.join([form] * len(some))}"
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({quoted}) {given}{end}", tuple(chain.from_iterable(some))
        )


def _stored(kind: Any, dialect: Any) -> Callable[[Any], Any] | None:
    """Return what makes of a value that which is stored; None where it is the value."""
    if isinstance(kind, JSON):
        return json.dumps
    if isinstance(kind, Float):  # an array is of numbers of one kind
        return float
    if isinstance(kind, Text):
        return None
    processor: Callable[[Any], Any] | None = kind.dialect_impl(dialect).bind_processor(dialect)
    return processor
