"""Slots: the words of a text that change, found by the words around them that stay.

A *slot* is a tuple of literals, in order; between two of them is a gap whose words do not last. The first literal
begins the text and the last one ends it; an empty one stands for nothing. ``("", "users online")`` is any text that
ends in "users online", of which everything before that changes. In a literal, the word ``…`` stands for any words
that stay: ``("… viewed", "times")`` leaves the name of what was viewed in its place.

A text is taken in *pieces*: its words, or, of an address, what stands between ``/?&=;#`` and these.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

Slot = tuple[str, ...]
Ranges = Sequence[tuple[int, int]]
"""Ranges (start, end) of the pieces of a text, in order; an empty one stands for the whole text."""

GAP: Final = "{…}"
"""A gap in a slot that is written as one text: ``Today is {…}``."""
ANYTHING: Final = "…"
"""A piece of a literal that stands for any number of pieces, which stay."""
_TYPED_GAP: Final = "{...}"
ADDRESSES: Final = frozenset(("href", "src", "action"))
"""Attributes whose values are addresses."""
_CALENDAR: Final = frozenset(
    # English, with what it is abbreviated to; German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Polish, Czech, Russian.
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec am pm "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag "
    "januar jänner februar märz mai juni juli oktober dezember "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "lunes martes miércoles jueves viernes sábado domingo "
    "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
    "segunda terça quarta quinta sexta feira janeiro fevereiro março maio junho julho setembro outubro novembro dezembro "
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei augustus "
    "måndag tisdag onsdag torsdag fredag lördag söndag augusti "
    "mandag tirsdag lørdag søndag marts maj "
    "poniedziałek wtorek środa czwartek piątek sobota niedziela "
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia "
    "pondělí úterý středa čtvrtek pátek neděle "
    "ledna února března dubna května června července srpna září října listopadu prosince "
    "понедельник вторник среда четверг пятница суббота воскресенье "
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря".split()
)

_pieces_of_address = re.compile(r"[/?&=;#]|[^/?&=;#]+").findall
_letters = re.compile(r"[^\W\d_]+").findall
_has_digit = re.compile(r"[0-9]").search


def pieces(text: str, attribute: str = "") -> list[str]:
    """Return the pieces of a text, or of the address in an attribute.

    >>> pieces("12 users online"), pieces("/cart?sid=5", "href")
    (['12', 'users', 'online'], ['/', 'cart', '?', 'sid', '=', '5'])
    """
    return _pieces_of_address(text) if attribute in ADDRESSES else text.split()


def joined(found: Sequence[str], attribute: str = "") -> str:
    """Return the text of which :func:`pieces` makes *found*."""
    return ("" if attribute in ADDRESSES else " ").join(found)


def left_of(text: str, ranges: Ranges, attribute: str = "") -> str:
    """Return a text without ranges of its pieces.

    >>> left_of("12 users online", [(0, 1)]), left_of("/cart?sid=5", [(5, 6)], "href"), left_of("all", ())
    ('users online', '/cart?sid=', '')
    """
    found = pieces(text, attribute) if ranges else []
    for start, end in reversed(ranges):
        del found[start:end]
    return joined(found, attribute)


@lru_cache(maxsize=16_384)
def is_typed(piece: str) -> bool:
    """Return whether a piece is a number, a code or a word of the calendar, as clocks, counters and tokens are made of.

    >>> [is_typed(piece) for piece in ("9:30", "4f2a", "Monday,", "marketing")]
    [True, True, True, False]
    """
    if _has_digit(piece):
        return True
    return len(piece) < 16 and any(part in _CALENDAR for part in _letters(piece.lower()))


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
    for number, (run, stay) in enumerate(zip(runs[1:], stays, strict=True), 1):
        # The last one has been found already: it ends the text.
        start = end if number == len(stays) else _find(found, run, at, end)
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

    def gap(*, stay: bool) -> None:
        if stays and not runs[-1]:
            stays[-1] = stays[-1] or stay  # nothing tells two gaps side by side apart: all of it stays
        else:
            stays.append(stay)
            runs.append([])

    for number, literal in enumerate(slot):
        if number:
            gap(stay=False)
        for piece in pieces(literal, attribute):
            if piece == ANYTHING:
                gap(stay=True)
            else:
                runs[-1].append(piece)
    return [tuple(run) for run in runs], stays


def slot_text(slot: Slot | None, attribute: str = "") -> str:
    """Return the text that says a slot; of none at all it is the gap alone.

    >>> slot_text(("Today is", "")), slot_text(("/cart?sid=", ""), "href"), slot_text(None)
    ('Today is {…}', '/cart?sid={…}', '{…}')
    """
    parts = [part for literal in slot or ("", "") for part in (GAP, literal)][1:]
    return joined([part for part in parts if part], attribute)


def slot_in(text: str, attribute: str = "") -> Slot | None:
    """Return the slot that a text with gaps says; None for a gap alone. Raises ValueError that says what would be right.

    >>> slot_in("{…} users online"), slot_in("{...}")
    (('', 'users online'), None)
    """
    literals = text.replace(_TYPED_GAP, GAP).split(GAP)
    if len(literals) == 1:
        raise ValueError(f'no {GAP} stands where something changes; write "Today is {GAP}", or "{GAP}" for all of it')
    if attribute not in ADDRESSES:  # words, with space between them
        if any(
            (before and not before[-1].isspace()) or (after and not after[0].isspace())
            for before, after in pairwise(literals)
        ):
            raise ValueError(f'{GAP} stands for whole words; put spaces around it: "Today is {GAP} again"')
        literals = [" ".join(literal.split()) for literal in literals]
    return tuple(literals) if any(_compiled(tuple(literals), attribute)[0]) else None


def plain_slot(slot: Slot | None, attribute: str = "") -> Slot | None:
    """Return a slot that its text says exactly: where a site itself writes gaps any words may stand, which stay.

    >>> plain_slot(("a {…} b", "c  d")), plain_slot(("", ""))
    (('a … b', 'c d'), None)
    """
    literals = [literal.replace(GAP, ANYTHING).replace(_TYPED_GAP, ANYTHING) for literal in slot or ("", "")]
    return slot_in(
        slot_text(tuple([joined(pieces(each, attribute), attribute) for each in literals]), attribute), attribute
    )


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sorted, disjoint ranges that cover the same; those that touch are one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def overlapping(ranges: Sequence[tuple[int, int]], low: int, high: int) -> Sequence[tuple[int, int]]:
    """Return those of sorted, disjoint ranges that have a part in [low, high)."""
    first = bisect_left(ranges, (low, low))
    if first and ranges[first - 1][1] > low:
        first -= 1
    return ranges[first : bisect_left(ranges, (high, high))]
