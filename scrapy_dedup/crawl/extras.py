"""What a crawl does beyond its spider's requests, when the spider is idle: revisits and probes."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro

from ..rules.book import RuleBook
from ..rules.suspension import Samples, note_samples
from .budget import PER_PAGE, Extra, Granted, Part
from .compatibility import run_in_thread
from .errands import Closing, Errands
from .revisits import Revisits
from .robots import Robots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..learning.probing import Tried
    from .prober import Prober
    from .shared import Shared

#: A site is probed again once so many times as much was saved there.
_MORE: Final = 1.5


def note_probes(tried: "Sequence[Tried]", directory: "Path", groups: "Mapping[str, tuple[str, ...]]") -> None:
    """Write what probes have shown into the evidence of the learned rules in *directory*.

    Raises RuleFileError, RuleWriteError.
    """
    from ..learning.probing import of_rules  # what probes need takes a fifth of a second to import

    book = RuleBook.load_sites(directory, {each.doubt.site for each in tried}, groups)
    for site, found in of_rules(tried, book).items():
        rules = {rule.id: rule for rule in found}
        samples = {rule.id: Samples(probes=probes, contradicted=bad) for rule, (probes, bad) in found.items()}
        note_samples(directory, site, rules, samples)


class Extras:
    """Revisits and probes of one crawl, paid out of what it has saved."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self.extra = Extra(shared)
        self.errands = Errands(shared)
        self.revisits = Revisits(shared, self.errands)
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

    def idle(self) -> None:
        """Begin what is to be done. Raises DontCloseSpider while that goes on."""
        if self._at_work:
            raise DontCloseSpider
        if self._wanted and self.errands.open and (sites := self._sites()):
            self._at_work = True
            deferred_from_coro(self._work(sites)).addErrback(lambda _: None)
            raise DontCloseSpider

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

    def note(self) -> None:
        """Write into the rule files what probes have shown of rules that were learned since; it waits.

        Raises RuleFileError, RuleWriteError.
        """
        if "prober" in vars(self) and self.prober.tried:
            note_probes(self.prober.tried, self._shared.learning.directory, self._shared.settings.site_groups)

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
            shared.faults.report("extra", "Probes or revisits could not be made")
            self._wanted = False
        finally:
            self._at_work = False
            shared.wake()

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
