"""JOBDIR: pause, change the rules, resume. Nothing is fetched twice because of it, nothing is lost."""

import itertools
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import scrapy

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Ignore, Literal
from scrapy_dedup.store.rows import DiscardState
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import Links, crawl, discarded, in_reactor, messages, rule, write_rules
from .crawling_parts import dupe_filter
from .server import Asked, Server, page, prose
from .waiting import PATIENCE, wait_until

PAGES = 6


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
    """Pauses after *pages* pages, as Ctrl-C does."""

    # The second is for Scrapy before 2.14, which downloads on while a callback is at work.
    custom_settings = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1, "JOBDIR": "job"}

    def __init__(self, start: str, pages: int = 0) -> None:
        super().__init__(start)
        self.left = pages

    async def start(self) -> Any:
        """As usual, but through the dupe filter: a resumed job starts at its start URLs again otherwise."""
        for url in self.start_urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        self.left -= 1
        if self.left == 0:
            raise scrapy.exceptions.CloseSpider("paused")


def noise(server: Server) -> Any:
    return rule(f"127.0.0.1:{server.port}", {"q.page": Ignore()})


@in_reactor
async def test_without_a_change_the_job_goes_on(serve: Serve) -> None:
    server = serve(shop)
    write_rules(noise(server))
    first = await crawl(Paused, server.url("/"), 3)
    second = await crawl(Paused, server.url("/"))
    assert len(first.items) + len(second.items) == 1 + PAGES
    assert max(server.hits.values()) == 1
    assert second.stats["dedup/resumed"] == len(first.items)
    assert "dedup/resumed" not in first.stats
    assert Path("job/dedup.seen").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("pages", [1, 2, 4, 6])
@in_reactor
async def test_a_rule_comes(serve: Serve, pages: int) -> None:
    server = serve(shop)
    first = await crawl(Paused, server.url("/"), pages)
    fetched = set(server.hits)
    write_rules(noise(server))
    second = await crawl(Paused, server.url("/"))
    assert max(server.hits.values()) == 1
    ids = {target.partition("&")[0] for target in server.hits if target != "/"}
    assert ids == {f"/p?id={i}" for i in range(PAGES)}, "no page is lost"
    twice = {target.partition("&")[0] for target in set(server.hits) - fetched} & {
        target.partition("&")[0] for target in fetched
    }
    assert not twice, "no page that was fetched is fetched again under another URL"
    assert second.stats["dedup/discarded/gate"] == 2 * PAGES - len(server.hits) + 1
    assert len(first.items) + len(second.items) == len(server.hits)


@pytest.mark.parametrize("pages", [1, 2, 4, 6])
@in_reactor
async def test_a_rule_goes(serve: Serve, pages: int) -> None:
    """What a withdrawn rule has discarded is fetched after all, though no page links to it any more."""
    server = serve(shop)
    write_rules(noise(server))
    await crawl(Paused, server.url("/"), pages)
    write_rules()
    second = await crawl(Paused, server.url("/"))
    assert server.hits == dict.fromkeys(("/", *(f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2))), 1)
    assert second.stats["dedup/replayed"] == PAGES
    assert len(discarded(spider="links")) == PAGES


