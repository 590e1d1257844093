"""When a spider runs idle, what the plug-in has left to do is done before it closes."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import scrapy
from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http.request import NO_CALLBACK

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.rules import Ignore, Status
from scrapy_dedup.rules.evidence import Evidence
from scrapy_dedup.store.database import StoreError

from .conftest import Serve
from .crawling import Crawl, Links, close, crawl, crawler_of, in_reactor, rule, run, scenario, write_rules
from .server import Asked, Server, page, prose

FOLDERS, PAGES, VALUES = "abcdef", 6, "01"


class Counts(Links):
    """Counts how often it is idle."""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.idles = 0
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        self.idles: int
        self.idles += 1


def idles(done: Crawl) -> int:
    found: int = done.crawler.spider.idles  # type: ignore[union-attr]
    return found


async def compared(server: Server, spider: type[Counts], **settings: Any) -> tuple[Crawl, Crawl]:
    """Crawl without the plug-in, then with it; each sees the idle spider, and every page."""
    without = await crawl(spider, server.url("/"), **{**settings, "ADDONS": {}})
    most = server.downloads
    server.reset()
    done = await crawl(spider, server.url("/"), **settings)
    assert idles(done) >= idles(without)
    assert pages_of(done) == set(pages_of(without))
    assert server.downloads <= most, "never more requests than without"
    assert done.stats["finish_reason"] == without.stats["finish_reason"] == "finished"
    assert not [name for name in done.stats if name.startswith("dedup/errors")]
    return without, done


def pages_of(done: Crawl) -> set[str]:
    return {url.partition("&v=")[0] for url in done.urls}


def shop(asked: Asked) -> Any:
    """Pages in several folders, each under two values that say nothing, and some of which nothing is known."""
    if asked.path == "/":
        links = (f"/{name}/x?id={i}&v={value}" for name in FOLDERS for i in range(PAGES) for value in VALUES)
        return page("start", *links, *(f"/tell/show?id={i}&w=z{i}" for i in range(10)))
    return page(prose(asked.path + asked.query["id"]))


def known(server: Server) -> Any:
    """A rule that was sampled in earlier crawls, so that few of its discards are samples before the end."""
    found = rule(f"127.0.0.1:{server.port}", {"q.v": Ignore()}, status=Status.ACTIVE)
    return replace(found, evidence=Evidence(samples=40))


def late_checks(done: Crawl) -> int:
    return sum(CrawlComponents.of(done.crawler).unchecked._spent.values())


def undecided(done: Crawl) -> int:
    """Spot checks that went on to their callbacks: those drawn before other pages of their folder had come tell nothing."""
    found: int = done.stats.get("dedup/samples/undecided", 0)
    return found


@in_reactor
async def test_a_spider_with_nothing_to_do(serve: Serve) -> None:
    class Nothing(Counts):
        async def start(self) -> Any:
            return
            yield

    server = serve(shop)
    for _ in range(2):  # in the first crawl there is no store
        await compared(server, Nothing, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02, DEDUP_EXTRA=0.05)
    await crawl(Links, server.url("/"))  # there are observations
    await compared(server, Nothing, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02, DEDUP_EXTRA=0.05)


@in_reactor
async def test_a_crawl_without_duplicates(serve: Serve) -> None:
    def site(asked: Asked) -> Any:
        return page(prose(asked.target), *(f"/p?id={i}" for i in range(10)) if asked.path == "/" else ())

    server = serve(site)
    await compared(server, Counts, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02, DEDUP_EXTRA=0.05)
    assert server.downloads == 11


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}, {"CONCURRENT_REQUESTS": 1}, {"DEDUP_REVISITS": 2}])
@in_reactor
async def test_spot_checks_and_refetches(serve: Serve, settings: dict[str, Any]) -> None:
    server = serve(shop)
    write_rules(known(server))
    done = await crawl(Counts, server.url("/"), DEDUP_SAMPLE=0.02, DEDUP_EXTRA=0.9, **settings)
    assert late_checks(done) > 0
    assert done.stats["dedup/revisits"] > 0
    pages = 1 + len(FOLDERS) * PAGES + 10
    assert len(done.items) == pages + undecided(done), "callbacks get each page once"
    assert done.stats["dedup/samples/confirmed"] >= late_checks(done)
    assert server.downloads == pages + sum(done.stats[name] for name in ("dedup/samples", "dedup/revisits"))


class Feeds(Counts):
    """Asks for more each time it is idle, which keeps it open by itself."""

    def __init__(self, start: str) -> None:
        super().__init__(start)
        self.batches = [
            ["/a/x?id=7&v=0", "/b/x?id=7&v=0"],
            ["/a/x?id=7&v=1", "/b/x?id=7&v=1"],  # all of them duplicates
            ["/a/x?id=7&v=2"],
            ["/c/x?id=8&v=0", "/a/x?id=7&v=3"],
        ]

    def idle(self) -> None:
        super().idle()
        if self.batches:
            for target in self.batches.pop(0):
                self.crawler.engine.crawl(scrapy.Request(self.start_urls[0] + target[1:]))  # type: ignore[union-attr]
            self.fed()

    def fed(self) -> None:
        pass


class Holds(Feeds):
    """Says besides that it is not to be closed."""

    def fed(self) -> None:
        raise DontCloseSpider


@pytest.mark.parametrize("spider", [Feeds, Holds])
@pytest.mark.parametrize("settings", [{}, {"DEDUP_SAMPLE": 0.02, "DEDUP_EXTRA": 0.9}])
@in_reactor
async def test_a_spider_that_feeds_itself(serve: Serve, spider: type[Feeds], settings: dict[str, Any]) -> None:
    """A batch of which all is discarded does not close it: without the plug-in it would be fetched, and more asked for."""
    server = serve(shop)
    write_rules(known(server))
    _, done = await compared(server, spider, **settings)
    assert "/c/x?id=8&v=0" in done.urls
    assert done.stats["dedup/discarded"] >= len(FOLDERS) * PAGES + 4 - done.stats.get("dedup/samples", 0)


@in_reactor
async def test_what_has_failed_frees_others(serve: Serve) -> None:
    """The page is found under the third URL of those that wait for it."""

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&v={value}" for i in range(10) for value in range(6)))
        return 404 if asked.query["v"] < "4" else page(prose(asked.query["id"]))

    done = await scenario(serve, site, "q.v", spider=Counts, CONCURRENT_REQUESTS=4, HTTPERROR_ALLOW_ALL=False)
    assert len(pages_of(done)) == 1 + 10
    assert done.stats["dedup/released/scheduled"] > 0


def rare(asked: Asked) -> Any:
    """A value says nothing in most folders; in one it is the page."""
    if asked.path == "/":
        return shop(asked)
    return page(prose(asked.path + asked.query["id"] + (asked.query["v"] if asked.path == "/f/x" else "")))


@in_reactor
async def test_a_rule_that_is_withdrawn_at_the_end(serve: Serve) -> None:
    """What it had discarded is fetched, and more than that, before the spider closes."""
    server = serve(lambda asked: rare(asked) if "v" in asked.query or asked.path == "/" else page("tell"))
    write_rules(known(server))
    without, done = await compared(server, Counts, DEDUP_SAMPLE=0.02)
    assert {url for url in done.urls if url.startswith("/f/")} == {url for url in without.urls if url.startswith("/f/")}
    assert done.stats["dedup/refuted"] == 1
    assert done.stats["dedup/retracted"] > 0


@in_reactor
async def test_a_rule_that_is_learned_anew_at_the_end(serve: Serve) -> None:
    """The spider stays open while its site is learned again, and while what was discarded is fetched."""
    server = serve(lambda asked: rare(asked) if "v" in asked.query or asked.path == "/" else page("tell"))
    write_rules(known(server))
    _, done = await compared(server, Counts, DEDUP_SAMPLE=0.02, DEDUP_LEARN="live")
    assert {url for url in done.urls if url.startswith("/f/")} == {
        f"/f/x?id={i}&v={value}" for i in range(PAGES) for value in VALUES
    }
    assert done.stats["dedup/refuted"] == 1


class Paused(Counts):
    """Is closed, once, as soon as a response comes that is the plug-in's."""

    custom_settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": "job"}

    def __init__(self, start: str, when: str = "") -> None:
        super().__init__(start)
        self.when = when

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.received, signals.response_received)
        return spider

    async def start(self) -> Any:
        """As usual, but through the dupe filter: a resumed job starts at its start URLs again otherwise."""
        for url in self.start_urls:
            yield scrapy.Request(url)

    def received(self, request: scrapy.Request) -> None:
        late = bool(CrawlComponents.of(self.crawler).unchecked._spent)
        if (self.when == "late check" and late) or (self.when == "refetch" and request.callback is NO_CALLBACK):
            self.when = ""
            close(self.crawler, "paused")


