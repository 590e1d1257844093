"""The settings of the project that a command runs in, and its spiders."""

import sys
from typing import TYPE_CHECKING, Any

from ..terminal.problems import Mistake

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from ...crawl.settings.dedup_settings import DedupSettings


class Project:
    """The project that a command runs in; outside of one, Scrapy's default settings."""

    def __init__(self, settings: "Settings") -> None:
        self._settings = settings

    def dedup_settings(self, spider: str | None = None) -> "DedupSettings":
        """Return the plug-in's settings of the project, or of one of its spiders; others of that name are told.

        Raises DedupSettingError, Mistake.
        """
        from ...crawl.settings.dedup_settings import DedupSettings, unknown_settings

        settings = self.all_settings(spider)
        found = DedupSettings.from_crawler_settings(settings)
        for name in unknown_settings(settings):
            print(f"WARNING: {name} is no setting of scrapy-dedup", file=sys.stderr)
        return found

    def all_settings(self, spider: str | None = None) -> "Settings":
        """Return the settings of the project, or of one of its spiders. Raises Mistake."""
        if spider is None:
            return self._settings
        settings = self._settings.copy()
        self.spider_class(spider).update_settings(settings)
        return settings

    def spider_class(self, name: str) -> Any:
        """Return the class of a spider. Raises Mistake."""
        from scrapy.spiderloader import get_spider_loader

        loader = get_spider_loader(self._settings)
        try:
            return loader.load(name)
        except KeyError:
            known = ", ".join(sorted(loader.list())) or "none: is this a Scrapy project?"
            raise Mistake(f"there is no spider {name!r}; the spiders here are {known}") from None
