"""Sketches of responses: hashes of the texts that are seen, and of the values that nobody sees and that tell pages apart.

A *block* is one text that is not blank. The sketch keeps three numbers of each:

- the sum of the hashes of its words (64 bits), which does not depend on their order;
- a check of the order of its words (20 bits, 0 for a single word);
- the number of its words (12 bits, the largest number for more).

Of each value that nobody sees it keeps a hash. The packed form, in the store and in memory, is a header, the rows of the blocks
(12 bytes each) and the hashes of the values (8 bytes each), all little-endian.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from struct import Struct, pack
from typing import Final

from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest, xxh3_128_digest, xxh32_intdigest

from .blocks import JSON, Row, Rows
from .remembered import Remembered
from .unseen import marked, tells, without_query

__all__ = ["FEW_WORDS", "MANY", "MAX_BLOCKS", "Sketch", "sketch_of_rows", "sketch_of_texts"]

#: Pages of so few words are told apart by their images, too ("Photo 17, next, previous"). With even
#: fewer a page is no evidence anyway, and images that all pages share must not make it one.
FEW_WORDS: Final = range(6, 30)
#: Blocks that a sketch keeps apart; the rest of the page is folded into one more.
MAX_BLOCKS: Final = 4096
MANY: Final = (1 << 12) - 1
"""Words of a block that stand for so many and more."""

_FORMAT: Final = 3
_HEAD: Final = Struct("<B16s16s16sQQI")
"""Number of the format; fingerprints of the words in order, of those in any order, and of the values (0 for none); bytes of the
body where only a part was read, else 0; numbers of words and of blocks."""
_ROW: Final = Struct("<QI")
_BITS: Final = (1 << 64) - 1
_DATA: Final = _BITS
"""Stands for the number of words of data."""
_ORDER_BITS: Final = (1 << 32) - 1 - MANY  # the upper 20
# A digest has another one: a plain text never has the fingerprint of a page.
_SEED: Final = 1
_SPREAD: Final = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads the order check over 64 bits
_ORIGIN_OR_DOTS = re.compile(r"^(?:(?:https?:)?//[^/]*)?(?:\.{0,2}/)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is kept of a response; see the module's description.

    Equal sketches have equal fingerprints, but not the other way round: *text* and *bag* do not depend on how the markup cuts
    the text into blocks. Fingerprints are 32 hexadecimal digits.
    """

    #: The packed form.
    data: bytes
    #: Fingerprint of the words in any order.
    bag: str
    #: None of data (JSON), which need not have many to tell what it is.
    words: int | None
    #: Fingerprint of the values that nobody sees, in any order; "" where there are none.
    unseen: str = ""

    @property
    def text(self) -> str:
        """Return the fingerprint of the words in order."""
        return self.data[1:17].hex()

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return a hash of 64 bits for each block, in order."""
        return tuple([total ^ ((rest >> 12) * _SPREAD & _BITS) for total, rest in self._rows()])

    @property
    def weights(self) -> tuple[int, ...]:
        """Return the number of words of each block, in order; 4095 stands for more."""
        return tuple([rest & MANY for _, rest in self._rows()])

    def counted(self) -> Counter[int]:
        """Return the number of words that each block has, where it stands several times in all of these."""
        found = Counter[int]()
        for block, words in zip(self.blocks, self.weights, strict=True):
            found[block] += words
        return found

    @property
    def partial(self) -> int:
        """Return the bytes of the whole body where only its beginning was read, else 0."""
        partial: int = _HEAD.unpack_from(self.data)[4]
        return partial

    def _rows(self) -> Iterable[tuple[int, int]]:
        number = _HEAD.unpack_from(self.data)[-1]
        return _ROW.iter_unpack(memoryview(self.data)[_HEAD.size : _HEAD.size + number * _ROW.size])

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return self.data

    @classmethod
    def from_bytes(cls, data: bytes) -> "Sketch":
        """Return the sketch that is stored as *data*. Raises ValueError."""
        if data[:1] != bytes((_FORMAT,)):
            raise ValueError(
                f"page sketch of format {data[0] if data else 'none'}: this version reads format {_FORMAT}."
            )
        if len(data) < _HEAD.size:
            raise ValueError("page sketch is cut off.")
        _, _, bag, unseen, _, words, number = _HEAD.unpack_from(data)
        rest = len(data) - _HEAD.size - number * _ROW.size
        if rest < 0 or rest % 8:
            raise ValueError(f"page sketch is damaged: {len(data)} bytes.")
        return cls(data, bag.hex(), None if words == _DATA else words, unseen.hex() if rest else "")


def sketch_of_rows(rows: Rows, url: str = "", *, partial: int = 0) -> Sketch:
    """Return the sketch of the response at *url*; pass the bytes of the body as *partial* where these are not all of its rows.

    Where a page has few words, the addresses of its images are added as words, without their query (a version, a cache). Of a
    JSON answer each word is one with the keys that lead to it.
    """
    if rows.seen and rows.seen[0][0].startswith(JSON):
        return sketch_of_texts(
            [_under(selector, marked(text, url)) for selector, _, text in rows.seen], is_data=True, partial=partial
        )
    texts = [text for _, attribute, text in rows.seen if not attribute]
    told = [_told[row] for row in chain(rows.seen, rows.unseen) if row[1]]
    values = [f"{attribute} {marked(text, url)}" for attribute, text in filter(None, told)]
    sketch = sketch_of_texts(texts, values, partial=partial)
    if sketch.words in FEW_WORDS and (images := _images(rows)):
        return sketch_of_texts([*texts, *images], values, partial=partial)
    return sketch


def _under(selector: str, text: str) -> str:
    keys = _keys(selector)
    return " ".join([keys + word for word in text.split() or [""]])


@lru_cache(4096)
def _keys(selector: str) -> str:
    return xxh3_64_hexdigest(selector.encode("utf-8", "surrogatepass")) + ":"


def _told_by(row: Row) -> tuple[str, str] | None:
    """Return the attribute and the text of a value that tells pages apart, None for others."""
    selector, attribute, text = row
    if not tells(selector, attribute, text):
        return None
    return attribute, without_query(text) if attribute in {"href", "src"} else text


_told = Remembered(_told_by, lambda row: len(row[2]))


def _images(rows: Rows) -> list[str]:
    """Return a word for each image: its path, however the page's own address makes it relative."""
    shown = [
        text if text.startswith("data:") else _ORIGIN_OR_DOTS.sub("", without_query(text))
        for selector, attribute, text in chain(rows.seen, rows.unseen)
        if attribute in {"src", "data-src"} and selector.rpartition("/")[2].startswith("img")
    ]
    return ["img:" + "%20".join(each.split()) for each in shown if each]


