"""The characters of a page or a field as one text without white space, with the places they came from.

Whoever takes text out of a page joins, strips and squeezes it in a way of his own, but hardly
anybody changes its other characters. So white space is no part of a stream, and what
``" ".join(response.css("p ::text").getall())`` and ``normalize-space()`` make of one page is the same.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import unescape
from operator import attrgetter
from typing import Literal, NamedTuple
from zlib import crc32

from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token, tokens
from ...content.tokenizer.unseen import SCRIPT_NAME, attribute_spans
from ..ranges import Range

__all__ = ["Stream", "StreamKind", "StreamNode"]

StreamKind = Literal["plain", "text", "all text", "html"]
"""What a stream has of its strings: all characters, or of HTML the visible texts, those of scripts, too, or texts and tags."""

_WORD_OR_SPACE = re.compile(r"(\w+)|\s+")
_RUN = re.compile(r"\S+")
_REFERENCE_OR_RUN = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);?|[^\s&]+|&")
_TAGS = (TokenKind.OPEN, TokenKind.EMPTY)
#: Tags are single characters of a private use area, so that one search finds text and tags.
_FIRST_TAG, _MANY_TAGS = 0xF0000, 0xFFFD


class StreamNode(NamedTuple):
    """A piece of text, or a tag, that has a part in a stream."""

    #: Its first character in the stream, and that after its last one.
    at: int
    stop: int
    #: Which of the strings it stands in (a field may be a list), and where.
    string: int
    start: int
    end: int
    #: Number of its token.
    token: int
    is_tag: bool
    #: Whether references stand in it.
    coded: bool


class Run(NamedTuple):
    """Characters of a text without white space between them: where they are in the stream, and in the string."""

    at: int
    stop: int
    start: int
    end: int

    @property
    def is_plain(self) -> bool:
        """Whether each character of the stream is one of the string: not so for most references."""
        return self.stop - self.at == self.end - self.start


class Stream:
    """The characters of some strings, without white space, and one character for each opened element where tags count; *read* are their tokens."""

    def __init__(self, strings: list[str], kind: StreamKind, read: list[list[Token]] | None = None) -> None:
        self.strings = strings
        self.tokens = read or [list(tokens(string)) if kind != "plain" else [] for string in strings]
        self.nodes: list[StreamNode] = []
        parts: list[str] = []
        at = 0
        for number, string in enumerate(strings):
            for index, start, end, name, coded in self._read(number, kind):
                part = string[start:end]
                text = _tag_character(name) if name else "".join((unescape(part) if coded else part).split())
                if text:
                    parts.append(text)
                    self.nodes.append(StreamNode(at, at + len(text), number, start, end, index, bool(name), coded))
                    at += len(text)
        self.text = "".join(parts)
        #: Where nodes begin, and the last one ends.
        self._borders = [*(node.at for node in self.nodes), at]
        self._runs: dict[int, list[Run]] = {}

    def _read(self, number: int, kind: StreamKind) -> Iterator[tuple[int, int, int, str, bool]]:
        """Yield (number of the token, start, end, name of a tag, whether references stand in it) of what a string holds."""
        if kind == "plain":
            yield 0, 0, len(self.strings[number]), "", False
        for index, (token_kind, start, end, name, *_) in enumerate(self.tokens[number]):
            if token_kind is TokenKind.TEXT:
                yield index, start, end, "", "&" in self.strings[number][start:end]
            elif kind == "html" and token_kind in _TAGS:
                yield index, start, end, name, False
            elif kind == "all text" and token_kind is TokenKind.RAW:
                yield index, start, end, "", False

    def nodes_within(self, start: int, end: int) -> list[StreamNode]:
        """Return the nodes that have a character of the stream's [start, end), in order."""
        return self.nodes[max(bisect_right(self._borders, start) - 1, 0) : bisect_left(self._borders, end)]

    def is_border(self, at: int) -> bool:
        """Return whether a node begins, or the last one ends, at a character of the stream."""
        return self._borders[bisect_left(self._borders, at)] == at

    def border_from(self, at: int, most: int) -> int:
        """Return the first border from *at* to *most*; *at* if there is none."""
        border = self._borders[bisect_left(self._borders, at)]
        return border if border <= most else at

    def border_until(self, at: int, least: int) -> int:
        """Return the last border from *least* to *at*; *at* if there is none."""
        border = self._borders[bisect_right(self._borders, at) - 1]
        return border if border >= least else at

    def source(self, node: StreamNode, start: int, end: int) -> Range:
        """Return where the stream's [start, end), as far as it is a part of *node*, stands in the node's string.

        A tag stands there with the script that it opens, and the end of that.
        """
        if node.is_tag:
            following = self.tokens[node.string][node.token + 1 : node.token + 3]
            return node.start, max([node.end, *(each.end for each in following if each.parent == node.token)])
        runs = self._runs_of(node)
        first = runs[bisect_right(runs, max(start, node.at), key=attrgetter("at")) - 1]
        last = runs[bisect_left(runs, min(end, node.stop), key=attrgetter("at")) - 1]
        return (
            first.start + (max(start - first.at, 0) if first.is_plain else 0),
            min(last.start + end - last.at, last.end) if last.is_plain else last.end,
        )

    def range_of(self, node: StreamNode, start: int, end: int) -> Range:
        """Return the characters of *node* in the stream that stand in [start, end) of its string; may be empty."""
        if start <= node.start and end >= node.end:
            return node.at, node.stop
        if node.is_tag:
            return node.at, node.at
        runs = [run for run in self._runs_of(node) if run.start < end and start < run.end]
        if not runs:
            return node.at, node.at
        first, last = runs[0], runs[-1]
        return (
            first.at + (max(start - first.start, 0) if first.is_plain else 0),
            last.stop - (max(last.end - end, 0) if last.is_plain else 0),
        )

    def _runs_of(self, node: StreamNode) -> list[Run]:
        """Return what stands in a text without white space, in order; a reference is a run of its own."""
        if node.at not in self._runs:
            runs = self._runs[node.at] = []
            at = node.at
            pattern = _REFERENCE_OR_RUN if node.coded else _RUN
            for match in pattern.finditer(self.strings[node.string], node.start, node.end):
                stop = at + len("".join((unescape(match[0]) if node.coded else match[0]).split()))
                if at < stop:
                    runs.append(Run(at, stop, *match.span()))
                    at = stop
        return self._runs[node.at]

    def values_of(self, node: StreamNode) -> Mapping[str, Range]:
        """Return where the values of a tag's attributes stand in its string, and the script that it opens."""
        tag = self.strings[node.string][node.start : node.end]
        found = {name: (node.start + start, node.start + end) for name, start, end in attribute_spans(tag)}
        for token in self.tokens[node.string][node.token + 1 : node.token + 2]:
            if token.kind is TokenKind.RAW:
                found[SCRIPT_NAME] = token.start, token.end
        return found

    @cached_property
    def words(self) -> list[tuple[int, str]]:
        """(First character in the stream, word) of all words, in order."""
        found: list[tuple[int, str]] = []
        for node in self.nodes:
            if node.is_tag:
                continue
            source = self.strings[node.string][node.start : node.end]
            at = node.at
            for match in _WORD_OR_SPACE.finditer(unescape(source) if node.coded else source):
                if match.lastindex:
                    found.append((at + match.start(), match[0]))
                else:
                    at -= match.end() - match.start()
        return found


def _tag_character(name: str) -> str:
    return chr(_FIRST_TAG + crc32(name.encode("utf-8", "surrogatepass")) % _MANY_TAGS)
