"""Slots as their readers know them: a text with a gap where what passes stands, ``Today is {…}``."""

from itertools import pairwise
from typing import Final

from .slots import Slot, joined, slot_problem

__all__ = ["GAP", "shown_slot", "slot_in", "slot_text"]

GAP: Final = "{…}"
_TYPED_GAP: Final = "{...}"


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
