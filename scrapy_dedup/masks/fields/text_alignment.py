"""Alignment of a field with the page that it was taken from, character by character.

A field is mostly one stretch of its page, or some stretches one after the other, since
elements between them were left out. A stretch is found by three words in a row that stand only once
in the field and once in the page, and goes on to both sides as far as both agree. What lies between
two stretches is looked for between their places in the page. Bare words are never looked
for in the whole page unless they are a whole field and stand there once: the same words may stand elsewhere.

The work is one pass over both, and a sort of the stretches.
"""

from collections.abc import Callable
from typing import NamedTuple

from .visible_text import Stream

__all__ = ["MANY_PLACES", "Stretch", "alignments"]

#: Words in a row that tell a place.
_WORDS = 3
#: A field of so many characters needs not begin and end where pieces of text of the page do.
_LONG = 20
#: A field that stands in more places of its page than this is not looked at.
MANY_PLACES = 16
#: The same before its tags are compared with those that stand there.
_MANY_TO_COMPARE = 500


class Stretch(NamedTuple):
    """*length* characters that are equal in field and page."""

    field: int
    page: int
    length: int


def alignments(field: Stream, page: Stream, fits: Callable[[int], bool] | None = None) -> list[list[Stretch]]:
    """Return the ways to align *field* with *page*: each some stretches, which may overlap where it is uncertain.

    There are several where the whole field stands in the page more than once, and none if
    nothing is found. Of such places those count that it *fits* to, if there are any.
    """
    if not field.text:
        return []
    whole = _places(field.text, page.text, 0, len(page.text), MANY_PLACES if fits is None else _MANY_TO_COMPARE)
    if len(whole) > MANY_PLACES and (fits is None or len(whole) > _MANY_TO_COMPARE):
        return []
    if len(field.text) < _LONG:
        # Part of a longer word or number is no place of a short one.
        whole = [at for at in whole if page.is_boundary(at) and page.is_boundary(at + len(field.text))]
    if fits is not None and len(whole) > 1:
        fitting = [at for at in whole if fits(at)]
        whole = fitting or whole
        if len(whole) > MANY_PLACES:
            return []
    if whole or len(field.text) < _LONG:
        return [[Stretch(0, at, len(field.text))] for at in whole]
    found = _anchored(field, page)
    return [found] if found else []


def _places(needle: str, text: str, low: int, high: int, most: int = MANY_PLACES) -> list[int]:
    """Return where *needle* stands in *text* between *low* and *high*; no more than one too many."""
    found: list[int] = []
    at = text.find(needle, low, high)
    while at >= 0 and len(found) <= most:
        found.append(at)
        at = text.find(needle, at + 1, high)
    return found


def _anchored(field: Stream, page: Stream) -> list[Stretch]:
    """Return the stretches around words that stand once in both, and those in the gaps between them."""
    stretches: list[Stretch] = []
    reach: dict[int, int] = {}  # place in the page less that in the field -> how far the field is covered by it
    for at, place in _anchors(field, page):
        offset = place - at
        if at < reach.get(offset, 0):
            continue
        start = at - _common_before(field.text, page.text, at, place)
        end = at + _common_after(field.text, page.text, at, place)
        # Where the page goes on otherwise than the field, the next characters may agree by chance: a
        # stretch ends with a piece of text of the page where it can.
        if start > 0:
            start = page.boundary_from(start + offset, place) - offset
        if end < len(field.text):
            end = page.boundary_until(end + offset, place + 1) - offset
        stretches.append(Stretch(start, start + offset, end - start))
        reach[offset] = end
    stretches.sort()
    return sorted(stretches + _in_gaps(field, page, stretches))


def _anchors(field: Stream, page: Stream) -> list[tuple[int, int]]:
    """Return (place in the field, place in the page) of words in a row that stand once in each, sorted."""
    once = _once(field.words, None)
    there = _once(page.words, once)
    return sorted((once[words], place) for words, place in there.items())


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


def _common_after(a: str, b: str, i: int, j: int) -> int:
    """Return how many characters from a[i] and b[j] on are equal."""
    low, step = 0, 64
    most = min(len(a) - i, len(b) - j)
    while low < most and a[i + low : i + low + step] == b[j + low : j + low + step]:
        low += step
        step *= 2
    if low >= most:
        return most
    high = min(low + step, most)
    while low < high:  # everything before low is equal; not everything before high
        middle = (low + high + 1) // 2
        if a[i + low : i + middle] == b[j + low : j + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_before(a: str, b: str, i: int, j: int) -> int:
    """Return how many characters before a[i] and b[j] are equal."""
    low, step = 0, 64
    most = min(i, j)
    while low < most:
        part = min(step, most - low)
        if a[i - low - part : i - low] != b[j - low - part : j - low]:
            break
        low += part
        step *= 2
    if low >= most:
        return most
    high = min(low + step, most)
    while low < high:
        middle = (low + high + 1) // 2
        if a[i - middle : i - low] == b[j - middle : j - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _in_gaps(field: Stream, page: Stream, stretches: list[Stretch]) -> list[Stretch]:
    """Return what stands between two stretches both in the field and, once and whole, in the page."""
    found = []
    end: Stretch | None = None
    for stretch in stretches:
        if end is not None and end.field + end.length < stretch.field:
            low, high = end.page + end.length, stretch.page
            text = field.text[end.field + end.length : stretch.field]
            places = _places(text, page.text, low, high)
            if len(places) == 1 and page.is_boundary(places[0]) and page.is_boundary(places[0] + len(text)):
                found.append(Stretch(end.field + end.length, places[0], len(text)))
        if end is None or stretch.field + stretch.length > end.field + end.length:
            end = stretch
    return found
