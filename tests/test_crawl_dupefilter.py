"""A link to a page that is fetched already is filtered; what may be more than a page's URL is left alone."""

from typing import Any

import pytest
import scrapy
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider
from scrapy.spiders import Rule as LinkRule
from scrapy.utils.request import RequestFingerprinter, fingerprint

from .conftest import Serve
from .crawling import Links, Outcome, crawl_site, download, ignore, in_reactor, ledger, messages, without
from .server import Asked, page, prose, redirect

SID = ignore("q.sid")
PAGES = 3


def shop(asked: Asked) -> Any:
    """Some pages, each linked under new session ids from every page."""
    if asked.path == "/":
        return page("start", "/", *(f"/p?id={i}&sid=s{j}" for i in range(PAGES) for j in range(2)))
    number = asked.query["id"]
    return page(prose(number), "/", f"/p?id={number}&sid=again", f"/p?sid=x&id={number}", f"/p?id={number}")


@in_reactor
async def test_each_page_is_fetched_once(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        done = await crawl_site(serve, shop, SID)
    url = done.server.url
    # The start page once more, for a link, as without rules: it may have been another one before a log-in.
    assert without("sid", done.fetched) == {"/": 1, **{f"/p?id={i}": 1 for i in range(PAGES)}}
    assert done.fetched["/"] == 2
    (name,) = [name for name in done.dedup() if name.startswith("discarded/rule/")]
    assert (done.stat("rules"), done.stat("recorded")) == (1, len(done.items))
    assert done.stat("discarded/urls") == done.stat(name) == done.stat("avoided") == len(ledger()) == PAGES * (1 + 3)
    assert {(row.taken_for, row.callback) for row in ledger()} <= {(url(target), "parse") for target in done.fetched}
    told = [text for text in messages(caplog, 10) if "sid=again" in text]
    assert len(told) == PAGES
    assert all("the same page as http" in text and name.rpartition("/")[2] in text for text in told)
    assert messages(caplog, 20)[0].startswith("scrapy-dedup, mode active: 1 rule for 1 site, from ")
    assert set(done.keys.values()) == {url("/"), *(url(f"/p?id={i}") for i in range(PAGES))}


class TwoLevels(Links):
    custom_settings = {"DEPTH_LIMIT": 2, "DUPEFILTER_CLASS": BaseDupeFilter}


@in_reactor
async def test_nothing_is_filtered_without_a_rule_a_mode_or_a_filter(serve: Serve) -> None:
    stock = await crawl_site(serve, shop, ADDONS={})
    site = stock.server.site
    for rules, settings, shadow, keys in (
        ([], {}, False, True),
        ([SID], {"DEDUP_MODE": "observe"}, False, True),
        ([SID], {"DEDUP_SITES": {site: "shadow"}}, True, True),
        ([SID], {"DEDUP_SITES": {site: False}}, False, False),
        ([SID], {"DEDUP_ENABLED": False}, False, False),
    ):
        done = await stock.again(*rules, **settings)
        assert done.fetched == stock.fetched, settings
        assert done.stats["dupefilter/filtered"] == stock.stats["dupefilter/filtered"]
        assert done.stat("discarded") == 0
        assert done.stat("shadow/discarded") == (len(stock.items) - 2 - PAGES if shadow else 0)
        assert (None not in done.keys.values(), done.stat("recorded") > 0) == (keys, keys)
    active = await stock.again(DEDUP_MODE="shadow", DEDUP_SITES={site: "active"})
    assert len(active.items) == 2 + PAGES
    # A project without a dupe filter stays without.
    unfiltered = await stock.again(spider=TwoLevels, ADDONS={})
    done = await stock.again(spider=TwoLevels)
    assert (done.fetched, done.stat("recorded")) == (unfiltered.fetched, len(unfiltered.items))
    assert max(done.fetched.values()) > 2


class Minding(RequestFingerprinter):
    """Sees a browser action in meta, and fragments, besides what Scrapy sees."""

    def fingerprint(self, request: Request) -> bytes:
        return fingerprint(request, keep_fragments=True) + repr(request.meta.get("browser")).encode()


class Asks(Links):
    """Asks for the pages of a table under new session ids, in their order."""

    asks: dict[str, list[tuple[dict[str, Any], bool]]]

    async def parse(self, response: Any) -> Any:
        for name, requests in self.table().items():
            for number, (given, _) in enumerate(requests):
                more = dict(given)
                fragment = more.pop("fragment", "")
                yield Request(response.urljoin(f"/{name}?sid={number}{fragment}"), **more)

    def table(self) -> dict[str, list[tuple[dict[str, Any], bool]]]:
        """Page -> what its requests are made with, and whether they are fetched."""
        raise NotImplementedError

    def show(self, response: Any, **_: Any) -> Any:
        yield {"url": response.url, "key": response.meta.get("dedup_key")}

    def reviews(self, response: Any) -> Any:
        yield from self.show(response)

    # A second attribute with the same function name, as web-poet's callback_for gives it.
    def show_other(self, response: Any) -> Any:
        yield from self.show(response)

    show_other.__name__ = "show"


def shown(response: Any) -> Any:
    yield {"url": response.url, "key": None}


class AsksForAll(Asks):
    def table(self) -> dict[str, list[tuple[dict[str, Any], bool]]]:
        one = {"callback": self.show}
        unknown = object()

        def inner(response: Any) -> Any:
            yield from shown(response)

        tables: dict[str, list[tuple[dict[str, Any], bool]]] = {
            "link": [({}, True), ({}, False)],
            "method": [({}, True), *[({"method": method}, True) for method in ("POST", "HEAD")], ({}, False)],
            "body": [({}, True), ({"body": b"x"}, True)],
            "verbatim": [({}, True), ({"meta": {"verbatim_url": True}}, True)],
            "dont_filter": [({}, True), ({"dont_filter": True}, True), ({}, False)],
            "switched off": [({}, True), ({"meta": {"dedup": False}}, True)],
            "cookies": [({}, True), *[({"meta": {"cookiejar": 1}}, is_new) for is_new in (True, False)]],
            "arguments": [
                *[({"cb_kwargs": {"list": number}}, is_new) for number, is_new in ((1, True), (1, False), (2, True))],
                *[({"cb_kwargs": {"n": unknown}}, True)] * 2,  # nothing tells what it is
            ],
            "callbacks": [
                *[({"callback": self.reviews}, is_new) for is_new in (True, False)],
                *[({"callback": self.show_other}, is_new) for is_new in (True, False)],
                *[({"callback": shown}, is_new) for is_new in (True, False)],
                # Nothing tells what these do, or the ledger could not give their requests back.
                *[({"callback": lambda response, n=1: shown(response)}, True) for _ in range(2)],
                *[({"callback": inner}, True)] * 2,
                ({"callback": AsksForAll("x").show}, True),
            ],
            "fragment": [({}, True), ({"fragment": "#page2"}, False)],
            "browser": [({}, True), ({"meta": {"browser": "click"}}, False)],
        }
        return {name: [({**one, **given}, is_new) for given, is_new in rows] for name, rows in tables.items()}


class AsksMinding(Asks):
    custom_settings = {"REQUEST_FINGERPRINTER_CLASS": Minding}

    def table(self) -> dict[str, list[tuple[dict[str, Any], bool]]]:
        click, scroll = {"meta": {"browser": "click"}}, {"meta": {"browser": "scroll"}}
        pages = [({"fragment": fragment}, True) for fragment in ("#page2", "#page3")]
        return {"page": [({}, True), ({}, False), (click, True), (click, False), (scroll, True), *pages]}

    async def parse(self, response: Any) -> Any:
        if response.url.endswith("/"):
            async for each in super().parse(response):
                yield each.replace(callback=self.show)


class AsksByRules(CrawlSpider):
    """The rules of a CrawlSpider are callbacks."""

    name = "ruled"
    rules = (
        LinkRule(LinkExtractor(allow="sid=[01]"), callback="a"),
        LinkRule(LinkExtractor(allow="sid=[23]"), callback="b"),
    )

    def __init__(self, *start: str) -> None:
        super().__init__()
        self.start_urls = list(start)

    def a(self, response: Any) -> Any:
        yield {"url": response.url, "key": "a"}

    def b(self, response: Any) -> Any:
        yield {"url": response.url, "key": "b"}


@pytest.mark.parametrize("spider", [AsksForAll, AsksMinding])
@in_reactor
async def test_requests_that_are_more_than_a_url(serve: Serve, spider: type[Asks]) -> None:
    done = await crawl_site(serve, lambda asked: page(prose(asked.target)), SID, spider=spider)
    fetched = {
        name: [bool(done.fetched[f"/{name.replace(' ', '%20')}?sid={number}"]) for number in range(len(rows))]
        for name, rows in done.crawler.spider.table().items()  # type: ignore[union-attr]
    }
    expected = {name: [is_new for _, is_new in rows] for name, rows in done.crawler.spider.table().items()}  # type: ignore[union-attr]
    assert fetched == expected
    assert done.stat("ledger/prevented") == (1 if spider is AsksForAll else 0)
    assert "log_count/ERROR" not in done.stats


@in_reactor
async def test_each_rule_of_a_crawl_spider_gets_each_page(serve: Serve) -> None:
    site = {"/": page("start", *(f"/p?sid={number}" for number in range(4))), "/p": page(prose("p"))}
    done = await crawl_site(serve, site, SID, spider=AsksByRules)  # type: ignore[arg-type]
    assert sorted((item["url"][-1], item["key"]) for item in done.items) == [("0", "a"), ("2", "b")]


@pytest.mark.parametrize("dont_filter", [False, True])
@in_reactor
async def test_start_requests_are_never_filtered_by_a_rule(serve: Serve, dont_filter: bool) -> None:
    class Starts(Links):
        async def start(self) -> Any:
            for target in ("/p?id=1&sid=a", "/p?id=1&sid=b", "/p?id=1&sid=b", "/moved"):
                yield Request(self.start_urls[0][:-1] + target, dont_filter=dont_filter)

        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                # As many spiders do: what is said there of the start request is not true of its links.
                yield each.replace(meta=dict(response.meta)) if isinstance(each, Request) else each

    site = {"/moved": redirect("/p?id=1&sid=m"), "/p": page(prose("1"), "/p?sid=x&id=1")}
    done = await crawl_site(serve, site, SID, spider=Starts)
    started = {"/p?id=1&sid=a": 1, "/p?id=1&sid=b": 2 if dont_filter else 1, "/moved": 1, "/p?id=1&sid=m": 1}
    assert done.fetched == started
    assert done.stat("discarded/urls") == 1
    assert done.stats.get("dupefilter/filtered", 0) == (0 if dont_filter else 1)


@in_reactor
async def test_what_a_callback_downloads_itself_is_never_filtered(serve: Serve) -> None:
    class Downloads(Links):
        got: list[int]

        async def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each
            if "id=" in response.url:
                same = response.url.rpartition("=")[0]
                # An equivalent URL, the page's own, and the request that has come here, with its meta.
                for request in (Request(f"{same}=new"), Request(response.url), response.request.copy()):
                    self.got.append((await download(self.crawler, request)).status)

    Downloads.got = []
    done: Outcome = await crawl_site(serve, shop, SID, spider=Downloads)
    assert len(done.items) == 2 + PAGES
    assert Downloads.got == [200] * 3 * PAGES
    assert done.fetched.total() == len(done.items) + len(Downloads.got)
    assert isinstance(done.crawler.spider, scrapy.Spider)
    assert "log_count/ERROR" not in done.stats
