"""When all workers of a fleet are idle: the one that leads does what is left, and all of them close."""

from time import monotonic
from typing import TYPE_CHECKING

import attrs
from scrapy import signals
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from .members import BUSY, DONE, IDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from scrapy.crawler import Crawler

    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from .members import Members
    from .recovery import LostPages
    from .shared_seen import SharedSeen


@attrs.define(eq=False, repr=False, kw_only=True)
class FleetIdleness:
    """Tells the others whether this worker is idle, and keeps its spider open as long as they are not."""

    _crawler: "Crawler"
    _status: "CrawlStatus"
    _faults: "Faults"
    _store: "CrawlStore"
    _seen: "SharedSeen"
    _members: "Members"
    _lost_pages: "LostPages"
    #: When this worker was last at work, in seconds of the monotonic clock, and how long it waits for more after that.
    _busy_at: float = attrs.field(factory=monotonic, init=False)
    _wait: float = attrs.field(default=0.0, init=False)
    #: The last entry of the log when all were seen to be idle.
    _idle_since: str | None = attrs.field(default=None, init=False)
    #: Whether all are idle, and the log has been still since they were seen to be.
    _is_quiet: bool = attrs.field(default=False, init=False)
    #: Whether something goes on that was begun as the spider was about to run idle.
    _is_at_work: bool = attrs.field(default=False, init=False)

    def open(self) -> None:
        """Take part from now on, as the spider is open."""
        scheduler = self._status.slot.scheduler
        # It would wait in a blocking call, so that nothing else goes on: the spider waits for as long as it is idle.
        self._wait = float(getattr(scheduler, "idle_before_close", 0) or 0)
        if self._wait:
            scheduler.idle_before_close = 0
        self._crawler.signals.connect(self._note_busy, signals.request_reached_downloader)

    def _note_busy(self) -> None:
        self._busy_at = monotonic()
        if self._members.state != BUSY:
            self._is_quiet, self._idle_since = False, None
            self._members.become(BUSY)

    def look(self) -> None:
        """Look whether all are idle, if this worker is."""
        members = self._members
        if members.state == BUSY or not members.look():
            return
        if members.state == DONE and members.finished != self._seen.last:
            members.become(IDLE)  # its spider stays open, as it waits for URLs, and others have gone on
        if not members.are_idle:
            self._is_quiet, self._idle_since = False, None
        elif (not members.others and not members.dead) or self._idle_since == self._seen.last:
            self._is_quiet = True
        else:
            self._idle_since = self._seen.last
        if self._status.is_open:
            self._status.slot.nextcall.schedule()

    def before_idle(self) -> bool:
        """Tell the others that this worker is about to run idle; return whether it still has to see to something."""
        if self._is_at_work:
            return True
        if self._members.state == BUSY:
            self._begin(self._become_idle(), "The other workers could not be told that this one is idle")
            return True
        if self._members.leads and self._is_quiet and not self._seen.adrift and self._lost_pages.is_search_due():
            self._begin(self._lost_pages.free(), "What is on its way nowhere could not be found")
            return True
        return False

    def _begin(self, work: "Coroutine[None, None, None]", fault: str) -> None:
        self._is_at_work = True
        deferred_from_coro(self._do(work, fault)).addErrback(lambda _: None)

    async def _do(self, work: "Coroutine[None, None, None]", fault: str) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", fault)
        finally:
            self._is_at_work = False
            self.look()

    async def _become_idle(self) -> None:
        await run_in_thread(self._store.flush)  # what it has filtered is to be found by the leader
        self._seen.exchange()
        if self._status.engine.spider_is_idle():
            self._members.become(IDLE)

    def for_all(self, work: "Callable[[], bool]") -> "Callable[[], bool]":
        """Return *work* as it is done before a spider runs idle: for all workers, by the one that leads."""
        members = self._members
        return lambda: members.leads and self._is_quiet and members.finished != self._seen.last and work()

    def stays_open(self) -> bool:
        """Whether the spider is to stay open although it is idle: the others are not, or may hand something over."""
        if self._seen.is_lost or not self._members.leader:  # Redis does not answer: the crawl ends as it would
            return False
        if monotonic() < self._busy_at + self._wait:
            return True
        if not self._members.leads:
            return not self._members.leader_is_done
        if not self._is_quiet:
            return True
        self._members.finish(self._seen.last)
        return False
