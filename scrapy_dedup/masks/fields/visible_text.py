"""The visible characters of a page or a field as one text without white space, with the places they came from.

Whoever takes text out of a page joins, strips and squeezes it in a way of his own, but hardly
anybody changes its other characters. So white space is no part of a stream, and what
``" ".join(response.css("p ::text").getall())`` and ``normalize-space()`` make of one page is the same.
*Folded*, it is the same for ``.upper()``, ``.lower()``, ``.title()`` and ``.casefold()``, too.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from html import unescape
from operator import itemgetter
from typing import NamedTuple

from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token, tokens
from .script_texts import script_texts

__all__ = ["Stream", "StreamNode", "Tags", "folded"]

_RUN = re.compile(r"\S+")
_WORD_OR_SPACE = re.compile(r"(\w+)|\s+")
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);?")
#: Tags are single characters of a private use area, so that one search finds text and tags.
_FIRST_TAG, _MANY_TAGS = 0xF0000, 0xFFFD


class StreamNode(NamedTuple):
    """A piece of text, or a tag, that has a part in a stream."""

    #: Its first character in the stream, and how many it has.
    at: int
    length: int
    #: Which of the strings it stands in (a field may be a list), and where.
    string: int
    start: int
    end: int
    #: Number of the token; -1 if the string is plain text.
    token: int
    #: Whether entities stand in it.
    coded: bool


class Run(NamedTuple):
    """Characters of a text without white space between them."""

    #: The first one in the stream, and how many there are.
    at: int
    length: int
    #: Where they stand in the string.
    start: int
    end: int

    @property
    def is_plain(self) -> bool:
        """Whether each character of the stream is one of the string: not so for most entities."""
        return self.length == self.end - self.start


_at, _start, _end = itemgetter(0), itemgetter(2), itemgetter(3)


class Tags:
    """One character for each tag name, the same for a page and its fields."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, name: str) -> str:
        """Return the character of a tag name."""
        return self._names.setdefault(name, chr(_FIRST_TAG + len(self._names) % _MANY_TAGS))


def folded(text: str) -> str:
    """Return what is the same for a text in any case: each character by itself, some as two or three ("ß", "SS")."""
    return text.upper().casefold()


