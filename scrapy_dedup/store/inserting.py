"""Writing many rows of a table at a time."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from sqlite3 import sqlite_version_info
from typing import Any, Final, NamedTuple

from sqlalchemy import JSON, Connection, Float, Insert, Table, Text
from sqlalchemy.dialects import sqlite

_MOST_VALUES: Final = 32_766 if sqlite_version_info >= (3, 32) else 999
"""In one statement; what SQLite takes."""


class OnConflict(NamedTuple):
    """What is done with a row that is there already: its columns *update* get the new values; if there are none, nothing."""

    #: The columns by which it is the same row, where there is something to update.
    keys: tuple[str, ...] = ()
    update: tuple[str, ...] = ()


def insert_rows(
    connection: Connection,
    table: Table,
    names: tuple[str, ...],
    rows: Sequence[Sequence[Any]],
    conflict: OnConflict | None = None,
) -> None:
    """Write *rows*, each with a value for each of the columns *names*, which are in the order of the table.

    No two of them are in *conflict* with each other. Raises ValueError if the order is another one.
    """
    if connection.dialect.name == "postgresql":
        _insert_columns(connection, table, names, rows, conflict)
        return
    # Not connection.execute(), which looks at each value of each row several times: the crawl pays for it. And many
    # rows to a statement: with each, SQLite lets go of the interpreter's lock and takes it again, for which the
    # writing thread and the crawl would have to change places for every row.
    form = _form(table, names, conflict)
    width = len(names)
    most = _MOST_VALUES // width
    for start in range(0, len(rows), most):
        some = rows[start : start + most]
        values = list(chain.from_iterable(some))
        for at, stored in form.stored:
            values[at::width] = [value if value is None else stored(value) for value in values[at::width]]
        statement = form.beginning + ",".join([form.row] * len(some)) + form.end
        connection.exec_driver_sql(statement, tuple(values))


def _insert_columns(
    connection: Connection,
    table: Table,
    names: tuple[str, ...],
    rows: Sequence[Sequence[Any]],
    conflict: OnConflict | None,
) -> None:
    """Write rows into PostgreSQL: one statement, and in it one array for each column, however many rows there are."""
    columns = [table.c[name] for name in names]
    compiled = [column.type.compile(connection.dialect).partition(" COLLATE ")[0] for column in columns]
    kinds = ["TEXT" if isinstance(column.type, JSON) else kind for column, kind in zip(columns, compiled, strict=True)]
    quoted = [connection.dialect.identifier_preparer.quote(name) for name in names]
    chosen = [f"{name}::{kind}" for name, kind in zip(quoted, compiled, strict=True)]
    # Binary: as text, the elements of an array are written by Python.
    arrays = ", ".join(f"%b::{kind}[]" for kind in kinds)
    statement = f"INSERT INTO {table.name} ({', '.join(quoted)}) SELECT {', '.join(chosen)}"
    statement += f" FROM unnest({arrays}) AS given ({', '.join(quoted)})"
    if conflict is not None:
        keys = f"({', '.join(conflict.keys)})" if conflict.keys else ""
        new = ", ".join(
            f"{name} = excluded.{name}" for name in map(connection.dialect.identifier_preparer.quote, conflict.update)
        )
        statement += f" ON CONFLICT {keys} DO " + (f"UPDATE SET {new}" if new else "NOTHING")
    values = [list(each) for each in zip(*rows, strict=True)]
    for at, column in enumerate(columns):
        stored = _stored(column.type, connection.dialect)
        if stored is not None:
            values[at] = [value if value is None else stored(value) for value in values[at]]
    connection.exec_driver_sql(statement, tuple(values))


def _stored(kind: Any, dialect: Any) -> Callable[[Any], Any] | None:
    if isinstance(kind, JSON):
        return json.dumps
    if isinstance(kind, Float):  # an array is of numbers of one kind
        return float
    if isinstance(kind, Text):
        return None
    processor: Callable[[Any], Any] | None = kind.dialect_impl(dialect).bind_processor(dialect)
    return processor


class _Statement(NamedTuple):
    """The insert statement of a table in SQLite."""

    #: It as far as VALUES.
    beginning: str
    #: The place of one row's values in it.
    row: str
    #: What follows these.
    end: str
    #: Numbers of the columns whose values are stored in another form, with what gives that.
    stored: tuple[tuple[int, Callable[[Any], Any]], ...]


@lru_cache
def _form(table: Table, names: tuple[str, ...], conflict: OnConflict | None) -> _Statement:
    dialect = sqlite.dialect()
    if conflict is not None and not conflict.update:  # not ON CONFLICT, which is slower
        insert: Insert = table.insert().prefix_with("OR IGNORE")
    else:
        insert = _insert(sqlite.insert(table), conflict)
    compiled = insert.compile(dialect=dialect, column_keys=list(names))
    if names != tuple(compiled.positiontup or ()):
        raise ValueError(f"the columns of {table.name} are in another order: {compiled.positiontup}")
    beginning, values, rest = str(compiled).partition(" VALUES ")
    row, end = rest[: rest.index(")") + 1], rest[rest.index(")") + 1 :]
    stored = []
    for at, name in enumerate(names):
        process = table.c[name].type.dialect_impl(dialect).bind_processor(dialect)
        if process is not None:
            stored.append((at, process))
    return _Statement(beginning + values, row, end, tuple(stored))


def _insert(insert: Any, conflict: OnConflict | None) -> Insert:
    if conflict is None:
        made: Insert = insert
    elif conflict.update:
        new = {name: insert.excluded[name] for name in conflict.update}
        made = insert.on_conflict_do_update(index_elements=conflict.keys, set_=new)
    else:
        made = insert.on_conflict_do_nothing()
    return made


def upsert(
    connection: Connection, table: Table, names: tuple[str, ...], again: OnConflict, rows: Iterable[tuple[Any, ...]]
) -> None:
    """Write rows; of those with the same keys, the last one wins."""
    same = itemgetter(*map(names.index, again.keys))
    distinct = {same(row): row for row in rows}
    insert_rows(connection, table, names, list(distinct.values()), again)
