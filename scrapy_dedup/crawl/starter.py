"""Starter refetches: pages of a site fetched again before anything is saved there, to learn what changes on all pages.

Where no two responses are equal, no rule can be learned. Each learning says which pages decide most when they are fetched again
(:mod:`scrapy_dedup.learning.refetching`); these are, one after the other, while the crawl goes on, and the site is learned again.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.defer import deferred_from_coro

from ..urls.acting import acts
from .budget import Starter
from .errands import Closing, copied
from .identities import is_plain_get
from .marks import redirects_to
from .times import LEAST, REPEATS

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from .errands import Errands
    from .shared import Shared

#: Requests that are remembered, so that they can be made again; some kilobytes each.
MOST_REQUESTS: Final = 4_000
#: Learnings of a site, before the spider runs idle, for what to fetch again.
MOST_ASKED: Final = 3


class StarterRefetches:
    """Fetches again what learning suggests, as far as the starter budget of a site allows."""

    def __init__(self, shared: "Shared", errands: "Errands") -> None:
        self._shared = shared
        self._errands = errands
        self.purse = Starter(shared)
        settings = shared.crawler.settings
        # A cached answer shows nothing that has changed.
        self._wanted = bool(
            shared.settings.starter and shared.settings.store_texts and not settings.getbool("HTTPCACHE_ENABLED")
        )
        #: URL -> what its request was made of.
        self._requests: dict[str, dict[str, Any]] = {}
        #: Site -> URLs that are to be fetched again.
        self._suggested: dict[str, deque[str]] = {}
        #: Site -> how often it was learned for what to fetch again, as the spider was about to run idle.
        self._asked: dict[str, int] = {}
        self._at_work = False

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note the request of a page that has come."""
        if not self._wanted or len(self._requests) >= MOST_REQUESTS or response.status != 200:
            return
        if (
            request.url in self._requests
            or not self._shared.settings.learns(site)
            or not self.purse.may_have_room(site)
        ):
            return
        if redirects_to(request) or not is_plain_get(request) or acts(request.url):
            return
        found = copied(request, self._shared.crawler.settings)
        if found is not None:
            self._requests[request.url] = found

    def suggest(self, sites: Collection[str], suggested: Mapping[str, Sequence[str]]) -> None:
        """Fetch again, one after the other, the pages that a learning of *sites* suggests: site -> URLs."""
        for site in sites:
            known = [url for url in suggested.get(site, ()) if url in self._requests]
            if self._wanted and known and self.purse.room(site) > 0 and site not in self._errands.barred:
                self._suggested[site] = deque(known)
            elif site in self._asked:
                self._asked[site] = MOST_ASKED
        self._begin()

    def before_idle(self) -> bool:
        """Begin what is left to do; return whether something goes on."""
        learning = self._shared.learning
        if self._wanted and not self._at_work and self._errands.open and not learning.swapping.ceased:
            self._begin()
            if not self._at_work and (sites := self._unasked()):
                self._asked.update((site, self._asked.get(site, 0) + 1) for site in sites)
                learning.ask(sites)
                return learning.is_replacing()
        return self._at_work

    def _begin(self) -> None:
        if self._suggested and not self._at_work and self._errands.open:
            self._at_work = True
            deferred_from_coro(self._work()).addErrback(lambda _: None)

    def _unasked(self) -> list[str]:
        """Return the sites that may be learned for what to fetch again: hardly any text has shown again there."""
        shared = self._shared
        return [
            site
            for site in shared.learning.times.news
            if shared.settings.learns(site)
            and self._asked.get(site, 0) < MOST_ASKED
            and shared.tally.of(site).pages >= LEAST
            and self.purse.room(site) > 0
            and site not in self._errands.barred
            and (site in shared.repeats.changing or shared.repeats.number[site] < REPEATS)
        ]

    async def _work(self) -> None:
        shared = self._shared
        try:
            while self._suggested:
                site, urls = next(iter(self._suggested.items()))
                recorded = False
                while urls and self.purse.room(site) > 0 and site not in self._errands.barred:
                    recorded |= await self._fetch(urls.popleft(), site)
                del self._suggested[site]
                if recorded:
                    shared.learning.refetched(site)
        except Closing:
            self._suggested.clear()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("starter", "Pages could not be fetched again")
            self._wanted = False
            self._suggested.clear()
        finally:
            self._at_work = False
            shared.before_idle.wake()

    async def _fetch(self, url: str, site: str) -> bool:
        """Fetch a page again; return whether it is recorded as another version."""
        response = await self._errands.fetch(url, site, self.purse, like=self._requests[url], at_once=True)
        if response is None:
            return False
        self._shared.stats.inc_value("dedup/revisits")
        row = await self._errands.row(response, site)
        if row is None or row.fingerprints is None:
            return False
        self._errands.record(row)
        self._shared.repeats.note(row)
        self._shared.stats.inc_value("dedup/revisits/recorded")
        return True
