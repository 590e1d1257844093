"""Tokens: a page's tags and texts in order, each with the place where it stands.

The transient-content document, paragraphs on FIG. 1 ("The web page parser 120 ...") and on linear
time ("Tag tokens can start with ..."), cuts a page into tags and texts and finds the parent of each
by a stack of the open tags. So does this module, in one pass, with HTML's own rules in place of the
document's where they differ: a ``>`` in a quoted value does not end a tag, void elements are never
open, the contents of scripts are no markup, a new ``<li>`` ends the last one.
"""

import re
from dataclasses import dataclass, field, make_dataclass
from typing import Any

from .markup import SPACE, VISIBLE_RAW, comment_end, decoded, decoded_attribute, is_foreign, raw_end, tag_end
from .places import CONTENT_ATTRIBUTES, Kind, Place, Step, Trie

__all__ = ["Block", "Kind", "Token", "blocks", "tokens"]

_CDATA = "<![CDATA["
_LINE_END = re.compile(r"\r\n?|\n")
_SPACES = re.compile(r"[ \t\n\f\r\xa0]{2,}|[\t\n\f\r\xa0]")


@dataclass(frozen=True, slots=True)
class Token:
    """One tag, text, comment or raw contents: ``source[start:end]``; the tokens of a page tile it."""

    kind: Kind
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
    source: str = field(repr=False)

    @property
    def text(self) -> str:
        """Return the visible text: references decoded, white space collapsed; "" for what is no text."""
        if self.kind is not Kind.TEXT:
            return ""
        written = self.source[self.start : self.end]
        # Contents of a title or a textarea may look like a CDATA section.
        if written.startswith(_CDATA) and self.path.rpartition("/")[2] not in VISIBLE_RAW:
            return cdata_text(written)
        return visible_text(written)


# Frozen objects take five times as long to make. A page has thousands: they freeze when it is read.
_Draft: Any = make_dataclass("_Draft", Token.__slots__, slots=True)


@dataclass(frozen=True, slots=True)
class Block:
    """One text node of a page that is not blank, or the value of an attribute that is content."""

    #: Selector of the element that the text stands in, or that has the attribute.
    selector: str
    text: str
    #: Offsets into the source, of the text as it is written there.
    start: int
    end: int
    #: Name of the attribute, "" for text.
    attribute: str = ""


class _Texts(dict[str, str]):
    """Written text -> visible text; most texts of a site are met on page after page."""

    _LIMIT = 2_000_000
    """Characters, and a hundred for each text."""

    def __init__(self) -> None:
        self._left = self._LIMIT

    def __missing__(self, written: str) -> str:
        text = _SPACES.sub(" ", decoded(written)).strip(" ")
        self._left -= 2 * len(written) + 100
        if self._left < 0:
            self.clear()
            self._left = self._LIMIT
        self[written] = text
        return text


_texts = _Texts()
_tries = [Trie()]


def _root() -> Place:
    trie = _tries[0]
    if trie.left <= 0:
        trie = _tries[0] = Trie()
    return trie.root


def visible_text(written: str) -> str:
    """Return the text of a text node as it is shown: references decoded, white space collapsed.

    White space is HTML's and, as in page sketches, the no-break space.
    """
    return _texts[written]


def cdata_text(written: str) -> str:
    """Return the text of a CDATA section as it is shown."""
    text = written[len(_CDATA) :].removesuffix("]]>").replace("\0", "")
    return _SPACES.sub(" ", text).strip(" ")


