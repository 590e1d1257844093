"""What a tag says of its element: name, id, classes, and the value that is content.

Most tags of a page are like others but for the values of their attributes. So they are read by their *outline*,
the tag without what stands in double quotes, of which a site has few; and those that do the same share what they are like.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from .markup import ATTRIBUTE, CONTENT_ATTRIBUTES, TAG_NAME, decoded_attribute, lower
from .memo import Memo
from .selectors import step_of

Shape = tuple[str, str, str, bool]
"""Of a start tag: name, id, classes, whether it ends with a slash. It decides what the tag does."""
BEFORE_VALUE = {name: f' {attribute}="' for name, attribute in CONTENT_ATTRIBUTES.items()}
_DIGITS = dict.fromkeys(range(ord("1"), ord("9") + 1), "0")
_SAME_DIGITS = bytes.maketrans(b"123456789", b"000000000")


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


def alike_of(tag: str) -> tuple[str | bytes, bool]:
    """Return what a tag shares with all that do the same at a place, "" where that is not known; and whether it differs from it in digits.

    Tags of an element with a value differ in that value (*tag* without it), others in digits.
    """
    name, space, _ = tag.partition(" ")
    if not space:
        return "", False
    before = BEFORE_VALUE.get(name)
    if before is None:
        # A step depends on no digits but those of the element's name and of references; they share one.
        if "&" in tag:
            return "", False
        # Of bytes, digits are replaced in a tenth of the time.
        written = tag.encode() if tag.isascii() else tag.encode("utf-8", "surrogatepass")
        alike = written.translate(_SAME_DIGITS)
        varies = alike != written
        if not name.isalpha():
            alike += b">" + name.encode("utf-8", "surrogatepass")
        return alike, varies
    # That the value is where it is looked for is known of the first tag with the same text before; no tag has a ">" in
    # its text.
    head, _, tail = tag.partition(before)
    text, end, tail = tail.partition('"')
    return (f"{head}>{tail}", False) if text and end else ("", False)


def quoted_value(tag: str) -> tuple[int, int]:
    """Return start and end of the value of a tag of an element that has one, where :func:`alike_of` found it; else (0, 0)."""
    before = BEFORE_VALUE.get(tag.partition(" ")[0])
    if before is None:
        return 0, 0
    start = tag.index(before) + len(before)
    return start, tag.index('"', start)


@lru_cache(4096)
def shape_step(shape: Shape) -> str:
    """Return the step of a selector for an element of this shape."""
    name, identifier, classes, _ = shape
    return step_of(name, decoded_attribute(identifier), decoded_attribute(classes))


def without_digits(name: str) -> str:
    """Return an id or the classes with 0 for each digit, if no reference stands in them."""
    # A step has 0 for all numbers, and whether a name looks random does not depend on which digits it has.
    return name if "&" in name else name.translate(_DIGITS)
