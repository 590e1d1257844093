"""Postponing: what candidate rules would make duplicates is fetched last, when more is known.

A learning names what probably makes no difference but may not be ignored yet, such as what acts in other sections of the site
(:mod:`scrapy_dedup.learning.decision.candidates`); before a site is learned for the first time these are session ids and tracking
parameters with unmistakable names, and what rules of several other sites drop. A request that would be a duplicate by them gets a lower priority: as it comes out of
the spider, or, had it been queued before, at the gate, which puts it back once. It is never discarded for that. When nothing
else is left, the gate lets a few of them go; what these show is learned, and the others are discarded by a rule that acts now,
or fetched: at once if nothing says any more that they are duplicates, else some more of them.
"""

import logging
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydispatch.dispatcher import getReceivers, liveReceivers
from scrapy import signals
from scrapy.core.scheduler import Scheduler
from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred

from ..learning.names import IRRELEVANT
from ..rules.book import RuleBook
from ..rules.model import Rule, Status
from ..rules.operations import Ignore
from ..rules.reading import read_rules
from ..urls.deep_tokens import whole_key
from .compatibility import sleep
from .journal import digest_of
from .marks import POSTPONED, TRANSIENT_LINK, digest, is_start
from .settings import Mode
from .turns import in_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from scrapy import Request

    from .identities import UrlIdentity
    from .shared import Shared

logger = logging.getLogger(__name__)

#: How much lower the priority of a postponed request is.
LOWER: Final = 1_000_000
#: Postponed requests of a site that are let go at first, and by which factor more of them each time after that.
FIRST: Final = 8
MORE: Final = 2
#: Seconds that others wait for what these show, at most.
LONGEST: Final = 10.0
_POLL: Final = 0.05
#: Where candidate rules come from.
_ANSWER: Final = Path("the answer of the learning process")
#: Canonical keys under candidates that are remembered, about 100 bytes each.
MOST: Final = 500_000
#: Sites whose candidates are remembered.
MOST_SITES: Final = 2_000
#: Other sites whose rules must drop a parameter for it to be a candidate on a new one.
TAUGHT: Final = 3

