"""Learning while the crawl goes on: the first crawl of a site saves, loses nothing, and fetches nothing twice.

The server holds answers back until rules are in use, where a test needs that: nothing here depends on how
fast anything is.
"""

import threading
from typing import Any

import pytest
import scrapy

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl import live, times
from scrapy_dedup.crawl.signals import rules_changed

from .conftest import Serve
from .crawling import Crawl, Links, crawler_of, in_reactor, observed, run
from .server import Asked, Server, page, prose

PAGES = 150
#: Copies of a page.
COPIES = 4


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between two learnings bound what they cost, and would make the tests long."""
    monkeypatch.setattr(live, "_REST", 0)
    monkeypatch.setattr(times, "GROWTH", 0.02)
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
            self.released.wait(60)
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

    def changed(sites: Any) -> None:
        shop.released.set()

    crawler.signals.connect(changed, rules_changed)
    return await run(crawler, shop.server.url("/"))


@pytest.mark.parametrize("concurrent", [1, 100])
@in_reactor
async def test_the_first_crawl_saves(serve: Serve, concurrent: int) -> None:
    shop = Shop(serve)
    done = await crawl_live(
        shop, CONCURRENT_REQUESTS=concurrent, CONCURRENT_REQUESTS_PER_DOMAIN=concurrent, DOWNLOAD_TIMEOUT=60
    )
    shop.check(done)
    assert shop.server.downloads <= 3 + PAGES // 3 * COPIES + 2 * PAGES // 3
    assert done.stats["dedup/learned/swaps"] >= 1
    assert done.stats["dedup/learned/times"] >= done.stats["dedup/learned/swaps"]
    assert done.stats["dedup/discarded/urls"] >= 2 * PAGES // 3 * (COPIES - 1)
    assert "dedup/learned/failed" not in done.stats
    book = RuleBook.load("dedup-rules")
    assert book.equivalent(shop.server.url("/p?id=1&sid=s9x1"), shop.server.url("/p?id=1&sid=s8x0"))
    assert len(observed()) == shop.server.downloads - 1, "and it is all recorded"
