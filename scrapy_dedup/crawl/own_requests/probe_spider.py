"""The small crawl of ``scrapy learn-rules --probe``: no links are followed, and every answer is recorded."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import scrapy

from ...learning.asking.doubts import Doubt
from ..support.components import components_of
from .internal_requests import CrawlClosing
from .prober import Prober
from .request_budgets import GrantedBudget

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

    from ...learning.asking.probe_outcomes import ProbedParameter

#: What is off in this crawl, whatever the project says.
OFF: Final[dict[str, Any]] = {
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_ITEMCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "CLOSESPIDER_TIMEOUT": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "DEDUP_ENABLED": True,
    "DEDUP_EXTRA": 0,
    "DEDUP_LEARN": "off",
    "DEDUP_REVISITS": 0,
    "DEDUP_SAMPLE": 0,
    "DEDUP_STARTER": 0,
    "FEEDS": {},
    "HTTPCACHE_ENABLED": False,
    "ITEM_PIPELINES": {},
    "JOBDIR": None,
    "REMOTE_CONTROL_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
}
#: Attributes of spiders that Scrapy's middlewares ask for.
_ATTRIBUTES: Final = ("user_agent", "http_user", "http_pass", "http_auth_domain")


class Recording:
    """Extension: sees that what comes is recorded, also where the project lists no component of the plug-in."""

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the extension of a crawl."""
        components_of(crawler)
        return cls()


class ProbeSpider(scrapy.Spider):
    """Makes the probes and nothing else; ``tried`` has what they show."""

    name = "learn-rules"
    found: Sequence[Doubt] = ()
    #: Requests per site.
    most = 0
    tried: "Sequence[ProbedParameter]" = ()

    @classmethod
    def update_settings(cls, settings: "BaseSettings") -> None:
        """Switch off what has no place in this crawl."""
        super().update_settings(settings)
        for name, value in OFF.items():
            settings.set(name, value, "cmdline")
        settings.set("EXTENSIONS", {**settings.getdict("EXTENSIONS"), Recording: 0}, "cmdline")

    async def start(self) -> AsyncIterator[Any]:
        """Make the probes; there is nothing to crawl."""
        prober: Prober = components_of(self.crawler).built(Prober)
        self.tried = prober.tried
        with suppress(CrawlClosing):  # by the user
            await prober.run(list(self.found), GrantedBudget(self.most))
        return
        yield  # which makes it what Scrapy expects


def probe_spider(like: "type[scrapy.Spider] | None") -> type[ProbeSpider]:
    """Return the spider, with the name and the settings of another one."""
    if like is None:
        return ProbeSpider
    other = like

    class Like(ProbeSpider):
        name = other.name

        @classmethod
        def update_settings(cls, settings: "BaseSettings") -> None:
            other.update_settings(settings)
            super().update_settings(settings)

    for attribute in _ATTRIBUTES:
        if hasattr(other, attribute):
            setattr(Like, attribute, getattr(other, attribute))
    return Like
