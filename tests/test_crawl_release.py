"""When the URL that stands for a page fails, another URL of the page is fetched in its place, and no more than that."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import scrapy
from scrapy.exceptions import IgnoreRequest

from .conftest import Serve
from .crawling import Links, crawl_site, crawl_sites, ignore, in_reactor, ledger, messages
from .server import Answer, Asked, page, prose, redirect
from .waiting import PATIENCE

SID = ignore("q.sid")
PAGES, SPELLINGS = 4, 3
#: Breadth first, one after the other: the first spelling stands for its page.
IN_ORDER = {"DEPTH_PRIORITY": 1, "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue", "CONCURRENT_REQUESTS": 1}


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """Set when the test has ended, whatever became of it."""
    event = threading.Event()
    yield event
    event.set()


class Hasty(Links):
    """Has little patience with some URLs."""

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            if isinstance(each, scrapy.Request) and "never" in each.url:
                each.meta["download_timeout"] = 0.2
            yield each


@in_reactor
async def test_whatever_the_server_does_another_url_is_fetched(serve: Serve, ended: threading.Event) -> None:
    def failing(failure: Any) -> Any:
        """A site whose pages do not come under their first spelling."""
        prefix = "/never" if failure == "never" else "/p"

        def site(asked: Asked) -> Any:
            if asked.path == "/":
                return page("start", *(f"{prefix}?id={i}&sid={sid}" for i in range(PAGES) for sid in range(SPELLINGS)))
            if asked.path == "/login":
                return page("Please log in to see this page")
            if asked.query["sid"] != "0":
                return page(prose(asked.query["id"]))
            if failure == "never":
                ended.wait(PATIENCE)
            return redirect(f"/login?next={asked.query['id']}") if failure == "log in" else failure

        return site

    hard = {"404": 404, "500": 500, "gone": Answer(hang_up=True), "too big": Answer("x" * 5000), "never": "never"}
    soft = {"login": redirect("/login"), "log in": "log in", "empty": Answer(""), "blank": Answer(" \n")}
    sites = {name: failing(failure) for name, failure in (hard | soft).items()}
    done = await crawl_sites(serve, sites, SID, spider=Hasty, **IN_ORDER, DOWNLOAD_MAXSIZE=4000, RETRY_TIMES=0)
    for name, each in done.items():
        reached = {target.partition("&")[0] for target in each.fetched if "id=" in target and "sid=0" not in target}
        assert len({target for target in reached if "next" not in target}) == PAGES, f"{name}: no page is lost"
        # What a connection hangs up on that has answered before, Twisted asks for once more.
        assert max(count for target, count in each.fetched.items() if target != "/login") <= 1 + (name == "gone"), name
        requests = len([target for target in each.fetched if target.startswith(("/p", "/never"))])
        assert requests == 2 * PAGES if name in hard else requests <= SPELLINGS * PAGES, name
    assert not done["404"].faults()
    assert done["404"].stat("released") >= len(hard) * PAGES


class Ignores:
    """What any downloader middleware may do with a request on the way out, and with a response on the way back."""

    number = 0

    def process_request(self, request: scrapy.Request, spider: Any = None) -> None:
        if f"/out-{self.number}?sid=0" in request.url:
            raise IgnoreRequest("not that one")

    def process_response(self, request: scrapy.Request, response: Any, spider: Any = None) -> Any:
        if f"/back-{self.number}?sid=0" in request.url:
            raise IgnoreRequest("not that one")
        return response


class Refuses:
    """What any spider middleware may do with a response."""

    number = 0

    def process_spider_input(self, response: Any, spider: Any = None) -> None:
        if f"-{self.number}?sid=0" in response.url:
            raise ValueError("not that one")


class Raises(Links):
    """Has callbacks that raise, and errbacks but for what is "quiet"."""

    def __init__(self, *start: str) -> None:
        super().__init__(*start)
        self.failed: set[str] = set()

    def parse(self, response: Any) -> Any:
        if "raises" in response.url and response.url.endswith("sid=0"):
            if "after" in response.url:
                yield {"url": response.url, "key": "a part"}
            raise ValueError("no such element")
        for each in super().parse(response):
            yield (
                each.replace(errback=self.errs)
                if isinstance(each, scrapy.Request) and "quiet" not in each.url
                else each
            )

    def errs(self, failure: Any) -> None:
        self.failed.add(failure.request.url)


#: Page -> the spellings that are fetched, and those of which items come.
REFUSED: dict[str, tuple[str, str]] = {
    **{f"/out-{number}": ("1", "1") for number in (5, 500, 650)},
    **{f"/back-{number}": ("01", "1") for number in (5, 500, 650)},
    **{f"/{name}-{number}": ("01", "1") for number in (41, 543, 990) for name in ("refused", "quiet")},
    "/robots": ("1", "1"),
    "/started": ("01", "1"),
    # It has failed with the URL, not with the page; but with the page if it had given something.
    "/raises": ("01", "1"),
    "/raises-after": ("0", "0"),
}


@in_reactor
async def test_whatever_refuses_a_url_another_one_is_fetched(serve: Serve) -> None:
    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"{name}?sid={sid}" for name in REFUSED for sid in range(name == "/started", 3)))
        if asked.path == "/robots.txt":
            return Answer("User-agent: *\nDisallow: /robots?sid=0\n", content_type="text/plain")
        return 404 if asked.target == "/started?sid=0" else page(prose(asked.path))

    outer: Any = {type(f"Ignores{number}", (Ignores,), {"number": number}): number for number in (5, 500, 650)}
    inner: Any = {type(f"Refuses{number}", (Refuses,), {"number": number}): number for number in (41, 543, 990)}
    middlewares = {"DOWNLOADER_MIDDLEWARES": outer, "SPIDER_MIDDLEWARES": inner}
    start = ("/", "/started?sid=0")
    done = await crawl_site(
        serve, site, SID, start=start, spider=Raises, ROBOTSTXT_OBEY=True, **middlewares, **IN_ORDER
    )
    got = [target for target in done.urls if target != "/"]
    found = {
        name: tuple("".join(sorted(each[-1] for each in urls if each[:-6] == name)) for urls in (done.fetched, got))
        for name in REFUSED
    }
    assert found == REFUSED
    assert max(done.fetched.values()) == 1
    failed = {url.partition("?")[0].rpartition("/")[2] for url in done.crawler.spider.failed}  # type: ignore[union-attr]
    assert failed == {name[1:] for name in REFUSED if name.startswith(("/out", "/back", "/refused", "/robots"))}
    assert not done.faults()


@in_reactor
async def test_many_urls_fail_one_after_the_other(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next is fetched at once, as it was asked for, more of them than are kept in memory; none waits for Scrapy's look at idle spiders."""
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 1e6)
    number = 40

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/c?sid={sid}" for sid in range(number)))
        return page(prose("c")) if asked.query["sid"] == str(number - 1) else 404

    class WithMore(Links):
        def parse(self, response: Any) -> Any:
            for request in response.follow_all(css="a", callback=self.show, meta={"category": "hats"}, priority=7):
                yield request.replace(cb_kwargs={"level": 3})

        def show(self, response: Any, level: int = 0) -> Any:
            yield {"url": response.url, "key": (response.meta["category"], level)}

    done = await crawl_site(serve, site, SID, spider=WithMore, **IN_ORDER)
    assert done.items == [{"url": done.server.url(f"/c?sid={number - 1}"), "key": ("hats", 3)}]
    assert done.fetched == dict.fromkeys(("/", *(f"/c?sid={sid}" for sid in range(number))), 1)
    assert len(ledger("released")) == number - 1
    assert done.stat("avoided") == 0


