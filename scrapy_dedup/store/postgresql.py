"""PostgreSQL: connections to a server that may be away, and the turns that those take who write.

Who writes takes a lock first, which goes with the transaction: rows of a site, or of another one that shares its lock, are
written by one process at a time. So processes wait for each other in one order and never in a circle, and the rows of a site
are there in the order of their ids.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import SQLAlchemyError

from .schema import signed_hash

if TYPE_CHECKING:
    from psycopg.abc import PQGen

#: Seconds that a server that cannot be reached is waited for, and after which a connection that the network has lost is given up.
CONNECT_SECONDS: Final = 3
_HANGING_SECONDS: Final = 10
#: Seconds that a server may be silent after a statement that is quick on tables of any size, and after one that reads or changes much.
ANSWER_SECONDS: Final = 30.0
_SLOW_ANSWER_SECONDS: Final = 600.0
#: Seconds after which it is looked at whether the server has been silent for too long.
_INTERVAL: Final = 0.1
#: Seconds after which the server ends the turn of a process that says nothing any more.
_TURN_SECONDS: Final = 60
#: The first number of the advisory locks of those who write, and of those of names, and the second of the one that all who write share.
_LOCKS: Final = 0x5DED
_NAMED_LOCKS: Final = 0x5DEE
_ALL: Final = -1
#: Locks that the sites share: what a batch of many sites takes of them is bounded.
_SHARES: Final = 64


def server_engine(target: str, *, readonly: bool, patience: Callable[[], float] | None) -> Engine:
    """Return an engine on a server; what the URL, or the environment of libpq, says of the connection counts.

    *patience* gives the seconds that the server may be silent after a quick statement.
    """
    url = make_url(target)
    if url.get_backend_name() != "postgresql":
        return create_engine(url)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")  # which the extra installs
    given = {
        "connect_timeout": CONNECT_SECONDS,
        "tcp_user_timeout": 1_000 * _HANGING_SECONDS,
        "keepalives_idle": _HANGING_SECONDS,
        "application_name": "scrapy-dedup",
    }
    arguments = {name: value for name, value in given.items() if name not in url.query}
    engine = create_engine(url, connect_args=arguments, pool_size=2)
    if url.get_driver_name() == "psycopg":
        _bound_answers(engine, patience or (lambda: ANSWER_SECONDS))
    return engine.execution_options(postgresql_readonly=True) if readonly else engine


def _bound_answers(engine: Engine, quick: Callable[[], float]) -> None:
    """Have the connections of *engine* closed when the server is silent for longer than *quick* says, or than a slow statement takes.

    A server that hangs closes no connection, and its kernel acknowledges all that comes: no timeout of TCP ends the wait for it.
    Transactions end in their own time: what is given up then may be in the database all the same, and would be written twice.
    """

    def connect(dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
        connection = dialect.dbapi.connect(*arguments, **options)
        connection.patience = quick
        connection.wait = partial(_wait, connection)
        return connection

    def choose(connection: Any, cursor: Any, *_: Any) -> None:
        is_slow = connection.get_execution_options().get("slow")
        cursor.connection.patience = (lambda: _SLOW_ANSWER_SECONDS) if is_slow else quick

    def end(connection: Any) -> None:
        connection.connection.dbapi_connection.patience = lambda: ANSWER_SECONDS

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "commit", end)
    event.listen(engine, "before_cursor_execute", choose)


def _wait(connection: Any, steps: "PQGen[Any]", interval: float = _INTERVAL, **options: Any) -> Any:
    """Wait for the answer to a statement, as connections of psycopg do. Raises OperationalError if none comes."""
    from psycopg.waiting import wait_selector  # not where the store is a file

    # Psycopg's own choice, in C, tells of silence from version 3.3 on only.
    return wait_selector(_bounded(connection, steps), connection.pgconn.socket, interval, **options)


def _bounded(connection: Any, steps: "PQGen[Any]") -> "PQGen[Any]":
    """Yield what *steps* wait for, as long as the server is not silent for too long: it is when nothing is ready again and again."""
    from psycopg import OperationalError

    try:
        wanted = next(steps)
        heard = monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard = monotonic()
            elif monotonic() - heard > connection.patience():
                connection.pgconn.finish()
                raise OperationalError("the server does not answer")
            wanted = steps.send(ready)
    except StopIteration as end:
        return end.value


def take_turn(connection: Connection, seconds: float, sites: Iterable[tuple[str, str]] | None) -> None:
    """Wait until nobody else writes rows of these sites (scope and site), or any rows (None), till the transaction ends."""
    query = "SELECT set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true)"
    connection.exec_driver_sql(query, (f"{int(1_000 * seconds)}ms", f"{int(1_000 * _TURN_SECONDS)}ms"))
    if sites is None:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, %s)", (_LOCKS, _ALL))
        return
    shares = sorted({signed_hash(*site) % _SHARES for site in sites})
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock_shared(%s, %s) UNION ALL SELECT pg_advisory_xact_lock(%s, share)"
        " FROM unnest(%s::int[]) share",
        (_LOCKS, _ALL, _LOCKS, shares),
    )


@contextmanager
def claiming(engine: Engine, kind: str, names: Iterable[str]) -> Iterator[set[str]]:
    """Hold the locks of those *names* of a kind that nobody else holds, which are given; they go when the connection is lost, too."""
    # Without transactions: one that is open as long as a site is learned would keep the server from vacuuming, or be ended by it.
    connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT", slow=True)
    try:
        query = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'"
        connection.exec_driver_sql(query)  # of servers of version 14 and later
        take = "SELECT pg_try_advisory_lock(%s, %s)"
        numbers = {name: signed_hash(kind + name) >> 32 for name in sorted(names)}
        yield {
            name
            for name, number in numbers.items()
            if connection.exec_driver_sql(take, (_NAMED_LOCKS, number)).scalar()
        }
    finally:
        with suppress(SQLAlchemyError):  # the locks go with a connection that is lost
            connection.execution_options(slow=False)
            connection.exec_driver_sql("SELECT pg_advisory_unlock_all()")
            connection.detach()  # it does not go back into the pool: its settings are its own
        with suppress(SQLAlchemyError):
            connection.close()
