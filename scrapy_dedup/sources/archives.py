"""Archives of pages: WARC and Scrapy's HTTP cache, whose responses are sketched as in a crawl."""

import gzip
import zlib
from ast import literal_eval
from collections.abc import Iterator
from http.client import HTTPException, parse_headers
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..observation import Observation
from .pages import MOST_BYTES, PageError, PageReader, decompressed
from .records import Found, LeftOut, SourceError, found_in

#: Files of a cached response. What it is, is also in a pickled one, which may run code.
META: Final = "meta"
HEADERS: Final = "response_headers"


def read_warc(file: BinaryIO, pages: PageReader) -> Iterator[Found]:
    """Yield the records of a WARC, plain or packed record by record. Raises SourceError, and OSError where it is damaged."""
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError:
        raise SourceError("WARC needs FastWARC, which is not installed: pip install 'scrapy-dedup[warc]'") from None
    records = ArchiveIterator(file, record_types=WarcRecordType.any_type, parse_http=False)
    return found_in(((f"byte {each.stream_pos}", each) for each in records), lambda each: _archived(each, pages))


def read_cached(folder: Path, pages: PageReader) -> Iterator[Found]:
    """Yield the record of a folder with one cached response."""
    return found_in([("", folder)], lambda each: _cached(each, pages))


def _archived(record: Any, pages: PageReader) -> Observation | LeftOut:
    """Return what a record of a WARC says. Raises PageError, ObservationError, and OSError where it cannot be unpacked."""
    told = record.headers.get
    url, original = (told(name, "").strip("<>") for name in ("WARC-Target-URI", "WARC-Refers-To-Target-URI"))
    length, digest, kind = told("Content-Length"), told("WARC-Payload-Digest", ""), told("WARC-Type")
    at = record.record_date.timestamp() if record.record_date else None
    if length is None:
        raise PageError("cut off, or no WARC record")
    if kind == "revisit":
        if "server-not-modified" in told("WARC-Profile", ""):
            digest = ""  # if there is one, it is that of an empty answer
        return pages.again(url, digest or original or url, at=at) or LeftOut(
            "revisit record of a response that was not read before"
        )
    if kind != "response":
        return LeftOut(f"{kind or 'unknown'} record")
    if told("WARC-Truncated"):
        return LeftOut("truncated by the archive")
    if int(length) > MOST_BYTES:
        raise PageError(f"larger than {MOST_BYTES >> 20} MB")
    if not record.is_http:
        return LeftOut("no HTTP response")
    record.freeze()
    if record.content_length < int(length):
        raise PageError("cut off")
    try:
        record.parse_http()
    except OSError as error:
        raise PageError(str(error)) from None
    headers = record.http_headers
    if headers is None or headers.status_code is None:
        raise PageError("no HTTP status")
    encodings = [each for name in ("Content-Encoding", "Transfer-Encoding") for each in headers.get_multiple(name)]
    body = decompressed(record.reader.read(), encodings)
    found = pages.observation(url, headers.status_code, headers.get_multiple, body, at=at)
    if found is not None and found.fingerprint:
        pages.remember(found, url, digest)
    return found or LeftOut("robots.txt")


def _cached(folder: Path, pages: PageReader) -> Observation | LeftOut:
    """Return what a cached response says. Raises PageError, ObservationError."""
    try:
        # With HTTPCACHE_GZIP all files are packed; without it, a body may be that came so.
        is_packed = (folder / META).read_bytes().startswith(b"\x1f\x8b")
        data = ((folder / name).read_bytes() for name in (META, "request_body", HEADERS, "response_body"))
        told, sent, head, body = (gzip.decompress(each) if is_packed else each for each in data)
        meta = literal_eval(told.decode())
        url, method, status, at = meta["url"], meta["method"], meta["status"], float(meta["timestamp"])
        headers = parse_headers(BytesIO(head + b"\r\n\r\n"))
    except (OSError, EOFError, zlib.error, HTTPException, SyntaxError, LookupError, TypeError) as error:
        raise PageError(f"no whole cached response ({error})") from None
    if method != "GET" or sent:
        return LeftOut("no plain GET")
    content = decompressed(body, headers.get_all("Content-Encoding", [])) if status == 200 else b""
    found = pages.observation(url, status, lambda name: headers.get_all(name, []), content, at=at)
    return found or LeftOut("robots.txt")
