"""The rules of a site compiled: one look at each key that some rule asks for.

What the keys before the path (scheme, host) decide is decided once for each origin.
For a URL, each key that is left to ask for gives a *code*, a set of bits that says
which predicates hold; the codes together say which rules match, and the operations
of those are put together once and kept. So the cost does not depend on the number of
rules. What is compiled here :mod:`.apply` runs.
"""

from collections.abc import Callable, Iterable, Mapping

from ..urls import DeepSplit
from ..urls.deep_tokens import deep_values
from ..urls.keyvalues import query_values
from ..urls.origins import Origin
from ..urls.paths import path_values
from .actions import Change, normal_key
from .closure import once_in_one_step
from .model import Rule
from .predicates import Literal, OneOf, Predicate, rule_matches
from .table import ORIGIN_KINDS, CompiledRule, OpTable

__all__ = ["OriginProgram", "SiteProgram"]

_MANY_CODES = 16_384
_MANY_TABLES = 1_024


class SiteProgram:
    """The rules of a site that act, and its deep tokens."""

    __slots__ = ("deep", "guards", "rules")

    def __init__(self, rules: Iterable[Rule], deep: Mapping[str, DeepSplit]) -> None:
        self.rules = [CompiledRule(rule) for rule in rules if rule.status.acts and not rule.is_alias]
        self.deep = {normal_key(key): split for key, split in deep.items()}
        #: All keys that some rule asks for, and how; of a repeat also the key of the first.
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
        # Most keys are asked for literals only: one look into a dictionary.
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

    The code of each key that rules ask for has an index in the codes of a URL.

    - ``absent``: the codes of a URL that has none of the keys;
    - ``on_path``: whether any of the keys is of the path; ``positions``: (N, index, what gives the code of a value) for
      ``path.N``; ``extension``, ``length``, ``trail``: the same for ``ext``, ``path.len`` and ``path.trail``;
    - ``query``: the same for each parameter, by its name; ``repeats``: the parameters (``name=``) whose repeats
      (``q.name[1]``) rules ask for;
    - ``deep``: whether rules ask for deep tokens, which are read from the whole view;
    - ``tables``: codes -> the table of the rules that match, as far as they were met.
    """

    def __init__(self, site: SiteProgram, rules: list[CompiledRule], origin: Origin) -> None:
        self.origin = origin
        self.rules = rules
        #: Table -> (what its operations make of the origin, whether that is the end, what they changed).
        self.moves: dict[OpTable, tuple[str, bool, tuple[Change, ...]]] = {}
        self._site = site
        asked: dict[str, dict[Predicate, int]] = {}
        found: list[tuple[CompiledRule, list[tuple[str, int]]]] = []
        for rule in rules:
            bits = []
            for key, predicate in rule.match.items():
                if not key.startswith(ORIGIN_KINDS):
                    known = asked.setdefault(key, {})
                    bits.append((key, 1 << known.setdefault(predicate, len(known))))
            found.append((rule, bits))
        self._keys = list(asked)
        index_of = {key: index for index, key in enumerate(asked)}
        self._rules = [(rule, [(index_of[key], bit) for key, bit in bits]) for rule, bits in found]
        self._coders = [_Coder(predicates) for predicates in asked.values()]
        places = {key: (index, coder.code) for index, (key, coder) in enumerate(zip(asked, self._coders, strict=True))}
        self.absent = [coder.absent for coder in self._coders]
        self.tables: dict[tuple[int, ...], OpTable] = {}
        self._by_rules: dict[tuple[int, ...], OpTable] = {}
        parameters = [key[2:] for key in asked if key.startswith("q.")]
        self.query: dict[str, _Place] = {name: places["q." + name] for name in parameters if "[" not in name}
        self.repeats = [name.partition("[")[0] + "=" for name in parameters if "[" in name]
        self.on_path = len(parameters) < len(asked)
        self.positions = [(int(key[5:]), *places[key]) for key in asked if key[:5] == "path." and key[5:].isdigit()]
        self.extension: _Place | None = places.get("ext")
        self.length: _Place | None = places.get("path.len")
        self.trail: _Place | None = places.get("path.trail")
        self.deep = any(key in asked for key in _deep_keys(site.deep))

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
            table.once = once_in_one_step(table, self._site.guards)
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


def _deep_keys(deep: Mapping[str, DeepSplit]) -> list[str]:
    return [name for key in deep for name in (key, f"{key}.head", f"{key}.tail")]
