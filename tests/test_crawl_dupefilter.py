"""What is discarded and what is left alone; the filter around other filters."""

from typing import Any

import pytest
import scrapy
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.http.request import NO_CALLBACK
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider
from scrapy.spiders import Rule as LinkRule
from scrapy.utils.request import RequestFingerprinter, fingerprint

from scrapy_dedup import Addon
from scrapy_dedup.crawl import DupeFilter, SampleGate
from scrapy_dedup.crawl.settings.dedup_settings import DedupSettingError
from scrapy_dedup.crawl.support.compatibility import fingerprints_of, heard_by
from scrapy_dedup.rules import Ignore

from .conftest import Serve
from .crawling import BASE, Links, crawl, in_reactor, messages, rule, write_rules
from .crawling_parts import crawler, dupe_filter, filter_of
from .server import Answer, Asked, page, prose, redirect

SITE = "http://shop.test/"
SID = rule("shop.test", {"q.sid": Ignore()})


def shop(asked: Asked) -> Any:
    """Five pages, each linked under new session ids from every page."""
    if asked.path == "/":
        return page("start", "/", *(f"/p?id={i}&sid=s{j}" for i in range(5) for j in range(3)))
    number = asked.query["id"]
    return page(prose(number), "/", f"/p?id={number}&sid=again", f"/p?sid=x&id={number}", f"/p?id={number}")


