"""The way of a URL to its canonical key: which rules match it, and what their operations make of it.

What :mod:`.program` and :mod:`.table` have compiled is run here. Operations on origins
and paths are in :mod:`.apply_path`.
"""

from collections.abc import Mapping

from ..urls import PLACEHOLDER, SiteGroups, normal_parts
from ..urls.origins import origin_of
from ..urls.paths import path_values, split_extension
from ..urls.query_paths import SEGMENT_KEY, SLASH, query_path
from .actions import NO_CONTEXT, Change, Context, Mark, added_text
from .apply_path import new_origin, new_path
from .canonical import Canonical
from .operations import Nested, SetOfValues
from .program import OriginProgram, SiteProgram, nested_programs
from .table import FEW_NAMES, OpTable

_MAX_STEPS = 8
_MAX_DEPTH = 2
_MANY_ORIGINS = 20_000

Parts = tuple[str, str, str]
"""(origin, path, query) of a URL in normal form."""
Passed = tuple[OpTable, int]
"""A step on the way to a key: its table, and how many changes were made before it."""


class Canonicalizer:
    """Bring URLs to their canonical keys, with the compiled rules of some sites."""

    def __init__(self, compiled: Mapping[str, SiteProgram], groups: SiteGroups) -> None:
        self._compiled = compiled
        self._groups = groups
        #: Origin in normal form -> (its site, the program of its URLs).
        self._origins: dict[str, tuple[str, OriginProgram | None]] = {}
        self._ignoring: dict[Nested, Canonicalizer] = {}

    def site_and_key(
        self, url: str, changes: list[Change], *, depth: int = 0, passed: list[Passed] | None = None
    ) -> tuple[str, str]:
        """Return (site, canonical key) of *url*, which is *depth* URLs deep in another one.

        *changes* takes what the rules change, *passed* each step.
        """
        origin, path, query = parts = normal_parts(url)
        found = self._origins.get(origin)
        site, program = found if found is not None else self._origin(origin)
        if program is not None:
            origin, path, query = self._key(program, parts, depth, changes, passed)
        return site, f"{origin}{path}?{query}" if query else origin + path

    def canonical(self, url: str) -> Canonical:
        """Return the canonical key of *url* with its site and what rules changed. Never raises."""
        changes: list[Change] = []
        site, key = self.site_and_key(url, changes)
        return Canonical(key, site, tuple(changes), url)

    def nested_key(self, url: str, operation: Nested, depth: int = 1) -> str:
        """Return the key of *url* as the value of another URL, on which *operation* acts, *depth* URLs deep."""
        if operation.ignore:
            ignoring = self._ignoring.get(operation)
            if ignoring is None:
                ignoring = self._ignoring[operation] = Canonicalizer(nested_programs(operation), self._groups)
            url = ignoring.site_and_key(url, [])[1]
        return self.site_and_key(url, [], depth=depth)[1]

    def program(self, origin: str) -> OriginProgram | None:
        """Return the program of the URLs that begin with *origin*, which is in normal form; None if no rule can match."""
        return self._origin(origin)[1]

    def context(self, program: OriginProgram, path: str, query: str, depth: int) -> Context:
        """Return the context of the operations on the URL of *path* and *query*."""
        nested = None if depth >= _MAX_DEPTH else lambda text, operation: self.nested_key(text, operation, depth + 1)
        return Context(lambda: program.values(path, query), nested)

    def _origin(self, origin: str) -> tuple[str, OriginProgram | None]:
        known = self._origins.get(origin)
        if known is None:
            taken = origin_of(origin, self._groups)
            compiled = self._compiled.get(taken.site) if taken.site else None
            known = taken.site, compiled.for_origin(taken) if compiled else None
            if len(self._origins) >= _MANY_ORIGINS:
                self._origins.clear()
            self._origins[origin] = known
        return known

    def _key(
        self,
        program: OriginProgram | None,
        start: Parts,
        depth: int,
        changes: list[Change],
        passed: list[Passed] | None,
    ) -> Parts:
        """Return the key that the steps of the rules lead to from the normal form *start*.

        One step applies all operations at once. As it may change what rules match, it
        is taken again, until it changes nothing; of a circle the least member is the
        key; after 8 steps it is the normal form. So a key is always its own key.
        """
        parts = start
        seen: list[Parts] = []
        while program is not None:
            origin, path, query = parts
            table = table_for(program, path, query)
            if not table.rules:
                return parts
            if passed is not None:
                passed.append((table, len(changes)))
            elif _leaves_alone(table, query):
                return parts
            context = self.context(program, path, query, depth) if table.needs_context else NO_CONTEXT
            end = _is_end(table, path, query)
            if table.on_origin:
                origin, stays = self._move(program, table, context, changes)
                end = end and stays
            if table.on_path:
                path = new_path(table, path, context, changes)
            if query or table.added:
                query = _new_query(table, query, context, changes)
            new = (origin, path, query)
            if end or new == parts:
                return new
            if not table.keeps_normal_form or ";" in path:
                new = normal_parts(f"{origin}{path}?{query}" if query else origin + path)
                if new == parts:
                    return new
            seen.append(parts)
            if new in seen:
                return min(seen[seen.index(new) :])
            if len(seen) > _MAX_STEPS:
                return start
            parts = new
            program = self.program(parts[0])
        return parts

    def _move(
        self, program: OriginProgram, table: OpTable, context: Context, changes: list[Change]
    ) -> tuple[str, bool]:
        """Return (what *table* makes of the program's origin, whether it stays so)."""
        known = program.moves.get(table)
        if known is None:
            made: list[Change] = []
            text = normal_parts(new_origin(table, program.origin, context, made) + "/")[0]
            target = self.program(text)
            stays = target is None or (
                # No rules but some of those that were applied.
                {rule.rule for rule in target.rules} <= {rule.rule for rule in program.rules}
                and new_origin(table, target.origin, context, []) == text
            )
            known = text, stays, tuple(made)
            if not table.needs_context:
                program.moves[table] = known
        changes += known[2]
        return known[:2]