class TwoCallbacks(Paused):
    """Asks for each page with one callback, then with another: Scrapy's filter lets the first one pass."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)
            yield response.follow(link, self.other)

    def other(self, response: Any) -> Any:
        yield {"other": response.url}


@pytest.mark.parametrize("known", [True, False])
@in_reactor
async def test_a_link_for_two_callbacks(serve: Serve, known: bool) -> None:
    """What is discarded is discarded for both, as Scrapy takes them for one, and given to the first one after all."""
    server = serve(shop)
    write_rules(*([noise(server)] if known else []))
    first = await crawl(TwoCallbacks, server.url("/"))
    assert not [item for item in first.items if "other" in item]
    assert server.downloads == 1 + PAGES * (1 if known else 2)
    write_rules()
    second = await crawl(TwoCallbacks, server.url("/"))
    assert not [item for item in second.items if "other" in item]
    assert server.hits == dict.fromkeys(("/", *(f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2))), 1)


@in_reactor
async def test_what_the_gate_discards_is_linked_again(serve: Serve) -> None:
    """Scrapy's filter let it pass in the first run, and remembers it: that does not keep it from being fetched after all."""
    links = [f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2)]
    server = serve(lambda asked: page(prose(asked.query.get("id", "start") + asked.query.get("page", "")), *links))
    settings = {"DEDUP_SAMPLE": 0, "DEDUP_EXTRA": 0, "DEDUP_LEARN": "off"}
    await crawl(Paused, server.url("/"), 1, **settings)
    write_rules(noise(server))
    second = await crawl(Paused, server.url("/"), **settings)
    assert second.stats["dedup/discarded/gate"] == PAGES
    kept = discarded(spider="links")
    assert len(kept) == PAGES
    assert not [row for row in kept if "dont_filter" in str(row.meta)], "redirects of such a request would inherit it"
    write_rules()
    third = await crawl(Paused, server.url("/"), **settings)
    assert third.stats["dedup/replayed"] == PAGES
    assert server.hits == dict.fromkeys(("/", *links), 1)


