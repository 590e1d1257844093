"""Rules act in front of whatever dupe filter a project has, and the add-on takes nothing out that others have put in."""

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.settings import Settings
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter

from scrapy_dedup import Addon

from .conftest import Serve
from .crawling import Links, crawl, crawl_site, ignore, in_reactor, messages
from .server import Asked, page, prose
from .servers import RedisServer

SID = ignore("q.sid")
IDS, COPIES = 4, 3


def shop(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/known", *(f"/p?id={i}&sid={j}" for i in range(IDS) for j in range(COPIES)))
    name = asked.target.partition("&")[0]
    return page(prose(name), "/", *([f"{name}&sid=again"] if asked.query else []))


class Plain:
    """A filter with nothing but the methods that Scrapy calls."""

    told = 0

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def request_seen(self, request: Request) -> bool:
        new = request.url not in self.seen
        self.seen.add(request.url)
        return not new

    def open(self) -> None: ...

    def close(self, reason: str) -> None: ...

    def log(self, request: Request, spider: Any) -> None:
        type(self).told += 1


class FromSettings(Plain):
    @classmethod
    def from_settings(cls, settings: Settings) -> "FromSettings":
        made = cls()
        made.seen.add(settings["KNOWN"])
        return made


class Least:
    def request_seen(self, request: Request) -> bool:
        return False


class Other(Plain):
    """A filter of another add-on, which wraps what was configured before it."""

    wrapped: Any

    @classmethod
    def from_crawler(cls, crawler: Any) -> "Other":
        made = cls()
        made.wrapped = build_from_crawler(load_object(crawler.settings["OTHER_FALLBACK"]), crawler)
        return made

    def request_seen(self, request: Request) -> bool:
        return "known" in request.url or bool(self.wrapped.request_seen(request))

    def open(self) -> Any:
        return self.wrapped.open()

    def close(self, reason: str) -> Any:
        return self.wrapped.close(reason)

    def log(self, request: Request, spider: Any) -> None:
        self.wrapped.log(request, spider)


class OtherFingerprinter(RequestFingerprinter):
    asked = 0

    def fingerprint(self, request: Request) -> bytes:
        type(self).asked += 1
        return super().fingerprint(request)


class OtherAddon:
    def update_settings(self, settings: Settings) -> None:
        settings.set("OTHER_FALLBACK", settings["DUPEFILTER_CLASS"], "addon")
        settings.set("DUPEFILTER_CLASS", Other, settings.getpriority("DUPEFILTER_CLASS") or 0)
        settings.set("REQUEST_FINGERPRINTER_CLASS", OtherFingerprinter, "addon")


class TakingAddon:
    """Puts its own filter in the place of whatever is there."""

    def update_settings(self, settings: Settings) -> None:
        settings.set("DUPEFILTER_CLASS", RFPDupeFilter, "spider")


BY_HAND: dict[str, Any] = {
    "ADDONS": {},
    "DUPEFILTER_CLASS": "scrapy_dedup.crawl.DupeFilter",
    "DOWNLOADER_MIDDLEWARES": {"scrapy_dedup.crawl.Gate": 10, "scrapy_dedup.crawl.RedirectRecorder": 605},
    "SPIDER_MIDDLEWARES": {"scrapy_dedup.crawl.PageMiddleware": 40},
}
#: Each page once, and the start page once more, for a link.
ONCE = 2 + IDS
TAKEN_OUT = (
    "DUPEFILTER_CLASS is <class 'scrapy.dupefilters.RFPDupeFilter'>, not that of scrapy-dedup: nothing is filtered "
    "before it is queued. Give scrapy_dedup.Addon the highest number in ADDONS."
)


@in_reactor
async def test_with_other_filters_and_add_ons(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    stock = await crawl_site(serve, shop, ADDONS={})
    # Without rules all URLs of the shop are fetched, "/known" among them.
    every = len(stock.items)
    for settings, fetched in (
        ({"DUPEFILTER_CLASS": Plain}, ONCE + 1),
        ({"DUPEFILTER_CLASS": FromSettings, "KNOWN": stock.server.url("/known")}, ONCE),
        ({"DUPEFILTER_CLASS": Least, "DEPTH_LIMIT": 1}, ONCE),
        ({"ADDONS": {"scrapy_dedup.Addon": 600, OtherAddon: 700}}, ONCE),
        ({"ADDONS": {"scrapy_dedup.Addon": 700, OtherAddon: 600}}, ONCE),
        ({"ADDONS": {"scrapy_dedup.Addon": 700, TakingAddon: 600}}, ONCE + 1),
        (BY_HAND, ONCE + 1),
    ):
        done = await stock.again(SID, **settings)
        assert done.fetched.total() == len(done.items) == done.stat("recorded") == fetched, settings
        assert not done.faults()
        assert not messages(caplog), settings
    assert Plain.told, "its filter has told of what it has filtered itself"
    assert OtherFingerprinter.asked
    taken = await stock.again(ADDONS={"scrapy_dedup.Addon": 600, TakingAddon: 700})
    assert (messages(caplog), len(taken.items)) == ([TAKEN_OUT], every)
    off = await stock.again(**BY_HAND, DEDUP_ENABLED=False)
    assert (len(off.items), off.dedup()) == (every, {})
    for alone in ("DUPEFILTER_CLASS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES"):
        await stock.again(ADDONS={}, **{alone: BY_HAND[alone]})


class NeedsMore(Plain):
    def __init__(self, server: str) -> None: ...


class Waiting(Plain):
    async def request_seen(self, request: Request) -> bool:  # type: ignore[override]
        return False


@pytest.mark.parametrize(
    ("configured", "problem"),
    [
        (NeedsMore, "it cannot be made"),
        (Waiting, "is a coroutine function"),
        (Links, "it is no dupe filter"),
        ("scrapy_dedup.crawl.DupeFilter", "it would wrap itself"),
        ("no.such.Filter", "it cannot be loaded"),
    ],
)
@in_reactor
async def test_filters_that_cannot_work_say_why(
    configured: Any, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(RuntimeError):
        await crawl(Links, **{**BY_HAND, "DEDUP_FALLBACK_DUPEFILTER_CLASS": configured})
    (told,) = messages(caplog)
    assert told.startswith("The crawl is not started: DEDUP_FALLBACK_DUPEFILTER_CLASS is ")
    assert problem in told


def settings_after(*addons: Any, **given: Any) -> Settings:
    settings = Settings(given)
    for addon in addons:
        addon.update_settings(settings)
    return settings


def test_the_add_on_keeps_what_is_configured() -> None:
    ours = load_object("scrapy_dedup.crawl.DupeFilter")
    for given in (RFPDupeFilter, f"{__name__}.Plain"):
        settings = settings_after(Addon(), Addon(), DUPEFILTER_CLASS=given)
        assert (settings["DUPEFILTER_CLASS"], settings["DEDUP_FALLBACK_DUPEFILTER_CLASS"]) == (ours, given)
        assert settings.getpriority("DUPEFILTER_CLASS") == settings.getpriority("DEDUP_FALLBACK_DUPEFILTER_CLASS")
    settings = settings_after(Addon(), DUPEFILTER_CLASS="scrapy_dedup.crawl.DupeFilter")
    assert "DEDUP_FALLBACK_DUPEFILTER_CLASS" not in settings
    settings = settings_after(Addon(), DUPEFILTER_CLASS=Plain, DEDUP_FALLBACK_DUPEFILTER_CLASS=Least)
    assert settings["DEDUP_FALLBACK_DUPEFILTER_CLASS"] is Least
    for off in ({"DUPEFILTER_CLASS": BaseDupeFilter}, {"DEDUP_MODE": "observe"}):
        assert settings_after(Addon(), **off)["DUPEFILTER_CLASS"] is not ours
    listed = {"scrapy_dedup.crawl.Gate": 77, "scrapy_dedup.crawl.RedirectRecorder": None}
    settings = settings_after(Addon(), DOWNLOADER_MIDDLEWARES=listed)
    assert listed.items() <= dict(settings["DOWNLOADER_MIDDLEWARES"]).items()
    assert load_object("scrapy_dedup.crawl.Gate") not in settings["DOWNLOADER_MIDDLEWARES"]


ODD_TARGETS = (
    *("/a?b=2&a=1", "/a?a=1&b=2#x", "/%7Ea?x=%e9", "/?q=ü+1", "/../b", "//", "/a;b=1", "/?", "/?a", "/?a=1&", "/?a=%31"),
    *("/shop/item-1.html?color=1&sid=x1&view=full", "/?b=2&a=&a=1&a-b=3&B=1", "/b/c-d_e.html", "/.a", "/%2F", "/ü"),
)  # fmt: skip


class OddRequests(Links):
    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        if response.meta["depth"] == 0:
            for target in ODD_TARGETS:
                for more in ({}, {"method": "POST"}, {"body": b"x"}, {"headers": {"X": "1"}}):
                    yield Request(response.url[:-1] + target, **more)  # type: ignore[arg-type]


@in_reactor
async def test_the_file_of_a_job_is_that_of_scrapy(serve: Serve) -> None:
    """A job may go on with the add-on, or without."""
    stock = await crawl_site(serve, {"*": "an answer"}, spider=OddRequests, ADDONS={}, JOBDIR="stock")
    done = await stock.again(spider=OddRequests, JOBDIR="ours")
    assert done.fetched == stock.fetched
    files = [Path(job, "requests.seen").read_bytes() for job in ("stock", "ours")]
    assert files[0] == files[1]
    assert len(files[0]) > 20 * 2 * len(ODD_TARGETS)


@pytest.mark.redis
# scrapy-redis hands spiders around as Scrapy no longer does.
@pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")
@pytest.mark.parametrize("scheduler", [False, True])
@in_reactor
async def test_scrapy_redis(serve: Serve, redis_server: RedisServer, scheduler: bool) -> None:
    pytest.importorskip("scrapy_redis")
    settings: dict[str, Any] = {
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": redis_server.url,
    }
    if scheduler:  # which clears the filter
        more = {"SCHEDULER": "scrapy_redis.scheduler.Scheduler", "SCHEDULER_PERSIST": True}
        settings |= {**more, "SCHEDULER_FLUSH_ON_START": True}
    stock = await crawl_site(serve, shop, **{**settings, "ADDONS": {}})
    done = await stock.again(SID, **settings)
    assert len(stock.items) > len(done.items) == done.fetched.total() == ONCE + 1
    assert not done.faults()
    if scheduler:
        with pytest.importorskip("redis").Redis.from_url(redis_server.url) as client:
            # The pages that were queued, and a link to the start page; nothing that a rule has filtered.
            assert client.scard("links:dupefilter") == ONCE
