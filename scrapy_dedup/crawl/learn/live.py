"""Learning while the crawl goes on, and when it closes: begun when a site is due, and its rules taken over."""

import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs
from scrapy.utils.asyncio import CallLaterResult, call_later, run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from ...files.errors import RuleFileError
from ..observe.site_masks import read_masks
from ..support.faults import AwaitedEvent
from .schedule import LearningSchedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..observe.repeats import Repeats
    from ..observe.site_masks import SiteMasks
    from ..seen.replay_schedule import ReplaySchedule
    from ..seen.rescheduling import Rescheduler
    from ..settings.dedup_settings import DedupSettings
    from ..settings.rule_directories import RuleDirectories
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from ..support.idle_hook import BeforeIdle
    from .learning_runs import LearningRuns
    from .rule_reload import RuleReload

#: Seconds after a learning that failed, twice as many after the next one, and so on.
_BACK_OFF: Final = 10.0
_LONGEST_BACK_OFF: Final = 600.0


@attrs.define(eq=False, repr=False, kw_only=True)
class Learning:
    """The learning of one crawl."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _faults: "Faults"
    _directories: "RuleDirectories"
    _masks: "SiteMasks"
    _repeats: "Repeats"
    _rescheduler: "Rescheduler"
    _replay_schedule: "ReplaySchedule"
    _rule_reload: "RuleReload"
    _learning_runs: "LearningRuns"
    _before_idle: "BeforeIdle"
    #: Whether it is this crawl that learns: of a fleet one worker does.
    is_own: "Callable[[], bool]" = attrs.field(default=lambda: True, init=False)
    schedule: LearningSchedule = attrs.field(factory=LearningSchedule, init=False)
    #: Sites are learned, and their rules in use if that is done while the crawl goes on: the sites, and what the
    #: learning process answered.
    sites_learned: AwaitedEvent[[Collection[str], Mapping[str, Any]]] = attrs.field(factory=AwaitedEvent, init=False)
    _timer: CallLaterResult | None = attrs.field(default=None, init=False)
    _running: list[Deferred[None]] | None = attrs.field(default=None, init=False)
    #: What waits for the learning after that.
    _next: list[Deferred[None]] = attrs.field(factory=list, init=False)
    #: Whether a rule was refuted since it began, and whether one had been when it began.
    _refuted: bool = attrs.field(default=False, init=False)
    _replaces: bool = attrs.field(default=False, init=False)
    #: Whether it was asked since what to fetch again, and whether it had been when it began.
    _asked: bool = attrs.field(default=False, init=False)
    _answers: bool = attrs.field(default=False, init=False)
    #: Sites that were learned as the spider was about to run idle, and what was seen of each then.
    _settled: dict[str, int] = attrs.field(factory=dict, init=False)
    #: Until when no learning begins, since the last one has failed.
    _rest_until: float = attrs.field(default=0.0, init=False)

    # While the crawl goes on

    def count(self, site: str, *, may_repeat: bool = False) -> bool:
        """Count a response of *site*, if it is learned; return whether it should be now."""
        return self._settings.learns(site) and self.schedule.add(site, may_repeat=may_repeat)

    def note_page(self, site: str, url: str, *, is_own: bool = True) -> None:
        """Note that a page of *site* has come that may teach something; what those of other workers show is not known here."""
        for repeated in self._repeats.found():
            if self._settings.learns(repeated):
                self.schedule.repeat(repeated)
        due = self.count(site, may_repeat=not is_own or site in self._repeats.changing)
        if not self._settings.learns_live or self._status.is_closing or not self.is_own():
            return
        if due:
            self._begin_if_idle()
        elif not self._learning_runs.has_learner and self.schedule.is_near(site):
            # To start takes longer than to learn a small site.
            deferred_from_coro(run_in_thread(self._learning_runs.learner.start)).addErrback(lambda _: None)

    @property
    def _differing(self) -> "frozenset[str]":
        """The sites on which texts of one page differ."""
        return self._masks.sites | self._repeats.changing

    async def replace_suspended(self, site: str) -> None:
        """Use the rules of *site* without those that are suspended, and learn others in their place.

        What the others filter still is not to be fetched: what the suspended ones have filtered is when they are there.
        """
        try:
            await self._rule_reload.reload([site], from_files=self.is_own())
        except (RuleFileError, OSError):
            await self._rule_reload.reload([site], from_files=False)
        self._rule_reload.forget_suspended_aliases()
        if not self._settings.learns_live or self._status.is_closing:
            self._replay_schedule.retract()
            return
        self.note_refuted(site)

    def note_refuted(self, site: str) -> None:
        """Note that a rule of *site* is refuted: others are to be learned in its place."""
        self.schedule.soon(site, compare=site in self._masks.sites)  # what it has merged has taught the mask
        self._refuted = True
        self._rescheduler.is_due = True

    def refetched(self, site: str) -> None:
        """Note that pages of *site* were fetched again to see whether their texts differ."""
        if self._settings.learns_live and site in self._differing:
            self._ask((site,))

    async def ask(self, sites: Collection[str]) -> set[str]:
        """Learn *sites* for what to fetch again, as the spider is about to run idle; return those that are worth it."""
        worth = await self._learning_runs.worth(self.schedule, sites)
        if worth and not self._status.is_closing:
            self._ask(worth)
        return worth

    def at_once(self, site: str, *, duplicates: bool = False) -> "Deferred[None] | None":
        """Learn what has come of *site*, unless the last learning has failed just now; return what is called when that has ended.

        None if there is nothing to wait for: nothing has come since it was learned, or no *duplicates*, or it cannot be.
        """
        if not self._settings.learns_live or self._status.is_closing or not self.is_own() or self._rests:
            return None
        is_news = self.schedule.is_near(site) if duplicates else self.schedule.knows_more(site)
        if not is_news and self._running is None:
            return None
        ended: Deferred[None] = Deferred()
        if is_news:
            self.schedule.soon(site, compare=site in self._differing)
        if self._running is not None:  # what has come since it began is learned next
            (self._next if is_news else self._running).append(ended)
            return ended
        if self._timer is not None:
            self._timer.cancel()
        self._begin()
        if self._running is None:
            return None
        self._running.append(ended)
        return ended

    def _ask(self, sites: Collection[str]) -> None:
        for site in sites:
            self.schedule.soon(site, compare=True)
        self._asked = True
        self._begin_if_idle()

    def is_awaited(self) -> bool:
        """Return whether the spider is not to run idle while rules are learned; begin if need be.

        They are to replace refuted ones, or to say what is to be fetched again.
        """
        if not self._asked and (unsettled := self._unsettled()):
            self._settled.update(unsettled)
            self._ask(unsettled)
        if self._refuted or self._asked:
            self._begin_if_idle()
        return self._running is not None and (self._replaces or self._refuted or self._answers or self._asked)

    def _unsettled(self) -> dict[str, int]:
        """Return the sites, with what was seen of them, whose rules are to be looked at before the spider runs idle.

        What a rule has filtered that is withdrawn only as the crawl closes is not fetched any more.
        """
        if not self._settings.learns_live or self._status.is_closing or not self.is_own():
            return {}
        return {
            site: seen
            for site, seen in self.schedule.unlearned().items()
            if self._settled.get(site) != seen and self._rule_reload.filters(site)
        }

    def _begin_if_idle(self) -> None:
        if self._running is None and self._timer is None and not self._status.is_closing and self.is_own():
            self._plan()

    @property
    def _rests(self) -> bool:
        return self._rest_until > time.monotonic()

    def _plan(self) -> None:
        if self._rests:
            self._timer = call_later(self._rest_until - time.monotonic(), self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        self._timer = None
        if self._status.is_closing:
            return
        self._running = []
        self._replaces, self._refuted = self._refuted, False
        self._answers, self._asked = self._asked, False
        deferred_from_coro(self._go_on()).addErrback(lambda _: None)

    async def _go_on(self) -> None:
        try:
            await self._learn_due()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on, and nothing waits for this any more)
            self._rest_until = time.monotonic() + _LONGEST_BACK_OFF
            self._faults.report("learning", "Rules could not be learned")
        finally:
            self._ended()

    async def _learn_due(self) -> None:
        """Learn the sites that should be."""
        sites = self.schedule.due
        before, compared = self.schedule.begun(sites, self._differing)
        try:
            problem = await self._learn_and_use(sites, compared)
        except (RuleFileError, OSError, ValueError) as error:  # ValueError: the journal is closed
            problem = "" if self._status.is_closing else f"{type(error).__name__}: {error}"
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("learning", "New rules could not be used")
            problem = "see above"
        if problem is not None:
            self.schedule.failed(before, due=sites)
            self._failed(problem)
        else:
            self._learning_runs.counts.succeeded()

    def _ended(self) -> None:
        """Go on with what has waited for a learning."""
        waiting, self._running = self._running or [], None
        for each in waiting:
            each.callback(None)
        if self._answers:
            self._answers = False
            self._before_idle.wake()
        if self._replaces:
            self._replaces = False
            self._replay_schedule.retract()
        awaited, self._next = self._next, []
        if awaited and not self._status.is_closing:
            self._begin()
        elif self.schedule.due and not self._status.is_closing:
            self._plan()
        if self._running is not None:
            self._running += awaited
        else:
            for each in awaited:
                each.callback(None)

    async def _learn_and_use(self, sites: Collection[str], compared: Collection[str]) -> str | None:
        """Learn *sites*, and use what was found; return what went wrong, None if nothing did."""
        outcome = await self._learning_runs.learn(sites, compared)
        if outcome.summary is None:
            return "" if outcome.ended or self._status.is_closing else outcome.problem
        if self._settings.learns_live:
            await self._rule_reload.reload(sites)
            self._masks.use(await run_in_thread(read_masks, self._directories.all, self._faults))
        await self.sites_learned.send(sites, outcome.summary)
        return None

    def _failed(self, problem: str) -> None:
        """Wait before the next time; "" is nothing to be told."""
        self._rest_until = time.monotonic() + min(_BACK_OFF * 2**self._learning_runs.counts.failures, _LONGEST_BACK_OFF)
        if problem:
            self._learning_runs.counts.failed(problem)

    # When it closes

    def cease(self) -> None:
        """Bring no more rules into the crawl, which is about to close."""
        self._status.is_closing = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def finish(self, *, last: bool) -> None:
        """End what goes on; with *last*, learn what is left to learn. Nothing is left of the process then."""
        self.cease()
        if self._running is not None:
            ended: Deferred[None] = Deferred()
            self._running.append(ended)  # before anything is awaited: it may end meanwhile
            if not last:
                await run_in_thread(self._learning_runs.learner.stop)
            await maybe_deferred_to_future(ended)
        if last:
            await self._learning_runs.learn_last(self.schedule)
        await self._learning_runs.stop()
        await run_in_thread(self._directories.close)
