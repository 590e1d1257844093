"""The packed form of a page sketch: what is stored, and what is kept in memory.

==========  =====================================================
bytes       content
==========  =====================================================
1           version of the format (1)
16          fingerprint of the text
varint      length of the body where only a part was read, else 0
varint      number of blocks, n
n           words per block; 255 stands for a varint in the next column
varints     the numbers of words of 255 and more
8 n         sums of word hashes, little-endian
4 k         order checks of the k blocks that have not just one word
==========  =====================================================

A later version may add a column (the paths of the blocks, say); it gets a number
of its own, and this one stays readable.
"""

from struct import pack, unpack_from
from typing import NamedTuple

_VERSION = 1
_MANY = 255  # words, from which on their number stands in a column of its own


class Columns(NamedTuple):
    """The unpacked form; sums, orders and counts have a value for each block."""

    #: Fingerprint of the text: 32 hexadecimal digits.
    text: str
    #: Bytes of the body where only a part was read, else 0.
    partial: int
    sums: tuple[int, ...]
    #: 0 for a block of one word, else not 0.
    orders: tuple[int, ...]
    counts: tuple[int, ...]


def packed(columns: Columns) -> bytes:
    """Return the packed form."""
    text, partial, sums, orders, counts = columns
    orders = tuple(filter(None, orders))
    if max(counts, default=0) < _MANY:
        words = bytes(counts)
    else:
        words = bytes(min(count, _MANY) for count in counts)
        words += b"".join(_varint(count) for count in counts if count >= _MANY)
    return b"".join(
        (
            bytes((_VERSION,)),
            bytes.fromhex(text),
            _varint(partial),
            _varint(len(sums)),
            words,
            pack(f"<{len(sums)}Q", *sums),
            pack(f"<{len(orders)}I", *orders),
        )
    )


def unpacked(data: bytes) -> Columns:
    """Return the columns of a packed sketch. Raises ValueError."""
    layout = _layout(data)
    number = layout.number
    sums = unpack_from(f"<{number}Q", data, layout.sums)
    orders = iter(unpack_from(f"<{layout.several}I", data, layout.sums + 8 * number))
    counts = _counts(data, layout)
    return Columns(
        data[1:17].hex(),
        layout.partial,
        sums,
        tuple([0 if count == 1 else next(orders) for count in counts]),
        counts,
    )


def text_of(data: bytes) -> str:
    """Return the fingerprint of the text."""
    return data[1:17].hex()


def totals_of(data: bytes) -> tuple[int, int, int]:
    """Return partial, the sum of the sums and the number of words. Raises ValueError."""
    layout = _layout(data)
    sums = unpack_from(f"<{layout.number}Q", data, layout.sums)
    return layout.partial, sum(sums), sum(_counts(data, layout))


class _Layout(NamedTuple):
    partial: int
    number: int
    counts: int  # where they begin
    sums: int
    #: Blocks that have not just one word.
    several: int


def _layout(data: bytes) -> _Layout:
    if not data or data[0] != _VERSION:
        version = data[0] if data else "none"
        raise ValueError(f"page sketch of format {version}: this version reads format {_VERSION}.")
    try:
        partial, at = _read_varint(data, 17)
        number, counts = _read_varint(data, at)
        at = counts + number
        for _ in range(data.count(_MANY, counts, at)):
            _, at = _read_varint(data, at)
    except IndexError:
        raise ValueError("page sketch is cut off.") from None
    several = number - data.count(1, counts, counts + number)
    if len(data) != at + 8 * number + 4 * several:
        raise ValueError(f"page sketch is damaged: {len(data)} bytes for {number} blocks.")
    return _Layout(partial, number, counts, at, several)


def _counts(data: bytes, layout: _Layout) -> tuple[int, ...]:
    counts = data[layout.counts : layout.counts + layout.number]
    if _MANY not in counts:
        return tuple(counts)
    found = list(counts)
    at = layout.counts + layout.number
    for i, count in enumerate(found):
        if count == _MANY:
            found[i], at = _read_varint(data, at)
    return tuple(found)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