class Stream:
    """The visible characters of some strings, without white space; with *tags*, one character per opened element.

    With *scripts* also those of texts that nobody sees (:mod:`.script_texts`), but which ``::text`` gives. With *fold* they
    are :func:`folded`.
    """

    def __init__(
        self, strings: list[str], *, html: bool, tags: Tags | None = None, scripts: bool = False, fold: bool = False
    ) -> None:
        self.strings = strings
        self._shown: Callable[[str], str] = folded if fold else str
        self.tokens: list[list[Token]] = [list(tokens(string)) for string in strings] if html else []
        #: Whether tags have a part in it.
        self.has_tags = tags is not None
        self.nodes: list[StreamNode] = []
        parts: list[str] = []
        at = 0
        for number in range(len(strings)):
            for text, token, start, end, is_markup in self._read(number, tags, scripts=scripts):
                if text:
                    text = self._shown(text)
                    parts.append(text)
                    coded = is_markup and "&" in strings[number][start:end]
                    self.nodes.append(StreamNode(at, len(text), number, start, end, token, coded))
                    at += len(text)
        self.text = "".join(parts)
        self._runs: dict[int, list[Run]] = {}
        self._starts = [node.at for node in self.nodes]
        self._places = [(node.string, node.start) for node in self.nodes]

    def _read(self, number: int, tags: Tags | None, *, scripts: bool) -> Iterator[tuple[str, int, int, int, bool]]:
        """Yield (characters in the stream, number of the token, start, end, whether it is markup) of what a string holds."""
        string = self.strings[number]
        if not self.tokens:
            yield "".join(string.split()), -1, 0, len(string), False
            return
        for index, token in enumerate(self.tokens[number]):
            if token.kind is TokenKind.TEXT:
                yield "".join(unescape(string[token.start : token.end]).split()), index, token.start, token.end, True
            elif tags is not None and token.kind in (TokenKind.OPEN, TokenKind.EMPTY):
                yield tags.of(token.name), index, token.start, token.end, True
            elif scripts and token.kind is TokenKind.RAW:
                for text in script_texts(self.tokens[number], index):
                    yield text.squeezed(string), index, text.start, text.end, text.is_markup

    def nodes_within(self, start: int, end: int) -> Iterator[StreamNode]:
        """Yield the nodes that have a character of the stream's [start, end), in order."""
        for index in range(max(bisect_right(self._starts, start) - 1, 0), bisect_left(self._starts, end)):
            node = self.nodes[index]
            if node.at + node.length > start:
                yield node

    def range_in(self, string: int, start: int, end: int) -> tuple[int, int]:
        """Return the stream's range of the nodes that begin in [start, end) of a string."""
        first, last = bisect_left(self._places, (string, start)), bisect_left(self._places, (string, end))
        if first >= last:
            return 0, 0
        return self.nodes[first].at, self.nodes[last - 1].at + self.nodes[last - 1].length

    def is_boundary(self, at: int) -> bool:
        """Return whether a node begins, or the last one ends, at a character of the stream."""
        if at == len(self.text):
            return True
        index = bisect_left(self._starts, at)
        return index < len(self._starts) and self._starts[index] == at

    def boundary_from(self, at: int, most: int) -> int:
        """Return the first place from *at* to *most* where a node begins; *at* if there is none."""
        index = bisect_left(self._starts, at)
        return self._starts[index] if index < len(self._starts) and self._starts[index] <= most else at

    def boundary_until(self, at: int, least: int) -> int:
        """Return the last place from *least* to *at* where a node ends; *at* if there is none."""
        if at == len(self.text):
            return at
        index = bisect_right(self._starts, at) - 1
        return self._starts[index] if index >= 0 and self._starts[index] >= least else at

    def is_tag(self, node: StreamNode) -> bool:
        """Return whether a node is a tag."""
        return node.token >= 0 and self.tokens[node.string][node.token].kind in (TokenKind.OPEN, TokenKind.EMPTY)

    def source(self, node: StreamNode, start: int, end: int) -> tuple[int, int]:
        """Return where the stream's [start, end), a part of *node*, stands in the node's string."""
        if self.is_tag(node):
            return node.start, node.end
        runs = self._runs_of(node)
        first = runs[bisect_right(runs, start, key=_at) - 1]
        last = runs[bisect_left(runs, end, key=_at) - 1]
        return (
            first.start + (start - first.at if first.is_plain else 0),
            last.start + end - last.at if last.is_plain else last.end,
        )

    def range_of(self, node: StreamNode, start: int, end: int) -> tuple[int, int]:
        """Return the characters of *node* in the stream that stand in [start, end) of its string; may be empty."""
        if start <= node.start and end >= node.end:
            return node.at, node.at + node.length
        runs = self._runs_of(node)
        low = bisect_right(runs, start, key=_end)
        high = bisect_left(runs, end, key=_start) - 1
        if low > high:
            return node.at, node.at
        first, last = runs[low], runs[high]
        return (
            first.at + (max(start - first.start, 0) if first.is_plain else 0),
            last.at + (min(end, last.end) - last.start if last.is_plain else last.length),
        )

    def _runs_of(self, node: StreamNode) -> list[Run]:
        """Return what stands in a text without white space, in order; an entity is a run of its own."""
        runs = self._runs.get(node.at)
        if runs is not None:
            return runs
        runs = self._runs[node.at] = []
        at = node.at
        source = self.strings[node.string]
        for begin, end, decoded in (
            _pieces(source, node.start, node.end) if node.coded else [(node.start, node.end, None)]
        ):
            if decoded is not None:
                length = len(self._shown("".join(decoded.split())))
                if length:
                    runs.append(Run(at, length, begin, end))
                    at += length
                continue
            for run in _RUN.finditer(source, begin, end):
                length = run.end() - run.start()
                if self._shown is str or len(self._shown(run[0])) == length:
                    runs.append(Run(at, length, run.start(), run.end()))
                    at += length
                    continue
                for place, character in enumerate(run[0], run.start()):  # one of them is folded to several
                    runs.append(Run(at, len(self._shown(character)), place, place + 1))
                    at += runs[-1].length
        return runs

    @cached_property
    def words(self) -> list[tuple[int, str]]:
        """(First character in the stream, word) of all words, in order."""
        found: list[tuple[int, str]] = []
        for node in self.nodes:
            if self.is_tag(node):
                continue
            source = self.strings[node.string][node.start : node.end]
            at = node.at
            for match in _WORD_OR_SPACE.finditer(self._shown(unescape(source) if node.coded else source)):
                if match.lastindex:
                    found.append((at + match.start(), match[0]))
                else:
                    at -= match.end() - match.start()
        return found


def _pieces(source: str, start: int, end: int) -> Iterator[tuple[int, int, str | None]]:
    """Yield (start, end, what it is decoded to) of a text with entities; None for plain text between them."""
    at = start
    for reference in _REFERENCE.finditer(source, start, end):
        decoded = unescape(reference[0])
        if decoded == reference[0]:
            continue
        if at < reference.start():
            yield at, reference.start(), None
        yield reference.start(), reference.end(), decoded
        at = reference.end()
    if at < end:
        yield at, end, None
