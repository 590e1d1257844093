"""Long work in the event loop: done a few milliseconds at a time, so that others have their turn in between."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from time import thread_time
from typing import Final, TypeVar

from .compatibility import sleep

T = TypeVar("T")

#: Seconds of work on end. They are of the processor: on a busy machine as much is done as on another one.
AT_ONCE: Final = 0.004


async def others_turn() -> None:
    """Let all that is due come first, which in a busy crawl is much."""
    await sleep(0.0)


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield the items; after :data:`AT_ONCE` of what is done with them others have their turn."""
    end = thread_time() + AT_ONCE
    for item in items:
        yield item
        if thread_time() >= end:
            await others_turn()
            end = thread_time() + AT_ONCE


def drained(items: deque[T]) -> Iterator[T]:
    """Take out the items, those too that are added meanwhile."""
    while items:
        yield items.popleft()
