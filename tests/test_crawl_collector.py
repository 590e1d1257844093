"""A crawl that has ended is let go of: the garbage collector can take it."""

import gc
from weakref import ref

from twisted.internet.task import deferLater

from .conftest import Serve
from .crawling import Links, crawl, in_reactor
from .server import page


@in_reactor
async def test_a_crawl_that_has_ended_can_be_collected(serve: Serve) -> None:
    from twisted.internet import reactor

    url = serve({"/": page("a")}).url("/")
    done = await crawl(Links, url)
    crawler = ref(done.crawler)
    del done
    for _ in range(1_000):  # threads and calls that have ended with it are let go of in the reactor's next turns
        gc.collect()
        if crawler() is None:
            break
        await deferLater(reactor, 0)
    assert crawler() is None
