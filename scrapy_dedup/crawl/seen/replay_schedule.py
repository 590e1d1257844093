"""When filtered requests are scheduled after all: as their page fails, as a rule is refuted, before the spider runs idle."""

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

import attrs
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from ...store.rows import DiscardState

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


@attrs.define(eq=False, repr=False, kw_only=True)
class ReplaySchedule:
    """Schedules what waits in memory at once, and looks into the ledger for the rest, one look at a time."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _store: "CrawlStore"
    _seen: "Seen"
    _ledger: "Ledger"
    _unwritten: "WriteBuffer"
    _rescheduler: "Rescheduler"
    _redirect_targets: "RedirectTargets"
    _ledger_replay: "LedgerReplay"
    _before_idle: "BeforeIdle"
    _at_work: bool = attrs.field(default=False, init=False)
    _again: bool = attrs.field(default=False, init=False)
    _rest_until: float = attrs.field(default=0.0, init=False)
    #: What is done before the ledger is read when the spider is about to run idle.
    idle_work: list[IdleTask] = attrs.field(factory=list, init=False)
    #: Those of it that have failed in the last look: what they have left to do keeps no idle spider from its end.
    _failed: set[IdleTask] = attrs.field(factory=set, init=False)

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
            self._redirect_targets.forget_pending()  # nothing was filtered in their favour
        waits = self._unwritten or self._redirect_targets or self._rescheduler.is_due or self._seen.lacking
        failed, self._failed = self._failed, set()
        if not (waits or any(task.is_idle_work_due for task in self.idle_work if task not in failed)):
            return False
        self._begin(idle=True, alone=not freed)
        return True

    def forget_failures(self) -> None:
        """Let what has failed be done when the spider is idle again, as it goes on."""
        self._failed.clear()

    def opened(self) -> None:
        """Schedule what the crawl before owes to this one."""
        if self._settings.compares:
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
                await self._ledger_replay.replay_owed()
                return
            if idle:
                for task in self.idle_work:
                    await self._do(task)
            if (self._unwritten or self._redirect_targets) and not await run_in_thread(self._store.flush):
                self._unwritten.fetch_all()
            self.release(self._redirect_targets.compare_contents())
            if idle:
                self._redirect_targets.forget_pending()
            if self._rescheduler.is_due or self._seen.lacking:
                # What was filtered in earlier runs, or did not find room in memory, is in the ledger.
                self._rescheduler.is_due = self._seen.lacking = False
                await self._ledger_replay.replay(idle=alone)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._report()
        finally:
            self._at_work = False
            now = time.monotonic()
            # Where much fails, one look finds the substitutes of many.
            self._rest_until = now + _REST * (now - started)
            if self._again:  # a rule was suspended meanwhile
                self._begin()
            self._before_idle.wake()

    async def _do(self, task: IdleTask) -> None:
        """Let a task do its work; if it fails, go on with the next."""
        try:
            await task.before_idle()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._failed.add(task)
            self._report()

    def _report(self) -> None:
        """Report the exception that is handled, and fetch what cannot be written."""
        if self._unwritten.fails():  # which the thread that writes has told
            self._faults.count("ledger")
        else:
            self._faults.report("ledger", "Filtered requests could not be read from the ledger")
