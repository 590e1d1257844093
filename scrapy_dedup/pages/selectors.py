"""Selectors: how an element is named by what lasts of its id and classes.

A *step* names one element, ``div#main.box.wide``; the steps from the outermost element to the innermost, joined by ``/``, are
a *selector*. Digits of ids and classes count as one ``0``; what looks like a random value is left out, so that a page drawn
anew has the same selectors.
"""

import re
from functools import lru_cache
from typing import Final

__all__ = ["inside", "key_of", "stable", "step_of"]

_LONGEST_NAME: Final = 64
_MOST_CLASSES: Final = 8
_LONGEST_CLASSES: Final = _MOST_CLASSES * (_LONGEST_NAME + 1)
_LONGEST_STEP: Final = 150
_LONGEST: Final = 4_000
_WHOLE_PAGE: Final = frozenset(("html", "body"))
"""Their ids and classes tell what page it is ("postid-17 category-news"), not which part of it."""
_RESERVED: Final = {ord(sign): f"%{ord(sign):02X}" for sign in "%/#. \t\n\f\r"}
"""Signs that selectors are made of."""

_digits = re.compile(r"[0-9]+")
_parts = re.compile(r"[0-9A-Za-z]+")
_is_hex = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{6,}").fullmatch
_switches = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")


@lru_cache(10_000)
def inside(outer: str, step: str) -> str:
    """Return the selector of an element in another one; very deep ones have that of this one."""
    return f"{outer}/{step}" if outer and step and len(outer) + len(step) < _LONGEST else outer or step


def step_of(name: str, identifier: str = "", classes: str = "") -> str:
    """Return the step of an element by its name and the values of its id and class attributes.

    >>> step_of("div", "post-1234", "wide  box col-2 css-9f8e7d6c")
    'div#post-0.box.col-0.wide'
    """
    # No more of them than counts: what is made of these is remembered.
    return _step(name[:_LONGEST_NAME], identifier[: _LONGEST_NAME + 1], classes[:_LONGEST_CLASSES])


@lru_cache(4096)
def _step(name: str, identifier: str, classes: str) -> str:
    step = name.translate(_RESERVED)
    if name in _WHOLE_PAGE:
        return step
    if kept := stable(identifier):
        step += "#" + kept
    names = classes.split()[:_MOST_CLASSES]
    step += "".join(["." + kept for kept in sorted({stable(each) for each in names}) if kept])
    if len(step) <= _LONGEST_STEP:
        return step
    return step[:_LONGEST_STEP].rpartition(".")[0] or step.partition(".")[0]


@lru_cache(4096)
def stable(name: str) -> str:
    """Return an id, a class or the name of a value with its numbers as 0; "" if it looks random, or is too long for a name.

    >>> [stable(name) for name in ("col-12", "ad-83f1c2", "x1a2b3c", "facade")]
    ['col-0', '', '', 'facade']
    """
    if len(name) > _LONGEST_NAME or any(map(_is_random, _parts.findall(name))):
        return ""
    return _digits.sub("0", name).translate(_RESERVED)


def key_of(name: str) -> str:
    """Return what lasts of the name of a value, without brackets, which stand around it."""
    return stable(name[: _LONGEST_NAME + 1]).replace("[", "%5B").replace("]", "%5D")


def _is_random(part: str) -> bool:
    if len(part) < 6:
        return False
    return len(part) > 32 or _is_hex(part) is not None or len(_switches.findall(part)) > 3
