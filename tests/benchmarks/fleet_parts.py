"""What a worker of the fleet benchmark counts besides; it knows nothing of the package."""

from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

ASKED = "benchmark/asked"


class CountsRequests:
    """Counts the requests that are handed to the scheduler, filtered ones among them."""

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Count in the stats of a crawl."""
        counts = cls()
        counts._stats = crawler.stats
        crawler.signals.connect(counts.count, signals.request_scheduled)
        return counts

    def count(self) -> None:
        """Count a request."""
        self._stats.inc_value(ASKED)
