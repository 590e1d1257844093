"""Dictionaries of structured HTTP fields, read. (RFC 9651, section 4.2.)

Nothing here knows what a field means. Parameters of items are read and left out.
"""

import re
from dataclasses import dataclass

__all__ = ["FieldError", "Item", "Other", "dictionary"]

_KEY = re.compile(r"[a-z*][a-z0-9_\-.*]*")
_STRING = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
# What the fields that are read here never have as a value: it only has to be passed over.
_OTHERS = re.compile(
    r"@?-?[0-9]{1,15}(?:\.[0-9]{1,3})?"  # number, date
    r"|[A-Za-z*][A-Za-z0-9!#$%&'*+\-.^_`|~:/]*"  # token
    r"|:[A-Za-z0-9+/=]*:"  # bytes
    r'|%"(?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*"'  # display string
)


class FieldError(ValueError):
    """A text that is no dictionary of a structured field; the message is half a sentence."""


@dataclass(frozen=True, slots=True)
class Other:
    """A value of a type that is nothing but passed over, as it is written."""

    text: str


Item = str | bool | Other


def dictionary(text: str) -> dict[str, Item | list[Item]]:
    """Return the members of the dictionary that *text* is; of one key the last value counts.

    >>> dictionary('a, b=("x" "y");q=1, c=?0, d=12.5')
    {'a': True, 'b': ['x', 'y'], 'c': False, 'd': Other(text='12.5')}

    Raises FieldError.
    """
    reader = _Reader(text)
    members: dict[str, Item | list[Item]] = {}
    reader.skip(" ")
    while not reader.at_end:
        key = reader.taken(_KEY, "a key in lower case")
        if reader.next_is("="):
            members[key] = reader.inner_list() if reader.next_is("(") else reader.item()
        else:
            members[key] = True
        reader.parameters()
        reader.skip(" \t")
        if reader.at_end:
            break
        if not reader.next_is(","):
            raise reader.error("a comma")
        reader.skip(" \t")
        if reader.at_end:
            raise reader.error("another member after the comma")
    return members


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text.rstrip(" ")
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._text)

    def error(self, wanted: str) -> FieldError:
        found = self._text[self._at : self._at + 20]
        return FieldError(f"{wanted} is missing " + (f"before {found!r}" if found else "at the end"))

    def skip(self, chars: str) -> None:
        while not self.at_end and self._text[self._at] in chars:
            self._at += 1

    def next_is(self, char: str) -> bool:
        """Take *char* where it is next."""
        if self._text[self._at : self._at + 1] != char:
            return False
        self._at += 1
        return True

    def taken(self, pattern: re.Pattern[str], wanted: str) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise self.error(wanted)
        self._at = match.end()
        return match[match.re.groups]

    def item(self) -> Item:
        if self._text.startswith('"', self._at):
            return re.sub(r"\\(.)", r"\1", self.taken(_STRING, "a string in ASCII with its closing quote"))
        if self.next_is("?"):
            return self.taken(re.compile("[01]"), "0 or 1") == "1"
        return Other(self.taken(_OTHERS, "a value"))

    def inner_list(self) -> list[Item]:
        items: list[Item] = []
        while True:
            self.skip(" ")
            if self.next_is(")"):
                return items
            if items and self._text[self._at - 1] != " ":
                raise self.error("a space or the closing bracket")
            items.append(self.item())
            self.parameters()
            if self.at_end:
                raise self.error("the closing bracket")

    def parameters(self) -> None:
        while self.next_is(";"):
            self.skip(" ")
            self.taken(_KEY, "a parameter's name")
            if self.next_is("="):
                self.item()
