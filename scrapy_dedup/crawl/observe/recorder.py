"""The recorder: one observation per response, into the store.

It sees final responses where they go to the spider, so that those to robots.txt, media
pipelines and ``engine.download_async`` never reach it, and redirects as a downloader
middleware, since those never reach spiders.
"""

from functools import partial
from typing import TYPE_CHECKING

import attrs
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK

from ...pages.response import ContentKind, fingerprint_body
from ...rules.exchange import CLEAN_PARAM, declaring_lines
from ...store.rows import ObservationRow
from ...urls import normal_form
from ..identity.identities import is_plain_get
from ..support.components import components_of
from ..support.request_meta import SWITCH
from .store_rows import OWN_TREE, LaterRow, SmallPages, base_row, is_quick, page_row, redirect_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from typing_extensions import Self

    from ..identity.identities import Identities
    from ..seen.odd_responses import Arrival, OddResponses
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from .excluded_responses import ExcludedResponses
    from .kept_texts import KeptTexts
    from .page_events import PageEvents
    from .repeats import Repeats

_TELLING = (200, 404, 410)
"""Answers that say what a robots.txt declares, or that there is none; after others nobody knows."""


def is_robots(url: str) -> bool:
    """Whether a URL is that of a robots.txt."""
    return url.partition("?")[0].endswith("/robots.txt")


@attrs.define(eq=False, repr=False, kw_only=True)
class Recorder:
    """Hands over what was seen to the thread of the store."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _identities: "Identities"
    _excluded: "ExcludedResponses"
    _repeats: "Repeats"
    _odd_responses: "OddResponses"
    _kept_texts: "KeptTexts"
    _page_events: "PageEvents"
    _small: SmallPages = attrs.field(factory=SmallPages, init=False)
    # Scrapy's collector makes each of its methods anew when it is asked for it.
    _count: "Callable[..., None]" = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._count = self._stats.inc_value

    def is_of_its_url(self, request: "Request") -> bool:
        """Whether what *request* shows may be recorded as a version of its URL's page, which is one of its normal form.

        The fingerprinter may keep several apart, by their fragments or their spellings.
        """
        identities = self._identities
        return identities.stock or identities.is_same(request, normal_form(request.url))

    def page(self, request: "Request", response: "Response", site: str) -> None:
        """Record a response, unless it is a redirect, which :meth:`redirect` has recorded, or was cut off."""
        if 300 <= response.status < 400 and b"Location" in response.headers:
            return
        row = self._base(request, response, site)
        if row is None:
            return
        if response.status != 200:
            self._excluded.add("status")
            self._record(row)
            return
        if reason := self._excluded.cut_off(response, site):
            self._excluded.add(reason)
            return
        versioned = self._kept_texts.wanted(site, request.url)
        note = partial(self._note, self._odd_responses.arrival(request))
        if is_quick(response):
            made = page_row(response, row, self._settings.max_body, versioned=versioned)
            taken = self._record(made)
            note(made)
        else:
            later = LaterRow(response, row, self._settings.max_body, versioned=versioned, made=note)
            taken = self._record(later, later.size)
            if taken and later.size <= OWN_TREE:
                self._small.add(later)
        if taken and not row.from_cache:
            self._page_events.page_recorded.send(site, request.url)

    def redirect(self, request: "Request", response: "Response", site: str) -> None:
        """Record a redirect."""
        row = self._base(request, response, site)
        row = row and redirect_row(request, response, row)
        if row is not None and self._record(row):
            self._stats.inc_value("dedup/recorded/redirects")
            self._repeats.redirected(site)
            self._excluded.add("redirect")

    def robots(self, request: "Request", response: "Response", site: str) -> None:
        """Record what a robots.txt declares, or that it does no more; a host has one row."""
        lines = declaring_lines(response.body) if response.status == 200 else []
        # What rules may rest on is not believed when the site has taken it back.
        if lines or self._identities.book.for_site(site):
            from_cache = "cached" in response.flags
            row = base_row(request, response, self._settings.scope, site, self._status, from_cache=from_cache)
            digest = fingerprint_body(response.body, kind=ContentKind.OTHER)
            self._record(row._replace(spider="", fingerprints=digest, headers={CLEAN_PARAM: "\n".join(lines)}))
            self._excluded.add("robots.txt")

    def _note(self, arrival: "Arrival | None", row: ObservationRow) -> None:
        """Note a page whose row is made, in whichever thread."""
        if arrival is not None and row.fingerprints is not None:
            self._odd_responses.note(arrival, row.fingerprints)
        self._excluded.note(row)
        self._repeats.note(row)

    def _base(self, request: "Request", response: "Response", site: str) -> ObservationRow | None:
        from_cache = "cached" in response.flags
        if from_cache and response.url != request.url:
            # The HTTP cache has answered with the copy of another URL: to record it would let a
            # rule prove itself by its own work.
            self._stats.inc_value("dedup/recorded/skipped/cached")
            self._excluded.add("cached")
            return None
        return base_row(request, response, self._settings.scope, site, self._status, from_cache=from_cache)

    def _record(self, row: ObservationRow | LaterRow, size: int = 0) -> bool:
        taken = self._store.add(row, size)
        if taken:
            self._count("dedup/recorded")
        return taken


class _ResponseMiddleware:
    """A downloader middleware that looks at responses and hands them on as they are."""

    def __init__(self, recorder: Recorder, identities: "Identities", faults: "Faults") -> None:
        self._recorder = recorder
        self._identities = identities
        self._faults = faults

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "Self":
        """Return the middleware of a crawl. Raises NotConfigured where it has nothing to do."""
        components = components_of(crawler)
        if not cls._is_needed(crawler, components.settings):
            raise NotConfigured
        return cls(components.recorder, components.identities, components.faults)

    @staticmethod
    def _is_needed(crawler: "Crawler", settings: "DedupSettings") -> bool:
        return True

    def process_response(self, request: "Request", response: "Response") -> "Response":
        """Record *response* if it concerns this middleware."""
        try:
            self._look_at(request, response)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("recorder", "A response could not be recorded")
        return response

    def _look_at(self, request: "Request", response: "Response") -> None:
        raise NotImplementedError


class RedirectRecorder(_ResponseMiddleware):
    """Downloader middleware, just outside Scrapy's redirect middleware: records redirects."""

    def _look_at(self, request: "Request", response: "Response") -> None:
        if 300 <= response.status < 400 and is_plain_get(request):
            site, mode = self._identities.site_and_mode(request.url)
            if mode is not None:
                self._recorder.redirect(request, response, site)


