"""Aliases in a crawl: URLs that a page shows to be itself, recorded, and used once their kind is proven.

The spider middleware for pages has a look at the requests that a page's callback yields, when it yields them: one that
names an element of that page (``?msg=178`` where the page holds ``id="msg178"``) may be that page, and
so may what the page declares as its own URL. Every such sighting goes into the store, up to a bound,
for learning to prove its kind. Where the kind is proven, the URL has the canonical key of the page
from then on: the dupe filter and the gate do the rest. That holds for the crawl and no longer, since
the pages of a thread shift when posts are deleted.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import attrs
from lxml import etree
from scrapy import Request
from scrapy.http import HtmlResponse, TextResponse

from ...learning.aliases.anchors import anchors_of
from ...pages.response import AT_ONCE, HEAD, decode, link_in_header, parse
from ...rules.alias_kinds import AliasKinds, candidates
from ...store.rows import SightingRow
from ...urls import normal_form, normal_parts, values_of
from ...urls.joining import joined
from ...urls.namings import Anchors, tokens_in
from ..identity.identities import Alias, UrlIdentity, is_plain_get
from ..settings.dedup_settings import Mode
from ..support.request_meta import is_checked, is_start

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ...rules.book import RuleBook
    from ..identity.identities import Identities
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_store import CrawlStore

#: Sightings that are recorded of one kind of aliases at its widest, in a crawl, and of one page.
MOST_OF_A_KIND: Final = 2_000
MOST_OF_A_PAGE: Final = 60
MOST_KINDS: Final = 2_000
#: Aliases that are remembered.
MOST_ALIASES: Final = 200_000

COMPARED: Final = (Mode.SHADOW, Mode.ACTIVE)
#: The element of a page that makes each declaration.
_ELEMENTS: Final = {"shortlink": "link", "canonical": "link", "og:url": "meta"}
#: The canonical URL is in the observation of the page already.
_RECORDED: Final = frozenset({"shortlink", "og:url"})


@attrs.define(eq=False, repr=False)
class Aliases:
    """The aliases that a crawl has met."""

    _settings: "DedupSettings"
    _stats: "StatsCollector"
    _store: "CrawlStore"
    _identities: "Identities"
    _seen: "Seen"
    _book: "RuleBook | None" = attrs.field(default=None, init=False)
    _kinds: AliasKinds = attrs.field(factory=lambda: AliasKinds(()), init=False)
    _recorded: Counter[tuple[str, ...]] = attrs.field(factory=Counter, init=False)

    @property
    def kinds(self) -> AliasKinds:
        """The kinds that act, under the rules that are used now."""
        book = self._identities.book
        if book is not self._book:
            self._book = book
            self._kinds = AliasKinds(book)
        return self._kinds

    # Looking

    def page(self, response: "Response") -> "PageLook | None":
        """Return a look at what a page yields; None where nothing on it can be an alias."""
        request = response.request
        if request is None or response.status != 200 or not isinstance(response, TextResponse):
            return None
        if not is_plain_get(request) or not response.body:
            return None
        identity = self._identities.of_url(request.url)
        if identity.mode is None:
            return None
        return PageLook(
            aliases=self,
            settings=self._settings,
            identities=self._identities,
            response=response,
            url=request.url,
            identity=identity,
        )

    def sighted(self, row: SightingRow) -> None:
        """Record a sighting, unless enough of its like are recorded."""
        kind = (row.site, row.key, row.lead, row.prefix)
        if kind not in self._recorded and len(self._recorded) >= MOST_KINDS:
            return
        if self._recorded[kind] < MOST_OF_A_KIND and self._store.add(row):
            self._recorded[kind] += 1
            self._stats.inc_value("dedup/aliases/sighted")

    def know(self, url: str, key: str, page: UrlIdentity, page_url: str, rule: str) -> None:
        """Note that *url*, whose canonical key by the rules is *key*, is the *page*, which is at *page_url*."""
        identities = self._identities
        known = identities.aliases
        # An alias never leads to an alias, nor in a circle: the page itself may be known as one by now.
        if key == page.key or key in known or page.key in known:
            return
        if len(known) >= MOST_ALIASES:
            del known[next(iter(known))]
        known[key] = Alias(page.key, rule, url, page_url)
        self._stats.inc_value("dedup/aliases/known")
        identities.renew(url)

    # Using

    def fetched_page(self, request: Request) -> UrlIdentity | None:
        """Return the identity of a queued request that turned out meanwhile to be another page, which is fetched."""
        identities = self._identities
        if request.dont_filter or "redirect_urls" in request.meta or is_start(request):
            return None
        key = identities.book.canonical_key(request.url)
        if key not in identities.aliases or not is_checked(request):
            return None
        before = identities.of_url(request.url)
        if before.key == key:  # another spelling of what is known to be an alias
            identities.renew(request.url)
        identity = identities.of(request)
        if identity is None or identity.slot not in self._seen or not self._seen.is_fetched(identity.slot):
            return None
        return identity

    def note_fetched(self, request: Request) -> None:
        """Note that a queued request was filtered as an alias: what waits for it is that page, too."""
        own = self._identities.slot_of_key(self._identities.book.canonical_key(request.url), request)
        if own is not None and own in self._seen:
            self._seen.fetched(own)


class PageLook:
    """One page and what it may show to be itself."""

    def __init__(
        self,
        *,
        aliases: Aliases,
        settings: "DedupSettings",
        identities: "Identities",
        response: TextResponse,
        url: str,
        identity: UrlIdentity,
    ) -> None:
        self._aliases = aliases
        self._settings = settings
        self._identities = identities
        self._response = response
        self._url = url
        self._site = identity.site
        self._origin = ""  # found out when the first link asks for it
        self._anchors: Anchors | None = None
        self._met: set[tuple[str, ...]] = set()

    @property
    def _page(self) -> UrlIdentity:
        # Under the rules that are used now: they may change while the callback is at work.
        return self._identities.of_url(self._url)

    def request(self, request: Request) -> None:
        """Look at a request that the page's callback has yielded."""
        # What rules out nearly every link comes first: a page may have hundreds.
        anchors = self._anchors
        if anchors is None:
            anchors = self._anchors = anchors_of(self._response.body[: self._settings.max_body])
        if not anchors:
            return
        url = request.url
        identities = self._identities
        identity = identities.of_url(url)
        tokens = identity.tokens
        if tokens is None:  # the same links come again and again
            tokens = identity.tokens = tokens_in(url)
        if anchors.keys().isdisjoint(tokens) or identity.site != self._site:
            return
        if url == self._url or not is_plain_get(request):
            return
        acts = identity.mode in COMPARED and self._aliases.kinds.has_anchored(self._site)
        if not acts and len(self._met) >= MOST_OF_A_PAGE:
            return
        # What is remembered of a URL is its key by the rules, unless it is known to be an alias.
        key = identities.book.canonical_key(url) if identities.aliases else identity.key
        self._origin = self._origin or normal_parts(self._url)[0]
        if key == self._page.key or not key.startswith(self._origin) or normal_parts(key)[0] != self._origin:
            return
        values = values_of(key, groups=self._settings.site_groups)
        found = list(candidates(values, url.partition("#")[2], anchors))
        for naming, prefix in found:
            self._record(SightingRow(
                self._settings.scope, self._site, self._url, url, naming.key, time.time(),
                naming.token, naming.lead, prefix,
            ))  # fmt: skip
        if found and acts:
            rule = self._aliases.kinds.anchored(self._site, values, found, self._page.key)
            if rule is not None:
                self._aliases.know(url, key, self._page, self._url, rule.id)

    def declarations(self) -> None:
        """Look at what the page declares as its URL."""
        wanted = _RECORDED | self._aliases.kinds.declarations(self._site)
        values = None
        for declaration, url in declared_in(self._response, wanted):
            identities = self._identities
            if normal_form(url) == normal_form(self._url) or identities.of_url(url).site != self._site:
                continue
            if declaration in _RECORDED:
                scope = self._settings.scope
                self._record(SightingRow(scope, self._site, self._url, url, declaration, time.time()))
            if self._page.mode not in COMPARED:
                continue
            values = values or values_of(self._page.key, groups=self._settings.site_groups)
            rule = self._aliases.kinds.declared(self._site, declaration, values)
            if rule is not None:
                self._aliases.know(url, identities.book.canonical_key(url), self._page, self._url, rule.id)

    def _record(self, row: SightingRow) -> None:
        name = (row.link, row.key, row.prefix)
        if name not in self._met and len(self._met) < MOST_OF_A_PAGE:
            self._met.add(name)
            self._aliases.sighted(row)


