"""Versions of pages: the texts of a response, kept to be compared with later responses.

The stored form is a byte with the number of its format, and a zlib stream of text in UTF-8, made fast rather than small. A
crawl writes one for nearly every page, so the fields are merely joined by NUL, which no text of a page holds:

- the number of different selectors, and these, so that each is written once;
- for each block the number of its selector;
- for each block its attribute;
- for each block its text.

That is format 2. Where values that nobody sees are kept, too, the version is of format 3: before all that stands the number of
blocks, and the columns go on with those values. Format 1, that of earlier stores, has the columns as JSON; rows that do hold a NUL
have it still, with the number of blocks as the last column where there are such values.

Format 16 is a version of another format, after its length (4 bytes, little-endian), and before the token table of the page, as
:mod:`scrapy_dedup.masks.published.token_table` packs it, with its own.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from struct import Struct
from typing import Any

from ..urls.userinfo import without_userinfo
from .tokenizer.tokens import blocks
from .tokenizer.unseen import unseen_blocks

_JSON, _JOINED, _WITH_MARKUP, _WITH_TABLE = b"\x01", b"\x02", b"\x03", b"\x10"
_LENGTHS = Struct("<cII")
_MAX_SIZE = 1 << 28
"""Bytes of a version before compression; more is damage."""
_SHORT = 1_000
"""Up to so many bytes are not compressed: clearing the tables for it would take longer than all else that is done here."""

_Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """The content of a page at one time: a row of selector, attribute and text for each block.

    See :class:`~scrapy_dedup.content.tokenizer.tokens.Block`; the attribute is "" for visible text. ``markup`` are the same of values that
    nobody sees (:mod:`.unseen`), where they are kept: pages are never compared by them, and only what passes is looked for.
    """

    blocks: tuple[_Row, ...]
    markup: tuple[_Row, ...] = ()
    table: bytes = b""
    """The packed token table of the page, where it is kept: what the transient-content document's method compares."""
    compared: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)
    """What masks have made of it (:class:`scrapy_dedup.masks.model.Mask`): a page that is kept is compared again and again."""

    def rows(self) -> Iterator[_Row]:
        """Return all rows: blocks, then markup."""
        return chain(self.blocks, self.markup)

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        rows = (*self.blocks, *self.markup)
        selectors, attributes, texts = zip(*rows, strict=True) if rows else ((), (), ())
        packed = _packed(selectors, attributes, texts, len(self.blocks))
        return with_table(packed, self.table) if self.table else packed

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version stored as *data*. Raises ValueError where it is damaged or of another format."""
        if data[:1] == _WITH_TABLE:
            return _with_its_table(data)
        unpack = {_JSON: _rows_of_json, _JOINED: _rows_of_joined, _WITH_MARKUP: _rows_with_markup}.get(data[:1])
        if unpack is None:
            raise ValueError("not a page version, or of a format that this release does not know.")
        try:
            rows, length = unpack(_inflated(data[1:]))
            rows = tuple(rows)
        except (zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(f"damaged page version: {error}") from error
        if length is None:
            return cls(rows)
        if not 0 <= length < len(rows):
            raise ValueError("damaged page version: it has another number of blocks.")
        return cls(rows[:length], rows[length:])


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


def _packed(selectors: Sequence[str], attributes: Sequence[str], texts: Sequence[str], length: int) -> bytes:
    """Pack the columns of rows, the first *length* of which are blocks; addresses go without user names and passwords."""
    texts = [without_userinfo(text) if "@" in text else text for text in texts]
    numbers = {selector: str(number) for number, selector in enumerate(dict.fromkeys(selectors))}
    places = [numbers[selector] for selector in selectors]
    fields = [str(len(numbers)), *numbers, *places, *attributes, *texts]
    version = _JOINED
    if length < len(places):
        version, fields = _WITH_MARKUP, [str(length), *fields]
    data = "\0".join(fields)
    if data.count("\0") >= len(fields):
        columns: list[Any] = [list(numbers), list(map(int, places)), attributes, texts]
        version, data = _JSON, json.dumps(columns if length == len(places) else [*columns, length])
    return version + _deflated(data.encode("utf-8", "surrogatepass"))


_Unpacked = tuple[Iterable[_Row], int | None]
"""Rows, and how many of them are blocks; None stands for all."""


def _rows_with_markup(data: bytes) -> _Unpacked:
    length, _, rest = data.partition(b"\0")
    return _rows_of_joined(rest)[0], int(length)


def _rows_of_joined(data: bytes) -> _Unpacked:
    count, *fields = data.decode("utf-8", "surrogatepass").split("\0")
    number = int(count)
    selectors, columns = fields[:number], fields[number:]
    named = {str(place): selector for place, selector in enumerate(selectors)}
    length, rest = divmod(len(columns), 3)
    if number != len(selectors) or rest:
        raise ValueError("fields are missing.")
    places, attributes, texts = (columns[start : start + length] for start in (0, length, 2 * length))
    return zip([named[place] for place in places], attributes, texts, strict=True), None


def _rows_of_json(data: bytes) -> _Unpacked:
    selectors, places, attributes, texts, *rest = json.loads(data)
    if min(places, default=0) < 0:
        raise ValueError("a place is negative.")
    if not all(isinstance(value, str) for column in (selectors, attributes, texts) for value in column):
        raise ValueError("text expected.")
    if len(rest) > 1 or not all(type(length) is int for length in rest):
        raise ValueError("a number expected.")
    return zip([selectors[place] for place in places], attributes, texts, strict=True), rest[0] if rest else None


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


def version_of(html: str, *, markup: bool = False) -> Version:
    """Return the version that a page is of: its visible texts and content attributes, in order.

    With *markup*, also what nobody sees.
    """
    unseen = tuple([(block.selector, block.attribute, block.text) for block in unseen_blocks(html)]) if markup else ()
    return Version(tuple(blocks(html).rows()), unseen)


def packed_version(html: str, *, markup: bool = False) -> bytes:
    """Return the stored form of the version that a page is of."""
    selectors, attributes, texts = blocks(html).columns()
    length = len(texts)
    if markup:
        unseen = unseen_blocks(html)
        selectors = [*selectors, *[block.selector for block in unseen]]
        attributes = [*attributes, *[block.attribute for block in unseen]]
        texts = [*texts, *[block.text for block in unseen]]
    return _packed(selectors, attributes, texts, length)


def by_place(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return the texts of a version by place, (selector, attribute), in order."""
    found: dict[tuple[str, str], list[str]] = {}
    for selector, attribute, text in rows:
        found.setdefault((selector, attribute), []).append(text)
    return found
