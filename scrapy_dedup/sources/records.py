"""Records of a source: observations, what is left out, and what cannot be read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

from ..observation import Observation
from .pages import PageReader

_LONGEST_LINE: Final = 1 << 26


class LeftOut(NamedTuple):
    """A record that is whole and no response to a plain request, such as the request in an archive."""

    why: str


class SourceError(ValueError):
    """A source that cannot be read at all; the message says why, and what can be done."""


Found = tuple[str, Observation | LeftOut | Exception]
"""Where a record stands, as a user finds it ("line 7", "row 12", "byte 5120"), and what it holds, or why it cannot be read."""
Reader = Callable[[BinaryIO, PageReader], Iterator[Found]]
"""Yields what an open file holds. Raises SourceError where nothing of it can be read, other errors where it is damaged."""


def found_in(records: Iterable[tuple[str, Any]], read: Callable[[Any], Observation | LeftOut]) -> Iterator[Found]:
    """Yield what *read* makes of each record, or the ValueError that it raises."""
    for position, record in records:
        try:
            yield position, read(record)
        except (ValueError, RecursionError) as error:
            yield position, error


def lines_of(file: BinaryIO, *, empty: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file with their places. Raises ValueError for one that is too long, what damaged gzip raises."""
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"line {number} is longer than 64 MB")
        if empty or line.strip():
            yield f"line {number}", line


def checked_columns(columns: Iterable[str]) -> list[str]:
    """Return the names of columns. Raises SourceError where these are no observations."""
    names = list(columns)
    if not {"url", "fingerprint"} <= {*names}:
        shown = ", ".join(name[:40] for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise SourceError(f"its columns are {shown}: url and fingerprint must be among them")
    return names


def named(names: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """Return the values of a row by the names of their columns. Raises ValueError where there are not as many."""
    if len(values) != len(names):
        raise ValueError(f"it has {len(values)} columns, the header has {len(names)}")
    return dict(zip(names, values, strict=True))
