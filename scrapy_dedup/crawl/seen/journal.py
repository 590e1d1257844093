"""The pages of a job, in the order they were taken, in a file.

Memory holds a number per page, this file its URL: to tell which page a discarded
request was taken for, and to give the pages other slots where the rules change, in the
crawl (:mod:`.rekeying`) or between two runs of a job. Lines of text, each after one sign:

=================== ==========================================================
``#`` job digest    a name for the job; what the slots below were made by
``@`` no name       a callback; its number stands in the lines below
``+`` slot no url   a URL is scheduled; ``:`` and a digest after no: what else
                    it is compared by; ``~`` after no: what the fingerprinter
                    sees of it cannot be told from the URL
``-`` slot          it has failed: its slot is free again
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

from xxhash import xxh3_64_intdigest

_BUFFER = 1 << 16
_READ = 1 << 12
_MUCH = 1 << 15


def digest_of(url: str) -> int:
    """Return a number for *url*."""
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


class Page(NamedTuple):
    """A page that was scheduled."""

    slot: int
    url: str
    #: Name of its callback.
    callback: str
    #: What else it is compared by (:func:`.context_of`).
    context: str = ""
    #: Whether its slot can be made again from these.
    plain: bool = True
    #: False if its slot was made under another digest.
    current: bool = True
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
        #: Whether the run that has written it last was killed.
        self.was_killed = False
        #: Digests of the URLs of pages of a run that was killed that are not taken for fetched.
        self.doubtful: set[int] = set()

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

    def taken(self, slot: int, url: str, callback: str, context: str = "", plain: bool = True) -> int:
        """Write that *url* is scheduled; return where its line is."""
        number = self._callbacks.get(callback)
        if number is None:
            number = self._callbacks[callback] = len(self._callbacks)
            self._append(f"@{number} {callback}\n")
        rest = f":{context}" if context and plain else "" if plain else "~"
        return self._append(f"+{slot:x} {number}{rest} {url}\n")

    def fetched(self, slot: int, links: bool = False, *, at_once: bool = True) -> None:
        """Write that the page of *slot* is fetched; in that of a job, *at_once* into the file."""
        self._append(f"={slot:x}{'+' if links else ''}\n")
        if at_once and self.path is not None:
            self.flush()

    def released(self, slot: int) -> None:
        """Write that the page of *slot* has failed."""
        self._append(f"-{slot:x}\n")

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

    # Other slots

    def successor(self, digest: str) -> "Journal":
        """Return an empty journal of the same job, whose slots are made by *digest*, to take this one's place."""
        beside = None
        if self.path is not None:
            beside = self.path.with_name(self.path.name + ".next")
            beside.unlink(missing_ok=True)
        made = Journal(beside)
        made.job, made.goes_on, made.was_killed, made.doubtful = self.job, self.goes_on, self.was_killed, self.doubtful
        made._append(f"#{made.job} {digest}\n")
        return made

    def replaced_by(self, successor: "Journal") -> None:
        """Give *successor* this journal's place, and close this one."""
        successor.flush()
        if self.path is not None and successor.path is not None:
            successor._file.close()
            successor.path.replace(self.path)
            successor.path = self.path
            successor._file = successor._open("ab+")
        self._file.close()

    def abandon(self) -> None:
        """Close and remove a successor that is not needed."""
        self._file.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def read(self, position: int) -> bytes:
        """Return some of what is written at *position* and after it; nothing at the end."""
        self.flush()
        self._file.seek(position)
        try:
            return self._file.read(_MUCH)
        finally:
            self._file.seek(0, os.SEEK_END)

    def pages(self) -> Iterator["Page"]:
        """Yield the pages that were scheduled, some at a time, until all are read or another journal has this one's place."""
        reader, position, rest = LineReader(None), 0, b""
        while not self._file.closed and (data := self.read(position)):
            position += len(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                event = reader.event(line + b"\n")
                if event is not None and event.page is not None:
                    yield event.page

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
            self.was_killed = not _ended(old)
            for page in _pages(old, digest):
                if page.links and self.was_killed:
                    self.doubtful.add(digest_of(page.url))
                    continue
                slot = slot_of(page)
                if slot is not None:
                    position = self.taken(slot, page.url, page.callback, page.context, page.plain)
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
    taken: dict[int, Page] = {}
    reader = LineReader(digest)
    with os.fdopen(os.dup(file.fileno()), "rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            event = reader.event(line)
            if event is None:
                continue
            if event.page is not None:
                taken[event.slot] = event.page
            elif (page := taken.pop(event.slot, None)) is not None and event.fetched:
                yield page._replace(links=event.links)


class Event(NamedTuple):
    """What a line says of a slot: it is taken by a page, or else fetched, or else free again."""

    slot: int
    page: Page | None = None
    fetched: bool = False
    links: bool = False


class LineReader:
    """Reads the lines of a journal, in their order.

    *digest* is what slots are made by now; None if that is what those of the journal are made by.
    """

    def __init__(self, digest: str | None) -> None:
        self._digest = digest
        self._current = digest is None
        self._callbacks: dict[bytes, str] = {}

    def event(self, line: bytes) -> Event | None:
        """Return what a line says of a slot, None if that is nothing or a full disk has spoilt it."""
        sign, text = line[:1], line[1:-1]
        try:
            if sign == b"+":
                slot, number, url = text.split(b" ", 2)
                return Event(int(slot, 16), self._page(int(slot, 16), number, url))
            if sign == b"=":
                return Event(int(text.rstrip(b"+"), 16), fetched=True, links=text.endswith(b"+"))
            if sign == b"-":
                return Event(int(text, 16))
            if sign == b"@":
                number, name = text.split(b" ", 1)
                self._callbacks[number] = name.decode()
            elif sign == b"#":
                self._current = self._digest in (None, text.partition(b" ")[2].decode())
                self._callbacks.clear()
        except (ValueError, KeyError):
            pass
        return None

    def _page(self, slot: int, number: bytes, url: bytes) -> Page:
        callback, _, context = number.rstrip(b"~").partition(b":")
        return Page(
            slot,
            url.decode("utf-8", "surrogatepass"),
            self._callbacks[callback],
            context.decode(),
            not number.endswith(b"~"),
            self._current,
        )
