"""The recorder: one observation per response, into the store.

It sees final responses where they go to the spider, so that those to robots.txt, media
pipelines and ``engine.download_async`` never reach it, and redirects as a downloader
middleware, since those never reach spiders.
"""

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK

from ...content.fingerprints import Kind, fingerprint_body
from ...rules.exchange import CLEAN_PARAM, declaring_lines
from ...store.rows import ObservationRow
from ..identity.identities import is_plain_get
from ..shared import Shared
from ..support.compatibility import without_spider
from ..support.request_meta import SWITCH
from .robots import is_robots
from .store_rows import OWN_TREE, LaterRow, SmallPages, base_row, is_quick, page_row, redirect_row

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

__all__ = ["MediaRecorder", "Recorder", "RedirectRecorder", "RobotsRecorder"]

_TELLING = (200, 404, 410)
"""Answers that say what a robots.txt declares, or that there is none; after others nobody knows."""


class Recorder:
    """Hands over what was seen to the thread of the store."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._max_body = shared.settings.max_body
        self._small = SmallPages()
        # Scrapy's collector makes each of its methods anew when it is asked for it.
        self._count = shared.stats.inc_value

    def page(self, request: "Request", response: "Response", site: str) -> None:
        """Record a response, unless it is a redirect, which :meth:`redirect` has recorded, or was cut off."""
        if 300 <= response.status < 400 and b"Location" in response.headers:
            return
        left_out = self._shared.left_out
        row = self._base(request, response, site)
        if row is None:
            return
        if response.status != 200:
            left_out.add("status")
            self._record(row)
            return
        if reason := left_out.cut_off(response, site):
            left_out.add(reason)
            return
        versioned = self._shared.versions.wanted(site, request.url)
        if is_quick(response):
            made = page_row(response, row, self._max_body, versioned=versioned)
            taken = self._record(made)
            self._note(made)
        else:
            later = LaterRow(response, row, self._max_body, versioned=versioned, made=self._note)
            taken = self._record(later, later.size)
            if taken and later.size <= OWN_TREE:
                self._small.add(later)
        if taken and not row.from_cache:
            self._shared.learning.news(site, request.url)

    def redirect(self, request: "Request", response: "Response", site: str) -> None:
        """Record a redirect."""
        row = self._base(request, response, site)
        row = row and redirect_row(request, response, row)
        if row is not None and self._record(row):
            self._shared.stats.inc_value("dedup/recorded/redirects")
            self._shared.left_out.add("redirect")

    def robots(self, request: "Request", response: "Response", site: str) -> None:
        """Record what a robots.txt declares, or that it does no more; a host has one row."""
        lines = declaring_lines(response.body) if response.status == 200 else []
        # What rules may rest on is not believed when the site has taken it back.
        if lines or self._shared.identities.book.for_site(site):
            from_cache = "cached" in response.flags
            row = base_row(request, response, self._shared.settings.scope, site, "", from_cache=from_cache)
            digest = fingerprint_body(response.body, kind=Kind.OTHER)
            self._record(row._replace(fingerprints=digest, headers={CLEAN_PARAM: "\n".join(lines)}))
            self._shared.left_out.add("robots.txt")

    def _note(self, row: ObservationRow) -> None:
        """Note a page whose row is made, in whichever thread."""
        self._shared.left_out.note(row)
        self._shared.repeats.note(row)

    def _base(self, request: "Request", response: "Response", site: str) -> ObservationRow | None:
        shared = self._shared
        from_cache = "cached" in response.flags
        if from_cache and response.url != request.url:
            # The HTTP cache has answered with the copy of another URL: to record it would let a
            # rule prove itself by its own work.
            shared.stats.inc_value("dedup/recorded/skipped/cached")
            shared.left_out.add("cached")
            return None
        return base_row(request, response, shared.settings.scope, site, shared.spider.name, from_cache=from_cache)

    def _record(self, row: ObservationRow | LaterRow, size: int = 0) -> bool:
        taken = self._shared.record(row, size)
        if taken:
            self._count("dedup/recorded")
        return taken


@without_spider
class _ResponseMiddleware:
    """A downloader middleware that looks at responses and hands them on as they are."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._recorder = Recorder(shared)

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl."""
        return cls(Shared.of(crawler))

    def process_response(self, request: "Request", response: "Response") -> "Response":
        """Record *response* if it concerns this middleware."""
        try:
            self._look_at(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("recorder", "A response could not be recorded")
        return response

    def _look_at(self, request: "Request", response: "Response") -> None:
        raise NotImplementedError


class RedirectRecorder(_ResponseMiddleware):
    """Downloader middleware, just outside Scrapy's redirect middleware: records redirects."""

    def _look_at(self, request: "Request", response: "Response") -> None:
        if 300 <= response.status < 400 and is_plain_get(request):
            site, mode = self._shared.identities.site_and_mode(request.url)
            if mode is not None:
                self._recorder.redirect(request, response, site)


class RobotsRecorder(_ResponseMiddleware):
    """Downloader middleware, just outside HTTP compression: records what a robots.txt declares of parameters.

    Scrapy fetches these files itself, where the spider obeys them; nothing is fetched for it.
    """

    def __init__(self, shared: Shared) -> None:
        if not shared.crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        super().__init__(shared)

    def _look_at(self, request: "Request", response: "Response") -> None:
        if response.status in _TELLING and request.callback is NO_CALLBACK and is_robots(request.url):
            site, mode = self._shared.identities.site_and_mode(request.url)
            if mode is not None:
                self._recorder.robots(request, response, site)


class MediaRecorder(_ResponseMiddleware):
    """Downloader middleware, just outside HTTP compression: records what media pipelines download."""

    def __init__(self, shared: Shared) -> None:
        if not shared.settings.media:
            raise NotConfigured
        super().__init__(shared)

    def _look_at(self, request: "Request", response: "Response") -> None:
        if (
            request.callback is NO_CALLBACK
            and request.method == "GET"
            and not request.body
            and request.meta.get(SWITCH) is not False
            and not is_robots(request.url)
            and not 300 <= response.status < 400
        ):
            site, mode = self._shared.identities.site_and_mode(request.url)
            if mode is not None:
                self._recorder.page(request, response, site)
