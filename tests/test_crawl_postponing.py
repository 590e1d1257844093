"""Postponed requests: fetched last, never lost, and discarded only by rules that act."""

from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.learn.learner import LearningOutcome
from scrapy_dedup.rules import Ignore, Rule, SiteRules, Status
from scrapy_dedup.rules.writing import written_rules

from .conftest import Serve
from .crawling import Crawl, Links, close, crawl, crawler_of, in_reactor, run, write_rules
from .server import Asked, Server, page, prose
from .waiting import PATIENCE

PAGES = 40
SOURCES = ("mail", "feed", "post")
ON = {"DEDUP_LEARN": "live", "CONCURRENT_REQUESTS": 4}


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)


def candidate_of(site: str, key: str) -> str:
    """Return what a learning says of a parameter that is a candidate."""
    return written_rules(SiteRules(site, (Rule(site, {}, {key: Ignore()}, Status.CANDIDATE),)))


class Shop:
    """Pages that the start page links plainly and with a parameter; *matters*: with each value it is another page."""

    def __init__(self, name: str = "utm_source", *, matters: bool = False) -> None:
        self.name = name
        self.matters = matters
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        self.asked.append(asked.target)
        if asked.path == "/":
            return page("start", *self.targets)
        return page(prose(asked.target if self.matters else asked.path))

    @property
    def targets(self) -> list[str]:
        plain = [f"/p/{number}" for number in range(PAGES)]
        return plain + [f"{target}?{self.name}={source}{target[3:]}" for target in plain for source in SOURCES]


def paths(done: Crawl) -> set[str]:
    return {url.partition("?")[0] for url in done.urls}


ALL = {"/", *(f"/p/{number}" for number in range(PAGES))}
EVERY = 1 + PAGES * (1 + len(SOURCES))


@in_reactor
async def test_what_is_probably_a_duplicate_is_fetched_last_and_discarded_when_that_is_known(serve: Serve) -> None:
    shop = Shop()
    server = serve(shop)
    done = await crawl(Links, server.url("/"), **ON)
    assert paths(done) == ALL, "no page is lost"
    assert server.downloads < 1 + PAGES + 40, "of 120 duplicates few are downloaded"
    stats = done.dedup()
    assert stats["postponed"] == PAGES * len(SOURCES)
    assert stats["postponed/fetched"] + stats["postponed/discarded"] == stats["postponed"]
    assert all("?" not in target for target in shop.asked[: 1 + PAGES]), "pages first"
    assert not any(name.startswith("errors") for name in stats)


@in_reactor
async def test_a_candidate_that_is_wrong_costs_no_page(serve: Serve) -> None:
    server = serve(Shop(matters=True))
    done = await crawl(Links, server.url("/"), **ON)
    assert server.downloads == len(done.urls) == EVERY
    assert done.dedup()["postponed/fetched"] == done.dedup()["postponed"] == PAGES * len(SOURCES)


@in_reactor
async def test_requests_that_were_queued_before_are_put_back_once(serve: Serve) -> None:
    shop = Shop("src")
    server = serve(shop)
    crawler = crawler_of(Links, **ON)
    site = f"127.0.0.1:{server.port}"

    async def learned() -> None:
        await CrawlComponents.of(crawler).postponing.use([site], {site: candidate_of(site, "q.src")})

    came: list[str] = []

    def received(response: Any) -> None:
        came.append(response.url)
        if len(came) == 10:
            deferred_from_coro(learned())

    scheduled: list[tuple[str, int]] = []
    crawler.signals.connect(received, signals.response_received, weak=False)
    crawler.signals.connect(
        lambda request: scheduled.append((request.url, request.priority)), signals.request_scheduled, weak=False
    )
    done = await run(crawler, server.url("/"))
    assert paths(done) == ALL
    stats = done.dedup()
    assert len({url for url, priority in scheduled if priority < 0}) == stats["postponed"] > 0
    # What is filtered at the gate is scheduled for the dupe filter to drop; those that come first wait for others on their way,
    # and may have to for a second one.
    again = len(scheduled) - EVERY - stats["postponed"] - stats.get("discarded/gate", 0)
    assert 0 <= again <= 2 * ON["CONCURRENT_REQUESTS"] < stats["postponed"] / 2


