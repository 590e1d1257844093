"""The first crawl of a site learns while it goes on: it saves from then on, loses no page, and fetches none twice; later crawls learn when there is news.

The server holds answers back until rules are in use, where a test needs that: nothing here hangs on how fast anything is.
"""

import threading
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import signals
from twisted.internet.defer import ensureDeferred, gatherResults

from scrapy_dedup import RuleBook

from .conftest import Serve
from .crawling import (
    LEARNED,
    SWAPPED,
    Crawl,
    Links,
    crawl,
    crawl_site,
    crawler_of,
    in_reactor,
    messages,
    observed,
    rule_toml,
    rules_of,
    run,
    statuses,
    when_counted,
    without,
)
from .server import Asked, Server, page, prose
from .waiting import PATIENCE

EARLY, PAGES, COPIES = 20, 50, 4
EVERY = {f"/p?id={number}" for number in range(PAGES)}
FIFO = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


def links(numbers: range, copies: range = range(COPIES)) -> list[str]:
    return [f"/p?id={number}&sid=s{number}x{copy}" for number in numbers for copy in copies]


class Shop:
    """Pages, each under several session ids.

    The start page leads to the first of them under all their URLs; the others are linked from a page
    that is held back until *released*.
    """

    def __init__(self, serve: Serve, *, held: bool = True, copies: int = COPIES) -> None:
        self.copies = range(copies)
        self.released = threading.Event()
        if not held:
            self.released.set()
        self.server: Server = serve(self.answer)

    def answer(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), "/more", *links(range(EARLY), self.copies))  # the last link is followed first
        if asked.path == "/more":
            self.released.wait(PATIENCE)
            return page(prose("more"), *links(range(EARLY, PAGES), self.copies))
        return page(prose(asked.query["id"]), "/")

    def crawler(self, spider: type[scrapy.Spider] = Links, **settings: Any) -> Any:
        """A crawler; what is held back is released when rules are in use."""
        made = crawler_of(spider, DEDUP_LEARN="live", **settings)
        when_counted(made, SWAPPED, self.released.set)
        return made

    def check(self, done: Crawl, *, spiders: int = 1) -> None:
        """Nothing is lost, and nothing was fetched twice but the start page, which plain Scrapy fetches so, too."""
        assert set(without("sid", self.server.hits)) == {"/", "/more", *EVERY}
        assert max(number for target, number in self.server.hits.items() if target != "/") <= spiders
        assert done.stats["finish_reason"] == "finished"
        assert not done.faults()
        assert done.stat("learned/swaps") >= 1
        assert done.stat("learned/failed") == 0


@pytest.mark.parametrize("concurrent", [1, 100])
@in_reactor
async def test_the_first_crawl_saves_and_the_next_ones_save_all(serve: Serve, concurrent: int, caplog: Any) -> None:
    shop = Shop(serve)
    server = shop.server
    with caplog.at_level("INFO"):
        done = await run(shop.crawler(CONCURRENT_REQUESTS_PER_DOMAIN=concurrent), server.url("/"))
    shop.check(done)
    assert server.downloads <= 3 + EARLY * COPIES + PAGES - EARLY
    assert done.stat("discarded/urls") == 3 + PAGES * COPIES - server.downloads
    assert RuleBook.load("dedup-rules").equivalent(server.url("/p?id=1&sid=s1x7"), server.url("/p?id=1&sid=s1x8"))
    assert len(observed()) == server.downloads - 1, "and it is all recorded"
    assert done.stat("learned/times") >= done.stat("learned/swaps")
    assert done.stat("learned/rules") >= len(rules_of(server.site)) == 1
    assert done.stat("learned/seconds") > 0
    assert [text[:25] for text in messages(caplog, 20) if text.startswith("Learned ")] == ["Learned 1 rule of 1 site:"]
    server.reset()
    second = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SITES={server.site: "shadow"})
    assert second.stat("shadow/discarded") == PAGES * (COPIES - 1)
    assert server.downloads == 3 + PAGES * COPIES
    server.reset()
    third = await crawl(Links, server.url("/"))
    assert server.downloads == len(third.items) == 3 + PAGES


