"""What the components of one crawl share, and what happens when it opens and closes."""

import logging
from pathlib import Path
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.exceptions import NotConfigured
from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object

from ..files.errors import RuleFileError
from ..learning.phrases import counted
from ..masks.files import load_masks
from ..rules.book import RuleBook
from ..store.writer import Writer
from .decide.depth_limit import Depths
from .decide.discards import Discards
from .decide.known_aliases import Aliases
from .identity.callbacks import CallbackNames
from .identity.identities import Identities, UrlIdentity
from .items.field_hints import FieldHints
from .items.transient_content import TransientContent
from .learn.live import Learning
from .learn.mask_book import Masks
from .observe.excluded_responses import LeftOut
from .observe.in_flight import UnderWay
from .observe.kept_texts import Versions
from .observe.repeats import Repeats
from .own_requests.idle_work import Extras
from .postpone.postponing import Postponing
from .report import closing
from .report.tally import Tally
from .report.teachers import Teachers
from .seen.journal import Journal, Page
from .seen.ledger import Ledger, had_passed
from .seen.request_outcomes import Outcomes
from .seen.seen import Seen
from .seen.write_buffer import Unwritten
from .settings.dedup_settings import DedupSettingError, DedupSettings, Mode
from .settings.start_errors import told
from .support.faults import Faults
from .support.garbage_collection import Frozen
from .support.idle_hook import BeforeIdle
from .support.participation import is_crawl
from .support.request_meta import CHECKED, digest, redirects_to
from .verify.monitor import Monitor
from .verify.retraction import Retraction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

    from ..masks.model import Mask
    from ..store.rows import DiscardRow
    from ..store.writer import Row, Task

logger = logging.getLogger(__name__)

#: File in the job directory.
JOURNAL = "dedup.seen"
_ATTRIBUTE = "_scrapy_dedup"