def declared_in(response: TextResponse, wanted: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (declaration, absolute URL) for what a page declares in its tree or by a header, as far as it is *wanted*."""
    body = response.body
    end = body.find(b"</head", 0, HEAD)
    head = body[: end if end >= 0 else HEAD]
    # Where the head does not have the word, no page is parsed for it.
    names = [name for name in wanted if name in _ELEMENTS and name.encode() in head]
    if names and isinstance(response, HtmlResponse):
        # Of most pages the response has its tree by now, and keeps it for the callback; a long one may not be parsed at all.
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        root = response.selector.root if len(body) <= AT_ONCE else parse(decode(head, content_type))
        for name in names:
            if url := joined(response.url, _declared(root, name)):
                yield name, url
    # As Headers keeps it: it need not look for other spellings.
    links = dict.get(response.headers, b"Link") if "shortlink" in wanted else None
    if links and (declared := link_in_header(b", ".join(links).decode("latin-1"), "shortlink", response.url)):
        yield "shortlink", declared


def _declared(root: etree._Element, name: str) -> str:
    """Return the address that the first element of a page has that declares *name*; "" if none does."""
    for element in root.iter(_ELEMENTS[name]):
        if name in (element.get("rel") or element.get("property") or element.get("name") or "").lower().split():
            return element.get("href") or element.get("content") or ""
    return ""
