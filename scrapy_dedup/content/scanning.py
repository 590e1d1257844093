"""The one pass over a page: where each token ends, and what it is.

What it finds stands in columns of numbers and shared values, not in an object for each token: a page may have
millions, and the garbage collector would go through those of them that are there again and again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from .markup import VISIBLE_RAW, comment_end, is_foreign, raw_end, tag_end
from .places import COMMENT, RAW_TEXT, TEXT, Place, Row, Step, Trie

__all__ = ["CDATA", "Columns", "scan"]

CDATA = "<![CDATA["
_WINDOW = 50_000
"""Characters, about, of which the pieces are there at a time."""


@dataclass(slots=True)
class Columns:
    """The tokens of a page, which tile it: an entry for each in the first three."""

    html: str
    ends: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    #: Number of open elements in which each stands.
    depths: list[int] = field(default_factory=list)
    #: Numbers of the visible texts and of the tags with a value that is content, in order.
    shown: list[int] = field(default_factory=list)
    #: Number of such a tag -> its step.
    values: dict[int, Step] = field(default_factory=dict)

    def start(self, number: int) -> int:
        """Return where a token starts."""
        return self.ends[number - 1] if number else 0


_tries = [Trie()]


def _root() -> Place:
    trie = _tries[0]
    if trie.left <= 0:
        trie = _tries[0] = Trie()
    return trie.root


def scan(html: str) -> Columns:
    """Return the tokens of a page. Never raises on any text; time is linear."""
    found = Columns(html)
    add_end, add_row, add_depth, show = found.ends.append, found.rows.append, found.depths.append, found.shown.append
    place = _root()
    depth = 0
    number = 0  # of the next token
    after = 0  # the end of the last markup
    chunks = chain.from_iterable(_split(html))
    following = len(next(chunks))  # the offset of the next "<"
    for chunk in chunks:
        start = following
        following += len(chunk) + 1
        tag, closed, _ = chunk.partition(">")
        step = place[tag] if closed else None
        if step is not None:
            end = start + len(tag) + 2
        else:
            row, end, step = _unusual(html, start, place)
            if end == start:
                continue
            following = _passed(chunks, following, end)
        if after < start:
            add_end(start)
            add_row(place.text)
            add_depth(depth)
            show(number)
            number += 1
        after = end
        add_end(end)
        if step is None:
            add_row(row)
            add_depth(depth)
            if row[0] == TEXT:
                show(number)
            number += 1
            continue
        add_row(step.row)
        add_depth(step.depth)
        place = step.place
        depth = place.depth
        if step.special:
            if step.owner is not None:
                found.values[number] = step
                show(number)
            if step.raw:
                after = raw_end(html, end, step.raw)
                if after > end:
                    number += 1
                    add_end(after)
                    add_depth(depth)
                    if step.raw in VISIBLE_RAW:
                        add_row(place.text)
                        show(number)
                    else:
                        add_row(place.row(RAW_TEXT, ""))
                following = _passed(chunks, following, after)
        number += 1
    if after < len(html):
        add_end(len(html))
        add_row(place.text)
        add_depth(depth)
        show(number)
    return found


def _split(html: str) -> Iterator[list[str]]:
    """Yield what stands between the ``<`` of a page, by and by: the pieces of a long one would not fit in the cache."""
    start = 0
    while (cut := html.find("<", start + _WINDOW)) >= 0:
        yield html[start:cut].split("<")
        start = cut + 1
    yield html[start:].split("<")


def _passed(chunks: Iterator[str], following: int, end: int) -> int:
    """Leave the chunks behind that stand before *end*; return the offset of the next ``<``."""
    while following < end:
        following += len(next(chunks)) + 1
    return following


def _unusual(html: str, start: int, place: Place) -> tuple[Row, int, Step | None]:
    """Return what the ``<`` at *start* begins, its end, and its step if it is a tag.

    The end is *start* if it is but text.
    """
    first = html[start + 1 : start + 2]
    if first == "!" and html.startswith(CDATA, start) and is_foreign(place.depths):
        end = html.find("]]>", start)
        return place.text, len(html) if end < 0 else end + 3, None
    if first in ("!", "?"):
        return place.row(COMMENT, ""), comment_end(html, start), None
    letter = html[start + 2 : start + 3] if first == "/" else first
    if letter.isascii() and letter.isalpha():
        end = tag_end(html, start + 1)
        if end < 0:
            return place.row(COMMENT, ""), len(html), None
        return place.text, end, place.step(html[start + 1 : end - 1])
    if first == "/" and letter:
        return place.row(COMMENT, ""), comment_end(html, start), None
    return place.text, start, None
