"""Postponing: what candidate rules would make duplicates is fetched last, when more is known.

A learning names what probably makes no difference but may not be ignored yet, such as what acts in other sections of the site
(:mod:`scrapy_dedup.learning.decision.candidates`); before a site is learned for the first time these are session ids and tracking
parameters with unmistakable names, and what rules of several other sites drop. A request that would be a duplicate by them
(:mod:`.site_candidates`) gets a lower priority: as it comes out of the spider, or, had it been queued before, at the gate, which
puts it back once. It is never filtered for that. When nothing else is left, the gate lets a few of them go
(:mod:`.release`); what these show is learned, and the others are filtered by a rule that acts now, or fetched: at once if
nothing says any more that they are duplicates, else some more of them.
"""

import logging
from typing import TYPE_CHECKING, Any, Final

import attrs
from pydispatch.dispatcher import getReceivers, liveReceivers
from scrapy import signals
from scrapy.core.scheduler import Scheduler
from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue
from scrapy.utils.misc import load_object

from ..settings.dedup_settings import Mode
from ..support.request_meta import POSTPONED, PUT_BACK, TRANSIENT_LINK, digest, is_start

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities, UrlIdentity
    from ..seen.depth_limit import Depths
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.idle_hook import BeforeIdle
    from .release import PostponedRelease
    from .site_candidates import SiteCandidates

logger = logging.getLogger(__name__)

#: How much lower the priority of a postponed request is.
LOWER: Final = 1_000_000

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


