"""Records of a source: observations, and what could not be read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from xxhash import xxh3_64_intdigest

from ..observation import Observation
from .pages import PageReader

#: Name of standard input among the sources.
STDIN: Final = "-"
_MOST: Final = 200_000
"""Pages that are remembered, the latest ones; one takes half a kilobyte."""


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


@dataclass(slots=True)
class Payloads:
    """The pages of responses that were read, by the digest of their payload and by their URL: archives keep some once, and refer to them."""

    _pages: dict[int, Observation] = field(default_factory=dict)
    """Hash of a digest -> what its page was."""
    _digests: dict[int, int] = field(default_factory=dict)
    """Hash of a URL -> hash of the digest that it had last."""

    def add(self, digest: str | None, found: Observation) -> None:
        """Remember the page of a response with this digest."""
        url = _hash(found.url)
        key = _hash(digest) if digest else url
        self._pages.pop(key, None)
        self._digests.pop(url, None)
        self._pages[key] = replace(found, sketch=None, version=None, headers=None)
        self._digests[url] = key
        for kept in (self._pages, self._digests):
            if len(kept) > _MOST:
                del kept[next(iter(kept))]

    def observation(self, url: str, at: float | None, digest: str | None, original: str | None) -> Observation | None:
        """Return what *url* has shown: the page of that digest, or what the *original* URL has shown; None where that was not read."""
        found = self._pages.get(_hash(digest)) if digest else None
        if found is None and original is not None and not digest:
            found = self._pages.get(self._digests.get(_hash(original), 0))
        return found and replace(found, url=url, time=at)


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


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
