"""The gate: the last look at a request that was queued before the rules that are used now."""

from typing import TYPE_CHECKING, Any

from ..settings.dedup_settings import Mode
from ..support.components import components_of
from ..support.request_meta import CHECKED, POSTPONED, SAMPLE_OF, as_duplicate, is_checked, is_sent, note_sent
from .request_decision import RequestAction

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from ..identity.identities import UrlIdentity


class Gate:
    """Downloader middleware, the first on the way out.

    Requests that the dupe filter has compared carry a mark (``meta["dedup_checked"]``).
    One with the mark of an earlier run of the job, or of earlier rules, is compared
    again; those without never came through the dupe filter and are left alone
    (``dont_filter``, ``engine.download_async``), and so are copies of one that has come through here. A request that a page has shown to be
    itself, after it was queued, is stopped, too.
    """

    def __init__(self, components: Any) -> None:
        self._faults = components.faults
        self._stats = components.stats
        self._identities = components.identities
        self._aliases = components.aliases
        self._marks = components.marks
        self._claims = components.claims
        self._decision = components.decision
        self._request_filter = components.request_filter
        self._outcomes = components.outcomes
        self._postponing = components.postponing
        self._fleet = components.fleet

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl. Raises NotConfigured where the plug-in is switched off."""
        return cls(components_of(crawler))

    def process_request(self, request: "Request") -> "Request | Coroutine[Any, Any, Request | None] | None":
        """Return a request whose equivalent is fetched or on its way, for the dupe filter to drop.

        Return one that is to be postponed, with a lower priority, to be queued again; one that was waits here for what
        others show.
        """
        mark = request.meta.get(CHECKED)
        postponing = self._postponing
        if POSTPONED not in request.meta:
            postponing.note_other()
        if mark is None or is_sent(mark):
            return None
        if self._fleet is not None and SAMPLE_OF in request.meta:
            self._fleet.check_popped.send(request)
        duplicate = self._duplicate(request)
        if duplicate is not None:
            return duplicate
        try:
            later: Request | None = postponing.put_back(request)
            if later is not None:
                return later
            if postponing.must_wait(request):
                return self._waited(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("postponing", "A request could not be postponed")
        self._send(request)
        return None

    async def _waited(self, request: "Request") -> "Request | None":
        """Let a postponed request go when it is known what it is, or some of them are to show it; or return it to be queued."""
        try:
            while True:
                again: Request | None = await self._postponing.wait(request)
                if again is not None:
                    return again
                duplicate = self._duplicate(request)
                if duplicate is not None:
                    return duplicate
                if not self._postponing.must_wait(request):
                    break
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("postponing", "A request could not be postponed")
        self._send(request)
        return None

    def _send(self, request: "Request") -> None:
        self._postponing.count(request, discarded=False)
        if self._fleet is not None:
            self._fleet.request_sent.send(request)
        note_sent(request)

    def _duplicate(self, request: "Request") -> "Request | None":
        """Return a request that is a duplicate by now as one that the dupe filter drops; None for any other."""
        filtered = None
        try:
            if not self._marks.is_fresh(request.meta.get(CHECKED)):
                filtered = self._compared_again(request)
            if filtered is None and self._identities.aliases:
                filtered = self._found_alias(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("gate", "A queued request could not be compared")
        if filtered is not None:
            self._postponing.count(request, discarded=True)
        return filtered

    def _compared_again(self, request: "Request") -> "Request | None":
        if not is_checked(request):
            del request.meta[CHECKED]  # copied from another response: this request came by another way
            return None
        identity = self._identities.of(request)
        if identity is None or identity.mode in (None, Mode.OBSERVE):
            return None
        self._marks.mark(request, identity.slot, identity.context)
        if not request.dont_filter:
            identity.passed = identity.slot
        filtered = self._filtered(request, identity)
        if filtered is not None:
            identity.passed = -1
        return filtered

    def _found_alias(self, request: "Request") -> "Request | None":
        identity = self._aliases.fetched_page(request)
        filtered = None if identity is None else self._filtered(request, identity)
        if filtered is not None:
            self._aliases.note_fetched(request)
        return filtered

    def _filtered(self, request: "Request", identity: "UrlIdentity") -> "Request | None":
        """Decide on a request; return what the dupe filter is to drop if it is filtered."""
        duplicate = as_duplicate(request)
        verdict = self._decision.decide(request, identity, queued=True)
        if verdict.action is RequestAction.NEW:
            self._claims.claim(request, identity)
        if verdict.action is not RequestAction.FILTER or not self._request_filter.filter(
            request, identity, verdict, queued=True
        ):
            return None
        self._stats.inc_value("dedup/discarded/gate")
        return duplicate

    def process_exception(self, request: "Request", exception: Exception) -> None:
        """Free the keys of a request that has failed for good."""
        if CHECKED not in request.meta:
            return
        try:
            if is_checked(request):
                self._outcomes.failed(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("gate", "The failure of a request could not be followed up")
