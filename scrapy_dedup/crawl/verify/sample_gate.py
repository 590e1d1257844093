"""Gate of spot checks on their way back: those stop that are the page they were taken for."""

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from ..support.compatibility import without_spider
from ..support.components import components_of
from ..support.request_meta import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from ..decide.request_filter import DuplicateDiscarded
    from ..support.faults import Faults
    from .choosing import SpotChecks
    from .spot_check_judge import SpotCheckJudge


@without_spider
class SampleGate:
    """Downloader middleware, the last on the way back: stops spot checks that are the page they were taken for.

    Their errbacks get a :exc:`.DuplicateDiscarded`, their callbacks nothing. Each is a response that was received,
    as one of ``engine.download_async`` is: it counts for ``CLOSESPIDER_PAGECOUNT``. Where no rule can come to act in
    the crawl there is nothing to stop, and no response comes here.
    """

    def __init__(
        self, crawler: "Crawler", spot_checks: "SpotChecks", judge: "SpotCheckJudge", faults: "Faults"
    ) -> None:
        self._crawler = crawler
        self._under_way = spot_checks.under_way
        self._judge = judge
        self._faults = faults
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

    def process_response(self, request: "Request", response: "Response") -> "Response | Coroutine[Any, Any, Response]":
        """Return *response*; raise DuplicateDiscarded for that of a spot check which is what it was taken for."""
        if not self._under_way or SAMPLE not in request.meta:
            return response
        return self._judged(request, response)

    async def _judged(self, request: "Request", response: "Response") -> "Response":
        discarded: DuplicateDiscarded | None = None
        try:
            discarded = await self._judge.judge(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("monitor", "A spot check could not be compared")
        if discarded is not None:
            self._count(request, response)
            raise discarded
        return response

    def _count(self, request: "Request", response: "Response") -> None:
        """Send the signal that the engine sends of a response that gets as far as to it."""
        response.request = request
        self._crawler.signals.send_catch_log(
            signals.response_received, response=response, request=request, spider=self._crawler.spider
        )
