"""Values of a page that nobody sees: attributes, scripts, comments. They are tokens, too, and may be transient.

Source: transient-content, the passage on tag tokens and content tokens (FIG. 1). A csrf token in a meta tag, the nonce and the state of a
script, a comment with the time of rendering, the ``?v=`` of an image.
"""

from collections.abc import Iterator
from typing import Final

from .markup import ATTRIBUTE, CONTENT_ATTRIBUTES, SPACE, TAG_NAME, decoded_attribute, lower
from .selectors import step_of
from .tokens import Block, Kind, tokens

__all__ = ["COMMENT", "SCRIPT", "unseen_blocks"]

SCRIPT: Final = "#script"
"""Stands for an attribute where the contents of an element are meant that are no text: of a script, a style, a template."""
COMMENT: Final = "#comment"
"""The same of a comment that stands in the element."""
MOST: Final = 20_000
"""Characters of a value; a longer one is a library, a picture, and no token."""
_LOOKS: Final = frozenset(("class", "style", "id"))
"""Attributes that say what an element looks like. Selectors are made of ids and classes."""


def unseen_blocks(html: str) -> Iterator[Block]:
    """Yield the values that a page has beside its blocks (:func:`.tokens.blocks`), in order; never raises on any text."""
    found = tokens(html)
    for token in found:
        if token.kind is Kind.COMMENT:
            if token.end - token.start <= MOST:
                yield Block(token.selector, html[token.start : token.end], token.start, token.end, COMMENT)
        elif token.kind is Kind.RAW:
            if html[token.start : token.end].strip() and token.end - token.start <= MOST:
                yield Block(token.selector, html[token.start : token.end], token.start, token.end, SCRIPT)
        elif token.kind in (Kind.OPEN, Kind.EMPTY):
            yield from _attributes(html, token.start, token.end, token.selector, token.name)


def _attributes(html: str, start: int, end: int, outer: str, name: str) -> Iterator[Block]:
    tag = TAG_NAME.match(html, start + 1)
    values: dict[str, tuple[int, int]] = {}
    for match in ATTRIBUTE.finditer(html, tag.end() if tag else start + 1, end):
        group = next((group for group in ("double", "single", "plain") if match[group] is not None), None)
        if group is not None:
            values.setdefault(lower(match["name"]), match.span(group))
    if not values:
        return
    own = {key: decoded_attribute(html[slice(*values[key])]) if key in values else "" for key in ("id", "class")}
    step = step_of(name, own["id"], own["class"])
    selector = f"{outer}/{step}" if outer else step
    for attribute, (first, last) in values.items():
        value = html[first:last]
        if attribute in _LOOKS or attribute == CONTENT_ATTRIBUTES.get(name) or last - first > MOST:
            continue
        if value.strip(SPACE):
            yield Block(selector, decoded_attribute(value).strip(SPACE), first, last, attribute)
