"""Revisits: a few pages of each kind are fetched a second time, so that passing content can be found.

What differs between two versions of a page is not what the page is. A revisit is the
request that fetched the page, once more, and its answer is recorded and goes nowhere else. Most are made before the
spider runs idle. Where fields of items are named, some are made while the crawl goes on, and within moments of the first fetch:
that shows what is drawn anew with each response.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs
from scrapy import signals
from scrapy.http import HtmlResponse
from scrapy.utils.asyncio import run_in_thread

from ...masks.retention import MOMENTS
from ...urls.acting import acts
from ...urls.templates import template_of
from ..identity.identities import is_plain_get
from ..support.item_fields import values_of
from ..support.request_meta import is_start, redirects_to
from .internal_requests import details_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ...store.rows import ObservationRow
    from ..identity.identities import Identities
    from ..observe.kept_texts import KeptTexts
    from ..observe.repeats import Repeats
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from .internal_requests import InternalRequests, RequestDetails
    from .request_budgets import RequestBudget

#: Pages per kind where nobody has asked for a number.
FEW: Final = 3
#: Pages of a kind that were fetched twice within moments, in this crawl or before, after which no more need be.
ENOUGH: Final = 4
#: Kinds of pages of which some are remembered.
MOST_KINDS: Final = 2_000
#: Pages that spiders start with and that are remembered; where there are more, no further page is noted.
MOST_STARTS: Final = 20_000


class _RevisitPage(NamedTuple):
    """A page that may be fetched again."""

    details: "RequestDetails"
    #: When it came, by the monotonic clock.
    at: float
    is_html: bool

    @property
    def is_fresh(self) -> bool:
        """Whether it was fetched within moments."""
        return monotonic() - self.at <= MOMENTS


@dataclass(slots=True)
class _RevisitKind:
    """What is remembered of a kind of pages."""

    #: What may be fetched, the first page first, and how many have come to stand there.
    waiting: dict[str, _RevisitPage] = field(default_factory=dict)
    noted: int = 0
    #: URLs that were fetched twice within moments; of earlier crawls no more than are enough.
    twice: set[str] = field(default_factory=set)
    #: Items of its pages with fields that are named.
    items: int = 0

    @property
    def order(self) -> tuple[bool, int, float]:
        """What kinds are sorted by, that of which a page is to be fetched again first: each further page says less."""
        twice = len(self.twice)
        return not self.items, min(twice, 1), -self.items / (1 + twice) ** 3

    def teaching(self) -> str | None:
        """Return the page that tells most of what is drawn anew: of those that came within moments the first; None without."""
        if len(self.twice) >= ENOUGH:
            return None
        its = (url for url, page in self.waiting.items() if page.is_html and self._may_teach(url))
        return next(its, None)

    def idle(self) -> str | None:
        """Return a page that waits and teaches no more; None without."""
        return next((url for url in self.waiting if not self._may_teach(url)), None)

    def _may_teach(self, url: str) -> bool:
        return self.waiting[url].is_fresh and url not in self.twice


@attrs.define(eq=False, repr=False, kw_only=True)
class Revisits:
    """Remembers pages of each kind, and fetches them again."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _faults: "Faults"
    _store: "CrawlStore"
    _identities: "Identities"
    _kept_texts: "KeptTexts"
    _repeats: "Repeats"
    _internal_requests: "InternalRequests"
    #: Whether the starter budget pays for some: fields are named, and nobody has asked for a number.
    teaches: bool = attrs.field(init=False)
    _per_kind: int = attrs.field(init=False)
    #: What tells a site and a kind of its pages -> that.
    _kinds: dict[int, _RevisitKind] = attrs.field(factory=dict, init=False)
    #: What spiders start with is fetched again where a page links it, so that there are two versions of it.
    _starts: set[str] = attrs.field(factory=set, init=False)
    #: Site -> its kinds of pages.
    _waiting: defaultdict[str, list[_RevisitKind]] = attrs.field(factory=lambda: defaultdict(list), init=False)
    #: Sites of which was looked up what was fetched twice in earlier crawls, and what that was, of kinds not met yet.
    _looked_up: set[str] = attrs.field(factory=set, init=False)
    _earlier: dict[int, set[str]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.teaches = bool(
            self._settings.content_fields
            and self._settings.strip != "off"
            and self._settings.starter
            and not self._settings.revisits
        )
        self._per_kind = self._settings.revisits or (FEW if self._settings.extra or self.teaches else 0)
        if self.teaches:
            self._crawler.signals.connect(self._count, signals.item_scraped)

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note a page that has come."""
        if not self._per_kind or response.status != 200 or "cached" in response.flags:
            return
        number = hash((site, template_of(request.url)))
        kind = self._kinds.get(number)
        if len(self._kinds) >= MOST_KINDS if kind is None else not self._has_room(kind, request.url, site):
            return
        if redirects_to(request) or not is_plain_get(request) or request.url in self._starts:
            return
        if is_start(request) and not self._settings.revisits:
            self._starts.add(request.url)
            if len(self._starts) >= MOST_STARTS:
                self._per_kind = 0
            return
        if acts(request.url):
            return
        details = details_of(request)
        if details is None:
            return
        if kind is None:
            kind = self._kinds[number] = _RevisitKind(twice=self._earlier.pop(number, set()))
            self._waiting[site].append(kind)
        kind.noted += 1
        kind.waiting[request.url] = _RevisitPage(details, monotonic(), isinstance(response, HtmlResponse))

    def _has_room(self, kind: _RevisitKind, url: str, site: str) -> bool:
        """Whether a page may be noted; one that teaches no more makes room for it where those within moments teach."""
        if kind.noted < self._per_kind:
            return True
        if not self.teaches or url in kind.twice or not self._kept_texts.keeps(site, url):
            return False
        idle = kind.idle()
        if idle is None:
            return False
        del kind.waiting[idle]
        kind.noted -= 1
        return True

    def _count(self, item: Any, response: Any) -> None:
        """Count an item of a page, if it has a field that is named."""
        try:
            request = getattr(response, "request", None)
            if request is None:
                return
            site, _ = self._identities.site_and_mode(request.url)
            kind = self._kinds.get(hash((site, template_of(request.url))))
            if kind is not None and any(True for name in self._fields for _ in values_of(item, name)):
                kind.items += 1
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fields", "An item could not be looked at")

    @property
    def _fields(self) -> Iterator[str]:
        return iter(self._settings.content_fields)

    def fetched(self, url: str, site: str) -> None:
        """Note that a page was fetched again for another reason; it counts among those of its kind that DEDUP_REVISITS asks for."""
        kind = self._kinds.get(hash((site, template_of(url))))
        if kind is None:
            return
        page = kind.waiting.pop(url, None)
        if page is not None and page.is_fresh:
            kind.twice.add(url)
        elif page is None and kind.waiting and not self.teaches:
            kind.waiting.popitem()

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites of which pages wait for a revisit."""
        barred = self._internal_requests.barred
        return tuple(site for site in self._waiting if self.waiting(site) and site not in barred)

    def waiting(self, site: str) -> int:
        """Return how many pages of a site wait."""
        return sum(len(kind.waiting) for kind in self._waiting.get(site, ()))

    async def run(self, site: str, budget: "RequestBudget") -> None:
        """Fetch what waits, as far as *budget* pays for it: a page of each kind before the second one of another. Raises CrawlClosing."""
        while kinds := [kind for kind in self._waiting.get(site, ()) if kind.waiting]:
            for kind in sorted(kinds, key=lambda each: -each.items):
                if budget.room(site) < 1 or site in self._internal_requests.barred:
                    return
                if kind.waiting:
                    await self._fetch(kind, next(iter(kind.waiting)), site, budget)

    # What is drawn anew

    def may_teach(self, site: str) -> bool:
        """Whether a page of a site may show what is drawn anew; more surely so once earlier crawls were looked up."""
        return self.teaches and any(kind.teaching() is not None for kind in self._waiting.get(site, ()))

    async def teach(self, site: str, budget: "RequestBudget") -> bool:
        """Fetch the page again that tells most of what is drawn anew; return whether there was one. Raises CrawlClosing."""
        if site not in self._looked_up:
            self._looked_up.add(site)
            await self._look_up(site)
        found = [(kind, url) for kind in self._waiting.get(site, ()) if (url := kind.teaching()) is not None]
        if not found:
            return False
        # What goes into items comes first: a page of each kind before the second one of another, and then where most items are.
        kind, url = min(found, key=lambda each: each[0].order)
        row = await self._fetch(kind, url, site, budget, at_once=True)
        if row is not None:
            self._repeats.note(row)  # it tells whether texts change, too
        return True

    async def _look_up(self, site: str) -> None:
        """Find out what earlier crawls have fetched twice within moments."""
        for url in await run_in_thread(self._fetched_before, site):
            number = hash((site, template_of(url)))
            kind = self._kinds.get(number)
            known = self._earlier.setdefault(number, set()) if kind is None else kind.twice
            if len(known) < ENOUGH:
                known.add(url)
            if len(self._earlier) >= MOST_KINDS:
                break

    def _fetched_before(self, site: str) -> list[str]:
        from ...store.page_queries import fetched_within
        from ...store.store import Store, StoreError

        try:
            with Store.open(self._store.path, readonly=True) as store:
                return list(fetched_within(store, self._store.scope, site, MOMENTS, before=self._status.began))
        except StoreError:  # in a first crawl it may not be made yet
            return []

    async def _fetch(
        self, kind: _RevisitKind, url: str, site: str, budget: "RequestBudget", *, at_once: bool = False
    ) -> "ObservationRow | None":
        page = kind.waiting.pop(url)
        row = await self._internal_requests.fetch_again(url, site, budget, like=page.details, at_once=at_once)
        if row is not None and page.is_fresh:
            kind.twice.add(url)
        return row
