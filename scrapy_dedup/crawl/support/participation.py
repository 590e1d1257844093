"""Whether a crawler crawls: some of Scrapy's commands use one to look at single pages."""

from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


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
