"""The rules of a site compiled: one look at each key on which some rule has a predicate.

Predicates on keys before the path (scheme, host) are decided once for each origin. For
a URL, each other key gives a *code*: the set of bits of the predicates that hold. The
codes decide which rules match; the operations of these are put together once and kept.
So the cost does not depend on the number of rules. :mod:`.apply` runs what is compiled
here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ..urls import DeepSplit
from ..urls.deep_tokens import ENDS, deep_values
from ..urls.keyvalues import query_values
from ..urls.origins import Origin
from ..urls.paths import path_values
from .closure import unrepeated_for_one_step
from .model import Rule
from .operations import Nested
from .predicates import Absent, Literal, OneOf, Predicate, normal_key, rule_matches
from .table import ORIGIN_KINDS, CompiledRule, OpTable

if TYPE_CHECKING:
    from .actions import Change


_MANY_CODES = 16_384
_MANY_TABLES = 1_024


class SiteProgram:
    """The rules of a site that act, and its deep tokens."""

    __slots__ = ("deep", "guards", "rules")

    def __init__(self, rules: Iterable[Rule], deep: Mapping[str, DeepSplit]) -> None:
        self.rules = [CompiledRule(rule) for rule in rules if rule.status.acts and not rule.is_alias]
        self.deep = {normal_key(key): split for key, split in deep.items()}
        #: Key -> the predicates on it; of a repeat also the key of the first.
        self.guards: dict[str, list[Predicate]] = {}
        for rule in self.rules:
            for key, predicate in rule.match.items():
                self.guards.setdefault(key, []).append(predicate)
                self.guards.setdefault(key.partition("[")[0], [])

    def for_origin(self, origin: Origin) -> "OriginProgram | None":
        """Return the program of the URLs that begin with *origin*; None if no rule can match."""
        values: dict[str, str | None] = dict(origin.values)
        rules = [
            rule
            for rule in self.rules
            if rule_matches({key: p for key, p in rule.match.items() if key.startswith(ORIGIN_KINDS)}, values)
        ]
        return OriginProgram(self, rules, origin) if rules else None


def nested_programs(operation: Nested) -> dict[str, SiteProgram]:
    """Return the programs, by site, of what *operation* ignores in the URL that is its value."""
    rules: dict[str, list[Rule]] = {}
    for place, ignored in operation.ignore:  # at a site, or at a site and the first segment of the path
        site, slash, segment = place.partition("/")
        predicate: Predicate = Literal(segment) if segment else Absent()
        rules.setdefault(site, []).append(Rule(site, {"path.0": predicate} if slash else {}, dict(ignored)))
    return {site: SiteProgram(found, {}) for site, found in rules.items()}


_Code = Callable[[str, int], int]
_Place = tuple[int, _Code]


class _Coder(dict[str, int]):
    """Value of one key -> bits of the predicates that hold of it.

    ``code(value, 0)`` are those of any value.
    """

    __slots__ = ("_classes", "absent", "code")

    def __init__(self, predicates: Iterable[Predicate]) -> None:
        super().__init__()
        self.absent = 0
        self._classes: list[tuple[int, Predicate]] = []
        named: dict[str, int] = {}
        for number, predicate in enumerate(predicates):
            bit = 1 << number
            if predicate.optional:
                self.absent |= bit
            if isinstance(predicate, Literal):
                named[predicate.value] = named.get(predicate.value, 0) | bit
            elif isinstance(predicate, OneOf):
                for value in predicate.values:
                    named[value] = named.get(value, 0) | bit
            else:
                self._classes.append((bit, predicate))
        for value, code in named.items():
            self[value] = self._code(value, code)
        # Most keys have literals only: one look into a dictionary.
        self.code: _Code = self._code_of if self._classes else self.get

    def _code_of(self, value: str, code: int) -> int:
        known = self.get(value)
        return self._code(value, code) if known is None else known

    def _code(self, value: str, code: int) -> int:
        for bit, predicate in self._classes:
            if predicate.holds(value):
                code |= bit
        return code


class OriginProgram:
    """What the rules of a site do with the URLs of one origin.

    The code of each key on which rules have predicates has an index in the codes of a URL.

    - ``absent``: the codes of a URL that has none of the keys;
    - ``on_path``: whether any of the keys is of the path; ``positions``: (N, index, what gives the code of a value) for
      ``path.N``; ``extension``, ``length``, ``trail``: the same for ``ext``, ``path.len`` and ``path.trail``;
    - ``query``: the same for each parameter, by its name; ``repeats``: the parameters (``name=``) on whose
      repeats (``q.name[1]``) rules have predicates;
    - ``deep``: whether rules have predicates on deep tokens, which are read from the whole view;
    - ``tables``: codes -> the table of the rules that match, as far as they were met.
    """

    def __init__(self, site: SiteProgram, rules: list[CompiledRule], origin: Origin) -> None:
        self.origin = origin
        self.rules = rules
        #: Table -> (what its operations make of the origin, whether that is the end, what they changed).
        self.moves: dict[OpTable, tuple[str, bool, tuple[Change, ...]]] = {}
        self._site = site
        predicates_on: dict[str, dict[Predicate, int]] = {}
        found: list[tuple[CompiledRule, list[tuple[str, int]]]] = []
        for rule in rules:
            bits = []
            for key, predicate in rule.match.items():
                if not key.startswith(ORIGIN_KINDS):
                    known = predicates_on.setdefault(key, {})
                    bits.append((key, 1 << known.setdefault(predicate, len(known))))
            found.append((rule, bits))
        self._keys = list(predicates_on)
        index_of = {key: index for index, key in enumerate(predicates_on)}
        self._rules = [(rule, [(index_of[key], bit) for key, bit in bits]) for rule, bits in found]
        self._coders = [_Coder(predicates) for predicates in predicates_on.values()]
        places = {
            key: (index, coder.code) for index, (key, coder) in enumerate(zip(predicates_on, self._coders, strict=True))
        }
        self.absent = [coder.absent for coder in self._coders]
        self.tables: dict[tuple[int, ...], OpTable] = {}
        self._by_rules: dict[tuple[int, ...], OpTable] = {}
        parameters = [key[2:] for key in predicates_on if key.startswith("q.")]
        self.query: dict[str, _Place] = {name: places["q." + name] for name in parameters if "[" not in name}
        self.repeats = [name.partition("[")[0] + "=" for name in parameters if "[" in name]
        self.on_path = len(parameters) < len(predicates_on)
        self.positions = [
            (int(key[5:]), *places[key]) for key in predicates_on if key[:5] == "path." and key[5:].isdigit()
        ]
        self.extension: _Place | None = places.get("ext")
        self.length: _Place | None = places.get("path.len")
        self.trail: _Place | None = places.get("path.trail")
        self.deep = any(key + end in predicates_on for key in site.deep for end in ("", *ENDS))

    def table_of(self, codes: tuple[int, ...]) -> OpTable:
        """Return the table of the rules that match a URL of *codes*."""
        matching = tuple(
            [number for number, (_, bits) in enumerate(self._rules) if all(codes[index] & bit for index, bit in bits)]
        )
        table = self._by_rules.get(matching)
        if table is None:
            if len(self._by_rules) >= _MANY_TABLES:
                self._by_rules.clear()
            rules = [self._rules[number][0] for number in matching]
            table = self._by_rules[matching] = OpTable(rules, self._site.deep)
            table.unrepeated = unrepeated_for_one_step(table, self._site.guards)
        if len(self.tables) >= _MANY_CODES:
            self.tables.clear()
        self.tables[codes] = table
        return table

    def codes_of(self, values: Mapping[str, str | None]) -> list[int]:
        """Return the codes of a URL whose view has *values*."""
        return [
            coder.code(values[key] or "", 0) if key in values else coder.absent
            for key, coder in zip(self._keys, self._coders, strict=True)
        ]

    def values(self, path: str, query: str) -> dict[str, str | None]:
        """Return the view's values of the URL of *path* and *query*."""
        values: dict[str, str | None] = dict(self.origin.values)
        path_values(path, values)
        if query:
            query_values(query, values)
        deep_values(values, self._site.deep)
        return values
