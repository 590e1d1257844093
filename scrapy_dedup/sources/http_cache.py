"""Scrapy's HTTP cache, in folders of files."""

import gzip
import io
import pickle  # noqa: TID251 (only _Plain reads it, which makes nothing but texts, numbers, lists and dicts)
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..observation import ObservationError
from .bodies import PageError, decompressed
from .opened import DAMAGED, GZIP
from .pages import Headers
from .records import BadRecord, LeftOut, ReadOptions, Record, Source

META: Final = "pickled_meta"
_WRONG: Final = (
    *DAMAGED,
    gzip.BadGzipFile,
    pickle.UnpicklingError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
)


class _Plain(pickle.Unpickler):
    """Reads pickled texts, numbers, lists and dicts; a cache that comes from elsewhere must not run code."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse to make any other object."""
        raise pickle.UnpicklingError(f"it holds a {module}.{name}, which is not read")


def read_cache_entry(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the record of a folder with one cached response."""
    folder = source.path
    assert folder is not None
    try:
        meta = _plain(_content(folder / META))
        url, status = meta["url"], meta["status"]
        if meta.get("method", "GET") != "GET" or _content(folder / "request_body", missing=b""):
            yield LeftOut("no plain GET")
            return
        body = _content(folder / "response_body")
        headers = _headers_in(_content(folder / "response_headers"))
        if not isinstance(url, str) or not isinstance(status, int):
            raise ObservationError("no URL and status")
        at = meta.get("timestamp")
        content = decompressed(body, headers("Content-Encoding")) if status == 200 else b""
        found = options.pages.observation(
            url, status, headers, content, at=float(at) if isinstance(at, int | float) else None
        )
        yield found or LeftOut("robots.txt")
    except (*_WRONG, OSError, PageError, ObservationError) as error:
        yield BadRecord(source.name, "", str(error) or type(error).__name__)


def _plain(data: bytes) -> dict[str, Any]:
    found = _Plain(io.BytesIO(data)).load()
    if not isinstance(found, dict):
        raise ObservationError("no cached response")
    return found


def _content(path: Path, missing: bytes | None = None) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if missing is None:
            raise
        return missing
    # With HTTPCACHE_GZIP all files are packed; without it, a body may be that came so.
    if path.name != "response_body":
        return gzip.decompress(data) if data.startswith(GZIP) else data
    with (path.parent / META).open("rb") as meta:
        return gzip.decompress(data) if meta.read(2) == GZIP else data


def _headers_in(raw: bytes) -> Headers:
    found: dict[str, list[str]] = {}
    for line in raw.decode("latin-1").split("\n"):
        name, mark, value = line.partition(":")
        if mark:
            found.setdefault(name.strip().lower(), []).append(value.strip())
    return lambda name: found.get(name.lower(), ())
