"""Filtered requests that robots.txt would have kept the spider from anyway: they are no savings."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy.utils.asyncio import run_in_thread

from ...store.page_queries import some_discards
from ..support.compatibility import robots_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore

#: Filtered requests of a site that are looked at.
_SOME: Final = 100


class RobotsFiles:
    """The robots.txt files that the crawl has read."""

    def __init__(self, crawler: "Crawler", status: "CrawlStatus", store: "CrawlStore") -> None:
        self._status = status
        self._store = store
        settings = crawler.settings
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._parser_of = robots_of(crawler) if settings.getbool("ROBOTSTXT_OBEY") else None

    async def allowed(self, site: str) -> float:
        """Return the share of the filtered requests of *site* that would have been fetched. Raises StoreError.

        Hosts whose robots.txt nobody has read count as forbidden.
        """
        if self._parser_of is None:
            return 1.0
        urls = await run_in_thread(self._filtered, site)
        allowed = sum(self._is_allowed(url) for url in urls)
        return allowed / len(urls) if urls else 0.0

    def _filtered(self, site: str) -> list[str]:
        with self._store.read() as store:
            return some_discards(store, self._store.scope, site, since=self._status.began, limit=_SOME)

    def _is_allowed(self, url: str) -> bool:
        parser = None if self._parser_of is None else self._parser_of(urlsplit(url).netloc)
        return parser is not None and bool(parser.allowed(url, self._agent))
