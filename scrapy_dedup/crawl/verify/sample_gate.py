"""Gate of spot checks on their way back: those stop that are the page they were taken for."""

import json
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from ..support.components import components_of
from ..support.request_meta import SAMPLE, as_duplicate

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from ..support.faults import Faults
    from .choosing import SpotChecks
    from .spot_check_judge import SpotCheckJudge


class SampleGate:
    """Downloader middleware, the first on the way out and the last on the way back: stops spot checks that are duplicates.

    They go back to the dupe filter, which drops them: neither callback nor errback hears of them. One whose meta has gained
    what is no data while it was downloaded (a browser's page, which only the spider can close) goes on to its callback.
    Each is a response that was received, as one of ``engine.download_async`` is: it counts for ``CLOSESPIDER_PAGECOUNT``.
    Where no rule can come to act in the crawl there is nothing to stop, and no response comes here.
    """

    def __init__(
        self, crawler: "Crawler", spot_checks: "SpotChecks", judge: "SpotCheckJudge", faults: "Faults"
    ) -> None:
        self._crawler = crawler
        self._under_way = spot_checks.under_way
        self._judge = judge
        self._faults = faults
        #: The mark of a spot check -> the names in its meta as it went out first: it may be tried again with what it holds by then.
        self._names: dict[Any, frozenset[Any]] = {}
        spot_checks.has_gate = True

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl. Raises NotConfigured where no spot checks can be made."""
        components = components_of(crawler)
        settings = components.settings
        has_rules = settings.learns_live or any(rule.status.acts for rule in components.identities.book)
        if not (settings.sample and settings.compares and has_rules):
            raise NotConfigured
        return cls(crawler, components.spot_checks, components.judge, components.faults)

    def process_request(self, request: "Request") -> None:
        """Note what the meta of a spot check holds."""
        if SAMPLE in request.meta:
            self._names.setdefault(request.meta[SAMPLE], frozenset(request.meta))

    def process_response(
        self, request: "Request", response: "Response"
    ) -> "Response | Coroutine[Any, Any, Response | Request]":
        """Return *response*; the request, for the dupe filter to drop, of a spot check that is what it was taken for."""
        if not self._under_way or SAMPLE not in request.meta:
            return response
        return self._judged(request, response)

    async def _judged(self, request: "Request", response: "Response") -> "Response | Request":
        try:
            duplicate = as_duplicate(request)
            if await self._judge.is_duplicate(request, response, goes_on=self._holds_something(request)):
                self._count(request, response)
                return duplicate
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("monitor", "A spot check could not be compared")
        return response

    def _holds_something(self, request: "Request") -> bool:
        """Whether the meta of *request* has gained what is no data."""
        names = self._names.pop(request.meta[SAMPLE], request.meta)
        try:
            json.dumps([value for name, value in request.meta.items() if name not in names])
        except (TypeError, ValueError, RecursionError):
            return True
        return False

    def _count(self, request: "Request", response: "Response") -> None:
        """Send the signal that the engine sends of a response that gets as far as to it."""
        response.request = request
        self._crawler.signals.send_catch_log(
            signals.response_received, response=response, request=request, spider=self._crawler.spider
        )
