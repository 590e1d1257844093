"""Control characters in texts of sites, which act on a terminal or hide in a file: written as escapes."""

import re
from typing import Final

__all__ = ["escaped"]

#: C0 but for tab and newline, DEL and C1, line and paragraph separators, and what turns the direction of a text.
_CONTROL: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    r"""Return *text* with each control character as an escape, which TOML and JSON read as that character.

    >>> escaped("a\tb\x1b[31m\u202e")
    'a\tb\\u001b[31m\\u202e'
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
