"""From a response to the row of the store that says what was seen."""

from contextlib import suppress
from functools import lru_cache
from time import time
from typing import TYPE_CHECKING, Final

from lxml import etree
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse
from w3lib.encoding import http_content_type_encoding

from ...pages.response import (
    AT_ONCE,
    IDENTITY_HEADERS,
    ContentKind,
    decode,
    identity_headers,
    kind_of,
    link_in_header,
    page_content,
)
from ...store.rows import ObservationRow
from ...urls.joining import joined
from ..support.request_meta import redirects_to
from .excluded_responses import ends_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from ...pages.versions import Pack
    from ..support.crawl_status import CrawlStatus

#: Up to this many bytes, a tree of our own costs less than the response's.
OWN_TREE: Final = 4_096
#: How much of such pages is done at once (about a millisecond): bytes, and so many more for each page.
_MUCH_WORK: Final = 24_576
_OWN_WORK: Final = 1_024
#: Content that is neither HTML nor JSON is only digested.
AT_ONCE_DIGEST: Final = 4_194_304

#: Responses that are identified by what they say, which takes longer than a digest.
_BY_TEXT: Final = (HtmlResponse, JsonResponse)

#: The names of headers that are looked at, as Scrapy keeps them.
_KEPT: Final = frozenset(name.title().encode() for name in (*IDENTITY_HEADERS, "Link"))
#: First bytes of byte order marks.
_MARKS: Final = frozenset((b"\xef", b"\xfe", b"\xff", b"\x00"))


def redirect_row(request: "Request", response: Response, base: ObservationRow) -> ObservationRow | None:
    """Return *base* as the row of a redirect; None if the response does not tell where to."""
    location = response.headers.get(b"Location")
    if location is None or not 300 <= response.status < 400:
        return None
    target = joined(request.url, location.decode("utf-8", "replace"))
    return base._replace(redirect=target) if target else None


def base_row(
    request: "Request", response: Response, scope: str, site: str, status: "CrawlStatus", *, from_cache: bool
) -> ObservationRow:
    """Return what is known of a response before its body is read."""
    return ObservationRow(
        scope=scope,
        site=site,
        url=request.url,
        time=time(),
        status=response.status,
        spider=status.spider.name,
        hops=tuple(redirects_to(request)),
        from_cache=from_cache,
        ends=ends_of(response) if response.status == 200 else None,
        crawl=status.number,
    )


def is_quick(response: Response) -> bool:
    """Whether :func:`page_row` takes less than about a millisecond of the event loop (a few where texts are kept)."""
    length = len(response.body)
    if OWN_TREE < length <= AT_ONCE:
        return True
    if isinstance(response, _BY_TEXT):
        return False
    if length > AT_ONCE_DIGEST:
        return False
    return kind_of(content_type_of(response), response.body) is ContentKind.OTHER


def content_type_of(response: Response) -> str:
    """Return the header that tells the type of the content, or ""."""
    values = dict.get(response.headers, b"Content-Type")  # as Headers keeps it: it need not look for other spellings
    return values[-1].decode("latin-1") if values else ""


def encoding_of(response: TextResponse) -> str:
    """Return ``response.encoding``, which nobody else may need, at a third of its cost where the header tells it."""
    # What comes before the header: what the response was made with, and a byte order mark.
    if getattr(response, "_encoding", "") is None and response.body[:1] not in _MARKS:
        declared = _declared(content_type_of(response))
        if declared is not None:
            return declared
    return response.encoding


_declared = lru_cache(64)(http_content_type_encoding)


def page_row(
    response: Response, base: ObservationRow, max_body: int, *, versioned: "Pack | None" = None
) -> ObservationRow:
    """Return *base* with the content of a response, made in the event loop; *versioned* as for :class:`LaterRow`."""
    root = None
    if isinstance(response, HtmlResponse) and OWN_TREE < len(response.body) <= max_body:
        # Most callbacks parse the page, and the response keeps the tree for them.
        found = response.selector.root
        root = found if isinstance(found, etree._Element) else None
    return LaterRow(response, base, max_body, versioned=versioned).make(root)


