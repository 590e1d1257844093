"""Names of callbacks, so that two requests can be compared and a filtered one made again."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy.spiders import CrawlSpider

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

_BY_RULE = CrawlSpider._callback

#: What Scrapy calls where a request names no callback.
DEFAULT = "parse"


class CallbackNames:
    """Callback -> name, for the spider of one crawl.

    Methods of the spider have the name of the attribute that holds them (not that of
    the function: two attributes may share one), functions their place in the code.
    Callbacks that carry values of their own (closures, partials, methods of other
    objects) have none: nothing tells whether two of them do the same.
    """

    def __init__(self, crawler: "Crawler") -> None:
        self._crawler = crawler
        self._known: dict[Any, str | None] = {}

    @property
    def spider(self) -> "Spider":
        """The spider; ``scrapy shell`` makes it after the components."""
        spider = self._crawler.spider
        assert spider is not None
        return spider

    def of(self, request: "Request") -> str | None:
        """Return the name of the callback of *request*; None if it has none."""
        callback = request.callback
        if callback is None:
            return DEFAULT
        owner = getattr(callback, "__self__", None)
        if owner is None:
            return self._function_name(callback)
        function = getattr(callback, "__func__", None)
        if function is None or owner is not self.spider:
            return None
        try:
            name = self._known[function]
        except KeyError:
            name = self._known[function] = self._method_name(callback)
        # A CrawlSpider sends all links to one method, which calls what the link's rule says.
        if function is _BY_RULE:
            return f"{name}[{request.meta.get('rule')}]"
        return name

    def errback_name(self, request: "Request") -> str | None:
        """Return the name of the errback if it is a method of the spider."""
        errback = request.errback
        return self._method_name(errback) if getattr(errback, "__self__", None) is self.spider else None

    def method(self, name: str | None) -> Callable[..., Any] | None:
        """Return the callback of that name; None for the default one or if there is none."""
        if name is None or name == DEFAULT:
            return None
        if ":" in name:
            return self._function(name)
        found = getattr(self.spider, name.partition("[")[0], None)
        return found if callable(found) else None

    def has(self, name: str | None) -> bool:
        """Whether there is a callback of that name, so that a request can be made again."""
        return name == DEFAULT or self.method(name) is not None

    def _method_name(self, callback: Any) -> str | None:
        own = getattr(self.spider, callback.__name__, None)
        if own == callback:
            return str(callback.__name__)
        for name in (*vars(self.spider), *dir(type(self.spider))):
            # Looked up in the class, so that no property of the spider is asked for.
            if getattr(type(self.spider), name, None) is callback.__func__ or vars(self.spider).get(name) == callback:
                return name
        return None

    @classmethod
    def _function(cls, name: str) -> Callable[..., Any] | None:
        """Return the function of that name, if its module is loaded and it stands where it stood."""
        parts = name.split(":")
        found: Any = sys.modules.get(parts[0])
        for part in parts[1].split("."):
            found = getattr(found, part, None)
        return found if callable(found) and cls._function_name(found) == name else None

    @staticmethod
    def _function_name(callback: Any) -> str | None:
        code = getattr(callback, "__code__", None)
        if code is None or callback.__closure__ or callback.__defaults__ or callback.__kwdefaults__:
            return None
        return f"{callback.__module__}:{callback.__qualname__}:{code.co_firstlineno}"
