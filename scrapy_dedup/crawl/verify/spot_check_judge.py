"""Judgement of spot checks: one that is the page it was taken for confirms its rules, any other one speaks against them.

A confirmed one stops before the callback, since its items would be duplicates; any other one goes on as the ordinary
response that it is (:mod:`scrapy_dedup.learning.lifetime.refutation`).
"""

import logging
from itertools import islice
from typing import TYPE_CHECKING, Final

import attrs

from ...content.resemblance import Difference
from ...rules.model import Status
from ...store.rows import RULES, DiscardRow, DiscardState
from ..decide.filtering_rules import deciding_rules
from ..identity.suspended_rules import rule_by_id
from ..observe.store_rows import LaterRow, base_row, is_quick, page_row
from ..support.compatibility import run_in_thread
from ..support.events import Event
from .rule_trials import Case

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ...rules.model import Rule
    from ...store.rows import ObservationRow
    from ..identity.identities import Identities
    from ..observe.excluded_responses import ExcludedResponses
    from ..observe.kept_texts import KeptTexts
    from ..seen.ledger import Ledger
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from ..support.tally import Tally
    from .choosing import SpotCheck, SpotChecks
    from .comparing import PageComparer, PageDifference
    from .retraction import Retraction
    from .rule_trials import RuleTrials
    from .unchecked import UncheckedRequests

logger = logging.getLogger(__name__)

#: Filtered requests among which one is looked for that a single rule has filtered.
MOST_LOOKED_AT: Final = 2_000


