"""Crawls with packages that are popular beside Scrapy, with and without the add-on: the same items, and nothing more than that.

Each row of STACKS crawls one shop with the real package. What is compared: distinct items, the callbacks and errbacks that were
called, errors in the log, exceptions that Scrapy has counted, and requests.
"""

import base64
import json
import logging
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import scrapy
from scrapy.utils.request import fingerprint

from .conftest import Serve
from .crawling import crawl, ignore, in_reactor, save_rules, statuses
from .server import Answer, Asked, Server, as_json, page, prose

CHROMIUM: Final = Path("/usr/bin/chromium")
#: Settings that a user has by default, and that the other tests switch off.
ON: Final[dict[str, Any]] = {"DEDUP_LEARN": "live", "DEDUP_SAMPLE": 0.02, "DEDUP_STARTER": 12, "DEDUP_EXTRA": 0.2}
BOOKS: Final = 16
WAYS: Final = ("list", "ad", "mail")
#: A book that is sold out: the server says 404.
GONE: Final = 7


def shop(books: int) -> Callable[[Asked], Any]:
    """Books, each linked in three ways from the start page."""

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/b/{book}?ref={way}" for way in WAYS for book in range(books)))
        kind, _, number = asked.path.strip("/").partition("/")
        if kind == "cover":
            return Answer(f"cover of {number}", content_type="image/png")
        if kind != "b" or int(number) == GONE:
            return 404
        return page(prose(number), title=f"Book {number}")

    return answer