#: Settings that close a spider before its queue is empty.
_CLOSING: Final = (
    "CLOSESPIDER_TIMEOUT",
    "CLOSESPIDER_TIMEOUT_NO_ITEM",
    "CLOSESPIDER_ITEMCOUNT",
    "CLOSESPIDER_PAGECOUNT",
    "CLOSESPIDER_PAGECOUNT_NO_ITEM",
    "CLOSESPIDER_ERRORCOUNT",
)
_REDIS: Final = "scrapy_redis.scheduler.Scheduler"
_REDIS_QUEUES: Final = ("scrapy_redis.queue.PriorityQueue", "scrapy_redis.queue.SpiderPriorityQueue")


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidate rules of a site, and the book of the rules that act there with these."""

    rules: tuple[Rule, ...]
    book: RuleBook
    #: Finds parameters in a URL that these rules change.
    found_in: "Callable[[str], object]"

    @classmethod
    def of(cls, site: str, rules: "Sequence[Rule]", book: RuleBook) -> "_Candidates":
        """Return those of a site on which the rules of *book* act."""
        keys = sorted({whole_key(key) for rule in rules for key in rule.ops if key.startswith("q.")})
        names = "|".join(re.escape(key[2:]).replace(r"\*", "[^=&;]*") for key in keys)
        found_in = re.compile(f"[?&;](?:{names})(?=[=&;]|$)").search
        return cls(tuple(rules), book.with_candidates(site, rules), found_in)


@dataclass(slots=True)
class _Batch:
    """The postponed requests of a site that were let go since the site was learned the last time."""

    size: int = FIRST
    let_go: int = 0
    deciding: bool = False
    waiting: "list[Deferred[None]]" = field(default_factory=list)


class Postponing:
    """Postpones requests, and decides on them."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        #: By site; None where there are none.
        self._candidates: dict[str, _Candidates | None] = {}
        #: Slot under candidates -> digest of the first URL that has it by them, and not by what acts.
        self._first: dict[int, int] = {}
        #: Sites that were learned in this crawl.
        self._learned: set[str] = set()
        self._batches: dict[str, _Batch] = {}
        #: Digests of the URLs that are being put back into the queue.
        self._put_back: set[str] = set()
        #: Requests that wait at the gate.
        self._held = 0
        #: Other requests that were sent, and how many of them there were when nothing was on its way.
        self.sent = 0
        self._calm = -1
        self._calming: list[Deferred[None]] = []
        self._is_on: bool | None = None

    # What is postponed

    def hindrance(self) -> str | None:
        """Return why nothing is postponed in this crawl; None if it is."""
        shared = self._shared
        settings = shared.crawler.settings
        if not (shared.settings.postpone and shared.learning.live and shared.has_filter):
            return "DEDUP_POSTPONE is off, or nothing is learned and filtered while the crawl goes on"
        closing = next((name for name in _CLOSING if settings.getfloat(name)), None)
        if closing is not None:
            return f"{closing} closes the spider before all is fetched"
        if shared.depths.limited:
            return "DEPTH_LIMIT makes the order matter"
        if not _heeds_priorities(shared.crawler.settings):
            return "the scheduler is not known to heed priorities"
        handlers = liveReceivers(getReceivers(shared.crawler, signals.spider_idle))
        if any(getattr(each, "__self__", None) is not shared.before_idle for each in handlers):
            return "the spider or an extension listens to spider_idle, so that it may never run idle"
        return None

    @property
    def _is_used(self) -> bool:
        """Whether requests are postponed; found out when the first one is asked about, as all handlers are connected."""
        if self._is_on is None:
            why = self.hindrance()
            self._is_on = why is None
            if why is not None:
                logger.debug("Nothing is postponed: %s", why, extra={"spider": self._shared.spider})
        return self._is_on

    async def use(self, sites: "Collection[str]", candidates: "Mapping[str, str]") -> None:
        """Postpone by the *candidates* of *sites*, which were learned, from now on: site -> the text of a rule file."""
        if not self._is_used:
            return
        self._learned.update(sites)
        book = self._shared.identities.book
        fresh = set()
        for site in sites:
            told, _ = read_rules(candidates[site], _ANSWER) if site in candidates else (None, ())
            found = _Candidates.of(site, told.rules, book) if told is not None and told.rules else None
            before = self._candidates.get(site)
            if found and not (before and before.rules == found.rules and before.book.same_keys(found.book, site)):
                fresh.add(site)
                logger.debug("Candidates of %s: %s", site, found.rules, extra={"spider": self._shared.spider})
            self._candidates[site] = found
        if not fresh:
            return
        async for page in in_turns(self._shared.seen.pages()):
            site = self._shared.identities.site_and_mode(page.url)[0]
            known = self._candidates.get(site) if site in fresh else None
            if known is not None and page.plain and known.found_in(page.url):
                key = known.book.canonical_key(page.url)
                slot = self._shared.identities.slot_again(page.url, page.callback, page.context, key)
                if slot is not None:
                    self._note(slot, page.url)

    def _note(self, slot: int, url: str) -> int:
        """Return the digest of the first URL with a slot, which may be this one."""
        found = self._first.get(slot)
        if found is None:
            found = digest_of(url)
            if len(self._first) < MOST:
                self._first[slot] = found
        return found

    def _of(self, site: str) -> "_Candidates | None":
        """Return the candidates of a site."""
        try:
            return self._candidates[site]
        except KeyError:
            pass
        if len(self._candidates) >= MOST_SITES:
            return None
        book = self._shared.identities.book
        found = self._candidates[site] = _Candidates.of(site, (_named(book, site),), book)
        return found

    def lower(self, request: "Request") -> None:
        """Lower the priority of *request*, which comes out of the spider, if it is to be postponed."""
        if not self._is_used:
            return
        identity = self._shared.identities.of(request)
        if identity is not None and identity.slot not in self._shared.seen and self._is_to_wait(request, identity):
            self._mark(request)
            request.priority -= LOWER

    def put_back(self, request: "Request") -> "Request | None":
        """Return what is to be queued in the place of *request*, which had been queued before the candidates were known.

        None if it is to be fetched now.
        """
        if not self._is_used or POSTPONED in request.meta:
            return None
        identity = self._shared.identities.of(request)
        if identity is None or not self._is_to_wait(request, identity):
            return None
        later = request.replace(priority=request.priority - LOWER)
        self._mark(later)
        return self._again(later)

    def _again(self, request: "Request") -> "Request":
        """Return *request* as one that is to be queued again."""
        self._put_back.add(digest(request.url))
        return request

    def is_put_back(self, request: "Request") -> bool:
        """Whether *request* is being put back into the queue: it was let pass before."""
        if not self._put_back or POSTPONED not in request.meta:
            return False
        key = digest(request.url)
        if key not in self._put_back:
            return False
        self._put_back.discard(key)
        return True

    def _is_to_wait(self, request: "Request", identity: "UrlIdentity") -> bool:
        """Whether *request* would be a duplicate by candidates, and its order is nobody else's business."""
        if identity.mode is not Mode.ACTIVE or request.dont_filter or is_start(request):
            return False
        return self._is_doubtful(request, identity) and self._has_usual_priority(request)

    def _is_doubtful(self, request: "Request", identity: "UrlIdentity") -> bool:
        """Whether *request* would be a duplicate by candidates; otherwise it stands for its key under them."""
        known = self._of(identity.site)
        if known is None:
            return False
        seen = self._shared.seen
        if not known.found_in(request.url):  # one that has them may be on its way
            is_first = self._first.get(identity.slot, digest_of(request.url)) == digest_of(request.url)
            return not (is_first or (identity.slot in seen and seen.url(identity.slot) == request.url))
        slot = self._shared.identities.slot_of_key(known.book.canonical_key(request.url), request)
        if slot is None or slot == identity.slot:
            return False
        return slot in seen or self._note(slot, request.url) != digest_of(request.url)

    def _has_usual_priority(self, request: "Request") -> bool:
        """Whether nobody but Scrapy's depth middleware and the plug-in has set the priority of *request*."""
        meta = request.meta
        if "retry_times" in meta or "redirect_times" in meta:
            return False
        usual = -int(meta.get("depth", 0)) * self._shared.crawler.settings.getint("DEPTH_PRIORITY")
        if meta.get(TRANSIENT_LINK):
            usual -= self._shared.settings.transient_priority
        return request.priority == usual

    def _mark(self, request: "Request") -> None:
        request.meta[POSTPONED] = digest(request.url)
        self._shared.stats.inc_value("dedup/postponed")
        logger.debug("Postponed %(request)s", {"request": request}, extra={"spider": self._shared.spider})

    # What becomes of it

    def must_wait(self, request: "Request") -> bool:
        """Whether *request* was postponed, and is to wait for others, and for what these show; otherwise it is let go."""
        if request.meta.get(POSTPONED) != digest(request.url):
            return False
        identity = self._shared.identities.of(request)
        if identity is None or self._shared.learning.swapping.ceased or not self._is_open_question(request, identity):
            return False
        if self._calm != self.sent:
            return True
        batch = self._batches.setdefault(identity.site, _Batch())
        if batch.let_go < batch.size and not batch.waiting:
            batch.let_go += 1
            return False
        return True

    def _is_open_question(self, request: "Request", identity: "UrlIdentity") -> bool:
        if identity.site not in self._learned:  # an earlier run of the job has postponed it
            return self.hindrance() is None
        return self._is_doubtful(request, identity)

    async def wait(self, request: "Request") -> "Request | None":
        """Wait until those that were let go have come, and what they show is learned.

        While others are on their way, it waits for these, and returns the request to be queued again: what they link
        comes first.
        """
        self._held += 1
        try:
            if self._calm != self.sent:
                await self._calm_down()
                return self._again(request.replace())
            await self._batch(request)
            return None
        finally:
            self._held -= 1

    async def _calm_down(self) -> None:
        """Wait until nothing but what waits here is on its way."""
        calm: Deferred[None] = Deferred()
        self._calming.append(calm)
        if len(self._calming) == 1:
            deferred_from_coro(self._watch()).addErrback(lambda _: None)
        await maybe_deferred_to_future(calm)

    async def _watch(self) -> None:
        end = time.monotonic() + LONGEST
        try:
            while self._shared.is_open and time.monotonic() < end and self._others_on_their_way():
                await sleep(_POLL)
        finally:
            self._calm = self.sent
            waiting, self._calming = self._calming, []
            for each in waiting:
                each.callback(None)

    async def _batch(self, request: "Request") -> None:
        site = self._shared.identities.of_url(request.url).site
        batch = self._batches.setdefault(site, _Batch())
        turn: Deferred[None] = Deferred()
        batch.waiting.append(turn)
        if not batch.deciding:
            batch.deciding = True
            deferred_from_coro(self._decide(site, batch)).addErrback(lambda _: None)
        await maybe_deferred_to_future(turn)

    async def _decide(self, site: str, batch: _Batch) -> None:
        end = time.monotonic() + LONGEST
        try:
            while self._shared.is_open and time.monotonic() < end and self._others_on_their_way():
                await sleep(_POLL)
            learning = self._shared.learning.at_once(site) if self._shared.is_open else None
            while learning is not None and self._shared.is_open and time.monotonic() < end and not learning.called:
                await sleep(_POLL)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("postponing", "Postponed requests could not be decided on")
        finally:
            batch.deciding, batch.let_go, batch.size = False, 0, batch.size * MORE
            waiting, batch.waiting = batch.waiting, []
            for each in waiting:
                each.callback(None)

    def _others_on_their_way(self) -> bool:
        """Whether the engine is at work on requests and responses other than those that wait here."""
        engine: Any = self._shared.crawler.engine
        return len(engine.downloader.active) > self._held or not engine.scraper.slot.is_idle()

    def count(self, request: "Request", *, discarded: bool) -> None:
        """Count what has become of a request, if it had been postponed."""
        if request.meta.get(POSTPONED) == digest(request.url):
            self._shared.stats.inc_value("dedup/postponed/discarded" if discarded else "dedup/postponed/fetched")


