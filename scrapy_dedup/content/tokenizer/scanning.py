"""The one pass over a page: the end and the kind of each token.

What it finds stands in columns of numbers and shared values, not in an object for each token: a page may have
millions, and the garbage collector would go through those of them that are there again and again. A long page is read
in portions, so that its millions need not be there at a time.
"""

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from itertools import chain, islice, repeat

from .automaton import OpenElements, TagStep, Trie
from .markup import VISIBLE_RAW, comment_end, is_foreign, raw_end, tag_end
from .token_kinds import COMMENT, RAW_TEXT, TEXT, Row

__all__ = ["CDATA", "Columns", "scan"]

CDATA = "<![CDATA["
_WINDOW = 50_000
"""Characters, about, of which the pieces are there at a time."""
_PORTION = 4096
"""Chunks of a portion, about."""


@dataclass(slots=True)
class Columns:
    """A portion of the tokens of a page, which tile it, or of the shown ones alone: visible texts, tags with content.

    ``html[starts[n]:ends[n]]`` is the one that ``rows[n]`` describes. Tokens that tile a page begin where the one before
    ends, so their ``starts`` are left out; the first one begins at ``start``.
    """

    html: str
    #: Whether they tile it.
    tile: bool
    start: int = 0
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    #: Of the shown tags alone, which start and end at their "<": n, and start and end of the value. No more than
    #: numbers: see above.
    values: list[tuple[int, int, int]] = field(default_factory=list)
    #: Whether one of the texts may be a CDATA section.
    cdata: bool = False

    def add(self, start: int, end: int, row: Row) -> None:
        """Add a token that is no tag with a value."""
        if not self.tile:
            if row[0] != TEXT:
                return
            self.starts.append(start)
        self.ends.append(end)
        self.rows.append(row)

    def add_text(self, start: int, end: int, row: Row) -> None:
        """Add plain text; it continues a text that ends at *start*."""
        goes_on = self.rows and self.rows[-1][0] == TEXT and self.ends[-1] == start
        if goes_on and not self.html.startswith(CDATA, self._last_start()):
            self.ends[-1] = end
        else:
            self.add(start, end, row)

    def _last_start(self) -> int:
        if not self.tile:
            return self.starts[-1]
        return self.ends[-2] if len(self.ends) > 1 else self.start

    def next(self) -> "Columns":
        """Return the portion after this one; a text at the end, which may go on, moves there."""
        following = Columns(self.html, self.tile, self.ends[-1] if self.ends else self.start)
        if self.rows and self.rows[-1][0] == TEXT:
            following.start = self._last_start()
            following.cdata = self.cdata
            following.add(following.start, self.ends.pop(), self.rows.pop())
            if not self.tile:
                self.starts.pop()
        return following


_tries = [Trie()]


def _root() -> OpenElements:
    trie = _tries[0]
    if trie.left <= 0:
        trie = _tries[0] = Trie()
    return trie.root


def scan(html: str, *, tile: bool = True) -> Iterator[Columns]:
    """Yield the tokens of a page, without *tile* only those that are shown. Never raises on any text; time is linear."""
    found = Columns(html, tile)
    place = _root()
    chunks = _chunks(html)
    at = sum(map(len, next(chunks)))  # the offset of the next "<"
    if at:
        found.add(0, at, place.text)
    for number, first in enumerate(chunks):
        if number:  # the portion is full, and the page goes on
            following = found.next()
            yield found
            found = following
        add_start, add_end, add_row = found.starts.append, found.ends.append, found.rows.append
        for tag, closed, text in chain((first,), islice(chunks, _PORTION)):
            step = place[tag] if closed else None
            if step is not None:
                end = at + len(tag) + 2
                if tile:
                    add_end(end)
                    add_row(step.row)
                place = step.place
                if not step.special:  # nearly always
                    if text:
                        at = end + len(text)
                        if not tile:
                            add_start(end)
                        add_end(at)
                        add_row(place.text)
                    else:
                        at = end
                    continue
                start, at = at, end + len(text)
            else:
                row, end, step = _unusual(html, at, place)
                after = at + 1 + len(tag) + len(closed) + len(text)
                if end == at:
                    found.add_text(at, after, place.text)
                    at = after
                    continue
                found.add(at, end, row)
                found.cdata = found.cdata or row[0] == TEXT
                start, at = at, _passed(chunks, after, end)
                if step is not None:
                    place = step.place
            if step is not None and step.special:
                if step.shown is not None and not tile:
                    value, value_end = step.value_in(html, start)
                    found.values.append((len(found.rows), value, value_end))
                    add_start(start)
                    add_end(start)
                    add_row(step.shown)
                if step.raw:
                    after = raw_end(html, end, step.raw)
                    if after > end:
                        found.add(end, after, place.text if step.raw in VISIBLE_RAW else place.row(RAW_TEXT, ""))
                        end = after
                    at = _passed(chunks, at, end)
            if end < at:
                found.add(end, at, place.text)
    yield found


Chunk = tuple[str, str, Sized]
"""What stands after a ``<``: before the first ``>``, that, and the rest up to the next ``<``, of which the length counts."""


def _chunks(html: str) -> Iterator[Chunk]:
    """Return the chunks of a page; the first one is what stands before the first ``<``."""
    return chain.from_iterable(_windows(html))


def _windows(html: str) -> Iterator[Iterable[Chunk]]:
    """Yield the chunks by and by: the pieces of a long page would not fit in the cache. Long texts are not copied."""
    start = 0
    while True:
        cut = html.find("<", start + _WINDOW)
        end = cut if cut >= 0 else len(html)
        if end - start > 2 * _WINDOW:
            last = html.rfind("<", start, start + _WINDOW)
            if last >= 0:
                yield _partitioned(html[start:last])
                start = last + 1
            closed = html.find(">", start, end)
            yield [(html[start:closed], ">", range(closed + 1, end)) if closed >= 0 else ("", "", range(start, end))]
        else:
            yield _partitioned(html[start:end])
        if cut < 0:
            return
        start = cut + 1


def _partitioned(window: str) -> Iterable[Chunk]:
    return map(str.partition, window.split("<"), repeat(">"))


def _passed(chunks: Iterator[Chunk], following: int, end: int) -> int:
    """Skip the chunks before *end*; return the offset of the next ``<``."""
    while following < end:
        tag, closed, text = next(chunks)
        following += 1 + len(tag) + len(closed) + len(text)
    return following


def _unusual(html: str, start: int, place: OpenElements) -> tuple[Row, int, TagStep | None]:
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
        step = place.step(html[start + 1 : end - 1])
        return (place.text if step is None else step.row), end, step
    if first == "/" and letter:
        return place.row(COMMENT, ""), comment_end(html, start), None
    return place.text, start, None
