"""When the URL that stands for a key fails, an equivalent one is fetched in its place."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import scrapy
from scrapy.exceptions import IgnoreRequest

from scrapy_dedup.crawl.seen import seen
from scrapy_dedup.crawl.support.compatibility import without_spider
from scrapy_dedup.store.rows import DiscardState

from .conftest import Serve
from .crawling import Links, Outcome, discarded, in_reactor, scenario
from .server import Answer, Asked, page, prose, redirect
from .waiting import PATIENCE

FIFO = "scrapy.squeues.FifoMemoryQueue"
#: The first of three equivalent URLs fails so.
FAILURES: dict[str, Any] = {
    "404": 404,
    "500, retried": 500,
    "gone": Answer(hang_up=True),
    "too big": Answer("x" * 5000),
}


def failing_first(failure: Any) -> Any:
    first: list[str] = []

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/c?sid={number}" for number in range(3)), "/d")
        if asked.path == "/robots.txt":
            return Answer("User-agent: *\nDisallow: /c?sid=2\n", content_type="text/plain")
        if asked.path == "/c" and failure is not None and first in ([], [asked.target]):
            first[:] = [asked.target]
            return failure(asked) if callable(failure) else failure
        return page(prose(asked.path), "/c?sid=9")

    return site


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@in_reactor
async def test_a_failed_request_is_replaced(serve: Serve, failure: Any) -> None:
    done = await scenario(serve, failing_first(failure), DOWNLOAD_MAXSIZE=4000, CONCURRENT_REQUESTS=2)
    one_is_fetched(done)


def one_is_fetched(done: Outcome) -> None:
    fetched = [url for url in done.urls if url.startswith("/c")]
    assert len(fetched) == 1, "exactly one of the equivalents gives the page"
    assert len({target for target in done.fetched if target.startswith("/c")}) == 2
    assert done.stats["dedup/released"] == 1
    assert "dedup/errors" not in str(done.dedup())


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    """Set when the test has ended, whatever became of it."""
    event = threading.Event()
    yield event
    event.set()


@in_reactor
async def test_a_request_that_times_out_is_replaced(serve: Serve, ended: threading.Event) -> None:
    """It is never answered, and no other has so little time."""

    class Hasty(Links):
        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                if isinstance(each, scrapy.Request) and each.url.endswith("sid=0"):
                    each.meta["download_timeout"] = 0.2
                yield each

    def never(asked: Asked) -> str:
        ended.wait(PATIENCE)
        return "late"

    one_is_fetched(await scenario(serve, failing_first(never), spider=Hasty, CONCURRENT_REQUESTS=2))


@without_spider
class IgnoresOnTheWayOut:
    """What any middleware may do with a request."""

    def process_request(self, request: scrapy.Request) -> None:
        if request.url.endswith("sid=0") or request.url.endswith("sid=1"):
            raise IgnoreRequest("not that one")


@without_spider
class IgnoresOnTheWayBack:
    """As above, with a response: no process_exception is called then."""

    def process_response(self, request: scrapy.Request, response: Any) -> Any:
        if request.url.endswith("sid=2") or request.url.endswith("sid=1"):
            raise IgnoreRequest("not that one")
        return response


@pytest.mark.parametrize("middleware", [IgnoresOnTheWayOut, IgnoresOnTheWayBack])
@pytest.mark.parametrize("number", [5, 500, 650])
@in_reactor
async def test_other_middlewares_may_ignore_requests(serve: Serve, middleware: type, number: int) -> None:
    done = await scenario(
        serve, failing_first(None), DOWNLOADER_MIDDLEWARES={middleware: number}, CONCURRENT_REQUESTS=1
    )
    assert [url for url in done.urls if url.startswith("/c")] == [
        "/c?sid=2" if middleware is IgnoresOnTheWayOut else "/c?sid=0"
    ]


@without_spider
class RefusesOnTheWayToTheSpider:
    """What any spider middleware may do with a response."""

    def process_spider_input(self, response: Any) -> None:
        if response.url.endswith("sid=0"):
            raise ValueError("not that one")


@pytest.mark.parametrize("number", [41, 543, 990])
@pytest.mark.parametrize("errback", [False, True])
@in_reactor
async def test_a_spider_middleware_may_refuse_a_response(serve: Serve, number: int, errback: bool) -> None:
    class Errs(Links):
        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                if errback and isinstance(each, scrapy.Request):
                    each = each.replace(errback=self.failed)
                yield each

        def failed(self, failure: Any) -> Any:
            yield {"url": "http://x/failed", "key": None}

    refusing = {RefusesOnTheWayToTheSpider: number}
    done = await scenario(serve, failing_first(None), spider=Errs, SPIDER_MIDDLEWARES=refusing, CONCURRENT_REQUESTS=1)
    assert done.urls == ["/", "/c?sid=1", "/d", *(["/failed"] if errback else [])]
    assert done.stats["dedup/released"] == done.stats["dedup/released/scheduled"] == 1
    assert not [name for name in done.dedup() if name.startswith("errors")]


@in_reactor
async def test_a_page_that_the_callback_fails_with_is_fetched(serve: Serve) -> None:
    """Its equivalents would fail alike."""

    class Fails(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if "/c" in response.url:
                raise ValueError

    done = await scenario(serve, failing_first(None), spider=Fails)
    assert len(done.urls) == 3
    assert "dedup/released" not in done.stats


@in_reactor
async def test_robots_txt(serve: Serve) -> None:
    class LastFirst(Links):
        def parse(self, response: Any) -> Any:
            yield from reversed(list(super().parse(response)))

    site = failing_first(None)
    done = await scenario(serve, site, spider=LastFirst, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=1)
    assert done.urls == ["/", "/c?sid=1", "/d"]
    assert done.stats["dedup/released/scheduled"] == 1


@in_reactor
async def test_a_start_request_that_fails(serve: Serve) -> None:
    site = {"/c": lambda asked: 404 if asked.query["sid"] == "1" else page("c"), "/": page("x", "/c?sid=2")}
    done = await scenario(serve, site, start=("/", "/c?sid=1"))
    assert done.urls == ["/", "/c?sid=2"]


@in_reactor
async def test_what_does_not_find_room_in_memory_is_taken_from_the_ledger(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen, "MOST_WAITING_PER_SLOT", 1)
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/c?sid={number}" for number in range(6)))
        return page(prose("c")) if asked.query["sid"] == "4" else 404

    class WithMore(Links):
        def parse(self, response: Any, level: int = 0) -> Any:
            yield {"url": response.url, "key": response.meta["category"]}

        def start_parse(self, response: Any) -> Any:
            for request in response.follow_all(css="a", callback=self.parse, meta={"category": "hats"}, priority=7):
                request.cb_kwargs["level"] = 3
                yield request

        async def start(self) -> Any:
            yield scrapy.Request(self.start_urls[0], callback=self.start_parse)

    done = await scenario(serve, site, spider=WithMore, CONCURRENT_REQUESTS=1)
    assert done.items == [{"url": done.server.url("/c?sid=4"), "key": "hats"}]
    assert max(done.fetched.values()) == 1
    states = {row.url.rpartition("=")[2]: row.state for row in discarded(spider="links")}
    assert states.pop("4") is DiscardState.RELEASED
    assert set(states.values()) <= {DiscardState.RELEASED, DiscardState.PENDING}


@in_reactor
async def test_many_equivalents_fail_one_after_the_other(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next is fetched at once: none waits for Scrapy's look at idle spiders every 5 seconds, which never comes here."""
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 1e6)

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/c?sid={number}" for number in range(12)))
        return page(prose("c")) if asked.query["sid"] == "0" else 404

    done = await scenario(serve, site, CONCURRENT_REQUESTS=1)
    assert "/c?sid=0" in done.urls
    assert max(done.fetched.values()) == 1


