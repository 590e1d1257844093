"""Page sketches: the visible text of a page, packed into hashes per block.

A *block* is one text node that is not blank. The sketch keeps three numbers of
each, from which the fingerprints of the page follow, with or without a mask:

- the sum of the hashes of its words (64 bits), which does not depend on their
  order and adds up over blocks, so that the bag of words of a page can be had
  however its markup cuts the text into blocks;
- a check of the order of its words (32 bits, 0 for a single word);
- the number of its words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress
from struct import pack
from typing import Protocol

from lxml import etree
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from .html import parse
from .packing import Columns, packed, text_of, totals_of, unpacked

#: Pages of so few words are told apart by their images, too ("Photo 17, next, previous"). With even
#: fewer a page is no evidence anyway, and images that all pages share must not make it one.
FEW_WORDS = range(6, 30)

#: Blocks that a sketch keeps apart; the rest of the page is folded into one more.
MAX_BLOCKS = 4096

_WORD_BITS = (1 << 64) - 1
_ORDER_BITS = (1 << 32) - 1
# Other kinds of content have other seeds: a plain text never has the fingerprint of a page.
_SEED = 1
_SPREAD = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads the order check over 64 bits


class Mask(Protocol):
    """Which blocks of a page do not last."""

    #: Tells one mask from another: fingerprints of different masks never compare.
    version: str

    def hides(self, index: int, block: int) -> bool:
        """Return True if the block with hash *block*, the *index*-th of its page, is to be left out."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is kept of a page's visible text; see the module's description.

    A sketch is its packed form: some eight bytes for each block and twelve for one
    of several words. Equal sketches have equal fingerprints, but not the other way
    round: *text* of a sketch that no mask has touched does not depend on how the
    markup cuts the text into blocks.
    """

    data: bytes
    #: Fingerprint of the words in any order: 32 hexadecimal digits.
    bag: str
    words: int
    #: Version of the mask that was applied, or "".
    mask: str = ""

    @property
    def text(self) -> str:
        """Return the fingerprint of the words in order: 32 hexadecimal digits."""
        return text_of(self.data)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return a hash of 64 bits for each block, in order."""
        return _blocks_of(unpacked(self.data))

    @property
    def weights(self) -> tuple[int, ...]:
        """Return the number of words of each block, in order."""
        return unpacked(self.data).counts

    @property
    def partial(self) -> int:
        """Return the bytes of the whole body where only its beginning was read, else 0."""
        return unpacked(self.data).partial

    def masked(self, mask: Mask) -> "Sketch":
        """Return the sketch without the blocks that *mask* hides.

        Its fingerprints compare only with those of sketches under the same
        mask, also where the mask hides nothing on this page.
        """
        columns = unpacked(self.data)
        kept = [not mask.hides(i, block) for i, block in enumerate(_blocks_of(columns))]
        sums, orders, counts = (tuple(compress(column, kept)) for column in columns[2:])
        values = pack(f"<{len(sums)}Q{len(orders)}I", *sums, *orders)
        salt = f"{columns.partial}\0{mask.version}".encode()
        text = xxh3_128_hexdigest(values + salt, _SEED)
        return _sketch(Columns(text, columns.partial, sums, orders, counts), mask.version)

    def to_bytes(self) -> bytes:
        """Return the stored form (see :mod:`scrapy_dedup.content.packing`)."""
        if self.mask:
            raise ValueError("a masked sketch is not stored: store the one it was made of.")
        return self.data

    @classmethod
    def from_bytes(cls, data: bytes) -> "Sketch":
        """Return the sketch that is stored as *data*. Raises ValueError."""
        partial, sums, counts = totals_of(data)
        return cls(data, _bag(sums, counts, partial, ""), counts)


def _sketch(columns: Columns, mask: str = "") -> Sketch:
    words = sum(columns.counts)
    return Sketch(packed(columns), _bag(sum(columns.sums), words, columns.partial, mask), words, mask)


def _bag(sums: int, words: int, partial: int, mask: str) -> str:
    return xxh3_128_hexdigest(pack("<QQ", sums & _WORD_BITS, words) + f"{partial}\0{mask}".encode(), _SEED)


def _blocks_of(columns: Columns) -> tuple[int, ...]:
    return tuple([s ^ (o * _SPREAD & _WORD_BITS) for s, o in zip(columns.sums, columns.orders, strict=True)])


# Text, sum, order check and number of words of a block; () for a blank one.
_Block = tuple[bytes, int, int, int] | tuple[()]


def _order(text: bytes) -> int:
    return xxh3_64_intdigest(text) & _ORDER_BITS or 1  # 0 is a single word


