"""What was made of texts, remembered within a bound."""

from collections.abc import Callable
from typing import Final, TypeVar

_Made = TypeVar("_Made")

#: Characters that one memo holds.
LIMIT: Final = 2_000_000


class Memo(dict[str, _Made]):
    """Text -> what *make* makes of it; when that is too much, it starts anew.

    A text counts *times* its length and *each* more characters; *limit* is in these, and a longer text is not remembered.
    """

    __slots__ = ("_each", "_left", "_limit", "_make", "_times")

    def __init__(self, make: Callable[[str], _Made], *, each: int, times: int = 1, limit: int = LIMIT) -> None:
        super().__init__()
        self._make = make
        self._limit = self._left = limit
        self._each = each
        self._times = times

    def __missing__(self, text: str) -> _Made:
        made = self._make(text)
        size = self._times * len(text) + self._each
        left = self._left - size
        if left < 0:
            if size > self._limit:
                return made
            self.clear()
            left = self._limit - size
        self._left = left
        self[text] = made
        return made
