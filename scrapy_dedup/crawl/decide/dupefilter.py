"""The dupe filter: wraps the one that is configured, and asks for canonical keys before it.

The wrapped filter keeps its job, exact duplicates, and what it persists stays what it
was: it never hears of a request that is discarded because of a rule, so that a rule can
be withdrawn. Canonical keys are kept elsewhere (:mod:`scrapy_dedup.crawl.seen.seen`).
"""

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.misc import build_from_crawler

from ...urls import normal_form
from ..composition import CrawlComponents as Shared
from ..identity.identities import UrlIdentity
from ..identity.remembered_fingerprints import remember_fingerprints
from ..settings.dedup_settings import DedupSettingError, Mode
from ..settings.start_errors import loaded, told
from ..support.compatibility import fingerprints_of, heard_by
from ..support.request_meta import is_start, redirects_to

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

FALLBACK = "DEDUP_FALLBACK_DUPEFILTER_CLASS"


class DupeFilter:
    """Discards requests whose canonical key is fetched or on its way."""

    def __init__(self, wrapped: Any, shared: Shared | None) -> None:
        #: The configured filter.
        self.wrapped = wrapped
        # A project that has switched filtering off stays without.
        self._shared = None if type(wrapped) is BaseDupeFilter else shared
        # Whether a URL passes once, whatever its callback.
        self._is_stock = (
            shared is not None
            and shared.identities.stock
            and getattr(type(wrapped), "request_seen", None) is RFPDupeFilter.request_seen
        )
        self._heard = fingerprints_of(wrapped) if self._is_stock else None
        self._ours: Request | None = None
        if shared is not None:
            shared.postponing.has_filter = True
        if self._shared is not None:
            remember_fingerprints(wrapped, self._shared.identities, self._shared.faults)

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the filter of a crawl. Raises DedupSettingError if the configured one cannot be made."""
        try:
            wrapped = _made(crawler, crawler.settings)
        except DedupSettingError as error:
            raise told(error) from None
        return cls(wrapped, Shared.of_enabled(crawler))

    @classmethod
    def from_spider(cls, spider: "Spider") -> "Self":
        """As :meth:`from_crawler`: the scheduler of scrapy-redis makes its filter so."""
        try:
            wrapped_class = _wrapped_class(spider.crawler.settings)
            if hasattr(wrapped_class, "from_spider"):
                wrapped = wrapped_class.from_spider(spider)
            else:
                wrapped = _made(spider.crawler, spider.crawler.settings)
        except DedupSettingError as error:
            raise told(error) from None
        return cls(wrapped, Shared.of_enabled(spider.crawler))

    def __getattr__(self, name: str) -> Any:
        # What else the configured filter offers, such as clear() of scrapy-redis.
        if name == "wrapped":
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    def open(self) -> "Deferred[None] | None":
        """Open the wrapped filter, and what is known of earlier runs of the job."""
        if self._shared is not None:
            self._shared.open()
        opened: Deferred[None] | None = _called(self.wrapped, "open")
        return opened

    def close(self, reason: str) -> "Deferred[None] | None":
        """Close the wrapped filter, and write what is to be known in later runs of the job."""
        if self._shared is not None:
            self._shared.status.is_closing = True
            self._shared.seen.close()
        closed: Deferred[None] | None = _called(self.wrapped, "close", reason)
        return closed

    def log(self, request: "Request", spider: "Spider") -> None:
        """Let the wrapped filter tell and count what it has filtered; ours is told already."""
        ours, self._ours = self._ours, None
        if ours is not request:
            _called(self.wrapped, "log", request, spider)

    def request_seen(self, request: "Request") -> bool:
        """Whether *request* is to be discarded."""
        if self._shared is not None and self._shared.postponing.is_put_back(request):
            return False
        identity = self._identity(request)
        if identity is None or self._shared is None:
            return bool(self.wrapped.request_seen(request))
        shared = self._shared
        slot = identity.slot
        other = None
        try:
            if self._is_discarded_for_another(identity):
                shared.stats.inc_value("dedup/discarded")
                self._ours = request
                return True
            if slot in shared.seen and identity.passed != slot and not shared.spot_checks.was_scheduled(request):
                other = self._other(request, identity)
                if (
                    other is not None
                    and self._is_ours_to_discard(request, identity, other)
                    and shared.discards.discard(request, identity, other)
                ):
                    self._ours = request
                    return True
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("dupefilter", "A request could not be compared with what is seen")
            return self._seen_by_wrapped(request, shared)
        seen = self._seen_by_wrapped(request, shared)
        try:
            return self._follow_up(request, identity, seen=seen, other=other)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("dupefilter", "A request could not be noted")
            return seen

    def _seen_by_wrapped(self, request: "Request", shared: Shared) -> bool:
        return bool(self.wrapped.request_seen(request)) and not shared.rescheduler.has_passed

    def _identity(self, request: "Request") -> UrlIdentity | None:
        if self._shared is None:
            return None
        try:
            identity = self._shared.identities.of(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("dupefilter", "A request could not be compared with what is seen")
            return None
        return None if identity is None or identity.mode is Mode.OBSERVE else identity

    def _is_discarded_for_another(self, identity: UrlIdentity) -> bool:
        """Whether the URL was discarded with another callback: Scrapy's filter would let that one pass, and no further one.

        Should the rule be wrong, it is that one which is fetched after all.
        """
        return identity.known and identity.discarded not in (-1, identity.slot) and self._is_stock

    def _other(self, request: "Request", identity: UrlIdentity) -> str | None:
        """Return the URL that *request* is taken for; None if that is its own, or where its redirects come from."""
        shared = self._shared
        assert shared is not None
        if redirects_to(request) and shared.claims.is_own_redirect(request, identity.slot):
            return None
        if identity.discarded == identity.slot and not shared.depths.limited:
            return ""  # as before: it need not be looked up
        other = shared.seen.url(identity.slot)
        if other == request.url or shared.seen.is_another(request.url) or shared.depths.leads_further(request, other):
            return None
        return other

    def _is_ours_to_discard(self, request: "Request", identity: UrlIdentity, other: str) -> bool:
        """Whether a rule makes *request* a duplicate, so that the wrapped filter must not hear of it."""
        if identity.mode is not Mode.ACTIVE or is_start(request):
            return False
        if identity.discarded == identity.slot:
            return True
        if self._heard and heard_by(self._heard, self.wrapped.fingerprinter.fingerprint(request)):
            return False  # Scrapy has let it pass before: it is fetched, or the gate has discarded it
        return not other or normal_form(other) != normal_form(request.url)

    def _follow_up(self, request: "Request", identity: UrlIdentity, *, seen: bool, other: str | None) -> bool:
        """Note what the wrapped filter has decided; return whether *request* is to be discarded."""
        shared = self._shared
        assert shared is not None
        slot = identity.slot
        redirected = bool(redirects_to(request))
        if seen:
            if redirected:
                shared.spot_checks.note_ended(request)
                shared.outcomes.ended(request, request.url)
            return True
        if slot not in shared.seen:
            shared.claims.claim(request, identity)
        elif identity.passed == slot:
            pass  # the wrapped filter lets a URL pass again: that is its business
        elif redirected and shared.claims.is_own_redirect(request, slot):
            shared.stats.inc_value("dedup/redirects/followed")
        elif (
            identity.mode is not Mode.ACTIVE
            and other
            and not is_start(request)
            and normal_form(other) != normal_form(request.url)
        ):
            shared.discards.foresee(request, identity, other)
        # Otherwise it is a start request, the ledger could not be written, or the same URL was fetched by a
        # request that went around the filter:
        # Scrapy fetches it again, and what it shows may have changed, by a log-in for instance.
        identity.passed = slot
        shared.marks.mark(request)
        if identity.known or shared.rescheduler.at_work:  # it had been discarded
            identity.known = False
            shared.tally.scheduled(identity.site)
        return False


def _wrapped_class(settings: "BaseSettings") -> Any:
    value = settings.get(FALLBACK, "scrapy.dupefilters.RFPDupeFilter")
    wrapped_class = loaded(FALLBACK, value, "Name a dupe filter.")
    if isinstance(wrapped_class, type) and issubclass(wrapped_class, DupeFilter):
        raise DedupSettingError(FALLBACK, value, "it would wrap itself", "Name the dupe filter that is to be wrapped.")
    return wrapped_class


def _made(crawler: "Crawler", settings: "BaseSettings") -> Any:
    """Return the configured filter, made as Scrapy makes it, or from the settings, as older ones are."""
    wrapped_class = _wrapped_class(settings)
    try:
        if not hasattr(wrapped_class, "from_crawler") and hasattr(wrapped_class, "from_settings"):
            wrapped = wrapped_class.from_settings(settings)
        else:
            wrapped = build_from_crawler(wrapped_class, crawler)
    except TypeError as error:
        remedy = "Give it a class method from_crawler(crawler) that returns an instance."
        raise DedupSettingError(FALLBACK, wrapped_class, f"it cannot be made ({error})", remedy) from error
    problem = None
    if not hasattr(wrapped, "request_seen"):
        problem = "it is no dupe filter"
    elif iscoroutinefunction(wrapped.request_seen):
        problem = "its request_seen is a coroutine function, so that Scrapy would discard every request"
    if problem is not None:
        raise DedupSettingError(FALLBACK, wrapped_class, problem, "It needs a method request_seen(request).")
    return wrapped


def _called(wrapped: Any, name: str, *arguments: Any) -> Any:
    method = getattr(wrapped, name, None)
    return None if method is None else method(*arguments)
