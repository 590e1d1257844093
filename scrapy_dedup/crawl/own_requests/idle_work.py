"""Idle work: starter refetches, revisits and probes, before the spider runs idle."""

from time import time
from typing import TYPE_CHECKING, Final

import attrs
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from ...rules.book import RuleBook
from .internal_requests import CrawlClosing
from .request_budgets import PER_PAGE, GrantedBudget, PartialBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ...learning.asking.probe_outcomes import ProbedParameter
    from ..settings.dedup_settings import DedupSettings
    from ..settings.rule_directories import RuleDirectories
    from ..support.faults import Faults
    from ..support.idle_hook import BeforeIdle
    from ..support.tally import Tally
    from .internal_requests import InternalRequests
    from .prober import Prober
    from .request_budgets import SavingsBudget
    from .revisits import Revisits
    from .robots import RobotsFiles
    from .starter import StarterRefetches

#: A site is probed again once so many times as much was saved there.
_MORE: Final = 1.5


def note_probes(tried: "Sequence[ProbedParameter]", settings: "DedupSettings", book: RuleBook) -> None:
    """Write into the store what probes have shown of learned rules. Raises StoreError."""
    from ...learning.asking.probe_outcomes import probes_by_rule  # what probes need takes a fifth of a second to import
    from ...store.rows import CheckRow
    from ...store.store import Store

    now = time()
    rows = [
        CheckRow(settings.scope, site, rule.id, now, probes=probes, contradicted=bad)
        for site, found in probes_by_rule(tried, book).items()
        for rule, (probes, bad) in found.items()
    ]
    if rows:
        with Store.open(settings.store) as store:
            store.add(rows)


@attrs.define(eq=False, repr=False, kw_only=True)
class IdleWork:
    """Revisits and probes of one crawl, paid out of what it has saved, after its starter refetches."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _faults: "Faults"
    _directories: "RuleDirectories"
    _tally: "Tally"
    _savings_budget: "SavingsBudget"
    _internal_requests: "InternalRequests"
    _revisits: "Revisits"
    _starter: "StarterRefetches"
    _robots: "RobotsFiles"
    _before_idle: "BeforeIdle"
    _new_prober: "Callable[[], Prober]"
    _prober: "Prober | None" = attrs.field(default=None, init=False)
    _wanted: bool = attrs.field(init=False)
    #: Whether revisits were asked for, whatever they cost.
    _asked: bool = attrs.field(init=False)
    #: Site -> what was avoided there when it was probed.
    _probed: dict[str, int] = attrs.field(factory=dict, init=False)
    _at_work: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        # Who replays a cache and nothing else wants no requests.
        given = self._crawler.settings
        replays = given.getbool("HTTPCACHE_ENABLED") and given.getbool("HTTPCACHE_IGNORE_MISSING")
        self._wanted = bool(self._settings.extra or self._settings.revisits) and not replays
        self._asked = self._settings.revisits > 0

    @property
    def prober(self) -> "Prober":
        """The prober, made when it is first needed: it takes a fifth of a second to import."""
        if self._prober is None:
            self._prober = self._new_prober()
        return self._prober

    def before_idle(self) -> bool:
        """Begin what is to be done; return whether that goes on."""
        if self._starter.before_idle():
            return True
        if not self._at_work and self._wanted and self._internal_requests.are_possible and (sites := self._sites()):
            self._at_work = True
            deferred_from_coro(self._work(sites)).addErrback(lambda _: None)
        return self._at_work

    def _sites(self) -> list[str]:
        """Return the sites where there may be something to do."""
        to_revisit = self._revisits.sites
        asked = to_revisit if self._asked else ()
        paid = [
            site
            for site in self._tally.sites
            if self._savings_budget.room(site)
            and site not in self._internal_requests.barred
            and (site in to_revisit or self._is_worth_probing(site))
        ]
        return list(dict.fromkeys((*asked, *paid)))

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note a page that has come, which may be fetched again."""
        self._starter.note(request, response, site)
        self._revisits.note(request, response, site)
        self._starter.came(site)

    def write(self) -> None:
        """Write into the store what probes have shown of rules that were learned since; it waits.

        Raises RuleFileError, StoreError.
        """
        if self._prober is not None and self._prober.tried:
            tried = self._prober.tried
            sites = {each.doubt.site for each in tried}
            book = RuleBook.load_sites(self._directories.learned, sites, self._settings.site_groups)
            note_probes(tried, self._settings, book)

    def _is_worth_probing(self, site: str) -> bool:
        """Whether probes can be paid for, and there is more to try than the last time."""
        enough = self._savings_budget.room(site) >= PER_PAGE
        return enough and self._tally.of(site).avoided > _MORE * self._probed.get(site, 0)

    async def _work(self, sites: list[str]) -> None:
        try:
            for site in sites:
                await self._work_on(site)
        except CrawlClosing:
            pass
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("extra", "Probes or refetches could not be made")
            self._wanted = False
        finally:
            self._at_work = False
            self._before_idle.wake()

    async def _work_on(self, site: str) -> None:
        if self._asked:
            await self._revisits.run(site, GrantedBudget(self._revisits.waiting(site)))
        if self._savings_budget.room(site):
            self._savings_budget.real[site] = await self._robots.allowed(site)
        if not self._asked and (room := self._savings_budget.room(site)):
            await self._revisits.run(site, PartialBudget(self._savings_budget, (room + 1) // 2))
        if self._is_worth_probing(site):
            self._probed[site] = self._tally.of(site).avoided
            await run_in_thread(lambda: self.prober)  # to import it takes long
            await self.prober.run(await self.prober.find(site), self._savings_budget)
        if not self._asked:
            await self._revisits.run(site, self._savings_budget)
