"""Slots: the words of a text that change, found by the words around them that stay.

A *slot* is a tuple of literals, in order; between two of them is a gap whose words do not last. The first literal
begins the text and the last one ends it; an empty one stands for nothing. ``("", "users online")`` is any text that
ends in "users online", of which everything before that is passing. In a literal, the word ``…`` stands for any words
that stay: ``("… viewed", "times")`` leaves the name of what was viewed in its place.

A text is taken in *pieces*: its words, or, of an address (an attribute that is content), what stands between ``/?&=;#`` and
these. Values that nobody sees (:mod:`scrapy_dedup.content.tokenizer.unseen`) have words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import unescape
from itertools import pairwise
from typing import Final

from ..content.tokenizer.markup import decoded_attribute
from ..content.tokenizer.unseen import is_unseen

Slot = tuple[str, ...]

ANYTHING = "…"
"""A piece of a literal that stands for any number of pieces, which stay."""

GAP: Final = "{…}"
"""What stands for a gap in a slot that is written as one text: ``Today is {…}``."""
_TYPED_GAP: Final = "{...}"

_address = re.compile(r"[/?&=;#]|[^/?&=;#]+").findall
_address_source = re.compile(r"&amp;|[/?=;#]|&(?!#?\w+;)|(?:[^/?&=;#]|&(?!amp;)#?\w+;)+").finditer
_plain_words = re.compile(r"\S+").finditer
_words = re.compile(r"&(?:nbsp|#160|#[xX][aA]0);|(?:(?!&(?:nbsp|#160|#[xX][aA]0);)\S)+").finditer


def pieces(text: str, attribute: str = "") -> list[str]:
    """Return the pieces of a text, or of the address in an attribute.

    >>> pieces("12 users online"), pieces("/cart?sid=5", "href")
    (['12', 'users', 'online'], ['/', 'cart', '?', 'sid', '=', '5'])
    """
    return _address(text) if _is_address(attribute) else text.split()


def joined(found: Sequence[str], attribute: str = "") -> str:
    """Return the text of which :func:`pieces` makes *found*."""
    return ("" if _is_address(attribute) else " ").join(found)


def _is_address(attribute: str) -> bool:
    return attribute != "" and not is_unseen(attribute)


def places(source: str, attribute: str = "") -> list[tuple[str, int, int]]:
    """Return (piece, start, end) of the pieces of a text in the source of a page, where it has entities."""
    if is_unseen(attribute):
        # No references stand in scripts and comments; words of an attribute's value hold no white space in any form.
        decode = str if attribute.startswith("#") else decoded_attribute
        return [(decode(match[0]), match.start(), match.end()) for match in _plain_words(source)]
    finder = _address_source if attribute else _words
    found = [(unescape(match[0]), match.start(), match.end()) for match in finder(source)]
    return found if attribute else [place for place in found if place[0] != "\xa0"]


def hidden(found: Sequence[str], slot: Slot, attribute: str = "") -> list[tuple[int, int]] | None:
    """Return the ranges of *found* (pieces of a text) that lie in gaps; None where the literals do not match.

    >>> hidden("12 users online".split(), ("", "users online"))
    [(0, 1)]
    >>> hidden("Red shoes viewed 12 times".split(), ("… viewed", "times"))
    [(3, 4)]
    >>> hidden("nobody online".split(), ("", "users online"))
    """
    runs, stays = _compiled(slot, attribute)
    head, tail = runs[0], runs[-1]
    first, end = len(head), len(found) - len(tail)
    if end < first or tuple(found[:first]) != head or tuple(found[end:]) != tail:
        return None
    ranges: list[tuple[int, int]] = []
    at = first
    for run, stay in zip(runs[1:], stays, strict=True):
        # The last one has been found already: it ends the text.
        start = end if run is tail and len(ranges) + 1 == len(stays) else _find(found, run, at, end)
        if start is None:
            return None
        ranges.append((at, at if stay else start))
        at = start + len(run)
    return [(start, stop) for start, stop in ranges if start < stop]


def _find(found: Sequence[str], run: tuple[str, ...], low: int, high: int) -> int | None:
    for start in range(low, high - len(run) + 1):
        if found[start] == run[0] and tuple(found[start : start + len(run)]) == run:
            return start
    return None


@lru_cache(maxsize=4096)
def _compiled(slot: Slot, attribute: str) -> tuple[list[tuple[str, ...]], list[bool]]:
    """Return the runs of literal pieces, and for each gap between two of them whether its pieces stay."""
    runs: list[list[str]] = [[]]
    stays: list[bool] = []
    for number, literal in enumerate(slot):
        if number:
            _gap(runs, stays, stay=False)
        for piece in pieces(literal, attribute):
            if piece == ANYTHING:
                _gap(runs, stays, stay=True)
            else:
                runs[-1].append(piece)
    return [tuple(run) for run in runs], stays


def _gap(runs: list[list[str]], stays: list[bool], *, stay: bool) -> None:
    if stays and not runs[-1]:
        stays[-1] = stays[-1] or stay  # nothing tells two gaps side by side apart: all of it stays
    else:
        stays.append(stay)
        runs.append([])


def slot_problem(slot: Sequence[str], attribute: str = "") -> str | None:
    """Return the fault of a slot from a mask file; None if there is none."""
    if len(slot) < 2:
        return 'a slot has two literals or more; write ["", "users online"] for what stands before "users online"'
    runs, _ = _compiled(tuple(slot), attribute)
    if not any(runs):
        return "a slot without any literal is the whole text; remove the line"
    return None


def slot_text(slot: Slot | None, attribute: str = "") -> str | None:
    """Return the text that says a slot; None where none does exactly. Of no slot at all it is the gap alone.

    >>> slot_text(("Today is", "")), slot_text(("/cart?sid=", ""), "href"), slot_text(None)
    ('Today is {…}', '/cart?sid={…}', '{…}')
    >>> slot_text(("a {…}", ""))
    """
    if slot is None:
        return GAP
    text = shown_slot(slot, attribute)
    try:
        return text if slot_in(text, attribute) == slot else None
    except ValueError:
        return None


def shown_slot(slot: Slot | None, attribute: str = "") -> str:
    """As :func:`slot_text`, for slots of any words: what a reader sees."""
    if slot is None:
        return GAP
    parts = [part for literal in slot for part in (GAP, literal)][1:]
    return joined([part for part in parts if part], attribute)


def slot_in(text: str, attribute: str = "") -> Slot | None:
    """Return the slot that a text with gaps says; None for a gap alone. Raises ValueError that says what would be right.

    >>> slot_in("{…} users online"), slot_in("{...}")
    (('', 'users online'), None)
    """
    literals = text.replace(_TYPED_GAP, GAP).split(GAP)
    if len(literals) == 1:
        raise ValueError(f'no {GAP} stands where something goes; write "Today is {GAP}", or "{GAP}" for all of it')
    if joined(("", ""), attribute):  # words, with space between them
        for before, after in pairwise(literals):
            if (before and not before[-1].isspace()) or (after and not after[0].isspace()):
                raise ValueError(f'{GAP} stands for whole words; put spaces around it: "Today is {GAP} again"')
        literals = [literal.strip() for literal in literals]
    if literals == ["", ""]:
        return None
    problem = slot_problem(literals, attribute)
    if problem is not None:
        raise ValueError(problem)
    return tuple(literals)
