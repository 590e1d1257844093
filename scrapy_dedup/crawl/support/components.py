"""Where Scrapy's components find the services of their crawl, and whether there is one: some commands look at single pages."""

from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: The composition root imports all rooms. It is named here, as classes are in Scrapy's settings, so that none of them
#: imports it.
_ROOT = "scrapy_dedup.crawl.composition.CrawlComponents"


def components_of(crawler: "Crawler") -> Any:
    """Return the :class:`.CrawlComponents` of a crawl, built by the component of Scrapy that comes first.

    Raises NotConfigured where the plug-in is switched off or there is no crawl, and DedupSettingError and RuleFileError,
    which stop the start.
    """
    return load_object(_ROOT).of(crawler)


def is_crawl(crawler: "Crawler") -> bool:
    """Whether *crawler* runs a crawl, in which the plug-in takes part.

    ``scrapy fetch``, ``view``, ``parse``, ``check`` and ``bench`` run a spider with a ``start`` of their own;
    ``scrapy shell`` makes a crawler that never crawls. The user asks for pages there, each of which is to be fetched, and
    nothing is to be recorded.
    """
    start = getattr(crawler.spidercls, "start", None)
    return crawler.crawling and not str(getattr(start, "__module__", "")).startswith("scrapy.commands.")


def is_of_fleet(settings: "BaseSettings") -> bool:
    """Whether the scheduler is that of scrapy-redis, or made from it: several workers may share its queue."""
    scheduler = load_object(settings["SCHEDULER"])
    return any(each.__module__ == "scrapy_redis.scheduler" for each in getattr(scheduler, "__mro__", ()))
