"""Pages that a fleet has lost: taken, and never fetched, as a worker has died or has not heard the answer to a pop."""

from typing import TYPE_CHECKING

import attrs
from scrapy import Request

from ..support.cooperative import in_turns
from ..support.faults import Event
from ..support.request_meta import RESCHEDULED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities
    from ..seen.journal_lines import JournalPage
    from ..seen.seen import Waiting
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from .members import Members
    from .shared_seen import SharedSeen


@attrs.define(eq=False, repr=False, kw_only=True)
class LostPages:
    """Frees what was lost on its way, and sees that it is fetched."""

    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _faults: "Faults"
    _identities: "Identities"
    _seen: "SharedSeen"
    _members: "Members"
    #: A filtered request is next, as the page that stood for it was lost.
    request_released: "Event[[Waiting]]" = attrs.field(init=False)
    #: Slots of lost pages are free: the ledger may hold requests that were filtered in their favour.
    slots_freed: Event[[]] = attrs.field(init=False)
    #: Pages that were lost, by their slot; and the URLs of those that were requested anew, each once.
    _lost: "dict[int, JournalPage]" = attrs.field(factory=dict, init=False)
    _recovered: set[str] = attrs.field(factory=set, init=False)
    #: Slots that dead workers were about to fetch, and that are freed when all are idle.
    _left: set[int] = attrs.field(factory=set, init=False)
    #: The last entry of the log when it was last looked for such pages.
    _searched: str = attrs.field(default="", init=False)

    def __attrs_post_init__(self) -> None:
        self.request_released, self.slots_freed = Event(self._faults), Event(self._faults)

    def is_search_due(self) -> bool:
        """Whether pages may have been lost since this was last asked, as all workers are idle."""
        if self._members.dead:
            return True
        if self._searched == self._seen.last:
            return False
        self._searched = self._seen.last
        return bool(self._seen.slots_under_way())

    async def free(self) -> None:
        """Free what is taken and has not come, as nothing is on its way to any worker."""
        seen, members = self._seen, self._members
        last = seen.last
        if not seen.exchange() or seen.last != last or not members.look() or not members.are_idle:
            self._searched = ""
            return  # somebody goes on
        lost = seen.slots_under_way()
        pages = await self._pages(lost)
        if pages is None:
            self._searched = ""
            return
        self._lost |= pages
        self._release(lost)
        seen.exchange()
        self.slots_freed.send()
        if members.dead and (number := members.forget_dead()):
            self._stats.inc_value("dedup/fleet/dead", number)

    async def fetch_of_dead(self) -> None:
        """Request anew what dead workers were about to fetch, as far as they had told, while the others go on.

        What they have taken is no measure: most of that stands in the queue, and is fetched by others. What cannot be requested
        by its URL alone is freed when all are idle.
        """
        seen, members = self._seen, self._members
        lost = seen.slots_sent_by(members.long_dead) - self._left
        if not lost:
            return
        pages = await self._pages(lost)
        if pages is None:
            return
        again = {slot: page for slot, page in pages.items() if self._request(page) is not None}
        self._left |= lost - again.keys()
        # Released and taken again in one turn: whoever goes on if this worker dies finds a page that is under way.
        now = again.keys() & seen.slots_sent_by(members.long_dead)
        self._release(now)
        self._fetch(again[slot] for slot in now)

    async def _pages(self, slots: set[int]) -> "dict[int, JournalPage] | None":
        """Return the pages of slots; None if other rules are in use by then, which give them other slots."""
        version = self._seen.version
        found = {page.slot: page async for page in in_turns(self._seen.pages()) if page.slot in slots}
        return found if self._seen.version == version else None

    def _release(self, slots: "Iterable[int]") -> None:
        for slot in slots:
            if slot not in self._seen or self._seen.is_fetched(slot):  # it has come meanwhile
                continue
            if (filtered := self._seen.release(slot)) is not None:
                self.request_released.send(filtered)

    def fetch_anew(self) -> bool:
        """Request the pages that were lost, where nothing is fetched in their place; return whether there are any."""
        lost, self._lost = self._lost, {}
        return self._fetch(lost.values())

    def _fetch(self, pages: "Iterable[JournalPage]") -> bool:
        requests = [
            request
            for page in pages
            if (request := self._request(page)) is not None
            and (identity := self._identities.of(request)) is not None
            and identity.slot not in self._seen
        ]
        for request in requests:
            self._recovered.add(request.url)
            request.meta[RESCHEDULED] = True, True
            self._stats.inc_value("dedup/fleet/recovered")
            self._status.engine.crawl(request)
        return bool(requests)

    def _request(self, page: "JournalPage") -> "Request | None":
        """Return the request of a page, once; None if it cannot be made of its URL and callback alone."""
        names = self._identities.names
        if page.url in self._recovered or not page.plain or page.context or not names.has(page.callback):
            return None
        return Request(page.url, callback=names.method(page.callback))
