"""What became of the requests that stand for a key: fetched, or failed."""

import logging
import time
from typing import TYPE_CHECKING, Protocol

from scrapy.utils.defer import deferred_from_coro

from ...store.rows import DiscardState
from ..identity.identities import context_of, is_plain_get
from ..settings.dedup_settings import Mode
from ..support.compatibility import run_in_thread
from ..support.events import Event
from ..support.request_meta import redirects_to
from .replay import replay, replay_owed

if TYPE_CHECKING:
    from scrapy import Request

    from ..composition import CrawlComponents as Shared
    from .seen import Waiting

logger = logging.getLogger(__name__)

#: Reading the ledger may take this part of the time while a crawl is not idle: 1 / (1 + _REST).
_REST = 4

_COMPARED = (Mode.SHADOW, Mode.ACTIVE)
#: A page to which redirects of so many others lead is none of theirs: one to log in, say. So is one content that they
#: lead to under several URLs, since these name what was asked for.
_SINK = 3
#: Pages and contents to which redirects lead that are remembered.
_MOST_LED_TO = 20_000


class IdleTask(Protocol):
    """Work of another room before the spider runs idle."""

    @property
    def is_idle_work_due(self) -> bool:
        """Whether there is something to do."""

    async def before_idle(self) -> None:
        """Do it."""


