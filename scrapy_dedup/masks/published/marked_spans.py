"""Scripts, comments and tags on the document's transient paths, and their offsets in a page.

To the document all of these are tokens, so that a path may name nothing else: ``html/head/script``, ``html/head/meta``. What
a token says goes, and what gives the page its structure stays: elements that hold others, and line breaks.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...content.tokenizer.markup import ATTRIBUTE, RAW, TAG_NAME, VISIBLE_RAW, lower
from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token, tokens
from ..ranges import Range

__all__ = ["markup_spans"]

_HIDDEN = RAW - VISIBLE_RAW
_LINES = frozenset(("br", "hr"))
"""Elements without contents that part lines."""
_STRUCTURE = ("id", "class")
"""Attributes by which others find an element."""


def markup_spans(
    html: str, roots: Iterable[str], kept: Iterable[str] = (), lasting: Sequence[Range] = ()
) -> list[Range]:
    """Return the offsets of what goes of the markup of a page, sorted; those that touch are one.

    What is below a path of *roots* goes, but not below one that is *kept*, and tags in or around what is *lasting* (offsets, in
    order) stay. Linear in the page.

    >>> html = "<head><meta name=t content=5><script nonce=7>x</script></head><p id=a data-n=9>12</p>"
    >>> markup_spans(html, ["head/meta", "head/script", "p"])
    [(6, 55), (77, 78)]
    """
    found: Sequence[Token] = tokens(html)
    if lasting:
        found = list(found)
    stays = _holding(found, lasting) if lasting else frozenset[int]()
    names = _PathTree(roots, kept)
    places = {-1: names.top}  # open tag -> where it leads
    spans: list[Range] = []
    for index, token in enumerate(found):
        kind = token.kind
        place = places[token.parent]
        if kind is TokenKind.OPEN:
            place = places[index] = names.below(place, token.name)
        elif kind is TokenKind.EMPTY:
            place = names.below(place, token.name)
        if not place.goes or kind is TokenKind.TEXT or index in stays:
            continue
        for start, end in _going(html, token):
            if spans and spans[-1][1] == start:
                spans[-1] = spans[-1][0], end
            else:
                spans.append((start, end))
    return spans


class _OpenPath(NamedTuple):
    """The part of a transient path that some open tags match, and whether one has been matched whole."""

    begun: str | None
    is_below: bool
    is_kept: bool

    @property
    def goes(self) -> bool:
        return self.is_below and not self.is_kept


class _PathTree:
    """Paths name by name, so that no path of a page need be written out: those of deep ones are long."""

    def __init__(self, roots: Iterable[str], kept: Iterable[str]) -> None:
        self._roots, self._kept = frozenset(roots), frozenset(kept)
        self._begun = {path[:at] for path in self._roots | self._kept for at in _ends(path)}
        self.top = _OpenPath("", False, False)

    def below(self, place: _OpenPath, name: str) -> _OpenPath:
        """Return where a tag of this name leads from a place."""
        if place.begun is None:
            return place
        path = f"{place.begun}/{name}" if place.begun else name
        if path not in self._begun:
            return _OpenPath(None, place.is_below, place.is_kept)
        return _OpenPath(path, place.is_below or path in self._roots, place.is_kept or path in self._kept)


def _ends(path: str) -> Iterator[int]:
    """Yield where the names of a path end."""
    yield from (at for at, sign in enumerate(path) if sign == "/")
    yield len(path)


def _going(html: str, token: Token) -> Iterator[Range]:
    """Yield what goes of a token that is no text: all of it, or the values of a tag."""
    whole = token.start, token.end
    if token.kind in (TokenKind.RAW, TokenKind.COMMENT) or token.name in _HIDDEN:
        yield whole
    elif token.kind is TokenKind.EMPTY and token.name not in _LINES:
        if any(True for _ in _attributes(html, token)):
            yield whole
    elif token.kind in (TokenKind.OPEN, TokenKind.EMPTY):
        for name, (start, end) in _attributes(html, token):
            if name not in _STRUCTURE and start < end:
                yield start, end


def _attributes(html: str, token: Token) -> Iterator[tuple[str, Range]]:
    """Yield name and span of the value of each attribute of a tag; (0, 0) without a value."""
    head = TAG_NAME.match(html, token.start + 1)
    if head is None:
        return
    for match in ATTRIBUTE.finditer(html, head.end(), token.end - 1):
        if match["name"] is None:
            return
        group = next((group for group in ("double", "single", "plain") if match[group] is not None), None)
        yield lower(match["name"]), (0, 0) if group is None else match.span(group)


def _holding(found: Sequence[Token], lasting: Sequence[Range]) -> frozenset[int]:
    """Return the numbers of the tokens that overlap *lasting* spans (sorted), and of the tags around them."""
    holding: set[int] = set()
    at = 0
    for index, token in enumerate(found):
        while at < len(lasting) and lasting[at][1] <= token.start:
            at += 1
        if at == len(lasting):
            break
        if lasting[at][0] < token.end:
            around = index
            while around >= 0 and around not in holding:
                holding.add(around)
                around = found[around].parent
    return frozenset(holding)
