"""The item pipeline: takes transient content out of the fields that are named."""

import logging
from typing import TYPE_CHECKING, Any

import attrs
from scrapy import signals
from scrapy.exceptions import NotConfigured

from ...masks.cutting import marked, removed
from ..support.components import components_of
from ..support.item_fields import with_field
from .content_fields import FieldCheck
from .handed_over import squeezed

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self

    from ...masks.fields import TransientPage
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from .transient_content import TransientContent

logger = logging.getLogger(__name__)


class TransientPipeline:
    """Strips, or marks, what is transient in the fields of :setting:`DEDUP_CONTENT_FIELDS`.

    A string that is empty then stays as an empty string, and one of a list leaves it.
    """

    def __init__(
        self,
        settings: "DedupSettings",
        status: "CrawlStatus",
        stats: "StatsCollector",
        faults: "Faults",
        transient: "TransientContent",
    ) -> None:
        self._status = status
        self._stats = stats
        self._faults = faults
        self._fields = settings.content_fields
        self._marks = settings.strip == "mark"
        self._transient = transient
        self._transient.has_pipeline = True
        self._check = FieldCheck(settings.content_fields)
        #: The fields of which it was told that something stays.
        self._told: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the pipeline of a crawl. Raises NotConfigured where no fields are named or nothing is to be stripped."""
        components = components_of(crawler)
        settings = components.settings
        if not settings.content_fields or settings.strip == "off":
            raise NotConfigured
        pipeline = cls(settings, components.status, components.stats, components.faults, components.transient)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(pipeline._done, signal)
        return pipeline

    def process_item(self, item: Any) -> Any:
        """Return *item*, or, where it is frozen, one like it, without transient content in its content fields."""
        response = None
        try:
            response = self._transient.sources.take(item)
            self._check.look(item, response)
        except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
            self._faults.report("fields", "An item could not be looked at")
        try:
            if not self._transient.masks:
                return item
            if response is None:
                self._stats.inc_value("dedup/transient/unknown_response")
                return item
            page, handed_over = self._transient.page(response), self._transient.handed_over(response)
        except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
            self._faults.report("pipeline", "The page that an item came from could not be looked at")
            return item
        if page is None or not page.cuts or handed_over is None:
            return item
        return self._stripped(item, page, handed_over)

    def close_spider(self) -> None:
        """Log which of the named fields no item had, or hold something else than their kind says."""
        problems = list(self._check.problems())
        missing = sum(is_missing for is_missing, _ in problems)
        if missing:
            self._stats.set_value("dedup/content_fields/missing", missing)
        if len(problems) > missing:
            self._stats.set_value("dedup/content_fields/mistaken", len(problems) - missing)
        if problems:
            logger.warning(
                "DEDUP_CONTENT_FIELDS is to be corrected: %s",
                "; ".join(text for _, text in problems),
                extra={"spider": self._status.spider},
            )

    def _done(self, response: Any) -> None:
        self._transient.sources.done(response)

    def _stripped(self, item: Any, page: "TransientPage", handed_over: frozenset[str]) -> Any:
        changed = 0
        for name, kind in self._fields.items():
            field = _Field(page, kind, marks=self._marks, handed_over=handed_over)
            try:
                item = with_field(item, name, field)
            except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
                self._faults.report("pipeline", f"Transient content stays in the field {name!r} of an item")
                continue
            changed += field.fields
            if field.fields:
                self._stats.inc_value("dedup/transient/fields", field.fields)
                self._stats.inc_value("dedup/transient/blocks", field.blocks)
                self._stats.inc_value("dedup/transient/characters", field.characters)
            if field.ambiguous:
                self._stats.inc_value("dedup/transient/ambiguous", field.ambiguous)
                if name not in self._told:
                    self._told.add(name)
                    logger.info(
                        "The field %r holds what may be transient, and where it is from on its page cannot be told: it stays (told once)",
                        name,
                        extra={"spider": self._status.spider},
                    )
        if changed:
            self._stats.inc_value("dedup/transient/items")
        return item


@attrs.define(eq=False, repr=False)
class _Field:
    """Rewrites the values of one field of an item, and counts."""

    _page: "TransientPage"
    _kind: str
    _marks: bool = attrs.field(kw_only=True)
    #: Strings that come from another page, and stay.
    _handed_over: frozenset[str] = attrs.field(default=frozenset(), kw_only=True)
    #: Values that changed.
    fields: int = attrs.field(default=0, init=False)
    #: Places that were stripped or marked, and how many characters stand there.
    blocks: int = attrs.field(default=0, init=False)
    characters: int = attrs.field(default=0, init=False)
    #: Values in which something was left since it was uncertain where it comes from.
    ambiguous: int = attrs.field(default=0, init=False)

    def __call__(self, strings: list[str]) -> list[str] | None:
        found = self._page.find(strings, self._kind)
        self.ambiguous += found.ambiguous
        pairs = [
            (string, [] if self._handed_over and squeezed(string) in self._handed_over else cuts)
            for string, cuts in zip(strings, found.cuts, strict=True)
        ]
        # A string that was empty before stays.
        new = [each for string, cuts in pairs if (each := self._without(string, cuts)).strip() or each == string]
        if new == strings:
            return None
        self.fields += 1
        return new

    def _without(self, string: str, cuts: list[tuple[int, int]]) -> str:
        self.blocks += len(cuts)
        self.characters += sum(end - start for start, end in cuts)
        if not cuts:
            return string
        return marked(string, cuts, self._kind) if self._marks else removed(string, cuts)