@in_reactor
async def test_each_page_is_fetched_once(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    with caplog.at_level("DEBUG"):
        done = await crawl(Links, server.url("/"))
    assert server.downloads == len(done.items) == 6 + 1, "the start page once more, for a link, as without rules"
    stats = done.dedup()
    (name,) = [name for name in stats if name.startswith("discarded/rule/")]
    assert stats["rules"] == 1
    assert stats["discarded/urls"] == stats[name] == 5 * (2 + 3)
    assert stats["discarded"] >= stats["discarded/urls"]
    told = [text for text in messages(caplog, 10) if "sid=again" in text]
    assert f"the same page as {server.url('/p?id=0&sid=s')}" in told[0] or len(told) == 5
    assert all(name.rpartition("/")[2] in text for text in told)
    assert messages(caplog, 20)[0].startswith("scrapy-dedup, mode active: 1 rule for 1 site, from ")
    assert done.keys[server.url("/")] == server.url("/")
    assert set(done.keys.values()) == {server.url("/"), *(server.url(f"/p?id={i}") for i in range(5))}


@in_reactor
async def test_without_a_rule_nothing_changes(serve: Serve) -> None:
    server = serve(shop)
    stock = await crawl(Links, server.url("/"), ADDONS={})
    before = server.hits
    server.reset()
    done = await crawl(Links, server.url("/"))
    assert len(done.items) == len(stock.items)
    assert server.hits == before
    assert done.stats["dupefilter/filtered"] == stock.stats["dupefilter/filtered"]


@in_reactor
async def test_a_page_that_changes_after_a_log_in_is_fetched_again(serve: Serve) -> None:
    """The start request goes around every filter: it must not make a later one for its URL a duplicate."""

    class LogIn(Links):
        name = "login"

        def parse(self, response: Any) -> Any:
            if "form" in response.text:
                yield Request(response.urljoin("/login"), method="POST", callback=self.after)
            else:
                yield from super().parse(response)

        def after(self, response: Any) -> Any:
            yield Request(response.urljoin("/"), callback=self.parse)

    inside: list[bool] = []

    def site(asked: Asked) -> Any:
        if asked.path == "/login":
            inside.append(True)
            return page("welcome")
        return page(prose(asked.path), "/a") if inside or asked.path != "/" else Answer("<form>log in</form>")

    server = serve(site)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    done = await crawl(LogIn, server.url("/"))
    assert sorted(done.urls) == ["/", "/a"]


@pytest.mark.parametrize("dont_filter", [False, True])
@in_reactor
async def test_start_requests_are_never_discarded_by_a_rule(serve: Serve, dont_filter: bool) -> None:
    class Starts(Links):
        async def start(self) -> Any:
            for target in ("/p?id=1&sid=a", "/p?id=1&sid=b", "/p?id=1&sid=b", "/moved"):
                yield Request(self.start_urls[0] + target, dont_filter=dont_filter)

        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                # As many spiders do: what is said there of the start request is not true of its links.
                yield each.replace(meta=dict(response.meta)) if isinstance(each, Request) else each

    server = serve(
        lambda asked: redirect("/p?id=1&sid=m") if asked.path == "/moved" else page(prose("1"), "/p?sid=x&id=1")
    )
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    done = await crawl(Starts, server.url("/")[:-1])
    assert server.hits == {
        "/p?id=1&sid=a": 1,
        "/p?id=1&sid=b": 2 if dont_filter else 1,
        "/moved": 1,
        "/p?id=1&sid=m": 1,
    }
    assert done.stats["dedup/discarded/urls"] == 1
    assert done.stats.get("dupefilter/filtered", 0) == (0 if dont_filter else 1)


@in_reactor
async def test_cookie_jars_and_arguments_of_callbacks_tell_requests_apart(serve: Serve) -> None:
    """Another session sees another page; what a callback makes of a page depends on its arguments."""
    server = serve(
        lambda asked: page("start", *(f"/p?sid={i}" for i in range(9))) if asked.path == "/" else page(prose("p"))
    )
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    unknown = object()

    class Told(Links):
        def parse(self, response: Any, **kwargs: Any) -> Any:
            if not response.url.endswith("/"):
                yield {"url": response.url, "key": (response.meta.get("cookiejar"), kwargs)}
                return
            meta = ({}, {}, {"cookiejar": 1}, {"cookiejar": 1}, {}, {}, {}, {}, {})
            arguments = ({}, {}, {}, {}, {"list": 1}, {"list": 1}, {"list": 2}, {"n": unknown}, {"n": unknown})
            for each, its_meta, its_arguments in zip(response.follow_all(css="a"), meta, arguments, strict=True):
                yield each.replace(meta=its_meta, cb_kwargs=its_arguments)

    done = await crawl(Told, server.url("/"))
    kinds = [item["key"] for item in done.items]
    assert len(kinds) == 6
    for kind in ((None, {}), (1, {}), (None, {"list": 1}), (None, {"list": 2})):
        assert kinds.count(kind) == 1, kind
    assert kinds.count((None, {"n": unknown})) == 2, "nothing tells what it is: left alone"


@in_reactor
async def test_modes_and_sites(serve: Serve) -> None:
    server = serve(shop)
    site = f"127.0.0.1:{server.port}"
    write_rules(rule(site, {"q.sid": Ignore()}))
    stock = await crawl(Links, server.url("/"), ADDONS={})
    for settings in (
        {"DEDUP_MODE": "observe"},
        {"DEDUP_MODE": "shadow"},
        {"DEDUP_SITES": {site: "observe"}},
        {"DEDUP_SITES": {site: "shadow"}},
        {"DEDUP_SITES": {site: False}},
        {"DEDUP_ENABLED": False},
    ):
        server.reset()
        done = await crawl(Links, server.url("/"), **settings)
        assert done.urls == stock.urls, settings
        assert done.stats["dupefilter/filtered"] == stock.stats["dupefilter/filtered"]
        assert "dedup/discarded" not in done.stats
        shadow = "shadow" in str(settings)
        assert done.stats.get("dedup/shadow/discarded", 0) == (len(stock.items) - 7 if shadow else 0)
        off = not settings.get("DEDUP_ENABLED", True) or settings.get("DEDUP_SITES") == {site: False}
        assert all((key is None) == off for key in done.keys.values())
        assert bool(done.stats.get("dedup/recorded")) != off
    server.reset()
    done = await crawl(Links, server.url("/"), DEDUP_MODE="shadow", DEDUP_SITES={site: "active"})
    assert len(done.items) == 7


def test_what_is_left_alone() -> None:
    one, two = SITE + "c?sid=1", SITE + "c?sid=2"
    with dupe_filter(SID) as made:
        assert not made.request_seen(Request(one))
        for kept in (
            Request(two, method="POST", body=b"x"),
            Request(two, method="HEAD"),
            Request(two, body=b"x"),
            Request(two, meta={"verbatim_url": True}),
            Request(two, meta={"dedup": False}),
            Request(two, callback=NO_CALLBACK),
            Request("ftp://shop.test/c?sid=2"),
        ):
            assert not made.request_seen(kept), kept
            assert "dedup_checked" not in kept.meta
            fingerprints_of(made.wrapped).clear()
        assert made.request_seen(Request(two))


def test_callbacks_tell_requests_apart() -> None:
    class Two(scrapy.Spider):
        name = "two"

        def parse(self, response: Any) -> None: ...

        def reviews(self, response: Any) -> None: ...

        # A second attribute with the same function name, as web-poet's callback_for gives it.
        def parse_other(self, response: Any) -> None: ...

        parse_other.__name__ = "parse"

    def one(sid: int, **kwargs: Any) -> Request:
        return Request(f"{SITE}c?sid={sid}", **kwargs)

    write_rules(SID)
    made_for = crawler(SID, spider=Two)
    spider: Any = made_for.spider
    with filter_of(made_for) as made:
        assert not made.request_seen(one(1))
        assert made.request_seen(one(2, callback=spider.parse)), "the default callback by its name"
        assert not made.request_seen(one(3, callback=spider.reviews))
        assert made.request_seen(one(4, callback=spider.reviews))
        assert not made.request_seen(one(5, callback=spider.parse_other))
        assert made.request_seen(one(6, callback=spider.parse_other))
        item = {"a": 1}
        for number, callback in enumerate((lambda response: item, lambda response, n=1: n, Two("x").parse)):
            for sid in (10, 20):
                assert not made.request_seen(one(sid + number, callback=callback)), "nothing tells what it does"
        assert not made.request_seen(one(30, callback=test_what_is_left_alone))
        assert made.request_seen(one(31, callback=test_what_is_left_alone))


def test_the_rules_of_a_crawl_spider_are_callbacks() -> None:
    class Ruled(CrawlSpider):
        name = "ruled"
        rules = (LinkRule(LinkExtractor(), callback="a"), LinkRule(LinkExtractor(), callback="b"))

    made_for = crawler(SID, spider=Ruled)
    spider: Any = made_for.spider
    with filter_of(made_for) as made:
        for number in (0, 1):
            first, second = (
                Request(f"{SITE}c?sid={number}{i}", callback=spider._callback, meta={"rule": number}) for i in (1, 2)
            )
            assert not made.request_seen(first)
            assert made.request_seen(second)


class Minding(RequestFingerprinter):
    """Sees a browser action in meta, and fragments, besides what Scrapy sees."""

    def fingerprint(self, request: Request) -> bytes:
        return fingerprint(request, keep_fragments=True) + repr(request.meta.get("browser")).encode()


def test_what_another_fingerprinter_sees_tells_requests_apart() -> None:
    def one(sid: int, fragment: str = "", **meta: Any) -> Request:
        return Request(f"{SITE}c?sid={sid}{fragment}", meta=meta)

    with dupe_filter(SID, REQUEST_FINGERPRINTER_CLASS=Minding) as made:
        assert not made.request_seen(one(1))
        assert made.request_seen(one(2))
        assert not made.request_seen(one(3, browser="click"))
        assert made.request_seen(one(4, browser="click"))
        assert not made.request_seen(one(5, browser="scroll"))
        assert not made.request_seen(one(5, "#page2"))
        assert not made.request_seen(one(5, "#page3"))
    with dupe_filter(SID) as made:  # Scrapy's own sees neither
        assert not made.request_seen(one(1))
        assert made.request_seen(one(3, browser="click"))
        assert made.request_seen(one(1, "#page2"))


def test_remembered_fingerprints_are_scrapys_own(tmp_path: Any) -> None:
    urls = [
        SITE,
        f"{SITE}a?b=2&a=1",
        f"{SITE}a?a=1&b=2#x",
        f"{SITE}%7Ea?x=%e9",
        f"{SITE}?q=ü+1",
        "http://ÜBER.test:80/../b",
        "https://u:p@shop.test/",
    ]
    requests = [
        request
        for url in urls
        for request in (
            Request(url),
            Request(url, method="POST"),
            Request(url, body=b"x"),
            Request(url, meta={"verbatim_url": True}),
            Request(url, headers={"X": "1"}),
        )
    ]
    with dupe_filter(JOBDIR=str(tmp_path)) as made:
        for _ in range(2):
            assert [made.wrapped.fingerprinter.fingerprint(each) for each in requests] == [*map(fingerprint, requests)]
        for request in requests:
            made.wrapped.request_seen(request)
    ours = (tmp_path / "requests.seen").read_bytes()
    (tmp_path / "requests.seen").unlink()
    stock = RFPDupeFilter(str(tmp_path))
    for request in requests:
        stock.request_seen(request)
    stock.close("")
    assert ours == (tmp_path / "requests.seen").read_bytes()


def test_the_wrapped_filter_never_hears_of_what_a_rule_discards() -> None:
    with dupe_filter(SID) as made:
        requests = [Request(f"{SITE}c?sid={sid}") for sid in (1, 2, 3)]
        assert [made.request_seen(request) for request in requests] == [False, True, True]
        assert len(fingerprints_of(made.wrapped)) == 1
        assert heard_by(made.wrapped)(fingerprint(requests[0]))


@in_reactor
async def test_a_project_without_filtering_stays_without(serve: Serve) -> None:
    class TwoLevels(Links):
        custom_settings = {"DEPTH_LIMIT": 2, "DUPEFILTER_CLASS": BaseDupeFilter}

    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    stock = await crawl(TwoLevels, server.url("/"), ADDONS={})
    before = server.hits
    server.reset()
    done = await crawl(TwoLevels, server.url("/"))
    assert (server.hits, done.urls) == (before, stock.urls)
    assert done.stats["dedup/recorded"] == len(done.items)


class Plain:
    """A filter with nothing but the methods that Scrapy calls."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.told = 0

    def request_seen(self, request: Request) -> bool:
        new = request.url not in self.seen
        self.seen.add(request.url)
        return not new

    def open(self) -> None: ...

    def close(self, reason: str) -> None: ...

    def log(self, request: Request, spider: Any) -> None:
        self.told += 1


class FromSettings(Plain):
    @classmethod
    def from_settings(cls, settings: Settings) -> "FromSettings":
        made = cls()
        made.seen.add(settings["KNOWN"])
        return made


class Least:
    def request_seen(self, request: Request) -> bool:
        return False


class NeedsMore(Plain):
    def __init__(self, server: str) -> None: ...


class Waiting(Plain):
    async def request_seen(self, request: Request) -> bool:  # type: ignore[override]
        return False


def test_filters_without_from_crawler() -> None:
    with dupe_filter(SID, DUPEFILTER_CLASS=Plain) as made:
        assert isinstance(made.wrapped, Plain)
        assert [made.request_seen(Request(f"{SITE}c?sid={sid}")) for sid in (1, 2, 1)] == [False, True, True]
        made.log(Request(SITE), None)  # type: ignore[arg-type]
        assert (made.told, made.wrapped.told) == (1, 1)
    with dupe_filter(SID, DUPEFILTER_CLASS=FromSettings, KNOWN=f"{SITE}k") as made:
        assert made.request_seen(Request(f"{SITE}k"))
    with dupe_filter(SID, DUPEFILTER_CLASS=Least) as made:
        assert [made.request_seen(Request(f"{SITE}c?sid={sid}")) for sid in (1, 2)] == [False, True]


@pytest.mark.parametrize(
    ("configured", "problem"),
    [
        (NeedsMore, "it cannot be made"),
        (Waiting, "is a coroutine function"),
        (Links, "it is no dupe filter"),
        (DupeFilter, "it would wrap itself"),
        ("no.such.Filter", "it cannot be loaded"),
    ],
)
def test_filters_that_cannot_work_say_why(configured: Any, problem: str) -> None:
    made_for = crawler(SID)
    made_for.settings = Settings({**BASE, "DEDUP_FALLBACK_DUPEFILTER_CLASS": configured})
    with pytest.raises(DedupSettingError, match=problem):
        DupeFilter.from_crawler(made_for)


def settings_after(*addons: Any, **given: Any) -> Settings:
    settings = Settings(given)
    for addon in addons:
        addon.update_settings(settings)
    return settings


def test_the_add_on_wraps_what_is_configured() -> None:
    for given in (RFPDupeFilter, f"{__name__}.Plain"):
        settings = settings_after(Addon(), Addon(), DUPEFILTER_CLASS=given)
        assert settings["DUPEFILTER_CLASS"] is DupeFilter
        assert settings["DEDUP_FALLBACK_DUPEFILTER_CLASS"] == given
        assert settings.getpriority("DUPEFILTER_CLASS") == settings.getpriority("DEDUP_FALLBACK_DUPEFILTER_CLASS")
    settings = settings_after(Addon())
    assert settings["DEDUP_FALLBACK_DUPEFILTER_CLASS"] == "scrapy.dupefilters.RFPDupeFilter"
    settings = settings_after(Addon(), DUPEFILTER_CLASS="scrapy_dedup.crawl.DupeFilter")
    assert "DEDUP_FALLBACK_DUPEFILTER_CLASS" not in settings
    settings = settings_after(Addon(), DUPEFILTER_CLASS=Plain, DEDUP_FALLBACK_DUPEFILTER_CLASS=Least)
    assert settings["DEDUP_FALLBACK_DUPEFILTER_CLASS"] is Least, "never overwritten"
    for off in ({"DUPEFILTER_CLASS": BaseDupeFilter}, {"DEDUP_MODE": "observe"}):
        assert settings_after(Addon(), **off)["DUPEFILTER_CLASS"] is not DupeFilter


class OtherFilter(Plain):
    """A filter of another add-on, which wraps what was configured before it."""

    wrapped: Any

    @classmethod
    def from_crawler(cls, crawler: Any) -> "OtherFilter":
        from scrapy.utils.misc import build_from_crawler, load_object

        made = cls()
        made.wrapped = build_from_crawler(load_object(crawler.settings["OTHER_FALLBACK"]), crawler)
        return made

    def request_seen(self, request: Request) -> bool:
        return "banned" in request.url or bool(self.wrapped.request_seen(request))

    def open(self) -> Any:
        return self.wrapped.open()

    def close(self, reason: str) -> Any:
        return self.wrapped.close(reason)

    def log(self, request: Request, spider: Any) -> None:
        self.wrapped.log(request, spider)


class OtherFingerprinter(Minding):
    asked = 0

    def fingerprint(self, request: Request) -> bytes:
        type(self).asked += 1
        return super().fingerprint(request)


class OtherAddon:
    def update_settings(self, settings: Settings) -> None:
        settings.set("OTHER_FALLBACK", settings["DUPEFILTER_CLASS"], "addon")
        settings.set("DUPEFILTER_CLASS", OtherFilter, settings.getpriority("DUPEFILTER_CLASS") or 0)
        settings.set("REQUEST_FINGERPRINTER_CLASS", OtherFingerprinter, "addon")


@pytest.mark.parametrize(("ours", "other"), [(600, 700), (700, 600)])
@in_reactor
async def test_two_add_ons_that_want_the_same(serve: Serve, ours: int, other: int) -> None:
    server = serve(
        lambda asked: (
            shop(asked) if asked.path != "/" else page("start", "/banned", *(f"/p?id=1&sid={i}" for i in "abc"))
        )
    )
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    OtherFingerprinter.asked = 0
    done = await crawl(Links, server.url("/"), ADDONS={"scrapy_dedup.Addon": ours, OtherAddon: other})
    assert server.downloads == len(done.items) == 2 + 1
    assert OtherFingerprinter.asked
    assert not [name for name in done.dedup() if name.startswith("errors")]


class TakingAddon:
    """Puts its own filter in the place of whatever is there."""

    def update_settings(self, settings: Settings) -> None:
        settings.set("DUPEFILTER_CLASS", RFPDupeFilter, "spider")


@in_reactor
async def test_an_add_on_that_takes_the_filter_out_is_told(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    stock = await crawl(Links, server.url("/"), ADDONS={})
    done = await crawl(Links, server.url("/"), ADDONS={"scrapy_dedup.Addon": 600, TakingAddon: 700})
    (warning,) = messages(caplog)
    assert warning == (
        "DUPEFILTER_CLASS is <class 'scrapy.dupefilters.RFPDupeFilter'>, not that of scrapy-dedup: nothing is filtered "
        "before it is queued. Give scrapy_dedup.Addon the highest number in ADDONS."
    )
    assert len(done.items) == len(stock.items)
    caplog.clear()
    for settings in (
        {"ADDONS": {"scrapy_dedup.Addon": 700, TakingAddon: 600}},
        {"ADDONS": {"scrapy_dedup.Addon": 600, OtherAddon: 700}},
        {"DEDUP_MODE": "observe"},
        {"DUPEFILTER_CLASS": BaseDupeFilter, "DEPTH_LIMIT": 1},
    ):
        await crawl(Links, server.url("/"), **settings)
        assert not messages(caplog), settings


@in_reactor
async def test_components_listed_by_hand(serve: Serve) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    by_hand = {
        "ADDONS": {},
        "DUPEFILTER_CLASS": "scrapy_dedup.crawl.DupeFilter",
        "DOWNLOADER_MIDDLEWARES": {"scrapy_dedup.crawl.Gate": 10, "scrapy_dedup.crawl.RedirectRecorder": 605},
        "SPIDER_MIDDLEWARES": {"scrapy_dedup.crawl.PageMiddleware": 40},
    }
    done = await crawl(Links, server.url("/"), **by_hand)
    assert len(done.items) == done.stats["dedup/recorded"] == 6 + 1
    server.reset()
    off = await crawl(Links, server.url("/"), **by_hand, DEDUP_ENABLED=False)
    assert not off.dedup()
    assert len(off.items) > 6
    for alone in ("DUPEFILTER_CLASS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES"):
        await crawl(Links, server.url("/"), ADDONS={}, **{alone: by_hand[alone]})


def test_the_add_on_leaves_components_where_they_are() -> None:
    paths = {"scrapy_dedup.crawl.decide.gate.Gate": 77, "scrapy_dedup.crawl.RedirectRecorder": None}
    settings = settings_after(Addon(), DOWNLOADER_MIDDLEWARES=paths)
    found = dict(settings["DOWNLOADER_MIDDLEWARES"])
    assert found.pop(SampleGate) == 9  # the one that was not listed
    assert found == paths
