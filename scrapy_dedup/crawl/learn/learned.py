"""What the learnings of one crawl have found, and how they failed: for its stats and its log."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...learning.phrases import counted

if TYPE_CHECKING:
    from ..shared import Shared

logger = logging.getLogger(__name__)


class Learned:
    """Counts and tells it."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        #: Learnings that failed, one after the other.
        self.failures = 0
        #: How long they took in all.
        self.seconds = 0.0
        #: Rules that were found, by site.
        self._rules: dict[str, int] = {}

    def count(self, summary: dict[str, Any], seconds: float) -> None:
        """Count what was found."""
        for report in summary.get("sites", ()):
            self._rules[report["site"]] = report["rules"]
        for loss in summary.get("losses", ()):
            logger.warning("%s", loss[:1].upper() + loss[1:], extra={"spider": self._shared.spider})
        self.seconds += seconds
        stats = self._shared.stats
        stats.inc_value("dedup/learned/times")
        stats.set_value("dedup/learned/seconds", round(self.seconds, 3))
        stats.set_value("dedup/learned/rules", sum(self._rules.values()) or summary.get("rules", 0))

    def failed(self, problem: str) -> None:
        """Count and tell what went wrong while the crawl goes on."""
        self.failures += 1
        self._shared.stats.inc_value("dedup/learned/failed")
        if self._is_told(problem):
            return
        logger.log(
            logging.WARNING if self.failures == 1 else logging.DEBUG,
            "Learning failed: %s. The crawl goes on with the rules that it has, and it is tried again later",
            problem,
            extra={"spider": self._shared.spider},
        )

    def failed_last(self, problem: str) -> None:
        """Count and tell what went wrong when the crawl closed."""
        shared = self._shared
        shared.stats.inc_value("dedup/learned/failed")
        recorded = shared.writer is not None and not shared.writer.told
        logger.log(
            logging.INFO if self._is_told(problem) else logging.WARNING,
            "No rules were learned from this crawl: %s%s",
            problem,
            ". What it has seen is recorded: scrapy learn-rules" if recorded else "",
            extra={"spider": shared.spider},
        )

    def _is_told(self, problem: str) -> bool:
        """Whether there was a warning that the store cannot be used: one is enough."""
        writer = self._shared.writer
        return writer is not None and writer.told and ("StoreError" in problem or "into the store" in problem)

    def tell(self, directory: Path) -> None:
        """Tell, when the crawl closes, what was learned and where it is written, if anything was."""
        stats = self._shared.stats
        if stats.get_value("dedup/learned/times"):
            logger.info(
                "Learned %s for %s%s",
                counted(stats.get_value("dedup/learned/rules") or 0, "rule"),
                counted(len(self._rules), "site"),
                f", see {directory}" if directory.is_dir() else "",
                extra={"spider": self._shared.spider},
            )