@pytest.mark.parametrize("when", ["late check", "refetch"])
@in_reactor
async def test_a_job_that_is_paused_while_the_plug_in_is_at_work(serve: Serve, when: str) -> None:
    """No callback gets what the plug-in has asked for, in this run or the next."""
    server = serve(shop)
    write_rules(known(server))
    settings = {"DEDUP_SAMPLE": 0.02, "DEDUP_EXTRA": 0 if when == "late check" else 0.9}
    first = await crawl(Paused, server.url("/"), when, **settings)
    assert first.stats["finish_reason"] == "paused"
    left = first.stats["scheduler/enqueued/disk"] - first.stats["scheduler/dequeued/disk"]
    assert (left > 0) is (when == "late check"), "refetches are never queued"
    second = await crawl(Paused, server.url("/"), **settings)
    assert second.stats["finish_reason"] == "finished"
    count = Counter(url.partition("&v=")[0] for url in (*first.urls, *second.urls))
    assert count.total() - undecided(first) - undecided(second) == len(count), "no page comes to a callback twice"
    assert len(count) == 1 + len(FOLDERS) * PAGES + 10
    if when == "late check":
        assert second.stats["dedup/discarded/gate"] + second.stats.get("dedup/samples", 0) >= left
    (found,) = RuleBook.load("dedup-rules").for_site(f"127.0.0.1:{server.port}")
    assert found.status is Status.ACTIVE