class Outcomes:
    """Follows the requests of the scheduler to their end."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._at_work = False
        self._again = False
        #: The page of a slot has come.
        self.slot_fetched: Event[[int]] = Event(shared.faults)
        #: What is to be done before discards are looked up when the spider is about to run idle.
        self.idle_work: list[IdleTask] = []
        self._rest_until = 0.0
        #: By the slot of a page, or what tells a content: slots of which redirects have led there, fewer than _SINK; None
        #: if there were as many.
        self._led: dict[int, set[int] | None] = {}
        #: URL to which redirects have led, whose content is not known yet -> the slots that they came from.
        self._led_to: dict[str, set[int]] = {}

    def fetched(self, request: "Request", *, links: bool = False) -> None:
        """Note that the page of *request*, to which redirects may have led, has come; *links* as in :meth:`.Seen.fetched`."""
        seen = self._shared.seen
        chain = self._chain(request)
        for url, slot in chain:
            # Not taken: a start request, for instance, which no filter has been asked about.
            if slot not in seen or self._stands_for_another(slot, chain):
                plain = self._shared.claims.is_plain(request, url, slot)
                seen.take(slot, url, self._shared.names.of(request) or "", context_of(request) or "", plain)
            seen.fetched(slot, links=links)
            self.slot_fetched.send(slot)
        if len(chain) > 1:
            *others, (url, slot) = chain
            new = {other for _, other in others if other != slot}
            self._lead(slot, new)
            if len(self._led_to) < _MOST_LED_TO:
                self._led_to[url] = new
            self._compare_contents()

    def _stands_for_another(self, slot: int, chain: list[tuple[str, int]]) -> bool:
        """Whether a URL stands for a slot that has not come, while one that was let pass under other rules has.

        That one is the page then, and the other need not be fetched any more.
        """
        seen = self._shared.seen
        if not seen.has_moved or seen.is_fetched(slot):
            return False
        other = seen.url(slot)
        if not other or any(url == other for url, _ in chain):
            return False
        seen.note_another(other)
        return True

    def failed(self, request: "Request") -> None:
        """Free the keys for which *request* stands, and schedule what was discarded in its favour."""
        seen = self._shared.seen
        chain = self._chain(request)
        urls = {"", *(url for url, _ in chain)}  # "": it is not known which URL stands for the key
        for _, slot in chain:
            if slot in seen and not seen.is_fetched(slot) and seen.url(slot) in urls:
                logger.debug("Released the key of %(request)s, which failed", {"request": request})
                self._shared.stats.inc_value("dedup/released")
                discarded = seen.release(slot)
                if discarded is not None:
                    self.schedule(discarded)
                else:
                    self._look_for_others()

    def _look_for_others(self) -> None:
        """Look into the ledger for what was discarded in favour of what has failed, if it may be there, and not too often."""
        if self._shared.seen.lacking and not self._at_work and time.monotonic() >= self._rest_until:
            self._begin()

    def ended(self, request: "Request", target: str) -> None:
        """Note that the redirects of *request* lead to a page that is fetched already, or in a circle."""
        chain = self._chain(request, own=False)
        circle = any(url == target for url, _ in chain)
        seen = self._shared.seen
        for url, slot in chain:
            if slot in seen and not seen.is_fetched(slot):
                if not circle:
                    seen.fetched(slot)
                elif seen.url(slot) == url and (discarded := seen.release(slot)) is not None:
                    self.schedule(discarded)
        page = self._shared.identities.slot_of_url(target, request)
        if page is not None and not circle:
            self._lead(page, {slot for _, slot in chain if slot != page})

    def _compare_contents(self) -> None:
        """Look at the contents to which redirects have led, as far as they are known by now."""
        known = self._shared.repeats.led_to
        for url in list(known):  # a thread adds to them
            if url in self._led_to:
                self._lead(known.pop(url), self._led_to.pop(url))

    def _lead(self, page: int, new: set[int]) -> None:
        """Note that redirects from *new* slots lead to a page, or a content. Where those of many do, it is none of theirs.

        Their keys are free again then, as those of URLs that have failed.
        """
        if page not in self._led and len(self._led) >= _MOST_LED_TO:
            return
        led = self._led.setdefault(page, set())
        if led is not None:
            led |= new
            if len(led) < _SINK:
                return
            new, self._led[page] = led, None
        seen = self._shared.seen
        for slot in new:
            if slot in seen:
                if (discarded := seen.release(slot)) is not None:
                    self.schedule(discarded)
                seen.lacking = True  # of a page that had come nobody waits here
        self._look_for_others()

    def _chain(self, request: "Request", *, own: bool = True) -> list[tuple[str, int]]:
        """Return the URLs by which *request* came about, with their slots, as far as they are compared."""
        identities = self._shared.identities
        urls = list(redirects_to(request))
        if not urls and own:  # as nearly always
            identity = identities.of(request)
            return [] if identity is None or identity.mode not in _COMPARED else [(request.url, identity.slot)]
        if not is_plain_get(request):
            return []
        chain = []
        if own:
            urls.append(request.url)
        for url in urls:
            if identities.of_url(url).mode in _COMPARED:
                slot = identities.slot_of_url(url, request)
                if slot is not None:
                    chain.append((url, slot))
        return chain

    def schedule(self, discarded: "Waiting") -> None:
        """Schedule a discarded request after all."""
        shared = self._shared
        if not shared.rescheduler.schedule(discarded.request, discarded.row):
            return
        shared.stats.inc_value("dedup/released/scheduled")
        if discarded.row is not None:
            shared.ledger.scheduled(discarded.row, DiscardState.RELEASED)

    def before_idle(self) -> bool:
        """Schedule what is left in the place of failed requests, as nothing is on its way; return whether that goes on."""
        shared = self._shared
        if self._at_work:
            return True
        freed = shared.seen.release_waited_for()
        for discarded in freed:
            shared.stats.inc_value("dedup/released")
            self.schedule(discarded)
        if not shared.ledger.written:
            self._led_to.clear()  # nothing was discarded in their favour
        waits = shared.unwritten or self._led_to
        if not (
            waits
            or shared.rescheduler.is_due
            or shared.seen.lacking
            or any(each.is_idle_work_due for each in self.idle_work)
        ):
            return False
        self._begin(idle=True, alone=not freed)
        return True

    def opened(self) -> None:
        """Schedule what the crawl before owes to this one."""
        if self._shared.settings.compares:
            self._begin(owed=True)

    def retract(self) -> None:
        """Schedule what rules have discarded that are suspended now."""
        if self._shared.status.is_closing:  # they are owed to the next crawl
            return
        self._shared.rescheduler.is_due = True
        if self._at_work:
            self._again = True
        else:
            self._begin()

    def _begin(self, *, owed: bool = False, idle: bool = False, alone: bool = False) -> None:
        self._at_work = True
        self._again = False
        deferred_from_coro(self._look_into_ledger(owed=owed, idle=idle, alone=alone)).addErrback(lambda _: None)

    async def _look_into_ledger(self, *, owed: bool, idle: bool, alone: bool) -> None:
        """See that all discards are in the ledger, and schedule those that are needed; *alone*: nothing is on its way."""
        shared = self._shared
        started = time.monotonic()
        try:
            if owed:
                await replay_owed(shared)
                return
            if idle:
                for each in self.idle_work:
                    await each.before_idle()
            if (shared.unwritten or self._led_to) and not await run_in_thread(shared.unwritten.wait):
                shared.unwritten.fetch()
            self._compare_contents()
            if idle:
                self._led_to.clear()
            if shared.rescheduler.is_due or shared.seen.lacking:
                # What was discarded in earlier runs, or did not find room in memory, is in the ledger.
                shared.rescheduler.is_due = shared.seen.lacking = False
                await replay(shared, idle=alone)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            if shared.unwritten.fails():  # which the thread that writes has told
                shared.faults.count("ledger")
            else:
                shared.faults.report("ledger", "Discarded requests could not be read from the ledger")
        finally:
            self._at_work = False
            now = time.monotonic()
            # Where much fails, one look finds the substitutes of many.
            self._rest_until = now + _REST * (now - started)
            if self._again:  # a rule was suspended meanwhile
                self._begin()
            shared.before_idle.wake()
