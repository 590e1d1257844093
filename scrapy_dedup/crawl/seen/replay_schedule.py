"""When filtered requests are scheduled after all: as their page fails, as a rule is refuted, before the spider runs idle."""

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from scrapy.utils.defer import deferred_from_coro

from ...store.rows import DiscardState
from ..support.compatibility import run_in_thread

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from ..support.idle_hook import BeforeIdle
    from .ledger import Ledger
    from .redirect_targets import RedirectTargets
    from .replay import LedgerReplay
    from .rescheduling import Rescheduler
    from .seen import Seen, Waiting
    from .write_buffer import WriteBuffer

#: Reading the ledger may take this part of the time while a crawl is not idle: 1 / (1 + _REST).
_REST = 4


class IdleTask(Protocol):
    """Work of another room before the spider runs idle."""

    @property
    def is_idle_work_due(self) -> bool:
        """Whether there is something to do."""

    async def before_idle(self) -> None:
        """Do it."""


class ReplaySchedule:
    """Schedules what waits in memory at once, and looks into the ledger for the rest, one look at a time."""

    def __init__(
        self,
        *,
        settings: "DedupSettings",
        status: "CrawlStatus",
        stats: "StatsCollector",
        faults: "Faults",
        store: "CrawlStore",
        seen: "Seen",
        ledger: "Ledger",
        unwritten: "WriteBuffer",
        rescheduler: "Rescheduler",
        redirect_targets: "RedirectTargets",
        ledger_replay: "LedgerReplay",
        before_idle: "BeforeIdle",
    ) -> None:
        self._compares = settings.compares
        self._status = status
        self._stats = stats
        self._faults = faults
        self._store = store
        self._seen = seen
        self._ledger = ledger
        self._unwritten = unwritten
        self._rescheduler = rescheduler
        self._targets = redirect_targets
        self._replay = ledger_replay
        self._wake = before_idle.wake
        self._at_work = False
        self._again = False
        self._rest_until = 0.0
        #: What is done before the ledger is read when the spider is about to run idle.
        self.idle_work: list[IdleTask] = []

    def schedule(self, filtered: "Waiting") -> None:
        """Schedule a filtered request after all."""
        if not self._rescheduler.schedule(filtered.request, filtered.row):
            return
        self._stats.inc_value("dedup/released/scheduled")
        if filtered.row is not None:
            self._ledger.scheduled(filtered.row, DiscardState.RELEASED)

    def release(self, slots: Collection[int]) -> None:
        """Free slots that redirects have taken for a page that is none of theirs, as if their URLs had failed."""
        if not slots:
            return
        seen = self._seen
        for slot in slots:
            if slot in seen:
                if (filtered := seen.release(slot)) is not None:
                    self.schedule(filtered)
                seen.lacking = True  # of a page that had come nobody waits here
        self.look_for_others()

    def look_for_others(self) -> None:
        """Look into the ledger for what was filtered in favour of what has failed, if it may be there, and not too often."""
        if self._seen.lacking and not self._at_work and time.monotonic() >= self._rest_until:
            self._begin()

    def before_idle(self) -> bool:
        """Schedule what is left in the place of failed requests, as nothing is on its way; return whether that goes on."""
        if self._at_work:
            return True
        freed = self._seen.release_waited_for()
        for filtered in freed:
            self._stats.inc_value("dedup/released")
            self.schedule(filtered)
        if not self._ledger.written:
            self._targets.forget_pending()  # nothing was filtered in their favour
        waits = self._unwritten or self._targets or self._rescheduler.is_due or self._seen.lacking
        if not (waits or any(task.is_idle_work_due for task in self.idle_work)):
            return False
        self._begin(idle=True, alone=not freed)
        return True

    def opened(self) -> None:
        """Schedule what the crawl before owes to this one."""
        if self._compares:
            self._begin(owed=True)

    def retract(self) -> None:
        """Schedule what rules have filtered that are suspended now."""
        if self._status.is_closing:  # they are owed to the next crawl
            return
        self._rescheduler.is_due = True
        if self._at_work:
            self._again = True
        else:
            self._begin()

    def _begin(self, *, owed: bool = False, idle: bool = False, alone: bool = False) -> None:
        self._at_work = True
        self._again = False
        deferred_from_coro(self._look_into_ledger(owed=owed, idle=idle, alone=alone)).addErrback(lambda _: None)

    async def _look_into_ledger(self, *, owed: bool, idle: bool, alone: bool) -> None:
        """Wait until the ledger is written, and schedule what is needed of it; *alone*: nothing is on its way."""
        started = time.monotonic()
        try:
            if owed:
                await self._replay.replay_owed()
                return
            if idle:
                for task in self.idle_work:
                    await task.before_idle()
            if (self._unwritten or self._targets) and not await run_in_thread(self._store.flush):
                self._unwritten.fetch_all()
            self.release(self._targets.compare_contents())
            if idle:
                self._targets.forget_pending()
            if self._rescheduler.is_due or self._seen.lacking:
                # What was filtered in earlier runs, or did not find room in memory, is in the ledger.
                self._rescheduler.is_due = self._seen.lacking = False
                await self._replay.replay(idle=alone)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            if self._unwritten.fails():  # which the thread that writes has told
                self._faults.count("ledger")
            else:
                self._faults.report("ledger", "Discarded requests could not be read from the ledger")
        finally:
            self._at_work = False
            now = time.monotonic()
            # Where much fails, one look finds the substitutes of many.
            self._rest_until = now + _REST * (now - started)
            if self._again:  # a rule was suspended meanwhile
                self._begin()
            self._wake()
