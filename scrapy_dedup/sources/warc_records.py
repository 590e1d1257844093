"""WARC: the responses of a web archive, their pages sketched as in a crawl."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO, Final

from ..observation import ObservationError
from .bodies import MOST_BYTES, PageError, decompressed
from .opened import opened_to_seek
from .records import BadRecord, LeftOut, ReadOptions, Record, Source, SourceError
from .rows import seconds

INSTALL: Final = "WARC is read by FastWARC, which is not installed: pip install 'scrapy-dedup[warc]'"
_CHUNK: Final = 1 << 20
#: Beginnings of a record, packed and plain.
_BEGINNINGS: Final = (b"\x1f\x8b\x08", b"WARC/1.")
_OVERLAP: Final = 6


def read_warc(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a WARC, plain or packed record by record. Raises SourceError.

    After a record that is damaged, reading goes on at the next one, in a file that is not standard input.
    """
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError:
        raise SourceError(INSTALL) from None
    with opened_to_seek(source) as file:
        start: int | None = 0
        told = 0
        while start is not None:
            last = start
            file.seek(start)
            try:
                # FastWARC counts from where it has begun.
                for record in ArchiveIterator(file, record_types=WarcRecordType.any_type, parse_http=False):
                    last = start + record.stream_pos
                    source.read(max(last - told, 0))
                    told = max(last, told)
                    if record.record_type == WarcRecordType.revisit:
                        yield _revisit(source.name, options, record, f"byte {last}")
                        continue
                    is_response = record.record_type == WarcRecordType.response
                    yield _record(source.name, options, record, last, is_response=is_response)
                return
            except (OSError, ValueError, EOFError, RuntimeError) as error:
                yield BadRecord(source.name, f"after byte {last}", f"damaged ({error})")
            start = _next_record(file, last + 1)


def _record(name: str, options: ReadOptions, record: Any, at: int, *, is_response: bool) -> Record:
    """Return what a record says. Raises OSError where it cannot be unpacked."""
    position = f"byte {at}"
    url = _url(record, "WARC-Target-URI") or ""
    length = record.headers.get("Content-Length")
    if length is None:
        return BadRecord(name, position, "cut off, or no WARC record")
    if not is_response:
        return LeftOut(f"{record.headers.get('WARC-Type') or 'unknown'} record")
    if record.headers.get("WARC-Truncated"):
        return LeftOut("truncated by the archive")
    if int(length) > MOST_BYTES:
        return BadRecord(name, position, f"larger than {MOST_BYTES >> 20} MB")
    if not record.is_http:
        return LeftOut("no HTTP response")
    record.freeze()
    if record.content_length < int(length):
        return BadRecord(name, position, "cut off")
    record.parse_http(auto_decode="transfer")
    headers = record.http_headers
    if headers is None or headers.status_code is None:
        return BadRecord(name, position, "no HTTP status")
    try:
        body = decompressed(record.reader.read(), headers.get_multiple("Content-Encoding"))
        found = options.pages.observation(url, headers.status_code, headers.get_multiple, body, at=_time(record))
    except (PageError, ObservationError) as error:
        return BadRecord(name, position, str(error))
    if found is None:
        return LeftOut("robots.txt")
    if found.fingerprint:
        options.payloads.add(record.headers.get("WARC-Payload-Digest"), found)
    return found


def _revisit(name: str, options: ReadOptions, record: Any, position: str) -> Record:
    """Return what a record says that refers to an earlier response: of the same payload, or not modified since."""
    url, digest = _url(record, "WARC-Target-URI"), record.headers.get("WARC-Payload-Digest")
    if not url:
        return BadRecord(name, position, "no WARC-Target-URI")
    original = _url(record, "WARC-Refers-To-Target-URI")
    if "server-not-modified" in (record.headers.get("WARC-Profile") or ""):
        digest, original = None, original or url  # if it has one, it is that of an empty answer
    found = options.payloads.observation(url, _time(record), digest, original)
    return found or LeftOut("revisit record of a response that was not read before")


def _url(record: Any, name: str) -> str | None:
    value = record.headers.get(name)
    return None if value is None else str(value).strip("<>")


def _time(record: Any) -> float | None:
    try:
        return seconds(datetime.fromisoformat(record.headers.get("WARC-Date", "").replace("Z", "+00:00")))
    except ValueError:
        return None


def _next_record(file: BinaryIO, start: int) -> int | None:
    """Return the place of the next record from *start* on; None where there is none."""
    file.seek(start)
    before = b""
    while data := file.read(_CHUNK):
        data = before + data
        place = min((found for each in _BEGINNINGS if (found := data.find(each)) >= 0), default=-1)
        if place >= 0:
            return start + place
        before = data[-_OVERLAP:]
        start += len(data) - len(before)
    return None
