"""Content of a response: what a crawl keeps of it, from bytes and headers alone, whoever has fetched them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from threading import local
from typing import Final, NamedTuple

from lxml import etree
from w3lib.encoding import html_to_unicode
from xxhash import xxh3_128_hexdigest

from ..urls.joining import joined
from ..urls.userinfo import without_userinfo
from .blocks import Rows, json_rows, rows_of
from .sketch import Sketch, sketch_of_rows
from .versions import Version

MAX_BODY: Final = 1_048_576
"""Bytes of a body that are looked at, unless told otherwise (DEDUP_MAX_BODY)."""
AT_ONCE: Final = 65_536
"""Bodies of up to this many bytes are looked at by a crawl at once (a millisecond or two); of longer ones the thread of the store
does it, and decodes them by what header and body declare."""
HEAD: Final = 65_536
"""Bytes in which the head of a page is looked for, if only a part of it is read."""
IDENTITY_HEADERS: Final = ("Content-Language", "Content-Location", "ETag", "Last-Modified", "No-Vary-Search", "Vary")
"""Headers that tell which of a site's URLs are one page, or whether its content changed."""

_HTML_TYPES: Final = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_JSON_TYPES: Final = frozenset(("application/json", "text/json", "application/x-json"))
_HTML_STARTS: Final = (b"<!doctype html", b"<html", b"<head", b"<body")
_CLOSING_TAGS: Final = (b"</html", b"</body", b"</HTML", b"</BODY")
_LINK: Final = re.compile(r"<([^<>]*)>\s*;([^<]*)")
_RELATIONS: Final = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)
# A parser serves one thread at a time: each thread has its own.
_thread = local()


class ContentKind(str, Enum):
    """How the content of a response is identified."""

    HTML = "html"
    JSON = "json"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The identity of one response's content, hexadecimal digits throughout."""

    kind: ContentKind
    #: Of the visible text in order, or of the leaves of a JSON answer; else the digest.
    text: str
    #: Of the visible words, or those of the leaves, in any order; else the digest.
    bag: str
    #: Of the whole body.
    digest: str
    #: Number of visible words; None for other content.
    words: int | None = None
    sketch: Sketch | None = None
    #: Of the values that nobody sees and that tell pages apart; "" where there are none.
    unseen: str = ""


class PageContent(NamedTuple):
    """The content of a response: its identity, and what its page declares."""

    fingerprints: Fingerprints
    #: The canonical URL that the head of the page declares.
    canonical: str | None = None
    #: Whether it has a field for a password; None where it was not looked for.
    password: bool | None = None
    #: Of a page, or a JSON answer, that was read as a whole.
    rows: Rows | None = None


def page_content(
    body: bytes,
    content_type: str,
    url: str,
    *,
    kind: ContentKind,
    encoding: str | None = None,
    root: etree._Element | None = None,
    max_body: int = MAX_BODY,
) -> PageContent:
    """Return the content of a response. Never raises on any body.

    *encoding* is that of the response where it is known; *root* is the tree of its page if somebody has parsed it. Of a body
    of more than *max_body* bytes only the first *max_body* are sketched, and the bytes of the rest are made part of the
    fingerprints: no evidence is not evidence of sameness.
    """
    digest = xxh3_128_hexdigest(body)
    whole = len(body) <= max_body
    rows = None
    if kind is ContentKind.JSON and whole:
        rows, root = json_rows(body), None
    elif kind is ContentKind.HTML:
        if root is None or not whole:
            root = parse(decode(body[:max_body], content_type, encoding).removeprefix("\ufeff"))
        rows = rows_of(root)
    if rows is None:
        return PageContent(Fingerprints(kind, digest, digest, digest))
    sketch = sketch_of_rows(rows, url, partial=0 if whole else len(body))
    text, bag = sketch.text, sketch.bag
    if not whole:
        rest = xxh3_128_hexdigest(body[max_body:])
        text, bag = (xxh3_128_hexdigest((part + rest).encode()) for part in (text, bag))
    prints = Fingerprints(kind, text, bag, digest, sketch.words, sketch, sketch.unseen)
    canonical = None if root is None else canonical_link(root, url)
    password = has_password_field(root) if root is not None and whole else None
    return PageContent(prints, canonical, password, rows if whole else None)


