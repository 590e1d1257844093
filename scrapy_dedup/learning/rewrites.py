"""Operations that show a URL in another form: segments of its path, the order and the case of values, parts of values, forms of one page."""

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from ..urls import ValueClass, class_of
from ..urls.percent import lower_value
from .operations import Drop, Literal, Operation, Proposed, differing, most
from .table import Table
from .views import REPEATED, View, is_position, put_segments, segments

PATH: Final = frozenset([f"path.{number}" for number in range(4)])
"""The segments by whose words an operation on the whole path is not tried one by one."""
LONGEST_AFFIX: Final = 12
"""Characters that may stand around a value that is shown by another key."""

_has_digit = re.compile("[0-9]").search


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment(Operation):
    """Cuts one segment out of the path."""

    is_form = True
    position: int
    text: str

    def _change(self, view: View) -> None:
        texts = segments(view)
        if self.position < len(texts) and texts[self.position] == self.text:
            put_segments(view, [*texts[: self.position], *texts[self.position + 1 :]])

    @property
    def touched(self) -> frozenset[str]:
        return PATH

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        longer, shorter = sorted((segments(one), segments(other)), key=len, reverse=True)
        if len(longer) == len(shorter) + 1:
            at = next((at for at, text in enumerate(shorter) if longer[at] != text), len(shorter))
            if longer[at + 1 :] == shorter[at:]:
                yield at, longer[at]

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        for each in most(proposed, 20):
            assert isinstance(each, tuple)
            yield cls(position=each[0], text=each[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Operation):
    """Shows the segments of the path from a position on in one order."""

    is_form = True
    position: int

    def _change(self, view: View) -> None:
        texts = segments(view)
        put_segments(view, texts[: self.position] + sorted(texts[self.position :]))

    @property
    def touched(self) -> frozenset[str]:
        return PATH

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        first, second = segments(one), segments(other)
        if first != second and sorted(first) == sorted(second):
            yield next(at for at, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        for each in most(proposed, 20):
            assert isinstance(each, int)
            yield cls(position=each)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSegment(Operation):
    """Shows the last segment of a path alone, where it has a digit: products under several categories."""

    def _change(self, view: View) -> None:
        texts = segments(view)
        if len(texts) > 1 and _has_digit(texts[-1]):
            put_segments(view, texts[-1:])

    @property
    def touched(self) -> frozenset[str]:
        return PATH

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        first, second = segments(one), segments(other)
        if first != second and first[-1:] == second[-1:] and _has_digit(first[-1]):
            yield "last"

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        if most(proposed):
            yield cls()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lower(Operation):
    """Shows the values of keys in lower case."""

    is_form = True
    keys: tuple[str, ...]

    def _change(self, view: View) -> None:
        for key in self.keys:
            if key in view:
                view[key] = lower_value(view[key])

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.keys)

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        keys = differing(one, other)
        if keys and all(one.get(key, "").lower() == other.get(key, "").lower() for key in keys):
            yield from [key for key in keys if one.get(key) and other.get(key)]

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        keys = sorted([key for key in most(proposed) if isinstance(key, str)])
        if len(keys) > 1:
            yield cls(keys=tuple(keys))
        yield from [cls(keys=(key,)) for key in keys]


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerNames(Operation):
    """Shows the names of parameters in lower case."""

    is_form = True

    def _change(self, view: View) -> None:
        for key in [key for key in view if key.startswith("q.") and key != key.lower()]:
            view.setdefault(key.lower(), view.pop(key))

    @property
    def touched(self) -> frozenset[str]:
        return frozenset()

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        if one.keys() != other.keys() and {key.lower() for key in one} == {key.lower() for key in other}:
            yield "names"

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        if most(proposed):
            yield cls()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOf(Operation):
    """Shows the parts of a value, between which a *delimiter* stands, in one order and each once."""

    is_form = True
    DELIMITERS: ClassVar = (REPEATED, ",", "%2C", "+", "|", "%7C", "~", "-", "_")
    key: str
    delimiter: str

    def _change(self, view: View) -> None:
        if self.key in view:
            view[self.key] = self.delimiter.join(sorted(set(view[self.key].split(self.delimiter))))

    @property
    def touched(self) -> frozenset[str]:
        return frozenset([self.key])

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        keys = differing(one, other)
        if len(keys) == 1:
            first, second = one.get(keys[0], ""), other.get(keys[0], "")
            for delimiter in cls.DELIMITERS:
                if delimiter in first and delimiter in second:
                    parts = first.split(delimiter), second.split(delimiter)
                    if set(parts[0]) == set(parts[1]) and parts[0] != parts[1]:
                        yield keys[0], delimiter

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        for each in most(proposed, 6):
            assert isinstance(each, tuple)
            yield cls(key=each[0], delimiter=each[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut(Operation):
    """Cuts off what stands after the first *delimiter* of a value, or before the last one, where the rest is of a shape."""

    DELIMITERS: ClassVar = ("-", "_", ".", ",", "%3A", ":", "%2C", "~")
    key: str
    delimiter: str
    is_first: bool
    shape: ValueClass

    def _change(self, view: View) -> None:
        kept, cut = _parted(view.get(self.key, ""), self.delimiter, is_first=self.is_first)
        if cut is not None and self.shape.matches(kept):
            view[self.key] = kept

    @property
    def touched(self) -> frozenset[str]:
        return frozenset([self.key])

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        keys = differing(one, other)
        if len(keys) != 1 or not (one.get(keys[0]) and other.get(keys[0])):
            return
        for delimiter in cls.DELIMITERS:
            for is_first in (True, False):
                kept, cut = _parted(one[keys[0]], delimiter, is_first=is_first)
                same, other_cut = _parted(other[keys[0]], delimiter, is_first=is_first)
                cuts = [each for each in (cut, other_cut) if each]
                if kept == same and kept and cuts and (_has_digit(kept) or all(map(_has_digit, cuts))):
                    yield keys[0], delimiter, is_first

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        for each in most(proposed):
            assert isinstance(each, tuple)
            key, delimiter, is_first = each
            kept = class_of([_parted(pair[0][key], delimiter, is_first=is_first)[0] for pair in proposed[each]])
            shape = ValueClass(kept.name, max(1, kept.min_len // 2), kept.max_len * 2)
            yield cls(key=key, delimiter=delimiter, is_first=is_first, shape=shape)


def _parted(value: str, delimiter: str, *, is_first: bool) -> tuple[str, str | None]:
    """Return what is kept of a value and what is cut off; all of it and None where it has no delimiter."""
    if delimiter not in value:
        return value, None
    if is_first:
        head, _, tail = value.partition(delimiter)
        return head, tail
    head, _, tail = value.rpartition(delimiter)
    return tail, head


Part = tuple[str, str | None, str, str]
"""A key of a form, the key whose value it shows (None: a text of its own), and what stands before and after, or that text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Operation):
    """Shows a URL of one form as one of another, whose values are those of the first."""

    keys: frozenset[str]
    literals: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]

    def _change(self, view: View) -> None:
        if view.keys() == self.keys and all(view[key] == value for key, value in self.literals):
            new = {
                key: before if source is None else before + view[source] + after
                for key, source, before, after in self.parts
            }
            view.clear()
            view.update(new)

    @property
    def touched(self) -> frozenset[str]:
        return PATH | {"ext"}

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        if one.keys() != other.keys() or any(is_position(key) and one[key] != other[key] for key in one):
            for source, target in ((one, other), (other, one)):
                parts = _shown_by(source, target)
                if parts is not None:
                    yield tuple(sorted(source)), parts

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        for each in most(proposed, 16):
            assert isinstance(each, tuple)
            keys, parts = each
            # The first URL of a pair may be of either form.
            sources = [one if one.keys() == set(keys) else other for one, other in proposed[each]]
            literals = [
                (key, sources[0][key])
                for key in keys
                if not key.startswith("host.") and len({source[key] for source in sources}) == 1
            ]
            yield cls(keys=frozenset(keys), literals=tuple(literals), parts=parts)


def _shown_by(source: View, target: View) -> tuple[Part, ...] | None:
    """Return how the values of *target* come about from those of *source*; None where none moves, or one cannot."""
    parts: list[Part] = []
    moves = False
    for key, value in sorted(target.items()):
        if source.get(key) == value:
            parts.append((key, key, "", ""))
            continue
        whole = [other for other, text in source.items() if text == value and value]
        inside = [
            other
            for other, text in source.items()
            if text and text in value and (len(text) > 3 or text.isdigit()) and value.count(text) == 1
        ]
        if whole:
            parts.append((key, whole[0], "", ""))
            moves = True
            continue
        if inside:
            other = max(inside, key=lambda each: len(source[each]))
            before, _, after = value.partition(source[other])
            if len(before) + len(after) <= LONGEST_AFFIX:
                parts.append((key, other, before, after))
                moves = True
                continue
        if re.search("[0-9]{3}", value) or len(value) > 24:
            return None
        parts.append((key, None, value, ""))
    return tuple(parts) if moves else None


OPERATIONS: Final[tuple[type[Operation], ...]] = (
    Drop,
    Literal,
    Segment,
    Order,
    LastSegment,
    LowerNames,
    Lower,
    SetOf,
    Form,
    Cut,
)
"""The operations that pairs propose, in the order in which they are tried."""
