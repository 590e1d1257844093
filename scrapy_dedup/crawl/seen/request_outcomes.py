"""Outcomes of the requests that stand for a page: fetched, failed, or redirected to a page that is fetched already."""

import logging
from typing import TYPE_CHECKING

import attrs

from ..identity.identities import context_of
from ..support.faults import Event

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities
    from ..support.faults import Faults
    from .odd_responses import OddResponses
    from .redirect_targets import RedirectTargets
    from .replay_schedule import ReplaySchedule
    from .seen import Seen
    from .slot_claims import SlotClaims

logger = logging.getLogger(__name__)


@attrs.define(eq=False, repr=False, kw_only=True)
class RequestOutcomes:
    """Follows the requests of the scheduler to their end."""

    _stats: "StatsCollector"
    _faults: "Faults"
    _identities: "Identities"
    _seen: "Seen"
    _claims: "SlotClaims"
    _redirect_targets: "RedirectTargets"
    _replay_schedule: "ReplaySchedule"
    _odd_responses: "OddResponses"
    #: The page of a slot is fetched.
    slot_fetched: Event[[int]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.slot_fetched = Event(self._faults)

    def fetched(self, request: "Request", *, links: bool = False) -> None:
        """Note that the page of *request*, to which redirects may have led, has come; *links* as in :meth:`.Seen.fetched`."""
        seen = self._seen
        chain = self._claims.chain(request)
        for url, slot in chain:
            # Not taken: a start request, for instance, which passes no filter.
            if slot not in seen or self._stands_for_another(slot, chain):
                plain = self._claims.is_plain(request, url, slot)
                callback = self._identities.names.of(request) or ""
                seen.take(slot, url, callback, context_of(request) or "", plain)
            seen.fetched(slot, links=links)
            self.slot_fetched.send(slot)
        self._odd_responses.release()
        if len(chain) > 1:
            *others, (url, slot) = chain
            new = {other for _, other in others if other != slot}
            self._replay_schedule.release(self._redirect_targets.add(slot, new))
            self._redirect_targets.add_url(url, new)
            self._replay_schedule.release(self._redirect_targets.compare_contents())

    def _stands_for_another(self, slot: int, chain: list[tuple[str, int]]) -> bool:
        """Whether a URL stands for a slot that has not come, while one that was let pass under other rules has.

        That one is the page then, and the other need not be fetched any more.
        """
        seen = self._seen
        if not seen.has_moved or seen.is_fetched(slot):
            return False
        other = seen.url(slot)
        if not other or any(url == other for url, _ in chain):
            return False
        seen.note_another(other)
        return True

    def failed(self, request: "Request") -> None:
        """Free the keys for which *request* stands, and schedule what was filtered in its favour."""
        seen = self._seen
        chain = self._claims.chain(request)
        urls = {"", *(url for url, _ in chain)}  # "": it is not known which URL stands for the key
        for _, slot in chain:
            if slot in seen and not seen.is_fetched(slot) and seen.url(slot) in urls:
                logger.debug("Released the key of %(request)s, which failed", {"request": request})
                self._stats.inc_value("dedup/released")
                filtered = seen.release(slot)
                if filtered is not None:
                    self._replay_schedule.schedule(filtered)
                else:
                    self._replay_schedule.look_for_others()

    def ended(self, request: "Request", target: str) -> None:
        """Note that the redirects of *request* lead to a page that is fetched already, or in a circle."""
        chain = self._claims.chain(request, own=False)
        circle = any(url == target for url, _ in chain)
        seen = self._seen
        for url, slot in chain:
            if slot in seen and not seen.is_fetched(slot):
                if not circle:
                    seen.fetched(slot)
                elif seen.url(slot) == url and (filtered := seen.release(slot)) is not None:
                    self._replay_schedule.schedule(filtered)
        page = self._identities.slot_of_url(target, request)
        if page is not None and not circle:
            self._replay_schedule.release(self._redirect_targets.add(page, {slot for _, slot in chain if slot != page}))
