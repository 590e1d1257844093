"""Retraction: a rule that is refuted is suspended, and what it has discarded is fetched after all.

The suspension is written into the rule file at once, so that it survives whatever comes. The requests are
scheduled by :mod:`scrapy_dedup.crawl.seen.replay`; those that are left when the spider closes are owed to the
next crawl.
"""

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...files.errors import RuleFileError, RuleWriteError
from ...rules.book import RuleBook
from ...rules.model import Evidence, Rule, Status
from ...rules.suspension import Refutation, suspend
from ...store.rows import SCHEDULED, CheckRow, DiscardRow, DiscardState
from ...store.store import Store, StoreError
from ..support.compatibility import run_in_thread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..shared import Shared

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Suspension:
    """Why a rule is suspended: the sample, and the page that it was taken for."""

    url: str
    page: str
    #: Seconds since 1970.
    time: float
    #: The spot checks of the crawl by then, and those of them that were another page: they stand in the file.
    samples: int = 0
    refuted: int = 0


class Retraction:
    """Suspends rules, and sees to what they have discarded."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        #: Site and id of a rule -> why it is suspended.
        self.suspended: dict[tuple[str, str], Suspension] = {}
        #: Sites some of whose discards are left to the next crawl.
        self._deferred: set[str] = set()
        self._told = False

    def defers(self, site: str) -> bool:
        """Whether what a rule that is gone has discarded on a site is left to the next crawl.

        It is where probes and revisits were paid out of what turned out to be no savings: the crawl would make more
        requests than without the plug-in.
        """
        if self._shared.extras.extra.covers(site):
            return False
        self._deferred.add(site)
        return True

    async def suspend(self, rules: "Mapping[Rule, tuple[str, str]]") -> None:
        """Suspend *rules* of one site; with each, the sample that refutes it, and the page it is not the same as."""
        shared = self._shared
        rules = {rule: why for rule, why in rules.items() if (rule.site, rule.id) not in self.suspended}
        if not rules:
            return
        for rule, (url, page) in rules.items():
            trial = shared.monitor.suspects[rule.site].trial(rule.id)
            self.suspended[rule.site, rule.id] = Suspension(url, page, time.time(), trial.samples, trial.differing)
            shared.stats.inc_value("dedup/refuted")
            logger.warning(
                "Rule %s of %s is refuted and suspended: %s is not the same page as %s. What it has discarded is "
                "fetched after all.",
                rule.id,
                rule.site,
                url,
                page,
                extra={"spider": shared.spider},
            )
        (site,) = {rule.site for rule in rules}
        await run_in_thread(self._suspend, site, {rule.id: rule for rule in rules})
        swapping = shared.learning.swapping
        try:
            await swapping.swap([site])
        except (RuleFileError, OSError):
            await swapping.swap([site], reload=False)
        self._forget_aliases()
        if shared.learning.refuted(site):
            shared.resumed = True
        else:
            shared.outcomes.retract()

    def _forget_aliases(self) -> None:
        """Forget the aliases of suspended kinds: their URLs are pages of their own again."""
        identities = self._shared.identities
        site_of = identities.site_and_mode
        kept = {
            key: alias
            for key, alias in identities.aliases.items()
            if (site_of(alias.url)[0], alias.rule) not in self.suspended
        }
        if len(kept) < len(identities.aliases):
            identities.use(identities.book, kept)
            self._shared.renew_marks()

    def amended(self, book: RuleBook) -> RuleBook:
        """Return *book*, in which what this crawl has refuted is suspended, whoever has made it."""
        if not any(self._is_suspended(rule) and rule.status is Status.ACTIVE for rule in book):
            return book
        rules = [
            replace(rule, status=Status.SUSPENDED)
            if self._is_suspended(rule) and rule.status is Status.ACTIVE
            else rule
            for rule in book
        ]
        return RuleBook(rules, {site: book.site_rules(site).deep for site in book.sites}, book.groups)

    def _is_suspended(self, rule: Rule) -> bool:
        return (rule.site, rule.id) in self.suspended

    def _suspend(self, site: str, rules: "Mapping[str, Rule]") -> None:
        """Suspend refuted rules in the file of their site, with the spot checks of all crawls by then; it waits."""
        found = {}
        for name, rule in rules.items():
            known, before = self.suspended[site, name], rule.evidence or Evidence()
            found[name] = Refutation(
                known.time,
                before.samples + known.samples,
                before.refuted + known.refuted,
                before.probes,
                before.contradicted,
            )
        try:
            suspend(self._shared.learning.directory, site, rules, found)
        except (RuleFileError, RuleWriteError, OSError) as error:
            self._tell(error)

    def write(self) -> None:
        """Write into the store what the spot checks of the crawl have shown; it waits."""
        shared = self._shared
        now, rows = time.time(), []
        for site, suspects in list(shared.monitor.suspects.items()):
            learned = {rule.id for rule in shared.identities.book.for_site(site) if not rule.status.users}
            for name, trial in list(suspects.trials.items()):
                known = self.suspended.get((site, name))
                samples, refuted = (known.samples, known.refuted) if known is not None else (0, 0)
                row = CheckRow(
                    shared.settings.scope, site, name, now, trial.samples - samples, trial.differing - refuted
                )
                if name in learned and row.samples:
                    rows.append(row)
        if not rows:
            return
        try:
            with Store.open(shared.settings.store) as store:
                store.add(rows)
        except StoreError:  # the writer has told why
            shared.faults.count("store")

    def _tell(self, error: Exception) -> None:
        self._shared.faults.count("suspension")
        if self.suspended and not self._told:
            self._told = True
            logger.warning(
                "Rules that this crawl has refuted are suspended in this crawl only: %s",
                error,
                extra={"spider": self._shared.spider},
            )

    def owe(self, *, finished: bool) -> int:
        """Leave what is not fetched to the next crawl, as the spider has closed; return how much that is.

        It waits for the store. Unless the crawl has *finished*, what was scheduled may be lost with
        the queue. Raises StoreError.
        """
        shared = self._shared
        sites = {site for site, _ in self.suspended} | self._deferred
        if not sites:
            return 0
        book = self.amended(shared.identities.book)
        in_use = book is shared.identities.book
        queue_is_lost = not finished and not shared.seen.persistent
        states = [DiscardState.PENDING, *(SCHEDULED if queue_is_lost else ())]

        def is_had(row: DiscardRow) -> bool:
            """Whether its page has come, or will, under another URL by the rules that are left."""
            request = shared.ledger.request(row) if in_use else None
            identity = None if request is None else shared.identities.of(request)
            if identity is None or identity.slot not in shared.seen:
                return False
            return not queue_is_lost or shared.seen.is_fetched(identity.slot)

        with Store.open(shared.settings.store) as store:
            owed = [
                row.id
                for state in states
                for row in store.discards(
                    shared.settings.scope, spider=shared.spider.name, state=state, job=shared.seen.job
                )
                if row.id is not None
                and row.site in sites
                and book.canonical_key(row.url) != row.key
                and not is_had(row)
            ]
            store.mark_discards(owed, DiscardState.OWED)
        return len(owed)
