"""Stopping the start of a crawl with a clear line instead of a traceback."""

import asyncio
import logging
from typing import Any, TypeVar

from scrapy.utils.misc import load_object

from .dedup_settings import DedupSettingError

logger = logging.getLogger(__name__)

E = TypeVar("E", bound=Exception)

# Scrapy's coroutine around a crawl that a process or a runner has started.
_SCRAPYS = "AsyncCrawlerRunner._crawl_and_track"


def told(error: E) -> E:
    """Tell, in one line, an error that stops the start; return it to be raised.

    Where asyncio runs the crawl and nobody waits for it, as in ``scrapy crawl``, the
    error would be told once more with a traceback: that is prevented. The exit code of
    the command is 1 either way.
    """
    logger.error("The crawl is not started: %s", error)
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another reactor than asyncio's
        return error
    if task is not None and getattr(task.get_coro(), "__qualname__", "") == _SCRAPYS:
        task.add_done_callback(_asked_for)
    return error


def _asked_for(task: "asyncio.Task[object]") -> None:
    """Ask for the exception of a task, so that asyncio does not tell that nobody has."""
    if not task.cancelled():
        task.exception()


def loaded(name: str, value: Any, remedy: str) -> Any:
    """Return what the setting *name* names. Raises DedupSettingError."""
    try:
        return load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise DedupSettingError(name, value, f"it cannot be loaded ({error})", remedy) from error
