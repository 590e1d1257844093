"""A crawl that is a worker of a fleet: what is seen, learned and left to do is that of all workers of its job."""

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from .fleet.fleet import Fleet
from .fleet.idle import FleetIdleness
from .fleet.members import Members
from .fleet.recovery import LostPages
from .fleet.shared_log import SharedLog
from .fleet.shared_rules import RuleVersions
from .fleet.shared_seen import SharedSeen
from .observe.site_masks import read_masks
from .support.request_meta import CHECKED
from .verify.fleet_checks import FleetChecks

if TYPE_CHECKING:
    from scrapy import Request


class Worker:
    """Connects the services of a crawl, :class:`.CrawlComponents`, with the other workers of its job."""

    def __init__(self, components: Any) -> None:
        log = SharedLog(components.crawler.settings, components.status.spider.name)
        seen = SharedSeen(components.faults, components.stats, log)
        components.seen = seen
        components.rule_versions = components.built(RuleVersions)
        seen.take_rules = components.rule_versions.take_first
        shared: dict[str, Any] = {"members": Members(log, components.settings.fleet)}
        shared["lost_pages"] = components.built(LostPages, **shared)
        shared["idleness"] = components.built(FleetIdleness, **shared)
        components.fleet = self._fleet = components.built(Fleet, **shared)
        self._members, self._lost_pages, self._idleness = shared.values()
        self._faults = components.faults
        self._store = components.store
        self._status = components.status

    def connect(self, components: Any) -> None:
        """Let the services hear of the other workers."""
        self._seen = components.seen
        self._identities = components.identities
        self._suspended = components.suspended
        self._spot_checks = components.spot_checks
        self._rescheduler = components.rescheduler
        self._rule_reload = components.rule_reload
        self._directories = components.directories
        self._masks = components.masks
        self._learning = components.learning
        self._claims = components.claims
        components.crawler.signals.connect(self._note_scheduled, signals.request_scheduled)
        fleet = self._fleet
        follows = "fleet", "What the other workers do could not be followed"
        fleet.joined.subscribe(self._note_joined, *follows)
        fleet.slot_fetched.subscribe(self._note_fetched, *follows)
        for released in (fleet.request_released, self._lost_pages.request_released):
            released.subscribe(components.replay_schedule.schedule, *follows)
        fleet.rules_changed.subscribe(self._take_over, *follows)
        self._checks = FleetChecks(components.spot_checks, components.judge, self._seen)
        fleet.check_popped.subscribe(self._checks.adopt, *follows)
        fleet.request_sent.subscribe(self._note_sent, *follows)
        fleet.told.subscribe(self._checks.hear, *follows)
        components.spot_checks.check_begun.subscribe(self._checks.tell_begun, *follows)
        components.judge.check_judged.subscribe(self._checks.tell_judged, *follows)
        components.judge.check_undecided.subscribe(self._checks.tell_undecided, *follows)
        fleet.leadership_gained.subscribe(self._look_into_ledger, *follows)
        self._lost_pages.slots_freed.subscribe(self._look_into_ledger, *follows)
        self._lost_pages.slots_freed.subscribe(components.replay_schedule.look_for_others, *follows)
        self._learning.is_own = lambda: self._members.leads
        idle = components.before_idle
        learning, *for_all = idle.work
        idleness = self._idleness
        idle.work = [
            learning,
            idleness.before_idle,
            *map(idleness.for_all, (*for_all, self._lost_pages.fetch_anew)),
        ]
        idle.stays_open = idleness.stays_open

    def open(self) -> None:
        """Take part from now on, as the spider is open."""
        try:
            self._note_joined()
            self._idleness.open()
            self._members.open()
            self._fleet.open()
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "The crawl cannot take part in what the others of its job do")

    async def close(self) -> None:
        """Leave the job, as the spider has closed."""
        await self._fleet.close()
        await run_in_thread(self._store.flush)  # the last one learns from what all have recorded
        left = await run_in_thread(self._members.close)
        self._seen.others_go_on = left > 0
        self._seen.log.close()

    def _note_joined(self) -> None:
        """Let spot checks have one name in all workers of the job."""
        self._spot_checks.run = self._seen.job

    def _note_fetched(self, slot: int) -> None:
        """Note that another worker has fetched the page of a slot, unless other rules have come meanwhile."""
        if slot not in self._seen:
            return
        self._spot_checks.note_fetched(slot)
        url = self._seen.url(slot)
        if url:
            self._learning.note_page(self._identities.site_and_mode(url)[0], url, is_own=False)

    def _note_scheduled(self, request: "Request") -> None:
        """Let what an idle spider is handed stand for its page, as the requests do that a spider starts with.

        So come the URLs that RedisSpider reads. Without the mark nobody would hear which worker is about to fetch one of them.
        """
        if not request.dont_filter or CHECKED in request.meta or self._status.slot.inprogress:
            return
        try:
            self._claims.claim_unfiltered(request)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "A request of an idle spider could not be noted")

    def _note_sent(self, request: "Request") -> None:
        """Tell the others what this worker is about to fetch: it is lost if the worker dies."""
        identity = self._identities.of(request)
        if identity is not None:
            self._seen.note_sent(identity.slot)

    def _take_over(self) -> None:
        deferred_from_coro(self._use_shared_rules()).addErrback(lambda _: None)

    async def _use_shared_rules(self) -> None:
        refuted = set(self._suspended.found)
        try:
            await self._rule_reload.take_over()
            self._masks.use(await run_in_thread(read_masks, self._directories.all, self._faults))
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fleet", "The rules of another worker could not be taken over")
        for site in {site for site, _ in self._suspended.found.keys() - refuted}:
            self._learning.note_refuted(site)

    def _look_into_ledger(self) -> None:
        """See that what others have filtered is looked for, as it may be needed."""
        self._rescheduler.is_due = True
        self._seen.lacking = True
