"""Records of a source: observations, and what could not be read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from ..observation import Observation
from .pages import PageReader
from .payloads import Payloads

#: Name of standard input among the sources.
STDIN: Final = "-"


class BadRecord(NamedTuple):
    """A record that cannot be read: where it stands, and why not."""

    source: str
    #: As a user finds it: "line 7", "row 12", "byte 5120".
    position: str
    why: str

    def __str__(self) -> str:
        return f"{self.source}, {self.position}: {self.why}" if self.position else f"{self.source}: {self.why}"


class LeftOut(NamedTuple):
    """A record that is whole and no response to a plain request, such as the request in an archive."""

    why: str


Record = Observation | BadRecord | LeftOut


class SourceError(ValueError):
    """A source that cannot be read at all; the message says why, and what can be done."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What readers are told."""

    pages: PageReader = field(default_factory=PageReader)
    #: What archives refer to, of all sources.
    payloads: Payloads = field(default_factory=Payloads)


class Source(NamedTuple):
    """A file or folder to read, and how far that is done."""

    name: str
    #: None is standard input.
    path: Path | None
    #: Is told the bytes that have been read since the last time.
    read: Callable[[int], None] = lambda _: None


class Reader(Protocol):
    """The reader of a format."""

    def __call__(self, source: Source, options: ReadOptions) -> Iterator[Record]:
        """Yield the records of *source*. Raises SourceError, OSError."""
        ...
