"""Classes of values: what shape the values of a key have.

The classes form a lattice, and a class covers values as tightly as it can, with
the range of their lengths. A class in a rule is a guard: the rule does not act
on shapes that were not there when it was learned.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["CLASS_NAMES", "PLACEHOLDER", "ValueClass", "class_of"]

#: What a key shows when its value was dropped and its presence kept.
PLACEHOLDER = "*"

_PATTERNS: dict[str, str] = {
    "int": r"[0-9]+",
    "date": r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?",
    "uuid": r"(?:%7B)?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?:%7D)?",
    "hex": r"[0-9A-Fa-f]+",
    "alnum": r"[0-9A-Za-z]+",
    "slug": r"[0-9A-Za-z_.\-]+",
    "b64": r"(?:[0-9A-Za-z_.\-~+/=]|%2B|%2F|%3D)+",
    "any": r".+",
}
#: The names of all classes, the tightest first.
CLASS_NAMES = ("empty", *_PATTERNS)
#: The classes that hold all values of a class.
_WIDER = {
    "int": ("hex", "alnum", "slug", "b64", "any"),
    "date": ("slug", "b64", "any"),
    "uuid": ("any",),
    "hex": ("alnum", "slug", "b64", "any"),
    "alnum": ("slug", "b64", "any"),
    "slug": ("b64", "any"),
    "b64": ("any",),
    "any": (),
}
_LONGEST = 1_000_000
_fits = {name: re.compile(pattern, re.DOTALL).fullmatch for name, pattern in _PATTERNS.items()}


@dataclass(frozen=True, slots=True)
class ValueClass:
    """A class of values and the lengths, in characters, that its values have.

    A least length of 0 admits the empty value, whatever the class.

    >>> ValueClass("hex", 32, 32).matches("d41d8cd98f00b204e9800998ecf8427e")
    True
    >>> ValueClass("int", 1, 4).matches("12345")
    False

    Raises ValueError for an unknown name or lengths that are none.
    """

    name: str
    min_len: int = 0
    max_len: int = _LONGEST

    def __post_init__(self) -> None:
        if self.name not in CLASS_NAMES:
            raise ValueError(f"no class is called {self.name!r}; there are {', '.join(CLASS_NAMES)}")
        if not 0 <= self.min_len <= self.max_len:
            raise ValueError(f"lengths {self.min_len} to {self.max_len} of a class are none")

    def matches(self, value: str | None) -> bool:
        """Return whether *value* is of this class; the placeholder is of every class.

        None, the value of a key without ``=``, counts as empty.
        """
        if value == PLACEHOLDER:
            return True
        if not value:
            return self.min_len == 0 or self.name == "empty"
        if not self.min_len <= len(value) <= self.max_len or self.name == "empty":
            return False
        return self.name == "any" or _fits[self.name](value) is not None

    def covers(self, other: "ValueClass") -> bool:
        """Return whether every value of *other* is one of this class, as far as the names of classes tell.

        >>> ValueClass("slug").covers(ValueClass("int", 1, 4)), ValueClass("int", 1, 4).covers(ValueClass("int"))
        (True, False)
        """
        if not (self.min_len <= other.min_len and other.max_len <= self.max_len):
            return False
        return other.name in ("empty", self.name) or self.name in _WIDER[other.name]

    def __str__(self) -> str:
        if self.min_len <= 1 and self.max_len == _LONGEST:
            return self.name
        if self.min_len == self.max_len:
            return f"{self.name}{self.max_len}" if self.max_len else self.name
        return f"{self.name}{self.min_len}-{self.max_len}"


def class_of(values: Iterable[str | None]) -> ValueClass:
    """Return the tightest class that covers all *values*, with their lengths.

    >>> str(class_of(["12", "7", "1000"])), str(class_of(["12", "ab", ""]))
    ('int1-4', 'hex0-2')
    >>> str(class_of(["red-shoes", "b"])), str(class_of([]))
    ('slug1-9', 'empty')
    """
    shortest, longest = None, 0
    full: list[str] = []
    for value in values:
        length = len(value or "")
        if value == PLACEHOLDER:
            continue
        shortest = length if shortest is None else min(shortest, length)
        longest = max(longest, length)
        if value:
            full.append(value)
    if not full:
        return ValueClass("empty", 0, 0)
    assert shortest is not None
    for name in CLASS_NAMES[1:]:
        fits = _fits[name]
        if all(map(fits, full)):
            return ValueClass(name, shortest, longest)
    raise AssertionError("'any' covers every value")  # pragma: no cover
