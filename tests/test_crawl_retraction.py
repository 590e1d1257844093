"""A wrong rule costs a delay and no page: it is suspended, and what it has discarded is fetched after all."""

import itertools
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import Request, signals

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.learning.learn import learn_rules
from scrapy_dedup.rules import Ignore, Rule, Status
from scrapy_dedup.store.rows import DiscardState

from .conftest import Serve
from .crawling import (
    SWAPPED,
    Links,
    crawl,
    crawler_of,
    discarded,
    in_reactor,
    messages,
    observed,
    rule,
    run,
    when_counted,
    write_rules,
)
from .server import Asked, Server, page, prose

LISTS, LENGTH = 4, 12


def lists(asked: Asked) -> Any:
    """Lists of several pages, each under three session ids."""
    if asked.path == "/":
        return page("start", *(f"/list?of={i}&page=1&sid=0" for i in range(LISTS)))
    number, at = asked.query["of"], int(asked.query["page"])
    links = [f"/list?of={number}&page={other}&sid={sid}" for other in range(1, LENGTH + 1) for sid in range(3)]
    return page(prose(f"{number} {at}"), *links)


def linked_once(asked: Asked) -> Any:
    """The lists, of which the first page alone has links: no other one leads again to what is to be fetched after all."""
    is_first = asked.path == "/" or asked.query["page"] == "1"
    return lists(asked) if is_first else page(prose(f"{asked.query['of']} {asked.query['page']}"))


EVERY = {f"/list?of={i}&page={j}" for i in range(LISTS) for j in range(1, LENGTH + 1)}
#: Requests that plain Scrapy makes.
PLAIN = 1 + 3 * LISTS * LENGTH


def learned(server: Server, *keys: str) -> list[Rule]:
    return [rule(f"127.0.0.1:{server.port}", {f"q.{key}": Ignore()}, status=Status.ACTIVE) for key in keys]


def status(server: Server) -> dict[str, Status]:
    found = RuleBook.load("dedup-rules").for_site(f"127.0.0.1:{server.port}")
    return {key: each.status for each in found for key in each.ops}


def pages_of(urls: list[str]) -> Counter[str]:
    return Counter(url.rpartition("&sid")[0] for url in urls if url.startswith("/list"))


def check(server: Server, urls: list[str]) -> None:
    assert set(pages_of(urls)) == EVERY, "no page is lost"
    assert max(server.hits.values()) == 1
    assert server.downloads <= PLAIN


@pytest.mark.parametrize("concurrency", [1, 16, 100])
@in_reactor
async def test_a_wrong_rule(serve: Serve, concurrency: int, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(linked_once)
    write_rules(*learned(server, "page", "sid"))
    # Breadth first: all lists have been read then.
    order = {"DEPTH_PRIORITY": 1, "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=concurrency, **order)
    check(server, done.urls)
    assert status(server) == {"q.page": Status.SUSPENDED, "q.sid": Status.ACTIVE}
    assert server.downloads < PLAIN * 0.6, "the right rule goes on to save"
    assert done.stats["dedup/refuted"] == 1
    assert done.stats["dedup/retracted"] > 0
    assert "dedup/owed" not in done.stats
    assert len([text for text in messages(caplog) if "is refuted and suspended" in text]) == 1
    assert "dedup/errors" not in str(done.dedup())
    site = f"127.0.0.1:{server.port}"
    assert done.stats[f"dedup/avoided/site/{site}"] == done.stats["dedup/avoided"] == PLAIN - server.downloads


@pytest.mark.parametrize("order", ["breadth", "depth"])
@in_reactor
async def test_in_any_order(serve: Serve, order: str) -> None:
    server = serve(lists)
    write_rules(*learned(server, "page", "sid"))
    settings: dict[str, Any] = {"DEPTH_PRIORITY": 1} if order == "breadth" else {}
    if settings:
        settings["SCHEDULER_MEMORY_QUEUE"] = "scrapy.squeues.FifoMemoryQueue"
        settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, **settings)
    check(server, done.urls)
    assert status(server)["q.page"] is Status.SUSPENDED


@in_reactor
async def test_a_suspended_rule_stays_so(serve: Serve) -> None:
    server = serve(lists)
    write_rules(*learned(server, "page", "sid"))
    await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02)
    server.reset()
    second = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02)
    check(server, second.urls)
    assert "dedup/refuted" not in second.stats
    assert server.downloads < 1 + 2 * LISTS * LENGTH
    site = f"127.0.0.1:{server.port}"
    relearned = learn_rules(observed().values(), known=RuleBook.load("dedup-rules"))
    assert {key for each in relearned.for_site(site) for key in each.ops if each.status.acts} <= {"q.sid"}


