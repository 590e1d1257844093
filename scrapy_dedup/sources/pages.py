"""Pages in archives and caches: their bodies decompressed, and sketched as a crawl would have sketched them."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from mimetypes import guess_type
from typing import Final

from w3lib.encoding import html_to_unicode

from ..observation import Observation
from ..pages.response import (
    AT_ONCE,
    MAX_BODY,
    ContentKind,
    decode,
    has_closing_tags,
    identity_headers,
    kind_of,
    link_in_header,
    page_content,
)
from ..pages.versions import Pack, Version
from ..urls.joining import joined
from ..urls.templates import template_of

PER_TEMPLATE: Final = 100
"""Pages of a URL template whose texts are kept, as in a crawl; so are those of further visits to them."""
MOST_TEMPLATES: Final = 5_000
MOST_BYTES: Final = 1 << 28
"""Of a body, decompressed."""
_REMEMBERED: Final = 200_000
"""Pages that archives may refer to, the latest ones; one takes half a kilobyte."""
_ZLIB: Final = ("gzip", "x-gzip", "deflate")
_FASTWARC: Final = {"br": "BrotliReader", "zstd": "ZstdReader", "chunked": "ChunkedReader"}

_BEGINNING: Final = 5_000
"""Bytes at the beginning of a body by which its type is guessed."""
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
Headers = Callable[[str], Sequence[str]]
"""From the name of a header to its values."""


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
    beginning = body[:_BEGINNING].lower()
    is_html = b"<html>" in beginning or (b"<!doctype html>" in beginning and b"<?xml" not in beginning)
    return ContentKind.HTML if not name and is_html and _BINARY.search(beginning) is None else kind


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


class PageError(ValueError):
    """A response that cannot be read; the message says why."""


def decompressed(body: bytes, encodings: Sequence[str]) -> bytes:
    """Return a body without its encodings, in the order in which it was encoded. Raises PageError.

    >>> decompressed(zlib.compress(b"page"), ["deflate"])
    b'page'
    """
    names = [name.strip().lower() for value in encodings for name in value.split(",")]
    for name in reversed([name for name in names if body and name not in ("", "identity")]):
        try:
            if name in _ZLIB:
                # Some servers send deflate without the header that tells it.
                is_bare = name == "deflate" and body[0] & 15 != zlib.DEFLATED
                stream = zlib.decompressobj(-zlib.MAX_WBITS if is_bare else zlib.MAX_WBITS | 32)
                body = stream.decompress(body, MOST_BYTES)
                if not stream.eof and len(body) < MOST_BYTES:
                    raise PageError("its body is cut off")
            elif name in _FASTWARC:
                from fastwarc import stream_io

                body = getattr(stream_io, _FASTWARC[name])(BytesIO(body)).read(MOST_BYTES)
            else:
                raise PageError(f"its Content-Encoding is {name}: only {', '.join((*_ZLIB, *_FASTWARC))} can be read")
        except ImportError:
            raise PageError(
                f"its Content-Encoding is {name}, which needs FastWARC: pip install 'scrapy-dedup[warc]'"
            ) from None
        except (zlib.error, OSError) as error:
            raise PageError(f"its body cannot be unpacked as {name} ({error})") from None
        if len(body) == MOST_BYTES:
            raise PageError("its body is too large")
    return body


@dataclass(slots=True)
class PageReader:
    """Makes observations of responses, and remembers them: archives keep some pages once, and refer to them."""

    max_body: int = MAX_BODY
    #: None where texts are not to be kept, so that no transient content is learned.
    pack: Pack | None = None
    #: Takes the type of the content and the body; Scrapy's releases guess differently where nothing is declared.
    encoding_of: Callable[[str, bytes], str] = encoding_of_body
    _seen: Counter[int] = field(default_factory=Counter, init=False)
    _kept: set[int] = field(default_factory=set, init=False)
    #: Hashes of digests and of URLs -> what was seen of these last.
    _remembered: dict[int, Observation] = field(default_factory=dict, init=False)

    def observation(
        self, url: str, status: int, headers: Headers, body: bytes, *, at: float | None
    ) -> Observation | None:
        """Return what a crawl would have recorded of a response with a decompressed body; None of a robots.txt.

        Raises ObservationError for a URL that is none.
        """
        if url.partition("?")[0].endswith("/robots.txt"):
            return None
        location = headers("Location")
        if location and 300 <= status < 400:
            return Observation(url, "", status=status, redirect=joined(url, location[0]) or None, time=at)
        if status != 200:
            return Observation(url, "", status=status, time=at)
        content_type = (headers("Content-Type") or ("",))[-1]
        kind = kind_of_response(content_type, body, url)
        is_page = kind is ContentKind.HTML
        encoding = self.encoding_of(content_type, body) if is_page and len(body) <= AT_ONCE else None
        content = page_content(body, content_type, url, kind=kind, encoding=encoding, max_body=self.max_body)
        prints = content.fingerprints
        version = None
        if self.pack is not None and content.rows is not None and self._is_kept(url):
            packed = self.pack(content.rows, lambda: decode(body, content_type, encoding) if is_page else "")
            version = Version.from_bytes(packed)
        return Observation(
            url,
            prints.text,
            canonical=content.canonical or link_in_header(", ".join(headers("Link")), "canonical", url),
            time=at,
            length=len(body),
            bag=prints.bag,
            headers=identity_headers(headers),
            sketch=prints.sketch,
            words=prints.words,
            unseen=prints.unseen,
            version=version,
            ends=True if is_page and has_closing_tags(body) else None,
            password=content.password,
        )

    def remember(self, found: Observation, *names: str) -> None:
        """Remember a page under its digest and its URL."""
        found = replace(found, sketch=None, version=None, headers=None)
        for name in map(hash, filter(None, names)):
            self._remembered.pop(name, None)
            self._remembered[name] = found
        while len(self._remembered) > 2 * _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]

    def again(self, url: str, name: str, *, at: float | None) -> Observation | None:
        """Return what *url* has shown: the page of a digest or URL; None where that is not remembered."""
        found = self._remembered.get(hash(name))
        return found and replace(found, url=url, time=at)

    def _is_kept(self, url: str) -> bool:
        name = hash(url)
        if name in self._kept:
            return True
        kind = hash(template_of(url))
        number = self._seen[kind]
        if number >= PER_TEMPLATE or (not number and len(self._seen) >= MOST_TEMPLATES):
            return False
        self._seen[kind] += 1
        self._kept.add(name)
        return True
