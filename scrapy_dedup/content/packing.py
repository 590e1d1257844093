"""The stored form of a page sketch.

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
4 k         order checks of the k blocks with more than one word
==========  =====================================================

A later version may add a column (the paths of the blocks, say); it gets a number
of its own, and this one stays readable.
"""

from struct import error as StructError
from struct import pack, unpack_from

_VERSION = 1


def pack_sketch(
    text: str,
    sums: tuple[int, ...],
    orders: tuple[int, ...],
    counts: tuple[int, ...],
    partial: int,
) -> bytes:
    """Return the stored form of a sketch's fields."""
    few = max(counts, default=0) < 255
    many = tuple(filter(None, orders))
    return b"".join(
        (
            bytes((_VERSION,)),
            bytes.fromhex(text),
            _varint(partial),
            _varint(len(sums)),
            bytes(counts) if few else bytes(min(count, 255) for count in counts),
            b"" if few else b"".join(_varint(count) for count in counts if count >= 255),
            pack(f"<{len(sums)}Q", *sums),
            pack(f"<{len(many)}I", *many),
        )
    )


def unpack_sketch(
    data: bytes,
) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], int]:
    """Return text, sums, orders, counts and partial. Raises ValueError."""
    if not data or data[0] != _VERSION:
        version = data[0] if data else "none"
        raise ValueError(f"page sketch of format {version}: this version reads format {_VERSION}.")
    try:
        text = data[1:17].hex()
        partial, at = _read_varint(data, 17)
        number, at = _read_varint(data, at)
        counts = list(data[at : at + number])
        at += number
        for i, count in enumerate(counts):
            if count == 255:
                counts[i], at = _read_varint(data, at)
        sums = unpack_from(f"<{number}Q", data, at)
        at += 8 * number
        many = iter(unpack_from(f"<{sum(c > 1 for c in counts)}I", data, at))
        orders = tuple(next(many) if count > 1 else 0 for count in counts)
    except (IndexError, StructError) as error:
        raise ValueError(f"page sketch is cut off or damaged: {error}.") from None
    return text, sums, orders, tuple(counts), partial


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
