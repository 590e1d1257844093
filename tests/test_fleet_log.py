"""The log that the workers of a fleet share: whoever reads it reads all of it, and nobody reads that of another job."""

from collections.abc import Iterator
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from .servers import RedisServer

redis = pytest.importorskip("redis")
pytest.importorskip("scrapy_redis")

from scrapy_dedup.crawl.fleet.log_data import SharedRuleTexts
from scrapy_dedup.crawl.fleet.shared_log import FRESH, NOTHING, SharedLog

pytestmark = [pytest.mark.redis, pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")]


@pytest.fixture(name="logs")
def _logs(redis_server: RedisServer) -> Iterator[list[SharedLog]]:
    """The logs of two workers of one job."""
    logs = [SharedLog(BaseSettings({"REDIS_URL": redis_server.url}), "links") for _ in range(2)]
    for log in logs:
        log.join("job", "digest")
    yield logs
    for log in logs:
        log.close()


def write(log: SharedLog, number: int) -> list[str]:
    lines = [f"={each:x}" for each in range(number)]
    last = NOTHING
    for line in lines:
        last = log.exchange(last, 1, [line]).last
    return lines


def test_what_is_packed_is_read_whole_also_while_it_is_packed(
    logs: list[SharedLog], redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that lags is told so, and reads the rest from where it was."""
    one, two = logs
    lines = write(one, 3 * FRESH)
    read = two._client.xrange

    def packed_before(*args: Any, **kwargs: Any) -> Any:
        one.pack()
        return read(*args, **kwargs)

    monkeypatch.setattr(two._client, "xrange", packed_before)
    entries = list(two.packed(NOTHING))
    assert [line for entry in entries for line in entry.lines] == lines
    assert not one.pack(), "all but the last ones"
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.xlen(f"{one.prefix}log") < 2 * FRESH
        assert sum(map(client.memory_usage, client.scan_iter(f"{one.prefix}*"))) < 80 * len(lines), "few bytes each"
    reply = two.exchange(entries[9].id, 1)
    assert (reply.packed, reply.entries) == (True, [])
    assert list(two.packed(entries[9].id)) == entries[10:]


@pytest.mark.parametrize("again", ["job", "another job"])
def test_nothing_of_a_job_that_is_gone_is_written_into_the_next_one(
    logs: list[SharedLog], redis_server: RedisServer, again: str
) -> None:
    one, two = logs
    last = one.exchange(NOTHING, 1, ["=7"]).last
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        two.join(again, "digest")
        write(two, 3)
        assert one.exchange(last, 1, ["=8"]).status == "lost"
        assert one.publish(1, last, SharedRuleTexts(2, "old", {"shop.test": "old"}, {}), [7]) == (False, 0)
        assert one.beat("done", 60_000, last)[1] == ("" if again == "another job" else last)
        assert not client.exists(f"{one.prefix}rules")
        assert client.hget(f"{one.prefix}meta", "version") == b"1"
        assert client.xlen(f"{one.prefix}log") == 3
