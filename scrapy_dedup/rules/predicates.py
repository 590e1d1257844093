"""Predicates of a rule on one key: a literal, one of some, a class, absent.

A key without a predicate may have any value or none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..urls import ValueClass

__all__ = ["Absent", "Literal", "OfClass", "OneOf", "Predicate", "rule_matches"]


@dataclass(frozen=True, slots=True)
class Literal:
    """The key has this value; if ``optional``, it may also be absent."""

    value: str
    optional: bool = False

    def holds(self, value: str | None) -> bool:
        """Return whether this holds of *value*, that of a key that is there."""
        return (value or "") == self.value


@dataclass(frozen=True, slots=True)
class OneOf:
    """The key has one of these values; if ``optional``, it may also be absent.

    >>> OneOf(["b", "a"]).values
    ('a', 'b')
    """

    values: tuple[str, ...] = field()
    optional: bool = False

    def __init__(self, values: Iterable[str], optional: bool = False) -> None:
        object.__setattr__(self, "values", tuple(sorted(set(values))))
        object.__setattr__(self, "optional", optional)

    def holds(self, value: str | None) -> bool:
        """Return whether this holds of *value*, that of a key that is there."""
        return (value or "") in self.values


@dataclass(frozen=True, slots=True)
class OfClass:
    """The key has a value of this class; if ``optional``, it may also be absent."""

    value_class: ValueClass
    optional: bool = False

    def holds(self, value: str | None) -> bool:
        """Return whether this holds of *value*, that of a key that is there."""
        return self.value_class.matches(value)


@dataclass(frozen=True, slots=True)
class Absent:
    """The key is not there."""

    @property
    def optional(self) -> bool:
        """True: it holds where the key is absent."""
        return True

    def holds(self, value: str | None) -> bool:
        """Return False: the key is there."""
        return False


Predicate = Literal | OneOf | OfClass | Absent


def rule_matches(match: Mapping[str, Predicate], values: Mapping[str, str | None]) -> bool:
    """Return whether all predicates of *match* hold of *values*."""
    return all(
        predicate.holds(values[key]) if key in values else predicate.optional for key, predicate in match.items()
    )
