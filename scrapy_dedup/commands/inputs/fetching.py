"""One page, fetched as the project would fetch it."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.spidermiddlewares.httperror import HttpError

from ...crawl.own_requests.probe_spider import OFF
from ..terminal.problems import Nothing

if TYPE_CHECKING:
    from scrapy.settings import Settings
    from twisted.python.failure import Failure


def fetched(url: str, settings: "Settings") -> str:
    """Return the HTML at *url*, by the project's downloader. Raises Nothing where there is none.

    Nothing is recorded, filtered or exported, and no job is touched.
    """
    pages: list[str] = []
    problems: list[str] = []

    class PageSpider(Spider):
        name = "dedup-page"

        async def start(self) -> AsyncIterator[Any]:
            yield Request(url, errback=self.failed, dont_filter=True)

        def parse(self, response: Response, **_: Any) -> None:
            if isinstance(response, HtmlResponse):
                pages.append(response.text)
            else:
                problems.append("it is no HTML")

        def failed(self, failure: "Failure") -> None:
            if isinstance(failure.value, HttpError):
                problems.append(f"the site answered {failure.value.response.status}")
            else:
                problems.append(failure.getErrorMessage() or repr(failure.value))

    own = settings.copy()
    own.setdict({**OFF, "DEDUP_ENABLED": False, "LOG_LEVEL": "CRITICAL"}, priority="cmdline")
    process = CrawlerProcess(own)
    process.crawl(PageSpider)
    process.start()
    if not pages:
        raise Nothing(f"{url} cannot be had: {problems[0] if problems else 'there was no answer'}")
    return pages[0]