def fingerprint_body(
    body: bytes,
    content_type: str = "",
    url: str = "",
    *,
    encoding: str | None = None,
    kind: ContentKind | None = None,
    max_body: int = MAX_BODY,
) -> Fingerprints:
    """Return the fingerprints of a response."""
    kind = kind or kind_of(content_type, body)
    return page_content(body, content_type, url, kind=kind, encoding=encoding, max_body=max_body).fingerprints


def sketch_of_html(page: str | bytes, url: str = "") -> Sketch:
    """Return the sketch of a page: its text, or its UTF-8 bytes."""
    return sketch_of_rows(rows_of(parse(page)), url)


def version_of(page: str | bytes) -> Version:
    """Return the version that a page is of: its text, or its UTF-8 bytes."""
    return Version.of(rows_of(parse(page)))


def kind_of(content_type: str, body: bytes = b"") -> ContentKind:
    """Return how content of this type is identified; an unnamed type is guessed from *body*."""
    name = content_type.partition(";")[0].strip().lower()
    if name in _HTML_TYPES:
        return ContentKind.HTML
    if name in _JSON_TYPES or name.endswith("+json"):
        return ContentKind.JSON
    if not name and body[:512].lstrip(b"\xef\xbb\xbf\t\n\f\r ").lower().startswith(_HTML_STARTS):
        return ContentKind.HTML
    return ContentKind.OTHER


def parse(page: str | bytes) -> etree._Element:
    """Return the root of the lxml tree, the one that parsel makes, of an HTML page: text or UTF-8 bytes."""
    data = (page.encode("utf-8", "replace") if isinstance(page, str) else page).replace(b"\x00", b"").strip()
    try:
        parser = _thread.parser
    except AttributeError:
        parser = _thread.parser = etree.HTMLParser(recover=True, encoding="utf-8", huge_tree=True)
    root = etree.fromstring(data, parser) if data else None
    return etree.Element("html") if root is None else root


def decode(body: bytes, content_type: str = "", encoding: str | None = None) -> str:
    """Return the text of *body*: by *encoding* where it is known, else by what header and body tell."""
    if encoding:
        try:
            return body.decode(encoding, "replace")
        except LookupError:
            pass
    return html_to_unicode(content_type or None, body)[1]


def has_password_field(root: etree._Element) -> bool:
    """Return whether a page, given by its root, has a field for a password.

    >>> has_password_field(parse("<form><input name=user><input type=PASSWORD name=pw></form>"))
    True
    """
    return any((field.get("type") or "").strip().lower() == "password" for field in root.iter("input"))


def has_closing_tags(body: bytes) -> bool:
    """Return whether the closing tags of an HTML page have come."""
    return any(body.rfind(tag) >= 0 for tag in _CLOSING_TAGS)


def identity_headers(values_of: Callable[[str], Sequence[str]]) -> dict[str, str] | None:
    """Return the headers that matter, by lower-case name, of the values that *values_of* gives; None if there are none."""
    values = {name: values_of(name) for name in IDENTITY_HEADERS}
    return {name.lower(): ", ".join(map(without_userinfo, each)) for name, each in values.items() if each} or None


def link_in_header(value: str, relation: str, url: str) -> str | None:
    """Return the URL that the value of a Link header declares as the *relation* (``canonical``) of the page at *url*.

    >>> link_in_header('</a>; rel="canonical"', "canonical", "http://a.test/b")
    'http://a.test/a'
    """
    for target, parameters in _LINK.findall(value):
        if any(relation in "".join(names).lower().split() for names in _RELATIONS.findall(parameters)):
            return joined(url, target) or None
    return None


def canonical_link(root: etree._Element, url: str) -> str | None:
    """Return the canonical URL that the head of a page declares."""
    head = next(root.iterchildren("head"), None)  # as find("head") would, without a parser of paths
    for link in () if head is None else head.iterchildren("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return joined(url, link.get("href") or "") or None
    return None
