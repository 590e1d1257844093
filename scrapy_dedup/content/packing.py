"""The packed form of a page sketch, in the store and in memory.

==========  =========================================================================
bytes       content
==========  =========================================================================
1           version of the format (2)
16          fingerprint of the text
8           length of the body where only a part was read, else 0, little-endian
8           number of words
12 n        a row for each of n blocks: the sum of the hashes of its words (8 bytes);
            20 bits that check their order, above 12 bits with their number (4 bytes)
==========  =========================================================================

A later version may add a column (the paths of the blocks, say); it gets a number
of its own, and this one stays readable.
"""

from array import array
from struct import Struct
from sys import byteorder
from typing import NamedTuple

_VERSION = 2
_HEAD = Struct("<B16sQQ")
_ROW = Struct("<QI")

ROW = _ROW.size
HEADER = _HEAD.size
pack_row = _ROW.pack
"""Takes the sum of the hashes of a block's words, and the check of their order with their number."""
MANY = (1 << 12) - 1
"""Words of a block that stand for so many and more."""


class Header(NamedTuple):
    """What is known of the whole page."""

    #: Fingerprint of the text: 16 bytes.
    text: bytes
    #: Bytes of the body where only a part was read, else 0.
    partial: int
    words: int


def packed(header: Header, rows: bytes) -> bytes:
    """Return the packed form."""
    return _HEAD.pack(_VERSION, *header) + rows


def header_of(data: bytes) -> Header:
    """Return the header of a packed sketch. Raises ValueError."""
    if not data or data[0] != _VERSION:
        version = data[0] if data else "none"
        raise ValueError(f"page sketch of format {version}: this version reads format {_VERSION}.")
    if len(data) < HEADER:
        raise ValueError("page sketch is cut off.")
    if (len(data) - HEADER) % ROW:
        raise ValueError(f"page sketch is damaged: {len(data)} bytes.")
    _, text, partial, words = _HEAD.unpack_from(data)
    return Header(text, partial, words)


def text_of(data: bytes) -> bytes:
    """Return the fingerprint of the text of a packed sketch: 16 bytes."""
    return data[1:17]


def rows_of(data: bytes) -> list[tuple[int, int]]:
    """Return the rows of a packed sketch, as :data:`pack_row` takes them."""
    return list(_ROW.iter_unpack(memoryview(data)[HEADER:]))


def total_of(rows: bytes) -> int:
    """Return the sum of the sums of packed rows."""
    # As numbers of 32 bits, of which a row has three: iter_unpack() would make a tuple for each row.
    numbers = array("I", rows)
    if byteorder == "big":
        numbers.byteswap()
    return sum(numbers[::3]) + (sum(numbers[1::3]) << 32)
