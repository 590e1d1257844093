"""One cached copy for equivalent URLs: a storage for Scrapy's HTTP cache, around the one that is configured.

Every copy stays where it was, under the fingerprint of its own request, so that nothing is lost or wrong when
rules change or the plug-in goes. Beside it stands a pointer, an empty response under the fingerprint of
the canonical key: to which URL one has to go for a copy. Fingerprints are the configured
fingerprinter's; the dupe filter and media pipelines ask it as before.
"""

from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.misc import load_object

from ..identity.identities import is_plain_get
from ..settings.dedup_settings import DedupSettingError, Mode, loaded, told
from ..support.components import components_of
from ..support.request_meta import SAMPLE
from .filtering_rules import filtering_rules

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.settings import BaseSettings

FALLBACK: Final = "DEDUP_FALLBACK_HTTPCACHE_STORAGE"
#: The method of a pointer's request, so that its fingerprint is nobody else's.
_POINTER: Final = "DEDUP-KEY"


class SharedCacheStorage:
    """Answers with the copy of an equivalent URL where there is none of the URL itself.

    Only plain pages (status 200) are shared, that are fresh by the policy of the cache, under rules that a sample
    has confirmed (where samples are taken), and never for start requests and others with ``dont_filter``, for
    samples, and for other cookie jars than the default one.
    """

    def __init__(self, settings: "BaseSettings") -> None:
        self._settings = settings
        value = settings.get(FALLBACK, "scrapy.extensions.httpcache.FilesystemCacheStorage")
        try:
            wrapped = loaded(FALLBACK, value, "Name a storage.")
        except DedupSettingError as error:
            raise told(error) from None
        if isinstance(wrapped, type) and issubclass(wrapped, SharedCacheStorage):
            raise told(DedupSettingError(FALLBACK, value, "it would wrap itself", "Name the one to be wrapped."))
        #: The configured storage.
        self.wrapped: Any = wrapped(settings)
        self._policy: Any = load_object(settings["HTTPCACHE_POLICY"])(settings)
        self._shared: Any = None

    def open_spider(self, spider: "Spider") -> None:
        """Open the wrapped storage."""
        self.wrapped.open_spider(spider)
        try:
            components = components_of(spider.crawler)
        except NotConfigured:
            return
        self._shared = components if components.settings.share_cache else None

    def close_spider(self, spider: "Spider") -> None:
        """Close the wrapped storage."""
        self.wrapped.close_spider(spider)

    def retrieve_response(self, spider: "Spider", request: "Request") -> Response | None:
        """Return the copy of *request*, else that of an equivalent one, else None."""
        own: Response | None = self.wrapped.retrieve_response(spider, request)
        if own is not None or self._shared is None:
            return own
        try:
            found = self._of_equivalent(spider, request, self._shared)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("cache", "The copy of an equivalent URL could not be looked up")
            return None
        if found is not None:
            self._shared.stats.inc_value("dedup/cache/shared")
        return found

    def store_response(self, spider: "Spider", request: "Request", response: Response) -> None:
        """Keep a copy, and where it is to be found by its canonical key."""
        self.wrapped.store_response(spider, request, response)
        shared = self._shared
        if shared is None:
            return
        try:
            key = _key(shared, request)
            if key is not None and key != request.url and response.status == 200:
                pointer = Response(request.url, status=200)
                self.wrapped.store_response(spider, _pointer(request, key), pointer)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            shared.faults.report("cache", "A copy could not be noted under its canonical key")

    def _of_equivalent(self, spider: "Spider", request: "Request", shared: Any) -> Response | None:
        key = _key(shared, request)
        if key is None:
            return None
        pointer = self.wrapped.retrieve_response(spider, _pointer(request, key))
        others = [key] if pointer is None else [pointer.url, key]
        for url in others:
            if url == request.url or shared.identities.of_url(url).key != key:  # by the rules of now
                continue
            if not _is_safe(shared, request.url, url):
                continue
            like = request.replace(url=url)
            copy: Response | None = self.wrapped.retrieve_response(spider, like)
            if copy is not None and copy.status == 200 and self._policy.is_cached_response_fresh(copy, like):
                if "cache_timestamp" in like.meta:
                    request.meta["cache_timestamp"] = like.meta["cache_timestamp"]
                return copy
        return None


def _is_safe(shared: Any, url: str, other: str) -> bool:
    """Whether samples have confirmed all by which two URLs are one page; true where none are taken."""
    site = shared.identities.of_url(url).site
    rules = filtering_rules(shared.identities, url, other) if shared.spot_checks.are_made else ()
    return all(shared.spot_checks.is_confirmed(site, rule) for rule in rules)


def _key(shared: Any, request: "Request") -> str | None:
    """Return the canonical key of *request*; None if it is to be left alone."""
    if request.dont_filter or not is_plain_get(request) or SAMPLE in request.meta or "cookiejar" in request.meta:
        return None
    identity = shared.identities.of_url(request.url)
    return identity.key if identity.mode is Mode.ACTIVE else None


def _pointer(request: "Request", key: str) -> "Request":
    return request.replace(url=key, method=_POINTER, callback=None)