class LaterRow:
    """Makes the row of a page, now or in another thread: holds what is needed of a response, and not more.

    *versioned* packs what is kept of the page to compare it with itself; None if it is not kept.
    """

    __slots__ = (
        "_base",
        "_body",
        "_canonical",
        "_content_type",
        "_encoding",
        "_headers",
        "_kind",
        "_made",
        "_max_body",
        "_row",
        "_url",
        "_versioned",
    )

    def __init__(
        self,
        response: Response,
        base: ObservationRow,
        max_body: int,
        *,
        versioned: "Pack | None" = None,
        made: "Callable[[ObservationRow], None] | None" = None,
    ) -> None:
        self._base = base
        #: What is told of the row when it is made, maybe in another thread.
        self._made = made
        self._body = response.body
        self._content_type = content_type_of(response)
        # Of a long body it is found out elsewhere, since the response may have to decode all of it.
        short = len(response.body) <= AT_ONCE
        self._encoding = encoding_of(response) if short and isinstance(response, TextResponse) else None
        declares = not _KEPT.isdisjoint(response.headers)
        self._headers = headers_of(response) if declares else None
        if isinstance(response, HtmlResponse):
            self._kind = ContentKind.HTML
        else:
            self._kind = kind_of(self._content_type, self._body)
        self._canonical = canonical_header(response, response.url) if declares else None
        self._max_body = max_body
        self._url = response.url
        self._versioned = versioned
        self._row: ObservationRow | None = None

    @property
    def size(self) -> int:
        """Bytes that are held: those of the body."""
        return len(self._body)

    @property
    def made(self) -> bool:
        """Whether the row is made."""
        return self._row is not None

    def __call__(self) -> ObservationRow:
        """Return the row. Two threads that ask at the same time may both make it: the rows are equal."""
        row = self._row
        if row is None:
            row = self._row = self.make()
            made, self._made = self._made, None
            self._base = row  # the queue may be long: it holds one row of each page, and not two
            if made is not None:
                made(row)
        return row

    def make(self, root: etree._Element | None = None) -> ObservationRow:
        """Make the row; *root* is the tree of the page if somebody has parsed it."""
        body = self._body
        content = page_content(
            body,
            self._content_type,
            self._url,
            kind=self._kind,
            encoding=self._encoding,
            root=root,
            max_body=self._max_body,
        )
        version = None
        if self._versioned is not None and content.rows is not None:
            is_page = self._kind is ContentKind.HTML
            version = self._versioned(
                content.rows, lambda: decode(body, self._content_type, self._encoding) if is_page else ""
            )
        base = self._base
        # As _replace() would make it, in a third of the time.
        return ObservationRow(
            *base[:6],
            content.fingerprints,
            len(body),
            self._headers,
            content.canonical or self._canonical,
            base.redirect,
            base.hops,
            base.from_cache,
            version,
            base.ends,
            content.password,
            base.crawl,
        )


class SmallPages:
    """Small pages, whose rows are made in the event loop, some at a time.

    In the thread of the store lxml would give up the interpreter's lock several times per page, and
    wait for it anew while the event loop works; one at a time in the event loop, each page would find what the
    work needs gone from the processor's caches. The thread has these pages in its queue all the
    same, and makes the rows that are not made when it comes to write them: what waits here is not late.
    """

    def __init__(self) -> None:
        self._waiting: list[LaterRow] = []
        self._work = 0

    def add(self, page: LaterRow) -> None:
        """Keep *page* until enough of them wait, then make their rows."""
        self._waiting.append(page)
        self._work += page.size + _OWN_WORK
        if self._work >= _MUCH_WORK:
            waiting, self._waiting, self._work = self._waiting, [], 0
            with suppress(Exception):  # the thread of the store comes upon it, too, and tells
                for each in waiting:
                    each()


def headers_of(response: Response) -> dict[str, str] | None:
    """Return the headers that matter, by lower-case name; None if there are none."""
    return identity_headers(lambda name: [value.decode("latin-1") for value in response.headers.getlist(name)])


def canonical_header(response: Response, url: str) -> str | None:
    """Return the canonical URL that a Link header declares."""
    if b"Link" not in response.headers:
        return None
    return link_in_header(b", ".join(response.headers.getlist(b"Link")).decode("latin-1"), "canonical", url)
