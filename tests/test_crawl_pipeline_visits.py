"""Two crawls of the demo shop at different times, under a mask that earlier crawls taught: what is exported is the same."""

import json
import re
import sys
from pathlib import Path
from time import time as real_time
from typing import Any

import pytest
import scrapy
from scrapy.crawler import Crawler

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.observe import store_rows as observing

from .crawling import crawler_of, in_reactor, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "example_project"))

from demo_site.pages import Page, products
from demo_site.passing import ADVERTISEMENTS
from demo_site.server import Shop
from demo_site.urls import url_of

FIELDS = {"article": "html", "body": "html", "page": "html", "text": "text", "texts": "text", "words": "text"}


PASSING = {
    "clock": r'<p class="clock">([^<]*)',
    "advertisement": r'<div class="ad">([^<]*)',
    "token": r'name="token" value="([^"]*)',
    "token in a link": r'<a class="basket" href="([^"]*)',
    "recently viewed": r'<section class="recent">.*?<a href="[^"]*">([^<]*)',
    "counter": r'<p class="visitors">([^<]*)',
}
"""Where on a page what passes stands; LEFT is what of it lasts."""
LEFT = {"clock": "It is", "token in a link": "/basket?token=", "counter": "visitors right now"}
PRICE = r'<p class="price">([^<]*)'


def text_at(place: str, item: dict[str, str]) -> str:
    found = re.search(place, item["body"])
    return found[1].strip(" .") if found else ""


class Pages(scrapy.Spider):
    """Gives an item for each of some pages."""

    name = "pages"

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self.start_urls = urls

    def parse(self, response: Any) -> Any:
        yield {
            "url": response.url,
            "article": response.css("article, h1 ~ ul").get(),
            # The token in an id is no content, and stays.
            "body": re.sub(' id="ad-[0-9]+"', "", response.css("body").get()),
            "page": re.sub(' id="ad-[0-9]+"', "", response.text),
            "text": " ".join(response.css("body ::text").getall()),
            "texts": response.css("body ::text").getall(),
            "words": re.sub(r"\s+", " ", response.xpath("string(//body)").get()),
            "price": response.css("p.price::text").get(),
            "visitors": response.css("p.visitors::text").get(),
        }


def urls_of(shop: Shop) -> list[str]:
    pages = [Page("product", product) for product in sorted(products())[:12]]
    pages += [
        Page("category", category) for category in sorted({product.category for product in products().values()})[:3]
    ]
    return [url_of(page, shop.port) for page in pages]


async def learn(shop: Shop, urls: list[str], **settings: Any) -> None:
    """Crawl on three days; the last crawl writes the mask."""
    for day in range(3):
        await exported(shop, day * 90_000.0, urls, DEDUP_LEARN="close" if day == 2 else "off", **settings)


async def exported(shop: Shop, time: float, urls: list[str], **settings: Any) -> tuple[bytes, Crawler]:
    """Crawl at a time of the shop; return the bytes of the feed, sorted, without the field that is not stripped."""
    shop.time = time
    feed = Path(f"items-{time:.0f}.jsonl")
    fields = ["url", *FIELDS, "price"]
    made = crawler_of(
        Pages,
        FEEDS={str(feed): {"format": "jsonlines", "fields": fields, "overwrite": True}},
        CONCURRENT_REQUESTS=1,
        **settings,
    )
    done = await run(made, urls)
    assert len(done.items) == len(urls)
    return b"\n".join(sorted(feed.read_bytes().splitlines())), made


@in_reactor
async def test_two_visits_export_the_same_bytes() -> None:
    with Shop(passing=True) as shop:
        urls = urls_of(shop)
        await learn(shop, urls)
        await compare(shop, urls)


@in_reactor
async def test_two_visits_after_crawls_on_three_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days lie between the fetches of a page, but for some that are visited again."""
    with Shop(passing=True) as shop:
        urls = urls_of(shop)
        now = real_time() - 2_000_000.0  # older evidence is left aside

        def time() -> float:
            return now + shop.time + sum(shop.pages.values())

        monkeypatch.setattr(observing, "time", time)
        await learn(shop, urls, DEDUP_REVISITS=3)
        await compare(shop, urls)


async def compare(shop: Shop, urls: list[str]) -> None:
    """Crawl at two times with what was learned, and without stripping; nothing but what passes may be gone."""
    first, made = await exported(shop, 500_000.0, urls, DEDUP_CONTENT_FIELDS=FIELDS)
    second, _ = await exported(shop, 1_234_567.0, urls, DEDUP_CONTENT_FIELDS=FIELDS)
    assert first == second
    plain = [(await exported(shop, time, urls))[0] for time in (500_000.0, 1_234_567.0)]
    items = [json.loads(line) for line in first.splitlines()]
    originals, later = [{item["url"]: item for item in map(json.loads, lines.splitlines())} for lines in plain]
    for kind, place in PASSING.items():
        shown = [(text_at(place, originals[item["url"]]), text_at(place, item)) for item in items]
        assert all(before for before, _ in shown), kind
        assert any(before != text_at(place, later[item["url"]]) for item, (before, _) in zip(items, shown, strict=True))
        assert {after for _, after in shown} == {LEFT.get(kind, "")}, kind
    prices = [text_at(PRICE, item) for item in items]
    assert prices == [text_at(PRICE, originals[item["url"]]) for item in items]
    assert sum(map(bool, prices)) == 12
    for item in items:
        for advertisement in ADVERTISEMENTS["en"]:
            assert advertisement not in first.decode()
        if item["price"] is not None:
            assert item["price"] in item["text"]
            assert item["price"] in item["article"]
            description = re.findall('<p class="description">[^<]*</p>', originals[item["url"]]["article"])
            assert description[0] in item["article"]
    stats = made.stats.get_stats()
    assert stats["dedup/transient/items"] == len(urls)
    assert "dedup/transient/unknown_response" not in stats
    assert not [name for name in stats if name.startswith("dedup/errors")]
    assert CrawlComponents.of(made).masks.sites == {f"localhost:{shop.port}"}
