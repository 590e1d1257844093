"""What is probably a duplicate is fetched last: filtered when that is known, and never lost."""

import threading
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import DontCloseSpider

from .conftest import Serve
from .crawling import (
    LEARNED,
    Crawl,
    Links,
    Outcome,
    close,
    crawl,
    crawl_site,
    crawler_of,
    ignore,
    in_reactor,
    run,
    save_rules,
    statuses,
    when_counted,
)
from .server import Asked, Server, page, prose
from .waiting import PATIENCE

PAGES = 30
SOURCES = ("mail", "feed", "post")
DOUBTFUL = PAGES * len(SOURCES)
EVERY = 1 + PAGES + DOUBTFUL
ALL = {"/", *(f"/p/{number}" for number in range(PAGES))}
ON = {"DEDUP_LEARN": "live", "CONCURRENT_REQUESTS": 4}


class Shop:
    """Pages that the start page links plainly and with a parameter; *matters*: with each value it is another page."""

    def __init__(self, name: str = "utm_source", *, matters: bool = False) -> None:
        self.name, self.matters = name, matters

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            plain = [f"/p/{number}" for number in range(PAGES)]
            tracked = [f"{target}?{self.name}={source}{target[3:]}" for target in plain for source in SOURCES]
            return page("start", *plain, *tracked)
        return page(prose(asked.target if self.matters else asked.path))


def paths(*crawls: Crawl) -> set[str]:
    return {url.partition("?")[0] for done in crawls for url in done.urls}


def settled(done: Crawl) -> int:
    """The postponed requests that something has become of."""
    return int(done.stat("postponed/fetched") + done.stat("postponed/discarded"))


@pytest.mark.parametrize("settings", [{}, {"DEPTH_PRIORITY": 1}], ids=["by name", "and by depth"])
@in_reactor
async def test_duplicates_are_fetched_last_and_discarded_when_that_is_known(serve: Serve, settings: Any) -> None:
    done = await crawl_site(serve, Shop(), **ON, **settings)
    assert paths(done) == ALL, "no page is lost"
    assert done.fetched.total() < EVERY / 2, "of the duplicates few are downloaded"
    assert settled(done) == done.stat("postponed") == DOUBTFUL
    assert all("?" not in asked.target for asked in done.server.asked[: 1 + PAGES]), "pages first"
    assert not done.faults()


@in_reactor
async def test_what_several_other_sites_drop_is_postponed_and_costs_no_page_if_it_matters(serve: Serve) -> None:
    for number in range(3):
        save_rules(f"shop{number}.example", ignore("q.track"))
    done = await crawl_site(serve, Shop("track", matters=True), **ON)
    assert done.fetched.total() == len(done.fetched) == len(done.urls) == EVERY
    assert done.stat("postponed/fetched") == done.stat("postponed") == DOUBTFUL


@pytest.mark.parametrize("matters", [False, True])
@in_reactor
async def test_a_job_that_goes_on_knows_what_was_postponed(serve: Serve, matters: bool) -> None:
    server = serve(Shop(matters=matters))
    crawler = crawler_of(Links, **ON, JOBDIR="job")
    stop = lambda: close(crawler, "enough") if server.downloads >= 20 else None
    crawler.signals.connect(stop, signals.response_received, weak=False)
    first = await run(crawler, server.url("/"))
    assert (first.stats["finish_reason"], first.stat("postponed")) == ("enough", DOUBTFUL)
    second = await crawl(Links, server.url("/"), **ON, JOBDIR="job")
    assert paths(first, second) == ALL
    assert settled(second) == DOUBTFUL
    if matters:
        assert len({*first.urls, *second.urls}) == EVERY
    else:
        assert second.stat("postponed/discarded") > PAGES


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
        pytest.param(Ordered, {}, id="the spider orders"),
        pytest.param(Endless, {}, id="the spider may never be idle"),
        *(
            pytest.param(Links, {name: value}, id=name)
            for name, value in {
                "DEDUP_POSTPONE": False,
                "DEDUP_LEARN": "close",
                "DEDUP_MODE": "shadow",
                "CLOSESPIDER_PAGECOUNT": 10_000,
                "CLOSESPIDER_TIMEOUT": PATIENCE,
                "DEPTH_LIMIT": 5,
                "SCHEDULER": OwnScheduler,
                "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
            }.items()
        ),
    ],
)
async def test_nothing_is_postponed_where_the_order_is_somebody_elses_business(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, spider: Any, settings: dict[str, Any]
) -> None:
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)

    def site(asked: Asked) -> Any:
        return page("start", "/a", "/a?utm_source=b") if asked.path == "/" else page(prose(asked.path))

    done = await crawl_site(serve, site, spider=spider, **{**ON, **settings})
    assert done.stat("postponed") == 0
    assert paths(done) == {"/", "/a"}
    assert not done.faults()


