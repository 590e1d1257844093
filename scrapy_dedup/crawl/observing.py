"""From a response to the row of the store that says what was seen."""

import re
from collections.abc import Mapping
from time import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from lxml import etree
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse

from ..content.fingerprints import Kind, fingerprint_body, kind_of
from ..content.html import decode, parse
from ..store.rows import ObservationRow

if TYPE_CHECKING:
    from scrapy import Request

#: Bodies of up to this many bytes are looked at at once (under a millisecond); of longer ones
#: the thread of the store does it. A tree that was made at once is the spider's as well.
AT_ONCE: Final = 65_536
#: Content that is neither HTML nor JSON is only digested.
AT_ONCE_DIGEST: Final = 4_194_304

#: Headers that tell which of a site's URLs are one page, or whether its content changed.
_HEADERS: Final = (b"Content-Language", b"Content-Location", b"ETag", b"Last-Modified", b"No-Vary-Search", b"Vary")
_LINK: Final = re.compile(r"<([^<>]*)>\s*;([^<]*)")
_CANONICAL_LINK: Final = re.compile(r"""\brel\s*=\s*(?:"[^"]*\bcanonical\b[^"]*"|canonical\b)""", re.IGNORECASE)


def redirect_row(request: "Request", response: Response, base: ObservationRow) -> ObservationRow | None:
    """Return *base* as the row of a redirect; None if the response does not tell where to."""
    location = response.headers.get(b"Location")
    if location is None or not 300 <= response.status < 400:
        return None
    return base._replace(redirect=urljoin(request.url, location.decode("utf-8", "replace").strip()))


def base_row(
    request: "Request", response: Response, scope: str, site: str, spider: str, *, from_cache: bool
) -> ObservationRow:
    """Return what is known of a response without a look at its body."""
    return ObservationRow(
        scope=scope,
        site=site,
        url=request.url,
        time=time(),
        status=response.status,
        spider=spider,
        hops=tuple(request.meta.get("redirect_urls") or ()),
        from_cache=from_cache,
    )


def is_quick(response: Response) -> bool:
    """Whether :func:`page_row` takes less than about a millisecond of the event loop."""
    length = len(response.body)
    if length <= AT_ONCE:
        return True
    if isinstance(response, HtmlResponse | JsonResponse):
        return False
    if length > AT_ONCE_DIGEST:
        return False
    return kind_of(content_type_of(response), response.body) is Kind.OTHER


def content_type_of(response: Response) -> str:
    """Return the header that tells the type of the content, or ""."""
    value = response.headers.get(b"Content-Type")
    return value.decode("latin-1") if value else ""


def page_row(response: Response, base: ObservationRow, max_body: int) -> ObservationRow:
    """Return *base* with the content of a response, in the event loop: the tree is shared with the spider."""
    root = None
    kind = None
    encoding = None
    if isinstance(response, HtmlResponse):
        kind = Kind.HTML
        root = response.selector.root
    elif isinstance(response, JsonResponse):
        kind = Kind.JSON
    if isinstance(root, etree._Element):
        canonical = canonical_link(root, response.url)
    else:
        root = None
        canonical = None
    if isinstance(response, TextResponse) and len(response.body) > max_body:
        encoding = response.encoding
    return _with_content(
        base,
        response.body,
        content_type_of(response),
        headers=headers_of(response),
        canonical=canonical or canonical_header(response, response.url),
        encoding=encoding,
        kind=kind,
        root=root,
        max_body=max_body,
    )


class LaterRow:
    """Makes the row of a page elsewhere: holds what is needed of a response, and not more."""

    __slots__ = ("_base", "_body", "_canonical", "_content_type", "_headers", "_kind", "_max_body", "_url")

    def __init__(self, response: Response, base: ObservationRow, max_body: int) -> None:
        self._base = base
        self._body = response.body
        self._content_type = content_type_of(response)
        self._headers = headers_of(response)
        self._kind = Kind.HTML if isinstance(response, HtmlResponse) else None
        self._canonical = canonical_header(response, response.url)
        self._max_body = max_body
        self._url = response.url

    def __call__(self) -> ObservationRow:
        """Return the row."""
        kind = self._kind or kind_of(self._content_type, self._body)
        root = None
        canonical = None
        if kind is Kind.HTML:
            whole = len(self._body) <= self._max_body
            tree = parse(decode(self._body if whole else self._body[:AT_ONCE], self._content_type))
            canonical = canonical_link(tree, self._url)
            root = tree if whole else None
        return _with_content(
            self._base,
            self._body,
            self._content_type,
            headers=self._headers,
            canonical=canonical or self._canonical,
            encoding=None,
            kind=kind,
            root=root,
            max_body=self._max_body,
        )


def _with_content(
    base: ObservationRow,
    body: bytes,
    content_type: str,
    *,
    headers: Mapping[str, str] | None,
    canonical: str | None,
    encoding: str | None,
    kind: Kind | None,
    root: etree._Element | None,
    max_body: int,
) -> ObservationRow:
    return base._replace(
        fingerprints=fingerprint_body(body, content_type, encoding=encoding, root=root, kind=kind, max_body=max_body),
        length=len(body),
        content_type=content_type or None,
        headers=headers,
        canonical=canonical,
    )


def headers_of(response: Response) -> dict[str, str] | None:
    """Return the headers that matter, by lower-case name; None if there are none."""
    found = {}
    headers = response.headers
    for name in _HEADERS:
        if name in headers:
            found[name.decode().lower()] = b", ".join(headers.getlist(name)).decode("latin-1")
    return found or None


def canonical_header(response: Response, url: str) -> str | None:
    """Return the canonical URL that a Link header declares."""
    if b"Link" not in response.headers:
        return None
    value = b", ".join(response.headers.getlist(b"Link")).decode("latin-1")
    for target, parameters in _LINK.findall(value):
        if _CANONICAL_LINK.search(parameters):
            return _joined(url, target)
    return None


def canonical_link(root: etree._Element, url: str) -> str | None:
    """Return the canonical URL that the head of a page declares."""
    head = root.find("head")
    if head is None:
        return None
    for link in head.iterchildren("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return _joined(url, link.get("href") or "")
    return None


def _joined(base: str, target: str) -> str | None:
    target = target.strip()
    if not target:
        return None
    try:
        return urljoin(base, target)
    except ValueError:
        return None
