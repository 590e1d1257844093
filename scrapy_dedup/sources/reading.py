"""Reading sources: their observations one by one, with counts of what could not be read."""

import csv
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..observation import Observation
from .archives import read_cached
from .files import STDIN, files_of, opened, reader_of
from .pages import PageReader
from .records import Found, LeftOut, SourceError

SHOWN: Final = 5
"""Bad records that are told one by one."""
_DAMAGED: Final = (OSError, EOFError, ValueError, RuntimeError, zlib.error, csv.Error)
"""What readers raise in the middle of a file."""

Progress = Callable[[int, int, int], None]
"""Takes the records that are read, and the bytes, and those of all files; 0 where that is not known."""


@dataclass(slots=True)
class Reading:
    """The observations of some sources, each a file, a folder or ``-``, in turn."""

    sources: Sequence[str]
    pages: PageReader = field(default_factory=PageReader)
    progress: Progress | None = None
    #: What was read so far.
    records: int = 0
    bad: int = 0
    #: The first ones that could not be read: where they stand, and why not.
    examples: list[str] = field(default_factory=list)
    #: Records that are whole and no evidence, by reason.
    left_out: Counter[str] = field(default_factory=Counter)
    #: Bytes of the files that are done, and of all.
    _done: int = 0
    _size: int = 0
    _first: str = ""

    def observations(self) -> Iterator[Observation]:
        """Yield the observations. Raises SourceError for a source of which nothing can be read, OSError."""
        files = (path for source in self.sources for path in files_of(source))
        self._size = sum(path.stat().st_size for path in files if path.is_file())
        for source in self.sources:
            records, self._first = self.records, ""
            for path in files_of(source):
                yield from self._of_file("standard input" if path == STDIN else str(path), path)
            if self._first and self.records == records:
                raise SourceError(f"nothing of {source} can be read: {self._first}")

    def complaints(self) -> list[str]:
        """Return lines about what could not be read."""
        if not self.bad:
            return []
        shown = [f"not read: {each}" for each in self.examples]
        if self.bad > len(shown):
            shown.append(f"not read: {self.bad - len(shown):,} more")
        return [
            *shown,
            f"{self.bad:,} of {self.bad + self.records + self.left_out.total():,} records could not be read",
        ]

    def _of_file(self, name: str, path: Path) -> Iterator[Observation]:
        position = ""
        try:
            for position, record in self._found(path):
                if isinstance(record, Observation):
                    self.records += 1
                    yield record
                elif isinstance(record, LeftOut):
                    self.left_out[record.why] += 1
                else:
                    self._add_bad(f"{name}, {position}" if position else name, record)
        except _DAMAGED as error:
            self._add_bad(name, f"unreadable after {position} ({error}). Is the file whole?" if position else error)

    def _found(self, path: Path) -> Iterator[Found]:
        if path.is_dir():
            yield from read_cached(path, self.pages)
            return
        before = self._done
        with opened(path) as file:
            reader = reader_of(file)
            for number, found in enumerate(reader(self.pages) if reader else ()):
                yield found
                if self.progress and not number % 1_000:
                    self._done = before + file.tell()
                    self.progress(self.records, min(self._done, self._size), self._size)
            self._done = before + file.tell()

    def _add_bad(self, place: str, why: Exception | str) -> None:
        said = f"not JSON ({why.msg})" if isinstance(why, json.JSONDecodeError) else str(why).partition("\n")[0]
        self.bad += 1
        self._first = self._first or f"{place}: {said}"
        if len(self.examples) < SHOWN:
            self.examples.append(f"{place}: {said}")
