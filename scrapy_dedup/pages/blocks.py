"""Rows of a response: each text and each value in it, under the selector of the place where it stands.

Of a page they come from the tree that lxml makes of it, which the spider's selectors have made already: lxml writes it as
well-formed markup in a tenth of the time in which Python walks through it. Of a JSON answer each leaf is one, under the keys
that lead to it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Final, NamedTuple

from lxml import etree

from .remembered import Remembered
from .selectors import inside
from .tags import tag_of
from .unseen import MOST, MOST_OF_SCRIPT, Value, comment_values, is_unseen, kept_text, script_values

__all__ = ["HIDING", "JSON", "Row", "Rows", "json_rows", "rows_of"]

Row = tuple[str, str, str]
"""Selector, attribute, text; the attribute is "" for a text that is seen, else see :mod:`.unseen`."""

HIDING: Final = frozenset(("script", "style", "template", "noscript"))
"""Elements whose texts nobody sees."""
JSON: Final = "$"
"""Begins the selectors of the leaves of JSON answers, and no other: names of elements begin with a letter."""
_WORDS: Final = {"None": "null", "True": "true", "False": "false"}
_LONGEST: Final = 4_000
_KEY: Final = {ord(sign): f"%{ord(sign):02X}" for sign in "%.[] \t\n\f\r\0"}

_pieces = re.compile(r"<(?:!--.*?--(?=>)|\?[^>]*)?[^<]*", re.DOTALL).findall
"""Markup as lxml writes it: tags and comments, each with the text behind it."""
_ESCAPES: Final = {"&lt;": "<", "&gt;": ">", "&#9;": "\t", "&#10;": "\n", "&#13;": "\r", "&#xFFFD;": "\ufffd"}
"""What lxml writes for signs, the last one for control characters; beside ``&amp;``, which pages write so, too."""
_hiding = lru_cache(4096)(re.compile(rf"(?<![^/])({'|'.join(sorted(HIDING))})(?![^/#.])").findall)
"""From a selector to the elements in it that hide texts, the outermost first."""


class Rows(NamedTuple):
    """The rows of a response, in order."""

    #: Texts that are seen, and values of attributes that are content: where a link leads, what is shown or sent.
    seen: list[Row]
    #: All other values.
    unseen: list[Row]


def rows_of(root: etree._Element) -> Rows:
    """Return the rows of a page, given by the root of its tree."""
    found = Rows([], [])
    for tree in (root, *root.itersiblings("*")):  # what stands after </html> is beside it
        _read(etree.tostring(tree, encoding="unicode"), found)
    del found.unseen[MOST:]
    return found


def _read(markup: str, found: Rows) -> None:
    seen, unseen = found
    selector = ""
    around: list[str] = []
    for piece in _pieces(markup):
        if piece[1] == "/":
            selector = around.pop()
        inner, shown, others = _read_pieces[selector, piece]
        seen += shown
        unseen += others
        if inner:
            around.append(selector)
            selector = inner


def _read_piece(key: tuple[str, str]) -> tuple[str, tuple[Row, ...], tuple[Row, ...]]:
    """Return the selector of the element that a tag opens, "" for none, and the rows of what is written: those seen, and others.

    Of a piece of markup, and the selector of the element in which it stands.
    """
    selector, piece = key
    written, end, text = piece.partition("-->" if piece[1] == "!" else ">")
    values: Sequence[Value] = ()
    place, inner = selector, ""
    if piece[1] in "!?":
        values = comment_values(written + end)
    elif piece[1] != "/":
        tag = tag_of[_plain(written + end)]
        place, values = inside(selector, tag.step), tag.values
        inner = "" if written[-1] == "/" else place
    rows = [(place, name, value) for name, value, _, _ in values]
    place = inner or selector
    if not (hiding := _hiding(place)):
        rows += [(place, "", shown) for shown in [" ".join(_plain(text).replace("&amp;", "&").split())] if shown]
    elif hiding[-1] != "style":
        script = _plain(text[: 5 * MOST_OF_SCRIPT]).replace("&amp;", "&")[:MOST_OF_SCRIPT]
        rows += [(place, name, value) for name, value, _, _ in script_values(script)]
    return (
        inner,
        tuple([row for row in rows if not is_unseen(row[1])]),
        tuple([row for row in rows if is_unseen(row[1])]),
    )


def _plain(written: str) -> str:
    """Return what lxml has written without its escapes but those of ``&``."""
    for escape, sign in _ESCAPES.items() if "&" in written else ():
        written = written.replace(escape, sign)
    return written


_read_pieces = Remembered(_read_piece, lambda key: len(key[1]))


def json_rows(body: str | bytes) -> Rows | None:
    """Return the rows of a JSON answer, one for each leaf, in the order of their keys; None if it is no JSON. Never raises.

    All of it is there to be read: none is unseen.

    >>> json_rows('{"offers": [{"price": 12.50, "old": null}], "id": 7}').seen
    [('$.id', '', '7'), ('$.offers[].old', '', 'null'), ('$.offers[].price', '', '12.50')]
    """
    try:
        # Numbers stay as they are written: 1.0 is not 1, and one of a million digits is no work.
        top = json.loads(body, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return Rows(list(_leaves(top)), [])


def _leaves(top: Any) -> Iterator[Row]:
    waiting = [(JSON, top)]
    while waiting:
        selector, value = waiting.pop()
        if isinstance(value, str):
            yield selector, "", value.replace("\0", "\ufffd") if "\0" in value else value
        elif isinstance(value, dict) and value:
            waiting += [(_member(selector, key), value[key]) for key in sorted(value, reverse=True)]
        elif isinstance(value, list) and value:
            waiting += zip(repeat(_member(selector, None)), reversed(value))
        else:
            yield selector, "", _WORDS.get(repr(value), repr(value))


@lru_cache(4096)
def _member(selector: str, key: str | None) -> str:
    """Return the selector of a member of an object, or of a list."""
    step = "[]" if key is None else f".{kept_text(key).translate(_KEY)}"
    return selector if len(selector) + len(step) > _LONGEST else selector + step