@in_reactor
async def test_a_parameter_that_begins_to_matter(serve: Serve) -> None:
    """The server changes while it is crawled."""
    asked_before = 0
    lock = threading.Lock()

    def site(asked: Asked) -> Any:
        nonlocal asked_before
        with lock:
            asked_before += 1
            changed = asked_before > 60
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&lang=de" for i in range(20)))
        number, language = int(asked.query["id"]), asked.query["lang"]
        links = [f"/p?id={number + 1}&lang={each}" for each in ("de", "en", "fr")] if number < 150 else []
        return page(prose(f"{number} {language if changed else ''}"), *links)

    server = serve(site)
    write_rules(*learned(server, "lang"))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=4)
    assert status(server) == {"q.lang": Status.SUSPENDED}
    assert max(server.hits.values()) == 1
    assert {f"/p?id={i}&lang={each}" for i in range(20, 151) for each in ("de", "en", "fr")} <= set(server.hits)
    assert done.stats["dedup/refuted"] == 1


def ticking(wrong: bool) -> Any:
    """A shop with a clock on each page; where it is *wrong*, the session id matters."""
    lock = threading.Lock()
    ticks = 0

    def site(asked: Asked) -> Any:
        nonlocal ticks
        with lock:
            ticks += 1
            clock = f"<p>It is {ticks} past noon</p>"
        if asked.path == "/":
            answer = page("start, and some words more", "/", *(f"/p?id={i}&sid=0" for i in range(30)))
        else:
            number, sid = int(asked.query["id"]), asked.query["sid"]
            links = [f"/p?id={(number + step) % 30}&sid={number + step}" for step in (1, 2, 3)]
            answer = page(prose(f"{number} {sid if wrong else ''}"), *links)
        return answer.replace("</body>", f"{clock}</body>")

    return site


@pytest.mark.parametrize("wrong", [False, True])
@in_reactor
async def test_a_clock_on_each_page(serve: Serve, wrong: bool) -> None:
    """Pages differ from themselves: that refutes no rule, but another page does."""
    server = serve(ticking(wrong))
    # The crawl before shows how much they do.
    before = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0)
    plain = server.downloads
    assert before.stats["item_scraped_count"] == plain
    server.reset()
    write_rules(*learned(server, "sid"))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.05)
    assert done.stats["dedup/samples/differing" if wrong else "dedup/samples/undecided"] >= 1
    assert "dedup/samples/confirmed" not in done.stats
    assert server.downloads <= plain
    assert max(count for target, count in server.hits.items() if target != "/") == 1
    if wrong:
        assert status(server) == {"q.sid": Status.SUSPENDED}
        assert set(done.urls) == set(before.urls), "no page is lost"
    else:
        assert status(server) == {"q.sid": Status.ACTIVE}
        assert server.downloads < plain * 0.7, "of a rule without evidence the first discards are checked, one and all"
        assert {url.partition("&")[0] for url in done.urls} == {url.partition("&")[0] for url in before.urls}


