"""Rewrite rules of the document's own kind: patterns with ``*`` and variables on the left.

Source: "url-normalization-rule-inference", detailed description, steps (c) and (d).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .segments import composed, is_named, segmented

_is_number = re.compile(r"[0-9]+X?").fullmatch


class VariableKind(str, Enum):
    """What a variable part is: ``some-number`` or ``some-string``.

    The document calls ``270960681X`` a number: the check character of an ISBN may follow the digits.
    """

    NUMBER = "some-number"
    STRING = "some-string"

    __str__ = str.__str__

    def admits(self, value: str) -> bool:
        """Return whether *value* is of this kind.

        >>> VariableKind.NUMBER.admits("270960681X"), VariableKind.NUMBER.admits("sr_1_3_12"), VariableKind.STRING.admits("7")
        (True, False, True)
        """
        return self is VariableKind.STRING or _is_number(value) is not None


def kind_of(values: Iterable[str]) -> VariableKind:
    """Return ``some-number`` where all *values* are numbers, else ``some-string``."""
    return VariableKind.NUMBER if all(map(_is_number, values)) else VariableKind.STRING


@dataclass(frozen=True, slots=True)
class Fixed:
    """A part that has just this value."""

    value: str

    def admits(self, value: str) -> bool:
        """Return whether *value* is the one."""
        return value == self.value


@dataclass(frozen=True, slots=True)
class Anything:
    """``*``: a part that has no influence on the page."""

    kind: VariableKind = VariableKind.STRING

    def admits(self, value: str) -> bool:
        """Return whether *value* is of the kind."""
        return self.kind.admits(value)


@dataclass(frozen=True, slots=True)
class Variable:
    """A part that says which page it is: the same on the left and on the right of a rule."""

    name: str
    kind: VariableKind = VariableKind.STRING

    def admits(self, value: str) -> bool:
        """Return whether *value* is of the kind."""
        return self.kind.admits(value)


Slot = Fixed | Anything | Variable


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a rule: which segments URLs of its left side have, and which make up the right side.

    ``keys`` are those of the segments on the left, ``kept`` the positions of those on the right, in
    its order; ``lowered`` are positions whose case makes no difference, shown in lower case.
    """

    origin: str
    keys: tuple[str, ...]
    kept: tuple[int, ...]
    lowered: frozenset[int] = frozenset()

    @property
    def right_keys(self) -> tuple[str, ...]:
        """The keys of the segments on the right."""
        return tuple([self.keys[position] for position in self.kept])

    @property
    def dropped(self) -> tuple[int, ...]:
        """The positions on the left that are not on the right."""
        return tuple(sorted(set(range(len(self.keys))) - set(self.kept)))

    @property
    def asked(self) -> tuple[int, ...]:
        """The positions at which the rule of a single class has values of its own.

        Those on the right, and segments that are dropped but are no ``name=value``: of these alone
        nothing says what else could stand there.
        """
        return (*self.kept, *(position for position in self.dropped if not is_named(self.keys[position])))

    def lower(self, position: int, value: str) -> str:
        """Return the value of a segment as the right side shows it."""
        return value.lower() if position in self.lowered else value

    def right_values(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the values on the right of the URL that has *values* on the left."""
        if self.lowered:
            return tuple([self.lower(position, values[position]) for position in self.kept])
        return tuple([values[position] for position in self.kept])


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """URLs that match the left side lead to the page of the right side. ``slots``: one for each key.

    >>> form = Form("http://a.example", ("/", "?id", "?sid"), (0, 1))
    >>> rule = RewriteRule(form, (Fixed("x"), Variable("a", VariableKind.NUMBER), Anything()))
    >>> print(rule)
    http://a.example/x?id=a&sid=* -> http://a.example/x?id=a
    >>> rule.rewrite("http://a.example/x?id=7&sid=f00")
    'http://a.example/x?id=7'
    >>> rule.rewrite("http://a.example/x?id=seven&sid=f00") is None
    True
    """

    form: Form
    slots: tuple[Slot, ...]

    def matches(self, values: Sequence[str]) -> bool:
        """Return whether the left side holds of the values of a URL with the keys of the form."""
        for position, (slot, value) in enumerate(zip(self.slots, values, strict=True)):
            if not slot.admits(self.form.lower(position, value)):
                return False
        return True

    def rewrite(self, url: str) -> str | None:
        """Return *url* (its fragment apart) as the right side has it; None where the left does not match."""
        parts = segmented(url)
        if parts.origin != self.form.origin or parts.keys != self.form.keys or not self.matches(parts.values):
            return None
        pieces = []
        for position in self.form.kept:
            key, value, text = parts.segments[position]
            pieces.append((key, text.removesuffix(value) + self.form.lower(position, value)))
        return composed(self.form.origin, pieces)

    @property
    def left(self) -> str:
        """The left side as the document writes it."""
        return composed(self.form.origin, [self._piece(position) for position in range(len(self.slots))])

    @property
    def right(self) -> str:
        """The right side as the document writes it."""
        return composed(self.form.origin, [self._piece(position) for position in self.form.kept])

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the left side."""
        return tuple(slot for slot in self.slots if isinstance(slot, Variable))

    def __str__(self) -> str:
        return f"{self.left} -> {self.right}"

    def _piece(self, position: int) -> tuple[str, str]:
        key, slot = self.form.keys[position], self.slots[position]
        text = slot.value if isinstance(slot, Fixed) else slot.name if isinstance(slot, Variable) else "*"
        if position in self.form.lowered:
            text = f"lower({text})"
        return key, f"{key.lstrip('/;?&')}={text}" if is_named(key) else text
