"""What is cut out of a page, or of a text of it, or marked there."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

from ..pages.tags import decoded, decoded_value
from ..pages.tokens import Block, blocks_with_offsets
from .selectors import COMMENT, named_in
from .slots import Ranges, merged, overlapping, pieces

__all__ = ["Cut", "Stream", "cut_out", "cuts_of", "marked", "removed"]

_NEAR: Final = 200
"""Characters before a value in which what it belongs to is looked for."""
#: Elements that hold no others: a span would be text there, or would be moved elsewhere.
_NO_SPAN: Final = frozenset("colgroup optgroup option select table tbody textarea tfoot thead title tr".split())
#: Stands where something was cut: no text of a page has it.
_GAP: Final = "\ufdd0"
#: White space but tabs, which part columns.
_BLANK: Final = r"[^\S\t]"

_reference_or_run = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);?|[^\s&]+|&").finditer
_equals = re.compile(r"(?:=[ \t\n\f\r]*)?\Z").search
_number = re.compile(r"-?[0-9][\w.]*").fullmatch
_comma_and_name = re.compile(
    r"""(?:,\s{0,99})?"""
    r"""(?:(?:"(?:[^"\\\n]|\\.){0,64}"|'(?:[^'\\\n]|\\.){0,64}'|&quot;[^&]{0,64}&quot;|[\w$-]{1,64})\s{0,9}:\s{0,9})?\Z"""
).search
_comma_behind = re.compile(r"(?:\s{0,99},\s{0,99})?").match
_with_gaps = re.compile(rf"(?<!{_BLANK}){_BLANK}*{_GAP}(?:{_BLANK}|{_GAP})*").sub
#: Blanks in which a line ends: how that ends, the ends of lines, and how the next line begins.
_line_ends = re.compile(r"([^\r\n]*)([\r\n](?:.*[\r\n])?)(.*)", re.DOTALL).fullmatch


Cut = tuple[int, int]
"""Start and end of what goes of a source."""
Search = Callable[[str, int, int], "re.Match[str] | None"]
Decode = Callable[[str], str]


