"""The composition root: builds the services of a crawl in the order in which they need each other, and connects them.

It imports all rooms, and is imported by none: Scrapy's components find it by :func:`.components_of`.
"""

from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import signals
from scrapy.exceptions import NotConfigured

from ..files.errors import RuleFileError
from ..rules.book import RuleBook
from .decide.known_aliases import Aliases
from .decide.recalled_aliases import AliasRecall
from .decide.request_decision import RequestDecision
from .decide.request_filter import RequestFilter
from .identity.callbacks import CallbackNames
from .identity.identities import Identities
from .identity.suspended_rules import SuspendedRules
from .items.content_fields import FieldHints
from .items.stripping import remember_crawl
from .items.transient_content import TransientContent
from .learn.learning_runs import LearningRuns
from .learn.live import Learning
from .learn.rule_reload import RuleReload
from .observe.excluded_responses import ExcludedResponses
from .observe.kept_texts import KeptTexts
from .observe.page_events import PageEvents, ResponsesInFlight
from .observe.recorder import Recorder
from .observe.repeats import Repeats
from .observe.site_masks import SiteMasks, read_masks
from .opening import CrawlOpening
from .own_requests.idle_work import IdleWork, RobotsFiles
from .own_requests.internal_requests import InternalRequests
from .own_requests.request_budgets import SavingsBudget, StarterBudget
from .own_requests.revisits import Revisits
from .own_requests.starter import StarterRefetches
from .postpone.postponing import Postponing
from .postpone.release import PostponedRelease
from .postpone.site_candidates import SiteCandidates
from .report.closing import CrawlClose
from .report.closing_report import ClosingReport
from .report.teachers import Teachers
from .seen.depth_limit import Depths
from .seen.ledger import Ledger
from .seen.odd_responses import OddResponses
from .seen.redirect_targets import RedirectTargets
from .seen.replay import LedgerReplay
from .seen.replay_schedule import ReplaySchedule
from .seen.request_outcomes import RequestOutcomes
from .seen.rescheduling import Rescheduler
from .seen.seen import Seen
from .seen.slot_claims import SlotClaims
from .seen.write_buffer import WriteBuffer
from .settings.dedup_settings import DedupSettingError, DedupSettings, told
from .settings.rule_directories import RuleDirectories
from .support.components import is_crawl, is_of_fleet
from .support.crawl_status import CrawlStatus
from .support.crawl_store import CrawlStore
from .support.faults import Faults
from .support.idle_hook import BeforeIdle
from .support.request_meta import RunMarks
from .support.tally import Tally
from .verify.choosing import SpotChecks
from .verify.comparing import PageComparer
from .verify.retraction import Retraction
from .verify.spot_check_judge import SpotCheckJudge
from .verify.unchecked import UncheckedRequests

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler

    from .fleet.fleet import Fleet
    from .fleet.shared_rules import RuleVersions
    from .joining import Worker

T = TypeVar("T")

_ATTRIBUTE = "_scrapy_dedup"


