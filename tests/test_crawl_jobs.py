"""JOBDIR: pause, change the rules, resume. Nothing is fetched twice because of it, nothing is lost."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.exceptions import CloseSpider

from .conftest import Project, Serve
from .crawling import (
    Links,
    Outcome,
    crawl,
    crawl_site,
    ignore,
    in_reactor,
    ledger,
    messages,
    rule_toml,
    save_rules,
    without,
)
from .server import Asked, page, prose
from .test_crawl_dupefilter import Minding
from .waiting import PATIENCE, wait_until

PAGES = 6
NOISE = ignore("q.page")
EVERY = dict.fromkeys(("/", *(f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2))), 1)


@pytest.fixture(autouse=True)
def _quick_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle spider is asked again after 5 seconds otherwise."""
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)


def shop(asked: Asked) -> Any:
    """Every page is linked from the start, twice; "page" is noise for ids below 3, and the page for the others."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2)))
    number, what = asked.query["id"], asked.query["page"]
    return page(prose(number if int(number) < 3 else number + "-" + what), "/")


class Paused(Links):
    """Pauses after *pages* pages, as Ctrl-C does; hands on response.meta, and what is said there of another request."""

    # The second is for Scrapy before 2.14, which downloads on while a callback is at work.
    custom_settings = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1, "JOBDIR": "job"}

    def __init__(self, start: str, pages: int = 0) -> None:
        super().__init__(start)
        self.left = pages
        self.failures: list[Any] = []

    async def start(self) -> Any:
        """As usual, but through the dupe filter: a resumed job starts at its start URLs again otherwise."""
        for url in self.start_urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            is_link = isinstance(each, scrapy.Request)
            yield each.replace(meta=dict(response.meta), errback=self.failed) if is_link else each
        self.left -= 1
        if self.left == 0:
            raise CloseSpider("paused")

    def failed(self, failure: Any) -> None:
        self.failures.append(failure.value)


async def runs(serve: Serve, site: Any, *changes: tuple[list[str], int, dict[str, Any]], **given: Any) -> list[Outcome]:
    """Run a job: each time with rules, for so many pages, with settings of its own. The server counts all of them."""
    server = serve(site)
    done = []
    for rules, pages, settings in changes:
        save_rules(server.site, *rules)
        done.append(Outcome(await crawl(Paused, server.url("/"), pages, **{**given, **settings}), server))
        assert not done[-1].crawler.spider.failures  # type: ignore[union-attr]
        assert "downloader/exception_count" not in done[-1].stats
    assert max(server.hits.values()) == 1, "nothing is fetched twice"
    return done


@pytest.mark.parametrize("pages", [1, 4])
@in_reactor
async def test_a_rule_comes(serve: Serve, pages: int) -> None:
    first, second = await runs(serve, shop, ([], pages, {}), ([NOISE], 0, {}))
    assert set(without("page", second.fetched)) == set(without("page", EVERY)), "no page is lost"
    new = set(second.fetched) - set(first.fetched)
    assert not set(without("page", new)) & set(without("page", first.fetched)), (
        "nor is one that was fetched, under another URL"
    )
    assert second.stat("discarded/gate") == len(EVERY) - len(second.fetched) > 0
    assert len(first.items) + len(second.items) == len(second.fetched)
    # As others go, so do those that Scrapy has let pass, once the rule is gone; here nothing links to them again.
    (third,) = await runs(lambda _: first.server, shop, ([], 0, {}))
    assert third.fetched == EVERY
    assert not [row for row in ledger() if "dont_filter" in str(row.meta)], (
        "redirects of such a request would inherit it"
    )


@pytest.mark.parametrize(
    ("rules", "settings", "replayed"),
    [
        pytest.param([NOISE], {}, PAGES, id="a rule goes"),
        # Without a ledger nobody could know later what to fetch after all: nothing is filtered.
        pytest.param([NOISE], {"DEDUP_STORE": "spoilt"}, 0, id="a store that cannot be used"),
        pytest.param([NOISE], {"DEDUP_STORE_MAX_ROWS": 2}, 2, id="a ledger that is full"),
    ],
)
@pytest.mark.parametrize("pages", [1, 3])
@in_reactor
async def test_a_rule_goes(
    serve: Serve,
    *,
    rules: list[str],
    settings: dict[str, Any],
    replayed: int,
    pages: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What it has filtered is fetched after all, though no page links to it any more."""
    Path("spoilt").write_bytes(b"not a database" * 100)
    first, second = await runs(serve, shop, (rules, pages, {}), ([], 0, {}), **settings)
    assert second.fetched == EVERY
    assert (second.stat("replayed"), first.stat("ledger/prevented")) == (replayed, PAGES - replayed)
    told = [text for text in messages(caplog) if "are lost" not in text]
    assert len(told) == (2 if "DEDUP_STORE" in settings else replayed % PAGES > 0), "one in each run"


