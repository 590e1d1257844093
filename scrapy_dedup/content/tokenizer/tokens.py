"""Tokens: the tags and texts of a page in order, each with its path.

The transient-content document, paragraphs on FIG. 1 ("The web page parser 120 ...") and on linear
time ("Tag tokens can start with ..."), cuts a page into tags and texts and finds the parent of each
by a stack of the open tags. So does this module, in one pass, with HTML's own rules in place of the
document's where they differ: a ``>`` in a quoted value does not end a tag, void elements are never
open, the contents of scripts are no markup, a new ``<li>`` ends the last one.
"""

import re
from array import array
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from functools import cached_property, partial
from itertools import compress
from typing import Any, NamedTuple, overload

from .markup import CONTENT_ATTRIBUTES, SPACE, VISIBLE_RAW, decoded, decoded_attribute
from .memo import Memo
from .scanning import CDATA, Columns, scan
from .token_kinds import OPEN, TEXT, TokenKind

_KINDS = {kind.value: kind for kind in TokenKind}
_LINE_END = re.compile(r"\r\n?|\n")
_SHORT = 1000
# White space to Python, and not to HTML.
_no_space = re.compile("[\x0b\x1c-\x1f\x85\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]").search
_OTHER_SPACES = ("\n", "\t", "\r", "\f", "\xa0")


class Token(NamedTuple):
    """One tag, text, comment or raw contents: ``source[start:end]``; the tokens of a page tile it."""

    kind: TokenKind
    start: int
    end: int
    #: Name of the tag in lower case, "" for all else.
    name: str
    #: Index of the open tag in which it stands, -1 at the top. That of an end tag is the tag it closes.
    parent: int
    #: Number of open tags in which it stands.
    depth: int
    #: Their names, ``html/body/div``; only the first 256, or as many as fit in 4,000 characters of the selector.
    path: str
    #: The same with ids and classes, ``html/body/div#main.box``, as selectors.step_of() makes them.
    selector: str
    source: str

    def __repr__(self) -> str:
        """Return all but the whole source."""
        return f"<Token {self.kind.value} {self.source[self.start : self.end]!r} in {self.selector!r}>"

    @property
    def text(self) -> str:
        """Return the visible text, references decoded and white space collapsed; "" for other tokens."""
        return _shown(self.source[self.start : self.end], self.path) if self.kind is TokenKind.TEXT else ""


class Block(NamedTuple):
    """One text node of a page that is not blank, or the value of an attribute that is content."""

    #: Selector of the element that the text stands in, or that has the attribute.
    selector: str
    text: str
    #: Offsets into the source, of the text as it is written there.
    start: int
    end: int
    #: Name of the attribute, "" for text.
    attribute: str = ""


_BlockColumns = tuple[list[str], list[str], MutableSequence[int], MutableSequence[int], list[str]]


