"""Tags of HTML, each by itself: what one says, and where in it.

Tags are read alike from the source of a page and from what lxml writes of its tree.
"""

import re
from enum import Enum
from html import unescape
from typing import Final, NamedTuple

from .remembered import Remembered
from .selectors import step_of
from .unseen import Value, is_unseen, kept_text, values_of

__all__ = ["ATTRIBUTE", "SPACE", "Tag", "TokenKind", "decoded", "decoded_value", "tag_of"]

_LONGEST_NAME: Final = 64
_VOID: Final = frozenset("area base basefont br col frame hr img input isindex link meta param".split())
SPACE: Final = r" \t\n\f\r"
ATTRIBUTE: Final = rf"""
    [{SPACE}/]*(?P<name>[^{SPACE}/>][^{SPACE}/>=]*)
    (?:[{SPACE}]*=[{SPACE}]*
        (?:"(?P<double>[^"]*)(?:"|\Z) | '(?P<single>[^']*)(?:'|\Z) | (?P<plain>[^{SPACE}>"'][^{SPACE}>]*))?
    )?
"""
"""An attribute, in a verbose pattern. Whatever is written up to a ``>`` is one, so that no pattern has to go back."""

_attributes = re.compile(rf"{ATTRIBUTE}|[{SPACE}/]+", re.VERBOSE).finditer
_start = re.compile(rf"</?([^{SPACE}/>]*)").match
_reference = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[a-zA-Z][a-zA-Z0-9]*(?:;|(?![=a-zA-Z0-9])))")
_number = re.compile(r"&#0*(?=[0-9])(?:([0-9]{1,7})(?![0-9])|[0-9]+;?)")


class TokenKind(str, Enum):
    """What a token is."""

    OPEN = "open"
    CLOSE = "close"
    #: A tag of an element that has no contents, or one that is ignored (a second body).
    EMPTY = "empty"
    TEXT = "text"
    #: What is never shown: comments, declarations, instructions, a tag that the page's end cuts off.
    COMMENT = "comment"
    #: Texts in scripts, styles, templates and noscript: never seen.
    RAW = "raw"


class Tag(NamedTuple):
    """What a tag says: its name, the step of the element that it opens, and the values of its attributes, as offsets in it."""

    kind: TokenKind
    name: str = ""
    step: str = ""
    values: tuple[Value, ...] = ()


def _read_tag(text: str) -> Tag:
    head = _start(text)
    name, at = (head[1][:_LONGEST_NAME].lower(), head.end()) if head else ("", 0)
    if text.startswith("</"):
        return Tag(TokenKind.CLOSE, name)
    starts: dict[str, int] = {}
    written: dict[str, str] = {}
    for match in _attributes(text, at):
        group, attribute = match.lastgroup or "name", (match["name"] or "").lower()
        at = match.end() if attribute else at
        if group != "name" and attribute not in starts:
            starts[attribute], written[attribute] = match.start(group), match[group]
    kind = TokenKind.EMPTY if name in _VOID or text.endswith("/>", at) else TokenKind.OPEN
    step = step_of(name, decoded_value(written.get("id", "")), decoded_value(written.get("class", "")))
    values: list[Value] = []
    for attribute, full, first, last in values_of(name, written):
        value = decoded_value(written[attribute][first:last])
        value = kept_text(value, attribute) if is_unseen(full) else value
        if value:
            values.append((full, value, starts[attribute] + first, starts[attribute] + last))
    return Tag(kind, name, step, tuple(values))


tag_of: Final = Remembered(_read_tag, len)
"""What the text of a whole tag, ``<a href="/b">``, says."""


def decoded(text: str) -> str:
    """Return a text with its character references decoded, and without NUL."""
    if "&#" in text:
        # int() would refuse, or take its time over, thousands of digits.
        text = _number.sub(lambda match: f"&#{match[1]}" if match[1] else "\ufffd", text)
    return unescape(text).replace("\0", "")


def decoded_value(value: str) -> str:
    """Return the value of an attribute with its references decoded: ``?a=1&copy=2`` holds none."""
    plain = _reference.sub(lambda match: decoded(match[0]), value) if "&" in value else value
    return plain.replace("\0", "")
