"""The servers that other tests start."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from .servers import PostgreSQLServer, RedisServer
from .waiting import wait_until


@pytest.mark.postgresql
def test_postgresql_keeps_what_is_committed_when_it_is_killed(postgresql: PostgreSQLServer) -> None:
    from psycopg import OperationalError, connect

    url = postgresql.new_database().replace("+psycopg", "")
    with connect(url) as connection:
        connection.execute("CREATE TABLE kept (number int)")
    postgresql.kill()
    with pytest.raises(OperationalError):
        connect(url)
    postgresql.start()
    with connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


@pytest.mark.postgresql
def test_postgresql_starts_again_when_it_was_killed_at_work(postgresql: PostgreSQLServer) -> None:
    """Its processes are killed with it: one that computes would hold its memory."""
    from psycopg import OperationalError, connect

    url = postgresql.url().replace("+psycopg", "")

    def compute() -> None:
        with pytest.raises(OperationalError), connect(url) as connection:
            connection.execute("SELECT count(*) FROM generate_series(1, 1000000000000)")

    active = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
    with ThreadPoolExecutor(1) as pool, connect(url, autocommit=True) as other:
        computing = pool.submit(compute)
        wait_until(lambda: other.execute(active).fetchone())
        postgresql.kill()
        postgresql.start()
        computing.result()


@pytest.mark.redis
@pytest.mark.parametrize(("redis_server", "kept"), [(True, b"yes"), (False, None)], indirect=["redis_server"])
def test_redis_keeps_what_it_has_where_it_persists(redis_server: RedisServer, kept: bytes | None) -> None:
    from redis import Redis
    from redis.exceptions import ConnectionError as NoConnection

    with Redis.from_url(redis_server.url) as client:
        client.set("name", "yes")
    redis_server.kill()
    with Redis.from_url(redis_server.url) as client, pytest.raises(NoConnection):
        client.get("name")
    redis_server.start()
    with Redis.from_url(redis_server.url) as client:
        assert client.get("name") == kept


@pytest.mark.parametrize(("fixture", "module"), [("postgresql", "psycopg"), ("redis_server", "redis")])
def test_without_its_client_a_server_s_tests_are_skipped(
    fixture: str, module: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(pytest.skip.Exception, match=module):
        request.getfixturevalue(fixture)