@attrs.define(eq=False, repr=False, kw_only=True)
class SpotCheckJudge:
    """Compares spot checks that have come, and has rules suspended that they refute."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _identities: "Identities"
    _seen: "Seen"
    _ledger: "Ledger"
    _tally: "Tally"
    _excluded: "ExcludedResponses"
    _kept_texts: "KeptTexts"
    _spot_checks: "SpotChecks"
    _unchecked: "UncheckedRequests"
    _comparer: "PageComparer"
    _retraction: "Retraction"
    _faults: "Faults"
    _warned: set[str] = attrs.field(factory=set, init=False)
    #: A spot check has shown that it is its page, or, by a case, that it is another one.
    check_judged: "Event[[SpotCheck, Case | None]]" = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.check_judged = Event(self._faults)

    async def is_duplicate(self, request: "Request", response: "Response", *, goes_on: bool) -> bool:
        """Compare a spot check; return whether it is stopped as a duplicate: never if it *goes on* in any case."""
        check = self._spot_checks.take_out(request)
        if check is None:
            return False
        self._stats.inc_value("dedup/samples")
        key = self._identities.of_url(check.url).key
        if not self._is_comparable(request, response, check, key):
            return False
        row = await self._row(request, response, check)
        found = await run_in_thread(self._comparer.with_page, row, check.page)
        if found.difference is Difference.UNKNOWN:
            self._spot_checks.note_undecided(check)
            return False
        if found.difference is Difference.NONE:
            if not goes_on and self._store.add(row):  # it does not come to where responses are recorded
                self._stats.inc_value("dedup/recorded")
            await self._confirm(check)
            return not goes_on
        await self._accuse(request, check, found, key)
        return False

    def _is_comparable(self, request: "Request", response: "Response", check: "SpotCheck", key: str) -> bool:
        return (
            response.status == 200
            and not self._excluded.cut_off(response, check.site)
            and not ("cached" in response.flags and response.url != request.url)
            and key == self._identities.of_url(check.page).key  # otherwise they are two pages by the rules of now
        )

    async def _row(self, request: "Request", response: "Response", check: "SpotCheck") -> "ObservationRow":
        """Return a response as any page is recorded, and compared by what lasts of it."""
        base = base_row(
            request,
            response,
            self._store.scope,
            check.site,
            self._status.spider.name,
            from_cache="cached" in response.flags,
        )
        versioned = self._kept_texts.wanted(check.site, request.url)
        if is_quick(response):
            return page_row(response, base, self._settings.max_body, versioned=versioned)
        return await run_in_thread(LaterRow(response, base, self._settings.max_body, versioned=versioned))

    async def _confirm(self, check: "SpotCheck") -> None:
        self._stats.inc_value("dedup/samples/confirmed")
        self._tally.confirmed(check.site)
        self._unchecked.note_confirmed(check)
        self.check_judged.send(check, None)
        await self._refute(check.site, self._spot_checks.trials[check.site].confirm(check.rules, check.kinds))

    async def _accuse(self, request: "Request", check: "SpotCheck", found: "PageDifference", key: str) -> None:
        if found.elsewhere:
            self._spot_checks.note_undecided(check)  # by itself
        else:
            self._stats.inc_value("dedup/samples/differing")
            self._tally.differing(check.site)
            self._unchecked.note_differing(check)
            self._note(check, key)
        logger.log(
            logging.DEBUG if found.elsewhere else logging.INFO,
            "The spot check %(url)s is not the same page as %(page)s, which it was taken for by rule %(rule)s",
            {"url": check.url, "page": check.page, "rule": " and ".join(check.rules)},
            extra={"spider": self._status.spider},
        )
        difference = found.difference
        if self._identities.of_url(request.url).key != key:
            difference = Difference.NEAR  # its redirects lead elsewhere, maybe all to one page, to log in
        case = Case(
            check.rules,
            difference,
            found.content,
            found.noise,
            check.url,
            check.page,
            check.kinds,
            elsewhere=found.elsewhere,
        )
        self.check_judged.send(check, case)
        trials = self._spot_checks.trials[check.site]
        await self._refute(check.site, trials.accuse(case))
        if trials.wanted:
            await self._look_for_deciding(check.site, trials)

    async def hear(self, check: "SpotCheck", case: Case | None) -> None:
        """Take up what a spot check has shown to another worker of a fleet."""
        if case is None:
            self._unchecked.note_confirmed(check)
            await self._refute(check.site, self._spot_checks.trials[check.site].confirm(check.rules, check.kinds))
            return
        if not case.elsewhere:
            self._unchecked.note_differing(check)
        await self._refute(check.site, self._spot_checks.trials[check.site].accuse(case))

    def _note(self, check: "SpotCheck", key: str) -> None:
        """Write a differing spot check into the ledger, which has none yet of one that was fetched instead of filtered."""
        row = DiscardRow(
            self._store.scope,
            self._status.spider.name,
            check.site,
            check.url,
            check.rules[0],
            key,
            check.page,
            check.at,
            meta={RULES: list(check.rules)},
            job=self._seen.job,
        )
        self._ledger.scheduled(row, DiscardState.DIFFERING)

    async def _look_for_deciding(self, site: str, trials: "RuleTrials") -> None:
        """Check a filtered request of each suspected rule that no other one was needed for, to see which is wrong."""
        rows = await run_in_thread(self._filtered_by_one, site, frozenset(trials.wanted))
        for rule, row in rows.items():
            if rule in trials.wanted and self._spot_checks.fetch(row):
                trials.wanted.remove(rule)

    def _filtered_by_one(self, site: str, wanted: "AbstractSet[str]") -> "dict[str, DiscardRow]":
        """Return a filtered request of each of the *wanted* rules that no other rule was needed for, where there is one.

        It waits for the store. Raises StoreError.
        """
        found: dict[str, DiscardRow] = {}
        book = self._identities.book
        with self._store.read() as store:
            rows = store.discards(self._store.scope, spider=self._status.spider.name, job=self._seen.job)
            for row in islice(rows, MOST_LOOKED_AT):
                if len(found) == len(wanted):
                    break
                if row.site != site:
                    continue
                rules = deciding_rules(book, row.url, row.taken_for)
                if len(rules) == 1 and rules[0] in wanted and rules[0] not in found:
                    found[rules[0]] = row
        return found

    @property
    def is_idle_work_due(self) -> bool:
        """Whether something is to be done about spot checks before the spider runs idle."""
        return self._unchecked.pending or self._spot_checks.undecided

    async def before_idle(self) -> None:
        """Check requests of kinds that no spot check has shown anything of, as all else is done; settle without such."""
        if not await self._unchecked.fetch():
            await self.settle()

    async def settle(self) -> None:
        """Decide which rules are refuted by spot checks that refute one of several, since no more of them come."""
        for site, trials in list(self._spot_checks.trials.items()):
            await self._refute(site, trials.settle())

    async def _refute(self, site: str, refuted: "Iterable[tuple[str, Case]]") -> None:
        """Suspend rules that are refuted; warn of those that are the user's."""
        suspended: dict[Rule, tuple[str, str]] = {}
        for name, case in refuted:
            rule = rule_by_id(self._identities.book, site, name)
            if rule is None or not rule.status.acts:
                continue
            if rule.status is Status.MANUAL:
                self._warn(rule, case)
            else:
                suspended[rule] = case.url, case.page
                self._spot_checks.trials[site].drop(name)
        if suspended:
            await self._retraction.suspend(suspended)

    def _warn(self, rule: "Rule", case: Case) -> None:
        if rule.id not in self._warned:
            self._warned.add(rule.id)
            self._stats.inc_value("dedup/refuted/manual")
            logger.warning(
                "Rule %s of %s is manual, so it goes on to act, but by it a page is lost: %s is not the same page as %s",
                rule.id,
                rule.site,
                case.url,
                case.page,
                extra={"spider": self._status.spider},
            )