def table_for(program: OriginProgram, path: str, query: str) -> OpTable:
    """Return the operations of the rules that match the URL of *path* and *query*, both in normal form."""
    if (
        program.deep
        or (SLASH in query and query_path(query))
        or (program.repeats and any(query.count(name) > 1 for name in program.repeats))
    ):
        codes = program.codes_of(program.values(path, query))
    else:
        codes = _path_codes(program, path) if program.on_path else program.absent[:]
        if query and program.query:
            _put_query_codes(program, query, codes)
    signature = tuple(codes)
    table = program.tables.get(signature)
    return program.table_of(signature) if table is None else table


def _path_codes(program: OriginProgram, path: str) -> list[int]:
    """Return the codes of a URL of *path* that has no query."""
    if ";" in path or "=" in path:
        values: dict[str, str | None] = {}
        path_values(path, values)
        return program.codes_of(values)
    codes = program.absent[:]
    texts = path.split("/")
    count = len(texts) - 1
    slash = not texts[count]
    if slash:
        count -= 1
    for position, index, code in program.positions:
        if position < count:
            text = texts[position + 1]
            if position == count - 1 and "." in text:
                text = split_extension(text)[0]
            codes[index] = code(text, 0)
    if program.trail and slash and count:
        index, code = program.trail
        codes[index] = code("/", 0)
    if program.length:
        index, code = program.length
        codes[index] = code(str(count), 0)
    if program.extension and count:
        extension = split_extension(texts[count])[1]
        if extension is not None:
            index, code = program.extension
            codes[index] = code(extension, 0)
    return codes


def _put_query_codes(program: OriginProgram, query: str, codes: list[int]) -> None:
    """Put the codes of the parameters in *query* into *codes*."""
    places = program.query
    if ";" in query:
        query = query.replace(";", "&")
    if len(places) <= FEW_NAMES:
        query = "&" + query
        for name, (index, code) in places.items():
            start = query.find(f"&{name}=")
            if start >= 0:
                start += len(name) + 2
                end = query.find("&", start)
                codes[index] = code(query[start:] if end < 0 else query[start:end], 0)
        return
    # From the last to the first: of repeats the first one counts.
    for piece in reversed(query.split("&")):
        name, _, value = piece.partition("=")
        if name in places:
            index, code = places[name]
            codes[index] = code(value, 0)


def _leaves_alone(table: OpTable, query: str) -> bool:
    """Return whether no operation can change a URL of *query*, whatever its path; False where that is not known."""
    if table.on_origin or table.on_path or table.added:
        return False
    if not query:
        return True
    if not table.triggers or table.whole_query or SLASH in query:
        return False
    for text in table.triggers:  # noqa: SIM110 (all() costs twice as much, for each URL)
        if text in query:
            return False
    return True


def _is_end(table: OpTable, path: str, query: str) -> bool:
    """Return whether the result of one step from a URL of *path* and *query* is its key.

    A parameter that rules match must not be repeated: when its first value goes,
    the second one is matched. So it is with several slashes at the end.
    """
    if table.unrepeated is None or (table.on_path and path.endswith("//")) or (SLASH in query and query_path(query)):
        return False
    # An extension is cut off the last segment, whichever that is; pairs and parameters are no segments to a rule.
    if table.orders and any(char in path for char in ".;="):
        return False
    return not table.unrepeated or all(query.count(name) <= 1 for name in table.unrepeated)


