"""What older Scrapy lacks: the other modules are written for the newest one.

Each piece names the version of Scrapy from which on it is not needed. Once ``pyproject.toml`` asks for that one, the
piece can be deleted, and what it stands for used in its place.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import scrapy
from scrapy import signals
from scrapy.utils.asyncio import is_asyncio_available

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

__all__ = [
    "fingerprints_of",
    "heard_by",
    "robots_of",
    "sleep",
    "without_spider",
]

T = TypeVar("T")
C = TypeVar("C", bound=type)

#: Of the Scrapy that is installed.
_VERSION: Final = tuple(scrapy.version_info[:2])

# 2.18: scrapy.utils.asyncio.sleep
if TYPE_CHECKING or _VERSION >= (2, 18):
    from scrapy.utils.asyncio import sleep
else:

    async def sleep(seconds: float) -> None:
        """Let others do something for so many seconds."""
        if is_asyncio_available():
            await asyncio.sleep(seconds)
            return
        from twisted.internet import reactor
        from twisted.internet.task import deferLater

        await deferLater(reactor, seconds)


def robots_of(crawler: "Crawler") -> Callable[[str], Any]:
    """Return what tells the parser of a host's robots.txt, as far as the crawl has read it; None otherwise.

    2.18: ``signals.robots_parsed``
    """
    if _VERSION >= (2, 18):
        parsers: dict[str, Any] = {}

        def read(robotparser: Any, request: "Request") -> None:
            parsers[urlsplit(request.url).netloc] = robotparser

        # The crawl holds it as long as it holds what is returned.
        crawler.signals.connect(read, signals.robots_parsed, weak=False)
        return parsers.get

    from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware

    def parser(host: str) -> Any:
        engine: Any = crawler.engine
        for middleware in engine.downloader.middleware.middlewares:
            if isinstance(middleware, RobotsTxtMiddleware):
                found = middleware._parsers.get(host)
                return found if hasattr(found, "allowed") else None
        return None

    return parser


def fingerprints_of(dupe_filter: Any) -> "set[bytes] | set[str]":
    """Return what Scrapy's own dupe filter has heard of; there is no public way to ask it without telling it.

    2.19: ``dupe_filter._fingerprints``
    """
    found: set[bytes] | set[str] = dupe_filter._fingerprints if _VERSION >= (2, 19) else dupe_filter.fingerprints
    return found


def heard_by(dupe_filter: Any) -> Callable[[bytes], bool]:
    """Return what tells of a fingerprint whether Scrapy's own dupe filter has heard of it.

    2.19: ``dupe_filter._fingerprints.__contains__``
    """
    heard: Any = fingerprints_of(dupe_filter)
    return heard.__contains__ if _VERSION >= (2, 19) else lambda fingerprint: fingerprint.hex() in heard


def without_spider(component: C) -> C:
    """Let older Scrapy use a spider middleware that is asynchronous only.

    2.16: not needed.
    """
    own: dict[str, Any] = dict(vars(component))
    methods: dict[str, Any] = {}
    if _VERSION < (2, 16):
        # One that is asynchronous only makes the output of all that come after it asynchronous, and cannot be used
        # at all beside one that knows nothing but process_start_requests.
        if "process_start" in own:
            methods["process_start_requests"] = _synchronous_start(own["process_start"])
        if "process_spider_output" in own:
            methods["process_spider_output"] = _synchronous_output(own["process_spider_output"])
            methods["process_spider_output_async"] = _asynchronous_output(own["process_spider_output"])
    for name, method in methods.items():
        setattr(component, name, method)
    return component


def _synchronous_start(method: Callable[..., Any]) -> Callable[..., Any]:
    def process_start_requests(self: Any, start: Iterable[Any], spider: Any = None) -> Iterator[Any]:
        return _driven(method(self, _asynchronous(start)))

    return process_start_requests


def _synchronous_output(method: Callable[..., Any]) -> Callable[..., Any]:
    def process_spider_output(self: Any, response: Any, result: Iterable[Any], spider: Any = None) -> Iterator[Any]:
        return _driven(method(self, response, _asynchronous(result)))

    return process_spider_output


def _asynchronous_output(method: Callable[..., Any]) -> Callable[..., Any]:
    async def process_spider_output_async(
        self: Any, response: Any, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        async for each in method(self, response, result):
            yield each

    return process_spider_output_async


async def _asynchronous(items: Iterable[T]) -> AsyncIterator[T]:
    for item in items:
        yield item


def _driven(items: AsyncIterator[T]) -> Iterator[T]:
    """Yield what an asynchronous generator yields that waits for nothing but :func:`_asynchronous`."""
    while True:
        try:
            items.__anext__().__await__().__next__()
        except StopIteration as found:
            item: T = found.value
        except StopAsyncIteration:
            return
        yield item
