"""Versions: what is kept of a page so that it can be compared with itself at another time.

The stored form is a byte with the number of its format, and a zlib stream of text in UTF-8, made fast rather than small. A
crawl writes one for nearly every page, so the fields are merely joined by NUL, which no text of a page holds:

- the number of different selectors, and these, so that each is written once;
- for each block the number of its selector;
- for each block its attribute;
- for each block its text.

Format 1, that of earlier stores, has the same columns as JSON; rows that do hold a NUL have it still. Format 16 is a version
of another format, after its length (4 bytes, little-endian), and before the token table of the page, as
:mod:`scrapy_dedup.masks.seed.token_table` packs it, with its own.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from struct import Struct
from typing import Any

from .tokens import blocks

_JSON, _JOINED, _WITH_TABLE = b"\x01", b"\x02", b"\x10"
_LENGTHS = Struct("<cII")
_MAX_SIZE = 1 << 28
"""Bytes of a version before compression; more is damage."""
_SHORT = 1_000
"""Up to so many bytes are not compressed: clearing the tables for it would take longer than all else that is done here."""

_Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """The content of a page at one time: a row of selector, attribute and text for each block.

    See :class:`~scrapy_dedup.content.tokens.Block`; the attribute is "" for visible text.
    """

    blocks: tuple[_Row, ...]
    table: bytes = b""
    """The packed token table of the page, where it is kept: what the transient-content document's method compares."""
    compared: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)
    """What masks have made of it (:class:`.mask.Mask`): a page that is kept is compared again and again."""

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        selectors, attributes, texts = zip(*self.blocks, strict=True) if self.blocks else ((), (), ())
        packed = _packed(selectors, attributes, texts)
        return with_table(packed, self.table) if self.table else packed

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version stored as *data*. Raises ValueError where it is damaged or of another format."""
        if data[:1] == _WITH_TABLE:
            return _with_its_table(data)
        unpacked = {_JSON: _rows_of_json, _JOINED: _rows_of_joined}.get(data[:1])
        if unpacked is None:
            raise ValueError("not a page version, or of a format that this release does not know.")
        try:
            rows = tuple(unpacked(_inflated(data[1:])))
        except (zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(f"damaged page version: {error}") from error
        return cls(rows)


def with_table(packed: bytes, table: bytes) -> bytes:
    """Return the stored form of a version, *packed*, together with the packed token *table* of its page."""
    return _LENGTHS.pack(_WITH_TABLE, len(packed), len(table)) + packed + table


def _with_its_table(data: bytes) -> Version:
    start = _LENGTHS.size
    length, of_table = _LENGTHS.unpack_from(data)[1:] if len(data) >= start else (0, 0)
    packed, table = data[start : start + length], data[start + length :]
    if not length or len(packed) < length or len(table) != of_table:
        raise ValueError("damaged page version: cut off, or followed by something else.")
    if packed[:1] == _WITH_TABLE:
        raise ValueError("damaged page version: a version in a version.")
    return replace(Version.from_bytes(packed), table=table)


def _packed(selectors: Sequence[str], attributes: Sequence[str], texts: Sequence[str]) -> bytes:
    numbers = {selector: str(number) for number, selector in enumerate(dict.fromkeys(selectors))}
    places = [numbers[selector] for selector in selectors]
    fields = [str(len(numbers)), *numbers, *places, *attributes, *texts]
    version, data = _JOINED, "\0".join(fields)
    if data.count("\0") >= len(fields):
        version, data = _JSON, json.dumps([list(numbers), list(map(int, places)), attributes, texts])
    return version + _deflated(data.encode("utf-8", "surrogatepass"))


def _rows_of_joined(data: bytes) -> Iterable[_Row]:
    count, *fields = data.decode("utf-8", "surrogatepass").split("\0")
    number = int(count)
    selectors, columns = fields[:number], fields[number:]
    named = {str(place): selector for place, selector in enumerate(selectors)}
    length, rest = divmod(len(columns), 3)
    if number != len(selectors) or rest:
        raise ValueError("fields are missing.")
    places, attributes, texts = (columns[start : start + length] for start in (0, length, 2 * length))
    return zip([named[place] for place in places], attributes, texts, strict=True)


def _rows_of_json(data: bytes) -> Iterable[_Row]:
    selectors, places, attributes, texts = json.loads(data)
    if min(places, default=0) < 0:
        raise ValueError("a place is negative.")
    if not all(isinstance(value, str) for column in (selectors, attributes, texts) for value in column):
        raise ValueError("text expected.")
    return zip([selectors[place] for place in places], attributes, texts, strict=True)


def _deflated(data: bytes) -> bytes:
    if len(data) > _SHORT:
        return zlib.compress(data, 1)
    stream = zlib.compressobj(0, wbits=9, memLevel=1)  # no compression, and the smallest tables
    return stream.compress(data) + stream.flush()


def _inflated(data: bytes) -> bytes:
    reader = zlib.decompressobj()
    inflated = reader.decompress(data, _MAX_SIZE)
    if not reader.eof or reader.unused_data:
        raise ValueError("cut off, too long, or followed by something else.")
    return inflated


def version_of(html: str) -> Version:
    """Return the version that a page is of: its visible texts and content attributes, in order."""
    return Version(tuple(blocks(html).rows()))


def packed_version(html: str) -> bytes:
    """Return the stored form of the version that a page is of."""
    return _packed(*blocks(html).columns())