def _new_query(table: OpTable, query: str, context: Context, changes: list[Change]) -> str:
    """Return *query* in the canonical key."""
    if table.whole_query or ";" in query or (SLASH in query and query_path(query)):
        return new_query_at_length(table, query, context, changes)
    parameters, beginnings = table.parameters, table.beginnings
    pieces = []
    for piece in query.split("&"):
        name, _, value = piece.partition("=")
        operations = parameters.get(name)
        if operations is None:
            if not beginnings or not name.startswith(beginnings):
                pieces.append(piece)
                continue
            operations = table.operations_on_parameter(name)
        for bound in operations:
            outcome = bound.constant or bound.action(value, context)
            if outcome is not Mark.PASS:
                break
        else:
            pieces.append(piece)
            continue
        if outcome is Mark.KEEP or outcome == value:
            pieces.append(piece)
            continue
        changes.append((bound.rule.id, "q." + name, value))
        if isinstance(outcome, str):
            pieces.append(f"{name}={outcome}")
    pieces.sort()
    return "&".join(pieces)


def new_query_at_length(table: OpTable, query: str, context: Context, changes: list[Change]) -> str:
    """Return *query* in the canonical key, with operations on more than single parameters applied."""
    pieces = []
    if table.semicolons and ";" in query:
        changes.append((table.operations_on("query")[0].rule.id, "query", ";"))
        query = "&".join(sorted(query.replace(";", "&").split("&")))
    seen: set[str] = set()
    path = query_path(query)
    for piece in query.split("&") if query else ():
        parts = []
        for part in piece.split(";"):
            if path and part == f"{path}=":
                parts.append(_new_query_path(table, path, context, changes))
                seen.update(f"{SEGMENT_KEY}{n}" for n in range(path.count(SLASH) + 1))
                path = ""
            else:
                parts.append(_new_parameter(table, part, seen, context, changes))
        kept = [part for part in parts if part]
        if kept:
            pieces.append(";".join(kept))
    for key, operation, rule in table.added:
        if key.startswith("q.") and key not in seen:
            text = added_text(key, operation, context)
            if text is not None:
                seen.add(key)
                changes.append((rule, key, None))
                pieces.append(f"{key[2:]}={text}")
    pieces.sort()
    return "&".join(_distinct(table, pieces, context, changes) if table.distinct else pieces)


def _new_parameter(table: OpTable, part: str, seen: set[str], context: Context, changes: list[Change]) -> str:
    """Return the parameter *part* (``name=value``) in the canonical key, "" where it is dropped.

    *seen* are the keys of the parameters before it; its own is added.
    """
    name, _, value = part.partition("=")
    key = "q." + name
    # Deep tokens are those of the first value; a repeat is one token.
    outcome = (table.outcome if key in seen else table.deep_outcome)(key, value, context, changes)
    seen.add(key)
    if outcome is Mark.PASS and table.bare and name and not value:
        outcome = table.bare_outcome(name, context, changes)
        if isinstance(outcome, str):
            return f"{outcome}="
    if outcome is Mark.PASS:
        return part
    return f"{name}={outcome}" if isinstance(outcome, str) else ""


def _new_query_path(table: OpTable, path: str, context: Context, changes: list[Change]) -> str:
    """Return the parameter that is the path *path* in the canonical key, "" where all of it is dropped.

    A dropped segment before one that stays is shown as ``*``, so that no segment moves.
    """
    texts: list[str] = []
    stays = 0
    for number, text in enumerate(path.split(SLASH)):
        outcome = table.deep_outcome(f"{SEGMENT_KEY}{number}", text, context, changes)
        if outcome is Mark.PASS or isinstance(outcome, str):
            texts.append(outcome if isinstance(outcome, str) else text)
            stays = number + 1
        else:
            texts.append(PLACEHOLDER)
    return SLASH.join(texts[:stays]) + "=" if stays else ""


def _distinct(table: OpTable, pieces: list[str], context: Context, changes: list[Change]) -> list[str]:
    """Return the sorted *pieces*, without repeats of the parameters that are sets of values."""
    kept: list[str] = []
    for piece in pieces:
        if kept and kept[-1] == piece and ";" not in piece:
            name, _, value = piece.partition("=")
            key = f"q.{name}"
            rule = next((bound.rule.id for bound in table.operations_on(key) if bound.operation == SetOfValues()), None)
            if rule is not None:
                changes.append((rule, key, value))
                continue
        kept.append(piece)
    return kept
