"""Predicates of a rule on one key: a literal, one of some, a class, absent; and keys and values as normal forms write them.

A key without a predicate may have any value or none.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..urls import ValueClass
from ..urls.percent import path_value, query_value
from ..urls.query_paths import is_segment_key


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


_repeat = re.compile(r"(.*)(\[[0-9]+\])\Z", re.DOTALL).match


def normal_key(key: str) -> str:
    """Return *key* of a rule as views write it.

    >>> normal_key("q.tag[]"), normal_key("q.tag[1]"), normal_key("q.größe")
    ('q.tag%5B%5D', 'q.tag[1]', 'q.gr%C3%B6%C3%9Fe')
    """
    kind, dot, name = key.partition(".")
    if is_segment_key(key) or kind not in {"q", "m", "s"}:
        return key
    match = _repeat(name)
    name, number = (match[1], match[2]) if match else (name, "")
    name = query_value(name) if kind == "q" else path_value(name).replace("[", "%5B")
    return f"{kind}{dot}{name}{number}"


def normal_value(key: str, value: str) -> str:
    """Return *value* of a rule as the normal form writes it at *key*.

    >>> normal_value("q.title", "été à Paris"), normal_value("host.1", "WWW")
    ('%C3%A9t%C3%A9+%C3%A0+Paris', 'www')
    """
    kind = key.partition(".")[0]
    if kind in {"q", "bare"}:
        return query_value(value)
    if kind in {"scheme", "host"}:
        return value.lower()
    if key in {"path.len", "path.trail"}:
        return value
    return path_value(value)


def normal_predicate(key: str, predicate: Predicate) -> Predicate:
    """Return *predicate* on *key* with its values as the normal form writes them."""
    if isinstance(predicate, Literal):
        return Literal(normal_value(key, predicate.value), predicate.optional)
    if isinstance(predicate, OneOf):
        return OneOf([normal_value(key, value) for value in predicate.values], predicate.optional)
    return predicate
