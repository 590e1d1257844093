"""scrapy-redis: its dupe filter ignores the request fingerprinter, so the rules act in front of it."""

from typing import Any

import pytest

from scrapy_dedup.crawl import DupeFilter
from scrapy_dedup.rules import Ignore

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, rule, write_rules
from .server import Asked, page, prose
from .servers import RedisServer

pytest.importorskip("scrapy_redis")
redis = pytest.importorskip("redis")
# It hands spiders around as Scrapy no longer does.
pytestmark = [pytest.mark.redis, pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")]


def shop(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={j}" for i in range(4) for j in range(3)))
    return page(prose(asked.query["id"]), "/", f"/p?id={asked.query['id']}&sid=again")


@pytest.mark.parametrize("scheduler", [False, True])
@in_reactor
async def test_rules_act_in_front_of_it(serve: Serve, redis_server: RedisServer, scheduler: bool) -> None:
    settings: dict[str, Any] = {
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": redis_server.url,
    }
    if scheduler:
        settings |= {"SCHEDULER": "scrapy_redis.scheduler.Scheduler", "SCHEDULER_PERSIST": True}
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    stock = await crawl(Links, server.url("/"), ADDONS={}, **settings)
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        server.reset()
        done = await crawl(Links, server.url("/"), **settings)
        assert len(stock.items) > len(done.items) == server.downloads == 5 + 1
        if scheduler:
            assert client.scard("links:dupefilter") == 4 + 1, (
                "the pages that were scheduled, and a link to the start page"
            )
    assert not [name for name in done.dedup() if name.startswith("errors")]


def test_what_else_it_offers_is_there(redis_server: RedisServer) -> None:
    from .crawling_parts import crawler

    made_for = crawler(DUPEFILTER_CLASS="scrapy_redis.dupefilter.RFPDupeFilter", REDIS_URL=redis_server.url)
    made_for.spider.settings = made_for.settings  # type: ignore[union-attr]
    made = DupeFilter.from_spider(made_for.spider)  # type: ignore[arg-type]
    with redis.Redis.from_url(redis_server.url) as client:
        client.sadd(made.key, "x")
        made.clear()
        assert not client.exists("links:dupefilter")
    with pytest.raises(AttributeError):
        made.no_such_thing  # noqa: B018
    made.close("finished")


def test_a_job_that_cannot_be_forgotten_ends_no_crawl(redis_server: RedisServer) -> None:
    from .crawling_parts import crawler

    made_for = crawler(
        DUPEFILTER_CLASS="scrapy_redis.dupefilter.RFPDupeFilter",
        SCHEDULER="scrapy_redis.scheduler.Scheduler",
        REDIS_URL=redis_server.url,
    )
    made_for.spider.settings = made_for.settings  # type: ignore[union-attr]
    made = DupeFilter.from_spider(made_for.spider)  # type: ignore[arg-type]
    with redis.Redis.from_url(redis_server.url) as client:
        client.sadd(made.key, "x")
        client.rpush(f"{made_for.spider.name}:requests:dedup:meta", "of another form")  # type: ignore[union-attr]
        made.clear()
        assert not client.exists(made.key), "the wrapped filter has forgotten its own"
    assert made_for.stats.get_value("dedup/errors/fleet") == 1  # type: ignore[union-attr]
    made.close("finished")
