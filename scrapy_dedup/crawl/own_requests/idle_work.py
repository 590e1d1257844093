"""Idle work: starter refetches and revisits, before the spider closes."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import attrs
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from ...store.ledger_queries import some_discards
from ..support.compatibility import robots_of
from .internal_requests import CrawlClosing
from .request_budgets import GrantedBudget

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from ..support.idle_hook import BeforeIdle
    from ..support.tally import Tally
    from .internal_requests import InternalRequests
    from .request_budgets import SavingsBudget
    from .revisits import Revisits
    from .starter import StarterRefetches


#: Filtered requests of a site that are looked at.
_SOME: Final = 100


class RobotsFiles:
    """The robots.txt files that the crawl has read."""

    def __init__(self, crawler: "Crawler", status: "CrawlStatus", store: "CrawlStore") -> None:
        self._status = status
        self._store = store
        settings = crawler.settings
        self._agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        self._parser_of = robots_of(crawler) if settings.getbool("ROBOTSTXT_OBEY") else None

    async def allowed(self, site: str) -> float:
        """Return the share of the filtered requests of *site* that would have been fetched. Raises StoreError.

        Hosts whose robots.txt nobody has read count as forbidden.
        """
        if self._parser_of is None:
            return 1.0
        urls = await run_in_thread(self._filtered, site)
        allowed = sum(self._is_allowed(url) for url in urls)
        return allowed / len(urls) if urls else 0.0

    def _filtered(self, site: str) -> list[str]:
        with self._store.read() as store:
            return some_discards(store, self._store.scope, site, since=self._status.began, limit=_SOME)

    def _is_allowed(self, url: str) -> bool:
        parser = None if self._parser_of is None else self._parser_of(urlsplit(url).netloc)
        return parser is not None and bool(parser.allowed(url, self._agent))


@attrs.define(eq=False, repr=False, kw_only=True)
class IdleWork:
    """Revisits of one crawl, paid out of what it has saved, after its starter refetches."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _faults: "Faults"
    _tally: "Tally"
    _savings_budget: "SavingsBudget"
    _internal_requests: "InternalRequests"
    _revisits: "Revisits"
    _starter: "StarterRefetches"
    _robots: RobotsFiles
    _before_idle: "BeforeIdle"
    _wanted: bool = attrs.field(init=False)
    #: Whether revisits were asked for, whatever they cost.
    _asked: bool = attrs.field(init=False)
    _at_work: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        # Who replays a cache and nothing else wants no requests.
        given = self._crawler.settings
        replays = given.getbool("HTTPCACHE_ENABLED") and given.getbool("HTTPCACHE_IGNORE_MISSING")
        self._wanted = bool(self._settings.extra or self._settings.revisits) and not replays
        self._asked = self._settings.revisits > 0

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
        paid = [site for site in self._tally.sites if site in to_revisit and self._savings_budget.room(site)]
        return list(dict.fromkeys((*asked, *paid)))

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note a page that has come, which may be fetched again."""
        self._starter.note(request, response, site)
        self._revisits.note(request, response, site)
        self._starter.came(site)

    async def _work(self, sites: list[str]) -> None:
        try:
            for site in sites:
                await self._work_on(site)
        except CrawlClosing:
            pass
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("extra", "Pages could not be fetched again")
            self._wanted = False
        finally:
            self._at_work = False
            self._before_idle.wake()

    async def _work_on(self, site: str) -> None:
        if self._asked:
            await self._revisits.run(site, GrantedBudget(self._revisits.waiting(site)))
        elif self._savings_budget.room(site):
            self._savings_budget.real[site] = await self._robots.allowed(site)
            await self._revisits.run(site, self._savings_budget)
