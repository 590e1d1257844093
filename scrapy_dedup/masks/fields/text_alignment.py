"""Alignment of a field with the page that it was taken from, character by character.

A field is mostly one stretch of its page, or some stretches one after the other, since
elements between them were left out. A stretch is found by three words in a row that stand only once
in the field and once in the page, and goes on to both sides as far as both agree. Bare words are never looked
for unless they are a whole field: the same words may stand elsewhere.

The work is one pass over both, and a sort of the stretches.
"""

from typing import Final, NamedTuple

from ...content.tokenizer.markup import decoded_attribute
from .visible_text import Stream

__all__ = ["Stretch", "alignments"]

#: Words in a row that tell a place.
_WORDS: Final = 3
#: A field of so many characters needs not begin and end where pieces of text of the page do.
_LONG: Final = 20
#: A field that stands in more places of its page is not looked at; the same before its tags are compared with those there.
_MANY_PLACES, _MANY_TO_COMPARE = 16, 500
_STEP: Final = 64


class Stretch(NamedTuple):
    """*length* characters that are equal in field and page."""

    field: int
    page: int
    length: int


def alignments(field: Stream, page: Stream) -> list[list[Stretch]]:
    """Return the ways to align *field* with *page*: each some stretches, which may overlap where it is uncertain.

    There are several where the whole field stands in the page more than once, and none if nothing is found. Of such places
    those count where tags have the same values, if there are any.
    """
    length = len(field.text)
    if not length:
        return []
    whole: list[int] = []
    at = page.text.find(field.text)
    while at >= 0 and len(whole) <= _MANY_TO_COMPARE:
        whole.append(at)
        at = page.text.find(field.text, at + 1)
    if length < _LONG:
        # Part of a longer word or number is no place of a short one.
        whole = [at for at in whole if page.is_border(at) and page.is_border(at + length)]
    if 1 < len(whole) <= _MANY_TO_COMPARE and any(node.is_tag for node in field.nodes):
        own = _tags(field, 0, length)
        whole = [at for at in whole if _tags(page, at, at + length) == own] or whole
    if len(whole) > _MANY_PLACES:
        return []
    if whole or length < _LONG:
        return [[Stretch(0, at, length)] for at in whole]
    found = _anchored(field, page)
    return [found] if found else []


def _tags(stream: Stream, start: int, end: int) -> list[dict[str, str]]:
    """Return the values of the tags in a part of a stream, as they are meant."""
    return [
        {
            name: decoded_attribute(stream.strings[node.string][first:last])
            for name, (first, last) in stream.values_of(node).items()
        }
        for node in stream.nodes_within(start, end)
        if node.is_tag
    ]


def _anchored(field: Stream, page: Stream) -> list[Stretch]:
    """Return the stretches around words that stand once in both."""
    once = _once(field.words, None)
    there = _once(page.words, once)
    backwards = field.text[::-1], page.text[::-1]
    stretches: list[Stretch] = []
    reach: dict[int, int] = {}  # place in the page less that in the field -> how far the field is covered by it
    for at, place in sorted((once[words], place) for words, place in there.items()):
        offset = place - at
        if at < reach.get(offset, 0):
            continue
        start = at - _common(*backwards, len(field.text) - at, len(page.text) - place)
        end = at + _common(field.text, page.text, at, place)
        # Where the page goes on otherwise than the field, the next characters may agree by chance: a
        # stretch ends with a piece of text of the page where it can.
        if start > 0:
            start = page.border_from(start + offset, place) - offset
        if end < len(field.text):
            end = page.border_until(end + offset, place + 1) - offset
        stretches.append(Stretch(start, start + offset, end - start))
        reach[offset] = end
    return sorted(stretches)


def _once(words: list[tuple[int, str]], among: dict[tuple[str, ...], int] | None) -> dict[tuple[str, ...], int]:
    """Return words in a row -> place, of those that stand once (*among* others, if given)."""
    found: dict[tuple[str, ...], int] = {}
    twice = set()
    texts = [word for _, word in words]
    for (at, _), *row in zip(words, *(texts[shift:] for shift in range(_WORDS)), strict=False):
        key = tuple(row)
        if among is not None and key not in among:
            continue
        if key in found:
            twice.add(key)
        found[key] = at
    for key in twice:
        del found[key]
    return found


def _common(a: str, b: str, i: int, j: int) -> int:
    """Return how many characters from a[i] and b[j] on are equal."""
    most = min(len(a) - i, len(b) - j)
    low, step = 0, _STEP
    while low < most and step:
        if a[i + low : i + low + step] == b[j + low : j + low + step]:
            low, step = low + step, 2 * step
        else:
            step //= 2
    return min(low, most)
