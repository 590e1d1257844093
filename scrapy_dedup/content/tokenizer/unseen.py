"""Values of a page that nobody sees: attributes, scripts, comments. They are tokens, too, and may be transient.

Source: transient-content, the passage on tag tokens and content tokens (FIG. 1). A csrf token in a meta tag, the nonce and the state of a
script, a comment with the time of rendering, the ``?v=`` of a style sheet. They are not what the page shows: pages are never
compared by them.

Each is a :class:`.tokens.Block` whose ``attribute`` is no attribute that is content (:func:`is_unseen`):

- ``data-request``: the value of an attribute;
- ``content[name=csrf-token]``: that of a meta tag with this name, ``href[rel=icon]``: that of such a link;
- ``src[?v]``, ``data-state[token]``, ``#script[nonce]``, ``href[rel=icon][?v]``: a value inside a value (:mod:`.literals`), also
  inside the address of a picture, which is content as a whole;
- ``#comment[cache]``: a comment, by the first word in it.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .literals import LONGEST, NamedValue, in_address, in_attribute, in_script, kept_text, key_of
from .markup import ATTRIBUTE, CONTENT_ATTRIBUTES, SPACE, TAG_NAME, decoded_attribute, lower
from .memo import Memo
from .scanning import scan
from .selectors import step_of
from .token_kinds import COMMENT, EMPTY, OPEN, RAW_TEXT
from .tokens import Block

__all__ = [
    "COMMENT_NAME",
    "SCRIPT_NAME",
    "SOURCE",
    "attribute_spans",
    "comment_span",
    "is_unseen",
    "meant_by",
    "unseen_blocks",
]

SCRIPT_NAME: Final = "#script"
"""Stands for an attribute where the contents of an element are meant that are no text: of a script, a template."""
COMMENT_NAME: Final = "#comment"
"""The same of a comment that stands in the element."""
SOURCE: Final = "src"
"""Of the attributes that are content the one that loads what is not shown as it is written: its parameters are no content."""
MOST: Final = 4_000
"""Values of a page that are looked at, the first ones."""
_LONGEST_COMMENT: Final = 1_000
_SEEN: Final = frozenset(("", *CONTENT_ATTRIBUTES.values()))
_LOOKS: Final = frozenset(("class", "style", "id"))
"""Attributes that say what an element looks like. Selectors are made of ids and classes."""
_NAMING: Final = {"meta": ("name", "property", "itemprop", "http-equiv"), "link": ("rel",)}
"""Elements of which a page has many, and the attributes that tell them apart."""
_READ: Final = frozenset(("alt", "title", "placeholder", "label", "summary", "aria-label", "aria-description"))
"""Attributes whose values are read as texts are: nothing in them is an address or a script."""

_word = re.compile(r"(?<!\w)[^\W\d_]{2,64}(?!\w)").search
_quoted = re.compile(r"""["']|&(?:quot|apos|#34|#39|#x27|#x22);""").search


_parts = re.compile(r"([^\[]*)(?:\[([^=?\]]+)=([^\]]*)\])?(?:\[([^\]]*)\])?").fullmatch


class Meant(NamedTuple):
    """What the name of an attribute says."""

    name: str
    #: Another attribute of the element, and its value; "" for none.
    other: str = ""
    value: str = ""
    #: What a value inside its value is called there.
    part: str = ""


def meant_by(attribute: str) -> Meant:
    """Return what the name of an attribute says.

    >>> meant_by("href[rel=icon][?v]")
    Meant(name='href', other='rel', value='icon', part='?v')
    """
    found = _parts(attribute)
    return Meant(*[group or "" for group in found.groups()]) if found is not None else Meant(attribute)


def is_unseen(attribute: str) -> bool:
    """Return whether values under this name are no content that is shown, or that a link leads to, or that a form holds."""
    return attribute not in _SEEN


class _ValueOutline(NamedTuple):
    """How to read all tags that differ in quoted values only: which of these (from 1) is what, 0 for none."""

    name: str
    identifier: int
    classes: int
    #: The attribute that tells it from others of its name, and the number of its value.
    naming: tuple[str, int]
    values: tuple[tuple[str, int], ...]
    #: Whether these are but an address that is content: what is inside of it alone counts.
    is_address: bool


def unseen_blocks(html: str) -> list[Block]:
    """Return the values that a page has beside its blocks (:func:`.tokens.blocks`), in order; never raises on any text.

    >>> page = '<body data-r="4f2a"><script>s = {"at": 12}</script><!-- made at 9:30 -->'
    >>> [(block.attribute, block.text) for block in unseen_blocks(page)]
    [('data-r', '4f2a'), ('#script[at]', '12'), ('#comment[made]', 'made at 9:30')]
    """
    found: list[Block] = []
    for block in _blocks(html):
        found.append(block)
        if len(found) == MOST:
            break
    return found


def _blocks(html: str) -> Iterator[Block]:
    start = 0
    for columns in scan(html):
        for end, (kind, name, path, selector, _) in zip(columns.ends, columns.rows, strict=True):
            if kind in (OPEN, EMPTY):
                if end - start > len(name) + 4:
                    yield from _of_tag(html, start, end, selector, name)
            elif kind == COMMENT:
                yield from _of_comment(html, start, end, selector)
            elif kind == RAW_TEXT and not path.endswith("style"):
                for key, text, first, last in in_script(html[start:end]):
                    yield Block(selector, text, start + first, start + last, f"{SCRIPT_NAME}[{key}]")
            start = end


def _of_comment(html: str, start: int, end: int, selector: str) -> Iterator[Block]:
    first, last = comment_span(html, start, end)
    if 0 < last - first <= _LONGEST_COMMENT:
        text = " ".join(html[first:last].replace("\0", "").split())
        word = _word(text, 0, 64)
        yield Block(selector, text, first, last, f"{COMMENT_NAME}[{word[0] if word else ''}]")


