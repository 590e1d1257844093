"""The rules of a site compiled: one look at each key that some rule asks for.

What the keys before the path (scheme, host) decide is decided once for each origin.
For a URL, each key that is left to ask for gives a *code*, a set of bits that says
which predicates hold; the codes together say which rules match, and the operations
of those are put together once and kept. So the cost does not depend on the number of
rules.
"""

from collections.abc import Callable, Iterable, Mapping

from ..urls import DeepSplit
from ..urls.deep_tokens import deep_values
from ..urls.keyvalues import query_values
from ..urls.origins import Origin
from ..urls.paths import path_values, split_extension
from ..urls.query_paths import SLASH, query_path
from .actions import Change, normal_key
from .compiled import CompiledRule
from .model import Rule
from .predicates import Literal, OneOf, Predicate
from .table import OpTable

__all__ = ["OriginProgram", "SiteProgram", "rule_matches"]

_ORIGIN_KINDS = ("scheme", "host.")
_MANY_SIGNATURES = 16_384
#: Up to so many names are looked for one by one in a query, more in its pieces.
_FEW_NAMES = 6
_MANY_TABLES = 1_024


def rule_matches(match: Mapping[str, Predicate], values: Mapping[str, str | None]) -> bool:
    """Return whether all predicates of *match* hold of *values*."""
    return all(
        predicate.holds(values[key]) if key in values else predicate.optional for key, predicate in match.items()
    )


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
            if rule_matches({key: p for key, p in rule.match.items() if key.startswith(_ORIGIN_KINDS)}, values)
        ]
        return OriginProgram(self, rules, origin) if rules else None


_Code = Callable[[str, int], int]


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
    """What the rules of a site do with the URLs of one origin."""

    __slots__ = (
        "_absent",
        "_coders",
        "_deep",
        "_extension",
        "_keys",
        "_length",
        "_path",
        "_positions",
        "_query",
        "_repeats",
        "_rules",
        "_signatures",
        "_site",
        "_tables",
        "_trail",
        "moves",
        "origin",
        "rules",
    )

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
                if not key.startswith(_ORIGIN_KINDS):
                    known = asked.setdefault(key, {})
                    bits.append((key, 1 << known.setdefault(predicate, len(known))))
            found.append((rule, bits))
        keys = list(asked)
        place = {key: index for index, key in enumerate(keys)}
        self._rules = [(rule, [(place[key], bit) for key, bit in bits]) for rule, bits in found]
        self._keys = keys
        self._coders = [_Coder(asked[key]) for key in keys]
        self._absent = [coder.absent for coder in self._coders]
        self._signatures: dict[tuple[int, ...], OpTable] = {}
        self._tables: dict[tuple[int, ...], OpTable] = {}
        self._positions: list[tuple[int, int, _Code]] = []
        self._extension = self._length = self._trail = -1
        self._query: dict[str, tuple[int, _Code]] = {}
        self._repeats: list[str] = []
        # Deep tokens are read from the whole view; all else is looked up directly.
        self._deep = any(key in keys for key in _deep_keys(site.deep))
        for index, key in enumerate(keys):
            kind, _, name = key.partition(".")
            if kind == "q" and "[" in name:
                self._repeats.append(name.partition("[")[0] + "=")
            elif kind == "q":
                self._query[name] = index, self._coders[index].code
            elif kind == "path" and name.isdigit():
                self._positions.append((int(name), index, self._coders[index].code))
            elif key == "ext":
                self._extension = index
            elif key == "path.len":
                self._length = index
            elif key == "path.trail":
                self._trail = index
        self._path = any(not key.startswith("q.") for key in keys)

    def table(self, path: str, query: str) -> OpTable:
        """Return the operations on the URL of *path* and *query*, both in normal form."""
        if (
            self._deep
            or (SLASH in query and query_path(query))
            or (self._repeats and any(query.count(name) > 1 for name in self._repeats))
        ):
            codes = tuple(self._general_codes(path, query))
        else:
            codes = tuple(self._codes(path, query))
        table = self._signatures.get(codes)
        if table is None:
            table = self._table_of(codes)
        return table

    def _table_of(self, codes: tuple[int, ...]) -> OpTable:
        matching = tuple(
            [number for number, (_, bits) in enumerate(self._rules) if all(codes[index] & bit for index, bit in bits)]
        )
        table = self._tables.get(matching)
        if table is None:
            if len(self._tables) >= _MANY_TABLES:
                self._tables.clear()
            rules = [self._rules[number][0] for number in matching]
            table = self._tables[matching] = OpTable(rules, self._site.deep, self._site.guards)
        if len(self._signatures) >= _MANY_SIGNATURES:
            self._signatures.clear()
        self._signatures[codes] = table
        return table

    def _codes(self, path: str, query: str) -> list[int]:
        codes = self._absent[:]
        if self._path:
            if ";" in path or "=" in path:
                values: dict[str, str | None] = {}
                path_values(path, values)
                for index, key in enumerate(self._keys):
                    if key in values:
                        codes[index] = self._coders[index].code(values[key] or "", 0)
            else:
                texts = path.split("/")
                count = len(texts) - 1
                slash = not texts[count]
                if slash:
                    count -= 1
                    slash = count > 0
                for position, index, code in self._positions:
                    if position < count:
                        text = texts[position + 1]
                        if position == count - 1 and "." in text:
                            text = split_extension(text)[0]
                        codes[index] = code(text, 0)
                if slash and self._trail >= 0:
                    codes[self._trail] = self._coders[self._trail].code("/", 0)
                if self._length >= 0:
                    codes[self._length] = self._coders[self._length].code(str(count), 0)
                if self._extension >= 0 and count:
                    extension = split_extension(texts[count])[1]
                    if extension is not None:
                        codes[self._extension] = self._coders[self._extension].code(extension, 0)
        if query and self._query:
            asked = self._query
            if ";" in query:
                query = query.replace(";", "&")
            if len(asked) <= _FEW_NAMES:
                query = "&" + query
                for name, (index, code) in asked.items():
                    start = query.find(f"&{name}=")
                    if start >= 0:
                        start += len(name) + 2
                        end = query.find("&", start)
                        codes[index] = code(query[start:] if end < 0 else query[start:end], 0)
                return codes
            # From the last to the first: of repeats the first one counts.
            for piece in reversed(query.split("&")):
                name, _, value = piece.partition("=")
                if name in asked:
                    index, code = asked[name]
                    codes[index] = code(value, 0)
        return codes

    def _general_codes(self, path: str, query: str) -> list[int]:
        values = self.values(path, query)
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