@in_reactor
async def test_requests_that_wait_or_are_on_their_way_when_rules_change(serve: Serve) -> None:
    """Pages on their way are not fetched again, what is queued is stopped; where a page fails twice a third URL of it is fetched."""
    shop = Shop(serve)
    failing = {30: 404, 31: 500}
    answered: list[str] = []

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            late = range(EARLY, PAGES)
            return page(
                prose("start"),
                *links(range(EARLY)),
                *(url for n in range(COPIES) for url in links(late, range(n, n + 1))),
            )
        answered.append(asked.target)
        if len(answered) > EARLY * COPIES:  # with everything else in the queue
            shop.released.wait(PATIENCE)
        number = int(asked.query["id"])
        if number in failing and len([target for target in answered if f"id={number}&" in target]) <= 2:
            return failing[number]
        return page(prose(number))

    shop.server.routes = {"*": answer}
    done = await run(shop.crawler(CONCURRENT_REQUESTS=8, RETRY_ENABLED=False, **FIFO), shop.server.url("/"))
    fetched = without("sid", shop.server.hits)
    late = {f"/p?id={n}": 3 if n in failing else 1 for n in range(EARLY, PAGES)}
    assert {target: fetched.pop(target) for target in late} == late
    assert set(fetched) == {"/", *(f"/p?id={n}" for n in range(EARLY))}
    assert max(shop.server.hits.values()) == 1
    assert done.stat("released") == 2 * len(failing)
    assert done.stat("discarded/gate") > 0
    assert len(done.items) == shop.server.downloads - 2 * len(failing), "every page came to the spider"
    assert not done.faults()


class Stops(Links):
    """Closes once rules have changed and *more* pages have come; starts through the dupe filter."""

    custom_settings = {"CONCURRENT_REQUESTS": 2, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1, "JOBDIR": "job"}

    def __init__(self, start: str, more: int = 0) -> None:
        super().__init__(start)
        self.more = more

    async def start(self) -> Any:
        for url in self.start_urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if self.crawler.stats.get_value(SWAPPED):  # type: ignore[union-attr]
            self.more -= 1
            if self.more < 0:
                raise scrapy.exceptions.CloseSpider("paused")


@pytest.mark.parametrize("more", [0, 12])
@in_reactor
async def test_a_job_is_paused_after_rules_changed_and_resumed(serve: Serve, more: int) -> None:
    shop = Shop(serve)
    first = await run(shop.crawler(Stops), shop.server.url("/"), more)
    assert first.stats["finish_reason"] == "paused"
    known = shop.server.hits
    second = await run(crawler_of(Stops, DEDUP_LEARN="live"), shop.server.url("/"), PAGES)
    assert set(without("sid", shop.server.hits)) == {"/", "/more", *EVERY}
    again = without("sid", set(shop.server.hits) - set(known))
    assert not set(without("sid", known)) & set(again), "no page was fetched again under another URL"
    assert max(again.values()) == 1
    assert second.stat("resumed") >= len(without("sid", known)) - 1
    assert len(first.items) + len(second.items) == shop.server.downloads == len(shop.server.hits)


@in_reactor
async def test_several_crawls_at_once_with_one_store(serve: Serve) -> None:
    """Two crawls of one site and one of another: each learns what it needs."""
    shops = [Shop(serve), Shop(serve)]
    started = [run(shop.crawler(CONCURRENT_REQUESTS=8), shop.server.url("/")) for shop in (*shops, shops[0])]
    done = await gatherResults([ensureDeferred(each) for each in started])
    for shop, each, spiders in zip(shops, done, (2, 1), strict=False):
        shop.check(each, spiders=spiders)
        assert statuses(shop.server.site) == {"q.sid": "active"}


@in_reactor
async def test_a_rule_that_is_refuted_is_replaced_before_what_it_filtered_is_fetched(serve: Serve) -> None:
    """It dropped the session id, rightly, and the edition, wrongly. Under which session a page is fetched is still all one."""
    number, editions = 30, [1]

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            shown = [(n, edition) for n in range(number) for edition in editions]
            return page(prose("start"), *(f"/p?id={n}&v={v}&sid={s}" for s in "abc" for n, v in shown))
        return page(prose(f"{asked.query['id']} {asked.query['v']}"))

    first = await crawl_site(serve, site)  # it records that the session id says nothing
    editions.append(2)
    wrong = rule_toml('"q.sid" = "ignore"', '"q.v" = "ignore"', status="active")
    done = await first.again(wrong, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02)
    assert done.stat("refuted") == 1
    assert set(without("sid", done.fetched)) == {"/", *(f"/p?id={n}&v={v}" for n in range(number) for v in editions)}
    # Some more are on their way when the rule is replaced, how many depends on the machine; all sessions would be 180.
    assert done.fetched.total() < 1 + 2 * 2 * number, "each page under one session"
    assert not done.faults()


