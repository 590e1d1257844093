"""Tokens: the tags and texts of a page in order, each with where it stands in the source and in the tree.

The transient-content document, paragraphs on FIG. 1 ("The web page parser 120 ...") and on linear time ("Tag tokens can start
with ..."), cuts a page into tags and texts and finds the parent of each by a stack of the open tags. So does this module, in
one pass. Where a tag ends and what it closes follows lxml (libxml2), which reads the page for the spider: a ``>`` in a quoted
value does not end a tag, void elements are never open, the contents of scripts are no markup, a new ``<li>`` ends the last
one. Every pattern looks at each character a bounded number of times; nothing here raises, whatever the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .blocks import HIDING
from .selectors import inside
from .tags import ATTRIBUTE, SPACE, Tag, TokenKind, decoded, tag_of
from .unseen import MOST, MOST_OF_SCRIPT, Value, comment_values, is_unseen, script_values

__all__ = ["Block", "Token", "TokenKind", "blocks_with_offsets", "decoded", "tokens"]

_RAW: Final = "iframe noembed noframes plaintext script style textarea title xmp".split()
"""Elements whose contents are not markup."""
_HEADINGS: Final = "h1 h2 h3 h4 h5 h6"
_TEXTS: Final = f"address dir listing menu p pre {_HEADINGS}"
# Start tag -> the elements that it closes while they are the innermost ones (libxml2's htmlStartClose).
_CLOSES: Final = {
    **dict.fromkeys("blockquote center div dir frameset h1 h2 h3 h4 h5 h6 hr listing ol title xmp".split(), "p"),
    "a": "a",
    "address": "p ul",
    "caption": "p",
    "center": "b font i p",
    "col": "caption p",
    "colgroup": "caption colgroup p",
    "dd": "address dir dt listing menu p pre",
    "dl": "address dir dt listing menu p pre",
    "dt": "address dd dir listing menu p pre",
    "fieldset": f"a legend listing p pre {_HEADINGS}",
    "form": f"dl form ol ul {_TEXTS}",
    "li": f"address dl li listing p pre {_HEADINGS}",
    "menu": "p ul",
    "optgroup": "option",
    "option": "option",
    "p": f"b big i p s small strike tt u {_HEADINGS}",
    "pre": "p ul",
    "table": f"a listing p pre {_HEADINGS}",
    "tbody": "caption colgroup p tbody td tfoot th thead tr",
    "td": "a b font i p span td th u",
    "tfoot": "caption colgroup p tbody td th thead tr",
    "th": "a b font i p span td th u",
    "thead": "caption colgroup",
    "tr": "caption colgroup p td th tr",
    "ul": "address dir listing menu p pre",
}
_CLOSES_HEAD: Final = frozenset(
    f"a abbr acronym b bdo big blockquote body br center cite code dd dfn dir div dl dt em fieldset font form frameset hr i "
    f"iframe img kbd li listing map menu ol p pre q s samp small span strike strong sub sup table tt u ul var xmp {_TEXTS}".split()
) | {""}
# An end tag closes what is open inside its element, unless that is stronger (libxml2's htmlEndPriority).
_STRENGTH: Final = {
    "div": 150,
    "td": 160,
    "th": 160,
    "tr": 170,
    "tbody": 180,
    "tfoot": 180,
    "thead": 180,
    "table": 190,
    "head": 200,
    "body": 200,
    "html": 220,
}
_STRONGER: Final = {
    name: [each for each, strength in _STRENGTH.items() if strength > own]
    for name, own in {"": 100, **_STRENGTH}.items()
}
_IN_HEAD: Final = frozenset(("script", "style", "meta", "link", "title", "base"))
_FRAMES: Final = frozenset(("noframes", "frame", "frameset"))
_NO_TEXT: Final = frozenset(("", "html", "head"))
_ONCE: Final = frozenset(("html", "head", "body"))

_markup = re.compile(
    rf"""<(?:
        (?P<tag>/?[a-zA-Z][^{SPACE}/>]*)(?:{ATTRIBUTE})*[{SPACE}/]*(?P<whole>>)?
        |!--(?:-?>|.*?(?:--!?>|\Z))
        |(?:[!?]|/(?=.))[^>]*(?:>|\Z)
    )""",
    re.DOTALL | re.VERBOSE,
).search
_raw_ends = {name: re.compile(rf"</{name}(?=[{SPACE}/>])", re.ASCII | re.IGNORECASE).search for name in _RAW}
_line = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+").finditer


class Token(NamedTuple):
    """One tag, text, comment or raw contents: ``source[start:end]``; the tokens of a page tile it."""

    kind: TokenKind
    start: int
    end: int
    #: Name of the tag in lower case, "" for all else.
    name: str
    #: Number of the open tag in which it stands, -1 at the top. That of an end tag is the tag it closes.
    parent: int
    #: Number of open tags in which it stands.
    depth: int
    #: Names of the elements in which it stands, ``html/body/div``, also of those that each page has though nothing opens them;
    #: as many as fit in 4,000 characters.
    path: str
    #: The same with ids and classes, ``html/body/div#main.box``.
    selector: str
    source: str
    #: What a tag says by itself.
    tag: Tag

    def __repr__(self) -> str:
        """Return all but the whole source."""
        return f"<Token {self.kind.value} {self.source[self.start : self.end]!r} in {self.selector!r}>"

    @property
    def text(self) -> str:
        """Return the visible text, references decoded and white space collapsed; "" for other tokens."""
        return " ".join(decoded(self.source[self.start : self.end]).split()) if self.kind is TokenKind.TEXT else ""


class Block(NamedTuple):
    """A row of a page, and where its text is written in the source."""

    selector: str
    attribute: str
    text: str
    start: int
    end: int


def tokens(html: str, *, lines: bool = False) -> Iterator[Token]:
    """Yield the tokens of a page, or of a part of one, which tile it.

    With *lines*, texts also end at the end of a line, as the document has it ("until the next end-of-line or '<' character,
    whichever comes first"); the line end belongs to the line.
    """
    return _Reader(html).tokens(lines=lines)


def blocks_with_offsets(html: str) -> Iterator[Block]:
    """Yield the rows of a page in order, seen and unseen, as :func:`.blocks.rows_of` has them, with their offsets."""
    unseen = 0
    for token in tokens(html):
        values = _values_of(token)
        selector = inside(token.selector, token.tag.step) if values else ""
        for name, text, start, end in values:
            unseen += is_unseen(name)
            if unseen <= MOST or not is_unseen(name):
                yield Block(selector, name, text, token.start + start, token.start + end)


def _values_of(token: Token) -> Sequence[Value]:
    """Return the values that a token has."""
    kind, start, end = token[:3]
    if kind is TokenKind.TEXT:
        return [("", token.text, 0, end - start)] if token.text else ()
    if kind is TokenKind.RAW and not token.path.endswith("style"):
        return script_values(token.source[start : min(end, start + MOST_OF_SCRIPT)])
    if kind is TokenKind.COMMENT and token.depth:
        return comment_values(token.source[start:end])
    return token.tag.values


class _Open(NamedTuple):
    """An element that is open."""

    name: str
    selector: str
    path: str
    #: Of the token that opens it; where nothing does, of that around it.
    number: int
    #: Number of open tags, this one included.
    depth: int


_TEXT: Final = Tag(TokenKind.TEXT)
_COMMENT: Final = Tag(TokenKind.COMMENT)


class _Reader:
    """Reads a page: its state is the elements that are open."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._open = [_Open("", "", "", -1, 0)]
        #: Of each name the depths of the elements that are open.
        self._depths = defaultdict[str, list[int]](list)
        self._met = set[str]()

    def tokens(self, *, lines: bool = False) -> Iterator[Token]:
        """Yield the tokens."""
        html = self._html
        number = 0
        for start, end, tag in _pieces(html):
            kind, name = tag[:2]
            spans, closed = [(start, end)], 0
            if kind is TokenKind.TEXT:
                if self._open[-1].name in _NO_TEXT and not html[start:end].isspace():
                    self._make_room("")
                if not self._depths.keys().isdisjoint(HIDING):
                    kind = TokenKind.RAW
                elif lines:
                    spans = [match.span() for match in _line(html, start, end)]
            elif kind is TokenKind.CLOSE:
                closed = self._closed_by(name)
                self._leave(closed or len(self._open))
            elif name in self._depths and name in _ONCE:
                kind, tag = TokenKind.EMPTY, _COMMENT
            elif kind is not TokenKind.COMMENT:
                self._make_room(name)
            top = self._open[-1]
            for first, last in spans:
                yield Token(kind, first, last, name, top.number, top.depth, top.path, top.selector, html, tag)
            number += len(spans)
            if kind is TokenKind.OPEN:
                self._enter(name, tag.step, number - 1)
            elif closed:
                self._leave(closed - 1)

    def _enter(self, name: str, step: str, number: int | None = None) -> None:
        """Open an element, by the token of this number, or by nothing."""
        outer = self._open[-1]
        tag = (outer.number, outer.depth) if number is None else (number, outer.depth + 1)
        self._depths[name].append(len(self._open))
        self._met.add(name)
        self._open.append(_Open(name, inside(outer.selector, step), inside(outer.path, name), *tag))

    def _leave(self, depth: int) -> None:
        """Close elements until so many are open."""
        while len(self._open) > depth + 1:
            name = self._open.pop().name
            depths = self._depths[name]
            depths.pop()
            if not depths:
                del self._depths[name]

    def _closed_by(self, name: str) -> int:
        """Return the depth of the element that an end tag closes, 0 if there is none."""
        if name not in self._depths:
            return 0
        stronger = [self._depths[each][-1] for each in _STRONGER.get(name, _STRONGER[""]) if each in self._depths]
        depth = self._depths[name][-1]
        return depth if depth > max(stronger, default=0) else 0

    def _make_room(self, name: str) -> None:
        """Close and open what the start tag *name*, or a text (""), closes and opens by being there."""
        closes = _CLOSES.get(name, "").split()
        while (top := self._open[-1].name) in closes or (top == "head" and name in _CLOSES_HEAD):
            self._leave(len(self._open) - 2)
        if name == "html":
            return
        if len(self._open) == 1:
            self._enter("html", "html")
        is_first = len(self._open) == 2
        if is_first and name in _IN_HEAD and self._met.isdisjoint(("head", "body")):
            self._enter("head", "head")
        elif name not in _ONCE | _FRAMES and "head" not in self._depths and "body" not in self._met:
            self._enter("body", "body")


def _pieces(html: str) -> Iterator[tuple[int, int, Tag]]:
    """Yield what a page is made of, whatever is open there: texts, tags and comments."""
    at, size = 0, len(html)
    while at < size:
        match = _markup(html, at)
        start, end = match.span() if match else (size, size)
        if at < start:
            yield at, start, _TEXT
        tag = tag_of[match[0]] if match and match["whole"] else _COMMENT
        if start < end:
            yield start, end, tag
        at = end
        if tag.name in _raw_ends and tag.kind is TokenKind.OPEN:
            found = _raw_ends[tag.name](html, at)
            at = found.start() if found else size
            if end < at:
                yield end, at, _TEXT
