"""Where samples of discards come back, and stop if they are what they were taken for."""

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from ..shared import Shared
from ..support.compatibility import without_spider
from ..support.request_meta import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from ..decide.discards import DuplicateDiscarded


@without_spider
class SampleGate:
    """Downloader middleware, the last on the way back: stops samples that are the page they were taken for.

    Their errbacks get a :exc:`.DuplicateDiscarded`, their callbacks nothing. Each is a response that was received,
    as one of ``engine.download_async`` is: it counts for ``CLOSESPIDER_PAGECOUNT``. Where no rule can come to act in
    the crawl there is nothing to stop, and no response comes here.
    """

    def __init__(self, shared: Shared) -> None:
        settings = shared.settings
        has_rules = shared.learning.live or any(rule.status.acts for rule in shared.identities.book)
        if not (settings.sample and settings.compares and has_rules):
            raise NotConfigured
        self._shared = shared
        self._under_way = shared.monitor.under_way
        shared.monitor.watches = True

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(Shared.of(crawler))

    def process_response(self, request: "Request", response: "Response") -> "Response | Coroutine[Any, Any, Response]":
        """Return *response*; raise DuplicateDiscarded for that of a sample which is what it was taken for."""
        if not self._under_way or SAMPLE not in request.meta:
            return response
        return self._judged(request, response)

    async def _judged(self, request: "Request", response: "Response") -> "Response":
        discarded: DuplicateDiscarded | None = None
        try:
            discarded = await self._shared.monitor.judge(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("monitor", "A sample of discarded requests could not be compared")
        if discarded is not None:
            self._count(request, response)
            raise discarded
        return response

    def _count(self, request: "Request", response: "Response") -> None:
        """Send the signal that the engine sends of a response that gets as far as to it."""
        shared = self._shared
        response.request = request
        shared.crawler.signals.send_catch_log(
            signals.response_received, response=response, request=request, spider=shared.spider
        )
