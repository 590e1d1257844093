"""Operations: what a rule may do with the view of a URL, one class each, and how pairs of URLs of one page propose it.

Operations act one after the other, on views as those before have left them. Nothing else knows their kinds.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import numpy as np

from ..urls import ValueClass
from .evidence.arrays import Flags, Hashes
from .table import Table, hash_of
from .views import FILE, View

Pair = tuple[View, View]
"""Views of two URLs of one page."""
Proposed = Mapping[Hashable, Sequence[Pair]]
"""What pairs propose, each with a pair of each page that does."""

SUPPORT: Final = 3
"""Pages of which two URLs propose something."""
MOST_PROPOSED: Final = 60
"""Operations of a kind that are tried, those that most pages propose first."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The value of a key is one of some, or none of them; None stands for its absence."""

    key: str
    values: frozenset[str | None]
    is_in: bool = True

    def holds(self, view: View) -> bool:
        return (view.get(self.key) in self.values) is self.is_in


@dataclass(frozen=True, slots=True)
class Sections:
    """Where on the site a URL is: by the words of its path up to what an operation changes; other segments are #."""

    words: tuple[str, ...]
    depth: int = 10

    def of(self, view: View) -> str:
        """Return the section of a URL.

        >>> Sections(("path.0",)).of({"path.0": "shop", "path.1": "7", "q.a": "1"})
        'shop/#'
        """
        keys = [f"path.{number}" for number in range(self.depth)] + [FILE] * (self.depth > 9)
        shown = [(key, view[key]) for key in keys if key in view]
        return "/".join([value if key in self.words and not value.isdigit() else "#" for key, value in shown])


