"""What a crawl notes of itself in the store when it closes."""

import time
from pathlib import Path
from typing import Any

from scrapy_dedup.rules import Ignore
from scrapy_dedup.store.queries import crawl_rows
from scrapy_dedup.store.rows import CrawlRow
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import STORE, Links, crawl, in_reactor, rule, write_rules
from .server import Asked, page, prose

PAGES = 12
DAY = 86_400


def shop(asked: Asked) -> Any:
    """Every page links to two others, under session ids of its own."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)))
    number = int(asked.query["id"])
    return page(prose(number), *(f"/p?id={(number + step) % PAGES}&sid={number + 1}" for step in (1, 2)))


def noted() -> list[CrawlRow]:
    with Store.open(STORE, readonly=True) as store:
        return crawl_rows(store, "")


@in_reactor
async def test_a_crawl_notes_what_it_has_saved(serve: Serve) -> None:
    server = serve(shop)
    site = f"127.0.0.1:{server.port}"
    start = time.time()
    await crawl(Links, server.url("/"))
    write_rules(rule(site, {"q.sid": Ignore()}))
    done = await crawl(Links, server.url("/"))
    first, second = noted()
    assert (first.site, first.spider, first.reason) == (site, "links", "finished")
    assert start - 1 < first.began <= first.time <= second.began <= second.time
    assert first.job != second.job
    assert (first.filtered, first.avoided) == (0, 0)
    assert second.pages == PAGES + 1
    assert second.filtered == second.avoided == done.stats["dedup/avoided"] > 0
    assert second.avoided_bytes == done.stats["dedup/avoided/bytes"]
    assert second.size > 0
    assert second.seconds > 0
    assert (second.scheduled, second.confirmed, second.differing, second.extra, second.dropped) == (0, 0, 0, 0, 0)


@in_reactor
async def test_spot_checks_are_noted(serve: Serve) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=1)
    (row,) = noted()
    assert row.confirmed == done.stats["dedup/samples/confirmed"] > 0
    assert row.differing == 0
    assert row.filtered == row.avoided + row.scheduled


@in_reactor
async def test_a_store_that_cannot_take_it_is_told_of_and_the_crawl_ends(serve: Serve, monkeypatch: Any) -> None:
    def fail(*_: Any) -> None:
        raise OSError("no room")

    monkeypatch.setattr("scrapy_dedup.crawl.support.crawl_store.CrawlStore.put", fail)
    done = await crawl(Links, serve(shop).url("/"))
    assert done.stats["finish_reason"] == "finished"
    assert done.stats["dedup/errors/crawls"] == 1
    assert noted() == []


def row(site: str, at: float) -> CrawlRow:
    return CrawlRow("", site, "shop", "job", at - 60, at, pages=3)


def test_rows_are_pruned_and_forgotten_as_responses_are(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add([row("a.test", DAY), row("a.test", 5 * DAY), row("b.test", 6 * DAY), row("b.test", 7 * DAY)])
        assert [each.time for each in crawl_rows(store, "", ["a.test"])] == [DAY, 5 * DAY]
        assert crawl_rows(store, "another") == []
        assert store.prune(3, now=7 * DAY) == 1
        assert store.prune(max_rows=2) == 1
        assert [each.site for each in crawl_rows(store, "")] == ["b.test", "b.test"]
        store.forget("b.test")
        assert crawl_rows(store, "") == []
