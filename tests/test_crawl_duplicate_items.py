"""The pipeline of duplicate items: the items of a page are exported once, and none is lost."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.exceptions import DropItem

from scrapy_dedup.crawl import DuplicateItemsPipeline
from scrapy_dedup.crawl.items.duplicates import EXPORTED
from scrapy_dedup.rules import Ignore

from .conftest import Serve
from .crawling import Crawl, crawl, crawler_of, in_reactor, messages, rule, run, write_rules
from .server import Asked, Server, page, prose

PRODUCTS, VISITS = 8, 3


def shop(asked: Asked) -> str:
    """A list of products, each linked under several session ids; a product has three reviews."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={sid}" for i in range(PRODUCTS) for sid in "abc"))
    return page(prose(asked.query["id"]))


class Shop(scrapy.Spider):
    """Asks for every link whatever the dupe filter says, and gives several items for each product."""

    name = "shop"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    def __init__(self, start: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse(self, response: Any) -> Any:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.product, dont_filter=True)

    def product(self, response: Any) -> Any:
        for number in range(3):
            yield {"page": response.css("p::text").get()[:4], "review": number}


def session(server: Server) -> None:
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))


def exported(done: Crawl) -> Counter[tuple[str, int]]:
    return Counter((item["page"], item["review"]) for item in done.items)


def duplicates(done: Crawl) -> int:
    count: int = done.stats.get("dedup/items/duplicates", 0)
    return count


