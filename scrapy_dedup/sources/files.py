"""Files of a source: which of them it names, and which reader each is for, told by what it holds and not by its name."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import walk
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from .archives import HEADERS, META, read_warc
from .indexes import is_cdxj, read_cdx, read_cdxj
from .pages import PageReader
from .records import Found, Reader, SourceError
from .tables import read_csv, read_json_lines, read_parquet, separator_of

#: Standard input among the sources.
STDIN: Final = Path("-")
_BEGINNING: Final = 65_536


def files_of(name: str) -> Iterator[Path]:
    """Yield the files that a source names, and each folder with one cached response.

    Hidden files, and those that a folder holds beside its data (``_SUCCESS``), are left out.
    """
    path = Path(name)
    if path == STDIN or not path.is_dir():
        yield path
        return
    for folder, folders, files in walk(path):
        folders.sort()
        if {META, HEADERS} <= {*files}:
            yield Path(folder)
        else:
            yield from (Path(folder, each) for each in sorted(files) if not each.startswith((".", "_")))


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read from any place of it; standard input is copied to a temporary file first. Raises OSError."""
    if path != STDIN:
        with path.open("rb") as file:
            yield file
        return
    with TemporaryFile(prefix="scrapy-dedup-") as file:
        copyfileobj(sys.stdin.buffer, file)
        file.seek(0)
        yield file


def reader_of(file: BinaryIO) -> Callable[[PageReader], Iterator[Found]] | None:
    """Return what yields the records of a file, plain or packed by gzip; None for an empty one. Raises SourceError, OSError, zlib.error."""
    beginning = file.read(_BEGINNING)
    file.seek(0)
    plain: BinaryIO = file
    if beginning.startswith(b"\x1f\x8b"):
        beginning = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(beginning, _BEGINNING)
        plain = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
    if beginning.startswith(b"WARC/"):
        return partial(read_warc, file)
    reader = _reader_of(beginning.removeprefix(b"\xef\xbb\xbf").lstrip())
    return partial(reader, plain) if reader else None


def _reader_of(beginning: bytes) -> Reader | None:
    line, _, rest = beginning.partition(b"\n")
    if not line:
        return None
    if line.startswith(b"PAR1"):
        return read_parquet
    if line.startswith(b"CDX "):
        return read_cdx
    if is_cdxj(line):
        return read_cdxj
    # A broken line may come first.
    if line.startswith((b"{", b"[")) or any(each.lstrip().startswith(b'{"') for each in rest.split(b"\n")[:50]):
        return read_json_lines
    if b"\0" not in beginning and separator_of(line.decode("utf-8", "replace")):
        return read_csv
    raise SourceError(
        "of no format that is known; these are JSON lines, CSV with a header, WARC, CDX and CDXJ, plain or packed by gzip, "
        "Parquet, and Scrapy's HTTP cache. A store is named by the setting DEDUP_STORE"
    )
