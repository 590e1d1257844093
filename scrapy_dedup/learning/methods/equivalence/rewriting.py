"""Rewrite rules: those of single classes, and what these say together over classes.

Source: "url-normalization-rule-inference", detailed description, steps (c) and (d), and FIG. 2, steps 230 and 240: from
each URL of a class to its representative; the values of ``name=value`` segments that are not in it are
``*``. Rules whose right sides are similar - the same segments, some with other values - become one, in which what
differs is a variable on both sides.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from .segments import Method, SegmentedUrl, by_intersection, case_varies, composed, is_named, segmented

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


Values = tuple[str, ...]


@dataclass(slots=True)
class ClassRules:
    """The rules of single classes that have one form.

    ``rows``: (values of a URL on the left side, its class). The rule of a row asks for its values at
    ``form.asked``; the rest of its left side is ``*``.
    """

    form: Form
    rows: list[tuple[Values, int]] = field(default_factory=list)

    @property
    def asked(self) -> dict[Values, int]:
        """The values that the rules ask for, each once, with a class that has them."""
        return {asked_values(self.form, values): number for values, number in self.rows}


def rules_of_classes(
    members: Sequence[SegmentedUrl],
    content: Sequence[int],
    *,
    method: Method = by_intersection,
    fold_case: bool = False,
) -> list[ClassRules]:
    """Return the rules of all classes of two URLs or more, those of one form together.

    ``content[i]`` is the class of ``members[i]``; URLs of different origins are of different classes
    (the document learns per web server). Linear in the number of segments.
    """
    classes: defaultdict[tuple[str, int], list[SegmentedUrl]] = defaultdict(list)
    for member, number in zip(members, content, strict=True):
        classes[member.origin, number].append(member)
    found: dict[Form, ClassRules] = {}
    for (origin, number), urls in classes.items():
        if len(urls) < 2:
            continue
        alignments = method(urls, fold_case)
        lowered_places = case_varies(urls, alignments) if fold_case else frozenset()
        for url, kept in zip(urls, alignments, strict=True):
            lowered = frozenset([kept[place] for place in lowered_places])
            if len(kept) == len(url.segments) and not lowered and _in_order(kept):
                continue  # it is the representative
            if not kept:
                continue  # the URLs have nothing in common
            form = Form(origin, url.keys, kept, lowered)
            rules = found.get(form)
            if rules is None:
                rules = found[form] = ClassRules(form)
            rules.rows.append((url.values, number))
    return list(found.values())


def rule_of_class(rules: ClassRules, asked: Values) -> RewriteRule:
    """Return the rule with these values."""
    fixed: Mapping[int, str] = dict(zip(rules.form.asked, asked, strict=True))
    slots: list[Slot] = []
    for position in range(len(rules.form.keys)):
        if position in fixed:
            slots.append(Fixed(fixed[position]))
        else:
            slots.append(Anything(kind_of(values[position] for values, _ in rules.rows)))
    return RewriteRule(rules.form, tuple(slots))


def asked_values(form: Form, values: Values) -> Values:
    """Return the values of a URL that the rule of its class asks for."""
    return tuple([form.lower(position, values[position]) for position in form.asked])


def _in_order(kept: tuple[int, ...]) -> bool:
    return all(a < b for a, b in pairwise(kept))


Spread = dict[int, set[str]]
"""Place on the right side -> the values that were met there."""


def spread_of(every: Iterable[ClassRules]) -> dict[tuple[str, tuple[str, ...]], Spread]:
    """Return origin and keys of the right sides -> how these differ: what has the same keys is similar."""
    found: dict[tuple[str, tuple[str, ...]], Spread] = {}
    for rules in every:
        form = rules.form
        spread = found.setdefault((form.origin, form.right_keys), {place: set() for place in range(len(form.kept))})
        for values, _ in rules.rows:
            for place, value in enumerate(form.right_values(values)):
                spread[place].add(value)
    return found


def generalised(rules: ClassRules, spread: Spread) -> RewriteRule:
    """Return the rule that says what the rules of single classes, of one form, say together.

    *spread* tells where the right sides of similar rules differ. A segment that is dropped is ``*``, but if it is no
    ``name=value`` only where it differs between the rows.
    """
    form, names = rules.form, _names()
    place_of = {position: place for place, position in enumerate(form.kept)}
    literal = set(form.asked)
    slots: list[Slot] = []
    for position in range(len(form.keys)):
        values = {form.lower(position, values[position]) for values, _ in rules.rows}
        if position in place_of:
            values |= spread[place_of[position]]
        if position in literal and len(values) == 1:
            slots.append(Fixed(values.pop()))
        elif position in place_of:
            slots.append(Variable(next(names), kind_of(values)))
        else:
            slots.append(Anything(kind_of(values)))
    return RewriteRule(form, tuple(slots))


def _names() -> Iterator[str]:
    """Yield a, b, .., z, a1, b1, .."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    number = ""
    while True:
        yield from (letter + number for letter in letters)
        number = str(int(number or 0) + 1)
