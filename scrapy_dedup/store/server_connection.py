"""Connections to PostgreSQL that give up a server that says nothing.

A server that hangs closes no connection, and its kernel acknowledges all that comes: no timeout of TCP ends the wait for it.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from psycopg import Connection, OperationalError
from psycopg.waiting import wait_selector
from sqlalchemy import Engine, event

if TYPE_CHECKING:
    from psycopg.abc import PQGen

_T = TypeVar("_T")

#: Seconds after which it is looked at whether the server has been silent for too long.
_INTERVAL: Final = 0.1

#: Returns the seconds that a server may be silent; asked as long as it is.
Patience = Callable[[], float]


class BoundedConnection(Connection[Any]):
    """A connection that is closed when the server has been silent for longer than *patience* allows."""

    patience: Patience

    def wait(self, gen: "PQGen[_T]", interval: float = _INTERVAL, timeout: float | None = None) -> _T:
        """Wait for the answer to a statement. Raises OperationalError if none comes."""
        options = {} if timeout is None else {"timeout": timeout}  # which version 3.2 does not know
        try:
            # Psycopg's own choice, in C, tells of silence from version 3.3 on only.
            return wait_selector(_bounded(gen, self.patience), self.pgconn.socket, interval, **options)
        except (_NoAnswerError, KeyboardInterrupt):
            self.pgconn.finish()
            raise


class _NoAnswerError(OperationalError):
    """The server does not answer."""


def _bounded(steps: "PQGen[_T]", patience: Patience) -> "PQGen[_T]":
    """Yield what *steps* wait for, as long as the server is not silent for too long: it is when nothing is ready again and again."""
    try:
        wanted = next(steps)
        heard = monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard = monotonic()
            elif monotonic() - heard > patience():
                raise _NoAnswerError("the server does not answer")
            wanted = steps.send(ready)
    except StopIteration as end:
        result: _T = end.value
        return result


def bound_answers(engine: Engine, quick: Patience, slow: Patience, commit: Patience) -> None:
    """Have the connections of *engine* wait as *quick* says for most statements, as *slow* says with the execution option ``slow``.

    Transactions end as *commit* says: what is given up then may be in the database all the same, and would be written twice.
    """

    def connect(dialect: Any, record: Any, arguments: Any, options: Any) -> BoundedConnection:
        connection = BoundedConnection.connect(*arguments, **options)
        connection.patience = quick
        return connection

    def choose(connection: Any, cursor: Any, *_: Any) -> None:
        cursor.connection.patience = slow if connection.get_execution_options().get("slow") else quick

    def end(connection: Any) -> None:
        connection.connection.dbapi_connection.patience = commit

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "commit", end)
    event.listen(engine, "before_cursor_execute", choose)
