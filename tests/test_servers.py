"""The servers that other tests start."""

import sys

import pytest

from .servers import PostgreSQLServer, RedisServer


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