def blocks(html: str) -> list[Block]:
    """Return the visible texts of a page and the values of its content attributes, in order.

    Texts are cut only where markup stands between them. Never raises on any text.
    """
    found: list[Block] = []
    add = found.append
    texts = _texts
    place = _root()
    after = 0  # the end of the last markup
    chunks = iter(html.split("<"))
    following = len(next(chunks))  # the offset of the next "<"
    for chunk in chunks:
        start = following
        following += len(chunk) + 1
        end = start + chunk.find(">") + 2
        step = place[chunk[: end - start - 2]] if end > start + 1 else None
        if step is None:
            kind, end, step = _unusual(html, start, place)
            if end == start:
                continue
            while following < end:
                following += len(next(chunks)) + 1
        if after < start and (text := texts[html[after:start]]):
            add(Block(place.selector, text, after, start))
        after = end
        if step is None:
            if kind is Kind.TEXT and (text := cdata_text(html[start:end])):
                add(Block(place.selector, text, start, end))
        else:
            place = step.place
            if not step.special:
                continue
            if step.owner is not None:
                first, last = step.value_in(html, start)
                value = decoded_attribute(html[first:last]).strip(SPACE)
                add(Block(step.owner.selector, value, first, last, CONTENT_ATTRIBUTES[step.name]))
            if step.raw:
                after = raw_end(html, end, step.raw)
                if step.raw in VISIBLE_RAW and (text := texts[html[end:after]]):
                    add(Block(place.selector, text, end, after))
                while following < after:
                    following += len(next(chunks)) + 1
    if after < len(html) and (text := texts[html[after:]]):
        add(Block(place.selector, text, after, len(html)))
    return found


def tokens(html: str, *, lines: bool = False) -> list[Token]:
    """Return the tokens of a page, which tile it.

    With *lines*, texts also end at the end of a line, as the document has it ("until the next
    end-of-line or '<' character, whichever comes first"); the line end belongs to the line. Never
    raises on any text.
    """
    found: list[Any] = []
    add = found.append
    opened = [-1]  # depth -> index of the open tag whose contents are at that depth
    place = _root()
    level = 0  # depth of place, which the next step may change before the text in front of it is added
    after = 0

    def add_text(start: int, end: int, kind: Kind = Kind.TEXT) -> None:
        path, selector, parent = place.path, place.selector, opened[level]
        if lines and kind is Kind.TEXT:
            for line_end in _LINE_END.finditer(html, start, end):
                if (stop := line_end.end()) < end:
                    add(_Draft(kind, start, stop, "", parent, level, path, selector, html))
                    start = stop
        add(_Draft(kind, start, end, "", parent, level, path, selector, html))

    chunks = iter(html.split("<"))
    following = len(next(chunks))
    for chunk in chunks:
        start = following
        following += len(chunk) + 1
        end = start + chunk.find(">") + 2
        step = place[chunk[: end - start - 2]] if end > start + 1 else None
        if step is None:
            kind, end, step = _unusual(html, start, place)
            if end == start:
                continue
            while following < end:
                following += len(next(chunks)) + 1
        if after < start:
            add_text(after, start)
        after = end
        if step is None:
            add_text(start, end, kind)
        else:
            depth = step.depth
            stands = step.stands
            if step.kind is Kind.OPEN:
                opened[depth + 1 :] = [len(found)]
            add(_Draft(step.kind, start, end, step.name, opened[depth], depth, stands.path, stands.selector, html))
            place = step.place
            level = place.depth
            if step.raw:
                after = raw_end(html, end, step.raw)
                if after > end:
                    add_text(end, after, Kind.TEXT if step.raw in VISIBLE_RAW else Kind.RAW)
                while following < after:
                    following += len(next(chunks)) + 1
    if after < len(html):
        add_text(after, len(html))
    for token in found:
        token.__class__ = Token
    return found


def _unusual(html: str, start: int, place: Place) -> tuple[Kind, int, Step | None]:
    """Return kind, end and step of what the ``<`` at *start* begins: the end is *start* if it is but text."""
    first = html[start + 1 : start + 2]
    if first == "!" and html.startswith(_CDATA, start) and is_foreign(place.depths):
        end = html.find("]]>", start)
        return Kind.TEXT, len(html) if end < 0 else end + 3, None
    if first in ("!", "?"):
        return Kind.COMMENT, comment_end(html, start), None
    letter = html[start + 2 : start + 3] if first == "/" else first
    if letter.isascii() and letter.isalpha():
        end = tag_end(html, start + 1)
        if end < 0:
            return Kind.COMMENT, len(html), None
        step = place.step(html[start + 1 : end - 1])
        return Kind.TEXT if step is None else step.kind, end, step
    if first == "/" and letter:
        return Kind.COMMENT, comment_end(html, start), None
    return Kind.TEXT, start, None
