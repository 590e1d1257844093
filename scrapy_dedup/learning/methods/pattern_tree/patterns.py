"""URL patterns: key-value pairs whose values may be regular expressions (pattern-tree, section 3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ....urls import ValueClass

ANYTHING = "*"
"""How the paper writes every regular expression."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The key has this value."""

    value: str

    def matches(self, value: str | None) -> bool:
        """Return whether *value*, None for an absent key, is the one."""
        return value == self.value


@dataclass(frozen=True, slots=True)
class Varied:
    """The key has one of many values: any, or any of a class.

    ``optional``: it may be absent. ``excluded``: the salient values of the node's siblings.
    """

    shape: ValueClass | None = None
    optional: bool = False
    excluded: frozenset[str] = frozenset()

    def matches(self, value: str | None) -> bool:
        """Return whether *value*, None for an absent key, is one of them."""
        if value is None:
            return self.optional
        return value not in self.excluded and (self.shape is None or self.shape.matches(value))


Part = Fixed | Varied


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern of a tree node: what each key of its URLs may be. Other keys are absent.

    >>> pattern = Pattern({"path.0": Fixed("album"), "q.b": Varied(optional=True)})
    >>> print(pattern)
    path.0=album & q.b=.*?
    >>> pattern.matches({"path.0": "album"}), pattern.matches({"path.0": "album", "q.c": "1"})
    (True, False)
    """

    parts: Mapping[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", dict(self.parts))

    def __hash__(self) -> int:
        return hash(tuple(self.parts.items()))

    def __str__(self) -> str:
        return " & ".join(f"{key}={_text(part)}" for key, part in self.parts.items())

    def matches(self, view: Mapping[str, str]) -> bool:
        """Return whether a URL with these keys and values is of this pattern."""
        for key, part in self.parts.items():
            if not part.matches(view.get(key)):
                return False
        return all(key in self.parts for key in view)

    @property
    def literals(self) -> dict[str, str]:
        """The keys with one value."""
        return {key: part.value for key, part in self.parts.items() if isinstance(part, Fixed)}

    @property
    def varied(self) -> list[str]:
        """The keys with many values."""
        return [key for key, part in self.parts.items() if isinstance(part, Varied)]


def ordered(keys: Iterable[str]) -> list[str]:
    """Return keys in the order in which they stand in a URL."""
    kinds = ["scheme", "host", "path", "s", "m", "ext", "q"]

    def place(key: str) -> tuple[int, int, str]:
        kind, _, name = key.partition(".")
        return kinds.index(kind) if kind in kinds else len(kinds), int(name) if name.isdigit() else 1 << 16, key

    return sorted(keys, key=place)


def _text(part: Part) -> str:
    if isinstance(part, Fixed):
        return part.value
    return f"{'.*' if part.shape is None else part.shape}{'?' if part.optional else ''}"
