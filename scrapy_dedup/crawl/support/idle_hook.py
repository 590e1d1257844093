"""The time before a spider closes: when it runs idle, the plug-in does what it has left."""

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
    """Begins what is left to do when the spider runs idle, and keeps it open meanwhile."""

    _crawler: "Crawler"
    _status: "CrawlStatus"
    _faults: "Faults"
    #: Begin what is left to do, and return whether something goes on; the first that does keeps the spider open.
    work: "list[Callable[[], bool]]" = attrs.field(factory=list, init=False)
    #: The number of requests that were filtered so far, and as the scheduler was last seen to be empty.
    filtered: "Callable[[], int]" = attrs.field(default=lambda: 0, init=False)
    #: Whether the spider is to stay open although there is nothing to do.
    stays_open: "Callable[[], bool]" = attrs.field(default=lambda: False, init=False)
    #: Called as an idle spider goes on.
    goes_on: "Callable[[], None]" = attrs.field(default=lambda: None, init=False)
    _filtered_before: int = attrs.field(default=0, init=False)
    _waiting: list[Deferred[None]] = attrs.field(factory=list, init=False)

    def opened(self) -> None:
        """Listen from now on: after the spider and its extensions, whose handlers of ``spider_idle`` come first."""
        connect = self._crawler.signals.connect
        connect(self._scheduler_empty, signals.scheduler_empty)
        connect(self._spider_idle, signals.spider_idle)
        connect(self._go_on, signals.spider_closed)

    def wake(self) -> None:
        """Let the engine look at once whether the spider is idle, as some work has ended; it looks every 5 seconds otherwise."""
        if self._status.is_open:
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
        """Let own requests go on; the engine sends this signal right before it looks whether the spider is idle."""
        self._go_on()
        self._filtered_before = self.filtered()

    def _spider_idle(self) -> None:
        """Keep the spider open while something is being done, or if all that another handler has asked for was filtered.

        Without the plug-in that would be fetched, and the handler asked for more.
        """
        if not self._status.engine.spider_is_idle():  # another handler has asked for more
            self.goes_on()
            return
        if self._is_at_work() or self.filtered() > self._filtered_before or self.stays_open():
            raise DontCloseSpider

    def _is_at_work(self) -> bool:
        """Whether something is being done that may lead to requests; begin what is left to do."""
        try:
            return any(begin() for begin in self.work)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("idle", "What is left for the end could not be done")
            return False
