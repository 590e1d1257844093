"""A worker of a fleet follows the others: what they have done is taken over and told to the services of this crawl."""

import json
from typing import TYPE_CHECKING, Any, Final

import attrs
from redis.exceptions import RedisError
from scrapy.utils.asyncio import CallLaterResult, call_later, run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from ..support.cooperative import in_turns
from ..support.faults import Event
from .shared_log import NOTHING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred

    from ..identity.identities import Identities
    from ..seen.seen import Waiting
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from .idle import FleetIdleness
    from .members import Members
    from .recovery import LostPages
    from .shared_seen import SharedSeen

#: Seconds between two looks at what the others do, if no claim is made meanwhile.
_TICK: Final = 0.5


@attrs.define(eq=False, repr=False, kw_only=True)
class Fleet:
    """Follows the other workers of the job."""

    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _identities: "Identities"
    _seen: "SharedSeen"
    _members: "Members"
    _idleness: "FleetIdleness"
    _lost_pages: "LostPages"
    #: The job is joined, as Redis answers again or holds another log.
    joined: Event[[]] = attrs.field(init=False)
    #: Another worker has fetched the page of a slot.
    slot_fetched: Event[[int]] = attrs.field(init=False)
    #: A filtered request is next, as the page of another worker that stood for it has failed.
    request_released: "Event[[Waiting]]" = attrs.field(init=False)
    #: Another worker has told something.
    told: Event[[dict[str, Any]]] = attrs.field(init=False)
    #: This worker is about to fetch a spot check, which another one may have chosen.
    check_popped: "Event[[Request]]" = attrs.field(init=False)
    #: This worker is about to fetch a request of the queue, which another one may have made.
    request_sent: "Event[[Request]]" = attrs.field(init=False)
    #: Other rules count.
    rules_changed: Event[[]] = attrs.field(init=False)
    #: What is left to do is this worker's from now on: the ledger may hold what is needed.
    leadership_gained: Event[[]] = attrs.field(init=False)
    #: What goes on: following the others, and packing the log.
    _following: "Deferred[None] | None" = attrs.field(default=None, init=False)
    _packing: "Deferred[None] | None" = attrs.field(default=None, init=False)
    _led: bool = attrs.field(default=False, init=False)
    _timer: CallLaterResult | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.joined, self.request_sent = Event(self._faults), Event(self._faults)
        self.slot_fetched, self.request_released = Event(self._faults), Event(self._faults)
        self.told, self.check_popped = Event(self._faults), Event(self._faults)
        self.rules_changed, self.leadership_gained = Event(self._faults), Event(self._faults)
        # At once: what goes out meanwhile goes out by the rules of before.
        self._seen.newer_rules = self.rules_changed.send

    def open(self) -> None:
        """Follow the others from now on, as the spider is open."""
        self._timer = call_later(_TICK, self._tick)
        self._look_who_leads()

    def _tick(self) -> None:
        self._following = deferred_from_coro(self._follow())
        self._following.addBoth(lambda _: self._plan())

    def _plan(self) -> None:
        if self._timer is not None and self._status.is_open and not self._status.is_closing:
            self._timer = call_later(_TICK, self._tick)

    async def _follow(self) -> None:
        try:
            await self._exchange()
            self._tell_changes()
            self._look_who_leads()
            if self._seen.version != self._seen.newest and not self._seen.adrift:
                self.rules_changed.send()
            if self._members.leads and not self._seen.adrift:
                await self._lost_pages.fetch_of_dead()
                self._begin_packing()
            self._idleness.look()
        except (RedisError, OSError):
            self._faults.count("fleet")
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "What the other workers do could not be followed")

    def _begin_packing(self) -> None:
        if self._packing is None or self._packing.called:
            self._packing = deferred_from_coro(self._pack())

    async def _pack(self) -> None:
        """Pack the older entries of the log. Where there are many it takes long, and the others are followed meanwhile."""
        try:
            while self._timer is not None and await run_in_thread(self._seen.log.pack):
                pass
        except (RedisError, OSError):
            self._faults.count("fleet")
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "The log that the workers share could not be packed")

    async def _exchange(self) -> None:
        seen = self._seen
        if seen.is_lost:
            digest = self._identities.digest()
            joined = await run_in_thread(seen.join, digest)
            entries = await run_in_thread(lambda: list(seen.log.packed(NOTHING)))
            if self._identities.digest() != digest:
                return  # other rules are in use by now: with these the next time
            await seen.begin_anew(joined, digest, in_turns(entries))
            self.joined.send()
        elif seen.lags:
            seen.catch_up(await run_in_thread(lambda: list(seen.log.packed(seen.last))))
        seen.exchange()

    def _tell_changes(self) -> None:
        """Tell what the others have done."""
        changes, self._seen.changes = self._seen.changes, []
        for change in changes:
            if change.fetched:
                self.slot_fetched.send(change.slot)
            if change.said:
                self.told.send(json.loads(change.said))
            if change.next is not None:
                self.request_released.send(change.next)

    def _look_who_leads(self) -> None:
        leads = self._members.leads
        if leads and not self._led:
            self._stats.set_value("dedup/fleet/led", 1)
            self.leadership_gained.send()
        self._led = leads

    def clear(self) -> None:
        """Forget the job, as the scheduler forgets its queue. Raises RedisError."""
        self._seen.log.clear()

    async def close(self) -> None:
        """Follow the others no longer, as the spider has closed; what goes on ends first, as it needs the connections."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        for work in (self._following, self._packing):
            if work is not None:
                await maybe_deferred_to_future(work)