@dataclass(frozen=True, slots=True)
class Scope:
    """Which values of a key are dropped, and where."""

    values: frozenset[str] | None = None
    shape: ValueClass | None = None
    but: frozenset[str] = frozenset()
    sections: Sections | None = None
    acting: frozenset[str] | None = None
    """The sections in which they are; None: all."""
    whole: Sections | None = None
    """Sections by the whole path, for values."""
    by_section: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    """The values in those that have their own."""

    def holds(self, value: str, view: View) -> bool:
        """Return whether the value of the key in a view is dropped."""
        if self.acting is not None and self.sections is not None and self.sections.of(view) not in self.acting:
            return False
        if self.whole is not None and self.by_section:
            own = self.by_section.get(self.whole.of(view))
            if own is not None:
                return value in own
        if self.values is not None:
            return value in self.values
        return value not in self.but and (self.shape is None or self.shape.matches(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What is done with a view, where all conditions of the *guard* hold, and in the sections that are *acting*."""

    is_form: ClassVar = False
    """Whether it is about a form of the URL rather than about what names a page."""
    guard: tuple[Condition, ...] = ()
    sections: Sections | None = None
    acting: frozenset[str] | None = None

    def apply(self, view: View) -> bool:
        """Change a view in place; return whether it acts there."""
        if not all(condition.holds(view) for condition in self.guard):
            return False
        if self.acting is not None and self.sections is not None and self.sections.of(view) not in self.acting:
            return False
        self._change(view)
        return True

    def _change(self, view: View) -> None:
        raise NotImplementedError

    def hashes(self, table: Table) -> Hashes:
        """Return the hash of each view of a table as the operation leaves it."""
        hashes = table.hashes.copy()
        for unit in np.flatnonzero(self.where(table)).tolist():
            view = dict(table.views[unit])
            if self.apply(view) and view != table.views[unit]:
                hashes[unit] = hash_of(view)
        return hashes

    def where(self, table: Table) -> Flags:
        """Return in which views of a table all conditions of the guard hold."""
        found = np.ones(len(table), np.bool_)
        for condition in self.guard:
            found &= table.holding(condition.key, condition.values) == condition.is_in
        return found

    @property
    def touched(self) -> frozenset[str]:
        """The keys that it changes."""
        raise NotImplementedError

    @property
    def tested(self) -> tuple[str, ...]:
        """The keys whose values it takes to make no difference."""
        return ()

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        """Yield what two URLs of one page propose."""
        raise NotImplementedError

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator["Operation"]:
        """Yield the operations that enough pages propose."""
        raise NotImplementedError


def differing(one: View, other: View) -> list[str]:
    """Return the keys whose values are others, or that one of two views lacks."""
    return [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]


def most(proposed: Proposed, number: int = MOST_PROPOSED) -> list[Hashable]:
    """Return what enough pages propose, that of most pages first."""
    found = sorted(proposed.items(), key=lambda each: (-len(each[1]), _in_order(each[0])))
    return [each for each, pairs in found[:number] if len(pairs) >= SUPPORT]


def _in_order(proposed: Hashable) -> str:
    """Return a text by which what is proposed is ordered, whatever the order of a set."""
    return repr(sorted(proposed) if isinstance(proposed, frozenset) else proposed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop(Operation):
    """Drops keys whatever their values, or values of a scope."""

    keys: tuple[str, ...]
    scopes: Mapping[str, Scope] = field(default_factory=dict, hash=False)

    def _change(self, view: View) -> None:
        gone = []
        for key in self.keys:
            if key in view:
                scope = self.scopes.get(key)
                if scope is None or scope.holds(view[key], view):
                    gone.append(key)
        for key in gone:
            del view[key]

    def hashes(self, table: Table) -> Hashes:
        if self.scopes:
            return Operation.hashes(self, table)
        dropped = sum([table.hashes_of(key) for key in self.keys], np.zeros(len(table), np.uint64))
        return np.where(self.where(table), table.hashes - dropped, table.hashes)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(self.keys)

    @property
    def tested(self) -> tuple[str, ...]:
        return self.keys

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        yield frozenset(differing(one, other))

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        varying = Counter[str]()
        pages: dict[str, set[int]] = {}
        for keys, pairs in proposed.items():
            assert isinstance(keys, frozenset)
            for key in keys:
                pages.setdefault(key, set()).update([id(pair[0]) for pair in pairs])
        varying.update({key: len(of) for key, of in pages.items()})
        sets = [each for each in most(proposed) if isinstance(each, frozenset)]
        all_ = frozenset([key for key, number in varying.items() if number >= SUPPORT])
        for keys in dict.fromkeys([*sets, *([all_] if len(all_) > 1 else [])]):
            yield cls(keys=tuple(sorted(keys)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Operation):
    """Shows one value for another, of one or several keys; None is absent."""

    changes: tuple[tuple[str, str | None, str | None], ...]

    def _change(self, view: View) -> None:
        if all(view.get(key) == old for key, old, _ in self.changes):
            for key, _, new in self.changes:
                if new is None:
                    view.pop(key, None)
                else:
                    view[key] = new

    def hashes(self, table: Table) -> Hashes:
        where, hashes = self.where(table), table.hashes
        for key, old, new in self.changes:
            was = table.hashes_of_value(key, old)
            where = where & (table.hashes_of(key) == was)
            hashes = hashes - was + table.hashes_of_value(key, new)
        return np.where(where, hashes, table.hashes)

    @property
    def touched(self) -> frozenset[str]:
        return frozenset([key for key, _, _ in self.changes])

    @property
    def tested(self) -> tuple[str, ...]:
        return tuple([key for key, old, new in self.changes if old and new and old.isdigit() and new.isdigit()])

    @classmethod
    def propose(cls, one: View, other: View) -> Iterator[Hashable]:
        keys = sorted(differing(one, other))
        if len(keys) <= 4:
            yield tuple([(key, one.get(key), other.get(key)) for key in keys])
            yield tuple([(key, other.get(key), one.get(key)) for key in keys])

    @classmethod
    def made(cls, proposed: Proposed, table: Table) -> Iterator[Operation]:
        seen = set()
        for changes in most(proposed):
            assert isinstance(changes, tuple)
            back = tuple([(key, new, old) for key, old, new in changes])
            if changes in seen or back in seen:
                continue
            seen |= {changes, back}

            def merit(changes: tuple[tuple[str, str | None, str | None], ...]) -> tuple[int, int, str]:
                # Absence is preferred, then the value that more URLs have.
                gone = sum([new is None for _, _, new in changes]) - sum([old is None for _, old, _ in changes])
                counts = [table.counts.get(key, Counter[str]()) for key, _, _ in changes]
                more = sum(
                    (each[new] if new is not None else 0) - (each[old] if old is not None else 0)
                    for each, (_, old, new) in zip(counts, changes, strict=True)
                )
                return gone, more, repr(changes)

            yield cls(changes=max(changes, back, key=merit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant(Operation):
    """Shows one page for all URLs that hold a literal, whatever their other values."""

    name: str
    keys: frozenset[str]

    def _change(self, view: View) -> None:
        if view.keys() <= self.keys:
            view.clear()
            view["constant"] = self.name

    @property
    def touched(self) -> frozenset[str]:
        return self.keys


def with_guard(operation: Operation, condition: Condition) -> Operation:
    """Return an operation that acts under one condition more."""
    return replace(operation, guard=(*operation.guard, condition))
