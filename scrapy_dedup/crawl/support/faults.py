"""Faults inside the plug-in: told once per kind, counted, and never the crawl's."""

import logging
import sys
from typing import TYPE_CHECKING

from ...files.errors import RuleFileError
from ...store.database import StoreError

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)


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
