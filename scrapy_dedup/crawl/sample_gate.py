"""Where samples of discards come back, and stop if they are what they were taken for."""

from typing import TYPE_CHECKING, Any

from .marks import SAMPLE
from .shared import Shared

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from .discards import DuplicateDiscarded


class SampleGate:
    """Downloader middleware, the last on the way back: stops samples that are the page they were taken for.

    Their errbacks get a :exc:`.DuplicateDiscarded`, their callbacks nothing.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        shared.monitor.watches = True

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(Shared.of(crawler))

    def process_response(self, request: "Request", response: "Response") -> "Response | Coroutine[Any, Any, Response]":
        """Return *response*; raise DuplicateDiscarded for that of a sample which is what it was taken for."""
        if SAMPLE not in request.meta:
            return response
        return self._judged(request, response)

    async def _judged(self, request: "Request", response: "Response") -> "Response":
        discarded: DuplicateDiscarded | None = None
        try:
            discarded = await self._shared.monitor.judge(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("monitor", "A sample of discarded requests could not be compared")
        if discarded is not None:
            raise discarded
        return response
