"""Release of postponed requests: when nothing else is left, a few at a time, until these show what the others are."""

import time
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

import attrs
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from ..support.compatibility import sleep

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..learn.live import Learning
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults

#: Postponed requests of a site that are let go at first, and by which factor more of them each time after that.
FIRST: Final = 8
MORE: Final = 2
#: Seconds that they wait for others on their way, at most: one of these may wait for a place that they take.
LONGEST: Final = 10.0
#: Seconds between two looks at what is on its way: twice as many each time, since a page from nearby is there at once.
_SOON: Final = 0.001
_POLL: Final = 0.05


@dataclass(slots=True)
class _Batch:
    """The postponed requests of a site that were let go since the site was learned the last time.

    Before the first of them, duplicates are learned from that have come already.
    """

    size: int = 0
    let_go: int = 0
    deciding: bool = False
    waiting: "list[Deferred[None]]" = field(default_factory=list)


@attrs.define(eq=False, repr=False)
class PostponedRelease:
    """Holds postponed requests at the gate, and lets them go."""

    _status: "CrawlStatus"
    _faults: "Faults"
    _learning: "Learning"
    _batches: dict[str, _Batch] = attrs.field(factory=dict, init=False)
    #: Requests that wait at the gate.
    _held: int = attrs.field(default=0, init=False)
    #: Other requests that were sent, and how many of them there were when nothing was on its way.
    others_sent: int = attrs.field(default=0, init=False)
    _calm: int = attrs.field(default=-1, init=False)
    _calming: list[Deferred[None]] = attrs.field(factory=list, init=False)

    @property
    def is_calm(self) -> bool:
        """Whether nothing else is left: no other request was sent since all of them had come."""
        return self._calm == self.others_sent

    def takes(self, site: str) -> bool:
        """Whether one more request of *site* is let go now; if so, it is counted."""
        batch = self._batches.setdefault(site, _Batch())
        if batch.let_go >= batch.size or batch.waiting:
            return False
        batch.let_go += 1
        return True

    async def wait(self, site: str) -> bool:
        """Hold a request of *site* until others have come; return whether it is to be decided on now.

        If not, others were still on their way, and what they link comes first.
        """
        self._held += 1
        try:
            if self.is_calm:
                await self._next_batch(site)
                return True
            await self._calm_down()
            return False
        finally:
            self._held -= 1

    async def _calm_down(self) -> None:
        """Wait until nothing but what waits here is on its way."""
        calm: Deferred[None] = Deferred()
        self._calming.append(calm)
        if len(self._calming) == 1:
            deferred_from_coro(self._watch()).addErrback(lambda _: None)
        await maybe_deferred_to_future(calm)

    async def _watch(self) -> None:
        try:
            await self._while(self._others_on_their_way, time.monotonic() + LONGEST)
        finally:
            self._calm = self.others_sent
            waiting, self._calming = self._calming, []
            for each in waiting:
                each.callback(None)

    async def _next_batch(self, site: str) -> None:
        """Wait until those of *site* that were let go have come, and what they show is learned."""
        batch = self._batches.setdefault(site, _Batch())
        turn: Deferred[None] = Deferred()
        batch.waiting.append(turn)
        if not batch.deciding:
            batch.deciding = True
            deferred_from_coro(self._decide(site, batch)).addErrback(lambda _: None)
        await maybe_deferred_to_future(turn)

    async def _decide(self, site: str, batch: _Batch) -> None:
        try:
            await self._while(self._others_on_their_way, time.monotonic() + LONGEST)
            learning = self._learning.at_once(site, duplicates=not batch.size) if self._status.is_open else None
            if learning is not None:  # it ends in its own time (DEDUP_LEARN_TIMEOUT)
                await self._while(lambda: not learning.called, inf)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("postponing", "Postponed requests could not be decided on")
        finally:
            batch.deciding, batch.let_go, batch.size = False, 0, max(FIRST, batch.size * MORE)
            waiting, batch.waiting = batch.waiting, []
            for each in waiting:
                each.callback(None)

    async def _while(self, goes_on: "Callable[[], bool]", end: float) -> None:
        """Wait while something goes on, until the *end* (of the monotonic clock) or the crawl's at most."""
        pause = _SOON
        while self._status.is_open and time.monotonic() < end and goes_on():
            await sleep(pause)
            pause = min(2 * pause, _POLL)

    def _others_on_their_way(self) -> bool:
        """Whether the engine is at work on requests and responses other than those that wait here."""
        engine = self._status.engine
        return len(engine.downloader.active) > self._held or not engine.scraper.slot.is_idle()