@in_reactor
async def test_a_crawl_that_ends_early(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    site = {"/": page("start", *(f"/c?sid={sid}" for sid in range(3))), "/c": 500}
    done = await crawl_site(serve, site, SID, CLOSESPIDER_PAGECOUNT=1)
    assert done.stats["finish_reason"] == "closespider_pagecount"
    assert not messages(caplog)
    assert not done.faults()


LIMIT = 3


@in_reactor
async def test_a_page_that_is_met_nearer_to_the_start(serve: Serve) -> None:
    """With DEPTH_LIMIT the links of a page at the limit are dropped: its duplicate leads further."""
    far = threading.Barrier(5)

    def site(asked: Asked) -> Any:
        if asked.path == "/leaf":
            return page(prose("leaf" + asked.query["id"]))
        if asked.path == "/hub":
            if asked.query["from"] == "far":
                far.wait(PATIENCE)
            return page(prose("hub" + asked.query["id"]), f"/leaf?id={asked.query['id']}")
        if asked.path == "/late":  # when all of the others are on their way
            far.wait(PATIENCE)
            return page(prose("late"), *(f"/hub?id={i}&from=near" for i in range(4)))
        depth = int(asked.query.get("n", "0"))
        far_ones = [f"/hub?id={i}&from=far" for i in range(4)] if depth == LIMIT - 1 else [f"/chain?n={depth + 1}"]
        return page(prose(f"chain{depth}"), "/late", *far_ones)

    done = await crawl_site(serve, site, ignore("q.from"), CONCURRENT_REQUESTS_PER_DOMAIN=16, DEPTH_LIMIT=LIMIT)
    assert {target for target in done.fetched if target.startswith("/leaf")} == {f"/leaf?id={i}" for i in range(4)}
    assert max(done.fetched.values()) == 1
    assert not done.faults()
