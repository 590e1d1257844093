"""What was made of texts, remembered: the pages of a site say most things again and again."""

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

__all__ = ["Remembered"]

_MOST: Final = 10_000
_LONGEST: Final = 400
"""Texts that are remembered, and characters of one."""

_Key = TypeVar("_Key", bound=Hashable)
_Made = TypeVar("_Made")


class Remembered(dict[_Key, _Made]):
    """What a function makes of keys, by key: what was made before is one look-up, which moves nothing, as one of an lru_cache would.

    All is forgotten when there is too much of it; keys of more characters than some are not kept at all.

    >>> double = Remembered[str, str](lambda text: text + text, len)
    >>> double["a"], len(double), double["a" * 500][:3], len(double)
    ('aa', 1, 'aaa', 1)
    """

    __slots__ = ("_length", "_make")

    def __init__(self, make: Callable[[_Key], _Made], length: Callable[[_Key], int]) -> None:
        self._make = make
        self._length = length

    def __missing__(self, key: _Key) -> _Made:
        """Return what is made of a key, and remember it."""
        made = self._make(key)
        if self._length(key) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[key] = made
        return made
