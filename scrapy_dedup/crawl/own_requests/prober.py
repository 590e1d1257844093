"""Probes: the site is asked whether a parameter matters, where nobody knows.

Per page: the unchanged URL, as the control; the URL with another value that the site uses itself; the
URL without the parameter. What comes is recorded like any other response, so that learning sees it. A page that is not
what it was, when it is fetched once more, says nothing.
"""

import logging
from typing import TYPE_CHECKING, Final

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...learning.asking.doubts import Doubt
from ...learning.asking.probe_outcomes import (
    HeadFingerprint,
    ProbedParameter,
    ProbeOutcome,
    ProbeVerdict,
    head_fingerprint,
    head_outcome,
    verdict,
)
from ...learning.contents import Contents, why_no_page
from ...store.page_queries import some_pages
from ...urls.acting import acts
from ..verify.comparing import observation_of_row

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ...observation import Observation
    from ...store.rows import ObservationRow
    from ..identity.identities import Identities
    from ..observe.site_masks import SiteMasks
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from .internal_requests import InternalRequests
    from .request_budgets import RequestBudget

logger = logging.getLogger(__name__)

#: Requests that the probe of one page may take: without room for so many, none is begun.
PER_PAGE: Final = 3
#: Pages that tell the frame of a site.
FRAME: Final = 40
#: Of pages of so many bytes HEAD is asked for first.
LONG: Final = 100_000


@attrs.define(eq=False, repr=False, kw_only=True)
class Prober:
    """Probes the parameters of sites."""

    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _identities: "Identities"
    _masks: "SiteMasks"
    _internal_requests: "InternalRequests"
    #: URLs of pages that were tried, with the parameter.
    _done: set[tuple[str, str]] = attrs.field(factory=set, init=False)
    tried: list[ProbedParameter] = attrs.field(factory=list, init=False)
    #: Site -> some of its pages, which tell what its frame is: that a frame lasts under a mask says nothing.
    _frames: "dict[str, list[Observation]]" = attrs.field(factory=dict, init=False)

    def _frame_of(self, site: str) -> "list[Observation]":
        if self._masks.of_site(site) is None:
            return []
        with self._store.read() as store:
            return some_pages(store, self._store.scope, site, FRAME)

    async def run(self, found: list[Doubt], budget: "RequestBudget") -> None:
        """Probe these, one page of each after the other, as far as *budget* pays for it. Raises CrawlClosing, StoreError."""
        for site in {doubt.site for doubt in found}:
            self._frames[site] = await run_in_thread(self._frame_of, site)
        open_doubts = [(ProbedParameter(doubt), list(doubt.pages)) for doubt in found]
        self.tried += [tried for tried, _ in open_doubts]
        while open_doubts:
            left = []
            for tried, pages in open_doubts:
                site = tried.doubt.site
                while pages and (pages[0].url, tried.doubt.key) in self._done:
                    pages.pop(0)
                if not pages or site in self._internal_requests.barred or budget.room(site) < PER_PAGE:
                    continue
                page = pages.pop(0)
                self._done.add((page.url, tried.doubt.key))
                self._add(tried, page.url, await self._probe(tried.doubt, page, budget))
                if not tried.number(ProbeVerdict.RELEVANT):
                    left.append((tried, pages))
            open_doubts = left

    def _add(self, tried: ProbedParameter, url: str, found: ProbeVerdict) -> None:
        tried.verdicts.append((url, found))
        self._stats.inc_value("dedup/probes/pages")
        self._stats.inc_value(f"dedup/probes/{found}")
        logger.debug(
            "Probed %(key)s of %(site)s: %(verdict)s",
            {"key": tried.doubt.key, "site": tried.doubt.site, "verdict": found},
            extra={"spider": self._status.spider},
        )

    async def _probe(self, doubt: Doubt, page: "Observation", budget: "RequestBudget") -> ProbeVerdict:
        """Probe one page."""
        changed, dropped = doubt.variants(page.url)
        if changed is None or any(url and acts(url) for url in (page.url, changed, dropped)):
            return ProbeVerdict.UNDECIDED
        if (page.length or 0) >= LONG and await self._differ_by_head(doubt.site, page.url, changed, budget):
            return ProbeVerdict.RELEVANT
        control = await self._answer(page.url, doubt.site, budget)
        mine = control and observation_of_row(control)
        if control is None or mine is None or self._outcome(page, control) is not ProbeOutcome.SAME:
            return ProbeVerdict.UNDECIDED
        self._internal_requests.record(control)
        other = await self._answer(changed, doubt.site, budget)
        by_change = self._outcome(mine, other)
        if by_change is ProbeOutcome.OTHER:
            self._record(other)
            return ProbeVerdict.RELEVANT
        none = await self._answer(dropped, doubt.site, budget) if dropped else None
        by_dropping = self._outcome(mine, none)
        found = verdict(by_change, by_dropping)
        if by_change is ProbeOutcome.SAME:
            self._record(other)
        # Nobody links to a URL that lacks what must be there: what it shows would only mislead learning.
        if by_dropping is ProbeOutcome.SAME or found is ProbeVerdict.RELEVANT:
            self._record(none)
        return found

    async def _differ_by_head(self, site: str, url: str, changed: str, budget: "RequestBudget") -> bool:
        """Whether HEAD is enough to see that another value makes another page: while that of the page stays as it is."""
        before = await self._head(url, site, budget)
        if before is None or head_outcome(before, await self._head(changed, site, budget)) is not ProbeOutcome.OTHER:
            return False
        after = await self._head(url, site, budget)
        return after is not None and head_outcome(before, after) is ProbeOutcome.UNKNOWN and before == after

    async def _head(self, url: str, site: str, budget: "RequestBudget") -> HeadFingerprint | None:
        response = await self._internal_requests.fetch(url, site, budget, method="HEAD")
        if response is None:
            return None
        self._stats.inc_value("dedup/probes/requests")
        if response.status != 200:
            return None
        names = (b"Content-Digest", b"Content-MD5", b"ETag", b"Content-Length")
        return head_fingerprint(
            {name.decode(): (response.headers.get(name) or b"").decode("latin-1") for name in names}
        )

    async def _answer(self, url: str, site: str, budget: "RequestBudget") -> "ObservationRow | None":
        response = await self._internal_requests.fetch(url, site, budget)
        if response is None:
            return None
        self._stats.inc_value("dedup/probes/requests")
        return await self._internal_requests.row(response, site)

    def _outcome(self, page: "Observation", row: "ObservationRow | None") -> ProbeOutcome:
        if row is None or 300 <= row.status < 400:
            return ProbeOutcome.UNKNOWN  # a redirect may lead back
        if 400 <= row.status < 500:
            return ProbeOutcome.FAILS
        found = observation_of_row(row)
        if found is None or why_no_page(found):
            return ProbeOutcome.UNKNOWN
        frame = self._frames.get(self._identities.site_and_mode(page.url)[0], ())
        contents = Contents((found, page, *frame), self._masks.of(page.url))
        is_equal = contents.equal(found, page)
        if is_equal is None or (is_equal and contents.differ_unseen(found, page)):
            return ProbeOutcome.UNKNOWN
        return ProbeOutcome.SAME if is_equal else ProbeOutcome.OTHER

    def _record(self, row: "ObservationRow | None") -> None:
        if row is not None:
            self._internal_requests.record(row)