def comment_span(html: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a comment's text; empty for a declaration and for an unclosed comment."""
    if end - start < 7 or not (html.startswith("<!--", start) and html.endswith("-->", start, end)):
        return start, start
    inner = html[start + 4 : end - 3]
    first = start + 4 + len(inner) - len(inner.lstrip())
    return first, first + len(inner.strip())


# Attributes


def _of_tag(html: str, start: int, end: int, outer: str, name: str) -> Iterator[Block]:
    text = html[start + 1 : end - 1]
    if "=" not in text:
        return
    parts = text.split('"')
    outline = _outlines['"'.join(parts[::2])] if len(parts) & 1 else None
    if outline is None:
        values = {key: (start + first, start + last) for key, first, last in attribute_spans(html[start:end])}
        if values.keys() <= _LOOKS:
            return
        named = {key: decoded_attribute(html[slice(*span)]) for key, span in values.items()}
        which = next((key for key in _NAMING.get(name, ()) if key in named), "")
        place = _place(outer, step_of(name, named.get("id", ""), named.get("class", "")), which, named.get(which, ""))
        taken = [each for each in values.items() if _is_taken(name, each[0], which)]
        yield from _of_values(html, place, taken, CONTENT_ATTRIBUTES.get(name))
        return
    if not outline.values or (outline.is_address and "?" not in text):
        return

    def part(number: int) -> str:
        return decoded_attribute(parts[2 * number - 1]) if number else ""

    which, at = outline.naming
    spans: list[tuple[str, tuple[int, int]]] = []
    first, passed = start + 1, 0
    for attribute, number in outline.values:
        before = 2 * number - 1
        first += sum(map(len, parts[passed:before])) + before - passed
        passed = before
        spans.append((attribute, (first, first + len(parts[before]))))
    place = _place(outer, step_of(name, part(outline.identifier), part(outline.classes)), which, part(at))
    yield from _of_values(html, place, spans, CONTENT_ATTRIBUTES.get(name))


def _read_outline(outline: str) -> _ValueOutline | None:
    """Return how to read the tags of an outline; None if some values have no quotes, or single ones."""
    tag = TAG_NAME.match(outline)
    if tag is None or "'" in outline:
        return None
    name, numbers = lower(tag[2]), dict[str, int]()
    number = 0
    for match in ATTRIBUTE.finditer(_with_ends(outline), tag.end()):
        if match["plain"] is not None:
            return None
        if match["double"] is not None:
            number += 1
            numbers.setdefault(lower(match["name"]), number)
        elif match["name"] is not None and '"' in match["name"]:
            return None  # a quote where none belongs
    which = next((key for key in _NAMING.get(name, ()) if key in numbers), "")
    values = tuple([each for each in numbers.items() if _is_taken(name, each[0], which)])
    naming = which, numbers.get(which, 0)
    is_address = [attribute for attribute, _ in values] == [CONTENT_ATTRIBUTES.get(name)]
    return _ValueOutline(name, numbers.get("id", 0), numbers.get("class", 0), naming, values, is_address)


def _with_ends(outline: str) -> str:
    # Of two quotes one is left.
    return outline.replace('"', '""')


_outlines = Memo(_read_outline, each=200)


def attribute_spans(tag: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of the value of each attribute of a tag, as it is written from ``<`` to ``>``."""
    name = TAG_NAME.match(tag, 1)
    seen = set[str]()
    for match in ATTRIBUTE.finditer(tag, name.end() if name else 1):
        group = next((group for group in ("double", "single", "plain") if match[group] is not None), None)
        if group is None:
            continue
        attribute = lower(match["name"])
        if attribute not in seen:
            seen.add(attribute)
            yield attribute, *match.span(group)


def _is_taken(name: str, attribute: str, naming: str) -> bool:
    if attribute == CONTENT_ATTRIBUTES.get(name):
        return attribute == SOURCE
    return attribute not in _LOOKS and attribute != naming


def _place(outer: str, step: str, naming: str, named: str) -> tuple[str, str]:
    """Return the selector of an element, and what tells it from others there."""
    return f"{outer}/{step}" if outer else step, f"[{naming}={key_of(named)}]" if naming else ""


def _of_values(
    html: str, place: tuple[str, str], spans: list[tuple[str, tuple[int, int]]], content: str | None
) -> Iterator[Block]:
    """Yield the values of an element; of its *content* attribute only the values inside."""
    selector, condition = place
    for attribute, (start, end) in spans:
        if attribute == content and html.find("?", start, end) < 0:
            continue
        for part, (_, text, first, last) in _values(attribute, html[start:end]):
            full = attribute + condition + part
            if attribute == content and not part:
                continue
            if not is_unseen(full):
                full += "[]"  # this name is that of content elsewhere
            yield Block(selector, text, start + first, start + last, full)


def _values(attribute: str, source: str) -> Iterator[tuple[str, NamedValue]]:
    """Yield the values in a value, itself or those that it is made of, each after what tells it from others there."""
    if not (stripped := source.strip(SPACE)):
        return
    found: tuple[NamedValue, ...] | None = None
    if attribute not in _READ:
        if attribute.startswith("on") or (stripped[0] in "{[" and _quoted(stripped)):
            found = in_attribute(source)
        elif "?" in source:
            found = in_address(source)
    if found is not None:
        yield from [(f"[{each.key}]", each) for each in found]
        return
    first = source.index(stripped)
    text = decoded_attribute(stripped) if "&" in stripped or "\0" in stripped else stripped
    kept = text if attribute in _READ and len(text) <= 2 * LONGEST else kept_text(text)
    if kept:
        yield "", NamedValue("", kept, first, first + len(stripped))