class RobotsRecorder(_ResponseMiddleware):
    """Downloader middleware, just outside HTTP compression: records what a robots.txt declares of parameters.

    Scrapy fetches these files itself, where the spider obeys them; nothing is fetched for it.
    """

    @staticmethod
    def _is_needed(crawler: "Crawler", settings: "DedupSettings") -> bool:
        return crawler.settings.getbool("ROBOTSTXT_OBEY")

    def _look_at(self, request: "Request", response: "Response") -> None:
        if response.status in _TELLING and request.callback is NO_CALLBACK and is_robots(request.url):
            site, mode = self._identities.site_and_mode(request.url)
            if mode is not None:
                self._recorder.robots(request, response, site)


class MediaRecorder(_ResponseMiddleware):
    """Downloader middleware, just outside HTTP compression: records what media pipelines download."""

    @staticmethod
    def _is_needed(crawler: "Crawler", settings: "DedupSettings") -> bool:
        return settings.media

    def _look_at(self, request: "Request", response: "Response") -> None:
        if (
            request.callback is NO_CALLBACK
            and request.method == "GET"
            and not request.body
            and request.meta.get(SWITCH) is not False
            and not is_robots(request.url)
            and not 300 <= response.status < 400
        ):
            site, mode = self._identities.site_and_mode(request.url)
            if mode is not None:
                self._recorder.page(request, response, site)