@in_reactor
@pytest.mark.parametrize("matters", [False, True])
async def test_a_job_that_goes_on_knows_what_was_postponed(serve: Serve, matters: bool) -> None:
    shop = Shop(matters=matters)
    server = serve(shop)
    crawler = crawler_of(Links, **ON, JOBDIR="job")

    def stop() -> None:
        if server.downloads >= 20:
            close(crawler, "enough")

    crawler.signals.connect(stop, signals.response_received, weak=False)
    first = await run(crawler, server.url("/"))
    assert first.stats["finish_reason"] == "enough"
    assert first.dedup()["postponed"] == PAGES * len(SOURCES)
    second = await crawl(Links, server.url("/"), **ON, JOBDIR="job")
    assert paths(first) | paths(second) == ALL
    stats = second.dedup()
    assert stats["postponed/fetched"] + stats.get("postponed/discarded", 0) == PAGES * len(SOURCES)
    if matters:
        assert len({*first.urls, *second.urls}) == EVERY
    else:
        assert stats["postponed/discarded"] > PAGES


class Ordered(Links):
    """Gives requests a priority of its own."""

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            yield each.replace(priority=3) if isinstance(each, Request) else each


class Endless(Links):
    """Might ask for more when it is idle."""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.idle_times = 0
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        self.idle_times += 1
        if self.idle_times == 1:
            raise DontCloseSpider


class OwnScheduler(Scheduler):
    """May heed priorities or not."""


@in_reactor
@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        (Ordered, {}),
        (Endless, {}),
        (Links, {"DEDUP_POSTPONE": False}),
        (Links, {"DEDUP_LEARN": "close"}),
        (Links, {"DEDUP_MODE": "shadow"}),
        (Links, {"CLOSESPIDER_PAGECOUNT": 10_000}),
        (Links, {"CLOSESPIDER_TIMEOUT": PATIENCE}),
        (Links, {"DEPTH_LIMIT": 5}),
        (Links, {"SCHEDULER": OwnScheduler}),
        (Links, {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}),
    ],
)
async def test_nothing_is_postponed_where_the_order_is_not_the_plugins_business(
    serve: Serve, spider: Any, settings: dict[str, Any]
) -> None:
    server = serve(Shop())
    done = await crawl(spider, server.url("/"), **{**ON, **settings})
    assert "postponed" not in done.dedup()
    assert paths(done) == ALL


@in_reactor
async def test_an_order_by_depth_is_kept_for_all_others(serve: Serve) -> None:
    shop = Shop()
    server = serve(shop)
    done = await crawl(Links, server.url("/"), **ON, DEPTH_PRIORITY=1)
    assert done.dedup()["postponed"] == PAGES * len(SOURCES)
    assert paths(done) == ALL


@in_reactor
async def test_a_mark_that_was_copied_postpones_nothing_else(serve: Serve) -> None:
    """Spiders hand on a response's meta: links of a postponed page are requests of their own."""

    class Copies(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": response.url}
            yield from response.follow_all(css="a", meta=dict(response.meta))

    marks: list[Any] = []

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", "/a", "/a?utm_source=x")
        if asked.path == "/a":
            return page(prose("a"), "/b") if asked.query else page(prose("a"))
        return page(prose(asked.path))

    server = serve(answer)
    crawler = crawler_of(Copies, **ON)
    crawler.signals.connect(
        lambda request: marks.append((request.url, request.priority, "dedup_postponed" in request.meta)),
        signals.request_scheduled,
        weak=False,
    )
    done = await run(crawler, server.url("/"))
    assert paths(done) == {"/", "/a", "/b"}
    found = {url.partition("//")[2].partition("/")[2]: (priority < 0, marked) for url, priority, marked in marks}
    assert found["a?utm_source=x"] == (True, True)
    assert found["b"] == (False, False)


@in_reactor
async def test_a_learning_that_fails_lets_all_of_them_go(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, *args: Any) -> Any:
        return LearningOutcome(None, "no process")

    monkeypatch.setattr("scrapy_dedup.crawl.learn.learner.Learner.learn", fails)
    server: Server = serve(Shop())
    done = await crawl(Links, server.url("/"), **ON)
    assert len(done.urls) == server.downloads == EVERY
    assert done.dedup()["postponed/fetched"] == PAGES * len(SOURCES)


@in_reactor
async def test_rules_of_several_other_sites_say_what_to_postpone(serve: Serve) -> None:
    from scrapy_dedup.rules import Ignore

    from .crawling import rule

    write_rules(*(rule(f"shop{number}.example", {"q.track": Ignore()}) for number in range(3)))
    server = serve(Shop("track"))
    done = await crawl(Links, server.url("/"), **ON)
    assert done.dedup()["postponed"] == PAGES * len(SOURCES)
    assert paths(done) == ALL
