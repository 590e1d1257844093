"""Where Scrapy's components find the services of their crawl."""

from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: The composition root imports all rooms. It is named here, as classes are in Scrapy's settings, so that none of them
#: imports it.
_ROOT = "scrapy_dedup.crawl.composition.CrawlComponents"


def components_of(crawler: "Crawler") -> Any:
    """Return the :class:`.CrawlComponents` of a crawl, built by the component of Scrapy that comes first.

    Raises NotConfigured where the plug-in is switched off or there is no crawl, and DedupSettingError and RuleFileError,
    which stop the start.
    """
    return load_object(_ROOT).of(crawler)
