"""Learning while the crawl goes on: the first crawl of a site saves, loses nothing, and fetches nothing twice.

The server holds answers back until rules are in use, where a test needs that: nothing here depends on how
fast anything is.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import signals
from twisted.internet.defer import ensureDeferred, gatherResults

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.learn import learner, live
from scrapy_dedup.crawl.learn import schedule as times
from scrapy_dedup.crawl.settings import rule_directories
from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.rules import Ignore, Status

from .conftest import Serve
from .crawling import (
    FAILED,
    LEARNED,
    SWAPPED,
    Crawl,
    Links,
    crawler_of,
    in_reactor,
    messages,
    observed,
    rule,
    run,
    when_counted,
    write_rules,
)
from .mask_files import save_mask
from .server import Asked, Server, page, prose
from .waiting import PATIENCE, wait_until

PAGES = 90
#: Copies of a page.
COPIES = 4


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses after one that has failed would make the tests long."""
    monkeypatch.setattr(live, "_BACK_OFF", 0.01)
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)


class Shop:
    """*PAGES* pages, each under *COPIES* session ids.

    The start page leads to the first third of them under all their URLs; the others are linked from a page
    that is held back until *released*.
    """

    def __init__(self, serve: Serve, *, held: bool = True) -> None:
        self.released = threading.Event()
        if not held:
            self.released.set()
        self.server: Server = serve(self.answer)

    def links(self, numbers: range) -> list[str]:
        return [f"/p?id={number}&sid=s{number}x{copy}" for number in numbers for copy in range(COPIES)]

    def answer(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), "/more", *self.links(range(PAGES // 3)))  # the last link is followed first
        if asked.path == "/more":
            self.released.wait(PATIENCE)
            return page(prose("more"), *self.links(range(PAGES // 3, PAGES)))
        return page(prose(asked.query["id"]), "/")

    @property
    def reached(self) -> set[str]:
        return {target.partition("&")[0] for target in self.server.hits if target.startswith("/p")}

    def check(self, done: Crawl) -> None:
        """Nothing is lost, and nothing was fetched twice but the start page, which plain Scrapy fetches so, too."""
        assert self.reached == {f"/p?id={number}" for number in range(PAGES)}
        twice = {target for target, number in self.server.hits.items() if number > 1}
        assert twice <= {"/"}
        assert done.stats["finish_reason"] == "finished"
        assert not [name for name in done.stats if name.startswith("dedup/errors")]


async def crawl_live(shop: Shop, spider: type[scrapy.Spider] = Links, **settings: Any) -> Crawl:
    """Crawl; what the shop holds back is released when rules are in use."""
    crawler = crawler_of(spider, DEDUP_LEARN="live", **settings)

    def changed() -> None:
        shop.released.set()

    when_counted(crawler, SWAPPED, changed)
    return await run(crawler, shop.server.url("/"))


@pytest.mark.parametrize("concurrent", [1, 100])
@in_reactor
async def test_the_first_crawl_saves(serve: Serve, concurrent: int) -> None:
    shop = Shop(serve)
    done = await crawl_live(shop, CONCURRENT_REQUESTS=concurrent, CONCURRENT_REQUESTS_PER_DOMAIN=concurrent)
    shop.check(done)
    assert shop.server.downloads <= 3 + PAGES // 3 * COPIES + 2 * PAGES // 3
    assert done.stats["dedup/learned/swaps"] >= 1
    assert done.stats["dedup/learned/times"] >= done.stats["dedup/learned/swaps"]
    assert done.stats["dedup/discarded/urls"] >= 2 * PAGES // 3 * (COPIES - 1)
    assert "dedup/learned/failed" not in done.stats
    book = RuleBook.load("dedup-rules")
    assert book.equivalent(shop.server.url("/p?id=1&sid=s9x1"), shop.server.url("/p?id=1&sid=s8x0"))
    assert len(observed()) == shop.server.downloads - 1, "and it is all recorded"


@in_reactor
async def test_requests_on_their_way_when_rules_change(serve: Serve) -> None:
    """All URLs are in the queue or under way when the rules come: each page comes out once or more, none is lost."""
    shop = Shop(serve)
    shop.released.set()
    held = threading.Event()
    answered = iter(range(10_000))

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *shop.links(range(PAGES)))
        if next(answered) >= 100:  # with everything else in the queue
            held.wait(PATIENCE)
        return page(prose(asked.query["id"]), "/")

    shop.server.routes = {"*": answer}
    crawler = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=8)

    def changed() -> None:
        held.set()

    when_counted(crawler, SWAPPED, changed)
    done = await run(crawler, shop.server.url("/"))
    shop.check(done)
    assert shop.server.downloads < 2 + PAGES * COPIES, "fewer than without the plug-in"
    assert done.stats["dedup/discarded/gate"] == done.stats["dedup/discarded/urls"] > 0
    assert len(shop.server.hits) + done.stats["dedup/discarded/urls"] == 1 + PAGES * COPIES
    items = [item["url"] for item in done.items]
    assert len(items) == shop.server.downloads, "every answer came to the spider"


@in_reactor
async def test_a_page_on_its_way_when_rules_change_is_not_fetched_again(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the last of its page's URLs that was found, and the first that was asked for: the others are queued still."""
    shop = Shop(serve, held=False)
    held = threading.Event()
    last = COPIES - 1
    target = f"/p?id=15&sid=s15x{last}"
    # Learning begins when it is asked for, or shortly before: pages with higher numbers are there then. Of those that have come, some rows
    # may still be in the making on a busy machine, and no further page comes that would have them counted.
    monkeypatch.setattr(times, "DUPLICATES", (PAGES // 3 - 16) * (COPIES - 1) // 2)

    def answer(asked: Asked) -> Any:
        if asked.target == target:
            held.wait(PATIENCE)
        return shop.answer(asked)

    shop.server.routes = {"*": answer}
    crawler = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=1)

    def changed() -> None:
        held.set()

    when_counted(crawler, SWAPPED, changed)
    done = await run(crawler, shop.server.url("/"))
    shop.check(done)
    assert len([each for each in shop.server.hits if each.startswith("/p?id=15&")]) == 1


@pytest.mark.parametrize("status", [404, 500])
@in_reactor
async def test_a_page_that_fails_after_the_swap(serve: Serve, status: int) -> None:
    """The URL that stands for a page under the new rules fails, and the next one: a third one is fetched."""
    shop = Shop(serve)
    held = threading.Event()
    asked_for: list[str] = []

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), "/more", *shop.links(range(PAGES // 3)))
        if asked.path == "/more":
            held.wait(PATIENCE)
            return page(prose("more"), *shop.links(range(PAGES // 3, PAGES)))
        if asked.query["id"] == "60":
            asked_for.append(asked.target)
            if len(asked_for) <= 2:
                return status
        return page(prose(asked.query["id"]), "/")

    shop.server.routes = {"*": answer}
    crawler = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=100, RETRY_ENABLED=False)

    def changed() -> None:
        held.set()

    when_counted(crawler, SWAPPED, changed)
    done = await run(crawler, shop.server.url("/"))
    shop.check(done)
    assert len(asked_for) == 3 == len(set(asked_for))
    assert done.stats["dedup/released"] == 2
    assert done.stats["finish_reason"] == "finished"


def children() -> list[int]:
    """The ids of the learning processes that this process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
            line = path.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(words[1]) == os.getpid() and words[0] != "Z" and b"scrapy_dedup.learning" in line.split(b"\0"):
            found.append(int(path.parent.name))
    return found


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")


@linux
@pytest.mark.own_interpreter
@in_reactor
async def test_a_learner_that_is_killed(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever kills it, the crawl goes on, and learns later."""
    shop = Shop(serve)
    killed: set[int] = set()

    def kill() -> bool:
        for pid in {*children()} - killed:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        return len(killed) >= 2

    killer = threading.Thread(target=wait_until, args=(kill,))
    killer.start()
    done = await crawl_live(shop, CONCURRENT_REQUESTS=4)
    killer.join()
    shop.check(done)
    assert done.stats["dedup/learned/swaps"] >= 1
    assert not children()
    told = messages(caplog)
    assert len(told) <= 1
    assert len(told) == min(1, done.stats.get("dedup/learned/failed", 0))


HANGS = "import sys; sys.stdin.read()"
SPEAKS = "import sys\nfor line in sys.stdin: print('what', flush=True)"
DIES = "import sys; sys.stdin.readline(); raise SystemExit('no memory left')"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (HANGS, "it took longer than DEDUP_LEARN_TIMEOUT (0.3 s)"),
        (SPEAKS, "the learning process failed (its answer is not understood)"),
        (DIES, "the learning process failed (no memory left)"),
    ],
)
@in_reactor
async def test_a_learner_that_fails(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, code: str, problem: str
) -> None:
    """The crawl goes on without rules; one warning tells so, and the next attempt is later and later."""
    monkeypatch.setattr(learner, "command_of", lambda settings, directory: [sys.executable, "-c", code])
    shop = Shop(serve)
    crawler = crawler_of(Links, DEDUP_LEARN="live", DEDUP_LEARN_TIMEOUT=0.3 if code == HANGS else PATIENCE)

    when_counted(crawler, FAILED, shop.released.set)
    done = await run(crawler, shop.server.url("/"))
    shop.check(done)
    assert shop.server.downloads == 3 + PAGES * COPIES
    assert done.stats["dedup/learned/failed"] >= 1
    assert "dedup/learned/swaps" not in done.stats
    first, *others = messages(caplog)
    assert (
        first
        == f"Learning failed: {problem}. The crawl goes on with the rules that it has, and it is tried again later"
    )
    assert len(others) <= 1
    assert all(each.startswith("No rules were learned from this crawl") for each in others), "at the close"


class Stops(Links):
    """Closes once rules have changed and *more* pages have come; starts through the dupe filter."""

    custom_settings = {"CONCURRENT_REQUESTS": 2, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1, "JOBDIR": "job"}

    def __init__(self, start: str, more: int = 0) -> None:
        super().__init__(start)
        self.more = more
        self.stopping = False

    async def start(self) -> Any:
        for url in self.start_urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if self.stopping:
            self.more -= 1
            if self.more < 0:
                raise scrapy.exceptions.CloseSpider("paused")


@pytest.mark.parametrize("more", [0, 5, 40])
@in_reactor
async def test_a_job_is_paused_after_rules_changed_and_resumed(serve: Serve, more: int) -> None:
    shop = Shop(serve)
    crawler = crawler_of(Stops, DEDUP_LEARN="live")

    def changed() -> None:
        crawler.spider.stopping = True  # type: ignore[union-attr]
        shop.released.set()

    when_counted(crawler, SWAPPED, changed)
    first = await run(crawler, shop.server.url("/"), more)
    assert first.stats["finish_reason"] == "paused"
    assert first.stats["dedup/learned/swaps"] >= 1
    known = shop.reached
    before = set(shop.server.hits)
    second = await run(crawler_of(Stops, DEDUP_LEARN="live"), shop.server.url("/"))
    shop.check(second)
    assert second.stats["dedup/resumed"] >= len(known), "what was fetched before rules changed is known, too"
    again = {target.partition("&")[0] for target in set(shop.server.hits) - before if target.startswith("/p")}
    assert not known & again, "no page was fetched again under another URL"
    assert len(first.items) + len(second.items) == len(shop.server.hits)


@in_reactor
async def test_an_engine_that_is_paused_while_rules_change(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was queued before the pause is compared under the rules that came meanwhile."""
    shop = Shop(serve, held=False)
    crawler = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=4)
    paused = threading.Event()
    learn = learner.Learner.learn

    def learn_in_the_pause(*args: Any) -> Any:
        assert paused.wait(PATIENCE)
        return learn(*args)

    monkeypatch.setattr(learner.Learner, "learn", learn_in_the_pause)

    def learned() -> None:
        crawler.engine.unpause()  # type: ignore[union-attr]

    def response(response: Any) -> None:
        # So many are there or under way: it is learned.
        if not paused.is_set() and len(shop.server.hits) >= times.LEAST + 4:
            crawler.engine.pause()  # type: ignore[union-attr]
            paused.set()

    when_counted(crawler, LEARNED, learned)
    crawler.signals.connect(response, signals.response_received)
    done = await run(crawler, shop.server.url("/"))
    shop.check(done)
    assert paused.is_set()
    assert done.stats["dedup/learned/times"] >= 1


@pytest.mark.own_interpreter
@pytest.mark.parametrize("condition", [{"CLOSESPIDER_PAGECOUNT": 120}, {"CLOSESPIDER_ITEMCOUNT": 60}])
@in_reactor
async def test_close_conditions(serve: Serve, condition: dict[str, int]) -> None:
    """A crawl that closes while it learns leaves nothing behind, and the rules of what it has seen."""
    shop = Shop(serve, held=False)
    done = await run(crawler_of(Links, DEDUP_LEARN="live", **condition), shop.server.url("/"))
    assert done.stats["finish_reason"] == next(iter(condition)).lower()
    assert not [name for name in done.stats if name.startswith("dedup/errors")]
    assert "dedup/learned/failed" not in done.stats
    assert not children()
    book = RuleBook.load("dedup-rules")
    assert book.equivalent(shop.server.url("/p?id=1&sid=s9x1"), shop.server.url("/p?id=1&sid=s8x0"))


@pytest.mark.own_interpreter
@in_reactor
async def test_several_spiders_and_one_store(serve: Serve) -> None:
    """Two crawls of one site and one of another in one process: each learns what it needs."""
    shops = [Shop(serve), Shop(serve)]
    crawlers = []
    for shop in (*shops, shops[0]):
        crawler = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=8)

        def changed(shop: Shop = shop) -> None:
            shop.released.set()

        when_counted(crawler, SWAPPED, changed)
        crawlers.append((crawler, shop))
    done = await gatherResults([ensureDeferred(run(crawler, shop.server.url("/"))) for crawler, shop in crawlers])
    assert shops[0].reached == shops[1].reached == {f"/p?id={number}" for number in range(PAGES)}
    shops[1].check(done[1])
    assert max(number for target, number in shops[0].server.hits.items() if target != "/") <= 2, "two spiders"
    assert not children()
    assert sorted(path.name for path in Path("dedup-rules").glob("*.toml")) == sorted(
        f"127.0.0.1_{shop.server.port}.toml" for shop in shops
    )


@in_reactor
async def test_a_directory_that_cannot_be_written(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """The rules are used, and lost at the end: that is told once, at the start."""
    Path("file").touch()
    shop = Shop(serve)
    done = await crawl_live(shop, DEDUP_DIR="file/rules", CONCURRENT_REQUESTS=8)
    shop.check(done)
    assert done.stats["dedup/learned/swaps"] >= 1
    assert "dedup/learned/failed" not in done.stats
    (warning,) = messages(caplog)
    assert warning.startswith("The rules that this crawl learns will be lost when it closes: DEDUP_DIR is ")
    assert Path("file").read_bytes() == b""


@in_reactor
async def test_what_is_learned_counts_where_the_directory_with_a_mask_cannot_be_written(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masks and rules of the crawl itself come before those that it began with, and these stay as they are."""
    monkeypatch.setattr(rule_directories, "hindrance", lambda directory: f"{directory} is not writable")
    ticks = iter(range(10_000))
    shop = Shop(serve)
    answer = shop.answer
    shop.server.routes = {
        "*": lambda asked: answer(asked).replace("</body>", f'<p class="clock">It is {next(ticks)} now</p></body>')
    }
    site = f"127.0.0.1:{shop.server.port}"
    old = TransientPath("html/body/div.ad")
    save_mask("dedup-rules", Mask(site, (old,)))
    before = {path.name: path.read_bytes() for path in Path("dedup-rules").iterdir()}
    made = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=8)
    used: list[Mask | None] = []

    def learned() -> None:
        used.append(CrawlComponents.of(made).masks.of_site(site))
        shop.released.set()

    when_counted(made, LEARNED, learned)
    done = await run(made, shop.server.url("/"))
    shop.check(done)
    assert any(mask is not None and any("clock" in path.selector for path in mask.paths) for mask in used)
    assert {path.name: path.read_bytes() for path in Path("dedup-rules").iterdir()} == before


@in_reactor
async def test_a_rule_that_is_refuted_is_replaced_before_its_discards_are_fetched(serve: Serve) -> None:
    """It dropped the session id, rightly, and the edition, wrongly. Under which session a page is fetched is still all one."""
    pages, editions, sessions = 40, (1, 2), "abc"
    early = True

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            shown = [(number, edition) for number in range(pages) for edition in editions[: 1 if early else 2]]
            return page(prose("start"), *(f"/p?id={n}&v={v}&sid={s}" for s in sessions for n, v in shown))
        return page(prose(f"{asked.query['id']} {asked.query['v']}"))

    server = serve(site)
    await run(crawler_of(Links), server.url("/"))  # it records that the session id says nothing
    server.reset()
    early = False
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore(), "q.v": Ignore()}, status=Status.ACTIVE))
    done = await run(crawler_of(Links, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02), server.url("/"))
    assert done.stats["dedup/refuted"] == 1
    reached = {target.partition("&sid=")[0] for target in server.hits if target.startswith("/p")}
    assert reached == {f"/p?id={number}&v={edition}" for number in range(pages) for edition in editions}
    # Some more are on their way when the rule is replaced, how many depends on the machine; all sessions would be 240.
    assert server.downloads < 1 + 2 * len(reached), "each page under one session"
    assert not [name for name in done.stats if name.startswith("dedup/errors")]
