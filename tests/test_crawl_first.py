"""First crawls: learning is begun by duplicates, candidates outlast a learning that is out of time, what is postponed waits for one."""

import os
import signal
import threading
from typing import Any

import pytest

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.learn.learner import Learner, LearningOutcome
from scrapy_dedup.crawl.postpone import release
from scrapy_dedup.crawl.signals import learned

from .conftest import Serve
from .crawling import Crawl, Links, crawler_of, in_reactor, run
from .server import Asked, page, prose
from .test_crawl_postponing import candidate_of

PAGES, COPIES = 150, 3
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


class Shop:
    """*PAGES* pages, one after the other; those from *first* on stand under several session ids."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        self.asked.append(asked.target)
        if asked.path == "/":
            return page(prose("start"), *self.targets)
        return page(prose(asked.query["id"]))

    @property
    def targets(self) -> list[str]:
        return [
            f"/p?id={number}&sid=s{number}x{copy}"
            for number in range(PAGES)
            for copy in range(COPIES if number >= self.first else 1)
        ]


async def crawled(serve: Serve, shop: Shop, **settings: Any) -> tuple[Crawl, list[int]]:
    """Crawl; return also how many had been asked for as each learning of the crawl ended."""
    server = serve(shop)
    crawler = crawler_of(Links, **{"DEDUP_LEARN": "live", "CONCURRENT_REQUESTS": 1, **BREADTH, **settings})
    ended: list[int] = []

    def note() -> None:
        ended.append(len(shop.asked))

    crawler.signals.connect(note, learned, weak=False)
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
    assert done.stats["dedup/discarded"] > 0
    assert done.stats["dedup/learned/times"] == len(ended), "none of them as it closed"


@in_reactor
async def test_candidates_outlast_a_learning_that_is_out_of_time(serve: Serve, monkeypatch: Any) -> None:
    """What is named as undecided is postponed as before, and nothing is let go for that."""
    shop = Shop(0)
    answers: list[LearningOutcome] = []

    def learn(_: Any, sites: Any, *__: Any) -> LearningOutcome:
        (site,) = sites
        first = {"candidates": {site: candidate_of(site, "q.sid")}}
        answers.append(LearningOutcome(first if not answers else {"undecided": [site]}))
        return answers[-1]

    monkeypatch.setattr(Learner, "learn", learn)
    done, ended = await crawled(serve, shop)
    stats = done.dedup()
    assert len(ended) > 2
    assert stats["postponed"] > PAGES
    # One of each page comes before those that are postponed, but for the pages that came before there were candidates.
    last = max(number for number, target in enumerate(shop.asked) if target.endswith("x0"))
    assert last < PAGES + 60


@in_reactor
async def test_postponed_requests_wait_for_the_learning_that_decides(serve: Serve, monkeypatch: Any) -> None:
    """However long it takes: while some are held, none is let go until it has ended."""
    monkeypatch.setattr(release, "LONGEST", 0.1)
    shop = Shop(0)
    let_go: list[int] = []

    def slow(_: Any, sites: Any, *__: Any) -> LearningOutcome:
        (site,) = sites
        held = CrawlComponents.of(crawler).postponed_release._held
        before = len(shop.asked)
        if held:
            threading.Event().wait(5 * release.LONGEST)  # it takes so long
            let_go.append(len(shop.asked) - before)
        return LearningOutcome({"candidates": {site: candidate_of(site, "q.sid")}})

    monkeypatch.setattr(Learner, "learn", slow)
    server = serve(shop)
    crawler = crawler_of(Links, **{"DEDUP_LEARN": "live", "CONCURRENT_REQUESTS": 1, **BREADTH})
    done = await run(crawler, server.url("/"))
    assert len(let_go) > 2
    assert not any(let_go)
    assert len(shop.asked) == 1 + PAGES * COPIES, "and all are fetched, since no rule has come"
    assert done.stats["finish_reason"] == "finished"


@in_reactor
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped")
async def test_a_learning_process_that_is_stopped_ends_the_wait(serve: Serve, monkeypatch: Any) -> None:
    stopped: list[int] = []

    def stop(self: Learner, *arguments: Any) -> Any:
        self.start()
        assert self.pid is not None
        os.kill(self.pid, signal.SIGSTOP)
        stopped.append(self.pid)
        return learn(self, *arguments)

    learn = Learner.learn
    monkeypatch.setattr(Learner, "learn", stop)
    done, _ = await crawled(serve, Shop(0), DEDUP_LEARN_TIMEOUT=0.1)
    assert stopped
    assert done.stats["dedup/learned/failed"] >= 1
    assert done.stats["finish_reason"] == "finished"
