"""A text without its transient places, or with marks around them."""

import re
from collections.abc import Sequence

from ..content.tokens import Kind, tokens
from .transient_page import end_of, overlapping

__all__ = ["marked", "removed"]

#: What marks transient content: an attribute of elements, and of a span around bare text.
_ATTRIBUTE = ' data-dedup="transient"'
_SPACE = re.compile(r"\s*")
#: Elements that hold no others: a span would be text there, or would be moved elsewhere.
_NO_SPAN = frozenset("colgroup optgroup option select table tbody textarea tfoot thead title tr".split())


def removed(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """Return *text* without *cuts*, which are sorted and disjoint.

    White space after a cut goes with it if there is some before it, or nothing.
    """
    kept = []
    at = 0
    for start, end in cuts:
        if start > at:
            kept.append(text[at:start])
        before = kept[-1][-1:] if kept else ""
        at = max(end, at)
        if not before or before.isspace():
            space = _SPACE.match(text, at)
            at = space.end() if space else at
    kept.append(text[at:])
    return "".join(kept)


def marked(text: str, cuts: Sequence[tuple[int, int]], kind: str) -> str:
    """Return *text* with its *cuts* marked.

    In HTML, elements that lie in a cut get the attribute ``data-dedup="transient"``, and
    bare text a ``<span data-dedup="transient">``: it stays as well nested as it was.
    Attributes and text in elements that hold nothing else, such as ``<option>``, are not
    marked. Other text gets ⟦ and ⟧ around it.
    """
    if kind != "html":
        return _with(text, [(place, mark) for start, end in cuts for place, mark in ((start, "⟦"), (end, "⟧"))])
    found = list(tokens(text))
    places = list(cuts)
    additions: list[tuple[int, str]] = []
    done = 0
    for index, token in enumerate(found):
        if token.start < done:
            continue
        for start, end in overlapping(places, token.start, token.end):
            if token.kind is Kind.TEXT:
                low, high = max(start, token.start), min(end, token.end)
                parent = found[token.parent].name if token.parent >= 0 else ""
                if text[low:high].strip() and parent not in _NO_SPAN:
                    additions += [(low, f"<span{_ATTRIBUTE}>"), (high, "</span>")]
            elif token.kind in (Kind.OPEN, Kind.EMPTY) and start <= token.start and token.end <= end:
                close = token.end - (2 if text.endswith("/>", token.start, token.end) else 1)
                additions.append((close, _ATTRIBUTE))
                done = end_of(found, index)
    return _with(text, additions)


def _with(text: str, additions: list[tuple[int, str]]) -> str:
    """Return *text* with *additions*, (place, what) in order."""
    parts = []
    at = 0
    for place, what in additions:
        parts += [text[at:place], what]
        at = place
    parts.append(text[at:])
    return "".join(parts)
