"""Content of a response: what a crawl keeps of it, from bytes and headers alone, whoever has fetched them."""

import re
from collections.abc import Callable, Sequence
from mimetypes import guess_type
from typing import Final, NamedTuple

from lxml import etree
from w3lib.encoding import html_to_unicode

from ..urls.joining import joined
from ..urls.userinfo import without_userinfo
from .fingerprints import MAX_BODY, ContentKind, Fingerprints, fingerprint_body, kind_of
from .html import decode, has_password_field, parse

#: Headers that tell which of a site's URLs are one page, or whether its content changed.
IDENTITY_HEADERS: Final = (
    "Content-Language",
    "Content-Location",
    "ETag",
    "Last-Modified",
    "No-Vary-Search",
    "Vary",
)
#: Bodies of up to this many bytes are looked at by a crawl at once (under a millisecond); of longer ones
#: the thread of the store does it, and decodes them by what header and body declare.
AT_ONCE: Final = 65_536
#: Bytes in which the head of a page is looked for, if only a part of it is read.
HEAD: Final = 65_536

_LINK: Final = re.compile(r"<([^<>]*)>\s*;([^<]*)")
_RELATIONS: Final = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)
_CLOSING_TAGS: Final = (b"</html", b"</body", b"</HTML", b"</BODY")
#: Bytes at the beginning of a body by which its type is guessed, and those that no text has.
_BEGINNING: Final = 5_000
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class PageContent(NamedTuple):
    """The content of a response: its identity, and what its page declares."""

    fingerprints: Fingerprints
    #: The canonical URL that the head of the page declares.
    canonical: str | None
    #: Whether the page has a field for a password; None where nobody has looked.
    password: bool | None


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
    """Return the content of a response; *root* is the tree of its page if somebody has parsed it."""
    canonical = password = None
    if kind is ContentKind.HTML:
        whole = len(body) <= max_body
        if root is None:
            text = decode(body if whole else body[:HEAD], content_type, encoding)
            root = parse(text.removeprefix("\ufeff"))
        canonical = canonical_link(root, url)
        if whole:
            password = has_password_field(root)
        else:
            root = None
    prints = fingerprint_body(body, content_type, encoding=encoding, root=root, kind=kind, max_body=max_body)
    return PageContent(prints, canonical, password)


def kind_of_response(content_type: str, body: bytes, url: str) -> ContentKind:
    """Return the kind of a response that Scrapy has not made: as the class says that Scrapy would give it.

    >>> kind_of_response("", b"<p>Hello", "http://a.test/index.html").value
    'html'
    >>> kind_of_response("text/plain", b"<html>", "http://a.test/index.html").value
    'other'
    """
    kind = kind_of(content_type, body)
    name = content_type.partition(";")[0].strip().lower()
    if kind is not ContentKind.OTHER or (name and name.startswith("text/")):
        return kind
    guessed, encoding = guess_type(url)
    if guessed and not encoding and guessed != "application/octet-stream":
        return kind_of(guessed)
    if not name and _BINARY.search(body, 0, _BEGINNING) is None:
        beginning = body[:_BEGINNING].lower()
        if b"<html>" in beginning or (b"<!doctype html>" in beginning and b"<?xml" not in beginning):
            return ContentKind.HTML
    return kind


def encoding_of_body(content_type: str, body: bytes) -> str:
    """Return the encoding of a text, as Scrapy finds it out: by a byte order mark, header, declaration, or its bytes."""
    return html_to_unicode(content_type or None, body, auto_detect_fun=_detected, default_encoding="ascii")[0]


def _detected(body: bytes) -> str | None:
    for encoding in ("ascii", "utf-8", "cp1252"):
        try:
            body.decode(encoding)
        except UnicodeError:
            continue
        return encoding
    return None


def has_closing_tags(body: bytes) -> bool:
    """Return whether the closing tags of an HTML page have come."""
    return any(body.rfind(tag) >= 0 for tag in _CLOSING_TAGS)


def identity_headers(values_of: Callable[[str], Sequence[str]]) -> dict[str, str] | None:
    """Return the headers that matter, by lower-case name, of the values that *values_of* gives; None if there are none."""
    found = {
        name.lower(): ", ".join(map(without_userinfo, values))
        for name in IDENTITY_HEADERS
        if (values := values_of(name))
    }
    return found or None


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
    if head is None:
        return None
    for link in head.iterchildren("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return joined(url, link.get("href") or "") or None
    return None
