"""The one pass over a page: where each token ends, and what it is.

What it finds stands in columns of numbers and shared values, not in an object for each token: a page may have
millions, and the garbage collector would go through those of them that are there again and again.
"""

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from itertools import chain, repeat

from .markup import VISIBLE_RAW, comment_end, is_foreign, raw_end, tag_end
from .places import COMMENT, RAW_TEXT, TEXT, Place, Row, Step, Trie

__all__ = ["CDATA", "Columns", "scan"]

CDATA = "<![CDATA["
_WINDOW = 50_000
"""Characters, about, of which the pieces are there at a time."""


@dataclass(slots=True)
class Columns:
    """The tokens of a page, which tile it: ``html[cuts[n]:cuts[n + 1]]`` is the one that ``rows[n]`` describes."""

    html: str
    cuts: list[int] = field(default_factory=lambda: [0])
    rows: list[Row] = field(default_factory=list)
    #: Numbers of the visible texts and of the tags with a value that is content, in order.
    shown: list[int] = field(default_factory=list)
    #: Number of such a tag -> its step.
    values: dict[int, Step] = field(default_factory=dict)

    def add(self, end: int, row: Row) -> None:
        """Add a token."""
        if row[0] == TEXT:
            self.shown.append(len(self.rows))
        self.cuts.append(end)
        self.rows.append(row)

    def add_text(self, end: int, row: Row) -> None:
        """Add what is but text; text that ends there goes on."""
        if self.rows and self.rows[-1][0] == TEXT and not self.html.startswith(CDATA, self.cuts[-2]):
            self.cuts[-1] = end
        else:
            self.add(end, row)


_tries = [Trie()]


def _root() -> Place:
    trie = _tries[0]
    if trie.left <= 0:
        trie = _tries[0] = Trie()
    return trie.root


def scan(html: str) -> Columns:
    """Return the tokens of a page. Never raises on any text; time is linear."""
    found = Columns(html)
    rows = found.rows
    add_cut, add_row, show = found.cuts.append, rows.append, found.shown.append
    place = _root()
    chunks = _chunks(html)
    at = sum(map(len, next(chunks)))  # the offset of the next "<"
    if at:
        found.add(at, place.text)
    for tag, closed, text in chunks:
        step = place[tag] if closed else None
        if step is not None:
            end = at + len(tag) + 2
            add_cut(end)
            add_row(step.row)
            place = step.place
            if not step.special:  # nearly always
                if text:
                    at = end + len(text)
                    show(len(rows))
                    add_cut(at)
                    add_row(place.text)
                else:
                    at = end
                continue
            at = end + len(text)
        else:
            row, end, step = _unusual(html, at, place)
            following = at + 1 + len(tag) + len(closed) + len(text)
            if end == at:
                at = following
                found.add_text(at, place.text)
                continue
            at = _passed(chunks, following, end)
            found.add(end, row)
            if step is not None:
                place = step.place
        if step is not None and step.special:
            if step.owner is not None:
                found.values[len(rows) - 1] = step
                show(len(rows) - 1)
            if step.raw:
                after = raw_end(html, end, step.raw)
                if after > end:
                    found.add(after, place.text if step.raw in VISIBLE_RAW else place.row(RAW_TEXT, ""))
                    end = after
                at = _passed(chunks, at, end)
        if end < at:
            found.add(at, place.text)
    return found


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
    """Leave the chunks behind that stand before *end*; return the offset of the next ``<``."""
    while following < end:
        tag, closed, text = next(chunks)
        following += 1 + len(tag) + len(closed) + len(text)
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
        step = place.step(html[start + 1 : end - 1])
        return (place.text if step is None else step.row), end, step
    if first == "/" and letter:
        return place.row(COMMENT, ""), comment_end(html, start), None
    return place.text, start, None
