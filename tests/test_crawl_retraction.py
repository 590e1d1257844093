"""A wrong rule costs a delay and no page: it is suspended, and what it has filtered is fetched after all."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.exceptions import CloseSpider

from scrapy_dedup import RuleBook, learn_rules

from .conftest import Serve
from .crawling import (
    Crawl,
    Links,
    Outcome,
    crawl,
    crawl_site,
    ignore,
    in_reactor,
    ledger,
    messages,
    observed,
    save_rules,
    statuses,
    without,
)
from .server import Answer, Asked, page, prose

LISTS, LENGTH, SIDS = 3, 6, 3
WRONG, RIGHT = ignore("q.page", "active"), ignore("q.sid", "active")
EVERY = {f"/list?of={i}&page={j}" for i in range(LISTS) for j in range(1, LENGTH + 1)}
#: Requests that plain Scrapy makes.
PLAIN = 1 + SIDS * LISTS * LENGTH
#: Breadth first: all lists have been read before their pages.
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


def lists(asked: Asked) -> Any:
    """Lists of several pages, each under several session ids; the first page alone has links: no other one leads again to what is to be fetched after all."""
    if asked.path == "/robots.txt":
        return Answer("User-agent: *\nDisallow: /private\n", content_type="text/plain")
    if asked.path == "/":
        return page("start", *(f"/list?of={i}&page=1&sid=0" for i in range(LISTS)))
    if asked.path == "/private":
        return page(prose("private"))
    number, at = asked.query["of"], int(asked.query["page"])
    links = [f"/list?of={number}&page={other}&sid={sid}" for other in range(1, LENGTH + 1) for sid in range(SIDS)]
    return page(prose(f"{number} {at}"), *(links if at == 1 else []), "/private?page=1")


def parse_list(response: Any) -> Any:
    """A callback that is no method of the spider."""
    yield {"url": response.url, "key": None}
    for each in response.follow_all(css="a"):
        yield each.replace(callback=parse_list)


class Functions(Links):
    def parse(self, response: Any) -> Any:
        yield from parse_list(response)


class Spoils(Links):
    """Its rule files cannot be written."""

    def parse(self, response: Any) -> Any:
        for path in Path("dedup-rules").iterdir():
            path.write_text("spoilt")
        yield from super().parse(response)


class Pauses(Links):
    """Pauses the engine for a moment when the rule is suspended."""

    paused = False

    def parse(self, response: Any) -> Any:
        if self.crawler.stats.get_value("dedup/refuted") and not self.paused:  # type: ignore[union-attr]
            from twisted.internet import reactor

            self.paused = True
            self.crawler.engine.pause()  # type: ignore[union-attr]
            reactor.callLater(0.05, self.crawler.engine.unpause)  # type: ignore[attr-defined, union-attr]
        yield from super().parse(response)


def check_lists(done: Outcome) -> None:
    assert set(without("sid", done.urls)) == {"/", *EVERY}, "no page is lost"
    assert max(done.fetched.values()) == 1
    assert done.fetched.total() < PLAIN * 0.7, "the right rule goes on to save"
    assert done.stat("avoided") == PLAIN - done.fetched.total()
    assert (done.stat("refuted"), done.stat("owed")) == (1, 0)
    assert done.stat("retracted") > 0


@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        pytest.param(Links, {**BREADTH, "CONCURRENT_REQUESTS": 1}, id="one by one"),
        pytest.param(Links, {**BREADTH, "CONCURRENT_REQUESTS": 100, "JOBDIR": "job"}, id="all at once, in a job"),
        pytest.param(Links, {"ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY": 0.001}, id="robots.txt and delay"),
        pytest.param(Functions, {}, id="callbacks that are functions"),
        pytest.param(Spoils, {}, id="rules cannot be written"),
        pytest.param(Pauses, {"CONCURRENT_REQUESTS": 2}, id="a pause"),
    ],
)
@in_reactor
async def test_a_wrong_rule(serve: Serve, spider: Any, settings: dict[str, Any], caplog: Any) -> None:
    ways: set[tuple[str, float]] = set()

    class Watched(spider):  # type: ignore[misc]
        def parse(self, response: Any) -> Any:
            ways.update((name, slot.delay) for name, slot in self.crawler.engine.downloader.slots.items())
            yield from super().parse(response)

    done = await crawl_site(serve, lists, WRONG, RIGHT, spider=Watched, DEDUP_SAMPLE=0.02, **settings)
    done.items = [each for each in done.items if "/private" not in each["url"]]
    private = Counter({target: done.fetched.pop(target) for target in list(done.fetched) if "private" in target})
    assert private.total() == (0 if "ROBOTSTXT_OBEY" in settings else 1)
    assert ways == {("127.0.0.1", settings.get("DOWNLOAD_DELAY", 0))}, "what is fetched after all goes the usual way"
    check_lists(done)
    told = [text for text in messages(caplog) if "is refuted and suspended" in text]
    assert bool(done.faults()) is (spider is Spoils)
    if spider is Spoils:
        assert [text for text in messages(caplog) if "in this crawl only" in text and "dedup-rules" in text]
        return
    assert len(told) == 1
    assert statuses(done.server.site) == {"q.page": "suspended", "q.sid": "active"}
    if settings.get("CONCURRENT_REQUESTS") == 1:
        again = await done.again(DEDUP_SAMPLE=0.02)
        assert set(without("sid", again.urls)) >= EVERY
        assert (again.stat("refuted"), statuses(done.server.site)["q.page"]) == (0, "suspended"), "it stays so"
        relearned = learn_rules(observed().values(), known=RuleBook.load("dedup-rules"))
        one, other = (done.server.url(f"/list?of=1&page={number}&sid=0") for number in (1, 2))
        assert not relearned.equivalent(one, other)


@in_reactor
async def test_a_parameter_that_begins_to_matter(serve: Serve) -> None:
    """The server changes while it is crawled."""
    lock = threading.Lock()
    asked_before = 0
    last = 40

    def site(asked: Asked) -> Any:
        nonlocal asked_before
        with lock:
            asked_before += 1
            changed = asked_before > 25
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&lang=de" for i in range(10)))
        number, language = int(asked.query["id"]), asked.query["lang"]
        links = [f"/p?id={number + 1}&lang={each}" for each in ("de", "en", "fr")] if number < last else []
        return page(prose(f"{number} {language if changed else ''}"), *links)

    done = await crawl_site(serve, site, ignore("q.lang", "active"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=4)
    assert statuses(done.server.site) == {"q.lang": "suspended"}
    assert max(done.fetched.values()) == 1
    changed = {f"/p?id={i}&lang={each}" for i in range(10, last + 1) for each in ("de", "en", "fr")}
    assert changed <= set(done.fetched), "no page is lost"
    assert done.stat("refuted") == 1


def ticking(wrong: bool) -> Callable[[Asked], Any]:
    """A shop with a clock on each page; where it is *wrong*, the session id matters."""
    lock = threading.Lock()
    ticks = 0

    def site(asked: Asked) -> Any:
        nonlocal ticks
        with lock:
            ticks += 1
            clock = f"<p>It is {ticks} past noon</p>"
        if asked.path == "/":
            answer = page("start, and some words more", "/", *(f"/p?id={i}&sid=0" for i in range(14)))
        else:
            number, sid = int(asked.query["id"]), asked.query["sid"]
            links = [f"/p?id={(number + step) % 14}&sid={number + step}" for step in (1, 2, 3)]
            answer = page(prose(f"{number} {sid if wrong else ''}"), *links)
        return answer.replace("</body>", f"{clock}</body>")

    return site


@pytest.mark.parametrize("wrong", [False, True])
@in_reactor
async def test_a_clock_on_each_page(serve: Serve, wrong: bool) -> None:
    """Pages differ from themselves, as the crawl before has shown: that refutes no rule, but another page does."""
    before = await crawl_site(serve, ticking(wrong))
    plain = before.fetched.total()
    done = await before.again(RIGHT, DEDUP_SAMPLE=0.05)
    assert done.stat("samples/differing" if wrong else "samples/undecided") >= 1
    assert done.stat("samples/confirmed") == 0
    assert done.fetched.total() <= plain
    assert statuses(done.server.site) == {"q.sid": "suspended" if wrong else "active"}
    if wrong:
        assert set(done.urls) == set(before.urls), "no page is lost"
    else:
        assert done.fetched.total() < plain * 0.8
        assert set(without("sid", done.urls)) == set(without("sid", before.urls))


@pytest.mark.parametrize(
    "condition",
    [{"CLOSESPIDER_ERRORCOUNT": 1}, {}],
    ids=lambda condition: next(iter(condition), "CloseSpider"),
)
@in_reactor
async def test_what_a_closed_spider_leaves_is_fetched_by_the_next(serve: Serve, condition: dict[str, int]) -> None:
    """The rule is refuted, and the spider closes before all is fetched; nor does a page link to it in the next crawl."""

    class Closes(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if self.crawler.stats.get_value("dedup/refuted"):  # type: ignore[union-attr]
                raise ValueError("on purpose") if condition else CloseSpider("enough")

    order = {**BREADTH, "CONCURRENT_REQUESTS": 1, "DEDUP_SAMPLE": 0.02}
    first = await crawl_site(serve, lists, WRONG, spider=Closes, **order, **condition)
    assert first.stats["finish_reason"] in {"enough", *map(str.lower, condition)}
    owed = {row.url for row in ledger("owed")}
    assert first.stat("owed") == len(owed) > 0
    save_rules(first.server.site)
    second = await first.again(start=())
    assert owed <= {item["url"] for item in second.items}
    assert max(second.fetched.values()) == 1
    assert not ledger("owed")
    assert not second.faults()


@in_reactor
async def test_rules_that_others_have_reviewed(serve: Serve) -> None:
    """A rule of DEDUP_RULES is suspended in DEDUP_DIR, and its own file stays as it is."""
    server = serve(lists)
    path = save_rules(server.site, WRONG, RIGHT, directory="reviewed")
    before = path.read_text()
    settings: dict[str, Any] = {"DEDUP_SAMPLE": 0.02, "DEDUP_RULES": ["reviewed"], "ROBOTSTXT_OBEY": True}
    done = Outcome(await crawl(Links, server.url("/"), **settings), server)
    check_lists(done)
    assert (path.read_text(), statuses(server.site)) == (before, {"q.page": "suspended"})
    second = await done.again(**settings)
    assert second.stat("refuted") == 0
    assert set(without("sid", second.urls)) >= EVERY


@in_reactor
async def test_a_full_ledger_lets_nothing_more_be_filtered(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    done: Crawl = await crawl_site(serve, lists, RIGHT, ROBOTSTXT_OBEY=True, DEDUP_STORE_MAX_ROWS=10)
    assert isinstance(done, Outcome)
    assert done.fetched.total() == PLAIN - 10
    assert (done.stat("discarded/urls"), len(ledger())) == (10, 10)
    assert len([text for text in messages(caplog) if "DEDUP_STORE_MAX_ROWS" in text]) == 1
    assert isinstance(done.crawler.spider, scrapy.Spider)
