"""The state of the crawl itself: its spider, when it began, and whether it is open, closing or over."""

from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler


class CrawlStatus:
    """What the engine of a crawl tells of it."""

    def __init__(self, crawler: "Crawler") -> None:
        self._crawler = crawler
        #: Seconds since 1970.
        self.began = time()
        #: What tells its responses from those of other crawls.
        self.number = int(1000 * self.began)
        #: Set when the crawl is about to close: no more rules come into use, and nothing more is learned.
        self.is_closing = False

    @property
    def spider(self) -> "Spider":
        """The spider; ``scrapy shell`` makes it after the components."""
        spider = self._crawler.spider
        assert spider is not None
        return spider

    @property
    def engine(self) -> Any:
        """The engine."""
        return self._crawler.engine

    @property
    def slot(self) -> Any:
        """The engine's slot of the spider; None before it is open."""
        return getattr(self.engine, "_slot", None)

    @property
    def is_open(self) -> bool:
        """Whether the spider is open, and not about to close: its scheduler may be closed already then."""
        slot = self.slot
        return slot is not None and slot.closing is None
