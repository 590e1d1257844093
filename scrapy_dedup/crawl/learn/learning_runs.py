"""Runs of the learning process: what the crawl has recorded goes in, what was found is counted and logged."""

import time
from typing import TYPE_CHECKING, Any

import attrs
from scrapy.utils.asyncio import run_in_thread

from .learner import Learner, LearningOutcome
from .learning_counts import LearningCounts
from .schedule import LearningSchedule, note_learned, worth_learning

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from scrapy.statscollectors import StatsCollector

    from ..settings.dedup_settings import DedupSettings
    from ..settings.rule_directories import RuleDirectories
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore


@attrs.define(eq=False, repr=False, kw_only=True)
class LearningRuns:
    """Learns sites in another process, one learning at a time."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _directories: "RuleDirectories"
    counts: LearningCounts = attrs.field(init=False)
    _learner: Learner | None = attrs.field(default=None, init=False)
    #: Site -> its last observation, from which it is being learned.
    _last: dict[str, int] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.counts = LearningCounts(self._status, self._stats, self._store)

    @property
    def learner(self) -> Learner:
        """The process that learns, started when it is first needed."""
        if self._learner is None:
            self._learner = Learner(self._settings, self._directories.learned)
        return self._learner

    @property
    def has_learner(self) -> bool:
        """Whether there is such a process, or one is being started."""
        return self._learner is not None

    async def learn(self, sites: "Collection[str]", compared: "Collection[str]") -> LearningOutcome:
        """Learn *sites* from all that was handed over to the store, and count what was found; texts of those to be *compared*, too."""
        started = time.monotonic()
        outcome = await run_in_thread(self._learn, sites, compared)
        if outcome.summary is not None:
            await self._count(outcome.summary, time.monotonic() - started)
        return outcome

    def _learn(self, sites: "Collection[str]", compared: "Collection[str]") -> LearningOutcome:
        if not self._store.flush():
            return LearningOutcome(None, "what the crawl has seen could not be written into the store")
        return self.learner.learn(sites, compared, self._settings.learn_timeout, self._wanted())

    def _wanted(self) -> "Callable[[], bool]":
        engine = self._status.engine
        return lambda: bool(engine.running)

    async def _count(self, summary: "Mapping[str, Any]", seconds: float) -> None:
        """Count what was found, and note up to which observation sites were learned, where that is known."""
        self.counts.count(summary, seconds)
        sites = {report["site"] for report in summary.get("sites", ())} & self._last.keys()
        if sites:
            await run_in_thread(note_learned, self._settings, {site: self._last.pop(site) for site in sites})

    async def worth(self, schedule: LearningSchedule, sites: "Collection[str]") -> set[str]:
        """Return those of *sites* that are worth learning now, before the spider runs idle."""
        if self._store.writer is None or (self._directories.is_unwritable and not self._settings.learns_live):
            return set()
        await run_in_thread(self._store.flush)
        worth = await run_in_thread(worth_learning, self._settings, schedule)
        found = worth.keys() & set(sites)
        self._last.update((site, worth[site]) for site in found)
        return found

    async def learn_last(self, schedule: LearningSchedule) -> None:
        """Learn from what is recorded when the crawl has closed, if enough of it is new; log what was found."""
        settings = self._settings
        worth = await run_in_thread(worth_learning, settings, schedule)
        if self._directories.is_unwritable:
            if worth and not settings.learns_live:
                self._stats.inc_value("dedup/learned/failed")
            return
        if not worth:
            self.counts.log(self._directories.learned)
            return
        self.counts.log_begin(len(worth))
        started = time.monotonic()
        outcome = await run_in_thread(self.learner.learn, worth, worth, settings.learn_timeout, self._wanted())
        if outcome.ended:
            return
        if outcome.summary is None:
            self.counts.failed_last(outcome.problem)
            return
        self._last = worth
        await self._count(outcome.summary, time.monotonic() - started)
        self.counts.succeeded()
        self.counts.log(self._directories.learned)

    async def stop(self) -> None:
        """End the process for good."""
        if self._learner is not None:
            await run_in_thread(self._learner.stop)