@in_reactor
async def test_what_comes_while_the_plug_in_is_at_work_goes_first(serve: Serve) -> None:
    """Refetches have the lowest priority: they wait until nothing else is queued."""
    order: list[str] = []

    def site(asked: Asked) -> Any:
        order.append(asked.target)
        return shop(asked)

    server = serve(site)
    write_rules(known(server))
    more = [f"/more/x?id={i}" for i in range(20)]

    class Late(Counts):
        """Hears of further pages when the first refetch has come."""

        @classmethod
        def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
            spider = super().from_crawler(crawler, *args, **kwargs)
            crawler.signals.connect(spider.received, signals.response_received)
            return spider

        def received(self, request: scrapy.Request) -> None:
            if request.callback is NO_CALLBACK and more[0] not in order:
                for target in more:
                    self.crawler.engine.crawl(scrapy.Request(server.url(target)))  # type: ignore[union-attr]

    done = await crawl(Late, server.url("/"), DEDUP_REVISITS=5, CONCURRENT_REQUESTS=1)
    assert done.stats["dedup/revisits"] > 10
    assert set(more) <= set(done.urls)
    began = order.index(next(target for target in order if target in more))
    assert began < len(order) - len(more) - 10, "refetches are left"
    others = [target for target in order[began : began + len(more) + 2] if target not in more]
    assert len(others) <= 2, "those that had been begun"


@pytest.mark.parametrize("is_due", [False, True])
@in_reactor
async def test_work_that_fails_is_due_no_more_and_keeps_no_other_from_its_turn(serve: Serve, is_due: bool) -> None:
    """Work would be due for ever otherwise, and the crawl would not end."""

    class Fails:
        is_idle_work_due = is_due
        times = 0

        async def before_idle(self) -> None:
            self.times += 1
            if self.times == 20:
                close(crawler, "for ever")
            raise StoreError("the ledger", "cannot be read", "Nothing is right.")

    class Broken(Links):
        async def start(self) -> Any:
            CrawlComponents.of(self.crawler).replay_schedule.idle_work.insert(0, fails)
            async for each in super().start():
                yield each

    fails = Fails()
    server = serve(shop)
    write_rules(known(server))
    crawler = crawler_of(Broken, DEDUP_SAMPLE=0.02)
    done = await run(crawler, server.url("/"))
    assert done.stats["finish_reason"] == "finished"
    assert late_checks(done) > 0, "other work was done"
    assert fails.times == done.stats["dedup/errors/ledger"]
    assert {url.partition("v=")[0] for url in done.urls} >= {
        f"/{name}/x?id={i}&" for name in FOLDERS for i in range(PAGES)
    }


@in_reactor
async def test_work_that_has_failed_is_done_when_the_spider_is_idle_again(serve: Serve) -> None:
    """A store that was locked for once keeps nothing back in a spider that is fed for days."""

    class FailsOnce:
        times = 0

        @property
        def is_idle_work_due(self) -> bool:
            return self.times < 2

        async def before_idle(self) -> None:
            self.times += 1
            if self.times == 1:
                raise StoreError("the ledger", "is locked", "Try again.")

    class FedOnce(Counts):
        def idle(self) -> None:
            super().idle()
            if fails.times and not fed:
                fed.append(fails.times)
                self.crawler.engine.crawl(scrapy.Request(server.url("/more")))  # type: ignore[union-attr]
                raise DontCloseSpider

        async def start(self) -> Any:
            CrawlComponents.of(self.crawler).replay_schedule.idle_work[:] = [fails]
            async for each in super().start():
                yield each

    fails, fed = FailsOnce(), list[int]()
    server = serve(lambda asked: page(prose(asked.path)))
    done = await crawl(FedOnce, server.url("/"))
    assert (fed, fails.times) == ([1], 2)
    assert server.downloads == 2
    assert done.stats["dedup/errors/ledger"] == 1
