"""Retraction: a rule that is refuted is suspended, and what it has filtered is fetched after all.

The suspension is written into the rule file at once, so that it survives whatever comes. The requests are
scheduled by :mod:`scrapy_dedup.crawl.seen.replay`; those that are left when the spider closes are owed to the
next crawl.
"""

import logging
import time
from typing import TYPE_CHECKING

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...files.errors import RuleFileError, RuleWriteError
from ...rules.files import Refutation, suspend
from ...rules.model import Evidence
from ...store.rows import SCHEDULED, CheckRow, DiscardRow, DiscardState
from ...store.store import Store, StoreError
from ..identity.suspended_rules import Suspension
from ..support.faults import AwaitedEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.statscollectors import StatsCollector

    from ...rules.model import Rule
    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..seen.ledger import Ledger
    from ..seen.seen import Seen
    from ..settings.rule_directories import RuleDirectories
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from .choosing import SpotChecks

logger = logging.getLogger(__name__)


@attrs.define(eq=False, repr=False, kw_only=True)
class Retraction:
    """Suspends rules, and leaves to the next crawl what is not fetched in this one."""

    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _store: "CrawlStore"
    _directories: "RuleDirectories"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _seen: "Seen"
    _ledger: "Ledger"
    _spot_checks: "SpotChecks"
    _has_warned: bool = attrs.field(default=False, init=False)
    #: Rules of a site are suspended, and others are to be used from now on: the site.
    rules_suspended: AwaitedEvent[[str]] = attrs.field(factory=AwaitedEvent, init=False)

    async def suspend(self, rules: "Mapping[Rule, tuple[str, str]]") -> None:
        """Suspend *rules* of one site; with each, the spot check that refutes it, and the page it is not the same as."""
        rules = {rule: why for rule, why in rules.items() if (rule.site, rule.id) not in self._suspended}
        if not rules:
            return
        for rule, (url, page) in rules.items():
            trial = self._spot_checks.trials[rule.site].trial(rule.id)
            why = Suspension(url, page, time.time(), trial.samples, trial.differing)
            self._suspended.found[rule.site, rule.id] = why
            self._stats.inc_value("dedup/refuted")
            logger.warning(
                "Rule %s of %s is refuted and suspended: %s is not the same page as %s. What it has filtered is "
                "fetched after all.",
                rule.id,
                rule.site,
                url,
                page,
                extra={"spider": self._status.spider},
            )
        (site,) = {rule.site for rule in rules}
        await run_in_thread(self._suspend, site, {rule.id: rule for rule in rules})
        await self.rules_suspended.send(site)

    def _suspend(self, site: str, rules: "Mapping[str, Rule]") -> None:
        """Suspend refuted rules in the file of their site, with the spot checks of all crawls by then; it waits."""
        found = {}
        for name, rule in rules.items():
            known, before = self._suspended.found[site, name], rule.evidence or Evidence()
            found[name] = Refutation(
                known.time,
                before.samples + known.samples,
                before.refuted + known.refuted,
                before.probes,
                before.contradicted,
            )
        try:
            suspend(self._directories.learned, site, rules, found)
        except (RuleFileError, RuleWriteError, OSError) as error:
            self._warn(error)

    def write(self) -> None:
        """Write into the store what the spot checks of the crawl have shown; it waits.

        Each worker of a fleet knows what those of all have shown: the last one writes it.
        """
        if self._seen.others_go_on:
            return
        now, rows = time.time(), []
        for site, trials in list(self._spot_checks.trials.items()):
            learned = {rule.id for rule in self._identities.book.for_site(site) if not rule.status.users}
            for name, trial in list(trials.trials.items()):
                known = self._suspended.found.get((site, name))
                samples, refuted = (known.samples, known.refuted) if known is not None else (0, 0)
                row = CheckRow(
                    self._store.scope,
                    site,
                    name,
                    now,
                    max(0, trial.samples - samples),
                    max(0, trial.differing - refuted),
                    undecided=trial.undecided,
                )
                if name in learned and (row.samples or row.undecided):
                    rows.append(row)
        if not rows:
            return
        try:
            self._store.put(rows)
        except StoreError:  # the writer has told why
            self._faults.count("store")

    def _warn(self, error: Exception) -> None:
        self._faults.count("suspension")
        if self._suspended.found and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Rules that this crawl has refuted are suspended in this crawl only: %s",
                error,
                extra={"spider": self._status.spider},
            )

    def owe(self, *, finished: bool) -> int:
        """Leave what is not fetched to the next crawl, as the spider has closed; return how much that is.

        It waits for the store. Unless the crawl has *finished*, what was scheduled may be lost with
        the queue. Raises StoreError.
        """
        sites = {site for site, _ in self._suspended.found} | self._suspended.deferred
        if not sites or self._seen.others_go_on:
            return 0
        book = self._suspended.amended(self._identities.book)
        in_use = book is self._identities.book
        queue_is_lost = not finished and not self._seen.persistent
        states = [DiscardState.PENDING, *(SCHEDULED if queue_is_lost else ())]

        def is_had(row: DiscardRow) -> bool:
            """Whether its page has come, or will, under another URL by the rules that are left."""
            request = self._ledger.request(row) if in_use else None
            identity = None if request is None else self._identities.of(request)
            if identity is None or identity.slot not in self._seen:
                return False
            return not queue_is_lost or self._seen.is_fetched(identity.slot)

        spider, job = self._status.spider.name, self._seen.job
        with Store.open(self._store.path) as store:
            owed = [
                row.id
                for state in states
                for row in store.discards(self._store.scope, spider=spider, state=state, job=job)
                if row.id is not None
                and row.site in sites
                and book.canonical_key(row.url) != row.key
                and not is_had(row)
            ]
            store.mark_discards(owed, DiscardState.OWED)
        return len(owed)
