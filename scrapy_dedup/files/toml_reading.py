"""TOML read: what a file says, and the line of each key of it, for faults."""

import re
import sys
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .errors import RuleFileError

if sys.version_info >= (3, 11):
    from tomllib import loads as _loads
else:

    def _loads(text: str) -> dict[str, Any]:
        # tomlkit is here to write; to read with it takes twenty times as long.
        from tomlkit import parse

        return parse(text).unwrap()


__all__ = ["Lines", "parsed", "site_meant"]

#: What parsers say, by its beginning, in words that tell what to look for.
_PLAIN: dict[str, str] = {
    "Illegal character '\\n'": "a string is not closed",
    "Unterminated string": "a string is not closed",
    "Control characters (codes less than 0x1f and 0x7f) are not allowed in strings, use \\u000a": "a string is not closed",
    'Expected "\'"': "a string is not closed",
    "Cannot overwrite a value": "this key is there already",
}
#: Lists and tables in one another, and parts of a key: ours have six. Parsers call themselves for each, or take the square of the time.
_DEEPEST: Final = 32
_NUMBER: Final = r"(?<![\w.-])[0-9]\w{99}"
_LONG_STRING: Final = r'''"""(?s:(?:[^\\]|\\.)*?)(?:"""|\Z)|\'\'\'(?s:.*?)(?:\'\'\'|\Z)'''
_STRING: Final = r""""(?:[^"\\\n]|\\.)*(?:"|\\?$)|\'[^\'\n]*(?:\'|$)"""
_marks = re.compile(rf"{_LONG_STRING}|{_STRING}|#.*|[\[\]{{}}.=,\n]|{_NUMBER}", re.MULTILINE).finditer
_words = re.compile(rf"{_STRING}|#.*|[\w-]+").finditer
_ends_key = re.compile(r"\s*[=\].]").match


def parsed(text: str, path: Path) -> dict[str, Any]:
    """Return what the TOML in the file at *path* says. Raises RuleFileError."""
    too_much = _too_much(text)
    if too_much is not None:
        raise RuleFileError(path, *too_much, "correct the line")
    try:
        return _loads(text)
    except ValueError as error:
        said, _, place = str(error).partition("at line ")
        found = re.match("[0-9]+", place)
        # What ends too soon is said to be "(at end of document)": that is the last line with something in it.
        line = int(found[0]) if found else text.rstrip().count("\n") + 1
        said = said.removesuffix(" (at end of document)")
        said = next((plain for start, plain in _PLAIN.items() if said.startswith(start)), said.rstrip(" ("))
        raise RuleFileError(path, line, f"invalid TOML: {said}", "correct the line") from None


def _too_much(text: str) -> tuple[int, str] | None:
    """Return (the line, what is there too much of) for the first thing that no file needs and that stops its readers."""
    depth = dots = 0
    for found in _marks(text):
        mark = found[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark == ".":
            dots += 1
        elif mark in "=,\n":
            dots = 0
        if depth + dots > _DEEPEST or mark[0].isdigit():
            problem = f"more than {_DEEPEST} lists, tables or parts of a key in one another"
            line = text.count("\n", 0, found.start()) + 1
            return line, "a number of a hundred digits or more" if mark[0].isdigit() else problem
    return None


class Lines:
    """Finds the lines of keys in a file of tables that begin with headers."""

    def __init__(self, text: str, is_header: Callable[[str], object]) -> None:
        self._lines = text.split("\n")
        #: Of each block that was asked for: key -> the lines where it stands.
        self._keys: dict[int, dict[str, list[int]]] = {}
        headers = [number for number, line in enumerate(self._lines) if is_header(line)]
        self._blocks = [*headers, len(self._lines)]

    def line(self, table: int | None, *keys: str) -> int | None:
        """Return the number of the line of the last of *keys* in a table, by its index (None: before the first)."""
        if table is None:
            first, last = 0, self._blocks[0]
        elif table < len(self._blocks) - 1:
            first, last = self._blocks[table], self._blocks[table + 1]
        else:  # tables in another spelling, such as rule = [{..}]
            return None
        line = first + 1 if table is not None else None
        known = self._keys.get(first)
        if known is None:
            known = self._keys[first] = self._keys_in(first, last)
        for key in keys:
            places = known.get(key, [])
            at = bisect_left(places, first)
            if at < len(places):
                first, line = places[at], places[at] + 1
        return line

    def _keys_in(self, first: int, last: int) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number in range(first, last):
            for word in _words(self._lines[number]):
                if _ends_key(self._lines[number], word.end()):
                    found.setdefault(word[0].strip("\"'"), []).append(number)
        return found

    def holding(self, text: str, line: int) -> int:
        """Return the number of the first line from *line* on that holds *text*; *line* if none does."""
        found = (number for number in range(line, len(self._lines) + 1) if text in self._lines[number - 1])
        return next(found, line)


def site_meant(site: str) -> str:
    """Return the site that one who writes *site* means; a rule of another one would never act.

    >>> site_meant("https://www.Example.com/"), site_meant("my shops")
    ('example.com', 'my shops')
    """
    meant = re.sub(r"^[a-z]+://|/.*$", "", site)
    if "." not in meant:  # a site group's name, localhost
        return meant
    short = meant.lower().removeprefix("www.")
    return short if "." in short else meant.lower()
