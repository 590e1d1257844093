"""The opening of a crawl: earlier runs of its job are taken over, the store is opened, and the mode and rules are logged."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object

from ..learning.phrases import counted
from ..store.database import database_path

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from .identity.identities import Identities
    from .observe.site_masks import SiteMasks
    from .postpone.postponing import Postponing
    from .seen.journal_lines import JournalPage
    from .seen.replay_schedule import ReplaySchedule
    from .seen.rescheduling import Rescheduler
    from .seen.seen import Seen
    from .settings.dedup_settings import DedupSettings
    from .settings.rule_directories import RuleDirectories
    from .support.crawl_status import CrawlStatus
    from .support.crawl_store import CrawlStore
    from .support.faults import Faults
    from .support.idle_hook import BeforeIdle

logger = logging.getLogger(__name__)

#: File in the job directory.
JOURNAL = "dedup.seen"


@attrs.define(eq=False, repr=False, kw_only=True)
class CrawlOpening:
    """Opens what a crawl needs: what is seen with the dupe filter, all else with the spider."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _store: "CrawlStore"
    _directories: "RuleDirectories"
    _identities: "Identities"
    _masks: "SiteMasks"
    _seen: "Seen"
    _rescheduler: "Rescheduler"
    _replay_schedule: "ReplaySchedule"
    _postponing: "Postponing"
    _before_idle: "BeforeIdle"
    _has_opened_seen: bool = attrs.field(default=False, init=False)

    def open_seen(self) -> None:
        """Take over what earlier runs of the job have fetched; once."""
        if self._has_opened_seen:
            return
        self._has_opened_seen = True
        if not self._settings.compares:
            return
        folder = job_dir(self._crawler.settings)
        journal = Path(folder, JOURNAL) if folder else None
        try:
            number = self._seen.open(journal, self._identities.digest(), self._slot_of_page)
        except OSError:
            self._faults.report("journal", "The journal of pages cannot be used")
            return
        except Exception:
            if not self._seen.is_shared:
                raise
            self._faults.report("fleet", "The crawl cannot join the others of its job")
            return
        if folder and self._seen.goes_on:
            self._rescheduler.is_due = True
            self._stats.set_value("dedup/resumed", number)
            if self._seen.doubtful:
                self._stats.set_value("dedup/resumed/doubtful", self._seen.doubtful)

    def _slot_of_page(self, page: "JournalPage") -> int | None:
        if page.current:
            return page.slot
        return self._identities.slot_again(page.url, page.callback, page.context) if page.plain else None

    def open(self) -> None:
        """Open the rest, as the spider is open."""
        self.open_seen()
        had_store = self._has_store()
        try:
            self._store.open()
        except RuntimeError:  # no further thread can be started
            self._faults.report("store", "What is seen cannot be recorded")
        self._warn_of_another_filter()
        self._directories.open(self._status.spider)
        if had_store:
            self._replay_schedule.opened()
        self._before_idle.opened()
        self._log_rules()

    def _has_store(self) -> bool:
        """Whether earlier crawls may have left something."""
        try:
            path = database_path(self._settings.store)
            return path is None or path.exists()
        except OSError:
            return True  # what is wrong is reported where it is read

    def _warn_of_another_filter(self) -> None:
        """Warn if the dupe filter was taken out again, by an add-on that came later, say."""
        configured = self._crawler.settings["DUPEFILTER_CLASS"]
        if self._postponing.has_filter or not self._settings.compares or load_object(configured) is BaseDupeFilter:
            return
        logger.warning(
            "DUPEFILTER_CLASS is %s, not that of scrapy-dedup: nothing is filtered before it is queued. "
            "Give scrapy_dedup.Addon the highest number in ADDONS.",
            configured,
            extra={"spider": self._status.spider},
        )

    def _log_rules(self) -> None:
        acting = [rule for rule in self._identities.book if rule.status.acts]
        self._stats.set_value("dedup/rules", len(acting))
        if self._masks:
            self._stats.set_value("dedup/masks", len(self._masks))
        places = ", ".join(map(str, self._settings.rule_directories))
        logger.info(
            "scrapy-dedup, mode %(mode)s: %(rules)s for %(sites)s%(places)s",
            {
                "mode": self._settings.mode,
                "rules": counted(len(acting), "rule"),
                "sites": counted(len({rule.site for rule in acting}), "site"),
                "places": f", from {places}" if places else "",
            },
            extra={"spider": self._status.spider},
        )
