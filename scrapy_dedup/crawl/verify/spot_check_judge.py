"""Judgement of spot checks: one that is the page it was taken for confirms its rules, any other one speaks against them.

A confirmed one stops before the callback, since its items would be duplicates; any other one goes on as the ordinary
response that it is (:mod:`scrapy_dedup.learning.lifetime.refutation`).
"""

import logging
from typing import TYPE_CHECKING

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...learning.lifetime.refutation import Difference
from ...rules.model import Status
from ...store.rows import RULES, DiscardRow, DiscardState
from ..identity.suspended_rules import rule_by_id
from ..observe.store_rows import LaterRow, base_row, is_quick, page_row
from ..support.faults import Event
from .rule_trials import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ...rules.model import Rule
    from ...store.rows import ObservationRow
    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..observe.excluded_responses import ExcludedResponses
    from ..observe.kept_texts import KeptTexts
    from ..seen.ledger import Ledger
    from ..seen.odd_responses import OddResponses
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


@attrs.define(eq=False, repr=False, kw_only=True)
class SpotCheckJudge:
    """Compares spot checks that have come, and has rules suspended that they refute."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _seen: "Seen"
    _ledger: "Ledger"
    _tally: "Tally"
    _excluded: "ExcludedResponses"
    _kept_texts: "KeptTexts"
    _spot_checks: "SpotChecks"
    _unchecked: "UncheckedRequests"
    _comparer: "PageComparer"
    _retraction: "Retraction"
    _odd_responses: "OddResponses"
    _faults: "Faults"
    _warned: set[str] = attrs.field(factory=set, init=False)
    #: A spot check has shown that it is its page, or, by a case, that it is another one.
    check_judged: "Event[[SpotCheck, Case | None]]" = attrs.field(init=False)
    check_undecided: "Event[[SpotCheck]]" = attrs.field(init=False)
    #: Has a page of a site fetched again, to see whether it lasts; False where that cannot be.
    ask: "Callable[[str, str], bool]" = attrs.field(init=False)
    #: Spot checks that differ from their pages, of which nobody knows yet whether these last, as they were answered.
    _doubtful: "list[tuple[Request, SpotCheck, ObservationRow]]" = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.check_judged = Event(self._faults)
        self.check_undecided = Event(self._faults)
        self.ask = lambda site, page: False

    async def is_duplicate(self, request: "Request", response: "Response", *, goes_on: bool) -> bool:
        """Compare a spot check; return whether it is stopped as a duplicate: never if it *goes on* in any case."""
        check = self._spot_checks.take_out(request)
        if check is None:
            return False
        self._stats.inc_value("dedup/samples")
        if not self._is_of_its_page(request, response, check):
            return False
        if response.status != 200 or self._excluded.cut_off(response, check.site):
            self._note_undecided(check)
            return False
        row = await self._row(request, response, check)
        found = await run_in_thread(self._comparer.with_page, row, check.page)
        if found.hardly_any_text:
            self._odd_responses.expose(request, [check.page])
        if found.odd_content is not None:
            self._odd_responses.learn(found.odd_content)  # before others are asked for
            self._odd_responses.expose(request, await run_in_thread(self._comparer.showing, row, found.odd_content))
        if found.difference is Difference.UNKNOWN:
            self._spot_checks.note_undecided(check)
            self._note_undecided(check)
            return False
        if found.doubtful and (self.ask(check.site, check.page) or found.difference is Difference.NEAR):
            self._unchecked.note_differing(check)
            self._note_undecided(check)
            self._doubtful.append((request, check, row))
            return False
        if found.difference is Difference.NONE:
            if not goes_on and self._store.add(row):  # it does not come to where responses are recorded
                self._stats.inc_value("dedup/recorded")
            await self._confirm(check)
            return not goes_on
        await self._accuse(request, check, found)
        return False

    def _is_of_its_page(self, request: "Request", response: "Response", check: "SpotCheck") -> bool:
        copied = "cached" in response.flags and response.url != request.url
        # By the rules of now they may be two pages.
        return not copied and self._identities.of_url(check.url).key == self._identities.of_url(check.page).key

    def _note_undecided(self, check: "SpotCheck") -> None:
        """Count a spot check of which nobody can tell, here and in the other workers of a fleet."""
        self._count_undecided(check)
        self.check_undecided.send(check)

    def _count_undecided(self, check: "SpotCheck", number: int = 1) -> None:
        self._stats.inc_value("dedup/samples/undecided", number)
        self._tally.undecided(check.site, number)
        self.count_undecided(check, number)

    def count_undecided(self, check: "SpotCheck", number: int = 1) -> None:
        """Count a spot check of which nobody can tell among those of its rules."""
        for rule in check.rules:
            self._spot_checks.trials[check.site].trial(rule).undecided += number

    async def _row(self, request: "Request", response: "Response", check: "SpotCheck") -> "ObservationRow":
        """Return a response as any page is recorded, and compared by what lasts of it."""
        base = base_row(
            request,
            response,
            self._store.scope,
            check.site,
            self._status,
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

    async def _accuse(self, request: "Request", check: "SpotCheck", found: "PageDifference") -> None:
        if found.elsewhere:
            self._spot_checks.note_undecided(check)  # by itself
            self._note_undecided(check)
        else:
            self._unchecked.note_differing(check)
            self._note_differing(check)
        difference = found.difference
        if self._identities.of_url(request.url).key != self._identities.of_url(check.url).key:
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

    async def _decide_doubtful(self) -> None:
        """Compare again what had differed in a few words before it was known what lasts on pages like it."""
        doubtful, self._doubtful = self._doubtful, []
        for each in doubtful:
            request, check, row = each
            found = await run_in_thread(self._comparer.with_page, row, check.page)
            if found.doubtful:
                self._doubtful.append(each)
                continue
            if found.difference is Difference.UNKNOWN:
                continue
            self._count_undecided(check, -1)
            if found.difference is Difference.NONE:
                await self._confirm(check)
            else:
                await self._accuse(request, check, found)

    def _note_differing(self, check: "SpotCheck") -> None:
        """Count, tell and write into the ledger that a spot check was another page; it was fetched, and has no row there yet."""
        self._stats.inc_value("dedup/samples/differing")
        self._tally.differing(check.site)
        logger.info(
            "The spot check %(url)s is not the same page as %(page)s, which it was taken for by rule %(rule)s",
            {"url": check.url, "page": check.page, "rule": " and ".join(check.rules)},
            extra={"spider": self._status.spider},
        )
        row = DiscardRow(
            self._store.scope,
            self._status.spider.name,
            check.site,
            check.url,
            check.rules[0],
            self._identities.of_url(check.url).key,
            check.page,
            check.at,
            meta={RULES: list(check.rules)},
            job=self._seen.job,
        )
        self._ledger.scheduled(row, DiscardState.DIFFERING)

    async def _look_for_deciding(self, site: str, trials: "RuleTrials") -> None:
        """Check a filtered request of each suspected rule that no other one was needed for, to see which is wrong."""
        rows = await run_in_thread(self._unchecked.filtered_by_one, site, frozenset(trials.wanted))
        for rule, row in rows.items():
            if rule in trials.wanted and self._spot_checks.fetch(row):
                trials.wanted.remove(rule)

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
        await self._decide_doubtful()
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
