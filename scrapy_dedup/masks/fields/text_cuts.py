"""A text without its transient places, or with marks around them."""

import re
from collections.abc import Sequence
from itertools import groupby

from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import tokens
from ..ranges import overlapping
from .transient_page import end_of

__all__ = ["marked", "removed"]

#: What marks transient content: an attribute of elements, and of a span around bare text.
_ATTRIBUTE = ' data-dedup="transient"'
_SPACES = [char for char in map(chr, range(0x3001)) if char.isspace()]
#: White space in a line that is no tab.
_BLANK = "".join(char for char in _SPACES if char != "\t")
#: What of a cut stands in one line, without white space around it.
_IN_LINE = re.compile(
    r"\S(?:[^{0}]*[^\s{0}])?".format("".join(char for char in _SPACES if len(f"a{char}a".splitlines()) > 1))
)
#: Elements that hold no others: a span would be text there, or would be moved elsewhere.
_NO_SPAN = frozenset("colgroup optgroup option select table tbody textarea tfoot thead title tr".split())


def removed(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """Return *text* without *cuts*, which are sorted and disjoint.

    Lines stay lines, and words words. Of the blanks around a cut one is left; none at the beginning of a line, whose
    indentation stays, and at its end those after the cut, since two of them break a line in Markdown. Tabs stay: they part
    columns. A line of which nothing is left goes as a whole, and of the blank lines around it those on one side: what stood
    in two paragraphs still does, and what stood in one does, too.
    """
    lines = [_Line()]
    at = 0
    for start, end in cuts:
        for piece in _IN_LINE.finditer(text, start, end):
            _add(lines, text[at : piece.start()])
            lines[-1].cut(piece[0])
            at = piece.end()
    if not at:
        return text
    _add(lines, text[at:])
    if lines[-1].parts == [""]:  # the text ends with the end of a line
        lines.pop()
    left = _without_emptied(lines)
    if left and not lines[-1].ending:
        left[-1].ending = ""
    return "".join(line.text + line.ending for line in left)


class _Line:
    """A line of a text: its parts before, between and after cuts, and how it ends."""

    __slots__ = ("ending", "parted", "parts")

    def __init__(self) -> None:
        self.parts = [""]
        #: For each part, whether a blank stood in the cut before it.
        self.parted = [False]
        self.ending = ""

    def cut(self, text: str) -> None:
        """Note that *text* is cut here."""
        self.parts.append("")
        self.parted.append(any(map(str.isspace, text)))

    @property
    def text(self) -> str:
        """What is left of it."""
        kept: list[str] = []
        begun = parted = False
        for number, part in enumerate(self.parts):
            parted = parted or self.parted[number]
            if begun and 0 < number == len(self.parts) - 1 and not part.strip() and (self.ending or part):
                while kept and not (solid := kept.pop().rstrip(_BLANK)):
                    pass
                part = solid + part
            elif number and (not begun or kept[-1][-1].isspace()):
                part = part.lstrip(_BLANK)
                if begun and len(kept[-1]) > 1 and kept[-1][-1] in _BLANK and kept[-1][-2] in _BLANK:
                    kept[-1] = kept[-1][: len(kept[-1].rstrip(_BLANK)) + 1]
            elif parted and kept[-1][-1].isalnum() and part[:1].isalnum():
                part = " " + part
            if part:
                kept.append(part)
                begun = begun or not part.isspace()
                parted = False
        return "".join(kept)

    @property
    def is_blank(self) -> bool:
        """Whether nothing but white space is left of it."""
        return not any(part.strip() for part in self.parts)

    @property
    def is_emptied(self) -> bool:
        """Whether that is so since something was cut."""
        return len(self.parts) > 1 and self.is_blank


def _add(lines: list[_Line], text: str) -> None:
    """Add a text without cuts to the last line, and to further ones."""
    for piece in text.splitlines(keepends=True):
        content = piece.splitlines()[0]
        lines[-1].parts[-1] += content
        if len(content) < len(piece):
            lines[-1].ending = piece[len(content) :]
            lines.append(_Line())


def _without_emptied(lines: list[_Line]) -> list[_Line]:
    """Return lines without those that were emptied, and without blank ones that only these had parted."""
    left: list[_Line] = []
    for is_blank, group in groupby(lines, lambda line: line.is_blank):
        run = list(group)
        if not is_blank or not any(line.is_emptied for line in run):
            left += run
            continue
        sides = [list(side) for emptied, side in groupby(run, lambda line: line.is_emptied) if not emptied]
        if run[0] is lines[0]:  # what now begins the text
            sides = [] if run[0].is_emptied else sides[:1]
        if run[-1] is lines[-1]:
            sides = [] if run[-1].is_emptied else sides[-1:]
        longest: list[_Line] = max(sides, key=len, default=[])
        left += longest
    return left


def marked(text: str, cuts: Sequence[tuple[int, int]], kind: str) -> str:
    """Return *text* with its *cuts* marked.

    In HTML, elements that lie in a cut get the attribute ``data-dedup="transient"``, and
    bare text a ``<span data-dedup="transient">``: it stays as well nested as it was.
    Attributes and text in elements that hold nothing else, such as ``<option>``, are not
    marked. Other text gets ⟦ and ⟧ around it.
    """
    if kind != "html":
        return _with_insertions(
            text, [(place, mark) for start, end in cuts for place, mark in ((start, "⟦"), (end, "⟧"))]
        )
    found = list(tokens(text))
    places = list(cuts)
    insertions: list[tuple[int, str]] = []
    done = 0
    for index, token in enumerate(found):
        if token.start < done:
            continue
        for start, end in overlapping(places, token.start, token.end):
            if token.kind is TokenKind.TEXT:
                low, high = max(start, token.start), min(end, token.end)
                parent = found[token.parent].name if token.parent >= 0 else ""
                if text[low:high].strip() and parent not in _NO_SPAN:
                    insertions += [(low, f"<span{_ATTRIBUTE}>"), (high, "</span>")]
            elif token.kind in (TokenKind.OPEN, TokenKind.EMPTY) and start <= token.start and token.end <= end:
                close = token.end - (2 if text.endswith("/>", token.start, token.end) else 1)
                insertions.append((close, _ATTRIBUTE))
                done = end_of(found, index)
    return _with_insertions(text, insertions)


def _with_insertions(text: str, insertions: list[tuple[int, str]]) -> str:
    """Return *text* with *insertions*, (place, what) in order."""
    parts = []
    at = 0
    for place, what in insertions:
        parts += [text[at:place], what]
        at = place
    parts.append(text[at:])
    return "".join(parts)
