"""What a crawl does beyond its spider's requests, before the spider runs idle: revisits and probes."""

from functools import cached_property
from time import time
from typing import TYPE_CHECKING, Final

from scrapy.utils.defer import deferred_from_coro

from ...rules.book import RuleBook
from ..observe.robots import Robots
from ..support.compatibility import run_in_thread
from .budget import PER_PAGE, Extra, Granted, Part
from .internal_requests import Closing, Errands
from .revisits import Revisits
from .starter import StarterRefetches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scrapy import Request
    from scrapy.http import Response

    from ...learning.asking.probe_outcomes import Tried
    from ..settings.dedup_settings import DedupSettings
    from ..shared import Shared
    from .prober import Prober

#: A site is probed again once so many times as much was saved there.
_MORE: Final = 1.5


def note_probes(tried: "Sequence[Tried]", settings: "DedupSettings", directory: "Path") -> None:
    """Write into the store what probes have shown of the learned rules in *directory*.

    Raises RuleFileError, StoreError.
    """
    from ...learning.asking.probe_outcomes import of_rules  # what probes need takes a fifth of a second to import
    from ...store.rows import CheckRow
    from ...store.store import Store

    book = RuleBook.load_sites(directory, {each.doubt.site for each in tried}, settings.site_groups)
    now = time()
    rows = [
        CheckRow(settings.scope, site, rule.id, now, probes=probes, contradicted=bad)
        for site, found in of_rules(tried, book).items()
        for rule, (probes, bad) in found.items()
    ]
    if rows:
        with Store.open(settings.store) as store:
            store.add(rows)


class Extras:
    """Starter refetches of one crawl; revisits and probes, paid out of what it has saved."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self.extra = Extra(shared)
        self.errands = Errands(shared)
        self.revisits = Revisits(shared, self.errands)
        self.starter = StarterRefetches(shared, self.errands, self.revisits)
        settings = shared.crawler.settings
        # Who replays a cache and nothing else wants no requests.
        self._wanted = bool(shared.settings.extra or shared.settings.revisits) and not (
            settings.getbool("HTTPCACHE_ENABLED") and settings.getbool("HTTPCACHE_IGNORE_MISSING")
        )
        #: Whether revisits were asked for, whatever they cost.
        self._asked = shared.settings.revisits > 0
        #: Site -> what was avoided there when it was probed.
        self._probed: dict[str, int] = {}
        self._robots = Robots(shared)
        self._at_work = False

    @cached_property
    def prober(self) -> "Prober":
        """What probes, made when it is first needed."""
        from .prober import Prober

        return Prober(self._shared, self.errands)

    def before_idle(self) -> bool:
        """Begin what is to be done; return whether that goes on."""
        if self.starter.before_idle():
            return True
        if not self._at_work and self._wanted and self.errands.open and (sites := self._sites()):
            self._at_work = True
            deferred_from_coro(self._work(sites)).addErrback(lambda _: None)
        return self._at_work

    def _sites(self) -> list[str]:
        """Return the sites where there may be something to do."""
        to_revisit = self.revisits.sites
        asked = to_revisit if self._asked else ()
        paid = [
            site
            for site in self._shared.tally.sites
            if self.extra.room(site)
            and site not in self.errands.barred
            and (site in to_revisit or self._is_worth_probing(site))
        ]
        return list(dict.fromkeys((*asked, *paid)))

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note a page that has come, which may be fetched again."""
        self.starter.note(request, response, site)
        self.revisits.note(request, response, site)
        self.starter.came(site)

    def write(self) -> None:
        """Write into the store what probes have shown of rules that were learned since; it waits.

        Raises RuleFileError, StoreError.
        """
        if "prober" in vars(self) and self.prober.tried:
            note_probes(self.prober.tried, self._shared.settings, self._shared.learning.directory)

    def _is_worth_probing(self, site: str) -> bool:
        """Whether probes can be paid for, and there is more to try than the last time."""
        enough = self.extra.room(site) >= PER_PAGE
        return enough and self._shared.tally.of(site).avoided > _MORE * self._probed.get(site, 0)

    async def _work(self, sites: list[str]) -> None:
        shared = self._shared
        try:
            for site in sites:
                await self._work_on(site)
        except Closing:
            pass
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("extra", "Probes or refetches could not be made")
            self._wanted = False
        finally:
            self._at_work = False
            shared.before_idle.wake()

    async def _work_on(self, site: str) -> None:
        if self._asked:
            await self.revisits.run(site, Granted(self.revisits.waiting(site)))
        if self.extra.room(site):
            self.extra.real[site] = await self._robots.allowed(site)
        if not self._asked and (room := self.extra.room(site)):
            await self.revisits.run(site, Part(self.extra, (room + 1) // 2))
        if self._is_worth_probing(site):
            self._probed[site] = self._shared.tally.of(site).avoided
            await run_in_thread(lambda: self.prober)  # to import it takes long
            await self.prober.run(await self.prober.find(site), self.extra)
        if not self._asked:
            await self.revisits.run(site, self.extra)