@in_reactor
async def test_a_crawl_that_ends_early(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    done = await scenario(serve, failing_first(500), CLOSESPIDER_PAGECOUNT=1)
    assert done.stats["finish_reason"] == "closespider_pagecount"
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "CRITICAL")]
    assert "dedup/errors" not in str(done.dedup())


SPELLINGS = 3


@pytest.mark.parametrize(
    "failure",
    [redirect("/login"), "a log-in page that names it", Answer(""), Answer(" \n")],
    ids=["redirect to log in", "redirect that names the page", "empty", "blank"],
)
@in_reactor
async def test_what_answers_with_no_page_of_its_own_is_replaced(serve: Serve, failure: Any) -> None:
    """The first spelling of each page leads to one page for all of them, or to nothing."""

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid={sid}" for i in range(8) for sid in range(SPELLINGS)))
        if asked.path == "/login":
            return page("Please log in to see this page")
        if asked.query["sid"] != "0":
            return page(prose(asked.query["id"]))
        return redirect(f"/login?next={asked.query['id']}") if isinstance(failure, str) else failure

    # Breadth first: the first spelling stands for its page.
    order = {
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": FIFO,
        "CONCURRENT_REQUESTS": 1,
    }
    done = await scenario(serve, site, **order)
    reached = {target.partition("&")[0] for target in done.fetched if target.startswith("/p") and "sid=0" not in target}
    assert reached == {f"/p?id={i}" for i in range(8)}, "no page is lost"
    assert done.fetched.total() <= 1 + 8 + 8 * SPELLINGS
    assert max(done.fetched.values()) == 1
    assert "dedup/errors" not in str(done.dedup())


@pytest.mark.parametrize("given", [False, True])
@in_reactor
async def test_a_callback_that_raises(serve: Serve, given: bool) -> None:
    """It has failed with the URL, not with the page: another URL of it may go well, unless it had given something."""

    class Raises(Links):
        def parse(self, response: Any) -> Any:
            if response.url.endswith("sid=0"):
                if given:
                    yield {"url": "a part of " + response.url}
                raise ValueError("no such element")
            yield from super().parse(response)

    site = {"/": page("start", "/c?sid=0", "/c?sid=1", "/c?sid=2"), "/c": page(prose("c"))}
    done = await scenario(serve, site, spider=Raises, CONCURRENT_REQUESTS=1, SCHEDULER_MEMORY_QUEUE=FIFO)
    fetched = [target for target in done.fetched if target != "/"]
    assert fetched == (["/c?sid=0"] if given else ["/c?sid=0", "/c?sid=1"])
    assert len(done.items) == 2


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

    done = await scenario(serve, site, "q.from", CONCURRENT_REQUESTS_PER_DOMAIN=16, DEPTH_LIMIT=LIMIT, DEDUP_SAMPLE=0)
    leaves = {target for target in done.fetched if target.startswith("/leaf")}
    assert leaves == {f"/leaf?id={i}" for i in range(4)}, "no page is lost"
    assert max(done.fetched.values()) == 1
    assert "dedup/errors" not in str(done.dedup())
