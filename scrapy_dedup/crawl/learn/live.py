"""Learning while the crawl goes on, and when it closes: when to do it, in which process, and what comes of it."""

import shutil
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from ...files.errors import RuleFileError
from .. import signals
from ..support.compatibility import CallLaterResult, call_later, run_in_thread
from .learned import Learned
from .learned_directory import learned_directory
from .learner import Learner, Outcome
from .rule_reload import Swapping
from .schedule import Times
from .worth import note_learned, worth_learning

if TYPE_CHECKING:
    from pathlib import Path

    from ..shared import Shared

#: While the crawl goes on, learning takes this part of its time at most.
_SHARE: Final = 1 / 3
#: Seconds that it may take besides: the first rules of a site save the most, and are learned soonest.
_AT_ONCE: Final = 5.0
#: Seconds after a learning that failed, twice as many after the next one, and so on.
_BACK_OFF: Final = 10.0
_LONGEST_BACK_OFF: Final = 600.0


class Learning:
    """The learning of one crawl."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        settings = shared.settings
        self._learned = Learned(shared)
        #: Whether it goes on during the crawl: otherwise rules would not be used before its end.
        self.live = settings.learn == "live" and settings.learns_any
        self.times = Times()
        self.swapping = Swapping(shared)
        #: Where the learned rules are written.
        self.directory: Path = settings.learned_directory
        self._learner: Learner | None = None
        self._timer: CallLaterResult | None = None
        self._running: list[Deferred[None]] | None = None
        #: What waits for the learning after that.
        self._next: list[Deferred[None]] = []
        #: Whether a rule was refuted since it began, and whether one had been when it began.
        self._refuted = False
        self._replaces = False
        #: Whether it was asked since what to fetch again, and whether it had been when it began.
        self._asked = False
        self._answers = False
        #: Site -> its last observation that is learned from where it was asked for it.
        self._last: dict[str, int] = {}
        self._began = time.monotonic()
        self._rest_until = 0.0

    @property
    def learner(self) -> Learner:
        """The process that learns."""
        if self._learner is None:
            self._learner = Learner(self._shared.settings, self.directory)
        return self._learner

    def opened(self) -> None:
        """Tell at once, and not after a long crawl, if what it teaches cannot be saved."""
        self.directory = learned_directory(self._shared, live=self.live)

    # While the crawl goes on

    def count(self, site: str, url: str) -> bool:
        """Count a response of *site*, if it is learned; return whether it should be now."""
        return self._shared.settings.learns(site) and self.times.add(site, url)

    def news(self, site: str, url: str) -> None:
        """Note that a page of *site* has come that may teach something."""
        for repeated in self._shared.repeats.found():
            if self._shared.settings.learns(repeated[0]):
                self.times.repeat(*repeated)
        due = self.count(site, url)
        if not self.live or self.swapping.ceased:
            return
        if due:
            self._begin_if_idle()
        elif self._learner is None and self.times.near:  # to start takes longer than to learn a small site
            deferred_from_coro(run_in_thread(self.learner.start)).addErrback(lambda _: None)

    def refuted(self, site: str) -> bool:
        """Note that a rule of *site* is refuted; return whether others are to be learned now in its place.

        What these discard still is not to be fetched: :meth:`.Outcomes.retract` is called when they are there.
        """
        if not self.live or self.swapping.ceased:
            return False
        self.times.soon(site)
        self._refuted = True
        return True

    def refetched(self, site: str) -> None:
        """Note that pages of *site* were fetched again that a learning has named."""
        if self.live:
            self._ask((site,))

    async def ask(self, sites: Collection[str]) -> set[str]:
        """Learn *sites* for what to fetch again, as the spider is about to run idle; return those that are worth it."""
        shared = self._shared
        if shared.writer is None or (shared.unsaved and not self.live):
            return set()
        await run_in_thread(shared.writer.flush)
        worth = await run_in_thread(worth_learning, shared.settings, self.times)
        asked = worth.keys() & set(sites)
        if asked and not self.swapping.ceased:
            self._last.update((site, worth[site]) for site in asked)
            self._ask(asked)
        return asked

    def at_once(self, site: str) -> "Deferred[None] | None":
        """Learn *site* now, whatever rest is due; return what is called when that has ended, None if it cannot be."""
        if not self.live or self.swapping.ceased:
            return None
        self.times.soon(site)
        ended: Deferred[None] = Deferred()
        if self._running is not None:  # what has come since it began is learned next
            self._next.append(ended)
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
            self.times.soon(site)
        self._asked = True
        self._begin_if_idle()

    def is_awaited(self) -> bool:
        """Tell whether the spider is not to run idle while rules are learned; begin if need be.

        They are to replace refuted ones, or to say what is to be fetched again.
        """
        if self._refuted or self._asked:
            self._begin_if_idle()
        return self._running is not None and (self._replaces or self._refuted or self._answers or self._asked)

    def _begin_if_idle(self) -> None:
        if self._running is None and self._timer is None and not self.swapping.ceased:
            self._plan()

    def _plan(self) -> None:
        rest = self._rest_until - time.monotonic()
        if rest > 0:
            self._timer = call_later(rest, self._begin)
        else:
            self._begin()

    def _begin(self) -> None:
        self._timer = None
        if self.swapping.ceased:
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
            self._shared.faults.report("learning", "Rules could not be learned")
        finally:
            self._ended()

    async def _learn_due(self) -> None:
        """Learn the sites that should be."""
        sites = self.times.due
        before = self.times.begun(sites)
        try:
            problem = await self._learn_and_use(sites)
        except (RuleFileError, OSError, ValueError) as error:  # ValueError: the journal is closed
            problem = "" if self.swapping.ceased else f"{type(error).__name__}: {error}"
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("learning", "New rules could not be used")
            problem = "see above"
        if problem is not None:
            self.times.failed(before, due=sites)
            self._failed(problem)
        shared = self._shared
        shared.crawler.signals.send_catch_log(signals.learned, sites=sites, problem=problem or "", spider=shared.spider)

    def _ended(self) -> None:
        """Go on with what has waited for a learning."""
        shared = self._shared
        waiting, self._running = self._running or [], None
        for each in waiting:
            each.callback(None)
        if self._answers:
            self._answers = False
            shared.before_idle.wake()
        if self._replaces:
            self._replaces = False
            shared.outcomes.retract()
        awaited, self._next = self._next, []
        if awaited and not self.swapping.ceased:
            self._begin()
        elif self.times.due and not self.swapping.ceased:
            self._plan()
        if self._running is not None:
            self._running += awaited
        else:
            for each in awaited:
                each.callback(None)

    async def _learn_and_use(self, sites: Collection[str]) -> str | None:
        """Learn *sites*, and use what was found; return what went wrong, None if nothing did."""
        started = time.monotonic()
        outcome = await run_in_thread(self._learn, sites)
        if outcome.summary is None:
            return "" if outcome.ended or self.swapping.ceased else outcome.problem
        await self._count(outcome.summary, time.monotonic() - started)
        # No rest for what comes below: that takes long where much is queued, but hardly any computing.
        self._rest_until = self._began + (self._learned.seconds - _AT_ONCE) / _SHARE
        if self.live:
            await self.swapping.swap(sites)
            self._shared.use_masks(await run_in_thread(self._shared.renewed_masks))
            await self._shared.postponing.use(sites, outcome.summary.get("candidates", {}))
        self._learned.failures = 0
        self._shared.extras.starter.suggest(sites, outcome.summary.get("refetch", {}))
        return None

    def _learn(self, sites: Collection[str]) -> Outcome:
        """Let *sites* be learned from all that was handed over to the store; in a thread."""
        shared = self._shared
        if shared.writer is None or not shared.writer.flush():
            return Outcome(None, "what the crawl has seen could not be written into the store")
        return self.learner.learn(sites, shared.settings.learn_timeout, self._wanted())

    def _wanted(self) -> Callable[[], bool]:
        engine: Any = self._shared.crawler.engine
        return lambda: engine.running

    def _failed(self, problem: str) -> None:
        """Wait before the next time; "" is nothing to be told."""
        learned = self._learned
        self._rest_until = time.monotonic() + min(_BACK_OFF * 2**learned.failures, _LONGEST_BACK_OFF)
        if problem:
            learned.failed(problem)

    async def _count(self, summary: dict[str, Any], seconds: float) -> None:
        """Count what was found, and note up to which observation sites were learned, where that is known."""
        self._learned.count(summary, seconds)
        sites = {report["site"] for report in summary.get("sites", ())} & self._last.keys()
        if sites:
            await run_in_thread(note_learned, self._shared.settings, {site: self._last.pop(site) for site in sites})

    # When it closes

    def cease(self) -> None:
        """Bring no more rules into the crawl, which is about to close."""
        self.swapping.ceased = True
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
                await run_in_thread(self.learner.stop)
            await maybe_deferred_to_future(ended)
        if last:
            await self._learn_last()
        if self._learner is not None:
            await run_in_thread(self._learner.stop)
        if self.directory != self._shared.settings.learned_directory:
            await run_in_thread(shutil.rmtree, self.directory, True)

    async def _learn_last(self) -> None:
        """Learn from what is recorded, if enough of it is new; tell what was found."""
        shared = self._shared
        settings = shared.settings
        worth = await run_in_thread(worth_learning, settings, self.times)
        if shared.unsaved:
            if worth and not self.live:
                shared.stats.inc_value("dedup/learned/failed")
            return
        if not worth:
            self._learned.tell(self.directory)
            return
        started = time.monotonic()
        outcome = await run_in_thread(self.learner.learn, worth, settings.learn_timeout, self._wanted())
        if outcome.ended:
            return
        if outcome.summary is None:
            self._learned.failed_last(outcome.problem)
            return
        self._last = worth
        await self._count(outcome.summary, time.monotonic() - started)
        self._learned.tell(self.directory)
