"""One page, fetched as the project would fetch it."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

if TYPE_CHECKING:
    from scrapy.settings import Settings


def fetched(url: str, settings: "Settings", spider: str | None = None) -> str | None:
    """Return the HTML at *url*, by the project's downloader; None if there is none.

    Nothing is recorded, and nothing discarded.
    """
    found: list[str] = []

    class Page(Spider):
        name = spider or "explain-page"

        async def start(self) -> AsyncIterator[Any]:
            yield Request(url, dont_filter=True)

        def parse(self, response: Response, **_: Any) -> None:
            if isinstance(response, HtmlResponse):
                found.append(response.text)

    own = settings.copy()
    own.setdict({"DEDUP_ENABLED": False, "LOG_LEVEL": "WARNING", "ITEM_PIPELINES": {}}, priority="cmdline")
    process = CrawlerProcess(own)
    process.crawl(Page)
    process.start()
    return found[0] if found else None
