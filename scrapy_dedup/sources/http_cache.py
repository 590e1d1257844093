"""Scrapy's HTTP cache: its folders of files, and its dbm files."""

import dbm
import gzip
import io
import pickle  # noqa: TID251 (only _Plain reads it, which makes nothing but texts, numbers, lists and dicts)
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ..observation import ObservationError
from .bodies import PageError, decompressed
from .opened import DAMAGED, GZIP
from .pages import Headers
from .records import BadRecord, LeftOut, ReadOptions, Record, Source, SourceError

META: Final = "pickled_meta"
_EXTENSIONS: Final = (".dir", ".dat", ".bak", ".pag", ".db")
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
        yield _record(options, url, status, headers, body=body, at=meta.get("timestamp"))
    except (*_WRONG, OSError, PageError, ObservationError) as error:
        yield BadRecord(source.name, "", str(error) or type(error).__name__)


def is_dbm(path: Path) -> bool:
    """Return whether a file is, or belongs to, a database of dbm."""
    return _database(path) is not None


def belongs_to_dbm(path: Path) -> bool:
    """Return whether a file is a further part of a database: of its files only one is read."""
    return path.suffix in (".dat", ".bak", ".pag") and is_dbm(path)


def read_dbm(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a cache that dbm holds. Raises SourceError."""
    assert source.path is not None
    name = _database(source.path)
    assert name is not None
    try:
        with dbm.open(name, "r") as database:
            for key in _keys(database):
                if key.endswith(b"_data"):
                    yield _dbm_record(source, options, database, key.removesuffix(b"_data"))
    except _DBM_ERRORS as error:
        raise SourceError(
            f"no dbm database that this Python can read ({error}); a store is named by the setting DEDUP_STORE"
        ) from None
    source.read(source.path.stat().st_size)


def _dbm_record(source: Source, options: ReadOptions, database: Any, key: bytes) -> Record:
    try:
        data = _plain(database[key + b"_data"])
        at = None
        with suppress(KeyError, ValueError):
            at = float(database[key + b"_time"])
        return _record(
            options, data["url"], data["status"], _headers_of(data.get("headers", {})), body=data["body"], at=at
        )
    except (*_WRONG, PageError, ObservationError) as error:
        return BadRecord(source.name, f"key {key.decode('ascii', 'replace')}", str(error) or type(error).__name__)


_DBM_ERRORS: Final = dbm.error if isinstance(dbm.error, tuple) else (dbm.error,)


def _keys(database: Any) -> Iterator[bytes]:
    """Yield the keys: one at a time where dbm can."""
    if hasattr(database, "firstkey"):
        key = database.firstkey()
        while key is not None:
            yield key
            key = database.nextkey(key)
        return
    yield from database.keys()


def _database(path: Path) -> str | None:
    """Return the name under which dbm knows a file, None if it does not: some of its kinds add an extension."""
    names = [path, path.with_suffix("")] if path.suffix in _EXTENSIONS else [path]
    return next((str(name) for name in names if dbm.whichdb(str(name))), None)


def _record(options: ReadOptions, url: Any, status: Any, headers: Headers, *, body: Any, at: Any) -> Record:
    if not isinstance(url, str) or not isinstance(status, int) or not isinstance(body, bytes):
        raise ObservationError("no URL, status and body")
    time = float(at) if isinstance(at, int | float) else None
    content = decompressed(body, headers("Content-Encoding")) if status == 200 else b""
    return options.pages.observation(url, status, headers, content, at=time) or LeftOut("robots.txt")


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


def _headers_of(values: dict[Any, Any]) -> Headers:
    found = {_text(name).lower(): _texts(several) for name, several in values.items()}
    return lambda name: found.get(name.lower(), ())


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _texts(values: Any) -> Sequence[str]:
    return [_text(value) for value in (values if isinstance(values, list | tuple) else [values])]
