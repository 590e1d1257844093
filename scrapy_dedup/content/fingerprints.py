"""What identifies a response: by its visible text, or by its body."""

import json
from dataclasses import dataclass
from enum import Enum

from lxml import etree
from xxhash import xxh3_128_hexdigest

from .html import decode
from .sketch import Sketch, sketch_of_html

#: Bytes of a body that are looked at, unless told otherwise (DEDUP_MAX_BODY).
MAX_BODY = 1_048_576


class ContentKind(str, Enum):
    """How the content of a response is identified."""

    HTML = "html"
    JSON = "json"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The identity of one response's content, hexadecimal digits throughout."""

    kind: ContentKind
    #: Of the visible text in order; of the canonical form for JSON; else the digest.
    text: str
    #: Of the visible words in any order; equal to *text* for other content.
    bag: str
    #: Of the whole body.
    digest: str
    #: Number of visible words; None for other content.
    words: int | None = None
    sketch: Sketch | None = None


_JSON_SEED = 2
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_JSON_TYPES = frozenset(("application/json", "text/json", "application/x-json"))
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body")


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


def fingerprint_body(
    body: bytes,
    content_type: str = "",
    *,
    encoding: str | None = None,
    root: etree._Element | None = None,
    kind: ContentKind | None = None,
    max_body: int = MAX_BODY,
) -> Fingerprints:
    """Return the fingerprints of a response.

    *encoding* and *kind* are those of the response where they are known (else they
    are found out by *content_type* and *body*); *root* is the tree of an HTML page
    that somebody has parsed already. Of a body of more than *max_body*
    bytes only the first *max_body* are sketched, and the bytes of the rest are made part of
    the fingerprints. Never raises on any body.
    """
    digest = xxh3_128_hexdigest(body)
    kind = kind or kind_of(content_type, body)
    if kind is ContentKind.HTML:
        if len(body) > max_body:
            beginning = decode(body[:max_body], content_type, encoding)
            sketch = sketch_of_html(beginning, partial=len(body))
            # What is not read tells pages apart as it stands: no evidence is not evidence of sameness.
            rest = xxh3_128_hexdigest(body[max_body:])
            text, bag = (xxh3_128_hexdigest((part + rest).encode()) for part in (sketch.text, sketch.bag))
            return Fingerprints(kind, text, bag, digest, sketch.words, sketch)
        sketch = sketch_of_html(root if root is not None else decode(body, content_type, encoding))
        return Fingerprints(kind, sketch.text, sketch.bag, digest, sketch.words, sketch)
    text = digest
    if kind is ContentKind.JSON and len(body) <= max_body:
        canonical = canonical_json(body)
        if canonical is not None:
            text = xxh3_128_hexdigest(canonical, _JSON_SEED)
    return Fingerprints(kind, text, text, digest)


def canonical_json(body: bytes) -> bytes | None:
    r"""Return JSON with its keys sorted and without white space; None if it is not JSON.

    Numbers with a fraction stay as they are written (``1.0`` is not ``1``).

    >>> canonical_json(b'{"b": 1.50, "a": [true]}')
    b'{"a":[true],"b":"\\u0000f1.50"}'
    """
    keep = "\0f".__add__
    try:
        value = json.loads(body, parse_float=keep, parse_constant=keep)
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None
