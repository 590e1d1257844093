"""Selectors: how an element is named by what lasts of its id and classes.

A *step* names one element, ``div#main.box.wide``; the steps from the outermost element to the
innermost, joined by ``/``, are a *selector*. Digits of ids and classes count as one ``0``; what
looks like a random value is left out, so that a page drawn anew has the same selectors.
"""

import re
from functools import lru_cache

from .markup import MAX_NAME, SPACE

_MAX_CLASSES = 8
_MAX_STEP = 150
# Their ids and classes tell what page it is ("postid-17 category-news"), not which part of it.
_WHOLE_PAGE = frozenset(("html", "body"))
_DIGITS = re.compile(r"[0-9]+")
_PARTS = re.compile(r"[0-9A-Za-z]+")
_HEX = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{6,}")
_SWITCHES = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")
# Characters that a selector itself is made of.
_RESERVED = re.compile(r"[%/#. \t\n\f\r]")


def step_of(name: str, identifier: str, classes: str) -> str:
    """Return the step of an element by its name and the values of its id and class attributes.

    >>> step_of("div", "post-1234", "wide  box col-2 css-9f8e7d6c")
    'div#post-0.box.col-0.wide'
    """
    step = _escaped(name)
    if name in _WHOLE_PAGE:
        return step
    if identifier and (kept := stable(identifier[: MAX_NAME + 1])):
        step += "#" + kept
    if classes:
        names = _split(classes[: _MAX_CLASSES * (MAX_NAME + 1)])[:_MAX_CLASSES]
        step += "".join(["." + kept for kept in sorted({stable(name) for name in names}) if kept])
        if len(step) > _MAX_STEP:
            cut = step.rfind(".", 0, _MAX_STEP)
            step = step[:cut] if cut > 0 else step.partition(".")[0]
    return step


@lru_cache(4096)
def stable(name: str) -> str:
    """Return an id or a class with its numbers as 0; empty if it looks random, or is too long to be a name.

    >>> [stable(name) for name in ("col-12", "ad-83f1c2", "x1a2b3c", "facade")]
    ['col-0', '', '', 'facade']
    """
    if len(name) > MAX_NAME or any(map(_random, _PARTS.findall(name))):
        return ""
    return _escaped(_DIGITS.sub("0", name))


def _random(part: str) -> bool:
    if len(part) < 6:
        return False
    return len(part) > 32 or _HEX.fullmatch(part) is not None or len(_SWITCHES.findall(part)) > 3


def _escaped(name: str) -> str:
    return _RESERVED.sub(lambda match: f"%{ord(match[0]):02X}", name)


def _split(classes: str) -> list[str]:
    return classes.translate(_SPACES).split(" ")


_SPACES = dict.fromkeys(map(ord, SPACE), " ")
