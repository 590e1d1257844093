"""The spider middlewares: what reaches the spider is recorded, told its canonical key, and followed to its end."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

import attrs
from scrapy import Request

from ..identity.identities import is_plain_get
from ..settings.dedup_settings import Mode
from ..support.compatibility import without_spider
from ..support.components import components_of
from ..support.request_meta import KEY, SWITCH, mark_new

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from ..decide.known_aliases import Aliases, PageLook
    from ..identity.identities import Identities
    from ..seen.request_outcomes import RequestOutcomes
    from ..seen.slot_claims import SlotClaims
    from ..support.faults import Faults
    from ..support.tally import Tally
    from .excluded_responses import ExcludedResponses
    from .page_events import PageEvents, ResponsesInFlight
    from .recorder import Recorder

#: Bytes of an answer with nothing in it but white space.
_LONGEST_BLANK: Final = 100


@without_spider
@attrs.define(eq=False, repr=False, kw_only=True)
class PageMiddleware:
    """Spider middleware, before HttpError: final responses to requests of the scheduler.

    A page counts as fetched once the spider has done its work with it, since a process
    that is killed before has not queued its links. One that another spider middleware
    refuses has not reached the spider: its request counts as failed.
    """

    _page_events: "PageEvents"
    _identities: "Identities"
    _claims: "SlotClaims"
    _outcomes: "RequestOutcomes"
    _aliases: "Aliases"
    _recorder: "Recorder"
    _in_flight: "ResponsesInFlight"
    _excluded: "ExcludedResponses"
    _tally: "Tally"
    _faults: "Faults"

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        middleware: Self = components_of(crawler).built(cls)
        return middleware

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Hand on what the spider starts with. Requests that no filter will be asked about stand for their key."""
        async for each in start:
            if isinstance(each, Request):
                try:
                    mark_new(each, start=True)
                    if each.dont_filter:
                        self._claims.claim_unfiltered(each)
                except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                    self._faults.report("page", "A start request could not be noted")
            yield each

    def process_spider_input(self, response: "Response") -> None:
        """Set ``response.meta["dedup_key"]``, note an answer that is no page, and record it."""
        request = response.request
        if request is None:
            return
        try:
            self._page_events.response_received.send(request)
            self._look_at(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("page", "A response could not be looked at")

    async def process_spider_output(self, response: "Response", result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Hand on what the spider gives; mark its requests as new ones, and note when it is done."""
        links = given = False
        look = self._searched(response)
        events = self._page_events
        async for each in result:
            if not given:
                given = True
                self._in_flight.give(response)
            if isinstance(each, Request):
                links = True
                try:
                    mark_new(each)
                    if look is not None:
                        look.request(each)
                except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                    self._faults.report("page", "A request could not be marked")
                events.request_given.send(each, response)
            else:
                events.item_given.send(each, response)
            yield each
        self._end(response, links=links)

    def process_spider_exception(self, response: "Response", exception: Exception) -> None:
        """Note that the spider, or another spider middleware, has failed with *response*."""
        # If it had given something nobody knows how far it has come; if not, it has failed with this URL of the page.
        self._end(response, links=True, failed=not self._in_flight.gave(response))

    def _look_at(self, request: Request, response: "Response") -> None:
        # The meta may be a copy of another response's: the key must be the one of this response.
        request.meta.pop(KEY, None)
        if not is_plain_get(request):
            self._count_excluded(request)
            return
        identity = self._identities.of_url(request.url)
        if identity.mode is None:
            return
        request.meta[KEY] = identity.key
        if identity.mode is not Mode.OBSERVE:
            if 200 <= response.status < 300 and not _is_blank(response):
                self._in_flight.begin(response)
                if "cached" not in response.flags:
                    latency = request.meta.get("download_latency")
                    self._tally.page(identity.site, len(response.body), float(latency or 0))
            else:
                self._outcomes.failed(request)
        if not self._recorder.is_of_its_url(request):
            self._excluded.add("fingerprint")
            return
        self._recorder.page(request, response, identity.site)
        self._page_events.page_fetched.send(request, response, identity.site)

    def _count_excluded(self, request: Request) -> None:
        """Count the answer to a request that is not compared, unless that is what the spider asks for."""
        is_wanted = request.meta.get(SWITCH) is not False and not request.meta.get("verbatim_url")
        if is_wanted and self._identities.site_and_mode(request.url)[1] is not None:
            self._excluded.add("method")

    def _searched(self, response: "Response") -> "PageLook | None":
        """Search the page for other URLs of its own; return what looks for them among its requests."""
        try:
            look = self._aliases.page(response)
            if look is not None:
                look.declarations()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("aliases", "A page could not be searched for aliases")
            return None
        return look

    def _end(self, response: "Response", *, links: bool, failed: bool = False) -> None:
        request = response.request
        try:
            reached = self._in_flight.end(response)
            if request is None or reached is None:
                return
            if reached and not failed:
                self._outcomes.fetched(request, links=links)
            else:
                self._outcomes.failed(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("page", "What became of a response could not be noted")


def _is_blank(response: "Response") -> bool:
    """Whether an answer has nothing in it: it is none, and another URL of its page may have one."""
    return len(response.body) <= _LONGEST_BLANK and not response.body.strip()


@without_spider
class ArrivalMiddleware:
    """Spider middleware, the last before the spider: a response that comes here has passed all others."""

    def __init__(self, in_flight: "ResponsesInFlight") -> None:
        self._in_flight = in_flight
        self._in_flight.observed = True

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(components_of(crawler).in_flight)

    def process_spider_input(self, response: "Response") -> None:
        """Note that the spider gets *response*."""
        self._in_flight.arrive(response)
