"""A worker of a fleet: follows the others, tells them what it does, and knows when the job is done."""

import json
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import attrs
from redis.exceptions import RedisError
from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from ..support.compatibility import CallLaterResult, call_later, run_in_thread
from ..support.cooperative import in_turns
from ..support.events import Event
from ..support.request_meta import RESCHEDULED
from .members import BUSY, IDLE, Members
from .shared_log import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities
    from ..seen.journal_lines import JournalPage
    from ..seen.seen import Waiting
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from .shared_seen import SharedSeen

#: Seconds between two looks at what the others do, if no claim is made meanwhile.
_TICK: Final = 0.5


@attrs.define(eq=False, repr=False, kw_only=True)
class Fleet:
    """This worker among the others."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _store: "CrawlStore"
    _identities: "Identities"
    _seen: "SharedSeen"
    members: Members = attrs.field(init=False)
    #: Another worker has fetched the page of a slot.
    slot_fetched: Event[[int]] = attrs.field(init=False)
    #: A filtered request is next, as the page of another worker that stood for it has failed.
    request_released: "Event[[Waiting]]" = attrs.field(init=False)
    #: Another worker has told something.
    told: Event[[dict[str, Any]]] = attrs.field(init=False)
    #: This worker is about to fetch a spot check, which another one may have chosen.
    check_popped: "Event[[Request]]" = attrs.field(init=False)
    #: Other rules count.
    rules_changed: Event[[]] = attrs.field(init=False)
    #: What is left to do is this worker's from now on: the ledger may hold what is needed.
    leadership_gained: Event[[]] = attrs.field(init=False)
    _led: bool = attrs.field(default=False, init=False)
    _timer: CallLaterResult | None = attrs.field(default=None, init=False)
    _at_work: bool = attrs.field(default=False, init=False)
    #: When this worker was last at work, in seconds of the monotonic clock, and how long it waits for more after that.
    _busy_at: float = attrs.field(factory=monotonic, init=False)
    _wait: float = attrs.field(default=0.0, init=False)
    #: The last entry of the log when all were seen to be idle.
    _idle_since: str | None = attrs.field(default=None, init=False)
    _is_quiet: bool = attrs.field(default=False, init=False)
    #: Pages that were taken and are on their way nowhere, by slot; and all that were requested anew, each once.
    _lost: "dict[int, JournalPage]" = attrs.field(factory=dict, init=False)
    _recovered: set[str] = attrs.field(factory=set, init=False)
    #: The last entry of the log when it was looked for such pages.
    _searched: str = attrs.field(default="", init=False)
    _recovering: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.members = Members(self._seen.log, self._settings.fleet)
        self.slot_fetched, self.request_released = Event(self._faults), Event(self._faults)
        self.told, self.check_popped = Event(self._faults), Event(self._faults)
        self.rules_changed, self.leadership_gained = Event(self._faults), Event(self._faults)

    def opened(self) -> None:
        """Take part from now on, as the spider is open."""
        scheduler = self._status.slot.scheduler
        # It would wait in a blocking call, so that nothing else goes on: the spider waits for as long as it is idle.
        self._wait = float(getattr(scheduler, "idle_before_close", 0) or 0)
        if self._wait:
            scheduler.idle_before_close = 0
        self.members.open()
        self._crawler.signals.connect(self._note_busy, signals.request_reached_downloader)
        self._timer = call_later(_TICK, self._tick)
        self._look_who_leads()

    def _note_busy(self) -> None:
        self._busy_at = monotonic()
        if self.members.state != BUSY:
            self._is_quiet, self._idle_since = False, None
            self.members.become(BUSY)

    @property
    def leads(self) -> bool:
        """Whether this worker learns for all, and does what is left to do when all are idle."""
        return self.members.leads

    # Following the others

    def _tick(self) -> None:
        deferred_from_coro(self._follow()).addBoth(lambda _: self._plan())

    def _plan(self) -> None:
        if self._timer is not None and self._status.is_open and not self._status.is_closing:
            self._timer = call_later(_TICK, self._tick)

    async def _follow(self) -> None:
        try:
            await self._exchange()
            self.tell_changes()
            self._look_who_leads()
            if self._seen.version != self._seen.newest and not self._seen.adrift:
                self.rules_changed.send()
            if self.leads and not self._seen.adrift:
                while await run_in_thread(self._seen.log.pack):
                    pass
            self._look_whether_idle()
        except (RedisError, OSError):
            self._faults.count("fleet")
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "What the other workers do could not be followed")

    async def _exchange(self) -> None:
        seen = self._seen
        if seen.is_lost:
            digest = self._identities.digest()
            joined = await run_in_thread(seen.log.join, seen.job, digest)
            entries = await run_in_thread(lambda: list(seen.log.packed(NOTHING)))
            await seen.begin_anew(in_turns(entries))
            if joined.digest != digest:
                seen.version = 0  # they are taken over
            self._stats.inc_value("dedup/fleet/lost")
        elif seen.lags:
            seen.catch_up(await run_in_thread(lambda: list(seen.log.packed(seen.last))))
        seen.exchange()

    def tell_changes(self) -> None:
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
        if self.leads and not self._led:
            self._stats.set_value("dedup/fleet/led", 1)
            self.leadership_gained.send()
        self._led = self.leads

    # When all are idle

    def _look_whether_idle(self) -> None:
        if self.members.state == BUSY or not self.members.look():
            return
        if not self.members.are_idle:
            self._is_quiet, self._idle_since = False, None
        elif (not self.members.others and not self.members.dead) or self._idle_since == self._seen.last:
            self._is_quiet = True
        else:
            self._idle_since = self._seen.last
        if self._status.is_open:
            self._status.slot.nextcall.schedule()

    def before_idle(self) -> bool:
        """Tell the others that this worker is about to run idle; return whether it still has to see to something."""
        if self._at_work or self._recovering:
            return True
        if self.members.state == BUSY:
            self._at_work = True
            deferred_from_coro(self._become_idle()).addErrback(lambda _: None)
            return True
        if self.leads and self._is_quiet and not self._seen.adrift and self._may_be_lost():
            self._recovering = True
            deferred_from_coro(self._recover()).addErrback(lambda _: None)
            return True
        return False

    def _may_be_lost(self) -> bool:
        if self.members.dead:
            return True
        if self._searched == self._seen.last:
            return False
        self._searched = self._seen.last
        return bool(self._seen.lost_pages())

    async def _become_idle(self) -> None:
        try:
            await run_in_thread(self._store.flush)  # what it has filtered is to be found by the leader
            self._seen.exchange()
            if self._status.engine.spider_is_idle():
                self.members.become(IDLE)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "The other workers could not be told that this one is idle")
        finally:
            self._at_work = False
            self._look_whether_idle()

    def for_all(self, work: "Callable[[], bool]") -> "Callable[[], bool]":
        """Return *work* as it is done before a spider runs idle: for all workers, by the one that leads."""
        return lambda: self.leads and self._is_quiet and self.members.finished != self._seen.last and work()

    def stays_open(self) -> bool:
        """Whether the spider is to stay open although it is idle: the others are not, or may hand something over."""
        if self._seen.is_lost or not self.members.leader:  # Redis does not answer: the crawl ends as it would
            return False
        if monotonic() < self._busy_at + self._wait:
            return True
        if not self.leads:
            return not self.members.leader_is_done
        if not self._is_quiet:
            return True
        self.members.finish(self._seen.last)
        return False

    # What is taken and never comes: a worker has died, or has not heard the answer to a pop

    async def _recover(self) -> None:
        """Free what is taken and has not come, as nothing is on its way."""
        try:
            last = self._seen.last
            if (
                not self._seen.exchange()
                or self._seen.last != last
                or not self.members.look()
                or not self.members.are_idle
            ):
                self._searched = ""
                return  # somebody goes on
            lost = self._seen.lost_pages()
            async for page in in_turns(self._seen.pages()):
                if page.slot in lost:
                    self._lost[page.slot] = page
            for slot in lost:
                if (filtered := self._seen.release(slot)) is not None:
                    self.request_released.send(filtered)
            self._seen.exchange()
            if self.members.dead:
                self._stats.inc_value("dedup/fleet/dead", len(self.members.dead))
                self.members.bury()
            self.leadership_gained.send()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "What is on its way nowhere could not be found")
        finally:
            self._recovering = False
            self._look_whether_idle()

    def recover_lost(self) -> bool:
        """Fetch the pages that were lost on their way, where nothing else is fetched in their place."""
        lost, self._lost = self._lost, {}
        requests = [
            request
            for slot, page in lost.items()
            if slot not in self._seen
            and page.url not in self._recovered
            and (request := self._request(page)) is not None
        ]
        for request in requests:
            self._recovered.add(request.url)
            request.meta[RESCHEDULED] = True, True
            self._stats.inc_value("dedup/fleet/recovered")
            self._status.engine.crawl(request)
        return bool(requests)

    def _request(self, page: "JournalPage") -> "Request | None":
        from scrapy import Request

        names = self._identities.names
        if not page.plain or page.context or not names.has(page.callback):
            return None
        return Request(page.url, callback=names.method(page.callback))

    # The end

    def clear(self) -> None:
        """Forget the job, as the scheduler forgets its queue. Raises RedisError."""
        self._seen.log.clear()

    async def close(self) -> None:
        """Leave the job, as the spider has closed."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        await run_in_thread(self._store.flush)  # the last one learns from what all have recorded
        left = await run_in_thread(self.members.close)
        self._seen.others_go_on = left > 0
