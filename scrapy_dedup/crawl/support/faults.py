"""Faults inside the plug-in: told once per kind, counted, and never the crawl's; and events, whose subscribers cannot fail the sender.

Who sends an event knows nothing of those who listen, so that imports go one way only; the composition root subscribes.
"""

import logging
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, ParamSpec

from ...files.errors import RuleFileError
from ...store.database import StoreError

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

P = ParamSpec("P")


class Faults:
    """Tells the first fault of each kind, and counts all (``dedup/errors/<where>``)."""

    def __init__(self, stats: "StatsCollector") -> None:
        self._stats = stats
        self._told: set[str] = set()

    def report(self, where: str, what: str) -> None:
        """Report the exception that is being handled.

        A fault of the system, of the store or of a rule file is a warning in one line; one of ours has its traceback.
        """
        self.count(where)
        if where in self._told:
            return
        self._told.add(where)
        error = sys.exc_info()[1]
        # Those of Redis are no OSError, and are not imported where there is none.
        if isinstance(error, OSError | RuleFileError | StoreError) or type(error).__module__.startswith("redis."):
            logger.warning("%s; the crawl goes on (told once): %s", what, error)
        else:
            logger.error("%s; the crawl goes on (told once)", what, exc_info=error)

    def count(self, where: str) -> None:
        """Count a fault that has been told elsewhere."""
        self._stats.inc_value(f"dedup/errors/{where}")


class Event(Generic[P]):
    """An event of the event loop, whose subscribers cannot fail the sender."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._subscribers: list[tuple[Callable[P, object], str, str]] = []

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._subscribers)

    def subscribe(self, subscriber: Callable[P, object], where: str, what: str) -> None:
        """Call *subscriber* at each such event; *where* and *what* is how its faults are reported (:class:`.Faults`)."""
        self._subscribers.append((subscriber, where, what))

    def send(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all subscribers, in the order in which they came. It raises nothing."""
        for subscriber, where, what in self._subscribers:
            try:
                subscriber(*args, **kwargs)
            except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                self._faults.report(where, what)


class AwaitedEvent(Generic[P]):
    """An event whose sender waits until all that follows from it is done, and sees to faults itself."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[P, Awaitable[None]]] = []

    def subscribe(self, subscriber: Callable[P, Awaitable[None]]) -> None:
        """Call *subscriber* at each such event."""
        self._subscribers.append(subscriber)

    async def send(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all subscribers, one after the other. Raises what they raise."""
        for subscriber in self._subscribers:
            await subscriber(*args, **kwargs)