def cut_out(text: str, cuts: Iterable[Cut], instead: str = "") -> str:
    """Return a text without some cuts, which are sorted and disjoint; *instead* stands for each, with ``{}`` for what was there.

    >>> cut_out("12 users online", [(0, 2)]), cut_out("12 users online", [(0, 2)], "<{}>")
    (' users online', '<12> users online')
    """
    parts, at = [], 0
    for start, end in cuts:
        parts += [text[at:start], instead.format(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def cuts_of(html: str, hidden: Iterable[tuple[Block, Ranges]]) -> list[Cut]:
    """Return the offsets of ranges of the pieces of blocks, sorted and disjoint; all of one where there are none.

    Of a value without quotes the ``=`` goes, too: the next attribute would become the value. A number in a script goes with its name and a
    comma, so that JSON stays JSON.
    """
    found: list[Cut] = []
    numbers: list[Cut] = []
    for block, ranges in hidden:
        _, attribute, text, start, end = block
        name, _, _, part = named_in(attribute)
        is_bare = html[start - 1 : start] not in ("'", '"', "`")
        if ranges:
            found += _pieces_in(html, block, ranges)
        elif is_bare and part and name != COMMENT and "?" not in part and _number(text):
            numbers.append((start, end))
        else:
            is_value = is_bare and not part and name[:1] not in ("", "#")
            found.append((_start(_equals, html, start) if is_value else start, end))
    return merged(found + _members(html, numbers))


def _members(html: str, numbers: Iterable[Cut]) -> list[Cut]:
    """Return the offsets of numbers, with their names and one comma where they are members of an object, or of a list.

    >>> text = '{"a": 1, "b": 2, "c": "d", "e": 3}'
    >>> [text[start:end] for start, end in _members(text, [(text.index(each), text.index(each) + 1) for each in "123"])]
    ['"a": 1, "b": 2, ', ', "e": 3']
    """
    runs = merged([(_start(_comma_and_name, html, start), end) for start, end in numbers])
    # What is the first member goes with the comma behind it.
    return [
        (start, end if html[start] == "," else _comma_behind(html, end).end())  # type: ignore[union-attr]
        for start, end in runs
    ]


def _start(search: Search, html: str, at: int) -> int:
    """Return where that begins which ends at a place, and is looked for right before it; the place itself if it is not there."""
    return search(html, max(0, at - _NEAR), at).start()  # type: ignore[union-attr]  # each matches nothing, too


def _pieces_in(html: str, block: Block, ranges: Ranges) -> list[Cut]:
    """Return the offsets of ranges of the pieces of a block."""
    _, attribute, text, start, end = block
    decode = str if attribute.startswith("#") else decoded_value if attribute else decoded
    stream = Stream(html, [(start, end)], decode)
    ats = [0, *accumulate(len("".join(piece.split())) for piece in pieces(text, attribute))]
    # Of what is read otherwise than it is written, nothing is better than the wrong words.
    if len(stream.text) != ats[-1]:
        return []
    return [cut for one, other in ranges for cut in stream.written(ats[one], ats[other])]


class Stream:
    """The characters of some parts of a source, as *decode* reads them, without white space, and where each is written there.

    A reference is not cut in two.

    >>> stream = Stream("&lt; a", [(0, 6)], decoded)
    >>> stream.text, stream.starts, stream.ends
    ('<a', [0, 5], [4, 6])
    """

    def __init__(self, source: str, parts: Iterable[Cut], decode: Decode) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        #: Where words begin, and where the parts that have any begin and end.
        self.words: list[int] = []
        self.parts: list[Cut] = []
        read: list[str] = []
        for part in parts:
            border = len(self.starts)
            for match in _reference_or_run(source, *part):
                first, last = match.span()
                read.append("".join(decode(match[0]).split()))
                size = len(read[-1])
                self.words.append(len(self.starts))
                self.starts += range(first, last) if size == last - first else [first] * size
                self.ends += range(first + 1, last + 1) if size == last - first else [last] * size
            self.parts += [(border, len(self.starts))] * (border < len(self.starts))
        self.text = "".join(read)
        self.edges = frozenset(chain(*self.parts))

    def written(self, start: int, end: int) -> list[Cut]:
        """Return where the characters [start, end) are written, for each part."""
        found = [(max(start, low), min(end, high)) for low, high in overlapping(self.parts, start, end)]
        return [(self.starts[low], self.ends[high - 1]) for low, high in found]


def removed(text: str, cuts: Sequence[Cut]) -> str:
    r"""Return *text* without *cuts*, which are sorted and disjoint.

    Lines stay lines, and words words. Of the blanks around a cut one is left; none at the beginning of a line, whose indentation
    stays. Tabs stay. A line of which nothing is left goes as a whole, and of the blank lines around it those on one side: what
    stood in two paragraphs still does, and what stood in one does, too.

    >>> removed("a 12 b", [(2, 4)]), removed("a\n\n12\n\nb", [(3, 5)])
    ('a b', 'a\n\nb')
    """
    return _with_gaps(_left, cut_out(text, cuts, _GAP))


def _left(match: "re.Match[str]") -> str:
    """Return what is left of blanks and gaps."""
    text, gaps = match.string, match[0].split(_GAP)
    breaks = [found.groups() for gap in gaps if (found := _line_ends(gap))]
    if match.start() == 0:
        return "" if match.end() == len(text) else breaks[-1][2] if breaks else gaps[0]
    if match.end() == len(text):
        return breaks[0][0] + gaps[-1] if breaks else gaps[-1] or gaps[0][:1]
    if breaks:
        longest = max((ends for _, ends, _ in breaks), key=lambda ends: len(ends.splitlines()))
        return f"{breaks[0][0]}{longest}{breaks[-1][2]}"
    parts_words = len(gaps) > 2 and text[match.start() - 1].isalnum() and text[match.end()].isalnum()
    return gaps[0][:1] or gaps[-1] or " " * parts_words


def marked(text: str, cuts: Sequence[Cut], kind: str) -> str:
    """Return *text* with its *cuts* marked.

    In HTML, texts get a ``<span data-dedup="transient">`` around them, so that it stays as well nested as it was; not in elements
    that hold nothing else, such as ``<option>``. Other text gets ⟦ and ⟧ around it.
    """
    if kind == "html":
        return cut_out(text, _in_texts(text, cuts), '<span data-dedup="transient">{}</span>')
    return cut_out(text, cuts, "⟦{}⟧")


def _in_texts(html: str, cuts: Sequence[Cut]) -> Iterator[Cut]:
    """Yield the parts of cuts that are texts of HTML."""
    for selector, attribute, _, first, last in blocks_with_offsets(html):
        tag = re.split("[#.]", selector.rpartition("/")[2], maxsplit=1)[0]
        if not attribute and tag not in _NO_SPAN:
            for start, end in overlapping(cuts, first, last):
                part = max(start, first), min(end, last)
                if html[slice(*part)].strip():
                    yield part
