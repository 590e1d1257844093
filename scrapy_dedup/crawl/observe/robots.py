"""What robots.txt would have kept the spider from anyway: that is no saving."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ...store.page_queries import some_discards
from ...store.store import Store
from ..support.compatibility import robots_of, run_in_thread

if TYPE_CHECKING:
    from ..shared import Shared

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
        self._parser_of = robots_of(shared.crawler) if self._obeyed else None

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
        parser = None if self._parser_of is None else self._parser_of(urlsplit(url).netloc)
        return parser is not None and bool(parser.allowed(url, self._agent))
