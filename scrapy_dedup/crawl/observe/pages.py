"""The spider middlewares: what reaches the spider is recorded, told its canonical key, and followed to its end."""

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request

from ..decide.known_aliases import PageLook
from ..identity.identities import is_plain_get
from ..items.stripping import remember_crawl
from ..settings.dedup_settings import Mode
from ..shared import Shared
from ..support.compatibility import without_spider
from ..support.request_meta import KEY, SWITCH, mark_new
from .recorder import Recorder

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

#: Bytes of an answer with nothing in it but white space.
_LONGEST_BLANK: Final = 100


@without_spider
class PageMiddleware:
    """Spider middleware, before HttpError: final responses to requests of the scheduler.

    A page counts as fetched once the spider has done its work with it, since a process
    that is killed before has not queued its links. One that another spider middleware
    refuses has not reached the spider: its request counts as failed.
    """

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
            if isinstance(each, Request):
                try:
                    mark_new(each, start=True)
                    if each.dont_filter:
                        self._shared.take_unasked(each)
                except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                    self._shared.faults.report("page", "A start request could not be noted")
            yield each

    def process_spider_input(self, response: "Response") -> None:
        """Set ``response.meta["dedup_key"]``, note an answer that is no page, and record it."""
        request = response.request
        if request is None:
            return
        try:
            remember_crawl(request, self._shared)
            self._look_at(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("page", "A response could not be looked at")

    async def process_spider_output(self, response: "Response", result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Hand on what the spider gives; mark its requests as new ones, and note when it is done."""
        links = given = False
        look = self._searched(response)
        transient = self._shared.transient
        marks_links = transient.marks_links and bool(transient.masks)
        async for each in result:
            if not given:
                given = True
                self._shared.under_way.give(response)
            if isinstance(each, Request):
                links = True
                try:
                    mark_new(each)
                    if look is not None:
                        look.request(each)
                except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                    self._shared.faults.report("page", "A request could not be marked")
                if transient.has_pipeline:
                    self._note(transient.note_request, each, response)
                if marks_links:
                    self._note(transient.mark_link, each, response)
                self._lower(each)
            elif transient.has_pipeline:
                self._note(transient.note_item, each, response)
            yield each
        self._end(response, links=links)

    def process_spider_exception(self, response: "Response", exception: Exception) -> None:
        """Note that the spider, or another spider middleware, has failed with *response*."""
        # If it had given something nobody knows how far it has come; if not, it has failed with this URL of the page.
        self._end(response, links=True, failed=not self._shared.under_way.gave(response))

    def _lower(self, request: Request) -> None:
        try:
            self._shared.postponing.lower(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("postponing", "A request could not be postponed")

    def _note(self, note: Callable[[Any, "Response"], None], each: Any, response: "Response") -> None:
        """Note which response an item came from, or whether the link of a request is transient there."""
        try:
            note(each, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("transient", "Transient content of a page could not be looked for")

    def _look_at(self, request: Request, response: "Response") -> None:
        # The meta may be a copy of another response's: the key must be the one of this response.
        request.meta.pop(KEY, None)
        if not is_plain_get(request):
            self._count_left_out(request)
            return
        identity = self._shared.identities.of_url(request.url)
        if identity.mode is None:
            return
        request.meta[KEY] = identity.key
        if identity.mode is not Mode.OBSERVE:
            if 200 <= response.status < 300 and not _is_blank(response):
                self._shared.under_way.begin(response)
                if "cached" not in response.flags:
                    latency = request.meta.get("download_latency")
                    self._shared.tally.page(identity.site, len(response.body), float(latency or 0))
            else:
                self._shared.outcomes.failed(request)
        self._recorder.page(request, response, identity.site)
        self._shared.extras.note(request, response, identity.site)

    def _count_left_out(self, request: Request) -> None:
        """Count the answer to a request that is not compared, unless that is what the spider asks for."""
        is_wanted = request.meta.get(SWITCH) is not False and not request.meta.get("verbatim_url")
        if is_wanted and self._shared.identities.site_and_mode(request.url)[1] is not None:
            self._shared.left_out.add("method")

    def _searched(self, response: "Response") -> PageLook | None:
        """Search the page for other URLs of its own; return what looks for them among its requests."""
        try:
            look = self._shared.aliases.page(response)
            if look is not None:
                look.declarations()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("aliases", "A page could not be searched for aliases")
            return None
        return look

    def _end(self, response: "Response", *, links: bool, failed: bool = False) -> None:
        request = response.request
        try:
            self._shared.transient.carried.done(request)
            reached = self._shared.under_way.end(response)
            if request is None or reached is None:
                return
            if reached and not failed:
                self._shared.outcomes.fetched(request, links=links)
            else:
                self._shared.outcomes.failed(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("page", "What became of a response could not be noted")


def _is_blank(response: "Response") -> bool:
    """Whether an answer has nothing in it: it is none, and another URL of its page may have one."""
    return len(response.body) <= _LONGEST_BLANK and not response.body.strip()


@without_spider
class ArrivalMiddleware:
    """Spider middleware, the last before the spider: a response that comes here has passed all others."""

    def __init__(self, shared: Shared) -> None:
        self._under_way = shared.under_way
        self._under_way.observed = True

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(Shared.of(crawler))

    def process_spider_input(self, response: "Response") -> None:
        """Note that the spider gets *response*."""
        self._under_way.arrive(response)
