"""Long work in the event loop: done a few milliseconds at a time, so that others have their turn in between."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from time import thread_time
from typing import Final, TypeVar

from .compatibility import sleep

T = TypeVar("T")

#: Seconds of work on end, at least and at most. They are of the processor: on a busy machine as much is done as on another one.
AT_ONCE: Final = 0.004
_LONGEST: Final = 0.05


async def others_turn() -> float:
    """Let all that is due come first; return the seconds of work that are due then.

    Those are as many as the others have had, so that the busiest crawl does not put off this work for ever.
    """
    began = thread_time()
    await sleep(0.0)
    return min(max(AT_ONCE, thread_time() - began), _LONGEST)


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield the items; after some of what is done with them others have their turn."""
    end = thread_time() + AT_ONCE
    for item in items:
        yield item
        if thread_time() >= end:
            seconds = await others_turn()
            end = thread_time() + seconds


def drained(items: deque[T]) -> Iterator[T]:
    """Take out the items, those too that are added meanwhile."""
    while items:
        yield items.popleft()