class Blocks(Sequence[Block]):
    """The blocks of a page, each made when it is asked for."""

    __slots__ = ("_columns",)

    def __init__(self) -> None:
        self._columns: _BlockColumns = [], [], [], [], []

    def add(
        self, selectors: list[str], texts: list[str], starts: list[int], ends: list[int], attributes: list[str]
    ) -> None:
        """Add the blocks of a portion."""
        before = self._columns
        if not before[0]:
            self._columns = selectors, texts, starts, ends, attributes
            return
        before[0].extend(selectors)
        before[1].extend(texts)
        before[4].extend(attributes)
        # The numbers of a long page stand in arrays, where they take a fifth of the room.
        firsts, lasts = (column if isinstance(column, array) else array("q", column) for column in before[2:4])
        firsts.extend(starts)
        lasts.extend(ends)
        self._columns = before[0], before[1], firsts, lasts, before[4]

    def columns(self) -> tuple[list[str], list[str], list[str]]:
        """Return the selectors, the attributes and the texts."""
        selectors, texts, _, _, attributes = self._columns
        return selectors, attributes, texts

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Return selector, attribute and text of each."""
        return zip(*self.columns(), strict=True)

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        selectors, texts, starts, ends, attributes = self._columns
        return Block(selectors[index], texts[index], starts[index], ends[index], attributes[index])

    def __iter__(self) -> Iterator[Block]:
        return map(_new_block, zip(*self._columns, strict=True))


# As Block() does it, in half the time.
_new_block: Callable[[tuple[Any, ...]], Block] = partial(tuple.__new__, Block)


class Tokens(Sequence[Token]):
    """The tokens of a page, each made when it is asked for; going through them once needs no room for all."""

    def __init__(self, html: str, *, lines: bool) -> None:
        self._html = html
        self._lines = lines

    def __len__(self) -> int:
        return len(self._whole.rows)

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> list[Token]: ...
    def __getitem__(self, index: int | slice) -> Token | list[Token]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number = range(len(self))[index]
        columns = self._whole
        kind, name, path, selector, depth = columns.rows[number]
        start, end = columns.ends[number - 1] if number else 0, columns.ends[number]
        return Token(TokenKind(kind), start, end, name, self._parents[number], depth, path, selector, columns.html)

    def __iter__(self) -> Iterator[Token]:
        html, new, kinds = self._html, tuple.__new__, _KINDS
        opened = {0: -1}  # depth -> number of the open tag whose contents are at that depth
        start = first = 0
        for columns in self._portions():
            for number, (end, (kind, name, path, selector, depth)) in enumerate(
                zip(columns.ends, columns.rows, strict=True), first
            ):
                # As Token() does it, in half the time.
                yield new(Token, (kinds[kind], start, end, name, opened[depth], depth, path, selector, html))
                start = end
                if kind == OPEN:
                    opened[depth + 1] = number
            first += len(columns.rows)

    def _portions(self) -> Iterator[Columns]:
        if "_whole" in self.__dict__:
            return iter((self._whole,))
        found = scan(self._html)
        return map(_cut_at_lines, found) if self._lines else found

    @cached_property
    def _whole(self) -> Columns:
        """All portions as one."""
        found = Columns(self._html, tile=True)
        for columns in self._portions():
            found.ends += columns.ends
            found.rows += columns.rows
        return found

    @cached_property
    def _parents(self) -> list[int]:
        """For each token the number of the open tag in which it stands."""
        return [token.parent for token in self]


def _read(written: str) -> str:
    if "&" in written or "\0" in written:
        written = decoded(written)
    if len(written) < _SHORT:
        found = " ".join(written.split())
        if found == written or not _no_space(written):
            return found
    return _collapsed(written)


def _collapsed(text: str) -> str:
    """Return *text* with single spaces for its white space, and none around it."""
    for space in _OTHER_SPACES:
        if space in text:
            text = text.replace(space, " ")
    return " ".join([word for word in text.split(" ") if word]) if "  " in text else text.strip(" ")


# Text as it is written -> as it is shown: references decoded, white space collapsed. White space is HTML's and, as in
# page sketches, the no-break space. Most texts of a site are met on page after page.
_texts = Memo(_read, each=100, times=2)


def cdata_text(written: str) -> str:
    """Return the text of a CDATA section as it is shown."""
    return _collapsed(written[len(CDATA) :].removesuffix("]]>").replace("\0", ""))


def _shown(written: str, path: str) -> str:
    # Contents of a title or a textarea may look like a CDATA section.
    if written.startswith(CDATA) and path.rpartition("/")[2] not in VISIBLE_RAW:
        return cdata_text(written)
    return _texts[written]


def blocks(html: str) -> Blocks:
    """Return the visible texts of a page and the values of its content attributes, in order.

    Texts are cut only where markup stands between them. Never raises on any text.
    """
    found = Blocks()
    for columns in scan(html, tile=False):
        found.add(*_columns_of(columns))
    return found


def _columns_of(columns: Columns) -> tuple[list[str], list[str], list[int], list[int], list[str]]:
    """Return selectors, texts, starts, ends and attributes of the blocks of a portion."""
    html, starts, ends, rows, texts = columns.html, columns.starts, columns.ends, columns.rows, _texts
    if columns.cdata:
        shown = [_shown(html[start:end], row[2]) for start, end, row in zip(starts, ends, rows, strict=True)]
    else:
        shown = [texts[html[start:end]] for start, end in zip(starts, ends, strict=True)]
    selectors = [row[3] for row in rows]
    attributes = [""] * len(rows)
    kept = shown.copy()
    for number, start, end in columns.values:
        starts[number], ends[number] = start, end
        kept[number] = attributes[number] = CONTENT_ATTRIBUTES[rows[number][1]]
        value = html[start:end]
        if "&" in value or "\0" in value:
            value = decoded_attribute(value)
        shown[number] = value.strip(SPACE)
    if "" in kept:
        selectors, shown, attributes = (list(compress(column, kept)) for column in (selectors, shown, attributes))
        starts, ends = (list(compress(column, kept)) for column in (starts, ends))
    return selectors, shown, starts, ends, attributes


def tokens(html: str, *, lines: bool = False) -> Tokens:
    """Return the tokens of a page, which tile it.

    With *lines*, texts also end at the end of a line, as the document has it ("until the next
    end-of-line or '<' character, whichever comes first"); the line end belongs to the line. Never
    raises on any text.
    """
    return Tokens(html, lines=lines)


def _cut_at_lines(columns: Columns) -> Columns:
    html = columns.html
    found = Columns(html, tile=True, start=columns.start)
    start = columns.start
    for end, row in zip(columns.ends, columns.rows, strict=True):
        if row[0] == TEXT:
            for line_end in _LINE_END.finditer(html, start, end):
                if (stop := line_end.end()) < end:
                    found.add(start, stop, row)
                    start = stop
        found.add(start, end, row)
        start = end
    return found
