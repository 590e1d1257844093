"""The dupe filter that the project has configured, behind that of the plug-in."""

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.misc import build_from_crawler

from ..identity.request_fingerprints import remember_fingerprints
from ..settings.dedup_settings import DedupSettingError, loaded
from ..support.compatibility import heard_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from ..identity.identities import Identities
    from ..support.faults import Faults

FALLBACK = "DEDUP_FALLBACK_DUPEFILTER_CLASS"


class WrappedFilter:
    """The configured dupe filter, and what is known of Scrapy's own."""

    def __init__(self, instance: Any) -> None:
        #: The filter itself.
        self.instance = instance
        #: Whether a URL passes it once, whatever its callback.
        self.ignores_callbacks = False
        #: What tells of a fingerprint whether Scrapy's own filter has heard of it; None where the filter is another one.
        self._has_heard: Callable[[bytes], bool] | None = None

    @property
    def filters(self) -> bool:
        """Whether the project has not switched filtering off."""
        return type(self.instance) is not BaseDupeFilter

    def share_memory(self, identities: "Identities", faults: "Faults") -> None:
        """Let the filter, if it is Scrapy's own, have fingerprints from memory, and look what it has let pass."""
        if not identities.stock or not isinstance(self.instance, RFPDupeFilter):
            return
        if type(self.instance).request_seen is RFPDupeFilter.request_seen:
            self.ignores_callbacks = True
            self._has_heard = heard_by(self.instance)
        remember_fingerprints(self.instance, identities, faults)

    def has_passed(self, request: "Request") -> bool:
        """Whether Scrapy's own filter has let a request with the fingerprint of *request* pass."""
        return self._has_heard is not None and self._has_heard(self.instance.fingerprinter.fingerprint(request))

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method that the filter need not have."""
        method = getattr(self.instance, name, None)
        return None if method is None else method(*arguments)


def wrapped_class_of(settings: "BaseSettings", wrapper: type) -> Any:
    """Return the class of the configured filter, which must not be a *wrapper*. Raises DedupSettingError."""
    value = settings.get(FALLBACK, "scrapy.dupefilters.RFPDupeFilter")
    found = loaded(FALLBACK, value, "Name a dupe filter.")
    if isinstance(found, type) and issubclass(found, wrapper):
        raise DedupSettingError(FALLBACK, value, "it would wrap itself", "Name the dupe filter that is to be wrapped.")
    return found


def built(wrapped_class: Any, crawler: "Crawler", settings: "BaseSettings") -> Any:
    """Return the configured filter, made as Scrapy makes it, or from the settings, as older ones are.

    Raises DedupSettingError.
    """
    try:
        if not hasattr(wrapped_class, "from_crawler") and hasattr(wrapped_class, "from_settings"):
            instance = wrapped_class.from_settings(settings)
        else:
            instance = build_from_crawler(wrapped_class, crawler)
    except TypeError as error:
        remedy = "Give it a class method from_crawler(crawler) that returns an instance."
        raise DedupSettingError(FALLBACK, wrapped_class, f"it cannot be made ({error})", remedy) from error
    problem = None
    if not hasattr(instance, "request_seen"):
        problem = "it is no dupe filter"
    elif iscoroutinefunction(instance.request_seen):
        problem = "its request_seen is a coroutine function, so that Scrapy would filter every request"
    if problem is not None:
        raise DedupSettingError(FALLBACK, wrapped_class, problem, "It needs a method request_seen(request).")
    return instance
