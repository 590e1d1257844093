"""Long work in the event loop: some of it at a time, so that others have their turn in between."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from time import monotonic, thread_time
from typing import Final, TypeVar

from .compatibility import sleep

T = TypeVar("T")

#: Seconds of work on end, at least and at most. They are of the processor: on a busy machine as much is done as on another one.
AT_ONCE: Final = 0.004
_LONGEST: Final = 0.03


class Turns:
    """Turns of a work with the rest of the crawl."""

    #: Seconds that all works have taken so far.
    _taken = 0.0

    def __init__(self) -> None:
        #: Seconds of work that are due now.
        self.seconds = AT_ONCE
        self._began = monotonic()

    async def others(self) -> None:
        """Let all that is due come first.

        As much is due then as the rest of the crawl has had, whether it has computed or waited for a server, so that the busiest
        one does not put off this work for ever. What other works have had does not count: they would drive each other up.
        """
        ended = monotonic()
        Turns._taken += ended - self._began
        taken = Turns._taken
        await sleep(0.0)
        self._began = monotonic()
        rest = self._began - ended - (Turns._taken - taken)
        self.seconds = min(max(AT_ONCE, rest), _LONGEST)


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield the items; after some of what is done with them others have their turn."""
    turns = Turns()
    end = thread_time() + turns.seconds
    for item in items:
        yield item
        if thread_time() >= end:
            await turns.others()
            end = thread_time() + turns.seconds


def drained(items: deque[T]) -> Iterator[T]:
    """Take out the items, those too that are added meanwhile."""
    while items:
        yield items.popleft()
