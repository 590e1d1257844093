"""The item pipeline: takes transient content out of the fields that are named."""

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from .compatibility import without_spider
from .content_fields import with_field
from .field_check import FieldCheck
from .rewriting import marked, removed
from .shared import Shared

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from .transient_page import Found, TransientPage

__all__ = ["TransientPipeline"]

logger = logging.getLogger(__name__)


@without_spider
class TransientPipeline:
    """Strips, or marks, what is transient in the fields of :setting:`DEDUP_CONTENT_FIELDS`.

    A string that is empty then stays as an empty string, and one of a list leaves it.
    """

    def __init__(self, shared: Shared) -> None:
        settings = shared.settings
        if not settings.content_fields or settings.strip == "off":
            raise NotConfigured
        self._shared = shared
        self._stats = shared.stats
        self._fields = settings.content_fields
        self._marks = settings.strip == "mark"
        self._transient = shared.transient
        self._transient.has_pipeline = True
        self._check = FieldCheck(settings.content_fields)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            shared.crawler.signals.connect(self._done, signal)

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the pipeline of a crawl. Raises NotConfigured where no fields are named or nothing is to be stripped."""
        return cls(Shared.of(crawler))

    def process_item(self, item: Any) -> Any:
        """Return *item*, or, where it is frozen, one like it, without transient content in its content fields."""
        try:
            self._check.look(item)
        except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
            self._shared.faults.report("fields", "An item could not be looked at")
        try:
            response = self._transient.origins.take(item)
            if not self._transient.masks:
                return item
            if response is None:
                self._stats.inc_value("dedup/transient/unknown_response")
                return item
            page = self._transient.page(response)
        except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
            self._shared.faults.report("pipeline", "The page that an item came from could not be looked at")
            return item
        return item if page is None or not page.spans else self._stripped(item, page)

    def close_spider(self) -> None:
        """Tell which of the named fields no item had, or cannot be stripped."""
        problem = self._check.problem
        if problem:
            logger.warning(
                "DEDUP_CONTENT_FIELDS is to be corrected: %s", problem, extra={"spider": self._shared.spider}
            )

    def _done(self, response: Any) -> None:
        self._transient.origins.done(response)

    def _stripped(self, item: Any, page: "TransientPage") -> Any:
        changed = 0
        for name, kind in self._fields.items():
            field = _Field(page, kind, marks=self._marks)
            try:
                item = with_field(item, name, field)
            except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
                self._shared.faults.report("pipeline", f"Transient content stays in the field {name!r} of an item")
                continue
            changed += field.fields
            if field.fields:
                self._stats.inc_value("dedup/transient/fields", field.fields)
                self._stats.inc_value("dedup/transient/blocks", field.blocks)
                self._stats.inc_value("dedup/transient/characters", field.characters)
            if field.ambiguous:
                self._stats.inc_value("dedup/transient/ambiguous", field.ambiguous)
        if changed:
            self._stats.inc_value("dedup/transient/items")
        return item


class _Field:
    """Rewrites the values of one field of an item, and counts."""

    def __init__(self, page: "TransientPage", kind: str, *, marks: bool) -> None:
        self._page = page
        self._kind = kind
        self._marks = marks
        #: Values that changed.
        self.fields = 0
        #: Places that were stripped or marked, and how many characters stand there.
        self.blocks = 0
        self.characters = 0
        #: Values in which something was left since it was uncertain where it comes from.
        self.ambiguous = 0

    def __call__(self, strings: list[str]) -> list[str] | None:
        found = self._page.find(strings, self._kind)
        self.ambiguous += found.ambiguous
        new = self._rewritten(strings, found)
        if new == strings:
            return None
        self.fields += 1
        self.blocks += sum(map(len, found.cuts))
        self.characters += sum(end - start for cuts in found.cuts for start, end in cuts)
        return new

    def _rewritten(self, strings: list[str], found: "Found") -> list[str]:
        pairs = list(zip(strings, found.cuts, strict=True))
        if self._marks:
            return [marked(string, cuts, self._kind) if cuts else string for string, cuts in pairs]
        return [new for string, cuts in pairs if (new := removed(string, cuts) if cuts else string).strip() or not cuts]