@in_reactor
async def test_what_a_closed_spider_leaves_is_fetched_by_the_next(serve: Serve) -> None:
    """The rule is refuted, and the spider closes before all is fetched."""

    class Closes(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if self.crawler.stats.get_value("dedup/refuted"):  # type: ignore[union-attr]
                raise scrapy.exceptions.CloseSpider("enough")

    server = serve(lists)
    write_rules(*learned(server, "page"))
    first = await crawl(Closes, server.url("/"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=1)
    assert first.stats["finish_reason"] == "enough"
    owed = {row.url for row in discarded(state=DiscardState.OWED)}
    assert first.stats["dedup/owed"] == len(owed) > 0
    known = {item["url"] for item in first.items} | owed
    linked = {server.url(f"/list?of={i}&page=1&sid=0") for i in range(LISTS)}
    assert {row.url for row in discarded()} <= known | linked
    write_rules()  # nor does a page link to them in the next crawl
    server.reset()
    second = await crawl(Links, DEDUP_SAMPLE=0.02)
    assert owed <= {item["url"] for item in second.items}
    assert max(server.hits.values()) == 1
    assert not discarded(state=DiscardState.OWED)


@in_reactor
async def test_rules_that_cannot_be_written_are_suspended_all_the_same(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(lists)
    write_rules(*learned(server, "page", "sid"))
    (path,) = Path("dedup-rules").iterdir()

    class Spoils(Links):
        def parse(self, response: Any) -> Any:
            path.write_text("spoilt")
            yield from super().parse(response)

    done = await crawl(Spoils, server.url("/"), DEDUP_SAMPLE=0.02)
    check(server, done.urls)
    (told,) = [text for text in messages(caplog) if "in this crawl only" in text]
    assert path.name in told


@in_reactor
async def test_rules_that_others_have_reviewed(serve: Serve) -> None:
    """A rule of DEDUP_RULES is suspended in DEDUP_DIR, and its own file stays as it is."""
    server = serve(lists)
    RuleBook(learned(server, "page")).save("reviewed")
    before = [path.read_text() for path in Path("reviewed").iterdir()]
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, DEDUP_RULES=["reviewed"])
    check(server, done.urls)
    assert [path.read_text() for path in Path("reviewed").iterdir()] == before
    server.reset()
    second = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, DEDUP_RULES=["reviewed"])
    assert "dedup/discarded" not in second.stats
    assert status(server) == {"q.page": Status.SUSPENDED}


@in_reactor
async def test_with_a_job_directory(serve: Serve) -> None:
    class Paused(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if self.crawler.stats.get_value("response_received_count") >= 9:  # type: ignore[union-attr]
                raise scrapy.exceptions.CloseSpider("paused")

    server = serve(lists)
    write_rules(*learned(server, "page", "sid"))
    urls: list[str] = []
    for _ in range(40):
        done = await crawl(Paused, server.url("/"), DEDUP_SAMPLE=0.02, JOBDIR="job", CONCURRENT_REQUESTS=2)
        urls += done.urls
        if done.stats["finish_reason"] == "finished":
            break
    assert set(pages_of(urls)) == EVERY
    assert max(count for target, count in server.hits.items() if target != "/") <= 2
    assert status(server)["q.page"] is Status.SUSPENDED


@in_reactor
async def test_a_full_ledger_lets_nothing_more_be_discarded(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(lists)
    write_rules(*learned(server, "page", "sid"))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0, DEDUP_STORE_MAX_ROWS=10)
    assert server.downloads == PLAIN - 10
    assert done.stats["dedup/discarded/urls"] == 10
    assert len([text for text in messages(caplog) if "DEDUP_STORE_MAX_ROWS" in text]) == 1


def parse_list(response: Any) -> Any:
    """A callback that is no method of the spider."""
    yield {"url": response.url, "key": None}
    for each in response.follow_all(css="a"):
        yield each.replace(callback=parse_list)


@in_reactor
async def test_callbacks_that_are_functions(serve: Serve) -> None:
    class Functions(Links):
        def parse(self, response: Any) -> Any:
            yield from parse_list(response)

    server = serve(linked_once)
    write_rules(*learned(server, "page", "sid"))
    done = await crawl(Functions, server.url("/"), DEDUP_SAMPLE=0.02)
    check(server, done.urls)
    assert done.stats["dedup/retracted"] > 0
    assert status(server) == {"q.page": Status.SUSPENDED, "q.sid": Status.ACTIVE}


@in_reactor
async def test_a_callback_that_cannot_be_named_again(serve: Serve) -> None:
    """What the ledger could not give back is not discarded."""

    class Local(Links):
        def parse(self, response: Any) -> Any:
            def inner(response: Any) -> Any:
                yield {"url": response.url, "key": None}

            yield {"url": response.url, "key": None}
            for each in response.follow_all(css="a"):
                yield each.replace(callback=inner)

    server = serve(lambda asked: page("start", *(f"/p?sid={i}" for i in range(9))))
    write_rules(*learned(server, "sid"))
    done = await crawl(Local, server.url("/"), DEDUP_SAMPLE=0)
    assert server.downloads == len(done.items) == 10
    assert done.stats["dedup/ledger/prevented"] == 8


@in_reactor
async def test_a_slot_that_nothing_stands_for_keeps_no_crawl_open(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under rules of before it was taken for a request that later ones have discarded: nobody fetches it."""
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.01)
    server = serve({"/": page(prose("start"), "/p?id=1", "/p?id=1&sid=2"), "/p": page(prose("one"))})
    (wrong,) = learned(server, "sid")
    write_rules(wrong)
    other = "/p?id=1&sid=2"
    slots = []
    idle = itertools.count()

    class Suspends(Links):
        async def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each
            if response.url == server.url("/p?id=1"):
                shared = CrawlComponents.of(self.crawler)
                await shared.retraction.suspend({wrong: (server.url(other), response.url)})
                for slot in slots:
                    shared.seen._forget_waiting(slot)

    crawler = crawler_of(Suspends, CONCURRENT_REQUESTS=1)

    def withdrawn() -> None:
        shared = CrawlComponents.of(crawler)
        slot = shared.identities.slot_of_url(server.url(other), Request(server.url(other), crawler.spider.parse))  # type: ignore[union-attr]
        assert slot is not None
        shared.seen.take(slot, server.url(other), "parse")
        slots.append(slot)

    def is_empty() -> None:
        if crawler.engine.spider_is_idle() and next(idle) > 1000:  # type: ignore[union-attr]
            crawler.engine.close_spider(crawler.spider, reason="never ends")  # type: ignore[union-attr]

    when_counted(crawler, SWAPPED, withdrawn)
    crawler.signals.connect(is_empty, signals.scheduler_empty)
    done = await run(crawler, server.url("/"))
    assert slots
    assert done.stats["finish_reason"] == "finished"
    assert server.hits[other] == 1
