"""Files opened for reading, plain or gzip, with how far they are read."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from .records import BadRecord, Source

GZIP: Final = b"\x1f\x8b"
#: Bytes at the beginning of a file by which its format is told.
BEGINNING: Final = 65_536
_CHUNK: Final = 1 << 20
LONGEST_LINE: Final = 1 << 26
#: What a compressed file that is damaged raises.
DAMAGED: Final = (EOFError, zlib.error, gzip.BadGzipFile)


class _Counted(io.RawIOBase):
    """A stream that tells how much of it has been read."""

    def __init__(self, raw: BinaryIO, source: Source, beginning: bytes = b"") -> None:
        self._raw = raw
        self._source = source
        self._beginning = beginning

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._beginning:
            data, self._beginning = self._beginning[: len(view)], self._beginning[len(view) :]
        else:
            data = self._raw.read(len(view))
        view[: len(data)] = data
        self._source.read(len(data))
        return len(data)


#: What was looked at of standard input to tell its format; it cannot be read twice.
_looked_at = b""


def beginning_of(source: Source) -> bytes:
    """Return the first bytes of a source as they stand in the file. Raises OSError."""
    global _looked_at  # noqa: PLW0603 (there is one standard input)
    if source.path is None:
        if not _looked_at:
            _looked_at = sys.stdin.buffer.read(BEGINNING)
        return _looked_at
    with source.path.open("rb") as file:
        return file.read(BEGINNING)


def unpacked(beginning: bytes) -> bytes | None:
    """Return the beginning of a file without gzip, as much as there is of it; None where it is damaged."""
    if not beginning.startswith(GZIP):
        return beginning
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(beginning, BEGINNING)
    except zlib.error:
        return None


@contextmanager
def opened(source: Source) -> Iterator[io.BufferedIOBase]:
    """Open a source; what is packed by gzip is unpacked. Raises OSError."""
    global _looked_at
    if source.path is None:
        beginning, _looked_at = _looked_at, b""
        yield _unzipped(_Counted(sys.stdin.buffer, source, beginning))
        return
    with source.path.open("rb") as file:
        yield _unzipped(_Counted(file, source))


@contextmanager
def opened_to_seek(source: Source) -> Iterator[BinaryIO]:
    """Open a source as it is, to read from any place of it; standard input is copied to a temporary file first."""
    if source.path is not None:
        with source.path.open("rb") as file:
            yield file
        return
    global _looked_at
    beginning, _looked_at = _looked_at, b""
    with TemporaryFile(prefix="scrapy-dedup-") as file:
        file.write(beginning)
        copyfileobj(sys.stdin.buffer, file, _CHUNK)
        file.seek(0)
        yield file


def _unzipped(raw: _Counted) -> io.BufferedIOBase:
    stream = io.BufferedReader(raw, _CHUNK)
    if not stream.peek(2).startswith(GZIP):
        return stream
    return gzip.GzipFile(fileobj=stream)


def numbered_lines(source: Source) -> Iterator[tuple[int, bytes] | BadRecord]:
    """Yield the lines of a file with their numbers; at a place from which on it is damaged, that, and end there."""
    number = 0
    with opened(source) as file:
        while True:
            try:
                line = file.readline(LONGEST_LINE)
            except DAMAGED as error:
                yield BadRecord(
                    source.name, f"line {number + 1}", f"unreadable from here on ({error}). Is the file whole?"
                )
                return
            if not line:
                return
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                yield BadRecord(source.name, f"line {number}", "longer than 64 MB; nothing is read from here on")
                return
            yield number, line
