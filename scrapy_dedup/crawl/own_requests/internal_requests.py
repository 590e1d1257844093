"""The plug-in's own requests: they go through the spider's engine, and end there.

Robots.txt, delays, AutoThrottle, proxies and cookies apply as to any request; callbacks, spider
middlewares, the dupe filter and the HTTP cache never see them. They are made one at a time on each site, while nothing is
queued (starter refetches at once), each is paid for, and a site that answers with an error is left alone from then on.
"""

import logging
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import run_in_thread

from ..observe.store_rows import LaterRow, base_row, is_quick, page_row, redirect_row
from ..seen.ledger import passing
from ..support.request_meta import SWITCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from scrapy.statscollectors import StatsCollector

    from ...store.rows import ObservationRow
    from ..learn.live import Learning
    from ..observe.excluded_responses import ExcludedResponses
    from ..observe.kept_texts import KeptTexts
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.idle_hook import BeforeIdle
    from .request_budgets import RequestBudget

logger = logging.getLogger(__name__)

#: What the meta of these requests says: they are nobody else's, neither answered by nor kept in the HTTP
#: cache, and each is one request, not several.
META: Final[dict[str, Any]] = {SWITCH: False, "dont_cache": True, "dont_retry": True, "dont_redirect": True}
#: Answers after which a site is left alone: it asks for who is there, for fewer requests, or is in trouble.
ENOUGH: Final = frozenset((401, 403, 407, 408, 429))
#: Requests that robots.txt or another middleware has refused, after which a site is left alone.
MOST_REFUSED: Final = 20


#: What a meta may hold in a request that is made again.
_PLAIN: Final = (str, int, float, bool, NoneType)


class RequestDetails(NamedTuple):
    """The parts of a page's request besides its URL, to make it again."""

    meta: "Mapping[str, Any]"
    headers: "Headers | None" = None
    cookies: Any = None


def details_of(request: Request) -> RequestDetails | None:
    """Return the details of *request*, which was answered; None if it cannot be made again."""
    meta = {}
    for name, value in request.meta.items():
        if not passing(name):
            if not isinstance(value, _PLAIN):
                return None  # a browser's page, say, which is gone
            meta[name] = value
    return RequestDetails(meta, request.headers, request.cookies)


class CrawlClosing(Exception):
    """No more requests can be made: the spider closes, or is paused."""


@attrs.define(eq=False, repr=False, kw_only=True)
class InternalRequests:
    """Makes the plug-in's own requests, and records what comes."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _excluded: "ExcludedResponses"
    _kept_texts: "KeptTexts"
    _learning: "Learning"
    _before_idle: "BeforeIdle"
    #: Sites that are left alone.
    barred: set[str] = attrs.field(factory=set, init=False)
    _refused: dict[str, int] = attrs.field(factory=dict, init=False)

    @property
    def are_possible(self) -> bool:
        """Whether requests can be made: the spider neither closes nor is paused."""
        engine = self._status.engine
        return bool(engine.running and not engine.paused and self._status.is_open)

    async def fetch(
        self,
        url: str,
        site: str,
        budget: "RequestBudget",
        *,
        method: str = "GET",
        like: RequestDetails | None = None,
        at_once: bool = False,
    ) -> "Response | None":
        """Return the answer for *url*; None if there is none, or if nobody pays for it.

        *like* has what else the request is made of. Unless *at_once*, it waits until no request of the spider is queued.
        Raises CrawlClosing.
        """
        if not at_once:
            await self._before_idle.wait_for_turn()
        if not self.are_possible:
            raise CrawlClosing
        if site in self.barred or not budget.take(site):
            return None
        request = self._request(url, method, like or RequestDetails({}))
        try:
            response: Response = await self._status.engine.download_async(request)
        except IgnoreRequest as error:
            budget.give_back(site)
            self._refused[site] = self._refused.get(site, 0) + 1
            if self._refused[site] >= MOST_REFUSED:
                self._bar(site, str(error))
            return None
        except Exception as error:  # noqa: BLE001 (whatever a download can end with)
            self._bar(site, f"{type(error).__name__}: {error}")
            return None
        if response.status in ENOUGH or response.status >= 500:
            self._bar(site, f"status {response.status}")
            return None
        return response

    async def fetch_again(
        self, url: str, site: str, budget: "RequestBudget", *, like: RequestDetails, at_once: bool = False
    ) -> "ObservationRow | None":
        """Fetch a page once more, as :meth:`fetch`, and record it; return its row if it is another version. Raises CrawlClosing."""
        response = await self.fetch(url, site, budget, like=like, at_once=at_once)
        if response is None:
            return None
        self._stats.inc_value("dedup/revisits")
        row = await self.row(response, site)
        if row is None or row.fingerprints is None:
            return None
        self.record(row)
        self._stats.inc_value("dedup/revisits/recorded")
        return row

    def _request(self, url: str, method: str, like: RequestDetails) -> Request:
        meta = {**like.meta, **META}
        headers = dict(like.headers.items()) if like.headers is not None else {}
        headers.pop(b"Proxy-Authorization", None)
        if self._crawler.settings.getbool("COOKIES_ENABLED") and not meta.get("dont_merge_cookies"):
            headers.pop(b"Cookie", None)  # the jar has the newest ones
        return Request(
            url,
            method=method,
            callback=NO_CALLBACK,
            dont_filter=True,
            headers=headers,
            cookies=like.cookies,
            meta=meta,
        )

    def _bar(self, site: str, why: str) -> None:
        self.barred.add(site)
        self._stats.inc_value("dedup/extra/stopped")
        logger.info(
            "No more refetches of %(site)s in this crawl (%(why)s)",
            {"site": site, "why": why},
            extra={"spider": self._status.spider},
        )

    async def row(self, response: "Response", site: str) -> "ObservationRow | None":
        """Return what was seen as a row of the store; None if it was cut off."""
        request = response.request
        if request is None:
            return None
        if response.status == 200 and (reason := self._excluded.cut_off(response, site)):
            self._excluded.add(reason)
            return None
        base = base_row(request, response, self._store.scope, site, self._status, from_cache=False)
        if 300 <= response.status < 400:
            return redirect_row(request, response, base)
        if response.status != 200 or request.method != "GET":
            return base
        versioned = self._kept_texts.kept
        if is_quick(response):
            return page_row(response, base, self._settings.max_body, versioned=versioned)
        return await run_in_thread(LaterRow(response, base, self._settings.max_body, versioned=versioned))

    def record(self, row: "ObservationRow") -> None:
        """Hand over a row to the store, as that of any response."""
        if self._store.add(row):
            self._stats.inc_value("dedup/recorded")
            self._learning.count(row.site)
