"""What robots.txt would have kept the spider from anyway: that is no saving."""

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy import signals

from ..store.pages import some_discards
from ..store.store import Store
from .compatibility import run_in_thread

if TYPE_CHECKING:
    from scrapy import Request

    from .shared import Shared

#: Discards of a site that are looked at.
_SOME: Final = 100


def is_robots(url: str) -> bool:
    """Tell whether a URL is that of a robots.txt."""
    return url.partition("?")[0].endswith("/robots.txt")


class Robots:
    """The robots.txt files that the crawl has read."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        settings = shared.crawler.settings
        self._obeyed = settings.getbool("ROBOTSTXT_OBEY")
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._parsers: dict[str, Any] = {}
        if self._obeyed:
            shared.crawler.signals.connect(self._read, signals.robots_parsed)

    def _read(self, robotparser: Any, request: "Request") -> None:
        self._parsers[urlsplit(request.url).netloc] = robotparser

    async def allowed(self, site: str) -> float:
        """Return the share of the discards of *site* that would have been fetched. Raises StoreError.

        Hosts whose robots.txt nobody has read count as forbidden.
        """
        if not self._obeyed:
            return 1.0
        urls = await run_in_thread(self._discarded, site)
        allowed = sum(self._is_allowed(url) for url in urls)
        return allowed / len(urls) if urls else 0.0

    def _discarded(self, site: str) -> list[str]:
        shared = self._shared
        if shared.writer is not None:
            shared.writer.flush()
        with Store.open(shared.settings.store, readonly=True) as store:
            return some_discards(store, shared.settings.scope, site, since=shared.began, limit=_SOME)

    def _is_allowed(self, url: str) -> bool:
        parser = self._parsers.get(urlsplit(url).netloc)
        return parser is not None and bool(parser.allowed(url, self._agent))