@pytest.mark.parametrize(
    ("first", "early"),
    [
        pytest.param(60, 0, id="without duplicates it is learned at the close"),
        pytest.param(40, 1, id="duplicates begin a learning however late they come"),
        pytest.param(0, 1, id="what was learned last is not learned again at the close"),
    ],
)
@in_reactor
async def test_when_a_first_crawl_learns(serve: Serve, first: int, early: int) -> None:
    """From page *first* on there are duplicates; one of the first of them comes when the crawl has learned."""
    number, asked_for, ended = 60, list[str](), list[int]()
    learned, closed = threading.Event(), threading.Event()

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page(
                prose("start"),
                *(f"/p?id={n}&sid=s{n}x{c}" for n in range(number) for c in range(3 if n >= first else 1)),
            )
        asked_for.append(asked.target)
        if len(asked_for) == first + 40 < number + 40:
            learned.wait(PATIENCE)
        return page(prose(asked.query["id"]))

    def note() -> None:
        if not closed.is_set():
            ended.append(len(asked_for))
        learned.set()

    server = serve(site)
    crawler = crawler_of(Links, DEDUP_LEARN="live", CONCURRENT_REQUESTS=1, **FIFO)
    when_counted(crawler, LEARNED, note)
    crawler.signals.connect(closed.set, signals.spider_closed, weak=False)
    done = await run(crawler, server.url("/"))
    assert set(without("sid", asked_for)) == {f"/p?id={n}" for n in range(number)}
    assert bool(ended) is bool(early)
    assert min(ended, default=first + 4) > first + 3, "not before they come"
    assert len(ended) <= done.stat("learned/times") <= len(ended) + (first > 0), (
        "once more as it closes, if there is news"
    )
    assert 1 <= done.stat("learned/times") < 12, "and not with each of them"
    assert len(asked_for) < first + 40 + number or first == number
    assert bool(done.stat("discarded")) is bool(early)


@in_reactor
async def test_later_crawls_learn_when_there_is_news(serve: Serve) -> None:
    """Little was seen in each of them; what is recorded of the site must suffice, and have grown by half or show duplicates."""

    def site(asked: Asked) -> Any:
        return page(prose("twin" if "twin" in asked.path else asked.path))

    def numbers(*some: int) -> list[str]:
        return [f"/{number}" for number in range(*some)]

    server = serve(site)
    for targets, learns in (
        (numbers(19), False),
        (["/more"], True),
        ([*numbers(20, 24), "/1"], False),
        (["/1?sid=7"], True),
        (["/one-twin", "/other-twin"], True),
        (["/other-twin"], False),
        (numbers(30, 36), False),
        (numbers(36, 46), True),
        (numbers(46, 50), False),
        (numbers(45), True),
        (numbers(45), True),
    ):
        done = await crawl(Links, *map(server.url, targets), DEDUP_LEARN="close")
        assert done.stat("learned/times") == learns, targets
    other = serve(site)
    done = await crawl(Links, *map(other.url, numbers(19)), DEDUP_LEARN="close")
    assert done.stat("learned/times") == 0, "of each site"


@in_reactor
async def test_what_was_reviewed_elsewhere_counts_and_is_not_copied(serve: Serve) -> None:
    """A rule that is off and a place that is kept, in a directory of DEDUP_RULES, are not learned anew."""
    answered = iter(range(10_000))
    shop = Shop(serve, held=False)
    clocked = lambda asked: shop.answer(asked).replace("</body>", f'<p class="clock">It is {next(answered)}</p></body>')
    settings = {"DEDUP_LEARN": "close", "DEDUP_REVISITS": 8, "CONCURRENT_REQUESTS": 1}
    first = await crawl_site(serve, clocked, **settings)
    site = first.server.site
    assert statuses(site) == {"q.sid": "active"}
    mask = Path("dedup-rules", f"{site.replace(':', '_')}.mask.toml")
    assert "clock" in mask.read_text()
    Path("dedup-rules").rename("reviewed")
    for path in Path("reviewed").glob("*.toml"):
        text = path.read_text().replace('status = "active"', 'status = "off"')
        path.write_text(text.replace("seen = ", 'state = "keep"\nseen = '))
    before = {path.name: path.read_bytes() for path in Path("reviewed").glob("*.toml")}
    assert len(before) == 2
    done = await first.again(DEDUP_RULES=["reviewed"], **settings)
    assert done.fetched.total() >= 2 + PAGES * COPIES, "what is off does not filter"
    assert not rules_of(site)
    assert not mask.exists() or "clock" not in mask.read_text()
    assert {path.name: path.read_bytes() for path in Path("reviewed").glob("*.toml")} == before
