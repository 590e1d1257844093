"""A rule pack as a TOML text: read with the line of each fault, and written as people would write it."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..files.errors import FormError, RuleFileError, problem_and_remedy
from ..files.site_files import text_of
from ..files.table_fields import TableField, number, string, strings, written
from ..files.table_reader import TableReader
from ..files.toml_reading import parsed
from ..files.toml_text import toml, toml_key
from ..rules.model import key_problem, operation_key_problem
from ..rules.operation_forms import operation_form, operation_of
from ..rules.predicate_forms import predicate_form, predicate_of
from .model import Pack, PackRule, Platform
from .platforms import Template

__all__ = ["FORMAT", "load_pack", "pack_text", "read_pack"]

FORMAT = "dedup-pack/1"
_header = re.compile(r"""\s*\[\[\s*["']?(platform|rule)["']?\s*\]\]""").match
_FILE_KEYS = ("format", "name", "note", "platform", "rule")


def _templates(key: str, value: Any) -> tuple[str, ...]:
    texts = strings(key, value)
    for text in texts:
        Template.of(text)
    return texts


def _template(key: str, value: Any) -> str:
    text = string(key, value)
    if Template.of(text).names:
        raise FormError(
            f'"{text}" names parameters', f'write {key} = "{text.partition("?")[0]}", and parameters in [rule.match]'
        )
    return text


def _named(field: str) -> Callable[[Any], object]:
    return lambda whole: getattr(whole, field)


_PLATFORM = (
    TableField("name", string),
    TableField("kind", string, when=_named("kind")),
    TableField("generators", strings, list, when=_named("generators")),
    TableField("templates", _templates, list, when=_named("templates")),
    TableField("source", strings, list, when=_named("source")),
)
_RULE = (
    TableField("platform", string, when=_named("platform")),
    TableField("template", _template, when=_named("template")),
    TableField("sites", number),
    TableField("against", number, when=_named("against")),
    TableField("source", strings, list, when=_named("source")),
    TableField("note", string, when=_named("note")),
)


def load_pack(path: Path) -> Pack:
    """Return the pack in the file at *path*. Raises RuleFileError for the first thing that is wrong with it."""
    text = text_of(path)
    if text is None:
        raise RuleFileError(path, None, "there is no such file", "name a file of a rule pack")
    pack, faults = read_pack(text, path)
    if pack is None:
        raise faults[0]
    return pack


def read_pack(text: str, path: Path) -> tuple[Pack | None, list[RuleFileError]]:
    """Return (the pack that *text* says, all that is wrong with it); the pack is None where anything is."""
    try:
        document = parsed(text, path)
    except RuleFileError as error:
        return None, [error]
    reader = _PackReader(text, path, _header)
    pack = reader.pack(document, [found[1] for found in map(_header, text.split("\n")) if found])
    return (None if reader.errors else pack), reader.faults


class _PackReader(TableReader):
    """Reads one pack."""

    def pack(self, document: Mapping[str, Any], headers: Iterable[str]) -> Pack:
        """Return what the file says; *headers* are the names of its tables in their order."""
        places = {name: [n for n, each in enumerate(headers) if each == name] for name in ("platform", "rule")}
        self.known_keys(document, _FILE_KEYS, None, "a rule pack")
        self.has_format(document, FORMAT, "a rule pack")
        about = self.values(document, (TableField("name", string), TableField("note", string)), None)
        platforms = [
            self._platform(table, _place(places["platform"], number))
            for number, table in enumerate(self.tables(document, "platform"))
        ]
        known = {each.name for each in platforms if each is not None}
        rules = [
            self._rule(table, _place(places["rule"], number), known)
            for number, table in enumerate(self.tables(document, "rule"))
        ]
        return Pack(
            about.get("name", self.path.stem),
            tuple(each for each in platforms if each is not None),
            tuple(each for each in rules if each is not None),
            about.get("note", ""),
        )

    def _platform(self, table: Mapping[str, Any], number: int) -> Platform | None:
        before = len(self.errors)
        self.known_keys(table, [field.key for field in _PLATFORM], number, "a platform")
        values = self.values(table, _PLATFORM, number)
        if not values.get("name"):
            self.fault(self.line(number), "a platform has no name", 'add a line such as name = "mediawiki"')
        return Platform(**values) if len(self.errors) == before else None

    def _rule(self, table: Mapping[str, Any], number: int, platforms: set[str]) -> PackRule | None:
        before = len(self.errors)
        self.known_keys(table, [*(field.key for field in _RULE), "match", "ops"], number, "a rule of a pack")
        values = self.values(table, _RULE, number)
        if (named := values.get("platform", "")) and named not in platforms:
            there = ", ".join(sorted(platforms)) or "none"
            self.fault(self.line(number, "platform"), f'no platform is named "{named}"', f"there are: {there}")
        match = self._forms(table, number, "match", predicate_of, key_problem)
        ops = self._forms(table, number, "ops", operation_of, operation_key_problem)
        if not ops and len(self.errors) == before:
            self.fault(self.line(number), "a rule without ops says nothing", 'add [rule.ops] and "q.NAME" = "ignore"')
        if len(self.errors) > before:
            return None
        try:
            return PackRule(ops, match=match, **values)
        except ValueError as error:
            self.fault(self.line(number, "ops"), *problem_and_remedy(str(error)))
            return None

    def _forms(
        self,
        table: Mapping[str, Any],
        number: int,
        name: str,
        read: Callable[[Any], Any],
        problem_of: Callable[[str], str | None],
    ) -> dict[str, Any]:
        content = table.get(name, {})
        found: dict[str, Any] = {}
        if not isinstance(content, Mapping):
            self.fault(self.line(number, name), f"{name} is no table", f"write [rule.{name}] and a line for each key")
            return found
        for key, form in content.items():
            line = self.line(number, name, key)
            if (problem := problem_of(key)) is not None:
                self.fault(line, *problem_and_remedy(problem))
                continue
            try:
                found[key] = read(form)
            except FormError as error:
                self.fault(line, error.problem, error.remedy)
        return found


def _place(places: list[int], number: int) -> int:
    """Return the number of a table among all of the file; one beyond the last for tables in another spelling."""
    return places[number] if number < len(places) else 1_000_000


def pack_text(pack: Pack) -> str:
    """Return the text of a pack: its platforms, then its rules, those of any site last."""
    head = f'format = "{FORMAT}"\nname = {toml(pack.name)}\n' + (f"note = {toml(pack.note)}\n" if pack.note else "")
    blocks = [_table("[[platform]]", written(_PLATFORM, each)) for each in pack.platforms]
    for rule in pack.rules:
        block = _table("[[rule]]", written(_RULE, rule))
        if rule.match:
            block += "\n" + _table("[rule.match]", {key: predicate_form(one) for key, one in rule.match.items()})
        block += "\n" + _table("[rule.ops]", {key: operation_form(one) for key, one in rule.ops.items()})
        blocks.append(block)
    return "\n".join([head, *blocks])


def _table(header: str, content: Mapping[str, Any]) -> str:
    lines = [
        f"{toml_key(key)} = {toml(value, lines=key == 'source' and len(value) > 1)}\n" for key, value in content.items()
    ]
    return f"{header}\n" + "".join(lines)