class CrawlComponents:
    """The services of one crawl; made by the component of Scrapy that comes first."""

    @classmethod
    def of(cls, crawler: "Crawler") -> "CrawlComponents":
        """Return the services of a crawl.

        Raises NotConfigured if the plug-in is switched off or there is no crawl, DedupSettingError and
        RuleFileError, which stop the start, after they have been logged in one line.
        """
        components = cls.of_enabled(crawler)
        if components is None:
            raise NotConfigured
        return components

    @classmethod
    def of_enabled(cls, crawler: "Crawler") -> "CrawlComponents | None":
        """As :meth:`of`; None instead of NotConfigured."""
        components: CrawlComponents | None = getattr(crawler, _ATTRIBUTE, None)
        if components is None:
            try:
                if not is_crawl(crawler) or not DedupSettings.are_enabled(crawler.settings):
                    return None
                components = cls(crawler, DedupSettings.from_crawler_settings(crawler.settings))
            except (DedupSettingError, RuleFileError) as error:
                raise told(error) from None
            # The crawler holds the services and not the other way round only: both go together.
            setattr(crawler, _ATTRIBUTE, components)
        return components

    def __init__(self, crawler: "Crawler", settings: DedupSettings) -> None:
        self.crawler = crawler
        self.settings = settings
        self.stats = crawler.stats
        # Each with what it is made of: what it needs was made before it.
        self.faults = Faults(self.stats)
        self.status = CrawlStatus(crawler)
        self.store = CrawlStore(settings.store, settings.scope, sketches_per_site=settings.sketches_per_site)
        self.tally = Tally()
        self.marks = RunMarks()
        self.before_idle = self.built(BeforeIdle)
        self.directories = self.built(RuleDirectories)

        self.names = CallbackNames(crawler)
        self.identities = Identities(self._rules(), settings, crawler.request_fingerprinter, self.names, self.marks)
        self.suspended = self.built(SuspendedRules)
        self.fleet: Fleet | None = None
        self.rule_versions: RuleVersions | None = None
        self.seen = Seen(self.faults)
        self._worker = self._joined()
        self.depths = Depths(crawler.settings.getint("DEPTH_LIMIT"))
        self.ledger = self.built(Ledger)
        self.claims = self.built(SlotClaims)
        self.rescheduler = self.built(Rescheduler)
        self.unwritten = self.built(WriteBuffer)
        self.repeats = Repeats()
        self.redirect_targets = RedirectTargets(self.repeats.led_to)
        self.ledger_replay = self.built(LedgerReplay)
        self.replay_schedule = self.built(ReplaySchedule)
        self.odd_responses = self.built(OddResponses)
        self.outcomes = self.built(RequestOutcomes)
        self.aliases = self.built(Aliases)
        self.alias_recall = self.built(AliasRecall)

        self.page_events = PageEvents(self.faults)
        self.excluded = ExcludedResponses()
        self.masks = SiteMasks(read_masks(settings.rule_directories, self.faults), self.identities.site_and_mode)
        self.kept_texts = self.built(KeptTexts)
        self.in_flight = ResponsesInFlight()
        self.recorder = self.built(Recorder)

        self.spot_checks = self.built(SpotChecks)
        self.request_filter = self.built(RequestFilter)
        self.decision = self.built(RequestDecision)
        self.unchecked = self.built(UncheckedRequests)
        self.retraction = self.built(Retraction)
        self.comparer = self.built(PageComparer)
        self.judge = self.built(SpotCheckJudge)

        self.rule_reload = self.built(RuleReload)
        self.learning_runs = self.built(LearningRuns)
        self.learning = self.built(Learning)

        self.internal_requests = self.built(InternalRequests)
        self.revisits = self.built(Revisits)
        self.starter_budget = self.built(StarterBudget)
        self.starter = self.built(StarterRefetches)
        self.savings_budget = self.built(SavingsBudget)
        self.robots = self.built(RobotsFiles)
        self.idle_work = self.built(IdleWork)

        self.site_candidates = self.built(SiteCandidates)
        self.postponed_release = self.built(PostponedRelease)
        self.postponing = self.built(Postponing)

        self.transient = self.built(TransientContent)
        hints = not settings.content_fields and settings.strip != "off"
        self.field_hints = self.built(FieldHints) if hints else None
        self.teachers = self.built(Teachers)
        self.closing_report = self.built(ClosingReport)
        self.opening = self.built(CrawlOpening)
        self.closing = self.built(CrawlClose)

        self._subscribe()
        if self._worker is not None:
            self._worker.connect(self)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    def built(self, component: "type[T]", **more: Any) -> "T":
        """Return a component made with the services that its parameters name, some of which are *more* than those of a crawl."""
        names = signature(component).parameters
        return component(**{name: more[name] if name in more else getattr(self, name) for name in names})

    # Who hears of what

    def _subscribe(self) -> None:
        pages = self.page_events
        looked_at = "page", "A response could not be looked at"
        pages.response_received.subscribe(self._remember_crawl, *looked_at)
        pages.page_fetched.subscribe(self.idle_work.note, *looked_at)
        pages.page_recorded.subscribe(self.learning.note_page, *looked_at)
        transient = "transient", "Transient content of a page could not be looked for"
        if self.settings.content_fields and self.settings.strip != "off":
            pages.response_received.subscribe(self.transient.note_response, *transient)
            pages.item_given.subscribe(self.transient.note_item, *transient)
        if self.transient.marks_links:
            pages.request_given.subscribe(self.transient.mark_link, *transient)
        pages.request_given.subscribe(self.postponing.lower, "postponing", "A request could not be postponed")
        teachers = "teachers", "Which spiders have taught the rules cannot be told"
        self.request_filter.first_filtered.subscribe(self.teachers.note_filtered, *teachers)
        self.outcomes.slot_fetched.subscribe(self.spot_checks.note_fetched, *looked_at)
        self.replay_schedule.idle_work += self.odd_responses, self.judge
        self.judge.ask = self.starter.ask
        self.retraction.rules_suspended.subscribe(self.learning.replace_suspended)
        self.learning.sites_learned.subscribe(self._use_learned)
        self.before_idle.filtered = lambda: self.ledger.written
        self.before_idle.goes_on = self.replay_schedule.forget_failures
        self.before_idle.work += (
            lambda: self.rule_reload.unsettled or self.learning.is_awaited(),
            self.replay_schedule.before_idle,
            self.idle_work.before_idle,
        )

    def _remember_crawl(self, request: "Request") -> None:
        remember_crawl(request, self.transient)

    async def _use_learned(self, sites: "Collection[str]", answer: "Mapping[str, Any]") -> None:
        if self.settings.learns_live:
            await self.postponing.use(sites, answer.get("candidates", {}), answer.get("undecided", ()))
        self.starter.suggest(sites, answer.get("refetch", {}))

    def _joined(self) -> "Worker | None":
        """Make this crawl a worker of a fleet, where its scheduler is that of scrapy-redis."""
        if not (self.settings.fleet and self.settings.compares and is_of_fleet(self.crawler.settings)):
            return None
        try:
            from .joining import Worker

            return Worker(self)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self.faults.report("fleet", "The crawl cannot take part in what the others of its job do")
            return None

    def _rules(self) -> RuleBook:
        try:
            return self.settings.load_rules()
        except OSError:
            self.faults.report("rules", "The rules cannot be read, so that none is used")
            return RuleBook(groups=self.settings.site_groups)

    def open(self) -> None:
        """Take over what earlier runs of the job have fetched; once."""
        self.opening.open_seen()

    def _spider_opened(self) -> "Coroutine[Any, Any, None] | None":
        self.opening.open()
        if self._worker is not None:
            self._worker.open()
        return self.alias_recall.opened()

    async def _spider_closed(self, reason: str) -> None:
        try:
            if self._worker is not None:
                await self._worker.close()
            await self.closing.close(reason)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
            self.faults.report("close", "The crawl could not be wound up")
