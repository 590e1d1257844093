"""A text without its transient places, or with marks around them."""

import re
from collections.abc import Sequence

from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import tokens
from ..ranges import Range, overlapping

__all__ = ["marked", "removed"]

#: What marks transient content: an attribute of elements, and of a span around bare text.
_ATTRIBUTE = ' data-dedup="transient"'
#: White space but tabs.
_BLANKS = re.compile(r"[^\S\t]+")
#: The same in which a line ends: how that ends, the ends of lines, and how the next line begins.
_LINE_ENDS = re.compile(r"([^\r\n]*)([\r\n](?:.*[\r\n])?)(.*)", re.DOTALL)
#: Elements that hold no others: a span would be text there, or would be moved elsewhere.
_NO_SPAN = frozenset("colgroup optgroup option select table tbody textarea tfoot thead title tr".split())


def removed(text: str, cuts: Sequence[Range]) -> str:
    """Return *text* without *cuts*, which are sorted and disjoint.

    Lines stay lines, and words words. Of the blanks around a cut one is left; none at the beginning of a line, whose
    indentation stays, and at its end those after the cut, since two of them break a line in Markdown. Tabs stay: they part
    columns. A line of which nothing is left goes as a whole, and of the blank lines around it those on one side: what stood
    in two paragraphs still does, and what stood in one does, too.
    """
    parts: list[str] = []
    done = 0  # what stands before is in the parts
    at = 0
    while at < len(cuts):
        start, end = cuts[at]
        after = _blanks_from(text, end)
        # With what is cut right behind it.
        while at + 1 < len(cuts) and cuts[at + 1][0] <= after:
            at += 1
            end = cuts[at][1]
            after = _blanks_from(text, end)
        at += 1
        before = start
        while before > done and _BLANKS.match(text[before - 1]):
            before -= 1
        parts += [text[done:before], _instead(text, before, start, end, after)]
        done = after
    return "".join([*parts, text[done:]])


def _blanks_from(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _instead(text: str, before: int, start: int, end: int, after: int) -> str:
    """Return what is left of text[before:after], which is white space but for what is cut, from *start* to *end*."""
    gaps: list[str] = [text[before:start], *_BLANKS.findall(text, start, end), text[end:after]]
    breaks = [found.groups() for gap in gaps if (found := _LINE_ENDS.fullmatch(gap))]
    is_first, is_last = before == 0, after == len(text)
    if is_first and is_last:
        return ""
    if is_first:
        lead = _LINE_ENDS.fullmatch(gaps[0])
        return lead[1] + lead[2] + breaks[-1][2] if lead else breaks[-1][2] if breaks else gaps[0]
    if is_last and breaks:
        rest = _LINE_ENDS.fullmatch(gaps[-1])
        return "".join([breaks[0][0], *(rest.groups()[1:] if rest else ())])
    if is_last:
        return gaps[-1] or gaps[0][:1]
    if breaks:
        longest = max((ends for _, ends, _ in breaks), key=lambda ends: len(ends.splitlines()))
        return breaks[0][0] + longest + breaks[-1][2]
    parts_words = len(gaps) > 2 and text[before - 1].isalnum() and text[after].isalnum()
    return gaps[0][:1] or gaps[-1] or " " * parts_words


def marked(text: str, cuts: Sequence[Range], kind: str) -> str:
    """Return *text* with its *cuts* marked.

    In HTML, elements that lie in a cut get the attribute ``data-dedup="transient"``, and
    bare text a ``<span data-dedup="transient">``: it stays as well nested as it was.
    Attributes and text in elements that hold nothing else, such as ``<option>``, are not
    marked. Other text gets ⟦ and ⟧ around it.
    """
    insertions: list[tuple[int, str]] = []
    if kind != "html":
        insertions = [(place, mark) for start, end in cuts for place, mark in ((start, "⟦"), (end, "⟧"))]
    places = list(cuts)
    found = list(tokens(text)) if kind == "html" else []
    for token in found:
        for start, end in overlapping(places, token.start, token.end):
            if token.kind is TokenKind.TEXT:
                low, high = max(start, token.start), min(end, token.end)
                parent = found[token.parent].name if token.parent >= 0 else ""
                if text[low:high].strip() and parent not in _NO_SPAN:
                    insertions += [(low, f"<span{_ATTRIBUTE}>"), (high, "</span>")]
            elif token.kind in (TokenKind.OPEN, TokenKind.EMPTY) and start <= token.start and token.end <= end:
                insertions.append((token.end - (2 if text.endswith("/>", token.start, token.end) else 1), _ATTRIBUTE))
    at, parts = 0, []
    for place, what in insertions:
        parts += [text[at:place], what]
        at = place
    return "".join([*parts, text[at:]])
