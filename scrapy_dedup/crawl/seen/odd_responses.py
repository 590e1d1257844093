"""Odd responses: hardly any text, or what unrelated URLs show, too, where other pages of their kind have text.

An error or a wall with status 200 stands for no page: its key is released, so that another URL of the page is fetched.
That is done when the next page of its kind has come, since the site answers again then, or as the spider is about to run
idle: then for all pages of a kind of which any has come, and for one of any other kind. Where all pages of a kind have hardly any text, that is how they are.
"""

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...learning.contents import LEAST_WORDS
from ...urls.templates import template_of
from .alike_pages import AlikePages, OddContent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request

    from ...pages.response import Fingerprints
    from ..identity.identities import Identities
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from .ledger import Ledger
    from .replay_schedule import ReplaySchedule
    from .seen import Seen
    from .slot_claims import SlotClaims

#: URLs of one page that are fetched in the place of odd responses.
TRIES: Final = 3
#: Pages that are remembered, and contents that are known to be odd.
MOST: Final = 20_000
MOST_CONTENTS: Final = 100


class Arrival(NamedTuple):
    """A response that stands for slots: the kind of its page, and the URLs that led to it with their slots."""

    kind: tuple[object, ...]
    chain: list[tuple[str, int]]


@attrs.define(eq=False, repr=False, kw_only=True)
class OddResponses:
    """Tells odd responses, and has others fetched in their place."""

    _status: "CrawlStatus"
    _store: "CrawlStore"
    _identities: "Identities"
    _seen: "Seen"
    _claims: "SlotClaims"
    _ledger: "Ledger"
    _replay_schedule: "ReplaySchedule"
    #: What threads have noted, and of that what is with the spider: what a response shows, or what names an odd content.
    _noted: "deque[tuple[Arrival, str | Fingerprints]]" = attrs.field(factory=deque, init=False)
    _with_spider: "list[tuple[Arrival, str | Fingerprints]]" = attrs.field(factory=list, init=False)
    _alike: AlikePages = attrs.field(factory=AlikePages, init=False)
    _contents: list[OddContent] = attrs.field(factory=list, init=False)
    #: By the kind of page: slots for which an odd response stands, with its URL.
    _held: defaultdict[tuple[object, ...], dict[int, str]] = attrs.field(factory=lambda: defaultdict(dict), init=False)
    _tries: Counter[int] = attrs.field(factory=Counter, init=False)
    #: Odd content -> the kind, slot and URL of the page that shows it, None if several do; "": one that is known to be none.
    _shown_by: dict[str, tuple[tuple[object, ...], int, str] | None] = attrs.field(
        factory=lambda: {"": None}, init=False
    )
    #: Kinds of which a page has come, and those of which one was fetched again before the spider ran idle.
    _answered: set[tuple[object, ...]] = attrs.field(factory=set, init=False)
    _settled: set[tuple[object, ...]] = attrs.field(factory=set, init=False)
    _arrived: int = attrs.field(default=0, init=False)
    _looked_at: int = attrs.field(default=0, init=False)

    def arrival(self, request: "Request") -> Arrival | None:
        """Return what :meth:`note` needs of the response to *request*; None if that stands for nothing."""
        chain = self._claims.chain(request)
        if not chain:
            return None
        self._arrived += 1
        return Arrival(self._kind(request.url), chain)

    def _kind(self, url: str) -> tuple[object, ...]:
        identity = self._identities.of_url(url)
        return identity.site, *template_of(identity.key)

    def note(self, arrival: Arrival, prints: "Fingerprints") -> None:
        """Note what a response shows, in whichever thread."""
        self._noted.append((arrival, prints))

    def _odd(self, shown: "str | Fingerprints") -> str | None:
        """Return what names an odd content; None for a page."""
        if isinstance(shown, str):
            return shown
        if shown.words is not None and shown.words < LEAST_WORDS:
            return shown.bag
        return next((known.bag for known in self._contents if known.is_shown_by(shown.bag, shown.sketch)), None)

    def release(self) -> None:
        """Release what odd responses stand for, as far as the site answers again."""
        due: set[tuple[int, str]] = set()
        late, self._with_spider = self._with_spider, []
        for arrival, shown in late:
            due |= self._take(arrival, shown)
        while self._noted:
            arrival, shown = self._noted.popleft()
            if self._odd(shown) is None:
                self._answered.add(arrival.kind)
                due.update(self._held.pop(arrival.kind, {}).items())
            due |= self._take(arrival, shown)
        self._release(due)

    def _take(self, arrival: Arrival, shown: "str | Fingerprints") -> set[tuple[int, str]]:
        """Hold a response that is odd, compare any other; return which pages are to be fetched again, by slot and URL."""
        due: set[tuple[int, str]] = set()
        odd = self._odd(shown)
        for url, slot in arrival.chain:
            if slot in self._seen and self._seen.url(slot) != url:  # a spot check, for instance
                if odd is not None:
                    self._is_shown_by_others(arrival.kind, slot, url, odd)
            elif not self._seen.is_fetched(slot):
                if len(self._with_spider) < MOST_CONTENTS:
                    self._with_spider.append((arrival._replace(chain=[(url, slot)]), shown))
            elif odd is not None:
                if self._is_shown_by_others(arrival.kind, slot, url, odd) or not self._tries[slot]:
                    self._await(arrival.kind, slot, url)
            elif not isinstance(shown, str) and slot == arrival.chain[-1][1]:  # not those that have led to it
                due |= self._compare(arrival.kind, slot, url, shown)
        return due

    def _compare(self, kind: tuple[object, ...], slot: int, url: str, prints: "Fingerprints") -> set[tuple[int, str]]:
        found = self._alike.note(kind, slot, url, prints)
        due = set(self._alike.kinds[kind].trials())
        if found is not None:
            self.learn(OddContent(found.bag, found.sketch, prints.sketch))
            due |= {each for each in found.slots.items() if self._tries[each[0]] < TRIES}
        return due

    def _is_shown_by_others(self, kind: tuple[object, ...], slot: int, url: str, odd: str) -> bool:
        """Whether other pages show *odd*, too; a page that alone shows it, and shows it twice, is like that."""
        first = self._shown_by.get(odd, (kind, slot, url))
        if first is not None and first[1] != slot:
            self._await(*first)
            first = None
        if odd in self._shown_by or len(self._shown_by) < MOST:
            self._shown_by[odd] = (kind, slot, url) if first is not None else None
        return first is None

    def _await(self, kind: tuple[object, ...], slot: int, url: str) -> None:
        if self._tries[slot] < TRIES and self._stands_for(slot, url):
            self._held[kind][slot] = url

    def _stands_for(self, slot: int, url: str) -> bool:
        """Whether no other URL of the page was fetched since."""
        return slot in self._seen and self._seen.url(slot) == url

    def _release(self, due: "Iterable[tuple[int, str]]") -> None:
        slots = {slot for slot, url in due if self._stands_for(slot, url)}
        self._tries.update(slots)
        self._replay_schedule.release(slots)

    def learn(self, content: OddContent) -> None:
        """Take what shows *content* for odd from now on."""
        self._shown_by[content.bag] = None
        if not any(known.is_shown_by(content.bag, content.sketch) for known in self._contents):
            self._contents = [*self._contents[-MOST_CONTENTS:], content]

    def expose(self, request: "Request", urls: "Iterable[str]") -> None:
        """Release what *urls* stand for, which have shown odd responses; the page of one may have come by *request*."""
        slots = {url: self._identities.slot_of_url(url, request) for url in urls}
        due = {slot: url for url, slot in slots.items() if slot is not None}
        identity = self._identities.of(request)
        page = due.pop(identity.slot, "") if identity is not None and identity.slot in self._seen else ""
        if identity is not None and page and self._seen.url(identity.slot) == page:
            self._seen.release(identity.slot)
            self._claims.claim(request, identity)
        for slot, url in due.items():
            if slot in self._seen and not self._seen.is_fetched(slot):  # with the spider: it would stand for it again
                self._noted.append((Arrival(self._kind(url), [(url, slot)]), ""))
        self._release(each for each in due.items() if self._seen.is_fetched(each[0]))

    @property
    def is_idle_work_due(self) -> bool:
        """Whether responses have come since that may be odd, and anything was filtered for one."""
        return self._ledger.discards > 0 and self._arrived > self._looked_at

    async def before_idle(self) -> None:
        """Have one more URL fetched for each kind of which nothing but odd responses has come. Raises StoreError.

        What is released goes first: its other URLs may tell of the rest, for which this is called again.
        """
        arrived = self._arrived  # what comes while this waits is looked at the next time
        await run_in_thread(self._store.flush)
        self.release()
        if arrived == self._arrived:
            self._with_spider.clear()  # nothing is with it any more
        for kind in [kind for kind in self._held if kind in self._answered]:
            self._release(self._held.pop(kind).items())
        if self._seen.lacking:
            return
        self._looked_at = arrived
        open_kinds = {kind: held for kind, held in self._held.items() if kind not in self._settled}
        doubtful = [pages for pages in self._alike.kinds.values() if pages.suspects]
        if not open_kinds and not doubtful:
            return
        filtered = await run_in_thread(self._filtered)
        for pages in doubtful:
            pages.asked.clear()
            self._release(pages.trials(filtered))
        for kind, held in open_kinds.items():
            found = next((each for each in held.items() if each[1] in filtered), None)
            if found is not None:
                self._settled.add(kind)
                del held[found[0]]
                self._release([found])

    def _filtered(self) -> set[str]:
        """Return the URLs that others were taken for. It waits for the store. Raises StoreError."""
        with self._store.read() as store:
            rows = store.discards(self._store.scope, spider=self._status.spider.name, job=self._seen.job)
            return {row.taken_for for row in rows}
