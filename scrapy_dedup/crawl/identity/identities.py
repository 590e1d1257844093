"""What a request is compared by: its canonical key, its callback, and what the fingerprinter sees.

Two requests are equivalent only if their canonical keys are equal, and, the URL apart, the configured request fingerprinter,
the callback with its arguments (``cb_kwargs``) and the cookie jar (``meta["cookiejar"]``) agree. Together they make a
*slot*, a number of 60 bits.

Scrapy's own fingerprinter sees nothing but the URL of a GET request without a body, so that all can be remembered by URL,
and links that are met again and again cost one look-up. Any other one is asked about each request, with the canonical key
in the place of the URL.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import attrs
from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.python import global_object_name
from scrapy.utils.request import RequestFingerprinter
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from ...rules.canonical import Canonical
from ...urls import site_of_url
from ..settings.dedup_settings import DedupSettings, Mode
from ..support.request_meta import OWN, SWITCH, compared_context
from .callbacks import DEFAULT, CallbackNames
from .request_fingerprints import plain_fingerprints

if TYPE_CHECKING:
    from scrapy.utils.request import RequestFingerprinterProtocol

    from ...rules.book import RuleBook
    from ..support.request_meta import RunMarks

_MANY_URLS = 10_000
_MANY_ORIGINS = 10_000


class Alias(NamedTuple):
    """A URL that is known to be a page: the canonical key of that, the id of the kind, and both URLs."""

    key: str
    rule: str
    url: str
    page: str


@attrs.define(eq=False, repr=False)
class UrlIdentity:
    """What is remembered of a URL, and of the last request for it."""

    #: The key by the rules, with the changes that these make.
    canonical: Canonical
    #: The key that requests are compared by: that of the page whose alias the URL is known to be.
    key: str
    #: The id of the kind of such an alias.
    alias: str
    site: str
    #: None if the plug-in is off for the site.
    mode: Mode | None
    #: Scrapy's own fingerprint of a GET request, once somebody has asked for it.
    fingerprint: bytes | None = None
    callback: str = ""
    context: str = ""
    slot: int = -1
    #: Slots under which the URL was let through, and filtered, the last time.
    passed: int = -1
    discarded: int = -1
    #: By which the URL may name an element of a page, once somebody has asked.
    tokens: tuple[str, ...] | None = None
    #: Whether the URL is counted among those filtered.
    known: bool = False

    def is_same_url(self, other: "UrlIdentity") -> bool:
        """Whether the URL and that of *other*, which has the same key, are one by their normal form."""
        return self.canonical.is_same_url(other.canonical)

    def filtering_rules(self, page: "UrlIdentity | None") -> tuple[str, ...]:
        """Return what :meth:`.Canonical.filtering_rules` does; of an alias it is the id of its kind."""
        if self.alias:
            return (self.alias,)
        return self.canonical.filtering_rules(None if page is None else page.canonical)


class Identities:
    """The identities of requests, under one set of rules."""

    def __init__(
        self,
        book: "RuleBook",
        settings: DedupSettings,
        fingerprinter: "RequestFingerprinterProtocol",
        names: CallbackNames,
        marks: "RunMarks",
    ) -> None:
        self.book = book
        self.names = names
        self._settings = settings
        self._fingerprinter = fingerprinter
        self._marks = marks
        #: Whether the fingerprinter is Scrapy's own.
        self.stock = type(fingerprinter) is RequestFingerprinter
        self._plain = plain_fingerprints(fingerprinter.fingerprint) if self.stock else None
        # Two generations: what is asked for again moves to the young one; the old one is dropped
        # as a whole when the young one is full.
        self._young: dict[str, UrlIdentity] = {}
        self._old: dict[str, UrlIdentity] = {}
        #: Those under the rules of before.
        self._former: tuple[dict[str, UrlIdentity], ...] = ()
        self._sites: dict[str, tuple[str, Mode | None]] = {}
        #: By their canonical key under the rules.
        self.aliases: dict[str, Alias] = {}

    def use(self, book: "RuleBook", aliases: "dict[str, Alias]") -> "tuple[dict[str, UrlIdentity], ...]":
        """Compare by other rules from now on; *aliases* are those that are known, under these rules.

        Return what is not needed any more, and takes long to be forgotten.
        """
        self.book = book
        needless = self._former
        self._former = (self._young, self._old)
        self._young, self._old = {}, {}
        self.aliases = aliases
        return needless

    def renew(self, url: str) -> None:
        """Look *url* up again: it is known now to be an alias."""
        self._young.pop(url, None)
        self._old.pop(url, None)

    def slot_of_key(self, key: str, request: Request) -> int | None:
        """Return the slot that *request* would have under a canonical key."""
        callback = self.names.of(request)
        context = context_of(request)
        if callback is None or context is None:
            return None
        if self.stock:
            return slot_of(callback, key.encode("utf-8", "surrogatepass"), context)
        return self._foreign_slot(request, callback, context, key)

    def are_of(self, fingerprinter: object) -> bool:
        """Whether *fingerprinter* is that of the crawl, and Scrapy's own."""
        return self.stock and fingerprinter is self._fingerprinter

    def digest(self) -> str:
        """Return a text that changes whenever equal requests could get other slots."""
        return self.digest_of(self.book)

    def digest_of(self, book: "RuleBook") -> str:
        """Return what :meth:`digest` would return under the rules of *book*."""
        return f"2 {book.digest()} {global_object_name(type(self._fingerprinter))}"

    def of_url(self, url: str) -> UrlIdentity:
        """Return the identity of *url*."""
        found = self._young.get(url)
        if found is None:
            found = self._old.pop(url, None)
            if found is None:
                found = self._new(url)
            if len(self._young) >= _MANY_URLS:
                self._old, self._young = self._young, {}
            self._young[url] = found
        return found

    def of(self, request: Request) -> UrlIdentity | None:
        """Return the identity of *request* with its slot: of one that was let pass what it was then; None if it is left alone.

        That is one with a body, of another method than GET, of another scheme than http(s), of a media pipeline, with
        ``meta["dedup"] = False`` or ``meta["verbatim_url"]``, of a site that is switched off, or with a callback or arguments
        for it that cannot be compared.
        """
        if not is_plain_get(request):
            return None
        url = request.url
        identity = self._young.get(url) or self.of_url(url)
        if identity.mode is None:
            return None
        callback = DEFAULT if request.callback is None else self.names.of(request)
        context = context_of(request)
        if callback is None or context is None:
            return None
        if not self.stock:
            slot = self._marks.slot_of(request) or self._foreign_slot(request, callback, context, identity.key)
            if slot is None:
                return None
            identity.slot = slot
        elif callback != identity.callback or context != identity.context:
            identity.slot = slot_of(callback, identity.key.encode("utf-8", "surrogatepass"), context)
        else:
            return identity
        identity.callback = callback
        identity.context = context
        return identity

    def slot_of_url(self, url: str, request: Request) -> int | None:
        """Return the slot that *request* would have if it were for *url*; None if it is to be left alone."""
        if url == request.url:
            identity = self.of(request)
            return None if identity is None else identity.slot
        return self.slot_of_key(self.of_url(url).key, request)

    def slot_again(self, url: str, callback: str, context: str, key: str | None = None) -> int | None:
        """Return the slot of a request for *url* that has nothing but its callback and its context.

        *key* is the canonical key of the URL, that by the rules in use if it is not given.
        """
        if key is None:
            key = self.of_url(url).key
        if self.stock:
            return slot_of(callback, key.encode("utf-8", "surrogatepass"), context)
        return self._foreign_slot(Request(url, callback=self.names.method(callback)), callback, context, key)

    def is_plain_slot(self, request: Request, url: str, slot: int) -> bool:
        """Whether *slot*, that of *request* if it were for *url*, follows from URL, callback and context alone."""
        if self.stock:
            return True
        return self.slot_again(url, self.names.of(request) or "", context_of(request) or "") == slot

    def stock_fingerprint(self, request: Request, ask: Callable[[Request], bytes]) -> bytes:
        """Return what *ask*, Scrapy's own fingerprint, returns, from memory where possible."""
        if request.method != "GET" or request.body or request.meta.get("verbatim_url"):
            return ask(request)
        url = request.url
        identity = self._young.get(url) or self.of_url(url)
        if identity.fingerprint is None:
            identity.fingerprint = (self._plain and self._plain(url)) or ask(request)
        return identity.fingerprint

    def _new(self, url: str) -> UrlIdentity:
        canonical = self.book.canonicalizer.canonical(url)
        if canonical.key == url:
            canonical = canonical._replace(key=url)  # one text in memory instead of two
        alias = self.aliases.get(canonical.key)
        key, kind = (canonical.key, "") if alias is None else (alias.key, alias.rule)
        identity = UrlIdentity(canonical, key, kind, *self.site_and_mode(url))
        for former in self._former:
            if (before := former.get(url)) is not None:
                identity.fingerprint = before.fingerprint
                identity.known = before.known
        return identity

    def site_and_mode(self, url: str) -> tuple[str, Mode | None]:
        """Return the site of *url*, and how far the plug-in may go there."""
        end = url.find("/", 8)
        origin = url if end < 0 else url[:end]
        found = self._sites.get(origin)
        if found is None:
            site = site_of_url(url, groups=self._settings.site_groups)
            found = site, self._settings.mode_of(site) if site and url[:4].lower() == "http" else None
            if len(self._sites) >= _MANY_ORIGINS:
                self._sites.clear()
            self._sites[origin] = found
        return found

    def _foreign_slot(self, request: Request, callback: str, context: str, key: str) -> int | None:
        url = request.url
        if "#" in url and not self.is_same(request, url.partition("#")[0]):  # keys never hold a fragment
            return None
        like = request.replace(url=key)
        for name in OWN:
            like.meta.pop(name, None)
        return slot_of(callback, self._fingerprinter.fingerprint(like), context)

    def is_same(self, request: Request, url: str) -> bool:
        """Whether the fingerprinter does not tell *request* from one for *url*."""
        fingerprint = self._fingerprinter.fingerprint
        return url == request.url or fingerprint(request) == fingerprint(request.replace(url=url))


def is_plain_get(request: Request) -> bool:
    """Whether the plug-in may concern itself with *request* at all, whatever its site."""
    if request.method != "GET" or request.body or request.callback is NO_CALLBACK:
        return False
    meta = request.meta
    return meta.get(SWITCH) is not False and not meta.get("verbatim_url")


def context_of(request: Request) -> str | None:
    """Return a digest of what is handed to the callback of *request*, and of its cookie jar; None if there is no telling.

    Nothing of the kind is "". Of a request that was let pass it is what it was then.
    """
    jar, arguments = request.meta.get("cookiejar"), request.cb_kwargs
    if jar is None and not arguments:
        return ""
    compared = compared_context(request)
    if compared is not None:
        return compared
    try:
        return xxh3_64_hexdigest(json.dumps([jar, arguments], sort_keys=True).encode())
    except (TypeError, ValueError, RecursionError):
        return None


def slot_of(callback: str, rest: bytes, context: str = "") -> int:
    """Return the slot of a callback, a key or a fingerprint, and the digest of a context."""
    who = f"{callback}\0{context}" if context else callback
    return xxh3_64_intdigest(who.encode() + b"\0" + rest) >> 4
