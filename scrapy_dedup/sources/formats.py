"""Formats: which reader a file is for, told by what it holds and not by its name."""

from collections.abc import Iterator
from os import walk
from pathlib import Path
from typing import Final

from .cdx_lines import is_cdx, is_cdxj, read_cdx, read_cdxj
from .csv_rows import delimiter_of, read_csv
from .http_cache import META, read_cache_entry
from .json_rows import read_json_lines
from .opened import beginning_of, unpacked
from .parquet_rows import read_parquet
from .records import STDIN, Reader, Source, SourceError
from .warc_records import read_warc

_KINDS: Final = "JSON lines, CSV with a header, Parquet, WARC, CDX, CDXJ and Scrapy's HTTP cache"
#: First bytes of files that cannot be read, and what to do about it.
_REFUSED: Final = {
    b"\x28\xb5\x2f\xfd": "packed by Zstandard: unpack it (zstd -dc FILE | scrapy learn-rules --from -)",
    b"BZh": "packed by bzip2: unpack it (bzip2 -dc FILE | scrapy learn-rules --from -)",
    b"\xfd7zXZ\0": "packed by xz: unpack it (xz -dc FILE | scrapy learn-rules --from -)",
    b"PK\x03\x04": "a ZIP archive: unpack it",
}
_SQLITE: Final = b"SQLite format 3\0"


def reader_of(source: Source) -> Reader | None:
    """Return the reader of a file, or of a folder with one cached response; None for an empty file.

    Raises SourceError for a format that is not known, OSError.
    """
    if source.path is not None and source.path.is_dir():
        return read_cache_entry
    packed = beginning_of(source)
    for magic, why in _REFUSED.items():
        if packed.startswith(magic):
            raise SourceError(why)
    if packed.startswith(b"PAR1"):
        return read_parquet
    if packed.startswith(_SQLITE):
        raise SourceError("an SQLite database: a store is named by the setting DEDUP_STORE, and needs no --from")
    beginning = unpacked(packed)
    if beginning is None:
        raise SourceError("packed by gzip, and damaged from the start")
    return _reader_of_text(beginning.removeprefix(b"\xef\xbb\xbf"))


def _reader_of_text(beginning: bytes) -> Reader | None:
    if beginning.startswith(b"WARC/"):
        return read_warc
    text = beginning.lstrip()
    if not text:
        return None
    line = text.partition(b"\n")[0].rstrip(b"\r")
    if is_cdx(line):
        return read_cdx
    if is_cdxj(line) or line.startswith(b"!OpenWayback-CDXJ"):
        return read_cdxj
    if text.startswith((b"{", b"[")):
        return read_json_lines
    if b"\0" not in beginning:
        header = line.decode("utf-8", "replace")
        if delimiter_of(header) and "\ufffd" not in header:
            return read_csv
        # A broken line may come first.
        if any(each.lstrip().startswith(b'{"') for each in text.split(b"\n")[1:50]):
            return read_json_lines
    raise SourceError(f"of no format that is known; these are {_KINDS}")


def files_of(name: str) -> Iterator[Path | None]:
    """Yield the files that a source names, and each folder with one cached response; None is standard input.

    Hidden files, and those that a folder holds beside its data (``_SUCCESS``), are left out. Raises OSError.
    """
    if name == STDIN:
        yield None
        return
    path = Path(name)
    if not path.is_dir():
        path.stat()
        yield path
        return
    for folder, folders, files in walk(path):
        folders.sort()
        here = Path(folder)
        if META in files:
            yield here
            continue
        for each in sorted(files):
            if not each.startswith((".", "_")):
                yield here / each
