"""What a tag says of its element: name, id, classes, and the value that is content.

Most tags of a page are like others but for the values of their attributes. So they are read by their *outline*,
the tag without what stands in double quotes, of which a site has few.
"""

import re
from typing import NamedTuple

from .markup import ATTRIBUTE, CONTENT_ATTRIBUTES, TAG_NAME, lower
from .memo import Memo

__all__ = ["Tag", "read_tag"]


class Tag(NamedTuple):
    """The text of a tag, read."""

    is_end: bool
    name: str
    identifier: str
    classes: str
    #: Whether it ends with a slash.
    closed: bool
    #: Start and end of the value that is content in the tag's text; (0, 0) without one.
    value: tuple[int, int]


class _Outline(NamedTuple):
    """How to read all tags of one outline: which of the quoted values (from 1; 0: none) is what.

    ``identifier`` and ``classes`` are those that are not quoted.
    """

    is_end: bool
    name: str
    closed: bool
    identifier: str
    identifier_at: int
    classes: str
    classes_at: int
    value_at: int


def read_tag(text: str) -> Tag | None:
    """Return what the text of a tag (between its angle brackets) says; None if it is not that of a complete tag."""
    parts = text.split('"')
    outline = _outlines['"'.join(parts[::2])] if len(parts) & 1 else None
    if outline is None:
        return _read(text)
    is_end, name, closed, identifier, identifier_at, classes, classes_at, value_at = outline
    if identifier_at:
        identifier = parts[2 * identifier_at - 1]
    if classes_at:
        classes = parts[2 * classes_at - 1]
    if not value_at:
        return Tag(is_end, name, identifier, classes, closed, (0, 0))
    before = 2 * value_at - 1
    first = sum(map(len, parts[:before])) + before
    return Tag(is_end, name, identifier, classes, closed, (first, first + len(parts[before])))


def _outline(outline: str) -> _Outline | None:
    # With empty values each pair of quotes is two characters. Those that the reader takes for a value are one
    # whatever stands in it, as no value has a quote or a ">" in it here.
    found = _parsed(outline.replace('"', '""'))
    if found is None or found.quoted != outline.count('"'):
        return None
    identifier, identifier_at = found.value_of("id")
    classes, classes_at = found.value_of("class")
    _, value_at = found.value_of(found.wanted)
    if found.wanted in found.attributes and not value_at:
        return None
    return _Outline(found.is_end, found.name, found.closed, identifier, identifier_at, classes, classes_at, value_at)


# Outline -> how to read it; None where its quotes do not stand around values, or for no complete tag.
_outlines = Memo(_outline, each=200)


def _read(text: str) -> Tag | None:
    """Read a tag of which the outline does not say enough."""
    found = _parsed(text)
    if found is None:
        return None
    value = 0, 0
    if found.wanted in found.attributes:
        match, _ = found.attributes[found.wanted]
        value = match.span(next((name for name in ("double", "single", "plain") if match[name] is not None), "plain"))
    return Tag(found.is_end, found.name, found.value_of("id")[0], found.value_of("class")[0], found.closed, value)


class _Parsed(NamedTuple):
    """The parts of a tag; ``wanted`` is the name of the attribute that is content."""

    is_end: bool
    name: str
    closed: bool
    wanted: str
    #: The first attribute of each name that counts, and its number among those in double quotes, 0 for others.
    attributes: dict[str, tuple[re.Match[str], int]]
    quoted: int

    def value_of(self, attribute: str) -> tuple[str, int]:
        """Return value and number of an attribute."""
        if attribute not in self.attributes:
            return "", 0
        match, at = self.attributes[attribute]
        return match["double"] or match["single"] or match["plain"] or "", at


def _parsed(text: str) -> _Parsed | None:
    head = TAG_NAME.match(text)
    if head is None:
        return None
    name = lower(head[2])
    wanted = CONTENT_ATTRIBUTES.get(name, "")
    attributes: dict[str, tuple[re.Match[str], int]] = {}
    quoted = 0
    closed = head.end() < len(text) and text[-1] == "/"
    for match in ATTRIBUTE.finditer(text, head.end()):
        key, double, double_end, _, single_end, plain, end = match.groups()
        if end is not None:
            break
        if double_end == "" or single_end == "":
            return None  # the value goes on after ">"
        if plain is not None and match.end() == len(text):
            closed = False  # the slash is part of the value
        quoted += double is not None
        key = lower(key)
        if key in ("id", "class", wanted):
            attributes.setdefault(key, (match, 0 if double is None else quoted))
    return _Parsed(bool(head[1]), name, closed, wanted, attributes, quoted)
