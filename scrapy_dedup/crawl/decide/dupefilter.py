"""The dupe filter: wraps the one that is configured, and compares canonical keys before it.

The wrapped filter keeps its job, exact duplicates, and what it persists stays what it
was: it never hears of a request that is filtered because of a rule, so that a rule can
be withdrawn. Canonical keys are kept elsewhere (:mod:`scrapy_dedup.crawl.seen.seen`).
"""

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from ..settings.dedup_settings import DedupSettingError, Mode, told
from ..support.components import components_of
from ..support.request_meta import DUPLICATE, PUT_BACK, RESCHEDULED, redirects_to
from .request_decision import RequestAction, RequestVerdict
from .wrapped_filter import WrappedFilter, built, wrapped_class_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

    from ..identity.identities import UrlIdentity

_FETCH = RequestVerdict(RequestAction.FETCH)


class DupeFilter:
    """Filters requests whose canonical key is fetched or on its way.

    *components* are those of the crawl; None where the plug-in is switched off.
    """

    def __init__(self, wrapped: Any, components: Any) -> None:
        #: The configured filter.
        self.wrapped = wrapped
        self._wrapped = WrappedFilter(wrapped)
        self._ours: Request | None = None
        if components is not None:
            components.postponing.has_filter = True
        # A project that has switched filtering off stays without.
        self._components = components if self._wrapped.filters else None
        if self._components is not None:
            self._faults = components.faults
            self._identities = components.identities
            self._decision = components.decision
            self._request_filter = components.request_filter
            self._claims = components.claims
            self._marks = components.marks
            self._outcomes = components.outcomes
            self._spot_checks = components.spot_checks
            self._tally = components.tally
            self._stats = components.stats
            self._fleet = components.fleet
            self._wrapped.share_memory(self._identities, self._faults)
            self._decision.wrapped = self._wrapped

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the filter of a crawl. Raises DedupSettingError if the configured one cannot be made."""
        return cls._made(crawler, may_be_of_spider=False)

    @classmethod
    def from_spider(cls, spider: "Spider") -> "Self":
        """As :meth:`from_crawler`: the scheduler of scrapy-redis makes its filter so."""
        return cls._made(spider.crawler, may_be_of_spider=True)

    @classmethod
    def _made(cls, crawler: "Crawler", *, may_be_of_spider: bool) -> "Self":
        try:
            wrapped_class = wrapped_class_of(crawler.settings, DupeFilter)
            if may_be_of_spider and hasattr(wrapped_class, "from_spider"):
                wrapped = wrapped_class.from_spider(crawler.spider)
            else:
                wrapped = built(wrapped_class, crawler, crawler.settings)
        except DedupSettingError as error:
            raise told(error) from None
        try:
            return cls(wrapped, components_of(crawler))
        except NotConfigured:
            return cls(wrapped, None)

    def __getattr__(self, name: str) -> Any:
        # What else the configured filter offers, such as clear() of scrapy-redis.
        if name == "wrapped":
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    def open(self) -> "Deferred[None] | None":
        """Open the wrapped filter, and what is known of earlier runs of the job."""
        if self._components is not None:
            self._components.open()
        opened: Deferred[None] | None = self._wrapped.call("open")
        return opened

    def close(self, reason: str) -> "Deferred[None] | None":
        """Close the wrapped filter, and write what is to be known in later runs of the job."""
        if self._components is not None:
            self._components.status.is_closing = True
            self._components.seen.close()
        closed: Deferred[None] | None = self._wrapped.call("close", reason)
        return closed

    def clear(self) -> None:
        """Forget all, as the scheduler of scrapy-redis asks its filter to."""
        if self._components is not None and self._fleet is not None:
            try:
                self._fleet.clear()
            except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                self._faults.report("fleet", "What the workers of the job have shared could not be forgotten")
        self._wrapped.call("clear")

    def log(self, request: "Request", spider: "Spider") -> None:
        """Let the wrapped filter log and count what it has filtered; ours is logged already."""
        ours, self._ours = self._ours, None
        if ours is not request:
            self._wrapped.call("log", request, spider)

    def request_seen(self, request: "Request") -> bool:
        """Whether *request* is to be filtered."""
        if request.meta.pop(PUT_BACK, False):  # it was let pass before
            return False
        if request.meta.pop(DUPLICATE, False):  # it was filtered since
            self._ours = request
            return True
        is_rescheduled, has_passed = request.meta.pop(RESCHEDULED, (False, False))
        identity = None if self._components is None else self._identity(request)
        if identity is None:
            return bool(self.wrapped.request_seen(request))
        verdict = self._verdict(request, identity)
        if verdict is not None and verdict.action is RequestAction.NEW and self._fleet is not None:
            return self._claimed(request, identity, verdict, is_rescheduled=is_rescheduled, has_passed=has_passed)
        return self._decided(request, identity, verdict, is_rescheduled=is_rescheduled, has_passed=has_passed)

    def _claimed(
        self,
        request: "Request",
        identity: "UrlIdentity",
        verdict: RequestVerdict | None,
        *,
        is_rescheduled: bool,
        has_passed: bool,
    ) -> bool:
        """Whether *request* is to be filtered, which is new to this worker of a fleet, but may not be to the others."""
        try:
            if not self._claims.claim_shared(request, identity):
                verdict = self._verdict(request, identity)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "A page could not be claimed")
        seen = True
        try:
            seen = self._decided(request, identity, verdict, is_rescheduled=is_rescheduled, has_passed=has_passed)
        finally:
            if seen:
                self._claims.give_back(identity)
        return seen

    def _decided(
        self,
        request: "Request",
        identity: "UrlIdentity",
        verdict: RequestVerdict | None,
        *,
        is_rescheduled: bool,
        has_passed: bool,
    ) -> bool:
        if verdict is not None and verdict.action in (RequestAction.FILTER, RequestAction.FILTER_AGAIN):
            self._ours = request
            return True
        seen = bool(self.wrapped.request_seen(request)) and not has_passed
        if verdict is None:
            return seen
        try:
            if seen:
                self._note_seen(request)
            else:
                self._note_passed(request, identity, verdict, is_rescheduled=is_rescheduled)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("dupefilter", "A request could not be noted")
        return seen

    def _identity(self, request: "Request") -> "UrlIdentity | None":
        try:
            identity: UrlIdentity | None = self._identities.of(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("dupefilter", "A request could not be compared with what is seen")
            return None
        return None if identity is None or identity.mode is Mode.OBSERVE else identity

    def _verdict(self, request: "Request", identity: "UrlIdentity") -> RequestVerdict | None:
        """Return the verdict on *request*, which is filtered if that says so; None where there is a fault."""
        try:
            verdict: RequestVerdict = self._decision.decide(request, identity)
            if verdict.action is RequestAction.FILTER_AGAIN:
                self._request_filter.count()
            elif verdict.action is RequestAction.FILTER and not self._request_filter.filter(request, identity, verdict):
                return _FETCH
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("dupefilter", "A request could not be compared with what is seen")
            return None
        return verdict

    def _note_seen(self, request: "Request") -> None:
        """Note that the wrapped filter has filtered *request*."""
        if redirects_to(request):
            self._spot_checks.note_ended(request)
            self._outcomes.ended(request, request.url)

    def _note_passed(
        self, request: "Request", identity: "UrlIdentity", verdict: RequestVerdict, *, is_rescheduled: bool
    ) -> None:
        """Note that *request* goes out."""
        if verdict.action is RequestAction.NEW:
            self._claims.claim(request, identity)
        elif verdict.action is RequestAction.REDIRECTED:
            self._stats.inc_value("dedup/redirects/followed")
        elif verdict.action is RequestAction.SHADOW:
            self._request_filter.foresee(request, identity, verdict)
        identity.passed = identity.slot
        self._marks.mark(request, identity.slot, identity.context)
        if identity.known or is_rescheduled:  # it had been filtered
            identity.known = False
            self._tally.scheduled(identity.site)
