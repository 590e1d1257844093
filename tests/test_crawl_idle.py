"""What the plug-in has left to do is done before the spider closes, and a spider that feeds itself when it is idle gets all that it asks for."""

from typing import Any

import pytest
import scrapy
from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http.request import NO_CALLBACK

from .conftest import Serve
from .crawling import Crawl, Links, Outcome, close, crawl, crawl_site, ignore, in_reactor, save_rules, statuses, without
from .server import Asked, page, prose

FOLDERS, PAGES, VALUES = "abcde", 5, "01"
#: A rule that was checked in earlier crawls, so that few of what it filters are checks before the end.
KNOWN = ignore("q.v", "active", samples=40)
#: The pages of the shop.
EVERY = 1 + len(FOLDERS) * PAGES + 10


class Counts(Links):
    """Counts how often it is idle."""

    idles = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        crawler.signals.connect(spider.received, signals.response_received)
        return spider

    def idle(self) -> None:
        self.idles += 1

    def received(self, request: scrapy.Request) -> None:
        """A response has come, to whomever."""


def idles(done: Crawl) -> int:
    found: int = done.crawler.spider.idles  # type: ignore[union-attr]
    return found


def shop(asked: Asked) -> Any:
    """Pages in several folders, each under two values that say nothing, and some of which nothing is known."""
    if asked.path == "/":
        links = (f"/{name}/x?id={i}&v={value}" for name in FOLDERS for i in range(PAGES) for value in VALUES)
        return page("start", *links, *(f"/tell/show?id={i}&w=z{i}" for i in range(10)))
    return page(prose(asked.path + asked.query["id"]))


def pages_of(done: Crawl) -> set[str]:
    return set(without("v", done.urls))


class Nothing(Counts):
    async def start(self) -> Any:
        return
        yield


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
        """All has been asked for."""


class Holds(Feeds):
    """Says besides that it is not to be closed."""

    def fed(self) -> None:
        raise DontCloseSpider


class Waits(Counts):
    """Is asked again by Scrapy's heartbeat."""

    def idle(self) -> None:
        super().idle()
        if self.idles < 3:
            raise DontCloseSpider


OWN: dict[str, Any] = {"DEDUP_SAMPLE": 0.02, "DEDUP_EXTRA": 0.9}


@pytest.mark.parametrize(
    ("spider", "settings", "times"),
    [
        pytest.param(Nothing, OWN, 1, id="nothing to do"),
        pytest.param(Counts, OWN, 1, id="refetches and probes"),
        pytest.param(Counts, {**OWN, "CONCURRENT_REQUESTS": 1, "JOBDIR": "job"}, 1, id="in a job"),
        pytest.param(Feeds, {}, 5, id="feeds itself"),
        pytest.param(Holds, OWN, 5, id="feeds itself and holds"),
        pytest.param(Waits, OWN, 3, id="waits"),
    ],
)
@in_reactor
async def test_what_is_left_to_do(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, spider: type[Counts], settings: dict[str, Any], times: int
) -> None:
    """A batch of which all is filtered does not close a spider: without the plug-in it would be fetched, and more asked for."""
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)
    server = serve(shop)
    without_it = Outcome(await crawl(spider, server.url("/"), **{**settings, "JOBDIR": None, "ADDONS": {}}), server)
    done = await without_it.again(KNOWN, spider=spider, **settings)
    assert idles(done) >= idles(without_it) == times
    assert done.stats["finish_reason"] == "finished"
    assert pages_of(done) == pages_of(without_it)
    assert done.fetched.total() <= without_it.fetched.total(), "never more requests than without"
    # Checks that were drawn before other pages of their folder had come tell nothing, and go on to their callbacks.
    assert len(done.items) == len(pages_of(done)) + done.stat("samples/undecided"), "callbacks get each page once"
    own = sum(done.stat(name) for name in ("samples", "revisits", "probes/requests"))
    assert done.fetched.total() == len(pages_of(done)) + own
    assert (own > 0) is (spider is not Nothing and bool(settings))
    assert not done.faults()


