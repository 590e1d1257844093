"""A crawl that has ended is let go of: the garbage collector can take it."""

import gc
from weakref import ref

from scrapy.utils.defer import deferred_from_coro

from scrapy_dedup.crawl.support.compatibility import sleep

from .conftest import Serve
from .crawling import Links, crawl, in_reactor
from .server import page


@in_reactor
async def test_a_crawl_that_has_ended_can_be_collected(serve: Serve) -> None:
    url = serve({"/": page("a")}).url("/")
    done = await crawl(Links, url)
    crawler = ref(done.crawler)
    del done
    for _ in range(1_000):  # threads and calls that have ended with it are let go of in the reactor's next turns
        gc.collect()
        if crawler() is None:
            break
        await deferred_from_coro(sleep(0))
    assert crawler() is None
