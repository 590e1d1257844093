"""The garbage collector is spared what was there before a crawl, as long as one is open."""

import gc
from collections.abc import Iterator
from typing import Any
from weakref import ref

import pytest
import scrapy
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults

from scrapy_dedup.crawl.support.compatibility import sleep
from scrapy_dedup.crawl.support.garbage_collection import OF_PYTHON, Frozen

from .conftest import Serve
from .crawling import Links, crawl, in_reactor
from .server import page


def is_frozen() -> bool:
    """Whether more is frozen than Python itself may have frozen when it started."""
    return gc.get_freeze_count() > OF_PYTHON


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    assert not is_frozen(), "an earlier test has not given back what it froze"
    yield
    assert not is_frozen()


class Counting(Links):
    """Notes how many objects are frozen at each page."""

    name = "counting"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "frozen": gc.get_freeze_count()}


@in_reactor
async def test_frozen_while_the_crawl_runs(serve: Serve) -> None:
    done = await crawl(Counting, serve({"/": page("a")}).url("/"))
    assert done.items[0]["frozen"] > 10_000, "the modules, at least"
    assert not is_frozen()


@in_reactor
async def test_not_frozen_without_the_plugin(serve: Serve) -> None:
    done = await crawl(Counting, serve({"/": page("a")}).url("/"), DEDUP_ENABLED=False)
    assert done.items[0]["frozen"] <= OF_PYTHON


@in_reactor
async def test_what_somebody_else_froze_stays_frozen(serve: Serve) -> None:
    server = serve({"/": page("a")})
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        done = await crawl(Counting, server.url("/"))
        assert done.items[0]["frozen"] <= before, "nothing was added"
        assert is_frozen()
    finally:
        gc.unfreeze()


class Waiting(scrapy.Spider):
    """Tells when it has its page, and waits before it ends."""

    name = "waiting"

    def __init__(self, url: str, reached: Deferred[None], go_on: Deferred[None]) -> None:
        super().__init__()
        self.start_urls = [url]
        self.reached, self.go_on = reached, go_on

    async def parse(self, response: Any) -> Any:
        self.reached.callback(None)
        await maybe_deferred_to_future(self.go_on)
        yield {"url": response.url}


@in_reactor
async def test_the_last_of_several_crawls_gives_it_back(serve: Serve) -> None:
    url = serve({"/": page("a")}).url("/")
    reached: Deferred[None] = Deferred()
    go_on: Deferred[None] = Deferred()
    first = ensureDeferred(crawl(Waiting, url, reached, go_on))
    await reached
    second = await crawl(Counting, url)
    assert second.items[0]["frozen"] > OF_PYTHON
    assert is_frozen(), "the first one is still open"
    go_on.callback(None)
    await gatherResults([first])


@in_reactor
async def test_a_crawl_that_has_ended_can_be_collected(serve: Serve) -> None:
    """Also one that was open, and so was frozen in part, while another one opened."""
    url = serve({"/": page("a")}).url("/")
    for _ in range(2):
        done = await crawl(Counting, url)
        crawler = ref(done.crawler)
        del done
        for _ in range(1_000):  # threads and calls that have ended with it are let go of in the reactor's next turns
            gc.collect()
            if crawler() is None:
                break
            await deferred_from_coro(sleep(0))
        assert crawler() is None


def test_each_crawl_counts_once() -> None:
    one, other = Frozen(), Frozen()
    one.release()
    one.hold()
    one.hold()
    other.hold()
    one.release()
    one.release()
    assert is_frozen()
    other.release()
    assert not is_frozen()