class Books(scrapy.Spider):
    """Notes what is called; its errback yields an item, as that of a checker of links does."""

    name = "books"

    def __init__(self, start: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [start]
        self.called: Counter[tuple[str, str]] = Counter()

    def parse(self, response: Any) -> Any:
        for url in response.css("a::attr(href)").getall():
            yield self.request(response.urljoin(url))

    def request(self, url: str) -> scrapy.Request:
        return scrapy.Request(url, callback=self.book, errback=self.failed)

    def book(self, response: Any) -> Any:
        self.called["book", response.url] += 1
        yield self.item(response.url, response.css("title::text").get())

    def item(self, url: str, title: str | None) -> dict[str, Any]:
        return {"book": url.partition("?")[0], "title": title}

    def failed(self, failure: Any) -> Any:
        self.called["failed", failure.request.url] += 1
        yield {"book": failure.request.url.partition("?")[0], "broken": type(failure.value).__name__}


@dataclass(frozen=True)
class Stack:
    """A way to crawl the shop; *made* imports the package and returns the spider and its settings."""

    made: Callable[[Server], tuple[type[Books], dict[str, Any]]]
    books: int = BOOKS
    marks: tuple[Any, ...] = ()
    #: Whether the rule is learned in a crawl before: where what is on the way may be in the way of other crawls than plain ones.
    learns: bool = False
    #: Whether the crawl that it is compared with does without the package, too, in which a page takes long.
    plain: bool = False
    #: After how many pages the spider closes, and a second run of the job goes on.
    stops: int = 0


@dataclass
class Ran:
    """What a crawl has done."""

    items: set[str]
    called: Counter[Any]
    exceptions: int
    downloads: int


def plain(_: Server) -> tuple[type[Books], dict[str, Any]]:
    return Books, {}


def files(server: Server) -> tuple[type[Books], dict[str, Any]]:
    class WithCovers(Books):
        def item(self, url: str, title: str | None) -> dict[str, Any]:
            cover = server.url("/cover/" + url.partition("?")[0].rpartition("/")[2])
            return {**super().item(url, title), "file_urls": [cover]}

    return WithCovers, {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": "covers"}


class MindsHeaders:
    """A request fingerprinter by which requests of several user agents are several."""

    def fingerprint(self, request: scrapy.Request) -> bytes:
        return fingerprint(request, include_headers=["User-Agent"])


def headers(_: Server) -> tuple[type[Books], dict[str, Any]]:
    """The header is added by a middleware, when the request was let pass already."""
    return Books, {"REQUEST_FINGERPRINTER_CLASS": MindsHeaders}


def poet(_: Server) -> tuple[type[Books], dict[str, Any]]:
    pytest.importorskip("scrapy_poet")
    from web_poet import WebPage

    class BookPage(WebPage):  # type: ignore[misc, unused-ignore]
        @property
        def title(self) -> str | None:
            found: str | None = self.css("title::text").get()
            return found

    class WithPages(Books):
        async def book(self, response: Any, page: BookPage) -> Any:
            self.called["book", response.url] += 1
            yield self.item(response.url, page.title)

    return WithPages, {"ADDONS": {"scrapy_poet.Addon": 300}}


def playwright(_: Server) -> tuple[type[Books], dict[str, Any]]:
    pytest.importorskip("scrapy_playwright")
    from .browsing import QUIET

    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")

    class WithBrowser(Books):
        def request(self, url: str) -> scrapy.Request:
            meta = {"playwright": True, "playwright_include_page": True}
            return super().request(url).replace(meta=meta)

        async def book(self, response: Any) -> Any:
            browser_page = response.meta["playwright_page"]
            title = await browser_page.title()
            await browser_page.close()
            self.called["book", response.url] += 1
            yield self.item(response.url, title)

    return WithBrowser, {
        # One for https would start one more driver.
        "DOWNLOAD_HANDLERS": {"http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"},
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": str(CHROMIUM), "args": list(QUIET)},
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 1,
    }


def spidermon(_: Server) -> tuple[type[Books], dict[str, Any]]:
    """A monitor that fails, or cannot run, is an error in the log."""
    pytest.importorskip("spidermon")
    from spidermon import MonitorSuite
    from spidermon.contrib.scrapy import monitors

    class Closing(MonitorSuite):  # type: ignore[misc, unused-ignore]
        monitors = [
            getattr(monitors, f"{name}Monitor")
            for name in (
                "ErrorCount",
                "DownloaderException",
                "UnwantedHTTPCodes",
                "ItemCount",
                "FinishReason",
                "FieldCoverage",
            )
        ]

    return Books, {
        "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        "SPIDERMON_ENABLED": True,
        "SPIDERMON_MAX_ERRORS": 0,
        "SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS": 0,
        "SPIDERMON_UNWANTED_HTTP_CODES": [500],
        "SPIDERMON_MIN_ITEMS": BOOKS,
        "SPIDERMON_EXPECTED_FINISH_REASONS": ["finished"],
        "SPIDERMON_SPIDER_CLOSE_MONITORS": [Closing],
        "SPIDERMON_ADD_FIELD_COVERAGE": True,
        "SPIDERMON_FIELD_COVERAGE_RULES": {"dict/book": 1.0},
    }


def redis(_: Server) -> tuple[type[Books], dict[str, Any]]:
    pytest.importorskip("scrapy_redis")
    return Books, {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_FLUSH_ON_START": True,
    }


def job(_: Server) -> tuple[type[Books], dict[str, Any]]:
    return Books, {"JOBDIR": "job"}


def zyte_api(server: Server, *, poet: bool = False) -> tuple[type[Books], dict[str, Any]]:
    """The client of Zyte API, of which the server answers for the service: what it is asked for is fetched from the shop."""
    pytest.importorskip("scrapy_zyte_api")

    def extract(asked: Asked) -> Any:
        wanted = json.loads(asked.body)
        url = wanted["url"]
        path = "/" + url.split("/", 3)[3]
        said = shop(BOOKS)(Asked("GET", "", path, {}))
        status = said if isinstance(said, int) else 200
        answer: dict[str, Any] = {"url": url, "statusCode": status}
        if "httpResponseBody" in wanted:
            text = said if isinstance(said, str) else f"status {said}"
            answer["httpResponseBody"] = base64.b64encode(text.encode()).decode()
            answer["httpResponseHeaders"] = [{"name": "content-type", "value": "text/html; charset=utf-8"}]
        if "product" in wanted:
            answer["product"] = {"url": url, "name": f"Book {path.partition('?')[0].rpartition('/')[2]}"}
        return as_json(answer)

    server.routes = {**server.routes, "/v1/extract": extract}
    settings: dict[str, Any] = {
        "ADDONS": {"scrapy_zyte_api.Addon": 500},
        "ZYTE_API_URL": server.url("/v1/"),
        "ZYTE_API_KEY": "a" * 32,
    }
    if not poet:
        return Books, settings
    pytest.importorskip("scrapy_poet")
    from zyte_common_items import Product

    class WithProducts(Books):
        async def book(self, response: Any, product: Product) -> Any:
            self.called["book", response.url] += 1
            yield self.item(response.url, product.name)

    settings["ADDONS"]["scrapy_poet.Addon"] = 300
    return WithProducts, settings


STACKS: Final = {
    "errback": Stack(plain, learns=True),
    "FilesPipeline": Stack(files, learns=True),
    "a fingerprinter of headers": Stack(headers),
    "scrapy-poet": Stack(poet),
    "scrapy-playwright": Stack(playwright, books=4, marks=(pytest.mark.browser,), plain=True),
    "scrapy-redis": Stack(redis, marks=(pytest.mark.redis,), learns=True),
    "JOBDIR": Stack(job, stops=25, learns=True),
    "spidermon": Stack(spidermon),
    "scrapy-zyte-api": Stack(zyte_api),
    "scrapy-zyte-api providers": Stack(partial(zyte_api, poet=True), learns=True),
}


async def ran(server: Server, stack: Stack, spider: type[Books], caplog: Any, settings: dict[str, Any]) -> Ran:
    """Crawl the shop from the beginning to the end: no error is told, be it by the plug-in or by others, of which no warning is, too."""
    server.reset()
    caplog.clear()
    for left in ("job", "covers"):
        shutil.rmtree(left, ignore_errors=True)
    runs = [await crawl(spider, server.url("/"), **settings, CLOSESPIDER_PAGECOUNT=stack.stops)]
    if stack.stops:
        runs.append(await crawl(spider, server.url("/"), **settings))
    for record in caplog.records:
        assert record.levelno < (logging.ERROR if record.name.startswith("scrapy_dedup") else logging.WARNING), record
    assert not [name for run in runs for name in run.faults()]
    return Ran(
        {json.dumps(item, sort_keys=True, default=str) for run in runs for item in run.items},
        sum((run.crawler.spider.called for run in runs), Counter()),  # type: ignore[union-attr]
        sum(run.stats.get("downloader/exception_count", 0) for run in runs),
        # What a browser asks for by itself is no page.
        sum(count for target, count in server.hits.items() if target != "/favicon.ico"),
    )


@pytest.mark.parametrize("name", [pytest.param(name, marks=stack.marks) for name, stack in STACKS.items()])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::scrapy.exceptions.ScrapyDeprecationWarning")
@in_reactor
async def test_a_crawl_is_what_it_was_and_saves(
    serve: Serve, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest, name: str
) -> None:
    """With a rule that is used for the first time, so that much is checked; some learn it first."""
    stack = STACKS[name]
    server = serve(shop(stack.books))
    spider, own = stack.made(server)
    settings = {"CONCURRENT_REQUESTS": 4, **own}
    if name == "scrapy-redis":
        settings["REDIS_URL"] = request.getfixturevalue("redis_server").url
    addons = settings.pop("ADDONS", {})
    without = (Books, {}) if stack.plain else (spider, settings)
    stock = await ran(server, stack, without[0], caplog, {**without[1], "ADDONS": addons})
    assert len(stock.items) == stack.books
    assert stock.called.total() == len(WAYS) * stack.books
    settings |= {**ON, "ADDONS": {**addons, "scrapy_dedup.Addon": 600}}
    if not stack.learns:
        save_rules(server.site, ignore("q.ref", "active"))
    for learn in ("live", "off") if stack.learns else ("live",):
        done = await ran(server, stack, spider, caplog, {**settings, "DEDUP_LEARN": learn})
        assert done.items == stock.items, "nothing is lost or changed by the add-on"
        assert not done.called - stock.called, "no callback or errback more"
        assert done.exceptions <= stock.exceptions
        assert done.downloads <= stock.downloads + 1
        assert statuses(server.site) == {"q.ref": "active"}
    assert done.downloads < stock.downloads - stack.books / 2
