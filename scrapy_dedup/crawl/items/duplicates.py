"""The item pipeline that exports the items of each page once.

An item is a duplicate where a page with the same canonical key, for the same callback with the same arguments, has
given an exported item before. All items of one response go together: they are kept, or they are duplicates.
"""

import logging
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.utils.job import job_dir

from ..settings.dedup_settings import Mode
from ..support.components import components_of
from ..support.request_meta import KEY, SAMPLE
from .handed_over import carries_in_meta
from .item_sources import ItemSources

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self

    from ..identity.identities import Identities
    from ..support.faults import Faults

logger = logging.getLogger(__name__)

#: In the job directory: the slots of pages whose items are exported, 8 bytes each.
EXPORTED: Final = "dedup.items"
#: Slots that are remembered, about 100 bytes each; the oldest are forgotten first.
MOST_SLOTS: Final = 2_000_000


class DuplicateItemsPipeline:
    """Drops the items of a page whose items were exported already in this crawl, or in earlier runs of its job.

    Where it is in doubt, an item is kept: see :setting:`DEDUP_DROP_DUPLICATE_ITEMS`. In mode shadow duplicates are counted only.
    """

    def __init__(
        self, identities: "Identities", stats: "StatsCollector", faults: "Faults", most: int = MOST_SLOTS
    ) -> None:
        self._identities = identities
        self._stats = stats
        self._faults = faults
        self._most = most
        #: Where what was exported is kept for the next run of the job, if there is a job directory.
        self._path: Path | None = None
        self._sources = ItemSources()
        #: The slots of pages of which an item was exported, the oldest first.
        self._exported: dict[int, None] = {}
        #: Response -> its slot; None where its items are kept whatever was exported.
        self._slots: WeakKeyDictionary[Response, int | None] = WeakKeyDictionary()
        #: Response -> whether its items are duplicates, as its first item was judged.
        self._judged: WeakKeyDictionary[Response, bool] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the pipeline of a crawl. Raises NotConfigured where the plug-in is switched off."""
        components = components_of(crawler)
        pipeline = cls(components.identities, components.stats, components.faults)
        components.page_events.item_given.subscribe(
            pipeline._sources.note, "items", "The page that an item came from could not be noted"
        )
        crawler.signals.connect(pipeline._scraped, signals.item_scraped)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(pipeline._done, signal)
        crawler.signals.connect(pipeline._failed, signals.spider_error)
        folder = job_dir(crawler.settings)
        if folder:
            pipeline._path = Path(folder, EXPORTED)
            pipeline._load()
            crawler.signals.connect(pipeline._save, signals.spider_closed)
        return pipeline

    def process_item(self, item: Any) -> Any:
        """Return *item*. Raises DropItem for one of a page whose items were exported already."""
        try:
            response = self._sources.take(item)
            if response is None:
                self._stats.inc_value("dedup/items/unknown_response")
                return item
            is_duplicate, drops = self._judge(response)
        except Exception:  # noqa: BLE001 (whatever it is, the item goes on)
            self._faults.report("items", "It is not known whether an item is a duplicate")
            return item
        if is_duplicate:
            self._stats.inc_value("dedup/items/duplicates")
            if drops:
                assert response.request is not None
                key = response.request.meta.get(KEY)
                raise DropItem(f"Items of this page were exported already: {key}", log_level="DEBUG")
        return item

    def _judge(self, response: "Response") -> tuple[bool, bool]:
        """Return whether the items of *response* are duplicates, and whether such are dropped there."""
        if response not in self._slots:
            self._slots[response] = self._slot(response)
        slot = self._slots[response]
        if slot is None:
            return False, False
        if response not in self._judged:
            self._judged[response] = slot in self._exported
        return self._judged[response], self._mode(response) is Mode.ACTIVE

    def _slot(self, response: "Response") -> int | None:
        """Return what a response is compared by; None where its items are kept whatever was exported."""
        request = response.request
        # A spot check that has come as far as the spider is another page than its rule said.
        if request is None or SAMPLE in request.meta or carries_in_meta(request):
            return None
        if self._mode(response) not in (Mode.ACTIVE, Mode.SHADOW):
            return None
        identity = self._identities.of(request)
        return None if identity is None else identity.slot

    def _mode(self, response: "Response") -> Mode | None:
        assert response.request is not None
        return self._identities.site_and_mode(response.request.url)[1]

    def _scraped(self, response: Any) -> None:
        slot = self._slots.get(response) if response is not None else None
        if slot is not None and not self._judged.get(response, True):
            self._exported.pop(slot, None)
            self._exported[slot] = None
            if len(self._exported) > self._most:
                del self._exported[next(iter(self._exported))]

    def _done(self, response: Any) -> None:
        self._sources.done(response)

    def _failed(self, response: Any) -> None:
        """Note that a callback has failed: another copy of its page may give the items that are missing."""
        slot = self._slots.get(response)
        if slot is not None and not self._judged.get(response, True):
            self._exported.pop(slot, None)
        self._slots[response] = None

    # Job directories

    def _load(self) -> None:
        assert self._path is not None
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError:
            self._faults.report("items", "The items that were exported in earlier runs are not known")
            return
        slots = array("Q")
        slots.frombytes(content[: len(content) // slots.itemsize * slots.itemsize])
        self._exported = dict.fromkeys(slots[-self._most :])

    def _save(self) -> None:
        """Write what was exported, in a run that has ended as it should: of others nobody knows how far the feed has come."""
        assert self._path is not None
        try:
            new = self._path.with_suffix(".new")
            new.write_bytes(array("Q", self._exported).tobytes())
            new.replace(self._path)
        except OSError:
            self._faults.report("items", "The items that were exported could not be noted in the job directory")