class _Blocks(dict[str, _Block]):
    """Text nodes -> blocks.

    Most text nodes of a page are its site's template, met on page after page, so
    a look-up replaces the work on them. Long texts are not kept, and when the
    memo is full it starts anew.
    """

    _LIMIT = 16_384
    _LONGEST = 200

    def __missing__(self, text: str) -> _Block:
        block: _Block
        # Only HTML's white space and the no-break space: bytes.split() is fast.
        words = text.replace("\xa0", " ").encode("utf-8", "replace").split()
        if not words:
            block = ()
        elif len(words) == 1:
            block = words[0], xxh3_64_intdigest(words[0]), 0, 1
        else:
            plain = b" ".join(words)
            total = sum(map(xxh3_64_intdigest, words)) & _WORD_BITS
            block = plain, total, _order(plain), len(words)
        if len(text) <= self._LONGEST:
            if len(self) >= self._LIMIT:
                self.clear()
            self[text] = block
        return block


_blocks = _Blocks()
_text_nodes = etree.XPath("//text()", smart_strings=False)
_sources = etree.XPath("//img/@src | //img/@data-src", smart_strings=False)
_ORIGIN_OR_DOTS = re.compile(r"^(?:(?:https?:)?//[^/]*)?(?:\.{0,2}/)*", re.IGNORECASE)
_UNSEEN = ("{*}script", "{*}style", "{*}template", "{*}noscript")
_seen_text_nodes = etree.XPath(
    "//text()[not(ancestor::*[contains(' script style template noscript ', concat(' ', local-name(), ' '))])]",
    smart_strings=False,
)


def sketch_of_html(page: str | bytes | etree._Element, *, partial: int = 0) -> Sketch:
    """Return the sketch of an HTML page.

    *page* is its text, its UTF-8 bytes, or the root of its lxml tree (parsel's
    ``Selector.root``), which is only read. Visible text is every text node
    outside script, style, template and noscript; the title counts, values of
    form fields do not. Where there are few words, the addresses of images are
    added as words, without their query (a version, a cache). Pass the length of the body in bytes as *partial* where
    *page* is only the beginning of it.
    """
    if isinstance(page, str | bytes):
        page = parse(page)
    texts = _visible(page)
    sketch = sketch_of_texts(texts, partial=partial)
    if sketch.words in FEW_WORDS and (images := _images(page)):
        return sketch_of_texts([*texts, *images], partial=partial)
    return sketch


def _images(root: etree._Element) -> list[str]:
    """Return a word for each image: its path, however the page's own address makes it relative."""
    found = []
    for source in _sources(root):
        if not source.startswith("data:"):
            source = _ORIGIN_OR_DOTS.sub("", source.strip().partition("?")[0].partition("#")[0])
        if source:
            found.append("img:" + "%20".join(source.split()))
    return found


def _visible(root: etree._Element) -> list[str]:
    texts: list[str] = _text_nodes(root)
    # Asking XPath for the parents costs five times as much as taking the unseen texts out
    # afterwards. Both come in document order, so that one pass finds them; where an equal visible
    # text stands before an unseen one, it hardly matters which of the two is taken out.
    at = 0
    nested = False
    for element in root.iter(*_UNSEEN):
        if nested and next(element.iterancestors(*_UNSEEN), None) is not None:
            continue  # gone with the element that it is in
        nested = nested or len(element) > 0
        for text in element.itertext():
            try:
                at = texts.index(text, at)
            except ValueError:  # text in pieces, in trees of XML with CDATA sections
                seen: list[str] = _seen_text_nodes(root)
                return seen
            del texts[at]
    return texts


def sketch_of_texts(texts: Iterable[str], *, partial: int = 0) -> Sketch:
    """Return the sketch of a sequence of text nodes."""
    blocks = list(filter(None, map(_blocks.__getitem__, texts)))
    salt = b"\0%d" % partial if partial else b""
    if not blocks:
        return _sketch(Columns(xxh3_128_hexdigest(salt, _SEED), partial, (), (), ()))
    plain, sums, orders, counts = zip(*blocks, strict=True)
    text = xxh3_128_hexdigest(b" ".join(plain) + salt, _SEED)
    if len(sums) > MAX_BLOCKS:
        rest = b" ".join(plain[MAX_BLOCKS:])
        sums = (*sums[:MAX_BLOCKS], sum(sums[MAX_BLOCKS:]) & _WORD_BITS)
        orders = (*orders[:MAX_BLOCKS], _order(rest))
        counts = (*counts[:MAX_BLOCKS], sum(counts[MAX_BLOCKS:]))
    return _sketch(Columns(text, partial, sums, orders, counts))
