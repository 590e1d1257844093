"""The rules of a project stay through crawls that say nothing against them, and go through one that does."""

import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Status

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, messages
from .server import Asked, Server, page, prose

PAGES = 40
RULES = Path("dedup-rules")


class Shop:
    """Pages under session ids; once *changed* there are new ones, on which what was a session id tells the page."""

    changed = False

    def __call__(self, asked: Asked) -> Any:
        number = int(asked.query.get("id", "0"))
        drawn = Random(number)
        others = [(number + 1) % PAGES, *drawn.sample(range(PAGES), 2)]
        if self.changed:
            others += [PAGES + other for other in others[:2]]
        links = [f"/p?id={n}&sid={drawn.getrandbits(64):016x}" for n in others]
        return page(prose(f"page {asked.path} {asked.target if number >= PAGES else number}"), *links)


async def learned(serve: Serve) -> tuple[Server, Shop]:
    """Crawl a shop for the first time."""
    shop = Shop()
    server = serve(shop)
    await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    assert [rule.status for rule in RuleBook.load(RULES)] == [Status.ACTIVE]
    server.reset()
    return server, shop


def files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in RULES.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "settings", [{}, {"CLOSESPIDER_PAGECOUNT": 25}, {"DEDUP_LEARN": "close"}], ids=["live", "25 pages", "close"]
)
@pytest.mark.parametrize("store", [True, False], ids=["store", "no store"])
@in_reactor
async def test_a_committed_rule_stays_byte_for_byte(serve: Serve, store: bool, settings: dict[str, Any]) -> None:
    server, _ = await learned(serve)
    before = files()
    if not store:
        shutil.rmtree(".scrapy")
    await crawl(Links, server.url("/"), **{"DEDUP_LEARN": "live", **settings})
    assert files() == before
    if "CLOSESPIDER_PAGECOUNT" not in settings:
        assert len({asked.query.get("id") for asked in server.asked if asked.path == "/p"}) == PAGES
        assert server.downloads < 2 * PAGES, "and filters what it did"


@in_reactor
async def test_another_scope_takes_no_rule_away(serve: Serve) -> None:
    server, _ = await learned(serve)
    before = files()
    await crawl(Links, server.url("/"), DEDUP_SCOPE="members", DEDUP_LEARN="close")
    assert {name: text for name, text in files().items() if name in before} == before


@in_reactor
async def test_spot_checks_are_counted_in_the_store_and_leave_the_file(serve: Serve) -> None:
    server, _ = await learned(serve)
    before = files()
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.5, DEDUP_LEARN="close")
    assert done.stats["dedup/samples"] > 0
    assert files() == before


@in_reactor
async def test_a_rule_that_pages_contradict_goes_with_a_warning(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server, shop = await learned(serve)
    (rule,) = RuleBook.load(RULES)
    shop.changed = True
    await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SITES={f"127.0.0.1:{server.port}": "shadow"})
    assert not [each for each in RuleBook.load(RULES) if each.status.acts]
    (told,) = [message for message in messages(caplog) if rule.id in message]
    assert told.startswith(f"Rule {rule.id} of 127.0.0.1:{server.port} is dropped")
    assert told.count("/p?id=") == 2, "the two pages are named"