@in_reactor
async def test_each_item_once_and_none_lost(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    session(server)
    before = exported(await crawl(Shop, server.url("/")))
    assert set(before.values()) == {VISITS}, "the setting is off by default"
    caplog.clear()
    caplog.set_level("DEBUG")
    done = await crawl(Shop, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    after = exported(done)
    saved, lost = sum(before.values()) - sum(after.values()), set(before) - set(after)
    assert (saved, lost) == (PRODUCTS * 3 * (VISITS - 1), set())
    assert set(after.values()) == {1}
    assert duplicates(done) == done.stats["item_dropped_count"] == saved
    dropped = [each for each in caplog.records if "Items of this page were exported already" in each.getMessage()]
    assert len(dropped) == saved
    assert {each.levelname for each in dropped} == {"DEBUG"}
    assert not [name for name in done.dedup() if name.startswith("errors")]


@in_reactor
async def test_without_a_rule_nothing_is_a_duplicate(serve: Serve) -> None:
    done = await crawl(Shop, serve(shop).url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    assert set(exported(done).values()) == {VISITS}
    assert not duplicates(done)


@in_reactor
@pytest.mark.parametrize(("mode", "counted"), [("shadow", PRODUCTS * 3 * (VISITS - 1)), ("observe", 0)])
async def test_other_modes_drop_nothing(serve: Serve, mode: str, counted: int) -> None:
    server = serve(shop)
    session(server)
    done = await crawl(Shop, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True, DEDUP_MODE=mode)
    assert set(exported(done).values()) == {VISITS}
    assert duplicates(done) == counted


class TwoCallbacks(Shop):
    """Takes the reviews of a product in one callback, and in another one its name."""

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.named, dont_filter=True, cb_kwargs={"kind": link[-1] == "c"})

    def named(self, response: Any, kind: bool) -> Any:
        yield {"page": response.css("p::text").get()[:4], "review": 10 + kind}


@in_reactor
async def test_other_callbacks_and_arguments_give_other_items(serve: Serve) -> None:
    server = serve(shop)
    session(server)
    done = await crawl(TwoCallbacks, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    after = exported(done)
    assert set(after.values()) == {1}
    assert {review for _, review in after} == {0, 1, 2, 10, 11}
    assert len(after) == PRODUCTS * 5


class Carrying(Shop):
    """Begins its items on the list."""

    def parse(self, response: Any) -> Any:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.product, dont_filter=True, meta={"item": {"link": link}})

    def product(self, response: Any) -> Any:
        yield {"page": response.meta["item"]["link"], "review": 0}


@in_reactor
async def test_items_that_were_begun_elsewhere_are_kept(serve: Serve) -> None:
    server = serve(shop)
    session(server)
    done = await crawl(Carrying, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    assert len(exported(done)) == PRODUCTS * VISITS
    assert not duplicates(done)


class SwitchedOff(Shop):
    def parse(self, response: Any) -> Any:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.product, dont_filter=True, meta={"dedup": False})


@in_reactor
async def test_requests_that_are_left_alone_keep_their_items(serve: Serve) -> None:
    server = serve(shop)
    session(server)
    done = await crawl(SwitchedOff, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    assert set(exported(done).values()) == {VISITS}
    assert not duplicates(done)


class Refusing:
    """A pipeline that refuses the first copy of each review, as one that checks prices may."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()

    def process_item(self, item: Any, spider: Any = None) -> Any:
        who = item["page"], item["review"]
        if who not in self.seen:
            self.seen.add(who)
            raise DropItem("no price")
        return item


@in_reactor
async def test_what_another_pipeline_refused_was_not_exported(serve: Serve) -> None:
    server = serve(shop)
    session(server)
    pipelines = {Refusing: 300}
    done = await crawl(Shop, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True, ITEM_PIPELINES=pipelines)
    after = exported(done)
    assert set(after.values()) == {1}
    assert len(after) == PRODUCTS * 3
    assert duplicates(done) == PRODUCTS * 3 * (VISITS - 2)


class Failing(Shop):
    """Fails after its first item on the pages of one session id."""

    def product(self, response: Any) -> Any:
        for item in super().product(response):
            yield item
            if "sid=a" in response.url:
                raise ValueError("in the middle")


@in_reactor
async def test_a_callback_that_failed_has_not_given_all_items(serve: Serve) -> None:
    server = serve(shop)
    session(server)
    done = await crawl(Failing, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    after = exported(done)
    assert len(after) == PRODUCTS * 3
    assert sum(after.values()) == PRODUCTS * 4, "its first item, and all of the next copy"


@in_reactor
async def test_spot_checks_that_differ_keep_their_items(serve: Serve) -> None:
    class Filtered(Shop):
        def parse(self, response: Any) -> Any:
            yield from response.follow_all(css="a", callback=self.product)

        def product(self, response: Any) -> Any:
            yield {"page": response.css("p::text").get(), "review": 0}

    server = serve(lambda asked: shop(asked) if asked.path == "/" else page(prose(asked.target)))
    session(server)
    done = await crawl(Filtered, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True, DEDUP_SAMPLE=1.0)
    assert len(exported(done)) == PRODUCTS + done.stats["dedup/samples/differing"] > PRODUCTS
    assert not duplicates(done)


@in_reactor
async def test_a_job_goes_on(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(shop)
    session(server)
    settings = {"DEDUP_DROP_DUPLICATE_ITEMS": True, "JOBDIR": "job"}
    first = await crawl(Shop, server.url("/"), **settings)
    assert len(exported(first)) == PRODUCTS * 3
    assert Path("job", EXPORTED).stat().st_size == 8 * PRODUCTS
    second = await crawl(Shop, server.url("/"), **settings)
    assert not second.items
    assert duplicates(second) == PRODUCTS * 3 * VISITS
    Path("job", EXPORTED).write_bytes(Path("job", EXPORTED).read_bytes()[:-3])  # a disk that was full
    third = await crawl(Shop, server.url("/"), **settings)
    assert len(exported(third)) == 3
    Path("job", EXPORTED).unlink()
    Path("job", EXPORTED).mkdir()
    fourth = await crawl(Shop, server.url("/"), **settings)
    assert len(exported(fourth)) == PRODUCTS * 3
    assert fourth.stats["dedup/errors/items"] == 2


@in_reactor
async def test_what_is_remembered_is_bounded(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = DuplicateItemsPipeline.__init__.__defaults__
    assert defaults is not None
    monkeypatch.setattr(DuplicateItemsPipeline.__init__, "__defaults__", (PRODUCTS // 2,))
    server = serve(shop)
    session(server)
    done = await crawl(Shop, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True, JOBDIR="job")
    assert set(exported(done).values()) == {1}, "copies of a page come one after the other here"
    assert Path("job", EXPORTED).stat().st_size == 8 * PRODUCTS // 2


@in_reactor
async def test_items_of_an_unknown_response_are_kept(serve: Serve) -> None:
    class Copying:
        def process_item(self, item: Any, spider: Any = None) -> Any:
            return dict(item)

    server = serve(shop)
    session(server)
    done = await crawl(Shop, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True, ITEM_PIPELINES={Copying: 1})
    assert set(exported(done).values()) == {VISITS}
    assert done.stats["dedup/items/unknown_response"] == PRODUCTS * 3 * VISITS


@in_reactor
async def test_by_hand(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    session(server)
    settings: dict[str, Any] = {"ITEM_PIPELINES": {"scrapy_dedup.crawl.DuplicateItemsPipeline": 40}}
    assert set(exported(await crawl(Shop, server.url("/"), **settings)).values()) == {1}
    off = await run(crawler_of(Shop, **settings, DEDUP_ENABLED=False), server.url("/"))
    assert set(exported(off).values()) == {VISITS}
    assert not messages(caplog, logging.ERROR)


@in_reactor
async def test_faults_lose_nothing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*args: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(DuplicateItemsPipeline, "_judge", breaks)
    server = serve(shop)
    session(server)
    done = await crawl(Shop, server.url("/"), DEDUP_DROP_DUPLICATE_ITEMS=True)
    assert set(exported(done).values()) == {VISITS}
    assert done.stats["dedup/errors/items"] == PRODUCTS * 3 * VISITS
