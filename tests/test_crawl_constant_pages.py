"""A first crawl of a site whose every page links to the log-in page with an address to return to: it is fetched some times, not always.

Rules are learned while the crawl goes on. A wall that answers for a while before other pages is not taken for such a page:
what is behind it is fetched.
"""

import asyncio
import itertools
from typing import Any
from urllib.parse import quote

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.rules import Rule
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import STORE, Links, crawl, in_reactor
from .server import Asked, Server, page, prose

TOPICS = 150
SETTINGS: dict[str, Any] = {"DEDUP_LEARN": "live", "DEDUP_SAMPLE": 0.02, "CONCURRENT_REQUESTS_PER_DOMAIN": 4}
FORM = '<form action="/login"><input name="user"><input type="password" name="pass"></form>'


class Waits(Links):
    """Goes on when what is being learned is learned: how many pages come before the rules hangs on no machine."""

    async def parse(self, response: Any) -> Any:
        while CrawlComponents.of(self.crawler).learning._running is not None:
            await asyncio.sleep(0.01)
        for each in super().parse(response):
            yield each


class Forum:
    """Topics that link to each other, and each to the log-in page under a URL of its own."""

    def __init__(self, key: str, *, form: bool) -> None:
        self._key, self._form = key, form
        self.topics = [f"/topic/{number}-{prose(f'{number}').split()[0].lower()}" for number in range(TOPICS)]
        self._place = {topic: place for place, topic in enumerate(self.topics)}

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.topics[:3])
        if asked.path == "/login":
            shown = page("Please log in with the name and the password of your account", "/")
            return shown.replace("</body>", f"{FORM}</body>") if self._form else shown
        place = self._place[asked.path]
        following = self.topics[2 * place + 1 : 2 * place + 5]
        return page(prose(asked.path), f"/login?{self._key}={quote(asked.path, safe='')}", *following)


def rules_of(server: Server) -> list[Rule]:
    return RuleBook.load("dedup-rules", missing_ok=True).for_site(f"127.0.0.1:{server.port}")


@in_reactor
@pytest.mark.parametrize(("key", "form"), [("zurueck_nach", True), ("return_url", False)])
async def test_the_first_crawl_learns_a_log_in_page(serve: Serve, key: str, form: bool) -> None:
    site = Forum(key, form=form)
    server = serve(site)
    done = await crawl(Waits, server.url("/"), **SETTINGS)
    assert set(site.topics) <= set(done.urls), "no page is lost"
    log_ins = sum(number for url, number in server.hits.items() if url.startswith("/login"))
    assert log_ins < TOPICS / 2, "and most URLs of the log-in page are not fetched"
    server.reset()
    again = await crawl(Waits, server.url("/"), **SETTINGS)
    assert set(site.topics) <= set(again.urls)
    assert sum(number for url, number in server.hits.items() if url.startswith("/login")) < TOPICS / 5
    (rule,) = rules_of(server)
    assert f"q.{key}" in rule.ops
    with Store.open(STORE, readonly=True) as store:
        told = {each.password for each in store.observations() if "/login" in each.url}
    assert told == {form}


class Shop:
    """Products that a wall answers for, or that are sold out, until so many requests have come."""

    def __init__(self, text: str, until: int) -> None:
        self._text, self._until = text, until
        self._met = itertools.count()
        self.early: set[str] = set()
        self.products = [f"/buy?product={number}" for number in range(TOPICS)]
        self.shelves = [f"/shelf/{number}" for number in range(TOPICS // 10)]

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.shelves)
        if asked.path.startswith("/shelf"):
            number = int(asked.path.rpartition("/")[2])
            return page(prose(asked.path), *self.products[10 * number : 10 * number + 10])
        if next(self._met) < self._until:
            self.early.add(asked.target)
            return page(self._text)
        return page(prose(asked.target))


@in_reactor
@pytest.mark.parametrize(
    "text", ["Please verify that you are a human being", "Sorry, we have sold out of this product today"]
)
async def test_a_wall_before_pages_for_a_while(serve: Serve, text: str) -> None:
    site = Shop(text, until=TOPICS * 3 // 4)
    server = serve(site)
    done = await crawl(Waits, server.url("/"), **SETTINGS)
    assert len(site.early) == TOPICS * 3 // 4
    assert {*site.shelves, *site.products} <= set(done.urls), "no page is lost"
    assert not rules_of(server)
