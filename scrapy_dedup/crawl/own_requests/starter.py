"""Starter refetches: pages of a site fetched again without savings that pay for it, to learn what changes on all pages.

Where no two responses are equal, no rule can be learned. Each learning says which pages decide most when they are fetched again
(:mod:`scrapy_dedup.learning.asking.refetching`); these are, one after the other, while the crawl goes on, and the site is learned again.
Where fields of items are named, pages of each kind are, too, that show what is drawn anew (:mod:`.revisits`): comparing pages does not need
that, and a site without duplicates would never save what pays for it.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import attrs
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_from_coro

from ...urls.acting import acts
from ..identity.identities import is_plain_get
from ..learn.schedule import LEAST
from ..support.request_meta import redirects_to
from .internal_requests import CrawlClosing, details_of
from .request_budgets import STARTER_SHARE, SpreadBudget, StarterBudget

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ..learn.live import Learning
    from ..observe.repeats import Repeats
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from ..support.idle_hook import BeforeIdle
    from ..support.tally import Tally
    from .internal_requests import InternalRequests, RequestDetails
    from .revisits import Revisits

#: Requests that are remembered, so that they can be made again; some kilobytes each.
MOST_REQUESTS: Final = 4_000
#: Contents that have shown again on a site whose texts need not be looked at.
REPEATS: Final = 10
#: Learnings of a site, before the spider runs idle, for what to fetch again.
MOST_ASKED: Final = 3


@attrs.define(eq=False, repr=False, kw_only=True)
class StarterRefetches:
    """Fetches again what learning suggests, as far as the starter budget of a site allows."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _tally: "Tally"
    _repeats: "Repeats"
    _learning: "Learning"
    _starter_budget: StarterBudget
    _internal_requests: "InternalRequests"
    _revisits: "Revisits"
    _before_idle: "BeforeIdle"
    _spread: SpreadBudget = attrs.field(init=False)
    _wanted: bool = attrs.field(init=False)
    #: Site -> URL -> the details of its request.
    _details: "defaultdict[str, dict[str, RequestDetails]]" = attrs.field(factory=lambda: defaultdict(dict), init=False)
    _remembered: int = attrs.field(default=0, init=False)
    #: Site -> the latest of these that is HTML, of a kind whose texts may change.
    _latest: dict[str, str] = attrs.field(factory=dict, init=False)
    #: Site -> URLs that are to be fetched again.
    _suggested: dict[str, deque[str]] = attrs.field(factory=dict, init=False)
    #: URLs of pages from which spot checks differed.
    _doubted: set[str] = attrs.field(factory=set, init=False)
    #: Site -> how often it was learned for what to fetch again, as the spider was about to run idle.
    _asked: Counter[str] = attrs.field(factory=Counter, init=False)
    #: Sites of which pages are being fetched again.
    _at_work: set[str] = attrs.field(factory=set, init=False)
    _is_asking: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._spread = SpreadBudget(self._stats, self._tally, self._starter_budget)
        # A cached answer shows nothing that has changed.
        self._wanted = bool(
            self._settings.starter
            and self._settings.store_texts
            and not self._crawler.settings.getbool("HTTPCACHE_ENABLED")
        )

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note the request of a page that has come."""
        if not self._wanted or self._remembered >= MOST_REQUESTS or not self._settings.learns(site):
            return
        if response.status != 200 or "cached" in response.flags or not self._starter_budget.may_have_room(site):
            return
        known = self._details[site]
        if request.url in known or redirects_to(request) or not is_plain_get(request):
            return
        details = details_of(request)
        if details is not None:
            known[request.url] = details
            self._remembered += 1
            if isinstance(response, HtmlResponse) and not self._repeats.has_kind(site, request.url):
                self._latest[site] = request.url

    def suggest(self, sites: Collection[str], suggested: Mapping[str, Sequence[str]]) -> None:
        """Fetch again, one after the other, the pages that a learning of *sites* suggests: site -> URLs."""
        for site in sites:
            details = self._details.get(site, {})
            known = deque(url for url in suggested.get(site, ()) if url in details and not acts(url))
            if known and self._may_fetch(site):
                self._suggested[site] = known
            elif site in self._asked:
                self._asked[site] = MOST_ASKED
        self._begin()

    def ask(self, site: str, url: str) -> bool:
        """Fetch a page again from which a spot check differs, once; return whether that is possible, or on its way."""
        if url in self._doubted:
            return site in self._at_work
        if url not in self._details.get(site, ()) or acts(url) or not self._may_fetch(site):
            return False
        self._doubted.add(url)
        self._suggested.setdefault(site, deque()).append(url)
        self._begin()
        return True

    def came(self, site: str) -> None:
        """Fetch a page again if enough pages of a site have come since the last one, or to see whether texts change."""
        if self._tally.of(site).pages == round(1 / STARTER_SHARE) and self._may_look(site):
            self.suggest((site,), {site: (self._latest[site],)})
        due = self._revisits.teaches and self._tally.of(site).pages % LEAST == 0
        if due and site not in self._at_work and self._may_teach(site):
            self._start(site)

    def _may_look(self, site: str) -> bool:
        """Whether a page is to be fetched again since nothing shows yet if texts change with each response, which hides duplicates."""
        told = self._repeats.number[site] or site in self._repeats.changing or self._spread.spent_on(site)
        return self._settings.learns_live and not told and site in self._latest

    def before_idle(self) -> bool:
        """Begin what is left to do; return whether something goes on."""
        self._begin()
        if not self._is_at_work and self._internal_requests.are_possible:
            if sites := self._unasked():
                self._is_asking = True
                deferred_from_coro(self._ask(sites)).addErrback(lambda _: None)
            elif self._revisits.teaches:
                self._spend_rest()
        return self._is_at_work

    def _spend_rest(self) -> None:
        """Let what learning has not asked for show what is drawn anew."""
        sites = self._revisits.sites
        self._spread.free.update(sites)
        for site in sites:
            if self._may_teach(site):
                self._start(site)

    @property
    def _is_at_work(self) -> bool:
        return self._is_asking or bool(self._at_work)

    def _may_fetch(self, site: str) -> bool:
        return self._wanted and self._starter_budget.room(site) > 0 and site not in self._internal_requests.barred

    def _may_teach(self, site: str) -> bool:
        """Whether a page is to be fetched again now that shows what is drawn anew."""
        return (
            self._wanted
            and self._spread.room(site) > 0
            and self._tally.of(site).pages >= LEAST
            and site not in self._internal_requests.barred
            and self._settings.learns(site)
            and self._revisits.may_teach(site)
        )

    def _begin(self) -> None:
        if self._internal_requests.are_possible:
            for site in self._suggested.keys() - self._at_work:
                self._start(site)

    def _start(self, site: str) -> None:
        self._at_work.add(site)
        deferred_from_coro(self._work(site)).addErrback(lambda _: None)

    def _unasked(self) -> list[str]:
        """Return the sites that may be learned for what to fetch again: hardly any text has shown again there."""
        if not self._wanted or self._status.is_closing:
            return []
        return [
            site
            for site in self._learning.schedule.news
            if self._settings.learns(site)
            and self._asked[site] < MOST_ASKED
            and self._tally.of(site).pages >= LEAST
            and (site in self._repeats.changing or (site in self._latest and self._repeats.number[site] < REPEATS))
            and self._may_fetch(site)
        ]

    async def _ask(self, sites: Sequence[str]) -> None:
        try:
            asked = await self._learning.ask(sites)
            self._asked.update({site: 1 if site in asked else MOST_ASKED for site in sites})
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._give_up()
        finally:
            self._is_asking = False
            self._before_idle.wake()

    async def _work(self, site: str) -> None:
        recorded = False
        try:
            while True:
                if self._is_suggested(site):
                    recorded |= await self._fetch(self._suggested[site].popleft(), site)
                elif not await self._teach(site) and not self._is_suggested(site):
                    break
            if not self._starter_budget.may_have_room(site) or site in self._internal_requests.barred:
                self._remembered -= len(self._details.pop(site, ()))
        except CrawlClosing:
            pass
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._give_up()
        finally:
            self._suggested.pop(site, None)
            self._at_work.discard(site)
            if recorded:
                self._learning.refetched(site)
            self._before_idle.wake()

    def _give_up(self) -> None:
        self._faults.report("starter", "Pages could not be fetched again")
        self._wanted = False
        self._suggested.clear()

    def _is_suggested(self, site: str) -> bool:
        return bool(self._suggested.get(site)) and self._may_fetch(site)

    async def _teach(self, site: str) -> bool:
        return self._may_teach(site) and await self._revisits.teach(site, self._spread)

    async def _fetch(self, url: str, site: str) -> bool:
        """Fetch a page again; return whether it is recorded as another version."""
        details = self._details[site][url]
        row = await self._internal_requests.fetch_again(url, site, self._starter_budget, like=details, at_once=True)
        if row is None:
            return False
        self._repeats.note(row)
        self._revisits.fetched(url, site)
        return True
