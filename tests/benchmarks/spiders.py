"""The spiders of the benchmarks. They are stock Scrapy: they know nothing of the package."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.link import Link
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache

STATE_CHANGING = re.compile(r"log-?out|delete", re.IGNORECASE)
LINKS = LinkExtractor(deny_extensions=[])


def page_links(response: Response) -> list[Link]:
    """All links of an HTML page in document order, none of any other response."""
    return LINKS.extract_links(response) if isinstance(response, HtmlResponse) else []


class RecordedSpider(Spider):
    """Follows every recorded link of a recorded site, breadth first.

    ``world`` names a file with ``{"start": [url, ..], "urls": [url, ..]}``. The world is closed: a
    link that is not in ``urls`` is skipped, whatever variant of the crawl this is. The host names
    of the recording lead to 127.0.0.1 without any look-up (``www.localhost`` resolves nowhere).
    """

    name = "recorded"
    custom_settings = {
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }

    def __init__(self, world: str, stats_file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        plan = json.loads(Path(world).read_text(encoding="utf-8"))
        self.first: list[str] = plan["start"]
        self.recorded = frozenset(plan["urls"])
        self.stats_file = Path(stats_file)
        for url in self.recorded:
            dnscache[urlsplit(url).hostname or ""] = "127.0.0.1"

    async def start(self) -> AsyncIterator[Request]:
        """Not ``dont_filter``, so that a start page that is linked too is counted once."""
        for url in self.first:
            yield Request(url, self.parse)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Follow the links, with the fragment that a page gave them."""
        for link in page_links(response):
            url = urldefrag(link.url).url
            if url in self.recorded and not STATE_CHANGING.search(url):
                yield Request(link.url, self.parse)

    def closed(self, reason: str) -> None:
        """Leave the stats for the benchmark."""
        stats = {"finish_reason": reason, **self.crawler.stats.get_stats()}
        self.stats_file.write_text(json.dumps(stats, default=str), encoding="utf-8")
