"""Parts of the plug-in without a crawl: a filter or a gate that is asked directly."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import scrapy
from scrapy.crawler import Crawler

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.decide.dupefilter import DupeFilter
from scrapy_dedup.rules import Rule

from .crawling import Links, crawler_of, write_rules


def crawler(*rules: Rule, spider: type[scrapy.Spider] = Links, **settings: Any) -> Crawler:
    """A crawler of which everything is made, and that does not run."""
    write_rules(*rules)
    made = crawler_of(spider, **settings)
    made.crawling = True
    made.spider = made._create_spider()
    made._apply_settings()
    return made


@contextmanager
def dupe_filter(*rules: Rule, **settings: Any) -> Iterator[DupeFilter]:
    """The dupe filter of such a crawler, opened, with a store."""
    with filter_of(crawler(*rules, **settings)) as made:
        yield made


@contextmanager
def filter_of(crawler: Crawler) -> Iterator[DupeFilter]:
    made = DupeFilter.from_crawler(crawler)
    made.open()
    shared = made._components
    assert shared is not None
    shared.store.open()
    yield made
    made.close("finished")
    assert shared.store.writer is not None
    shared.store.writer.close()


def shared(*rules: Rule, **settings: Any) -> CrawlComponents:
    return CrawlComponents.of(crawler(*rules, **settings))