def _named(book: RuleBook, site: str) -> Rule:
    """Return the candidate rule of parameters that are such before anything was learned of a site."""
    plain = [name for name in IRRELEVANT if not name.endswith("*")]
    names = {*IRRELEVANT, *(name.upper() for name in plain)}
    sites = Counter(
        key
        for other in book.sites
        if other != site
        for key in {
            key
            for rule in book.for_site(other)
            if rule.status.acts
            for key, operation in rule.ops.items()
            if key.startswith("q.") and isinstance(operation, Ignore) and not isinstance(operation.only, frozenset)
        }
    )
    keys = {f"q.{name}" for name in names} | {key for key, number in sites.items() if number >= TAUGHT}
    return Rule(site, {}, dict.fromkeys(sorted(keys), Ignore()), Status.CANDIDATE)


def _heeds_priorities(settings: Any) -> bool:
    """Whether the scheduler is one whose queue gives out what has the highest priority first."""
    scheduler = load_object(settings["SCHEDULER"])
    if scheduler is Scheduler:
        queue = load_object(settings["SCHEDULER_PRIORITY_QUEUE"])
        return queue in (ScrapyPriorityQueue, DownloaderAwarePriorityQueue)
    queue = settings.get("SCHEDULER_QUEUE_CLASS", _REDIS_QUEUES[0])
    return f"{scheduler.__module__}.{scheduler.__qualname__}" == _REDIS and queue in _REDIS_QUEUES
