"""DEDUP_DROP_DUPLICATE_ITEMS: the items of a page are exported once, and none is lost."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.exceptions import DropItem

from .conftest import Serve
from .crawling import Outcome, crawl_site, ignore, in_reactor, messages
from .server import Asked, page, prose

PRODUCTS, VISITS, REVIEWS = 6, 3, 3
ALL = PRODUCTS * REVIEWS
DROP: dict[str, Any] = {"DEDUP_DROP_DUPLICATE_ITEMS": True}


def shop(asked: Asked) -> str:
    """A list of products, each linked under several session ids; a product has three reviews."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={sid}" for i in range(PRODUCTS) for sid in "abc"))
    return page(prose(asked.query["id"]))


class Shop(scrapy.Spider):
    """Asks for every link whatever the dupe filter says, and gives several items for each product."""

    name = "shop"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    meta: dict[str, Any] = {}

    def __init__(self, start: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse(self, response: Any) -> Any:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.product, dont_filter=True, meta=self.meta)

    def product(self, response: Any) -> Any:
        for number in range(REVIEWS):
            yield {"url": response.url, "page": response.css("p::text").get()[:4], "review": number}


class SwitchedOff(Shop):
    meta = {"dedup": False}


class TwoCallbacks(Shop):
    """Takes the reviews of a product in one callback, and in another one its name."""

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.named, dont_filter=True, cb_kwargs={"kind": link[-1] == "c"})

    def named(self, response: Any, kind: bool) -> Any:
        yield {"url": response.url, "page": response.css("p::text").get()[:4], "review": 10 + kind}


class Carrying(Shop):
    """Begins its items on the list."""

    def parse(self, response: Any) -> Any:
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.product, dont_filter=True, meta={"item": {"link": link}})

    def product(self, response: Any) -> Any:
        yield {"url": response.url, "page": response.meta["item"]["link"], "review": 0}


class Failing(Shop):
    """Fails after its first item on the pages of one session id."""

    def product(self, response: Any) -> Any:
        for item in super().product(response):
            yield item
            if "sid=a" in response.url:
                raise ValueError("in the middle")


class Filtered(Shop):
    def parse(self, response: Any) -> Any:
        yield from response.follow_all(css="a", callback=self.product)

    def product(self, response: Any) -> Any:
        yield {"url": response.url, "page": response.css("p::text").get(), "review": 0}


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


class Copying:
    def process_item(self, item: Any, spider: Any = None) -> Any:
        return dict(item)


def exported(done: Outcome) -> Counter[tuple[str, int]]:
    return Counter((item["page"], item["review"]) for item in done.items)


def copies(number: int) -> dict[int, int]:
    return {number: ALL}


BY_HAND = {"ITEM_PIPELINES": {"scrapy_dedup.crawl.DuplicateItemsPipeline": 40}}


@pytest.mark.parametrize(
    ("spider", "settings", "expected"),
    [
        pytest.param(Shop, {}, (copies(VISITS), 0), id="off by default"),
        pytest.param(Shop, DROP, (copies(1), ALL * (VISITS - 1)), id="each once and none lost"),
        pytest.param(Shop, {**DROP, "DEDUP_MODE": "shadow"}, (copies(VISITS), ALL * (VISITS - 1)), id="shadow"),
        pytest.param(Shop, {**DROP, "DEDUP_MODE": "observe"}, (copies(VISITS), 0), id="observe"),
        pytest.param(SwitchedOff, DROP, (copies(VISITS), 0), id="requests that are left alone"),
        pytest.param(TwoCallbacks, DROP, ({1: ALL + 2 * PRODUCTS}, None), id="other callbacks and arguments"),
        pytest.param(Carrying, DROP, ({1: PRODUCTS * VISITS}, 0), id="items begun elsewhere"),
        pytest.param(Failing, DROP, ({1: ALL - PRODUCTS, 2: PRODUCTS}, None), id="a callback that failed half way"),
        pytest.param(
            Shop,
            {**DROP, "ITEM_PIPELINES": {Refusing: 300}},
            (copies(1), ALL * (VISITS - 2)),
            id="refused by another one",
        ),
        pytest.param(Shop, {**DROP, "ITEM_PIPELINES": {Copying: 1}}, (copies(VISITS), 0), id="of an unknown response"),
        pytest.param(Shop, BY_HAND, (copies(1), ALL * (VISITS - 1)), id="by hand"),
        pytest.param(Shop, {**BY_HAND, "DEDUP_ENABLED": False}, (copies(VISITS), 0), id="by hand, switched off"),
    ],
)
@in_reactor
async def test_items(serve: Serve, caplog: Any, spider: Any, settings: dict[str, Any], expected: Any) -> None:
    """How many items are exported so many times, and how many are dropped."""
    left, dropped = expected
    caplog.set_level("DEBUG")
    done = await crawl_site(serve, shop, ignore("q.sid"), spider=spider, **settings)
    found = exported(done)
    assert Counter(found.values()) == left
    assert dropped is None or done.stat("items/duplicates") == dropped
    if sum(left.values()) == ALL and set(left) == {1}:
        assert len(found) == ALL, "none is lost"
    told = [each for each in caplog.records if "Items of this page were exported already" in each.getMessage()]
    assert {each.levelname for each in told} <= {"DEBUG"}
    assert settings.get("DEDUP_MODE") == "shadow" or len(told) == done.stat("items/duplicates")
    unknown = ALL * VISITS if Copying in settings.get("ITEM_PIPELINES", {}) else 0
    assert done.stat("items/unknown_response") == unknown
    assert not done.faults()
    assert not messages(caplog, logging.ERROR)


@in_reactor
async def test_without_a_rule_nothing_is_a_duplicate(serve: Serve) -> None:
    done = await crawl_site(serve, shop, spider=Shop, **DROP)
    assert (Counter(exported(done).values()), done.stat("items/duplicates")) == (copies(VISITS), 0)


@in_reactor
async def test_spot_checks_that_differ_keep_their_items(serve: Serve) -> None:
    def site(asked: Asked) -> str:
        return shop(asked) if asked.path == "/" else page(prose(asked.target))

    done = await crawl_site(serve, site, ignore("q.sid"), spider=Filtered, **DROP, DEDUP_SAMPLE=1.0)
    assert len(exported(done)) == PRODUCTS + done.stat("samples/differing") > PRODUCTS
    assert not done.stat("items/duplicates")


@in_reactor
async def test_a_job_goes_on(serve: Serve) -> None:
    """With what it has exported, and after faults of the disk with less of that: then items come twice, and none is lost."""
    first = await crawl_site(serve, shop, ignore("q.sid"), spider=Shop, **DROP, JOBDIR="job")
    assert len(first.items) == ALL
    second = await first.again(spider=Shop, **DROP, JOBDIR="job")
    assert (len(second.items), second.stat("items/duplicates")) == (0, ALL * VISITS)
    kept = Path("job/dedup.items")
    kept.write_bytes(kept.read_bytes()[:-3])  # a disk that was full
    third = await first.again(spider=Shop, **DROP, JOBDIR="job")
    assert len(third.items) == REVIEWS
    kept.unlink()
    kept.mkdir()
    fourth = await first.again(spider=Shop, **DROP, JOBDIR="job")
    assert len(fourth.items) == ALL
    assert fourth.stat("errors/items") > 0
