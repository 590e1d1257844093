"""Transient values of a page's tags, scripts and comments, found again in a field that was taken from the page.

Whoever takes HTML out of a page gets it with its tags as they were, or as lxml writes them. So the tag of a field that stands where
one of the page does has its attributes, and the script in it. Comments have no part in a stream: one is told by all that it says.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from html import escape, unescape
from itertools import zip_longest
from typing import NamedTuple

from ...content.tokenizer.markup import decoded_attribute
from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token
from ...content.tokenizer.unseen import SCRIPT_NAME, attribute_spans
from ..applying.spans import whole_value
from ..ranges import Range
from .visible_text import Stream, StreamNode

__all__ = ["TagValues", "TransientValue", "comment_cuts", "cuts_of", "transient_comments", "transient_values"]


_unit = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);?|.", re.DOTALL).finditer


class TransientValue(NamedTuple):
    """A value of a tag of which something is transient."""

    #: The place of the tag in the stream.
    at: int
    #: The attribute, or what stands for the script in it.
    name: str
    #: The value as it is written, and what of it is transient.
    value: str
    cuts: tuple[Range, ...]


def transient_values(stream: Stream, node: StreamNode, spans: list[Range]) -> Iterator[TransientValue]:
    """Yield the values of the tag at *node*, in the first string of *stream*, in which some of *spans*, those near to it, lie."""
    # What covers the tag is no matter of its values.
    inside = [span for span in spans if span[0] > node.start]
    for name, start, end in _values_at(stream, node):
        cuts = _inside(inside, start, end)
        if cuts:
            yield TransientValue(node.at, name, stream.strings[0][start:end], cuts)


def transient_comments(stream: Stream, spans: list[Range]) -> dict[str, tuple[Range, ...]]:
    """Return the comments in which some of *spans* lie, with what of them is transient: the same wherever they stand."""
    found: dict[str, tuple[Range, ...]] = {}
    doubtful = set()
    for token in stream.tokens[0]:
        if token.kind is TokenKind.COMMENT:
            source = _source(token)
            cuts = _inside(spans, token.start, token.end)
            if found.setdefault(source, cuts) != cuts:
                doubtful.add(source)
    return {source: cuts for source, cuts in found.items() if cuts and source not in doubtful}


def _source(token: Token) -> str:
    return token.source[token.start : token.end]


def _inside(spans: list[Range], start: int, end: int) -> tuple[Range, ...]:
    """Return the parts of sorted, disjoint *spans* that lie in [start, end), counted from its start."""
    first = max(bisect_left(spans, (start, start)) - 1, 0)
    last = bisect_left(spans, (end, end))
    found = ((max(low, start) - start, min(high, end) - start) for low, high in spans[first:last])
    return tuple([(low, high) for low, high in found if low < high])


class TagValues:
    """Compares the tags of a field with those of a page, by their values and the scripts in them."""

    def __init__(self, field: Stream, page: Stream) -> None:
        self._field, self._page = field, page

    def fit(self, at: int) -> bool:
        """Return whether the tags of the whole field are those that stand in the page from a place on."""
        length = len(self._field.text)
        pairs = zip_longest(self._tags(self._field, 0, length), self._tags(self._page, at, at + length))
        return all(one == other for one, other in pairs)

    @staticmethod
    def _tags(stream: Stream, start: int, end: int) -> Iterator[dict[str, str]]:
        for node in stream.nodes_within(start, end):
            if stream.is_tag(node):
                source = stream.strings[node.string]
                values = {name: source[first:last] for name, first, last in _values_at(stream, node)}
                yield {
                    name: value if name == SCRIPT_NAME else decoded_attribute(value) for name, value in values.items()
                }


def _values_at(stream: Stream, node: StreamNode) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of the values of a tag, and of the script that it opens, in its string."""
    tag = stream.strings[node.string][node.start : node.end]
    for name, start, end in attribute_spans(tag):
        yield name, node.start + start, node.start + end
    following = stream.tokens[node.string][node.token + 1 : node.token + 2]
    if following and following[0].kind is TokenKind.RAW:
        yield SCRIPT_NAME, following[0].start, following[0].end


def cuts_of(field: Stream, values: list[TransientValue]) -> set[tuple[int, int, int]]:
    """Return (string, start, end) of what is transient of values at places of a *field*."""
    found = set()
    for at, name, value, cuts in values:
        for node in field.nodes_within(at, at + 1):
            source = field.strings[node.string]
            for own, start, end in _values_at(field, node) if field.is_tag(node) else ():
                if own != name:
                    continue
                for low, high in _in_other(value, cuts, source[start:end], is_script=name == SCRIPT_NAME):
                    span = start + low, start + high
                    if span == (start, end) and name != SCRIPT_NAME:
                        span = whole_value(source, *span)
                    found.add((node.string, *span))
    return found


def comment_cuts(field: Stream, comments: Mapping[str, tuple[Range, ...]]) -> Iterator[tuple[int, int, int]]:
    """Yield (string, start, end) of what is transient of the comments in a *field*."""
    for number, tokens in enumerate(field.tokens if comments else ()):
        for token in tokens:
            if token.kind is TokenKind.COMMENT:
                for start, end in comments.get(_source(token), ()):
                    yield number, token.start + start, token.start + end


def _in_other(value: str, cuts: tuple[Range, ...], other: str, *, is_script: bool) -> Iterator[Range]:
    """Yield where the *cuts* of a value stand in the way in which the field has it."""
    if other == value:
        yield from cuts
        return
    if is_script:
        return
    if decoded_attribute(other) == decoded_attribute(value):
        here, there = _offsets(value), _offsets(other)
        if len(here) == len(there):
            for start, end in cuts:
                yield there[bisect_left(here, start)], there[bisect_left(here, end)]
            return
    # An address that was made absolute, say.
    for start, end in cuts:
        text = value[start:end]
        for written in dict.fromkeys((text, escape(unescape(text), quote=False))):
            if other.count(written) == 1:
                first = other.index(written)
                yield first, first + len(written)
                break


def _offsets(value: str) -> list[int]:
    """Return where each character that a value stands for is written, and where it ends."""
    found = []
    for match in _unit(value):
        found += [match.start()] * len(decoded_attribute(match[0]))
    return [*found, len(value)]
