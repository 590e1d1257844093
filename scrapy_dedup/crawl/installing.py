"""What the add-on does to the settings: adds the components, and wraps the dupe filter that is configured."""

import logging
from typing import TYPE_CHECKING

from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES

from .decide.cache import FALLBACK as FALLBACK_STORAGE
from .decide.cache import SharedCacheStorage
from .decide.dupefilter import DupeFilter
from .decide.gate import Gate
from .decide.wrapped_filter import FALLBACK
from .items.duplicates import DuplicateItemsPipeline
from .items.pipeline import TransientPipeline
from .observe.pages import ArrivalMiddleware, PageMiddleware
from .observe.recorder import MediaRecorder, RedirectRecorder, RobotsRecorder
from .settings.dedup_settings import DedupSettingError, DedupSettings, loaded, told, unknown_settings
from .verify.sample_gate import SampleGate

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

#: Where the components stand: before everything else on the way out, and after it on the way back; outside
#: redirects and compression; before HttpError; after everything else.
SAMPLES, GATE, REDIRECTS, MEDIA, ROBOTS, PAGES, ARRIVALS = 9, 10, 605, 585, 586, 40, 1_000_000
#: The pipelines come early: one before them may put another item in the place of the spider's.
DUPLICATE_ITEMS, PIPELINE = 40, 50


def install(settings: "BaseSettings") -> None:
    """Add the components. Raises DedupSettingError for a wrong setting, NotConfigured if switched off."""
    try:
        if not DedupSettings.are_enabled(settings):
            raise NotConfigured
        dedup = DedupSettings.from_crawler_settings(settings)
    except DedupSettingError as error:
        raise told(error) from None
    for name in unknown_settings(settings):
        logger.warning("%s is no setting of scrapy-dedup", name)
    settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RedirectRecorder, REDIRECTS)
    settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", PageMiddleware, PAGES)
    if settings.getbool("ROBOTSTXT_OBEY"):
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RobotsRecorder, ROBOTS)
    if dedup.media:
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", MediaRecorder, MEDIA)
    if dedup.drop_duplicate_items:
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", DuplicateItemsPipeline, DUPLICATE_ITEMS)
    if dedup.content_fields and dedup.strip != "off":
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", TransientPipeline, PIPELINE)
    if dedup.compares:
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", ArrivalMiddleware, ARRIVALS)
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", Gate, GATE)
        if dedup.sample:
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", SampleGate, SAMPLES)
        try:
            _wrap_dupe_filter(settings)
            if dedup.share_cache and settings.getbool("HTTPCACHE_ENABLED"):
                _wrap_cache_storage(settings)
        except DedupSettingError as error:
            raise told(error) from None


def _wrap_dupe_filter(settings: "BaseSettings") -> None:
    current = settings["DUPEFILTER_CLASS"]
    current_class = loaded("DUPEFILTER_CLASS", current, "Name a dupe filter.")
    if current_class is BaseDupeFilter:  # the user wants no filtering
        return
    if isinstance(current_class, type) and issubclass(current_class, DupeFilter):
        return
    priority = settings.getpriority("DUPEFILTER_CLASS") or 0
    if not _is_set(settings, FALLBACK):
        settings.set(FALLBACK, current, priority)
    settings.set("DUPEFILTER_CLASS", DupeFilter, max(priority, SETTINGS_PRIORITIES["addon"]))


def _wrap_cache_storage(settings: "BaseSettings") -> None:
    current = settings["HTTPCACHE_STORAGE"]
    current_class = loaded("HTTPCACHE_STORAGE", current, "Name a storage.")
    if isinstance(current_class, type) and issubclass(current_class, SharedCacheStorage):
        return
    priority = settings.getpriority("HTTPCACHE_STORAGE") or 0
    if not _is_set(settings, FALLBACK_STORAGE):
        settings.set(FALLBACK_STORAGE, current, priority)
    settings.set("HTTPCACHE_STORAGE", SharedCacheStorage, max(priority, SETTINGS_PRIORITIES["addon"]))


def _is_set(settings: "BaseSettings", name: str) -> bool:
    return settings.getpriority(name) is not None and bool(settings.get(name))