@attrs.define(eq=False, repr=False, kw_only=True)
class Postponing:
    """Postpones requests, and decides on them."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _identities: "Identities"
    _seen: "Seen"
    _depths: "Depths"
    _before_idle: "BeforeIdle"
    _site_candidates: "SiteCandidates"
    _postponed_release: "PostponedRelease"
    #: Whether the dupe filter of the plug-in is in use.
    has_filter: bool = attrs.field(default=False, init=False)
    _is_on: bool | None = attrs.field(default=None, init=False)

    # What is postponed

    def hindrance(self) -> str | None:
        """Return why nothing is postponed in this crawl; None if it is."""
        settings = self._crawler.settings
        if not (self._settings.postpone and self._settings.learns_live and self.has_filter):
            return "DEDUP_POSTPONE is off, or nothing is learned and filtered while the crawl goes on"
        closing = next((name for name in _CLOSING if settings.getfloat(name)), None)
        if closing is not None:
            return f"{closing} closes the spider before all is fetched"
        if self._depths.limited:
            return "DEPTH_LIMIT makes the order matter"
        if not _heeds_priorities(settings):
            return "the scheduler is not known to heed priorities"
        handlers = liveReceivers(getReceivers(self._crawler, signals.spider_idle))
        if any(getattr(each, "__self__", None) is not self._before_idle for each in handlers):
            return "the spider or an extension listens to spider_idle, so that it may never run idle"
        return None

    @property
    def _is_used(self) -> bool:
        """Whether requests are postponed; found out when the first one is asked about, as all handlers are connected."""
        if self._is_on is None:
            why = self.hindrance()
            self._is_on = why is None
            if why is not None:
                logger.debug("Nothing is postponed: %s", why, extra={"spider": self._status.spider})
        return self._is_on

    async def use(
        self, sites: "Collection[str]", candidates: "Mapping[str, str]", undecided: "Collection[str]" = ()
    ) -> None:
        """Postpone by the *candidates* of *sites*, which were learned, from now on: site -> the text of a rule file.

        Those of *undecided* sites stay: the time was up before they were looked for.
        """
        if self._is_used:
            await self._site_candidates.use(sites, candidates, undecided)

    def lower(self, request: "Request", _: "Response") -> None:
        """Lower the priority of *request*, which comes out of the spider, if it is to be postponed."""
        if not self._is_used:
            return
        identity = self._identities.of(request)
        if identity is not None and identity.slot not in self._seen and self._is_to_wait(request, identity):
            self._mark(request)
            request.priority -= LOWER

    def put_back(self, request: "Request") -> "Request | None":
        """Return what is to be queued in the place of *request*, which had been queued before the candidates were known.

        None if it is to be fetched now.
        """
        if not self._is_used or POSTPONED in request.meta:
            return None
        identity = self._identities.of(request)
        if identity is None or not self._is_to_wait(request, identity):
            return None
        later = request.replace(priority=request.priority - LOWER)
        self._mark(later)
        return self._again(later)

    def _again(self, request: "Request") -> "Request":
        """Return *request* as one that is to be queued again."""
        request.meta[PUT_BACK] = True
        return request

    def _is_to_wait(self, request: "Request", identity: "UrlIdentity") -> bool:
        """Whether *request* would be a duplicate by candidates, and its order is nobody else's business."""
        if identity.mode is not Mode.ACTIVE or request.dont_filter or is_start(request):
            return False
        return self._site_candidates.is_doubtful(request, identity) and self._has_usual_priority(request)

    def _has_usual_priority(self, request: "Request") -> bool:
        """Whether nobody but Scrapy's depth middleware and the plug-in has set the priority of *request*."""
        meta = request.meta
        if "retry_times" in meta or "redirect_times" in meta:
            return False
        usual = -int(meta.get("depth", 0)) * self._crawler.settings.getint("DEPTH_PRIORITY")
        if meta.get(TRANSIENT_LINK):
            usual -= self._settings.transient_priority
        return request.priority == usual

    def _mark(self, request: "Request") -> None:
        request.meta[POSTPONED] = digest(request.url)
        self._stats.inc_value("dedup/postponed")
        logger.debug("Postponed %(request)s", {"request": request}, extra={"spider": self._status.spider})

    # What becomes of it

    def note_other(self) -> None:
        """Note that a request is sent that was not postponed."""
        self._postponed_release.others_sent += 1

    def must_wait(self, request: "Request") -> bool:
        """Whether *request* was postponed, and is to wait for others, and for what these show; otherwise it is let go."""
        if request.meta.get(POSTPONED) != digest(request.url):
            return False
        identity = self._identities.of(request)
        if identity is None or self._status.is_closing or not self._is_open_question(request, identity):
            return False
        return not (self._postponed_release.is_calm and self._postponed_release.takes(identity.site))

    def _is_open_question(self, request: "Request", identity: "UrlIdentity") -> bool:
        if not self._site_candidates.is_learned(identity.site):  # an earlier run of the job has postponed it
            return self.hindrance() is None
        return self._site_candidates.is_doubtful(request, identity)

    async def wait(self, request: "Request") -> "Request | None":
        """Wait until those that were let go have come, and what they show is learned.

        While others are on their way, it waits for these, and returns the request to be queued again: what they link
        comes first.
        """
        site = self._identities.of_url(request.url).site
        return None if await self._postponed_release.wait(site) else self._again(request.replace())

    def count(self, request: "Request", *, discarded: bool) -> None:
        """Count what has become of a request, if it had been postponed."""
        if request.meta.get(POSTPONED) == digest(request.url):
            self._stats.inc_value("dedup/postponed/discarded" if discarded else "dedup/postponed/fetched")


def _heeds_priorities(settings: Any) -> bool:
    """Whether the scheduler is one whose queue gives out what has the highest priority first."""
    scheduler = load_object(settings["SCHEDULER"])
    if scheduler is Scheduler:
        queue = load_object(settings["SCHEDULER_PRIORITY_QUEUE"])
        return queue in (ScrapyPriorityQueue, DownloaderAwarePriorityQueue)
    queue = settings.get("SCHEDULER_QUEUE_CLASS", _REDIS_QUEUES[0])
    return f"{scheduler.__module__}.{scheduler.__qualname__}" == _REDIS and queue in _REDIS_QUEUES
