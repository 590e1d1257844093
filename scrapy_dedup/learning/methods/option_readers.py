"""Readers of the values of options: from a text, or a value of Python, to the value of an option."""

from collections.abc import Callable
from typing import Any

Read = Callable[[Any], Any]
"""From a text, or a value of Python, to the value of an option. Raises ValueError, which says what is right."""


def one_of(*names: str) -> Read:
    """Return the reader of a choice among names."""

    def read(value: Any) -> str:
        if value not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return str(value)

    return read


def truth(value: Any) -> bool:
    """Read "true" or "false"."""
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(str(value).lower())
    if known is None:
        raise ValueError("true or false")
    return known


def number(least: float, most: float | None = None, *, whole: bool = False) -> Read:
    """Return the reader of a number in a range."""
    kind = "a whole number" if whole else "a number"
    right = f"{kind} from {least:g} to {most:g}" if most is not None else f"{kind} of at least {least:g}"

    def read(value: Any) -> float:
        try:
            found = float(value)
        except (TypeError, ValueError):
            raise ValueError(right) from None
        inside = least <= found <= (float("inf") if most is None else most)
        if isinstance(value, bool) or not inside or found in (float("inf"), -float("inf")):
            raise ValueError(right)
        if whole and found != int(found):
            raise ValueError(right)
        return int(found) if whole else found

    return read


def or_none(read: Read) -> Read:
    """Return the reader of what *read* reads, or of "none"."""

    def read_or_none(value: Any) -> Any:
        if value is None or value in ("", "none", "None"):
            return None
        try:
            return read(value)
        except ValueError as error:
            raise ValueError(f"{error}, or none") from None

    return read_or_none


def names(*known: str) -> Read:
    """Return the reader of a list of names, or of some of those that are *known*."""
    right = f"some of {', '.join(known)}, parted by commas" if known else "names, parted by commas"

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, str | list | tuple) or not all(isinstance(name, str) for name in value):
            raise ValueError(right)
        given = value.split(",") if isinstance(value, str) else value
        found = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
        if known and (not found or not {*found} <= {*known}):
            raise ValueError(right)
        return found

    return read
