"""The version of a store's tables: made where there are none, migrated where an earlier version has made them.

The steps from one version to the next stand in :mod:`scrapy_dedup.store.migrations` and are run by Alembic, which is
imported for that alone.
"""

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select

from . import schema
from .errors import EMPTY, StoreError
from .postgresql import take_turn

#: Alembic's own table; it stands apart, since it is none of the store's.
_stamp = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))

_FIRST_TABLES = {"observation", "page_sketch", "discard"}
_FIRST_VERSION = 5
_ANOTHER = "Name another file or database in DEDUP_STORE."


class OldTables(Exception):
    """The store was written by an older version, that of its tables, and opened to be read only."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


def check_tables(engine: Engine, place: str, *, readonly: bool, timeout: float) -> None:
    """Make the tables where there are none, and migrate old ones.

    Raises StoreError for a database that is not ours or too new, OldTables where there is something to do and *readonly*.
    """
    # In one view: another process may be making the tables, and some of them would be seen otherwise.
    view = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    with engine.connect().execution_options(**view) as connection:
        version = version_of(connection, place)
    if version == schema.VERSION:
        return
    if readonly:
        if version:
            raise OldTables(version)
        raise StoreError(place, EMPTY, "Crawl first: the crawl records what it sees there.")
    with engine.execution_options(writes=True, slow=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            take_turn(connection, timeout, None)
        version = version_of(connection, place)  # another process may have been here meanwhile
        if version == 0:
            schema.metadata.create_all(connection)
            _stamp.create(connection)
            connection.execute(_stamp.insert(), {"version_num": str(schema.VERSION)})
        elif version < schema.VERSION:
            from .migrations import migrate

            migrate(connection, stamp=None if inspect(connection).has_table(_stamp.name) else version)


def version_of(connection: Connection, place: str) -> int:
    """Return the version of the tables, 0 for none. Raises StoreError for another database, or a newer one."""
    look = inspect(connection)
    version = None
    if look.has_table(_stamp.name):
        version = connection.scalar(select(_stamp.c.version_num))
    else:
        tables = set(look.get_table_names())
        if not tables:
            return 0
        if tables >= {schema.meta.name, *_FIRST_TABLES}:
            # Its first release noted the version in a table of its own.
            version = connection.scalar(select(schema.meta.c.value).where(schema.meta.c.name == "schema"))
    if version is None or not version.isdigit() or int(version) < _FIRST_VERSION:
        raise StoreError(place, "is a database, but no store", _ANOTHER)
    if int(version) > schema.VERSION:
        raise StoreError(
            place,
            f"was written by a newer version (tables {version}, this version knows {schema.VERSION})",
            f"Upgrade scrapy-dedup. {_ANOTHER}",
        )
    return int(version)
