"""Versions of pages: the rows of a response, kept to be compared with those of later responses."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from ..urls.userinfo import without_userinfo
from .blocks import Row, Rows

__all__ = ["Pack", "Version", "by_place", "packed"]

Pack = Callable[[Rows, Callable[[], str]], bytes]
"""From the rows of a response, and its HTML for who needs it ("" of JSON), to what is kept of it."""
_MAX_SIZE: Final = 1 << 28
"""Bytes of a version before compression; more is damage."""


@dataclass(frozen=True, slots=True)
class Version:
    """The rows of a response at one time."""

    #: What is seen, and what links and forms hold.
    seen: tuple[Row, ...]
    #: Other values: some of them tell pages apart (see :func:`.unseen.tells`), and what passes is looked for in all.
    unseen: tuple[Row, ...] = ()
    #: The packed token table of the page, where it is kept: what the transient-content document's method compares.
    table: bytes = b""
    #: What masks have made of it: a page that is kept is compared again and again.
    compared: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    @classmethod
    def of(cls, rows: Rows, table: bytes = b"") -> "Version":
        """Return the version with these rows."""
        return cls(tuple(rows.seen), tuple(rows.unseen), table)

    def rows(self) -> Iterator[Row]:
        """Return all rows."""
        return chain(self.seen, self.unseen)

    def to_bytes(self) -> bytes:
        """Return the stored form: JSON, compressed; each selector once, addresses without user names and passwords."""
        rows = [*self.seen, *self.unseen]
        numbers = {selector: number for number, selector in enumerate(dict.fromkeys([row[0] for row in rows]))}
        columns = [
            list(numbers),
            [numbers[selector] for selector, _, _ in rows],
            [attribute for _, attribute, _ in rows],
            [without_userinfo(text) if "@" in text else text for _, _, text in rows],
        ]
        return zlib.compress(json.dumps([len(self.seen), self.table.hex(), *columns]).encode(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version stored as *data*. Raises ValueError where it is damaged or of another format."""
        reader = zlib.decompressobj()
        try:
            inflated = reader.decompress(data, _MAX_SIZE)
            if not reader.eof or reader.unused_data:
                raise ValueError("cut off, too long, or followed by something else.")
            seen, table, selectors, places, attributes, texts = json.loads(inflated)
            rows = tuple(zip([selectors[place] for place in places], attributes, texts, strict=True))
            return cls(rows[:seen], rows[seen:], bytes.fromhex(table))
        except (zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(f"damaged page version: {error}") from error


def packed(rows: Rows, _html: Callable[[], str]) -> bytes:
    """Return the stored form of the version with these rows."""
    return Version.of(rows).to_bytes()


def by_place(rows: Iterable[Row]) -> dict[tuple[str, str], list[str]]:
    """Return the texts of rows by place, (selector, attribute), in order."""
    found: dict[tuple[str, str], list[str]] = {}
    for selector, attribute, text in rows:
        found.setdefault((selector, attribute), []).append(text)
    return found
