"""First crawls: learning is begun by duplicates, and what is postponed waits for one."""

import os
import signal
import threading
from contextlib import suppress
from typing import Any

import pytest
from scrapy import signals

from .conftest import Serve
from .crawling import LEARNED, Crawl, Links, crawler_of, in_reactor, run, when_counted
from .server import Asked, page, prose
from .test_crawl_live import children, linux
from .waiting import PATIENCE, wait_until

PAGES, COPIES = 150, 3
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


class Shop:
    """*PAGES* pages, one after the other; those from *first* on stand under several names of who has linked them.

    One of the first copies comes when the crawl has *learned*.
    """

    def __init__(self, first: int, name: str = "sid") -> None:
        self.first = first
        self.name = name
        self.learned = threading.Event()
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        self.asked.append(asked.target)
        if asked.path == "/":
            return page(prose("start"), *self.targets)
        if len(self.asked) == self.first + 30 < PAGES:
            self.learned.wait(PATIENCE)
        return page(prose(asked.query["id"]))

    @property
    def targets(self) -> list[str]:
        return [
            f"/p?id={number}&{self.name}=s{number}x{copy}"
            for number in range(PAGES)
            for copy in range(COPIES if number >= self.first else 1)
        ]


async def crawled(serve: Serve, shop: Shop, **settings: Any) -> tuple[Crawl, list[int]]:
    """Crawl; return also how many had been asked for as each learning of the crawl ended."""
    server = serve(shop)
    crawler = crawler_of(Links, **{"DEDUP_LEARN": "live", "CONCURRENT_REQUESTS": 1, **BREADTH, **settings})
    ended: list[int] = []

    closed = threading.Event()

    def note() -> None:
        if not closed.is_set():
            ended.append(len(shop.asked))
        shop.learned.set()

    when_counted(crawler, LEARNED, note)
    crawler.signals.connect(closed.set, signals.spider_closed, weak=False)
    done = await run(crawler, server.url("/"))
    assert {target.partition("&")[0] for target in shop.asked} == {"/", *(f"/p?id={n}" for n in range(PAGES))}
    assert not [name for name in done.stats if name.startswith("dedup/errors")]
    return done, ended


@in_reactor
async def test_a_site_without_duplicates_is_learned_when_the_crawl_closes(serve: Serve) -> None:
    done, ended = await crawled(serve, Shop(PAGES))
    assert ended == []
    assert done.stats["dedup/learned/times"] == 1
    assert done.stats["downloader/response_count"] == 1 + PAGES


@in_reactor
async def test_duplicates_begin_a_learning_however_late_they_come(serve: Serve) -> None:
    shop = Shop(PAGES - 50)
    done, ended = await crawled(serve, shop)
    assert ended
    assert min(ended) > 1 + PAGES - 50 + COPIES, "not before they come"
    assert done.stats["dedup/learned/times"] < 20, "and not with each of them"


@in_reactor
async def test_what_was_learned_last_is_not_learned_again_at_the_close(serve: Serve) -> None:
    """Before the spider runs idle the rules that filter are looked at with all that has come."""
    done, ended = await crawled(serve, Shop(0))
    assert done.stats["dedup/discarded"] > PAGES
    assert done.stats["dedup/learned/times"] == len(ended), "none of them as it closed"


@linux
@pytest.mark.own_interpreter
@pytest.mark.parametrize("sent", ["SIGSTOP", "SIGKILL"])
@in_reactor
async def test_learning_processes_that_hang_or_die_let_go_what_was_postponed(serve: Serve, sent: str) -> None:
    """It waits for them as long as they may take, and no longer; without rules nothing is filtered."""
    shop = Shop(0, "utm_source")
    shop.learned.set()  # nothing is learned before the first of those that are postponed
    met: set[int] = set()
    over = threading.Event()

    def meet() -> bool:
        for pid in {*children()} - met:
            with suppress(ProcessLookupError):
                os.kill(pid, getattr(signal, sent))
                met.add(pid)
        return over.is_set()

    watch = threading.Thread(target=wait_until, args=(meet,))
    watch.start()
    try:
        done, _ = await crawled(serve, shop, DEDUP_LEARN_TIMEOUT=0.1)
    finally:
        over.set()
        watch.join()
    assert met
    stats = done.dedup()
    assert stats["learned/failed"] >= 1
    assert stats["postponed/fetched"] == stats["postponed"] > PAGES
    assert len(shop.asked) == 1 + PAGES * COPIES
    assert done.stats["finish_reason"] == "finished"
