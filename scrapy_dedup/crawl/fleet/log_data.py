"""What is written into the shared log of a job, and read from it."""

import json
import zlib
from collections.abc import Sequence
from typing import NamedTuple


class Entry(NamedTuple):
    """An entry of the log: its id, who has written it, and its lines."""

    id: str
    worker: str
    lines: list[str]

    @classmethod
    def of(cls, name: str, text: str) -> "Entry":
        """Return the entry of that name and text."""
        worker, *lines = text.split("\n")
        return cls(name, worker, lines)


class Reply(NamedTuple):
    """What an exchange says."""

    status: str
    version: int
    #: The last entry that is known with those of this reply.
    last: str
    #: Whether there are further ones; and whether they, or those of this reply, are packed.
    more: bool
    packed: bool
    entries: list[Entry]


class Joined(NamedTuple):
    """What a worker hears when it joins."""

    job: str
    version: int
    digest: str
    #: Whether no other worker is alive.
    no_other_alive: bool


class OtherFormatError(ConnectionError):
    """The workers of the job share what they have seen in a format that this release does not read."""


class SharedRuleTexts(NamedTuple):
    """A version of the rules: its number, what slots are made by under it, and what has changed."""

    version: int
    digest: str
    #: By site: the text of its rule file.
    texts: dict[str, str]
    #: By site and id of a rule: why it is suspended, in JSON.
    suspended: dict[str, str]


def number_of(name: str) -> tuple[int, int]:
    """Return what tells which of two entries is the later one."""
    ms, _, sequence = name.partition("-")
    return int(ms), int(sequence)


def pack(entries: Sequence[tuple[str, str]]) -> bytes:
    """Return entries in few bytes."""
    return zlib.compress(json.dumps(entries, separators=(",", ":")).encode(), 9)


def unpacked(chunk: bytes) -> list[tuple[str, str]]:
    """Return the entries of :func:`pack`."""
    found: list[tuple[str, str]] = json.loads(zlib.decompress(chunk))
    return found