@in_reactor
async def test_a_rule_goes_that_could_not_write_down_what_it_discards(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a ledger nobody could know later what to fetch after all: nothing is discarded."""
    Path("spoilt").write_bytes(b"not a database" * 100)
    server = serve(shop)
    write_rules(noise(server))
    first = await crawl(Paused, server.url("/"), 3, DEDUP_STORE="spoilt")
    write_rules()
    await crawl(Paused, server.url("/"), DEDUP_STORE="spoilt")
    assert server.hits == dict.fromkeys(("/", *(f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2))), 1)
    assert first.stats["dedup/ledger/prevented"] == PAGES
    assert len(messages(caplog)) == 2, "one in each run"


@in_reactor
async def test_a_ledger_that_is_full(serve: Serve) -> None:
    server = serve(shop)
    write_rules(noise(server))
    await crawl(Paused, server.url("/"), 3, DEDUP_STORE_MAX_ROWS=2)
    write_rules()
    await crawl(Paused, server.url("/"))
    assert server.hits == dict.fromkeys(("/", *(f"/p?id={i}&page={j}" for i in range(PAGES) for j in (1, 2))), 1)


@in_reactor
async def test_a_rule_goes_and_another_comes(serve: Serve) -> None:
    server = serve(shop)
    write_rules(noise(server))
    await crawl(Paused, server.url("/"), 3)
    write_rules(
        *(rule(f"127.0.0.1:{server.port}", {"q.page": Ignore()}, {"q.id": Literal(str(number))}) for number in range(3))
    )
    await crawl(Paused, server.url("/"), 3)
    await crawl(Paused, server.url("/"))
    assert max(server.hits.values()) == 1
    assert len(server.hits) == 1 + 3 + 2 * 3


@in_reactor
async def test_what_waited_for_a_request_that_fails_in_a_later_run(serve: Serve) -> None:
    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", "/a", "/c?sid=1", "/c?sid=2")
        return page("a") if asked.path == "/a" else 404 if asked.query["sid"] == "1" else page(prose("c"))

    server = serve(site)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    first = await crawl(Paused, server.url("/"), 1)
    second = await crawl(Paused, server.url("/"))
    assert [item["url"] for item in first.items] == [server.url("/")]
    assert server.url("/c?sid=2") in second.keys


@in_reactor
async def test_errbacks_hear_nothing_of_a_queued_request_that_is_filtered(serve: Serve) -> None:
    class Errs(Paused):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.failures: list[Any] = []

        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each.replace(errback=self.failed) if isinstance(each, scrapy.Request) else each

        def failed(self, failure: Any) -> None:
            self.failures.append(failure.value)

    server = serve(shop)
    await crawl(Errs, server.url("/"), 3)
    write_rules(noise(server))
    second = await crawl(Errs, server.url("/"))
    assert second.stats["dedup/discarded/gate"] > 0
    assert not second.crawler.spider.failures  # type: ignore[union-attr]
    assert "downloader/exception_count" not in second.stats


def test_what_a_foreign_fingerprinter_sees_is_not_guessed(tmp_path: Path) -> None:
    """A page that was fetched with a browser does not stand for one without, also under new rules."""
    from .test_crawl_dupefilter import Minding

    def one(sid: int, **meta: Any) -> scrapy.Request:
        return scrapy.Request(f"http://shop.test/c?sid={sid}", meta=meta)

    settings = {"REQUEST_FINGERPRINTER_CLASS": Minding, "JOBDIR": str(tmp_path)}
    with dupe_filter(**settings) as made:
        for request in (one(1, browser="click"), scrapy.Request("http://shop.test/d?sid=1")):
            assert not made.request_seen(request)
            made._components.outcomes.fetched(request)
    with dupe_filter(**settings) as made:
        assert made._components.stats.get_value("dedup/resumed") == 2
    with dupe_filter(rule("shop.test", {"q.sid": Ignore()}), **settings) as made:
        assert made._components.stats.get_value("dedup/resumed") == 1
        assert made.request_seen(scrapy.Request("http://shop.test/d?sid=2"))
        assert not made.request_seen(one(2))


SLOW_SPIDER = """\
import scrapy


class Slow(scrapy.Spider):
    name = "slow"
    custom_settings = {"CONCURRENT_REQUESTS": 2, "DEDUP_LEARN": "off", "DEDUP_SAMPLE": 0, "DEDUP_EXTRA": 0}

    def __init__(self, start, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


class Held:
    """Pages ``/p?id=N``, of which the first *number* requests are answered at once, and the others when that is *released*."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.released = threading.Event()
        self._asked = itertools.count(1)

    def page(self, asked: Asked) -> str:
        if next(self._asked) > self.number:
            self.released.wait(PATIENCE)
        return page(prose(asked.query["id"]))


def killed(project: Project, server: Server, held: Held, others: int, replayed: int = 0) -> None:
    """Start the spider "slow" in a job, and kill it when two pages are held and all that was answered is noted.

    *others* is how many requests besides those for pages are answered, *replayed* how many discards the ledger says
    are scheduled after all.
    """
    project.write("shop/spiders/slow.py", SLOW_SPIDER)
    command = [sys.executable, "-m", "scrapy", "crawl", "slow", "-a", f"start={server.url('/')}", "-s", "JOBDIR=job"]
    process = subprocess.Popen(command, cwd=project.folder, stderr=subprocess.DEVNULL, start_new_session=True)
    journal = project.folder / "job/dedup.seen"
    answered = others + held.number
    wait_until(lambda: server.downloads == answered + 2)
    wait_until(lambda: len(re.findall(rb"^=", journal.read_bytes(), re.MULTILINE)) == answered + replayed)
    with Store.open(project.folder / ".scrapy/dedup/store.sqlite") as store:
        wait_until(lambda: len(list(store.discards(state=DiscardState.REPLAYED))) == replayed)
    process.kill()
    process.wait()
    held.released.set()


def test_kill_9_and_pages_whose_links_were_queued(project: Project, serve: Serve) -> None:
    """Scrapy loses its queue then, and finds the links again under another URL of the page that has them."""
    pages = 30
    served = iter(range(1_000_000))
    held = Held(10)

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", f"/list?sid={next(served)}")
        if asked.path == "/list":
            return page("list", *(f"/p?id={i}&sid={next(served)}" for i in range(pages)))
        return held.page(asked)

    server = serve(site)
    RuleBook([rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()})]).save(project.folder / "dedup-rules")
    killed(project, server, held, 2)
    fetched = {target.partition("&")[0] for target in server.hits if target.startswith("/p")}
    assert len(fetched) == 12
    server.reset()
    resumed = project.scrapy("crawl", "slow", "-a", f"start={server.url('/')}", "-s", "JOBDIR=job")
    assert resumed.returncode == 0, resumed.stderr
    assert "'dedup/resumed/doubtful': 2" in resumed.stderr
    again = {target.partition("&")[0] for target in server.hits if target.startswith("/p")}
    assert fetched | again == {f"/p?id={i}" for i in range(pages)}, "no page is lost"
    assert len(fetched & again) == 2, "pages without links are not fetched twice, but for what was on its way"


def test_kill_9_in_a_job(project: Project, serve: Serve) -> None:
    """The job goes on, no page is lost, and what it has recorded can be read."""
    pages = 60
    held = Held(25)

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid={j}" for i in range(pages) for j in (1, 2)))
        return held.page(asked)

    server = serve(site)
    made = rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()})
    RuleBook([made]).save(project.folder / "dedup-rules")
    killed(project, server, held, 1)
    before = {target for target in server.hits if target != "/"}
    fetched = {target.partition("&")[0] for target in before}
    assert len(fetched) == 27
    done = project.scrapy("crawl", "slow", "-a", f"start={server.url('/')}", "-s", "JOBDIR=job2", "-O", "items.json")
    assert done.returncode == 0, done.stderr
    items = json.loads((project.folder / "items.json").read_text())
    assert len(items) == 1 + pages, "the store and the rules are whole"
    server.reset()
    resumed = project.scrapy("crawl", "slow", "-a", f"start={server.url('/')}", "-s", "JOBDIR=job")
    assert resumed.returncode == 0, resumed.stderr
    # Scrapy writes what its own filter has seen in blocks, so that it fetches URLs again after a kill.
    others = {target.partition("&")[0] for target in set(server.hits) - before if target != "/"}
    assert len(others & fetched) <= 2, "under another URL: at most what was on its way"
    assert len(fetched | others) == pages, "no page is lost"


def test_kill_9_while_what_a_rule_had_discarded_is_fetched(project: Project, serve: Serve) -> None:
    """It is lost with Scrapy's queue, and no link leads there again; a pause after the kill changes nothing."""
    pages = 30
    listed = [f"/p?id={i}&x={j}" for j in (1, 2) for i in range(pages)]
    held = Held(1_000)

    def site(asked: Asked) -> Any:
        return page("start", *listed) if asked.path == "/" else held.page(asked)

    server = serve(site)
    command = ["crawl", "slow", "-a", f"start={server.url('/')}", "-s", "JOBDIR=job"]
    wrong = RuleBook([rule(f"127.0.0.1:{server.port}", {"q.x": Ignore()})])
    wrong.save(project.folder / "dedup-rules")
    project.write("shop/spiders/slow.py", SLOW_SPIDER)
    first = project.scrapy(*command)
    assert first.returncode == 0, first.stderr
    assert server.hits == {"/": 1, **dict.fromkeys(listed[:pages], 1)}
    discarded, listed = listed[pages:], []

    shutil.rmtree(project.folder / "dedup-rules")
    held = Held(10)
    server.reset()
    killed(project, server, held, 1, pages)
    server.reset()
    paused = project.scrapy(*command, "-s", "CLOSESPIDER_PAGECOUNT=1")
    assert "'finish_reason': 'closespider_pagecount'" in paused.stderr
    assert server.hits == {"/": 1}
    before = held.number
    server.reset()
    resumed = project.scrapy(*command)
    assert resumed.returncode == 0, resumed.stderr
    assert set(server.hits) - {"/"} < set(discarded)
    assert len(server.hits) == 1 + pages - before, "what has come is not fetched again, what was on its way is"
    assert all(times == 1 for times in server.hits.values())