class Shared:
    """The state of one crawl; made by the component that comes first."""

    @classmethod
    def of(cls, crawler: "Crawler") -> "Shared":
        """Return the state of a crawl.

        Raises NotConfigured if the plug-in is switched off or there is no crawl, DedupSettingError and
        RuleFileError, which stop the start, after they have been told in one line.
        """
        shared = cls.of_enabled(crawler)
        if shared is None:
            raise NotConfigured
        return shared

    @classmethod
    def of_enabled(cls, crawler: "Crawler") -> "Shared | None":
        """As :meth:`of`; None instead of NotConfigured."""
        shared: Shared | None = getattr(crawler, _ATTRIBUTE, None)
        if shared is None:
            try:
                if not is_crawl(crawler) or not DedupSettings.are_enabled(crawler.settings):
                    return None
                shared = cls(crawler, DedupSettings.from_crawler_settings(crawler.settings))
            except (DedupSettingError, RuleFileError) as error:
                raise told(error) from None
            # The crawler holds the state and not the other way round only: both go together.
            setattr(crawler, _ATTRIBUTE, shared)
        return shared

    def __init__(self, crawler: "Crawler", settings: DedupSettings) -> None:
        self.crawler = crawler
        self.settings = settings
        self.stats = crawler.stats
        #: Seconds since 1970.
        self.began = time()
        self.faults = Faults(crawler.stats)
        self.names = CallbackNames(crawler)
        self.identities = Identities(self._rules(), settings, crawler.request_fingerprinter, self.names)
        self.aliases = Aliases(self)
        self.seen = Seen(None, self.faults)
        self.depths = Depths(crawler.settings.getint("DEPTH_LIMIT"))
        self.ledger = Ledger(settings, self.names, self.record)
        self.discards = Discards(self)
        self.tally = Tally()
        self.left_out = LeftOut()
        self.monitor = Monitor(self)
        self.retraction = Retraction(self)
        self.teachers = Teachers(self)
        self.unwritten = Unwritten(self)
        self.repeats = Repeats()
        self.versions = Versions(self.repeats, settings)
        self.masks = Masks({}, self.identities.site_and_mode)
        self.use_masks(self._masks_in(settings.rule_directories))
        self.transient = TransientContent(self, self.masks)
        hints = not settings.content_fields and settings.strip != "off"
        self.field_hints = FieldHints(self) if hints else None
        self.under_way = UnderWay()
        self.outcomes = Outcomes(self)
        self.extras = Extras(self)
        self.before_idle = BeforeIdle(self)
        self.writer: Writer | None = None
        self.learning = Learning(self)
        self.postponing = Postponing(self)
        #: Whether earlier runs of the job may have left discards that are needed now.
        self.resumed = False
        #: Whether rules that are learned could not be saved.
        self.unsaved = False
        #: Whether the dupe filter of the plug-in is in use.
        self.has_filter = False
        #: URLs of discards that were scheduled after all.
        self.replayed: set[str] = set()
        #: Whether a request that was discarded is being scheduled at this moment.
        self.scheduling = False
        #: Whether what the wrapped filter says of it does not count, as it has let it pass before.
        self.passing = False
        self._run = token_hex(4)
        self._opened = False
        self._frozen = Frozen()
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @property
    def spider(self) -> "Spider":
        """The spider of the crawl."""
        return self.names.spider

    def _rules(self) -> RuleBook:
        try:
            return self.settings.load_rules()
        except OSError:
            self.faults.report("rules", "The rules cannot be read, so that none is used")
            return RuleBook(groups=self.settings.site_groups)

    def renewed_masks(self) -> "dict[str, Mask]":
        """Return the masks as they stand in the files now. Raises RuleFileError."""
        return self._masks_in(self.rule_directories)

    def use_masks(self, masks: "Mapping[str, Mask]") -> None:
        """Use these masks from now on."""
        self.masks.use(masks)
        self.versions.masked = self.masks.sites

    def _masks_in(self, directories: "Iterable[Path]") -> "dict[str, Mask]":
        try:
            return load_masks(directories)
        except OSError:
            self.faults.report("masks", "The masks cannot be read, so that none is used")
            return {}

    # Opening and closing

    def open(self) -> None:
        """Take over what earlier runs of the job have fetched; once."""
        if self._opened:
            return
        self._opened = True
        if not self.settings.compares:
            return
        folder = job_dir(self.crawler.settings)
        try:
            self.seen = Seen(Journal(Path(folder, JOURNAL) if folder else None), self.faults)
            number = self.seen.resume(self.identities.digest(), self._slot_of_page)
        except OSError:
            self.faults.report("journal", "The journal of pages cannot be used")
            self.seen = Seen(None, self.faults)
            return
        if folder and self.seen.goes_on:
            self.resumed = True
            self.stats.set_value("dedup/resumed", number)
            if self.seen.doubtful:
                self.stats.set_value("dedup/resumed/doubtful", self.seen.doubtful)

    def _slot_of_page(self, page: Page) -> int | None:
        if page.current:
            return page.slot
        return self.identities.slot_again(page.url, page.callback, page.context) if page.plain else None

    def _spider_opened(self) -> None:
        self.open()
        had_store = self._has_store()
        try:
            self.writer = Writer(self.settings.store, sketches_per_site=self.settings.sketches_per_site)
        except RuntimeError:  # no further thread can be started
            self.faults.report("store", "What is seen cannot be recorded")
        self._warn_of_another_filter()
        self.learning.opened()
        if had_store:
            self.outcomes.opened()
        self.before_idle.opened()
        acting = [rule for rule in self.identities.book if rule.status.acts]
        self.stats.set_value("dedup/rules", len(acting))
        if self.masks:
            self.stats.set_value("dedup/masks", len(self.masks))
        places = ", ".join(str(path) for path in self.settings.rule_directories)
        logger.info(
            "scrapy-dedup, mode %(mode)s: %(rules)s for %(sites)s%(places)s",
            {
                "mode": self.settings.mode,
                "rules": counted(len(acting), "rule"),
                "sites": counted(len({rule.site for rule in acting}), "site"),
                "places": f", from {places}" if places else "",
            },
            extra={"spider": self.spider},
        )
        self._frozen.hold()

    def _has_store(self) -> bool:
        """Whether earlier crawls may have left something."""
        try:
            return Path(self.settings.store).exists()
        except OSError:
            return True  # what is wrong is told where it is read

    def _warn_of_another_filter(self) -> None:
        """Tell if the dupe filter was taken out again, by an add-on that came later, say."""
        configured = self.crawler.settings["DUPEFILTER_CLASS"]
        if self.has_filter or not self.settings.compares or load_object(configured) is BaseDupeFilter:
            return
        logger.warning(
            "DUPEFILTER_CLASS is %s, not that of scrapy-dedup: nothing is discarded before it is queued. "
            "Give scrapy_dedup.Addon the highest number in ADDONS.",
            configured,
            extra={"spider": self.spider},
        )

    async def _spider_closed(self, reason: str) -> None:
        try:
            await closing.close(self, reason)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl ends as it would)
            self.faults.report("close", "The crawl could not be wound up")
        finally:
            self._frozen.release()

    # What components ask for

    @property
    def moves(self) -> bool:
        """Whether pages may have to be given other slots, now or in a later run of the job."""
        return self.learning.live or self.seen.persistent or self.settings.sample > 0

    @property
    def rule_directories(self) -> "tuple[Path, ...]":
        """The directories that rules are read from."""
        found = self.settings.rule_directories
        own = self.learning.directory
        if own != (learned := self.settings.learned_directory):  # it began as a copy of that, and is newer
            found = tuple(path for path in found if path != learned)
        return found if own in found or not own.is_dir() else (*found, own)

    def record(self, row: "Row | Task", size: int = 0) -> bool:
        """Hand over a row to the thread of the store; return False if it is dropped."""
        return self.writer is not None and self.writer.add(row, size)

    def take(self, request: "Request", identity: UrlIdentity) -> None:
        """Let *request* stand for its slot, which is free."""
        slot = identity.slot
        plain = not self.moves or self.identities.is_plain_slot(request, request.url, slot)
        self.seen.take(slot, request.url, identity.callback, identity.context, plain)
        self.depths.note(request)

    def is_own_redirect(self, request: "Request", slot: int) -> bool:
        """Whether redirects from a URL with the same slot have led to *request*."""
        return any(self.identities.slot_of_url(url, request) == slot for url in redirects_to(request))

    def take_unasked(self, request: "Request") -> None:
        """Let a request about which no filter will be asked (dont_filter) stand for its slot, if that is free."""
        identity = self.identities.of(request)
        if identity is None or identity.mode is Mode.OBSERVE:
            return
        self.mark(request)
        if identity.slot not in self.seen:
            self.take(request, identity)

    def crawl(self, request: "Request", row: "DiscardRow | None", *, earlier: bool = False) -> bool:
        """Schedule a request that was discarded, *earlier* if by another crawl; return False if that is too late.

        *row* is that of the ledger, if it has one: where it had been queued, and was lost or discarded then, the wrapped
        filter, which remembers it, is not to stop it. It hears of it all the same.
        """
        if not self.is_open:
            return False
        if request.dont_filter:
            self.take_unasked(request)
            self.tally.scheduled(self.identities.of_url(request.url).site)
        self.scheduling = not earlier
        self.passing = row is not None and row.job == self.seen.job and had_passed(row)
        try:
            self.crawler.engine.crawl(request)
        except RuntimeError:  # the spider is closed
            return False
        except Exception:  # noqa: BLE001 (its scheduler is)
            self.faults.report("schedule", "A discarded request could not be scheduled")
            return False
        finally:
            self.scheduling = self.passing = False
        return True

    @property
    def is_open(self) -> bool:
        """Whether the spider is open, and not about to close: its scheduler may be closed already then."""
        slot = getattr(self.crawler.engine, "_slot", None)
        return slot is not None and slot.closing is None

    def mark(self, request: "Request") -> None:
        """Mark a request as compared in this run."""
        request.meta[CHECKED] = f"{self._run} {digest(request.url)}"

    def renew_marks(self) -> None:
        """Have all requests compared again that were marked before: there are other rules now."""
        self._run = token_hex(4)

    def is_fresh(self, mark: Any) -> bool:
        """Whether a mark was made in this run."""
        return isinstance(mark, str) and mark.startswith(self._run)

    def remember_fingerprints(self, wrapped: Any) -> None:
        """Let a dupe filter that asks Scrapy's own fingerprinter get its answers from memory where possible."""
        if (
            self.identities.stock
            and isinstance(wrapped, RFPDupeFilter)
            and wrapped.fingerprinter is self.crawler.request_fingerprinter
        ):
            wrapped.fingerprinter = _Remembering(self.identities, wrapped.fingerprinter, self.faults)


class _Remembering:
    """Scrapy's own fingerprinter behind the memory of identities."""

    def __init__(self, identities: Identities, fingerprinter: "RequestFingerprinterProtocol", faults: Faults) -> None:
        self._identities = identities
        self._faults = faults
        self._ask = fingerprinter.fingerprint

    def fingerprint(self, request: "Request") -> bytes:
        """Return what the wrapped fingerprinter returns."""
        try:
            return self._identities.stock_fingerprint(request, self._ask)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fingerprint", "A fingerprint could not be remembered")
            return self._ask(request)
