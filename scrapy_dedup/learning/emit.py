"""From operations to rules: what the loop has found, as proposals that a rule file can say.

Rules act all at once and on keys that views for learning do not have, so that what is written is tried: the URLs of the site
must become one by the rules where they do by the operations, and nowhere else. What merges more is written with all that its URLs have
in common as a condition; what still does is left out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..rules import (
    Absent,
    AnyOrder,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    Nested,
    OfClass,
    OneOf,
    Predicate,
    Replace,
    RuleBook,
    Set,
    SetOfValues,
)
from ..rules import Operation as RuleOperation
from ..rules.model import BARE as BARE_KEY
from ..urls import DeepSplit, ValueClass, class_of, values_of
from . import operations as ops
from . import rewrites
from .proposals.combining import rules_of
from .proposals.proposal import ANY_VALUE, Proposal
from .views import BARE, FILE, REPEATED, View, is_position, segments

Match = dict[str, Predicate]

MOST_NAMED: Final = 40
"""Values that a condition names one by one."""
MOST_VARIANTS: Final = 12
"""Patterns in which one operation is written."""
PRESENT: Final = OfClass(ANY_VALUE)
NUMBER: Final = OfClass(ValueClass("int", 1))
DIGITS: Final = "#"
"""Stands in a section for a number, where others have words."""


class _Unsaid(Exception):
    """An operation that no rule can say."""


@dataclass
class Written:
    """Proposals that say what operations do, and the deep tokens that they speak of."""

    proposals: list[Proposal] = field(default_factory=list)
    deep: dict[str, DeepSplit] = field(default_factory=dict)
    unsaid: list[ops.Operation] = field(default_factory=list)


class Writer:
    """Writes the operations of one site; *views* are those of its *urls* before any operation."""

    def __init__(
        self, site: str, urls: Sequence[str], views: Sequence[View], groups: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._site = site
        self._urls = urls
        self._views = [dict(view) for view in views]
        self._groups = groups
        self._written = Written()

    def written(self, operations: Sequence[ops.Operation]) -> Written:
        """Return what says the operations, in their order, as far as rules can."""
        for operation in operations:
            before = self._views
            after = [dict(view) for view in before]
            acted = [operation.apply(view) and view != old for view, old in zip(after, before, strict=True)]
            chosen = [row for row, acts in enumerate(acted) if acts]
            if not chosen:
                continue
            self._acted, self._others = (
                [before[row] for row in chosen],
                [before[row] for row, acts in enumerate(acted) if not acts],
            )
            if self._say(operation, after, [self._urls[row] for row in chosen]):
                self._views = after
            else:
                self._written.unsaid.append(operation)
        return self._written

    def _say(self, operation: ops.Operation, after: Sequence[View], urls: Sequence[str]) -> bool:
        """Add the widest of the forms of an operation that merges nothing but what it does; return whether there is one."""
        wanted = [frozenset(view.items()) for view in after]
        common = self._in_common(urls)
        for narrow in ({}, common):
            try:
                deep = self._deep_of(operation)
                made = [
                    Proposal(tuple(_both(match, narrow).items()), key, what, joint)
                    for match, key, what, joint in self._said(operation)
                ]
            except (_Unsaid, ValueError):
                return False
            proposals = list(dict.fromkeys([*self._written.proposals, *made]))
            if self._merges_no_more(proposals, {**self._written.deep, **deep}, wanted):
                self._written.proposals = proposals
                self._written.deep |= deep
                return True
        return False

    def _merges_no_more(
        self, proposals: Sequence[Proposal], deep: Mapping[str, DeepSplit], wanted: Sequence[frozenset[tuple[str, str]]]
    ) -> bool:
        book = RuleBook(rules_of(self._site, proposals), {self._site: deep} if deep else None, self._groups)
        known: dict[str, frozenset[tuple[str, str]]] = {}
        return all(
            known.setdefault(book.canonical_key(url), view) == view
            for url, view in zip(self._urls, wanted, strict=True)
        )

    def _in_common(self, urls: Sequence[str]) -> Match:
        """Return what the URLs on which an operation acts have in common: the length of the path, and whether there is an extension."""
        values = [values_of(url, groups=self._groups) for url in urls]
        found: Match = {"path.len": OneOf({each.get("path.len") or "0" for each in values})}
        extensions = {each.get("ext") for each in values}
        if extensions == {None}:
            found["ext"] = Absent()
        elif None not in extensions:
            named = {each for each in extensions if each is not None}
            found["ext"] = OneOf(named) if len(named) <= MOST_NAMED else PRESENT
        return found

    # -- conditions

    def _guards(self, guard: Iterable[ops.Condition]) -> list[Match]:
        """Return the patterns that say a guard: their union."""
        found: list[Match] = [{}]
        for condition in guard:
            found = [_both(match, more) for match in found for more in self._condition(condition)]
            if len(found) > MOST_VARIANTS:
                raise _Unsaid
        return found

    def _condition(self, condition: ops.Condition) -> list[Match]:
        key, values = condition.key, condition.values
        if not condition.is_in:
            if values == {None}:
                return [{self._key(key): PRESENT}]
            seen = {view.get(key) for view in (*self._acted, *self._others)}
            if len(seen) > MOST_NAMED:
                raise _Unsaid
            values = frozenset(seen) - values
        if any(value is not None and REPEATED in value for value in values):
            raise _Unsaid
        named = sorted([value for value in values if value is not None])
        if key == FILE:
            return self._of_file(named, None in values)
        if key == "path.trail":
            match: list[Match] = [{"ext": PRESENT}, {"ext": Absent(), "path.trail": Literal("/")}] if named else []
            if None in values:
                match.append({"ext": Absent(), "path.trail": Absent()})
            return match
        if not named:
            return [{self._key(key): Absent()}]
        return [{self._key(key): _one_of(named, optional=None in values)}]

    def _of_file(self, names: Sequence[str], or_none: bool) -> list[Match]:
        lengths = sorted({len(segments(view)) for view in self._acted if FILE in view})
        found: list[Match] = [
            {f"path.{length}": _one_of(names), "path.len": Literal(str(length + 1)), "ext": PRESENT}
            for length in lengths
            if names
        ]
        if or_none:
            found.append({"ext": Absent()})
        return found

    @staticmethod
    def _key(key: str) -> str:
        """Return the key of rules for a key of views."""
        if key == BARE:
            return BARE_KEY
        if key in ("user", "separators", FILE, "constant") or ">" in key:
            raise _Unsaid
        return key

    def _sections(self, sections: ops.Sections | None, acting: frozenset[str] | None) -> list[Match]:
        """Return the patterns of the sections in which an operation acts, which no other section has, nor one that nobody has seen."""
        if acting is None or sections is None:
            return [{}]
        inside: list[Place] = []
        outside: list[Place] = []
        for view in {id(view): view for view in (*self._acted, *self._others)}.values():
            (inside if sections.of(view) in acting else outside).append(_places(sections, view))
        others = [dict(place) for place in dict.fromkeys(outside)]
        return [_pattern(found) for found in _joined(inside) if not any(_holds(found, place) for place in others)]

    # -- operations

    def _deep_of(self, operation: ops.Operation) -> dict[str, DeepSplit]:
        if not isinstance(operation, rewrites.Cut):
            return {}
        side = "first" if operation.is_first else "last"
        touched = [
            one for one in self._written.proposals if one.key == operation.key or operation.key in dict(one.match)
        ]
        if touched or operation.key in self._written.deep or ">" in operation.key or operation.key == FILE:
            raise _Unsaid
        return {operation.key: DeepSplit(operation.delimiter, side, optional=True)}

    def _said(self, operation: ops.Operation) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        """Yield (pattern, key, what is done, whether it holds only with the others of its pattern)."""
        write: Mapping[type[ops.Operation], Callable[..., Iterator[tuple[Match, str, RuleOperation, bool]]]] = {
            ops.Drop: self._drop,
            ops.Literal: self._literal,
            rewrites.Segment: self._segment,
            rewrites.LastSegment: self._last_segment,
            rewrites.LowerNames: self._lower_names,
            rewrites.Form: self._form,
            ops.Constant: self._constant,
        }
        for guard in self._guards(operation.guard):
            for section in self._sections(operation.sections, operation.acting):
                match = _both(guard, section)
                if type(operation) in write:
                    yield from write[type(operation)](operation, match)
                elif isinstance(operation, rewrites.Order):
                    yield match, "path", AnyOrder(after=operation.position), False
                elif isinstance(operation, rewrites.Lower):
                    for key in operation.keys:
                        yield from [(more, name, Lower(), False) for more, name in self._places_of(key, match)]
                elif isinstance(operation, rewrites.SetOf):
                    delimiter = "" if operation.delimiter == REPEATED else operation.delimiter
                    yield match, self._key(operation.key), SetOfValues(delimiter), False
                elif isinstance(operation, rewrites.Cut):
                    kept, cut = (".head", ".tail") if operation.is_first else (".tail", ".head")
                    yield (
                        {**match, operation.key + kept: OfClass(operation.shape)},
                        operation.key + cut,
                        Ignore(),
                        False,
                    )

    def _places_of(self, key: str, match: Match) -> list[tuple[Match, str]]:
        """Return under which patterns a key of views is which key of rules: the name of a file is a segment at any place."""
        if key != FILE:
            return [(match, self._key(key))]
        lengths = sorted({len(segments(view)) for view in self._acted if FILE in view})
        if len(lengths) > MOST_VARIANTS:
            raise _Unsaid
        return [
            (_both(match, {"path.len": Literal(str(length + 1)), "ext": PRESENT}), f"path.{length}")
            for length in lengths
        ]

    def _drop(self, operation: ops.Drop, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        for key in operation.keys:
            scope = operation.scopes.get(key, ops.Scope())
            if key == "separators":
                yield match, "query", AnyOrder(), False
            elif ">" in key:
                yield from self._nested(key, scope, match)
            elif key != "user":
                for section in self._sections(scope.sections, scope.acting):
                    for more, name in self._places_of(key, _both(match, section)):
                        if key == FILE and "ext" in operation.keys:
                            # What is left is the folder, as its own URL shows it.
                            more = _both(more, {"ext": self._extension(operation)})
                            if scope.values is not None:
                                more = _both(more, {name: _one_of(sorted(scope.values))})
                            yield more, "path.trail", Set({None: "/"}), True
                        yield more, name, self._dropping(key, scope.values, scope.shape), False
                        if scope.but:
                            yield {**more, name: _one_of(sorted(scope.but))}, name, Keep(), False
                yield from self._by_section(key, scope, match)

    @staticmethod
    def _extension(operation: ops.Drop) -> Predicate:
        scope = operation.scopes.get("ext", ops.Scope())
        return _one_of(sorted(scope.values)) if scope.values else OfClass(scope.shape or ANY_VALUE)

    def _dropping(self, key: str, values: frozenset[str] | None, shape: ValueClass | None) -> RuleOperation:
        if values is None:
            return Ignore(shape)
        # A segment that is named is cut out, and the next ones move up.
        moves = is_position(key) and any(f"path.{int(key[5:]) + 1}" in view or FILE in view for view in self._acted)
        return IgnoreValue(values) if moves else Ignore(values)

    def _by_section(self, key: str, scope: ops.Scope, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        """Yield what is kept, and dropped beside, in sections that have values of their own."""
        seen = {view[key] for view in (*self._acted, *self._others) if key in view}
        for section, values in sorted(scope.by_section.items()):
            usual = scope.values if scope.values is not None else seen - scope.but
            for more in self._sections(scope.whole, frozenset([section])):
                for pattern, name in self._places_of(key, _both(match, more)):
                    if usual - values:
                        yield {**pattern, name: _one_of(sorted(usual - values))}, name, Keep(), False
                    if values - usual:
                        yield pattern, name, self._dropping(key, frozenset(values - usual), None), False

    def _nested(self, key: str, scope: ops.Scope, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        outer, _, inner = key.partition(">")
        if not inner.startswith("q.") or scope.acting is not None or scope.by_section:
            raise _Unsaid
        hosts = {view.get(f"{outer}>host", "") for view in self._acted if key in view}
        if not hosts or "" in hosts:
            raise _Unsaid
        yield (
            match,
            outer,
            Nested({host: {inner: Ignore(scope.values or scope.shape)} for host in sorted(hosts)}),
            False,
        )

    def _literal(self, operation: ops.Literal, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        changes = operation.changes
        if any(REPEATED in (value or "") for _, old, new in changes for value in (old, new)):
            raise _Unsaid
        joint = len(changes) > 1
        files = [key for key, _, _ in changes if key == FILE]
        lengths = sorted({len(segments(view)) for view in self._acted}) if files else [0]
        if len(lengths) > MOST_VARIANTS:
            raise _Unsaid
        for length in lengths:
            names = {key: f"path.{length}" if key == FILE else key for key, _, _ in changes}
            more = dict(match)
            if files:
                more["path.len"] = Literal(str(length + 1))
            asked: Match = {
                self._key(names[key]): Absent() if old is None else Literal(old)
                for key, old, _ in changes
                if key != "path.trail"
            }
            for key, old, new in changes:
                name = self._key(names[key])
                if key == "path.trail" and files:
                    continue  # a file has no slash at its end
                last: Match = {}
                if is_position(name) and new is None and not files:
                    last = {f"path.{int(name[5:]) + 1}": Absent()}
                where = _both(more, {**(asked if joint else {}), **last})
                if new is None:
                    yield where, name, Ignore([old or ""]), joint
                else:
                    yield where, name, Set({old: new}), joint

    def _segment(self, operation: rewrites.Segment, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        key = f"path.{operation.position}"
        yield _both(match, {key: Literal(operation.text)}), key, Ignore([operation.text]), False

    def _last_segment(self, _: rewrites.LastSegment, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        last: defaultdict[int, list[str]] = defaultdict(list)
        for view in self._acted:
            texts = segments(view)
            last[len(texts)].append(texts[-1])
        if any(FILE in view for view in self._acted):
            raise _Unsaid
        for length, texts in sorted(last.items()):
            shape = class_of(texts)
            more: Match = {"path.len": Literal(str(length)), f"path.{length - 1}": OfClass(shape)}
            for position in range(length - 1):
                yield _both(match, more), f"path.{position}", Ignore(cut=True), True

    def _lower_names(self, _: rewrites.LowerNames, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        for key in sorted({key for view in self._acted for key in view if key.startswith("q.") and key != key.lower()}):
            if ">" in key or key == BARE:
                raise _Unsaid
            more = _both(match, {key: PRESENT, key.lower(): Absent()})
            yield more, key.lower(), Replace(key), True
            yield more, key, Ignore(), True

    def _constant(self, operation: ops.Constant, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        literal = {condition.key for condition in operation.guard}
        varying = [key for key in operation.keys - literal if len({view.get(key) for view in self._acted}) > 1]
        for key in sorted(varying):
            if ">" not in key and key not in ("user", "separators"):
                yield from [(more, name, Ignore(), False) for more, name in self._places_of(key, match)]

    def _form(self, operation: rewrites.Form, match: Match) -> Iterator[tuple[Match, str, RuleOperation, bool]]:
        literals = dict(operation.literals)
        file = f"path.{sum(map(is_position, operation.keys))}"
        folders = sum([is_position(key) for key, _, _, _ in operation.parts])
        # What follows a file's name stays with its segment, unless segments are added behind it.
        stays = FILE in operation.keys and folders <= sum(map(is_position, operation.keys))
        target_file = file if stays else f"path.{folders}"

        def name(key: str) -> str:
            return file if key == FILE else self._key(key)

        asked: Match = {
            name(key): Literal(literals[key]) if key in literals else PRESENT
            for key in operation.keys
            if key != "path.trail" and not key.startswith("host.") and key != "scheme"
        }
        asked["path.len"] = Literal(str(sum([is_position(key) or key == FILE for key in operation.keys])))
        if "ext" not in operation.keys:
            asked["ext"] = Absent()
        written = [self._key(key) for key, _, _, _ in operation.parts if key.startswith("q.")]
        asked |= {key: Absent() for key in written if key not in operation.keys}
        where = _both(match, asked)
        kept = set()
        for key, source, before, after in operation.parts:
            if key == "path.trail":
                continue
            target = target_file if key == FILE else self._key(key)
            kept.add(target)
            if source is None:
                old = literals.get(key) if target == name(key) else None
                if old != before:
                    yield where, target, Replace("", prefix=before), True
            elif name(source) != target or before or after:
                yield where, target, Replace(name(source), prefix=before, suffix=after), True
        for key in sorted(operation.keys):
            if key not in ("path.trail", "scheme") and name(key) not in kept:
                yield where, name(key), Ignore(cut=True) if is_position(name(key)) else Ignore(), True


def _one_of(values: Sequence[str], *, optional: bool = False) -> Predicate:
    return Literal(values[0], optional) if len(values) == 1 else OneOf(values, optional)


def _both(one: Match, other: Match) -> Match:
    """Return both patterns in one; the narrower of two conditions on a key. Raises _Unsaid where no URL has both."""
    found = dict(one)
    for key, predicate in other.items():
        known = found.get(key)
        if known is None or known == PRESENT:
            found[key] = predicate
        elif predicate not in (known, PRESENT):
            values, known_values = _values(predicate), _values(known)
            if values is None or known_values is None:
                continue
            if not values & known_values:
                raise _Unsaid
            found[key] = _one_of(sorted(values & known_values))
    return found


def _values(predicate: Predicate) -> frozenset[str] | None:
    if isinstance(predicate, Literal):
        return frozenset([predicate.value])
    return frozenset(predicate.values) if isinstance(predicate, OneOf) else None


Place = tuple[tuple[str, str], ...]
"""The words of a section, and the length of its path, by their keys."""


def _places(sections: ops.Sections, view: View) -> Place:
    keys = [f"path.{number}" for number in range(sections.depth)]
    words = [
        (key, DIGITS if view[key].isdigit() else view[key]) for key in keys if key in view and key in sections.words
    ]
    if sections.depth > 9:
        if FILE in view and FILE in sections.words:
            words.append((f"path.{len(segments(view))}", view[FILE]))
        words.append(("path.len", str(len(segments(view)) + (FILE in view))))
    return tuple(words)


def _joined(places: Iterable[Place]) -> list[dict[str, frozenset[str]]]:
    """Return sections as words by their keys, those put together that differ in one key only."""
    found = [{key: frozenset([word]) for key, word in place} for place in dict.fromkeys(places)]
    for key in sorted({key for each in found for key in each}):
        by_rest: dict[tuple[tuple[str, frozenset[str]], ...], dict[str, frozenset[str]]] = {}
        for each in found:
            rest = tuple(
                sorted([(name, words) for name, words in each.items() if name != key], key=lambda part: part[0])
            )
            if key not in each or DIGITS in each[key]:
                rest = (*rest, (key, each.get(key, frozenset())))
            known = by_rest.get(rest)
            joins = key in each and DIGITS not in each[key]
            by_rest[rest] = {**each, key: each[key] | known[key]} if known is not None and joins else each
        found = list(by_rest.values())
    return found


def _holds(found: Mapping[str, frozenset[str]], place: Mapping[str, str]) -> bool:
    return all(place.get(key) in words for key, words in found.items())


def _pattern(found: Mapping[str, frozenset[str]]) -> Match:
    return {key: NUMBER if DIGITS in words else _one_of(sorted(words)) for key, words in found.items()}