@in_reactor
async def test_other_changes(serve: Serve) -> None:
    """Nothing changes; what a job has noted is damaged; a mode; a rule goes and another comes."""
    first, second = await runs(serve, shop, ([NOISE], 3, {}), ([NOISE], 0, {}))
    assert second.fetched.total() == 1 + PAGES
    assert (first.stat("resumed"), second.stat("resumed")) == (0, len(first.items))
    noted = Path("job/dedup.seen")
    assert noted.stat().st_mode & 0o777 == 0o600
    with noted.open("ab") as file:
        file.write(b"+zz\n=\n@\n\xff\xfe\n=9999\n+6 7 nobody\n=6\n+7 0 http://cut.off")
    (third,) = await runs(lambda _: first.server, shop, ([], 0, {}))
    assert third.fetched == EVERY
    assert not third.faults()
    shadow = await runs(serve, shop, ([], 3, {}), ([NOISE], 0, {"DEDUP_MODE": "shadow"}), JOBDIR="shadow")
    assert (shadow[1].fetched, shadow[1].stat("discarded")) == (EVERY, 0)
    narrow = [rule_toml('"q.page" = "ignore"', match=[f'"q.id" = "{number}"']) for number in range(3)]
    *_, last = await runs(serve, shop, ([NOISE], 3, {}), (narrow, 3, {}), (narrow, 0, {}), JOBDIR="other")
    assert len(last.fetched) == 1 + 3 + 2 * 3


class TwoCallbacks(Paused):
    """Asks for each page with one callback, then with another: Scrapy's filter lets the first one pass."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)
            yield response.follow(link, self.other)

    def other(self, response: Any) -> Any:
        yield {"url": response.url, "other": True}


@in_reactor
async def test_a_link_for_two_callbacks(serve: Serve) -> None:
    """What is filtered is filtered for both, as Scrapy takes them for one, and given to the first one after all."""
    first = await crawl_site(serve, shop, NOISE, spider=TwoCallbacks)
    assert first.fetched.total() == 1 + PAGES
    save_rules(first.server.site)
    second = await first.again(spider=TwoCallbacks)
    assert first.fetched + second.fetched == EVERY
    assert not [item for item in first.items + second.items if "other" in item]


@in_reactor
async def test_what_waited_for_a_request_that_fails_in_a_later_run(serve: Serve) -> None:
    site = {
        "/": page("start", "/a", "/c?sid=1", "/c?sid=2"),
        "/a": page("a"),
        "/c": lambda asked: 404 if asked.query["sid"] == "1" else page(prose("c")),
    }
    server = serve(site)
    save_rules(server.site, ignore("q.sid"))
    first = Outcome(await crawl(Paused, server.url("/"), 1), server)
    second = await first.again(spider=Paused)
    assert first.urls == ["/"]
    assert "/c?sid=2" in second.urls


class Browses(Paused):
    """Asks for a page with a browser, and for another one without; then for both without."""

    custom_settings = {**Paused.custom_settings, "REQUEST_FINGERPRINTER_CLASS": Minding}

    async def start(self) -> Any:
        for target in ("c?sid=1", "d?sid=1") if self.left else ("c?sid=2", "d?sid=2"):
            browser = {"browser": "click"} if target == "c?sid=1" else {}
            yield scrapy.Request(self.start_urls[0], self.go, meta={"target": target, **browser}, dont_filter=True)

    def go(self, response: Any) -> Any:
        meta = {key: response.meta[key] for key in ("browser",) if key in response.meta}
        yield response.follow(response.meta["target"], self.show, meta=meta)

    def show(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}


@in_reactor
async def test_what_a_foreign_fingerprinter_sees_is_not_guessed(serve: Serve) -> None:
    """A page that was fetched with a browser does not stand for one without, also under new rules."""
    server = serve(lambda asked: page(prose(asked.path)))
    await crawl(Browses, server.url("/"), 9)
    save_rules(server.site, ignore("q.sid"))
    second = Outcome(await crawl(Browses, server.url("/")), server)
    assert (second.urls, second.stat("resumed")) == (["/c?sid=2"], 2), "the start page, and the one without a browser"


SLOW_SPIDER = """\
import scrapy


class Slow(scrapy.Spider):
    name = "slow"
    custom_settings = {"CONCURRENT_REQUESTS": 2, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1, "JOBDIR": "job"}
    custom_settings |= {"DEDUP_LEARN": "off", "DEDUP_SAMPLE": 0, "DEDUP_EXTRA": 0}

    def __init__(self, start, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


def test_kill_9(project: Project, serve: Serve) -> None:
    """Scrapy loses its queue then, and finds the links again under another URL of the page that has them; what the job has seen is whole."""
    pages, answered = 24, 10
    number = iter(range(1_000_000))
    released = threading.Event()
    asked_for: list[str] = []

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", f"/list?sid={next(number)}")
        if asked.path == "/list":
            return page("list", *(f"/p?id={i}&sid={next(number)}" for _ in range(2) for i in range(pages)))
        asked_for.append(asked.query["id"])
        if len(asked_for) > answered:
            released.wait(PATIENCE)
        return page(prose(asked.query["id"]))

    server = serve(site)
    save_rules(server.site, ignore("q.sid"), directory=project.folder / "dedup-rules")
    project.write("shop/spiders/slow.py", SLOW_SPIDER)
    command = ["crawl", "slow", "-a", f"start={server.url('/')}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *command],
        cwd=project.folder,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: len(asked_for) == answered + 2)
    process.kill()
    process.wait()
    released.set()
    before, asked_for[:] = set(asked_for), []
    resumed = project.scrapy(*command)
    assert resumed.returncode == 0, resumed.stderr
    assert before | set(asked_for) == {str(i) for i in range(pages)}, "no page is lost"
    assert len(asked_for) == len(set(asked_for)), "filtered as before"
    assert len(before & set(asked_for)) <= 2 + 2, "what was on its way, or with the spider"
    store = project.folder / ".scrapy/dedup/store.sqlite"
    assert {row.taken_for.rpartition("&")[0] for row in ledger(store=store)} <= {
        server.url(f"/p?id={i}") for i in range(pages)
    }
