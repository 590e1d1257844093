"""Counts of the learnings of one crawl, found and failed: for its stats and its log."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ...learning.phrases import counted
from ...rules.lifecycle import in_short

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore

logger = logging.getLogger(__name__)


@attrs.define(eq=False, repr=False)
class SiteHistory:
    """The ids of the rules of one site that acted at first, that act now, and whose place each took."""

    before: set[str]
    now: set[str] = attrs.field(factory=set)
    #: By the id of a rule: whether it is narrower, and the ids of those whose place it took.
    replaced: dict[str, tuple[bool, Sequence[str]]] = attrs.field(factory=dict)

    def kinds(self) -> Iterator[str]:
        """Yield, for each rule, what has become of it since the first learning."""
        replaced: set[str] = set()
        for name in self.now - self.before:
            narrower, roots = self._roots(name, set())
            replaced |= roots
            yield "added" if not roots else "narrower" if narrower else "wider"
        for name in self.before:
            if name in self.now:
                yield "unchanged"
            elif name not in replaced:
                yield "dropped"

    def _roots(self, name: str, met: set[str]) -> tuple[bool, set[str]]:
        """Return whether a rule is narrower than some of the first ones whose place it has, and the ids of these."""
        if name in self.before:
            return False, {name}
        if name in met or name not in self.replaced:
            return False, set()
        met.add(name)
        narrower, names = self.replaced[name]
        found = [self._roots(each, met) for each in names]
        return narrower or any(each for each, _ in found), set().union(*(roots for _, roots in found))


@attrs.define(eq=False, repr=False)
class RuleHistory:
    """What the learnings of a crawl have changed, by site."""

    _sites: dict[str, SiteHistory] = attrs.field(factory=dict, init=False)

    def note(self, site: str, changes: Mapping[str, Any]) -> None:
        """Note what one learning has changed of a site, as :meth:`.RuleChanges.to_dict` says it."""
        wider, narrower = changes["wider"], changes["narrower"]
        gone = {name for names in (*wider.values(), *narrower.values()) for name in names} | set(changes["dropped"])
        kept = set(changes["unchanged"])
        history = self._sites.setdefault(site, SiteHistory(kept | gone))
        history.now = kept | set(changes["added"]) | wider.keys() | narrower.keys()
        history.replaced.update({name: (False, names) for name, names in wider.items()})
        history.replaced.update({name: (True, names) for name, names in narrower.items()})

    def __str__(self) -> str:
        """Return what has changed since the crawl began, in short: ``+1 rule, 1 wider, 3 unchanged``."""
        counts = Counter(kind for history in self._sites.values() for kind in history.kinds())
        return in_short(*(counts[kind] for kind in ("added", "wider", "narrower", "dropped", "unchanged")))


@attrs.define(eq=False, repr=False)
class LearningCounts:
    """Counts what was learned, and logs it."""

    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    #: Learnings that failed, one after the other.
    failures: int = attrs.field(default=0, init=False)
    #: How long they took in all.
    seconds: float = attrs.field(default=0.0, init=False)
    #: Rules that were found, by site.
    _rules: dict[str, int] = attrs.field(factory=dict, init=False)
    #: What is to be said of URLs that show one answer, by site.
    _one_answer: dict[str, str] = attrs.field(factory=dict, init=False)
    _history: RuleHistory = attrs.field(factory=RuleHistory, init=False)

    def count(self, summary: Mapping[str, Any], seconds: float) -> None:
        """Count what was found."""
        for report in summary.get("sites", ()):
            self._rules[report["site"]] = report["rules"]
            self._one_answer[report["site"]] = report["one_answer"]
            self._history.note(report["site"], report["changes"])
        for loss in summary.get("losses", ()):
            logger.warning("%s", loss[:1].upper() + loss[1:], extra={"spider": self._status.spider})
        self.seconds += seconds
        self._stats.set_value("dedup/learned/seconds", round(self.seconds, 3))
        self._stats.set_value("dedup/learned/rules", sum(self._rules.values()) or summary.get("rules", 0))

    def succeeded(self) -> None:
        """Count a learning, what it has found being in use."""
        self.failures = 0
        self._stats.inc_value("dedup/learned/times")

    def failed(self, problem: str) -> None:
        """Count and log what went wrong while the crawl goes on."""
        self.failures += 1
        self._stats.inc_value("dedup/learned/failed")
        if self._has_warned(problem):
            return
        logger.log(
            logging.WARNING if self.failures == 1 else logging.DEBUG,
            "Learning failed: %s. The crawl goes on with the rules that it has, and it is tried again later",
            problem,
            extra={"spider": self._status.spider},
        )

    def failed_last(self, problem: str) -> None:
        """Count and log what went wrong when the crawl closed."""
        self._stats.inc_value("dedup/learned/failed")
        recorded = self._store.writer is not None and not self._store.has_warned
        logger.log(
            logging.INFO if self._has_warned(problem) else logging.WARNING,
            "No rules were learned from this crawl: %s%s",
            problem,
            ". What it has seen is recorded: scrapy learn-rules" if recorded else "",
            extra={"spider": self._status.spider},
        )

    def _has_warned(self, problem: str) -> bool:
        """Whether there was a warning that the store cannot be used: one is enough."""
        return self._store.has_warned and ("StoreError" in problem or "into the store" in problem)

    def log_begin(self, sites: int) -> None:
        """Log that some sites are learned before the crawl ends, which may take a while."""
        logger.info(
            "Learning from what was recorded of %s", counted(sites, "site"), extra={"spider": self._status.spider}
        )

    def log(self, directory: Path) -> None:
        """Log, when the crawl closes, what was learned and where it is written, if anything was."""
        for told in filter(None, self._one_answer.values()):
            logger.info("%s", told, extra={"spider": self._status.spider})
        if self._rules:
            rules = self._stats.get_value("dedup/learned/rules") or 0
            logger.info(
                "Learned %s of %s: %s%s%s",
                counted(rules, "rule"),
                counted(len(self._rules), "site"),
                self._history,
                "" if rules else "; scrapy learn-rules says why",
                f", see {directory}" if rules and directory.is_dir() else "",
                extra={"spider": self._status.spider},
            )
