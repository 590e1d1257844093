"""Revisits: a few pages of each kind are fetched a second time, so that passing content can be found.

What differs between two versions of a page is not what the page is. A revisit is the
request that fetched the page, once more, before the spider runs idle; its answer is recorded and goes nowhere else.
"""

from collections import deque
from typing import TYPE_CHECKING, Final

from ..urls.acting import acts
from ..urls.templates import template_of
from .errands import origin_of
from .identities import is_plain_get
from .marks import is_start, redirects_to

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from .budget import Purse
    from .errands import Errands, Origin
    from .shared import Shared

#: Pages per kind where nobody has asked for a number.
FEW: Final = 3
#: Kinds of pages of which some are remembered.
MOST_KINDS: Final = 2_000
#: Pages that spiders start with and that are remembered; where there are more, no further page is noted.
MOST_STARTS: Final = 20_000


class Revisits:
    """Remembers the first pages of each kind, and fetches them again."""

    def __init__(self, shared: "Shared", errands: "Errands") -> None:
        self._shared = shared
        self._errands = errands
        self._per_kind = shared.settings.revisits or (FEW if shared.settings.extra else 0)
        #: Kind of pages -> how many of them were noted.
        self._kinds: dict[int, int] = {}
        #: What spiders start with is fetched again where a page links it, so that there are two versions of it.
        self._starts: set[str] = set()
        #: Site -> what is to be fetched: a kind's first page before the second one of another.
        self._waiting: dict[str, list[deque[tuple[str, Origin]]]] = {}

    def note(self, request: "Request", response: "Response", site: str) -> None:
        """Note a page that has come."""
        if not self._per_kind or response.status != 200 or "cached" in response.flags:
            return
        kind = hash((site, template_of(request.url)))
        number = self._kinds.get(kind, 0)
        if number >= self._per_kind or (not number and len(self._kinds) >= MOST_KINDS):
            return
        if redirects_to(request) or not is_plain_get(request) or request.url in self._starts:
            return
        if is_start(request) and not self._shared.settings.revisits:
            self._starts.add(request.url)
            if len(self._starts) >= MOST_STARTS:
                self._per_kind = 0
            return
        if acts(request.url):
            return
        found = origin_of(request)
        if found is None:
            return
        self._kinds[kind] = number + 1
        ranks = self._waiting.setdefault(site, [deque() for _ in range(self._per_kind)])
        ranks[number].append((request.url, found))

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites of which pages wait for a revisit."""
        return tuple(site for site, ranks in self._waiting.items() if any(ranks) and site not in self._errands.barred)

    def waiting(self, site: str) -> int:
        """Return how many pages of a site wait."""
        return sum(map(len, self._waiting.get(site, ())))

    async def run(self, site: str, purse: "Purse") -> None:
        """Fetch what waits, as far as *purse* pays for it. Raises Closing."""
        for rank in self._waiting.get(site, ()):
            while rank and purse.room(site) > 0 and site not in self._errands.barred:
                url, of_request = rank.popleft()
                response = await self._errands.fetch(url, site, purse, like=of_request)
                if response is None:
                    continue
                self._shared.stats.inc_value("dedup/revisits")
                row = await self._errands.row(response, site)
                if row is not None and row.fingerprints is not None:
                    self._errands.record(row)
                    self._shared.stats.inc_value("dedup/revisits/recorded")
