"""The gate: the last look at a request that was queued before the rules that are used now."""

from typing import TYPE_CHECKING, Any

from ..composition import CrawlComponents as Shared
from ..settings.dedup_settings import Mode
from ..support.compatibility import without_spider
from ..support.request_meta import CHECKED, POSTPONED, is_checked, is_sent, is_start, note_sent
from .discards import DuplicateDiscarded

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self


@without_spider
class Gate:
    """Downloader middleware, the first on the way out.

    Requests that the dupe filter has compared carry a mark (``meta["dedup_checked"]``).
    One with the mark of an earlier run of the job, or of earlier rules, is compared
    again; those without never came through the dupe filter and are left alone
    (``dont_filter``, ``engine.download_async``), and so are copies of one that has come through here. A request that a page has shown to be
    itself, after it was queued, is stopped, too.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(Shared.of(crawler))

    def process_request(self, request: "Request") -> "Request | Coroutine[Any, Any, Request | None] | None":
        """Raise DuplicateDiscarded for a request whose equivalent is fetched or on its way.

        Return one that is to be postponed, with a lower priority, to be queued again; one that was waits here for what
        others show.
        """
        mark = request.meta.get(CHECKED)
        postponing = self._shared.postponing
        if POSTPONED not in request.meta:
            postponing.note_other()
        if mark is None or is_sent(mark):
            return None
        self._stop_duplicate(request)
        try:
            later = postponing.put_back(request)
            if later is not None:
                return later
            if postponing.must_wait(request):
                return self._waited(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("postponing", "A request could not be postponed")
        self._send(request)
        return None

    async def _waited(self, request: "Request") -> "Request | None":
        """Let a postponed request go when it is known what it is, or some of them are to show it; or return it to be queued."""
        postponing = self._shared.postponing
        try:
            while True:
                again = await postponing.wait(request)
                if again is not None:
                    return again
                self._stop_duplicate(request)
                if not postponing.must_wait(request):
                    break
        except DuplicateDiscarded:
            raise
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("postponing", "A request could not be postponed")
        self._send(request)
        return None

    def _send(self, request: "Request") -> None:
        self._shared.postponing.count(request, discarded=False)
        note_sent(request)

    def _stop_duplicate(self, request: "Request") -> None:
        shared, mark = self._shared, request.meta.get(CHECKED)
        discarded = None
        try:
            if not shared.marks.is_fresh(mark):
                discarded = self._compared(request)
            if discarded is None and shared.identities.aliases:
                discarded = shared.aliases.queued(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("gate", "A queued request could not be compared")
        if discarded is not None:
            shared.postponing.count(request, discarded=True)
            raise discarded

    def _compared(self, request: "Request") -> DuplicateDiscarded | None:
        shared = self._shared
        if not is_checked(request):
            del request.meta[CHECKED]  # copied from another response: this request came by another way
            return None
        identity = shared.identities.of(request)
        if identity is None or identity.mode in (None, Mode.OBSERVE):
            return None
        shared.marks.mark(request)
        slot = identity.slot
        seen = shared.seen
        if not request.dont_filter:
            identity.passed = slot
        if slot not in seen:
            shared.claims.claim(request, identity)
            return None
        if request.dont_filter or identity.mode is not Mode.ACTIVE or is_start(request):
            return None
        other = seen.url(slot)
        if (
            other == request.url
            or shared.claims.is_own_redirect(request, slot)
            or shared.depths.leads_further(request, other)
        ):
            return None
        discarded = shared.discards.discard_queued(request, identity, other)
        if discarded is not None:
            identity.passed = -1
        return discarded

    def process_exception(self, request: "Request", exception: Exception) -> None:
        """Free the keys of a request that has failed for good."""
        if CHECKED not in request.meta or isinstance(exception, DuplicateDiscarded):
            return
        try:
            if is_checked(request):
                self._shared.outcomes.failed(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("gate", "The failure of a request could not be followed up")
