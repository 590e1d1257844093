"""Fields of items: what is hidden of their page, found in them again.

Whoever takes text out of a page joins, strips and squeezes it in a way of his own, but hardly anybody changes its other
characters. So page and field are compared as streams of characters without white space. A field is mostly one stretch of its
page; else it is some, one after the other, since elements between them were left out: such a stretch is found by characters that
stand once in the field and once in the page, and goes on to both sides as far as both agree. Of HTML the values of attributes,
scripts and comments are told by the element, the name and the value.
"""

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from ..pages.tokens import Block, TokenKind, blocks_with_offsets, decoded, tokens
from .apply import Plan
from .cutting import Cut, Stream, cut_out, cuts_of
from .slots import Ranges, merged, overlapping

__all__ = ["FieldCuts", "TransientPage"]

#: Characters that tell a place. A shorter field begins and ends where texts of the page do.
_TELLING: Final = 12
#: Hidden texts that are looked for one by one.
_MANY: Final = 500
#: Characters that agree on both sides of what goes inside of a field: one may by chance.
_SURE: Final = 4


class FieldCuts(NamedTuple):
    """What of a field is transient: for each of its strings, sorted and disjoint; and whether something could not be told."""

    cuts: list[list[Cut]]
    ambiguous: bool


_Stretch = tuple[int, int, int]
"""Where a stretch begins in the field, and in the page, and how many characters it has that are equal in both."""


class TransientPage:
    """A page that items come from, with what a plan hides of it; of what is *shown* alone, if so asked: no mark can stand elsewhere."""

    def __init__(self, plan: Plan, html: str, url: str | None, *, shown: bool = False) -> None:
        self.html = html
        self._blocks, self._hidden = plan.on_page(html, url, shown=shown)
        #: What goes of the page, sorted and disjoint.
        self.cuts = cuts_of(html, [(self._blocks[at], ranges) for at, ranges in self._hidden.items()])
        self._streams: dict[bool, tuple[Stream, list[Cut], list[str]]] = {}

    def links(self) -> list[tuple[str, bool]]:
        """Return where each link of the page leads, and whether the whole of that is hidden."""
        links = [(index, block.text) for index, block in enumerate(self._blocks) if block.attribute == "href"]
        return [(address, self._hidden.get(index) == ()) for index, address in links]

    def find(self, strings: list[str], kind: str) -> FieldCuts:
        """Return what of a field, one string or several, is transient; *kind* is "html" or "text"."""
        is_html = kind == "html"
        source, borders = "".join(strings), [0, *accumulate(map(len, strings))]
        blocks = [
            block._replace(start=at + block.start, end=at + block.end)
            for at, string in zip(borders, strings, strict=False)
            for block in (blocks_with_offsets(string) if is_html else [Block("", "", string, 0, len(string))])
        ]
        texts = [(block.start, block.end) for block in blocks if not block.attribute]
        field = Stream(source, texts, decoded if is_html else str)
        best = self._aligned(field, is_all=False)
        if best[2] and not is_html:
            # What it has more of than of the other is what it comes from.
            best = min(best, self._aligned(field, is_all=True), key=lambda way: len(way[2]))
        hidden, is_doubtful = self._values_in(blocks)
        cuts = merged(best[0] + cuts_of(source, hidden))
        inside = [
            [(max(start, low) - low, min(end, high) - low) for start, end in overlapping(cuts, low, high) if low < high]
            for low, high in pairwise(borders)
        ]
        return FieldCuts(inside, best[1] or is_doubtful)

    def _aligned(self, field: Stream, *, is_all: bool) -> tuple[list[Cut], bool, str]:
        """Return the cuts in a field that comes from a stream of the page, whether any is in doubt, and what is not found there."""
        page, hidden, texts = self._stream(is_all=is_all)
        if not any(text[:8] in field.text or text[-8:] in field.text for text in texts):
            return [], False, field.text
        stretches = _stretches(field, page)
        rest = cut_out(field.text, [(at, at + length) for at, _, length in stretches], "\n").strip("\n")
        cuts = [cut for each in _hidden_in(field, stretches, hidden) for cut in field.written(*each)]
        return cuts, any(len(text) > 1 and text in rest for text in texts), rest

    def _stream(self, *, is_all: bool) -> tuple[Stream, list[Cut], list[str]]:
        """Return the stream of what the page shows, or of *all* its texts, what of it is hidden, and what that says, each once."""
        if is_all not in self._streams:
            texts = [(block.start, block.end) for block in self._blocks if not block.attribute]
            if is_all:
                texts += [(token.start, token.end) for token in tokens(self.html) if token.kind is TokenKind.RAW]
            stream = Stream(self.html, sorted(texts), decoded)
            cuts = [tuple([bisect_left(stream.starts, at) for at in cut]) for cut in self.cuts]
            ranges = [(start, end) for start, end in cuts if start < end]
            said = list(dict.fromkeys(stream.text[start:end] for start, end in ranges))[:_MANY]
            self._streams[is_all] = stream, ranges, said
        return self._streams[is_all]

    @cached_property
    def _values(self) -> dict[tuple[str, str], set[tuple[str, Ranges | None]]]:
        """The values of the page that are no texts: by name and value the selectors of elements, and what goes there."""
        found = defaultdict[tuple[str, str], set[tuple[str, Ranges | None]]](set)
        for index, block in enumerate(self._blocks):
            ranges = self._hidden.get(index)
            found[block[1:3]].add((block.selector, ranges if ranges is None else tuple(ranges)))
        return found

    def _values_in(self, blocks: list[Block]) -> tuple[list[tuple[Block, Ranges]], bool]:
        """Return what is hidden of values of attributes, scripts and comments of HTML, and whether any is in doubt."""
        found: list[tuple[Block, Ranges]] = []
        ambiguous = False
        for block in [each for each in blocks if each.attribute and each[1:3] in self._values]:
            there = self._values[block[1:3]]
            near = {ranges for place, ranges in there if f"/{place}".endswith(f"/{_inner(block.selector)}")}
            said = near or {ranges for _, ranges in there}
            ambiguous = ambiguous or len(said) > 1
            found += [(block, ranges) for ranges in said if ranges is not None and len(said) == 1]
        return found, ambiguous


