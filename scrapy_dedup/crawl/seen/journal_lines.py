"""Lines of the journal of pages (:mod:`.journal`), read in their order."""

import os
from collections.abc import Iterator
from typing import IO, NamedTuple

from xxhash import xxh3_64_intdigest

_READ = 1 << 12


def digest_of(url: str) -> int:
    """Return a number for *url*."""
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


class JournalPage(NamedTuple):
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


def job_of(file: IO[bytes]) -> str:
    """Return the name of the job in the first line of *file*, "" if that is spoilt."""
    file.seek(0)
    first = file.read(_READ).partition(b"\n")[0]
    name = first[1:].partition(b" ")[0]
    return name.decode("ascii", "replace") if first.startswith(b"#") else ""


def has_ended(file: IO[bytes]) -> bool:
    """Whether the last run that has written *file* has ended as it should."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 3))
    return file.read() in (b"\n.\n", b".\n")


def fetched_pages(file: IO[bytes], digest: str) -> Iterator[JournalPage]:
    """Yield the pages of *file* that were fetched; a last line that was cut off is left out."""
    file.seek(0)
    taken: dict[int, JournalPage] = {}
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


class SlotEvent(NamedTuple):
    """What a line says of a slot: it is taken by a page, or else fetched, or else free again."""

    slot: int
    page: JournalPage | None = None
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

    def event(self, line: bytes) -> SlotEvent | None:
        """Return what a line says of a slot, None if that is nothing or a full disk has spoilt it."""
        sign, text = line[:1], line[1:-1]
        try:
            if sign == b"+":
                slot, number, url = text.split(b" ", 2)
                return SlotEvent(int(slot, 16), self._page(int(slot, 16), number, url))
            if sign == b"=":
                return SlotEvent(int(text.rstrip(b"+"), 16), fetched=True, links=text.endswith(b"+"))
            if sign == b"-":
                return SlotEvent(int(text, 16))
            if sign == b"@":
                number, name = text.split(b" ", 1)
                self._callbacks[number] = name.decode()
            elif sign == b"#":
                self._current = self._digest in (None, text.partition(b" ")[2].decode())
                self._callbacks.clear()
        except (ValueError, KeyError):
            pass
        return None

    def _page(self, slot: int, number: bytes, url: bytes) -> JournalPage:
        callback, _, context = number.rstrip(b"~").partition(b":")
        return JournalPage(
            slot,
            url.decode("utf-8", "surrogatepass"),
            self._callbacks[callback],
            context.decode(),
            not number.endswith(b"~"),
            self._current,
        )