@in_reactor
async def test_a_meta_that_was_copied_postpones_nothing_else(serve: Serve) -> None:
    """Spiders hand on a response's meta: links of a postponed page are requests of their own."""

    class Copies(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": response.url}
            yield from response.follow_all(css="a", meta=dict(response.meta))

    def site(asked: Asked) -> Any:
        links = {"/": ["/a", "/a?utm_source=x"], "/a": ["/b"] if asked.query else []}
        return page(prose(asked.path), *links.get(asked.path, ()))

    scheduled: dict[str, bool] = {}
    note = lambda request: scheduled.update({request.url: request.priority < 0})
    server = serve(site)
    crawler = crawler_of(Copies, **ON)
    crawler.signals.connect(note, signals.request_scheduled, weak=False)
    done = Outcome(await run(crawler, server.url("/")), server)
    assert paths(done) == {"/", "/a", "/b"}
    assert (scheduled[server.url("/a?utm_source=x")], scheduled[server.url("/b")]) == (True, False)


# What was learned of one section makes candidates of the next

TITLES = ("a-title", "another", "one-more")
FORMS = {
    "a segment": "/{section}/{number}/{title}",
    "a value": "/{section}/{number}?from={title}",
    "both": "/{section}/{number}/{title}?from={title}",
}


class Sections:
    """A section whose pages stand under three URLs each, and when it is *learned* a second one; there *matters* which it is."""

    def __init__(self, form: str, *, matters: bool) -> None:
        self.form, self.matters = form, matters
        self.learned = threading.Event()

    def __call__(self, asked: Asked) -> Any:
        if asked.path in ("/", "/more"):
            if asked.path == "/more":
                assert self.learned.wait(PATIENCE)
            section = "shop" if asked.path == "/" else "blog"
            urls = [self.form.format(section=section, number=n, title=t) for n in range(PAGES) for t in TITLES]
            return page(asked.path, *urls, *(["/more"] if asked.path == "/" else []))
        section, number = asked.path.split("/")[1:3]
        return page(prose(asked.target if self.matters and section == "blog" else (section, number)))


@in_reactor
@pytest.mark.parametrize(
    ("form", "matters"), [("a value", False), ("a value", True), ("a segment", True), ("both", False)]
)
async def test_what_was_learned_of_one_section_postpones_the_like_in_the_next(
    serve: Serve, form: str, matters: bool
) -> None:
    site = Sections(FORMS[form], matters=matters)
    server: Server = serve(site)
    crawler = crawler_of(Links, **ON)

    def learned() -> None:
        if "active" in statuses(server.site).values():
            site.learned.set()

    when_counted(crawler, LEARNED, learned)
    done = await run(crawler, server.url("/"))
    blog = {target for target in server.hits if target.startswith("/blog/")}
    pages = {f"/{name}/{number}" for name in ("shop", "blog") for number in range(PAGES)}
    assert {"/".join(target.partition("?")[0].split("/")[:3]) for target in server.hits} >= pages, "no page is lost"
    doubtful = PAGES * (len(TITLES) - 1)
    assert done.stat("postponed") == settled(done) == doubtful, "all but the first URL of each page"
    if matters:
        assert len(blog) == PAGES * len(TITLES)
    else:
        assert len(blog) == PAGES + done.stat("postponed/fetched") < PAGES + doubtful / 2
    assert max(server.hits.values()) == 1
