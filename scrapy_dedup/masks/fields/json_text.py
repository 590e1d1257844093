r"""JSON in a field: its strings decoded, and the JSON with other strings in their place.

A field may hold a document (``json.dumps(...)``, what a script of the page holds) or a piece out of one, such as
``"Caf\u00e9 \"12\" users\nonline"`` with or without its quotes. Names in objects are not looked at.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..ranges import Range, overlapping

__all__ = ["JsonText", "json_text"]

#: A string, then a colon if it is a name; or a number, true, false or null.
_SCALAR = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[-+.\w]+')
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)


class _JsonString(NamedTuple):
    """A string between its quotes, or a value of another kind."""

    start: int
    end: int
    is_string: bool


class JsonText:
    """JSON that a field holds."""

    def __init__(self, source: str, literals: list[_JsonString], *, is_document: bool) -> None:
        self._source = source
        self._literals = literals
        #: Whether it is an object or an array; a string may be text in quotes as well.
        self.is_document = is_document
        #: What its strings mean.
        self.strings = [decoded(source[each.start : each.end]) for each in literals if each.is_string]

    def with_strings(self, new: Sequence[str]) -> str:
        """Return the JSON with *new* strings; each is written as the one in whose place it stands."""
        ascii_only = self._source.isascii()
        parts: list[str] = []
        at = 0
        places = [each for each in self._literals if each.is_string]
        for place, old, string in zip(places, self.strings, new, strict=True):
            if string != old:
                written = _encoded(string, self._source[place.start : place.end], ascii_only=ascii_only)
                parts += [self._source[at : place.start], written]
                at = place.end
        return "".join([*parts, self._source[at:]])

    def rewritten(self, cuts: list[Range], rewrite: Callable[[str, list[Range]], str]) -> str:
        """Return the JSON without *cuts*, places in its source; what is no string and cut as a whole is null then.

        *rewrite* makes of a string, and places in it, the string without them.
        """
        parts: list[str] = []
        at = 0
        for literal in self._literals:
            inside = [
                (max(start, literal.start), min(end, literal.end))
                for start, end in overlapping(cuts, literal.start, literal.end)
            ]
            source = self._source[literal.start : literal.end]
            if not literal.is_string:
                new = "null" if (literal.start, literal.end) in inside else source
            elif inside:
                places = list(_places(source, [(start - literal.start, end - literal.start) for start, end in inside]))
                new = _encoded(rewrite(decoded(source), places), source, ascii_only=self._source.isascii())
            else:
                continue
            parts += [self._source[at : literal.start], new]
            at = literal.end
        return "".join([*parts, self._source[at:]])


def json_text(text: str) -> JsonText | None:
    """Return the JSON that *text* is; None if it is none, or says as plain text what it means."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[", '"'):
        if not _is_json(stripped):
            return None
        literals = [
            _JsonString(*(found.span(1) if found[1] is not None else found.span()), found[1] is not None)
            for found in _SCALAR.finditer(text)
            if not found[2]
        ]
        return JsonText(text, literals, is_document=stripped[0] != '"')
    if "\\" in text and _is_json(f'"{text}"'):
        return JsonText(text, [_JsonString(0, len(text), True)], is_document=False)
    return None


def decoded(source: str) -> str:
    """Return the string that JSON writes as *source*."""
    return str(json.loads(f'"{source}"'))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _encoded(string: str, like: str, *, ascii_only: bool) -> str:
    """Return *string* as JSON writes it, with the escapes that *like* has."""
    escapes = {decoded(each): each for each in dict.fromkeys(_CHARACTER.findall(like)) if each[0] == "\\"}
    made = {
        char: escapes.get(char) or json.dumps(char, ensure_ascii=ascii_only)[1:-1] for char in dict.fromkeys(string)
    }
    return "".join([made[char] for char in string])


def _places(source: str, cuts: list[Range]) -> Iterator[Range]:
    """Yield where *cuts*, sorted places in the source of a string, stand in what it means; an escape is cut or it is not."""
    at = 0
    ends = [0, *(character.end() for character in _CHARACTER.finditer(source))]
    for start, end in cuts:
        while ends[at] < start:
            at += 1
        first = at
        while at + 1 < len(ends) and ends[at + 1] <= end:
            at += 1
        if first < at:
            yield first, at
