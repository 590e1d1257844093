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
from typing import IO

from .journal_lines import JournalPage, LineReader, digest_of, fetched_pages, has_ended, job_of

_BUFFER = 1 << 16
_READ = 1 << 12
_MUCH = 1 << 15


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

    def pages(self) -> Iterator[JournalPage]:
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

    def resume(self, digest: str, slot_of: Callable[[JournalPage], int | None]) -> Iterator[tuple[int, int]]:
        """Yield (slot, position) of each fetched page of earlier runs, and write the file anew.

        *slot_of* gives the slot of a page, None where it cannot be known. *digest*
        tells what slots are made by; pages that were written under it are current.
        """
        if self.path is None or not self._written:
            self._append(f"#{self.job} {digest}\n")
            return
        old = self._file
        self.job = job_of(old) or self.job
        beside = self.path.with_name(self.path.name + ".new")
        beside.unlink(missing_ok=True)
        beside.touch(mode=0o600)
        with old, beside.open("wb+", buffering=0) as self._file:
            self._written = 0
            self._append(f"#{self.job} {digest}\n")
            self.was_killed = not has_ended(old)
            for page in fetched_pages(old, digest):
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
