"""Reading sources: their observations one by one, with counts of what could not be read."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..observation import Observation
from .formats import files_of, reader_of
from .records import BadRecord, LeftOut, ReadOptions, Source, SourceError

SHOWN: Final = 5
"""Bad records that are told one by one."""

Progress = Callable[[int, int, int], None]
"""Takes the records that are read, and the bytes, and those of all files; 0 where that is not known."""
_EVERY: Final = 1_000


@dataclass(slots=True)
class Reading:
    """The observations of some sources, each a file, a folder or ``-``, in turn."""

    sources: Sequence[str]
    options: ReadOptions = field(default_factory=ReadOptions)
    progress: Progress | None = None
    #: What was read so far.
    records: int = 0
    bad: int = 0
    #: The first ones that could not be read.
    examples: list[BadRecord] = field(default_factory=list)
    #: Records that are whole and no evidence, by reason.
    left_out: Counter[str] = field(default_factory=Counter)
    #: Of the source that is being read.
    _first_bad: BadRecord | None = None
    _done: int = 0
    _size: int = 0

    def observations(self) -> Iterator[Observation]:
        """Yield the observations. Raises SourceError for a source of which nothing can be read, OSError."""
        self._size = sum(_size(name) for name in self.sources)
        for name in self.sources:
            before, self._first_bad = (self.records, self.bad), None
            yield from self._of_source(name)
            if self.records == before[0] and self._first_bad is not None:
                raise SourceError(f"nothing of {name} can be read: {self._first_bad}" + _more(self.bad - before[1] - 1))

    def complaints(self) -> list[str]:
        """Return lines about what could not be read."""
        if not self.bad:
            return []
        shown = [f"not read: {each}" for each in self.examples]
        if self.bad > len(shown):
            shown.append(f"not read: {self.bad - len(shown):,} more")
        shown.append(f"{self.bad:,} of {self.bad + self.records + self.left_out.total():,} records could not be read")
        return shown

    def _of_source(self, name: str) -> Iterator[Observation]:
        for path in files_of(name):
            shown = str(path) if path is not None else "standard input"
            source = Source(shown, path, self._read)
            try:
                reader = reader_of(source)
                for record in reader(source, self.options) if reader is not None else ():
                    if isinstance(record, Observation):
                        self.records += 1
                        if self.progress and not self.records % _EVERY:
                            self._tell()
                        yield record
                    elif isinstance(record, LeftOut):
                        self.left_out[record.why] += 1
                    else:
                        self._add_bad(record)
            except SourceError as error:
                self._add_bad(BadRecord(shown, "", str(error)))
            except OSError as error:
                if path is None or not path.exists():
                    raise
                self._add_bad(BadRecord(shown, "", error.strerror or str(error)))
        self._tell()

    def _add_bad(self, record: BadRecord) -> None:
        self.bad += 1
        self._first_bad = self._first_bad or record
        if len(self.examples) < SHOWN:
            self.examples.append(record)

    def _read(self, size: int) -> None:
        self._done += size

    def _tell(self) -> None:
        if self.progress:
            self.progress(self.records, min(self._done, self._size) if self._size else 0, self._size)


def _more(number: int) -> str:
    return f" (and {number:,} more)" if number else ""


def _size(name: str) -> int:
    """Return the bytes of the files that a source names; 0 for standard input, and for the folders of a cache."""
    return sum(path.stat().st_size for path in files_of(name) if path is not None and not path.is_dir())
