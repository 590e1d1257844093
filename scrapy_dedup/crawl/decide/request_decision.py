"""The decision about a request: may it be fetched, or is its page fetched already, or on its way?

The dupe filter decides on a request that comes out of the spider, the gate once more on one that was queued under other
rules. Both use :meth:`RequestDecision.decide`, and differ in what they do about it.
"""

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, Protocol

import attrs

from ..settings.dedup_settings import Mode
from ..support.request_meta import START, is_start

if TYPE_CHECKING:
    from scrapy import Request

    from ..identity.identities import Identities, UrlIdentity
    from ..seen.depth_limit import Depths
    from ..seen.seen import Seen, Waiting
    from ..seen.slot_claims import SlotClaims
    from ..seen.write_buffer import WriteBuffer
    from .wrapped_filter import WrappedFilter


class RequestAction(Enum):
    """What is to become of a request."""

    #: It is fetched, and stands for its page from now on, as no other one does.
    NEW = auto()
    #: It is fetched although another one stands for its page, or the same URL does.
    FETCH = auto()
    #: It is fetched, since redirects of the URL that stands for its page have led to it.
    REDIRECTED = auto()
    #: It is fetched, but would be filtered in active mode.
    SHADOW = auto()
    #: It is fetched to see whether the rules are right that would filter it.
    SPOT_CHECK = auto()
    #: It is filtered.
    FILTER = auto()
    #: It is filtered as an earlier request for its URL was.
    FILTER_AGAIN = auto()


class RequestVerdict(NamedTuple):
    """A decision, with what it rests on where the request is filtered or would be."""

    action: RequestAction
    #: The URL that it is taken for; "" if that is not known.
    page: str = ""
    #: Ids of the rules that make it a duplicate of that.
    rules: tuple[str, ...] = ()


_NEW, _FETCH, _REDIRECTED, _AGAIN = map(
    RequestVerdict, (RequestAction.NEW, RequestAction.FETCH, RequestAction.REDIRECTED, RequestAction.FILTER_AGAIN)
)


class SpotChecker(Protocol):
    """What the decision and its consequences know of spot checks."""

    def takes(self, request: "Request", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> bool:
        """Whether a request that *rules* would filter is fetched as a spot check; *other* is what it is taken for."""

    def note_filtered(self, filtered: "Waiting", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> None:
        """Note a request that *rules* have filtered, since it is taken for *other*."""

    def was_scheduled(self, request: "Request") -> bool:
        """Whether *request* itself was scheduled as a spot check."""

    def is_check(self, request: "Request") -> bool:
        """Whether *request*, or one whose redirects have led to it, is a spot check that is under way."""

    def note_ended(self, request: "Request") -> None:
        """Note that the redirects of a spot check lead to a page that is fetched already."""


@attrs.define(eq=False, repr=False, kw_only=True)
class RequestDecision:
    """Decides on requests, under the rules in use and by what is fetched or on its way."""

    _identities: "Identities"
    _seen: "Seen"
    _depths: "Depths"
    _claims: "SlotClaims"
    _unwritten: "WriteBuffer"
    _spot_checks: SpotChecker
    #: Set by the dupe filter.
    wrapped: "WrappedFilter | None" = attrs.field(default=None, init=False)

    def decide(self, request: "Request", identity: "UrlIdentity", *, queued: bool = False) -> RequestVerdict:
        """Return the verdict on *request*, *queued* if it has passed the dupe filter already."""
        slot = identity.slot
        if not queued and self._is_filtered_for_another_callback(identity):
            return _AGAIN
        if slot not in self._seen:
            return _NEW
        if not queued and (identity.passed == slot or self._spot_checks.was_scheduled(request)):
            return _FETCH  # the wrapped filter lets a URL pass again: that is its business
        if "redirect_urls" in request.meta and self._claims.is_own_redirect(request, slot):
            return _REDIRECTED
        again = identity.discarded == slot and not queued
        page = ""
        if not again or self._depths.limited:
            page = self._seen.url(slot)
            if page == request.url or (self._depths.limited and self._depths.leads_further(request, page)):
                return _FETCH
            if not queued and self._seen.is_another(request.url):
                return _FETCH
        # Scrapy fetches a start request again, and what it shows may have changed, by a log-in for instance.
        if request.dont_filter or (START in request.meta and is_start(request)):
            return _FETCH
        other = self._identities.of_url(page) if page else None
        if identity.mode is not Mode.ACTIVE:
            return (
                _FETCH if other is None or identity.is_same_url(other) else RequestVerdict(RequestAction.SHADOW, page)
            )
        if again:
            return _AGAIN if self._unwritten.accepts() else _FETCH
        if self._is_left_alone(request, identity, other, queued=queued) or not self._unwritten.accepts():
            return _FETCH
        rules = identity.filtering_rules(other)
        taken = self._spot_checks.takes(request, identity, page, rules)
        return RequestVerdict(RequestAction.SPOT_CHECK if taken else RequestAction.FILTER, page, rules)

    def _is_filtered_for_another_callback(self, identity: "UrlIdentity") -> bool:
        """Whether the URL was filtered with another callback: Scrapy's filter would let that one pass, and no further one.

        Should the rule be wrong, it is that one which is fetched after all.
        """
        if not identity.known or identity.discarded in (-1, identity.slot):
            return False
        return self.wrapped is not None and self.wrapped.ignores_callbacks

    def _is_left_alone(
        self, request: "Request", identity: "UrlIdentity", page: "UrlIdentity | None", *, queued: bool
    ) -> bool:
        """Whether another one than a rule decides about a request that has the key of *page*."""
        if queued:
            return self._spot_checks.is_check(request)
        if self.wrapped is not None and self.wrapped.has_passed(request):
            return True  # it is fetched, or the gate has filtered it
        return page is not None and identity.is_same_url(page)
