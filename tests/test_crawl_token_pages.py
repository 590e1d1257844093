"""A wall that was taken for one page with tokens: once the pages differ, samples show it, and all are fetched after all.

Nothing that the first crawl shows tells this wall from a page: it answers for no other URL, and its key stands nowhere else.
"""

import itertools
import random
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.rules import IgnoreValue, Rule, Status
from scrapy_dedup.urls import ValueClass

from .conftest import Serve
from .crawling import Links, crawl, in_reactor
from .server import Asked, Server, page, prose

SHELVES, OPEN, ITEMS = 12, 40, 612
SETTINGS: dict[str, Any] = {"DEDUP_LEARN": "close", "DEDUP_SAMPLE": 0.02, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}


class Walled:
    """Items on shelves, which ask for a log-in until their shelf is open, and other pages of the path.

    The shelves of ``open`` are so after a number of requests.
    """

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.after = 0
        self._met = itertools.count()
        #: What was asked for before.
        self.early: set[str] = set()
        rng = random.Random(5)
        self.items = [f"/show?p=shop&s={rng.getrandbits(64):016x}&v={i % SHELVES}" for i in range(ITEMS)]
        self.others = [f"/show?p=shop&v={1000 + i}" for i in range(OPEN)]
        #: In turns, as a crawl meets them.
        self.links = list(self.items)
        for place, other in enumerate(self.others):
            self.links.insert(place * (ITEMS // OPEN + 1), other)

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.links)
        late = next(self._met) >= self.after
        if not late:
            self.early.add(asked.target)
        return page(self.text(asked.target, late and int(asked.query["v"]) in self.open))

    def text(self, url: str, is_open: bool = False) -> str:
        return prose(url) if "s=" not in url or is_open else "Please log in to see what is on this shelf, or ask us"


def rules_of(server: Server) -> list[Rule]:
    return [rule for rule in RuleBook.load("dedup-rules").for_site(f"127.0.0.1:{server.port}") if "q.s" in rule.ops]


def learned(server: Server, site: Walled) -> None:
    """Write the rules that a crawl before the wall leads to."""
    seen = enumerate(site.links)
    learn_rules([Observation(server.url(url), site.text(url), time=1e9 + i) for i, url in seen]).save("dedup-rules")


@in_reactor
async def test_a_page_with_tokens_is_fetched_once_for_each_value_that_is_kept(serve: Serve) -> None:
    site = Walled()
    server = serve(site)
    first = await crawl(Links, server.url("/"), **SETTINGS)
    assert set(site.links) <= set(first.urls)
    (rule,) = rules_of(server)
    assert (rule.status, rule.ops["q.s"]) == (Status.ACTIVE, IgnoreValue(only=ValueClass("hex", 16, 16)))
    server.reset()
    again = await crawl(Links, server.url("/"), **SETTINGS)
    assert server.downloads <= 2 + SHELVES + OPEN + again.stats["dedup/samples"]
    assert again.stats["dedup/samples"] < ITEMS / 5
    assert set(site.others) <= set(again.urls), "no page is lost"
    assert [rule.status for rule in rules_of(server)] == [Status.ACTIVE]


@in_reactor
@pytest.mark.parametrize(
    ("shelves", "after", "job"), [(SHELVES, 0, True), (SHELVES // 3, 0, False), (SHELVES, OPEN, False)]
)
async def test_pages_that_differ_once_the_spider_is_logged_in(
    serve: Serve, shelves: int, after: int, job: bool
) -> None:
    site = Walled()
    server = serve(site)
    learned(server, site)
    assert [rule.status for rule in rules_of(server)] == [Status.ACTIVE]
    site.open, site.after = set(range(SHELVES - shelves, SHELVES)), after
    done = await crawl(Links, server.url("/"), **SETTINGS, **({"JOBDIR": "job"} if job else {}))
    assert done.stats["dedup/refuted"] == 1
    unlocked = {link for link in site.items if int(link.rpartition("=")[2]) in site.open}
    assert (unlocked - site.early) | set(site.others) <= set(done.urls), "no page is lost"
    assert unlocked <= server.hits.keys()
    assert server.downloads <= 2 + len(site.links), "never more than plain Scrapy, which fetches the start page twice"
    assert not [rule for rule in rules_of(server) if rule.status.acts], "nor is it learned again at the end"
