"""Learning while the crawl goes on, and when it closes: when to do it, in which process, and what comes of it."""

import logging
import shutil
import time
from collections.abc import Callable, Collection
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from ..learning.wording import counted
from ..rules.errors import RuleFileError
from . import signals
from .compatibility import CallLaterResult, call_later, run_in_thread
from .learner import Learner, Outcome, hindrance
from .swapping import Swapping
from .times import Times
from .worth import note_learned, worth_learning

if TYPE_CHECKING:
    from .shared import Shared

logger = logging.getLogger(__name__)

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
        #: Whether it goes on during the crawl: otherwise rules would not be used before its end.
        self.live = settings.learn == "live" and settings.learns_any
        self.times = Times()
        self.swapping = Swapping(shared)
        #: Where the learned rules are written.
        self.directory: Path = settings.learned_directory
        self._passing: Path | None = None
        self._learner: Learner | None = None
        self._timer: CallLaterResult | None = None
        self._running: list[Deferred[None]] | None = None
        #: Whether a rule was refuted since it began, and whether one had been when it began.
        self._refuted = False
        self._replaces = False
        #: Whether it is to say what to fetch again.
        self._asked = False
        self._began = time.monotonic()
        self._rest_until = 0.0
        self._failures = 0
        self._seconds = 0.0
        #: Rules that were found, by site.
        self._rules: dict[str, int] = {}

    @property
    def learner(self) -> Learner:
        """The process that learns."""
        if self._learner is None:
            self._learner = Learner(self._shared.settings, self.directory)
        return self._learner

    def opened(self) -> None:
        """Tell at once, and not after a long crawl, if what it teaches cannot be saved."""
        settings = self._shared.settings
        problem = hindrance(self.directory) if settings.learns_any else None
        if problem is None:
            return
        what = "No rules will be learned when this crawl closes"
        if self.live:
            what = "The rules that this crawl learns will be lost when it closes"
            self._passing = Path(mkdtemp(prefix="dedup-rules-"))
            if self.directory.is_dir():  # with the rules of the user, and what was refuted
                shutil.copytree(self.directory, self._passing, dirs_exist_ok=True)
            self.directory = self._passing
        self._shared.unsaved = True
        logger.warning(
            "%s: DEDUP_DIR is %s, which cannot be written (%s). "
            "Make it writable or name another directory, and run scrapy learn-rules, since what the crawl sees "
            'is recorded; DEDUP_LEARN = "off" silences this.',
            what,
            settings.learned_directory,
            problem,
            extra={"spider": self._shared.spider},
        )

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
            if self._running is None and self._timer is None:
                self._plan()
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
            self.ask((site,))

    def ask(self, sites: Collection[str]) -> None:
        """Learn *sites* soon, for what is to be fetched again; the spider does not run idle while it is done."""
        for site in sites:
            self.times.soon(site)
        if not self.swapping.ceased:
            self._asked = True
            if self._running is None and self._timer is None:
                self._plan()

    def is_replacing(self) -> bool:
        """Tell, as the spider is idle, whether rules are being learned in the place of refuted ones; begin if need be."""
        if self._refuted and self._running is None and self._timer is None and not self.swapping.ceased:
            self._plan()
        return self._running is not None and (self._replaces or self._refuted or self._asked)

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
        deferred_from_coro(self._go_on()).addErrback(lambda _: None)

    async def _go_on(self) -> None:
        sites = self.times.due
        before = self.times.begun(sites)
        try:
            problem = await self._learn_and_use(sites)
            if not self.live:  # that was for what is to be fetched again
                self.times.failed(before)
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
        waiting, self._running = self._running or [], None
        for each in waiting:
            each.callback(None)
        if self._asked:
            self._asked = False
            shared.before_idle.wake()
        if self._replaces:
            self._replaces = False
            shared.outcomes.retract()
        if self.times.due and not self.swapping.ceased:
            self._plan()

    async def _learn_and_use(self, sites: Collection[str]) -> str | None:
        """Learn *sites*, and use what was found; return what went wrong, None if nothing did."""
        started = time.monotonic()
        outcome = await run_in_thread(self._learned, sites)
        if outcome.summary is None:
            return "" if outcome.ended else outcome.problem
        self._count(outcome.summary, time.monotonic() - started)
        # No rest for what comes below: that takes long where much is queued, but hardly any computing.
        self._rest_until = self._began + (self._seconds - _AT_ONCE) / _SHARE
        if self.live:
            await self.swapping.swap(sites)
            self._shared.use_masks(await run_in_thread(self._shared.renewed_masks))
        self._failures = 0
        self._shared.extras.starter.suggest(sites, outcome.summary.get("refetch", {}))
        return None

    def _learned(self, sites: Collection[str]) -> Outcome:
        """Let *sites* be learned from all that was handed over to the store; in a thread."""
        shared = self._shared
        if shared.writer is None or not shared.writer.flush():
            return Outcome(None, "what the crawl has seen could not be written into the store")
        return self.learner.learn(sites, shared.settings.learn_timeout, self._wanted())

    def _wanted(self) -> Callable[[], bool]:
        engine: Any = self._shared.crawler.engine
        return lambda: engine.running

    def _failed(self, problem: str) -> None:
        """Count and tell what went wrong, and wait before the next time; "" is nothing to be told."""
        self._rest_until = time.monotonic() + min(_BACK_OFF * 2**self._failures, _LONGEST_BACK_OFF)
        if not problem:
            return
        self._failures += 1
        self._shared.stats.inc_value("dedup/learned/failed")
        if self._is_told(problem):
            return
        logger.log(
            logging.WARNING if self._failures == 1 else logging.DEBUG,
            "Learning failed: %s. The crawl goes on with the rules that it has, and it is tried again later",
            problem,
            extra={"spider": self._shared.spider},
        )

    def _is_told(self, problem: str) -> bool:
        """Whether there was a warning that the store cannot be used: one is enough."""
        writer = self._shared.writer
        return writer is not None and writer.told and ("StoreError" in problem or "into the store" in problem)

    def _count(self, summary: dict[str, Any], seconds: float) -> None:
        for report in summary.get("sites", ()):
            self._rules[report["site"]] = report["rules"]
        for loss in summary.get("losses", ()):
            logger.warning("%s", loss[:1].upper() + loss[1:], extra={"spider": self._shared.spider})
        self._seconds += seconds
        stats = self._shared.stats
        stats.inc_value("dedup/learned/times")
        stats.set_value("dedup/learned/seconds", round(self._seconds, 3))
        stats.set_value("dedup/learned/rules", sum(self._rules.values()) or summary.get("rules", 0))

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
            if not last:
                await run_in_thread(self.learner.stop)
            ended: Deferred[None] = Deferred()
            self._running.append(ended)
            await maybe_deferred_to_future(ended)
        if last:
            await self._learn_last()
        if self._learner is not None:
            await run_in_thread(self._learner.stop)
        if self._passing is not None:
            await run_in_thread(shutil.rmtree, self._passing, True)

    async def _learn_last(self) -> None:
        """Learn from what is recorded, if enough of it is new; tell what was found."""
        shared = self._shared
        settings = shared.settings
        worth = await run_in_thread(worth_learning, settings, self.times)
        if not worth:
            return
        if shared.unsaved:
            if not self.live:
                shared.stats.inc_value("dedup/learned/failed")
            return
        started = time.monotonic()
        outcome = await run_in_thread(self.learner.learn, worth, settings.learn_timeout, self._wanted())
        if outcome.ended:
            return
        if outcome.summary is None:
            shared.stats.inc_value("dedup/learned/failed")
            recorded = shared.writer is not None and not shared.writer.told
            logger.log(
                logging.INFO if self._is_told(outcome.problem) else logging.WARNING,
                "No rules were learned from this crawl: %s%s",
                outcome.problem,
                ". What it has seen is recorded: scrapy learn-rules" if recorded else "",
                extra={"spider": shared.spider},
            )
            return
        self._count(outcome.summary, time.monotonic() - started)
        learned = {report["site"] for report in outcome.summary.get("sites", ())}
        await run_in_thread(note_learned, settings, {site: worth[site] for site in learned & worth.keys()})
        logger.info(
            "Learned %s for %s%s",
            counted(shared.stats.get_value("dedup/learned/rules") or 0, "rule"),
            counted(len(self._rules), "site"),
            f", see {self.directory}" if self.directory.is_dir() else "",
            extra={"spider": shared.spider},
        )
