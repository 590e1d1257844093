"""Events inside a crawl: who sends one knows nothing of those who listen, so that imports go one way only.

The composition root subscribes. Events belong to the object that sends them.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, ParamSpec

if TYPE_CHECKING:
    from .faults import Faults

P = ParamSpec("P")


class Event(Generic[P]):
    """An event of the event loop, whose subscribers cannot fail the sender."""

    def __init__(self, faults: "Faults") -> None:
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
