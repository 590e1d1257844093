"""The thresholds of the transient-content document, with its own values or, where it names none, with ours."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

__all__ = ["Thresholds"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What decides whether a path is transient by the document's method.

    Raises ValueError for a value that is out of range; the message names it and says what is right.
    """

    #: The document's T: a path is transient if at least this share of its tokens had changed. Over 0, and 1 at most.
    threshold: float = 0.5
    #: A page counts as reorganised, and teaches nothing, if more than this share of the tokens of two versions is
    #: marked. Over 0; 1 switches the guard off. The document names no value.
    max_marked: float = 0.5
    #: A site counts as restructured, and has no transient path, if more than this share of its paths is transient.
    #: Over 0; 1 switches the guard off. The document names no value.
    max_share: float = 0.5
    #: Longer paths are skipped; in characters, as the document writes them (``<html><body>``). At least 1.
    max_path: int = 1000

    def __post_init__(self) -> None:
        for name in ("threshold", "max_marked", "max_share"):
            value = getattr(self, name)
            if not (_is_number(value) and 0 < value <= 1):
                raise ValueError(f"{name} is {value!r}: it is a number over 0, and 1 at most")
        if not (_is_number(self.max_path) and self.max_path >= 1 and self.max_path == int(self.max_path)):
            raise ValueError(f"max_path is {self.max_path!r}: it is a whole number of characters, at least 1")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
