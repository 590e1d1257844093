"""The pages of a job, in the order they were taken, in a file.

Memory holds a number per page, this file its URL: to tell which page a discarded
request was taken for, and to begin again where a job directory is used and the rules
have changed since. Lines of text, each after one sign:

=================== ==========================================================
``#`` job digest    a name for the job; what the slots below were made by
``@`` no name       a callback; its number stands in the lines below
``+`` slot no url   a URL is scheduled; ``~`` after no: what the fingerprinter
                    sees of it cannot be told from the URL
``=`` slot          it is fetched; ``+`` after the slot: it had links
``.``               the run has ended as it should
=================== ==========================================================

Where a run was killed, Scrapy has lost what was queued. The pages that had links are
then not taken for fetched, as without the plug-in they would be fetched again under
other URLs, and their links with them.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import IO, NamedTuple

_BUFFER = 1 << 16
_READ = 1 << 12


class Page(NamedTuple):
    """A page that was fetched."""

    slot: int
    url: str
    #: Name of its callback.
    callback: str
    #: Whether its slot can be made again from its URL and callback.
    plain: bool
    #: False if its slot was made under another digest.
    current: bool
    #: Whether it had links.
    links: bool = False


class Journal:
    """The file, open for appending and for reading back.

    *path* is in the job directory; without one it is an unnamed file for the time of
    the crawl. Methods raise OSError.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._callbacks: dict[str, int] = {}
        self._buffer = bytearray()
        #: A name for the job, the same in all its runs.
        self.job = token_hex(8)
        self._file: IO[bytes] = self._open("ab+")
        self._written = os.fstat(self._file.fileno()).st_size
        #: Whether it was written in an earlier run.
        self.goes_on = self._written > 0
        #: Pages of a run that was killed that are not taken for fetched.
        self.doubtful = 0

    def _open(self, mode: str) -> IO[bytes]:
        if self.path is None:
            return tempfile.TemporaryFile(buffering=0)
        # URLs may hold user names and passwords.
        self.path.touch(mode=0o600)
        return self.path.open(mode, buffering=0)

    @property
    def persistent(self) -> bool:
        """Whether it outlives the crawl."""
        return self.path is not None

    def taken(self, slot: int, url: str, callback: str, plain: bool = True) -> int:
        """Write that *url* is scheduled; return where its line is."""
        number = self._callbacks.get(callback)
        if number is None:
            number = self._callbacks[callback] = len(self._callbacks)
            self._append(f"@{number} {callback}\n")
        return self._append(f"+{slot:x} {number}{'' if plain else '~'} {url}\n")

    def fetched(self, slot: int, links: bool = False) -> None:
        """Write that the page of *slot* is fetched; it is in the file when this returns."""
        if self.path is not None:  # nobody reads it otherwise
            self._append(f"={slot:x}{'+' if links else ''}\n")
            self.flush()

    def url_at(self, position: int) -> str:
        """Return the URL of the line at *position*."""
        if position >= self._written:
            start = position - self._written
            data = bytes(self._buffer[start : self._buffer.index(b"\n", start)])
        else:
            data = self._line_at(position)
        return data.split(b" ", 2)[2].decode("utf-8", "surrogatepass")

    def _line_at(self, position: int) -> bytes:
        data = b""
        self._file.seek(position)
        try:
            while (end := data.find(b"\n")) < 0:
                more = self._file.read(_READ)
                if not more:
                    raise OSError(f"the journal of pages ends at {position + len(data)}")
                data += more
        finally:
            self._file.seek(0, os.SEEK_END)
        return data[:end]

    def _append(self, line: str) -> int:
        position = self._written + len(self._buffer)
        self._buffer += line.encode("utf-8", "surrogatepass")
        if len(self._buffer) >= _BUFFER:
            self.flush()
        return position

    def flush(self) -> None:
        """Hand over to the file what waits."""
        while self._buffer:
            count = self._file.write(self._buffer) or 0
            self._written += count
            del self._buffer[:count]

    def close(self) -> None:
        """Write that the run has ended, and close."""
        try:
            if self.path is not None and not self._file.closed:
                self._append(".\n")
            self.flush()
        finally:
            self._file.close()

    # A job that goes on

    def resume(self, digest: str, slot_of: Callable[[Page], int | None]) -> Iterator[tuple[int, int]]:
        """Yield (slot, position) of each fetched page of earlier runs, and write the file anew.

        *slot_of* gives the slot of a page, None where it cannot be known. *digest*
        tells what slots are made by; pages that were written under it are current.
        """
        if self.path is None or not self._written:
            self._append(f"#{self.job} {digest}\n")
            return
        old = self._file
        self.job = _job_of(old) or self.job
        beside = self.path.with_name(self.path.name + ".new")
        beside.unlink(missing_ok=True)
        beside.touch(mode=0o600)
        with old, beside.open("wb+", buffering=0) as self._file:
            self._written = 0
            self._append(f"#{self.job} {digest}\n")
            ended = _ended(old)
            for page in _pages(old, digest):
                if page.links and not ended:
                    self.doubtful += 1
                    continue
                slot = slot_of(page)
                if slot is not None:
                    position = self.taken(slot, page.url, page.callback, page.plain)
                    self._append(f"={slot:x}{'+' if page.links else ''}\n")
                    yield slot, position
            self.flush()
        beside.replace(self.path)
        self._file = self._open("ab+")


def _job_of(file: IO[bytes]) -> str:
    """Return the name of the job in the first line of *file*, "" if that is spoilt."""
    file.seek(0)
    first = file.read(_READ).partition(b"\n")[0]
    name = first[1:].partition(b" ")[0]
    return name.decode("ascii", "replace") if first.startswith(b"#") else ""


def _ended(file: IO[bytes]) -> bool:
    """Whether the last run that has written *file* has ended as it should."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 3))
    return file.read() in (b"\n.\n", b".\n")


def _pages(file: IO[bytes], digest: str) -> Iterator[Page]:
    """Yield the pages of *file* that were fetched; a last line that was cut off is left out."""
    file.seek(0)
    current = False
    callbacks: dict[bytes, str] = {}
    taken: dict[int, Page] = {}
    with os.fdopen(os.dup(file.fileno()), "rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            sign, text = line[:1], line[1:-1]
            try:
                if sign == b"=":
                    page = taken.pop(int(text.rstrip(b"+"), 16), None)
                    if page is not None:
                        yield page._replace(links=text.endswith(b"+"))
                elif sign == b"+":
                    slot, number, url = text.split(b" ", 2)
                    name = callbacks[number.rstrip(b"~")]
                    address = url.decode("utf-8", "surrogatepass")
                    taken[int(slot, 16)] = Page(int(slot, 16), address, name, not number.endswith(b"~"), current)
                elif sign == b"@":
                    number, name_text = text.split(b" ", 1)
                    callbacks[number] = name_text.decode()
                elif sign == b"#":
                    current = text.partition(b" ")[2].decode() == digest
                    callbacks.clear()
                    taken.clear()
            except (ValueError, KeyError):
                continue  # a line that a full disk has spoilt
