"""The spider middleware: what reaches the spider is recorded, and told its canonical key."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request

from .identities import KEY, is_plain_get
from .recorder import Recorder
from .settings import Mode
from .shared import Shared

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


class PageMiddleware:
    """Spider middleware, before HttpError: final responses to requests of the scheduler."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._recorder = Recorder(shared)

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(Shared.of(crawler))

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Hand on what the spider starts with. Requests that no filter will be asked about stand for their key."""
        async for each in start:
            if isinstance(each, Request) and each.dont_filter:
                try:
                    self._shared.take_unasked(each)
                except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                    self._shared.faults.report("page", "A start request could not be noted")
            yield each

    def process_spider_input(self, response: "Response") -> None:
        """Set ``response.meta["dedup_key"]``, note that the page is fetched, and record it."""
        request = response.request
        if request is None:
            return
        try:
            self._look_at(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("page", "A response could not be looked at")

    def _look_at(self, request: Request, response: "Response") -> None:
        # The meta may be a copy of another response's: the key must be the one of this response.
        request.meta.pop(KEY, None)
        if not is_plain_get(request):
            return
        identity = self._shared.identities.of_url(request.url)
        if identity.mode is None:
            return
        request.meta[KEY] = identity.key
        if identity.mode is not Mode.OBSERVE:
            self._shared.outcomes.response(request, response.status)
        self._recorder.page(request, response, identity.site)
