"""Writing many rows of a table at a time."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from sqlite3 import sqlite_version_info
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.dialects import sqlite

_MOST_VALUES: Final = 32_766 if sqlite_version_info >= (3, 32) else 999
"""In one statement; what SQLite takes."""


def _insert_of(connection: Connection) -> Callable[[Any], Any]:
    """Return the insert() of the connection's database, the one with ON CONFLICT."""
    if connection.dialect.name != "postgresql":
        return sqlite.insert
    from sqlalchemy.dialects import postgresql  # here, since it is a tenth of what the start of a crawl costs

    return postgresql.insert


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
    if connection.dialect.name != "sqlite":
        insert = _insert(_insert_of(connection)(table), conflict)
        connection.execute(insert, [dict(zip(names, row, strict=True)) for row in rows])
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
