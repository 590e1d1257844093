"""The add-on, which is loaded by every command of Scrapy that has a crawler: what it needs in crawls is loaded there."""

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from .support.components import is_crawl

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self


class Addon:
    """``ADDONS = {"scrapy_dedup.Addon": 600}`` is the whole installation.

    It adds the middlewares where they are not listed already, and puts the configured
    dupe filter into :setting:`DEDUP_FALLBACK_DUPEFILTER_CLASS`, to wrap it.
    """

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the add-on of a crawl. Raises NotConfigured where there is none, as in ``scrapy fetch``."""
        if not is_crawl(crawler):
            raise NotConfigured
        return cls()

    def update_settings(self, settings: "BaseSettings") -> None:
        """Add the components. Raises DedupSettingError for a wrong setting, NotConfigured if switched off."""
        from .installing import install

        install(settings)
