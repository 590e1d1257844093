"""Page sketches: the visible text of a page, packed into hashes per block.

A *block* is one text node that is not blank. The sketch keeps three numbers of
each, from which the fingerprints of the page follow:

- the sum of the hashes of its words (64 bits), which does not depend on their
  order and adds up over blocks, so that the bag of words of a page can be had
  however its markup cuts the text into blocks;
- a check of the order of its words (20 bits, 0 for a single word);
- the number of its words (12 bits, the largest number for more).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from struct import pack

from lxml import etree
from xxhash import xxh3_64_intdigest, xxh3_128_digest, xxh3_128_hexdigest, xxh32_intdigest

from .html import parse
from .packing import HEADER, MANY, ROW, Header, header_of, pack_row, packed, rows_of, text_of, total_of

#: Pages of so few words are told apart by their images, too ("Photo 17, next, previous"). With even
#: fewer a page is no evidence anyway, and images that all pages share must not make it one.
FEW_WORDS = range(6, 30)

#: Blocks that a sketch keeps apart; the rest of the page is folded into one more.
MAX_BLOCKS = 4096

_WORD_BITS = (1 << 64) - 1
_ORDER_BITS = (1 << 32) - 1 - MANY  # the upper 20
# Other kinds of content have other seeds: a plain text never has the fingerprint of a page.
_SEED = 1
_SPREAD = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads the order check over 64 bits


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is kept of a page's visible text; see the module's description.

    A sketch is its packed form: twelve bytes for each block. Equal sketches have equal
    fingerprints, but not the other way round: *text* does not depend on how the markup cuts the
    text into blocks.
    """

    data: bytes
    #: Fingerprint of the words in any order: 32 hexadecimal digits.
    bag: str
    words: int

    @property
    def text(self) -> str:
        """Return the fingerprint of the words in order: 32 hexadecimal digits."""
        return text_of(self.data).hex()

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return a hash of 64 bits for each block, in order."""
        return tuple([total ^ ((rest >> 12) * _SPREAD & _WORD_BITS) for total, rest in rows_of(self.data)])

    @property
    def weights(self) -> tuple[int, ...]:
        """Return the number of words of each block, in order; 4095 stands for more."""
        return tuple([rest & MANY for _, rest in rows_of(self.data)])

    @property
    def partial(self) -> int:
        """Return the bytes of the whole body where only its beginning was read, else 0."""
        return header_of(self.data).partial

    def to_bytes(self) -> bytes:
        """Return the stored form (see :mod:`scrapy_dedup.content.packing`)."""
        return self.data

    @classmethod
    def from_bytes(cls, data: bytes) -> "Sketch":
        """Return the sketch that is stored as *data*. Raises ValueError."""
        header = header_of(data)
        return cls(data, _bag(total_of(data[HEADER:]), header.words, header.partial), header.words)


def _bag(total: int, words: int, partial: int) -> str:
    return xxh3_128_hexdigest(pack("<QQ", total & _WORD_BITS, words) + b"%d\0" % partial, _SEED)


class _Rows(dict[str, bytes]):
    """Text node -> the packed row of its block, b"" for a blank one."""

    def __missing__(self, text: str) -> bytes:
        # The memo began anew after somebody had looked up the words.
        fresh = _WordHashes()
        return fresh.rows[text] if fresh[text] else b""


class _WordHashes(dict[str, bytes]):
    """Text node -> its words, joined by single spaces, b"" for a blank one; fills ``rows`` too.

    Most text nodes of a page are its site's template, met on page after page, so that a look-up
    replaces the work on them. Bytes, not tuples: the garbage collector need not look at them. When
    the memo is full it starts anew.
    """

    _LIMIT = 2_000_000
    """Characters, and a hundred for each text."""

    def __init__(self) -> None:
        self.rows = _Rows()
        self._size = 0

    def __missing__(self, text: str) -> bytes:
        # Only HTML's white space and the no-break space: bytes.split() is fast.
        words = text.replace("\xa0", " ").encode("utf-8", "replace").split()
        if len(words) > 1:
            plain = b" ".join(words)
            row = _row(words, plain)
        elif words:
            plain = words[0]
            row = pack_row(xxh3_64_intdigest(plain), 1)
        else:
            plain = row = b""
        self._size += len(text) + 100
        if self._size > self._LIMIT:
            self.clear()
            self.rows.clear()
            self._size = 0
        self.rows[text] = row
        self[text] = plain
        return plain


def _row(words: list[bytes], plain: bytes) -> bytes:
    """Return the packed row of several words; *plain* are the same words, joined."""
    count = min(MANY, len(words))
    return pack_row(sum(map(xxh3_64_intdigest, words)) & _WORD_BITS, xxh32_intdigest(plain) & _ORDER_BITS | count)


_memo = _WordHashes()
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
    texts = visible_texts(page)
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


def visible_texts(root: etree._Element) -> list[str]:
    """Return the text nodes of a page that are visible, in order."""
    texts: list[str] = _text_nodes(root)
    # Asking XPath for the parents costs five times as much as taking the unseen texts out
    # afterwards. Both come in document order, so that one pass finds them; where an equal visible
    # text stands before an unseen one, it hardly matters which of the two is taken out.
    at = 0
    nested = False
    trees = (root, *root.itersiblings())  # what stands after </html> is beside it
    for element in chain.from_iterable(tree.iter(*_UNSEEN) for tree in trees):
        if nested and next(element.iterancestors(*_UNSEEN), None) is not None:
            continue  # gone with the element that it is in
        # Nearly always the text is all that it holds.
        inner = element.itertext() if len(element) else (element.text,)
        nested = nested or len(element) > 0
        for text in filter(None, inner):
            try:
                at = texts.index(text, at)
            except ValueError:  # text in pieces, in trees of XML with CDATA sections
                seen: list[str] = _seen_text_nodes(root)
                return seen
            del texts[at]
    return texts


def sketch_of_texts(texts: Iterable[str], *, partial: int = 0) -> Sketch:
    """Return the sketch of a sequence of text nodes."""
    texts = list(texts)
    plain = list(filter(None, map(_memo.__getitem__, texts)))
    rows = b"".join(map(_memo.rows.__getitem__, texts))
    joined = b" ".join(plain)
    words = joined.count(b" ") + 1 if joined else 0
    if len(plain) > MAX_BLOCKS:
        rest = b" ".join(plain[MAX_BLOCKS:])
        rows = rows[: MAX_BLOCKS * ROW] + _row(rest.split(), rest)
    text = xxh3_128_digest(joined + b"\0%d" % partial if partial else joined, _SEED)
    data = packed(Header(text, partial, words), rows)
    return Sketch(data, _bag(total_of(rows), words, partial), words)