def sketch_of_texts(
    texts: Iterable[str], values: Sequence[str] = (), *, is_data: bool = False, partial: int = 0
) -> Sketch:
    """Return the sketch of the texts of a response, in order, and of its values that nobody sees."""
    blocks = [_blocks[text] for text in texts]
    blocks = [each for each in blocks if each[0]]
    joined = b" ".join([plain for plain, _, _ in blocks])
    words = joined.count(b" ") + 1 if joined else 0
    end = b"\0%d" % partial if partial else b""
    total = sum([total for _, total, _ in blocks])
    if len(blocks) > MAX_BLOCKS:
        blocks[MAX_BLOCKS:] = [_block(b" ".join([plain for plain, _, _ in blocks[MAX_BLOCKS:]]).decode())]
    text = xxh3_128_digest(joined + end, _SEED)
    bag = xxh3_128_digest(pack("<QQ", total & _BITS, words) + b"%d\0" % partial, _SEED)
    hashes = sorted([xxh3_64_intdigest(value.encode("utf-8", "surrogatepass")) for value in values])
    unseen = pack(f"<{len(hashes)}Q", *hashes)
    fingerprint = xxh3_128_digest(unseen + end, _SEED) if values else bytes(16)
    head = _HEAD.pack(_FORMAT, text, bag, fingerprint, partial, _DATA if is_data else words, len(blocks))
    return Sketch.from_bytes(b"".join([head, *[row for _, _, row in blocks], unseen]))


def _block(text: str) -> tuple[bytes, int, bytes]:
    """Return the words of a text, joined by single spaces, the sum of their hashes, and its row."""
    words = text.encode("utf-8", "replace").split()
    plain = b" ".join(words)
    order = xxh32_intdigest(plain) & _ORDER_BITS if len(words) > 1 else 0
    total = sum(map(xxh3_64_intdigest, words)) & _BITS
    return plain, total, _ROW.pack(total, order | min(MANY, len(words)))


_blocks = Remembered(_block, len)
