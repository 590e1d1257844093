"""The time before a spider runs idle: when its scheduler is empty, the plug-in does what it has left.

Spiders and extensions count, feed or flush when they get ``spider_idle``: they are to get it as often as without the
plug-in. So the engine is kept from sending it while the plug-in is at work, instead of being told by each signal not to
close.
"""

from typing import TYPE_CHECKING

import attrs
from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from .crawl_status import CrawlStatus
    from .faults import Faults


@attrs.define(eq=False, repr=False)
class BeforeIdle:
    """Begins what is left to do when the spider is about to run idle, and puts that off meanwhile."""

    _crawler: "Crawler"
    _status: "CrawlStatus"
    _faults: "Faults"
    #: Begin what is left to do, and return whether something goes on; the first that does puts the spider off.
    work: "list[Callable[[], bool]]" = attrs.field(factory=list, init=False)
    #: The number of requests that were filtered so far, and when the spider was last let run idle.
    filtered: "Callable[[], int]" = attrs.field(default=lambda: 0, init=False)
    #: Whether the spider is to stay open although there is nothing to do.
    stays_open: "Callable[[], bool]" = attrs.field(default=lambda: False, init=False)
    _filtered_before: int = attrs.field(default=0, init=False)
    _puts_off: bool = attrs.field(default=False, init=False)
    _waiting: list[Deferred[None]] = attrs.field(factory=list, init=False)

    def opened(self) -> None:
        """Listen from now on: after the spider and its extensions, whose handlers of ``spider_idle`` come first."""
        connect = self._crawler.signals.connect
        connect(self._scheduler_empty, signals.scheduler_empty)
        connect(self._spider_idle, signals.spider_idle)
        connect(self._go_on, signals.spider_closed)

    def wake(self) -> None:
        """Let the engine look at once whether the spider is idle, as some work has ended; it looks every 5 seconds otherwise."""
        if self._puts_off and self._status.is_open:
            self._status.slot.nextcall.schedule()

    async def wait_for_turn(self) -> None:
        """Wait until the queue of the crawl's own requests is empty, or the spider has closed."""
        while self._status.is_open and self._status.slot.scheduler.has_pending_requests():
            empty: Deferred[None] = Deferred()
            self._waiting.append(empty)
            await maybe_deferred_to_future(empty)

    def _go_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.callback(None)

    def _scheduler_empty(self) -> None:
        """Look for work; the engine sends this signal right before it looks whether the spider is idle."""
        self._go_on()
        engine, slot = self._status.engine, self._status.slot
        if not (slot.close_if_idle or self._puts_off):  # Scrapy's shell
            return
        if engine.spider_is_idle():
            self._puts_off = self._is_at_work()
            slot.close_if_idle = not self._puts_off  # there is no public way to put the signal off
            self._filtered_before = self.filtered()

    def _is_at_work(self) -> bool:
        """Whether something is being done that may lead to requests; begin what is left to do."""
        try:
            return any(begin() for begin in self.work)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("idle", "What is left for the end could not be done")
            return False

    def _spider_idle(self) -> None:
        """Keep the spider open if all that a handler of this signal has asked for was filtered.

        Without the plug-in that would be fetched, and the handler asked for more.
        """
        if self.filtered() > self._filtered_before or self.stays_open():
            raise DontCloseSpider
