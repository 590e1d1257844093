"""TOML read: what a file says, and the line of each key of it, for faults."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def parsed(text: str, path: Path) -> dict[str, Any]:
    """Return what the TOML in the file at *path* says. Raises RuleFileError."""
    try:
        return _loads(text)
    except ValueError as error:
        said, _, place = str(error).partition("at line ")
        found = re.match("[0-9]+", place)
        # What ends too soon is said to be "(at end of document)": that is the last line with something in it.
        line = int(found[0]) if found else len(text.rstrip().splitlines()) or 1
        said = said.removesuffix(" (at end of document)")
        said = next((plain for start, plain in _PLAIN.items() if said.startswith(start)), said.rstrip(" ("))
        raise RuleFileError(path, line, f"invalid TOML: {said}", "correct the line") from None


class Lines:
    """Finds the lines of keys in a file of tables that begin with headers."""

    def __init__(self, text: str, is_header: Callable[[str], object]) -> None:
        self._lines = text.splitlines()
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
        for key in keys:
            quoted = re.escape(key)
            pattern = re.compile(rf"""(?:^|[\s,{{.\[])["']?{quoted}["']?\s*(?:=|\]|\.)""")
            for number in range(first, last):
                if pattern.search(self._lines[number]):
                    first, line = number, number + 1
                    break
        return line

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
