"""The time before a spider runs idle: when its scheduler is empty, the plug-in does what it has left.

Spiders and extensions count, feed or flush when they get ``spider_idle``: they are to get it as often as without the
plug-in. So the engine is kept from sending it while the plug-in is at work, instead of being told by each signal not to
close.
"""

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from ..shared import Shared


class BeforeIdle:
    """Begins what is left to do when the spider is about to run idle, and puts that off meanwhile."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._puts_off = False
        #: Rows of the ledger when the spider was last let run idle.
        self._written = 0
        self._waiting: list[Deferred[None]] = []

    def opened(self) -> None:
        """Listen from now on: after the spider and its extensions, whose handlers of ``spider_idle`` come first."""
        connect = self._shared.crawler.signals.connect
        connect(self._scheduler_empty, signals.scheduler_empty)
        connect(self._spider_idle, signals.spider_idle)
        connect(self._go_on, signals.spider_closed)

    def wake(self) -> None:
        """Let the engine look at once whether the spider is idle, as some work has ended; it looks every 5 seconds otherwise."""
        if self._puts_off and self._shared.is_open:
            self._slot.nextcall.schedule()

    async def turn(self) -> None:
        """Wait until the queue of the crawl's own requests is empty, or the spider has closed."""
        while self._shared.is_open and self._slot.scheduler.has_pending_requests():
            empty: Deferred[None] = Deferred()
            self._waiting.append(empty)
            await maybe_deferred_to_future(empty)

    def _go_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.callback(None)

    @property
    def _slot(self) -> Any:
        return getattr(self._shared.crawler.engine, "_slot", None)

    def _scheduler_empty(self) -> None:
        """Look for work; the engine sends this signal right before it looks whether the spider is idle."""
        self._go_on()
        engine, slot = self._shared.crawler.engine, self._slot
        if not (slot.close_if_idle or self._puts_off):  # Scrapy's shell
            return
        assert engine is not None
        if engine.spider_is_idle():
            self._puts_off = self._is_at_work()
            slot.close_if_idle = not self._puts_off  # there is no public way to put the signal off
            self._written = self._shared.ledger.written

    def _is_at_work(self) -> bool:
        """Whether something is being done that may lead to requests; begin what is left to do."""
        shared = self._shared
        try:
            learning = shared.learning
            awaited = learning.swapping.unsettled or learning.is_awaited()
            return awaited or shared.outcomes.before_idle() or shared.extras.before_idle()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("idle", "What is left for the end could not be done")
            return False

    def _spider_idle(self) -> None:
        """Keep the spider open if all that a handler of this signal has asked for was discarded.

        Without the plug-in that would be fetched, and the handler asked for more.
        """
        if self._shared.ledger.written > self._written:
            raise DontCloseSpider