@pytest.mark.parametrize("learn", ["off", "live"])
@in_reactor
async def test_a_rule_that_is_withdrawn_at_the_end(serve: Serve, learn: str) -> None:
    """What it had filtered is fetched before the spider is idle, while its site is learned again, too."""

    def rare(asked: Asked) -> Any:
        """A value says nothing in most folders; in one it is the page."""
        is_rare = asked.path == f"/{FOLDERS[-1]}/x"
        return page(prose(asked.target)) if is_rare else shop(asked)

    done = await crawl_site(serve, rare, KNOWN, spider=Counts, DEDUP_SAMPLE=0.02, DEDUP_LEARN=learn)
    wrong = {f"/{FOLDERS[-1]}/x?id={i}&v={value}" for i in range(PAGES) for value in VALUES}
    assert set(done.urls) >= wrong, "no page is lost"
    assert len(pages_of(done)) == EVERY
    assert done.stat("refuted") == 1
    assert done.stat("retracted") > 0
    assert idles(done) >= 1
    assert done.fetched.total() <= EVERY + len(FOLDERS) * PAGES


class Paused(Counts):
    """Is closed, once, as soon as a response comes that is the plug-in's."""

    custom_settings = {"CONCURRENT_REQUESTS": 1, "JOBDIR": "job"}

    def __init__(self, start: str, *, pauses: bool = False) -> None:
        super().__init__(start)
        self.pauses = pauses

    async def start(self) -> Any:
        """As usual, but through the dupe filter: a resumed job starts at its start URLs again otherwise."""
        for url in self.start_urls:
            yield scrapy.Request(url)

    def received(self, request: scrapy.Request) -> None:
        if self.pauses and request.callback is NO_CALLBACK:
            self.pauses = False
            close(self.crawler, "paused")


@in_reactor
async def test_a_job_that_is_paused_while_the_plug_in_is_at_work(serve: Serve) -> None:
    """No callback gets what the plug-in has asked for, in this run or the next."""
    server = serve(shop)
    save_rules(server.site, KNOWN)
    first = await crawl(Paused, server.url("/"), pauses=True, **OWN)
    assert first.stats["finish_reason"] == "paused"
    second = await crawl(Paused, server.url("/"), **OWN)
    assert second.stats["finish_reason"] == "finished"
    count = without("v", first.urls + second.urls)
    undecided = first.stat("samples/undecided") + second.stat("samples/undecided")
    assert count.total() - undecided == len(count) == EVERY, "no page comes to a callback twice"
    assert statuses(server.site) == {"q.v": "active"}


@in_reactor
async def test_what_comes_while_the_plug_in_is_at_work_goes_first(serve: Serve) -> None:
    """Refetches have the lowest priority: they wait until nothing else is queued."""
    order: list[str] = []
    more = [f"/more/x?id={i}" for i in range(20)]

    def site(asked: Asked) -> Any:
        order.append(asked.target)
        return shop(asked)

    class Late(Counts):
        """Hears of further pages when the first refetch has come."""

        def received(self, request: scrapy.Request) -> None:
            if request.callback is NO_CALLBACK and more[0] not in order:
                for target in more:
                    self.crawler.engine.crawl(scrapy.Request(self.start_urls[0] + target[1:]))  # type: ignore[union-attr]

    settings: dict[str, Any] = {"DEDUP_REVISITS": 5, "CONCURRENT_REQUESTS": 1}
    done = await crawl_site(serve, site, KNOWN, spider=Late, **settings)
    assert done.stat("revisits") > 10
    assert set(more) <= set(done.urls)
    began = order.index(next(target for target in order if target in more))
    assert began < len(order) - len(more) - 10, "refetches are left"
    others = [target for target in order[began : began + len(more) + 2] if target not in more]
    assert len(others) <= 2, "those that had been begun"
