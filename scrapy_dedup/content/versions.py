"""Versions: what is kept of a page so that it can be compared with itself at another time."""

import json
import zlib
from dataclasses import dataclass

from .tokens import blocks

_FORMAT = 1
_MAX_SIZE = 1 << 28
"""Bytes of a version before compression; more is damage."""


@dataclass(frozen=True, slots=True)
class Version:
    """The content of a page at one time: a row of selector, attribute and text for each block.

    See :class:`~scrapy_dedup.content.tokens.Block`; the attribute is "" for visible text.
    """

    blocks: tuple[tuple[str, str, str], ...]

    def to_bytes(self) -> bytes:
        """Return the stored form: the number of the format in one byte, then JSON, compressed by zlib, fast rather than small."""
        # By columns, and each selector written once: less room than row by row.
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(selector, len(numbers)) for selector, _, _ in self.blocks]
        columns = [list(numbers), places, [row[1] for row in self.blocks], [row[2] for row in self.blocks]]
        data = json.dumps(columns, separators=(",", ":")).encode()
        return bytes((_FORMAT,)) + zlib.compress(data, 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version stored as *data*. Raises ValueError where it is damaged or of another format."""
        if data[:1] != bytes((_FORMAT,)):
            raise ValueError("not a page version, or of a format that this release does not know.")
        try:
            selectors, places, attributes, texts = json.loads(_inflated(data[1:]))
            if min(places, default=0) < 0:
                raise ValueError("a place is negative.")
            rows = tuple(zip([selectors[place] for place in places], attributes, texts, strict=True))
        except (zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(f"damaged page version: {error}") from error
        if not all(isinstance(value, str) for row in rows for value in row):
            raise ValueError("damaged page version: text expected.")
        return cls(rows)


def _inflated(data: bytes) -> bytes:
    reader = zlib.decompressobj()
    inflated = reader.decompress(data, _MAX_SIZE)
    if not reader.eof or reader.unused_data:
        raise ValueError("cut off, too long, or followed by something else.")
    return inflated


def version_of(html: str) -> Version:
    """Return the version that a page is of: its visible texts and content attributes, in order."""
    return Version(tuple(blocks(html).rows()))