def _inner(selector: str) -> str:
    """Return the selector of what stands in a part of a page, which is read as if it were a whole one."""
    return selector.removeprefix("html").removeprefix("/head").removeprefix("/body").removeprefix("/")


def _stretches(field: Stream, page: Stream) -> list[_Stretch]:
    """Return the stretches of a field: all of it where it stands once in the page; else those told by characters that do in both."""
    length, (before, *behind) = len(field.text), page.text.split(field.text)
    end = len(before) + length
    # Part of a longer word or number is no place of a short one.
    if len(behind) == 1 and (length >= _TELLING or page.edges.issuperset((len(before), end))):
        return [(0, len(before), length)]
    found: list[_Stretch] = []
    done = 0
    there = _places(page)
    for telling, at in _places(field).items():
        place = there.get(telling, -1)
        if len(telling) < _TELLING or at < done or place < 0:
            continue
        end = at + _common(field.text[at:], page.text[place:])
        low = max(done, at - place)
        start = at - _common(field.text[low:at][::-1], page.text[low + place - at : place][::-1])
        found.append((start, start + place - at, end - start))
        done = end
    return found


def _common(one: str, other: str) -> int:
    """Return how many characters are equal at the beginning of both texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _places(stream: Stream) -> dict[str, int]:
    """Return the characters at the beginning of words, and where they stand; -1 if they stand in several places."""
    found: dict[str, int] = {}
    for start in stream.words:
        telling = stream.text[start : start + _TELLING]
        found[telling] = start if telling not in found else -1
    return found


def _hidden_in(field: Stream, stretches: list[_Stretch], hidden: list[Cut]) -> list[Cut]:
    """Return what is hidden of a field; not at the edge of a stretch inside of it, where nobody knows what was left out."""
    found: list[Cut] = []
    for at, place, length in stretches:
        low, high = place + _SURE * (at > 0), place + length - _SURE * (at + length < len(field.text))
        inside = overlapping(hidden, low, high)
        found += [(start - place + at, end - place + at) for start, end in inside if low <= start and end <= high]
    return found
