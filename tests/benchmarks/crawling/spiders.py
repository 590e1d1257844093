"""The spiders of the benchmarks. They are stock Scrapy: they know nothing of the package."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import urldefrag, urlsplit

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.link import Link
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache

STATE_CHANGING = re.compile(r"log-?out|delete", re.IGNORECASE)
BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}
LINKS = LinkExtractor(deny_extensions=[])


def page_links(response: Response) -> list[Link]:
    """All links of an HTML page in document order, none of any other response."""
    return LINKS.extract_links(response) if isinstance(response, HtmlResponse) else []


class StatsSpider(Spider):
    """A spider that leaves its stats for the benchmark."""

    def __init__(self, stats_file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stats_file = Path(stats_file)

    def closed(self, reason: str) -> None:
        """Write the stats as JSON, with why it ended, which stands there only later."""
        self.crawler.stats.set_value("finish_reason", reason)
        self.stats_file.write_text(json.dumps(self.crawler.stats.get_stats(), default=str), encoding="utf-8")


class RecordedSpider(StatsSpider):
    """Follows every recorded link of a recorded site, breadth first.

    ``world`` names a file with ``{"start": [url, ..], "urls": [url, ..]}``. The world is closed: a
    link that is not in ``urls`` (null: any) is skipped, whatever variant of the crawl this is. The host names
    of the recording lead to 127.0.0.1 without any look-up (``www.localhost`` resolves nowhere). With
    *start_twice* a start page that is linked, too, is fetched twice, as in ordinary crawls.
    """

    name = "recorded"
    custom_settings = BREADTH_FIRST

    def __init__(self, world: str, start_twice: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_twice = bool(start_twice)
        plan = json.loads(Path(world).read_text(encoding="utf-8"))
        self.first: list[str] = plan["start"]
        self.recorded = None if plan["urls"] is None else frozenset(plan["urls"])
        for url in self.recorded or ():
            dnscache[urlsplit(url).hostname or ""] = "127.0.0.1"

    async def start(self) -> AsyncIterator[Request]:
        """Past the dupe filter, as Scrapy's own, only where a second response to a start page says anything."""
        for url in self.first:
            yield Request(url, self.parse, dont_filter=self.start_twice)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Follow the links, with the fragment that a page gave them."""
        for link in page_links(response):
            url = urldefrag(link.url).url
            if (self.recorded is None or url in self.recorded) and not STATE_CHANGING.search(url):
                yield Request(link.url, self.parse)


class SpeedSpider(StatsSpider):
    """Fetches made-up pages and ignores them, parses them, or follows all their links.

    ``plan`` names a file with ``{"callback": "ignore" | "parse" | "follow", "start": [url, ..]}``.
    """

    name = "speed"
    custom_settings = BREADTH_FIRST

    def __init__(self, plan: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        made = json.loads(Path(plan).read_text(encoding="utf-8"))
        self.first: list[str] = made["start"]
        self.callback = {"ignore": self.ignore, "parse": self.parse, "follow": self.follow}[made["callback"]]

    async def start(self) -> AsyncIterator[Request]:
        """Notes the CPU time that starting up took."""
        self.crawler.stats.set_value("cpu_at_start", process_time())
        for url in self.first:
            yield Request(url, self.callback)

    def ignore(self, response: Response) -> None:
        """A callback that does nothing."""

    def parse(self, response: Response, **kwargs: Any) -> None:
        """A callback that reads the page."""
        response.css("title::text").get()
        response.css("h2.title::text").getall()

    def follow(self, response: Response) -> Iterator[Request]:
        """A callback that follows every link."""
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a", callback=self.follow)


class FamilySpider(StatsSpider):
    """Follows every link from *start*, breadth first; lets MaybeDont, where it is installed, look at each request."""

    name = "families"
    custom_settings = BREADTH_FIRST

    def __init__(self, start: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = start

    async def start(self) -> AsyncIterator[Request]:
        """Past the dupe filter, as Scrapy's own: where a page links to it, the start page is fetched twice."""
        yield Request(self.first, self.parse, meta={"avoid_dup_content": True}, dont_filter=True)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Follow the links."""
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a", meta={"avoid_dup_content": True})
