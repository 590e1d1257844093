"""A rule pack as a TOML text, read with the line of each fault."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..files.errors import FormError, RuleFileError, problem_and_remedy
from ..files.site_files import text_of
from ..files.table_fields import TableField, number, string, strings
from ..files.table_reader import TableReader
from ..files.toml_reading import parsed
from ..rules.model import key_problem, operation_key_problem
from ..rules.operation_forms import operation_of
from ..rules.predicate_forms import predicate_of
from .model import Pack, PackRule

__all__ = ["FORMAT", "load_pack", "read_pack"]

FORMAT = "dedup-pack/1"
_header = re.compile(r"""\s*\[\[\s*["']?rule["']?\s*\]\]""").match
_FILE_KEYS = ("format", "name", "note", "rule")


def _template(key: str, value: Any) -> str:
    text = string(key, value)
    if "/" in text.strip("/") or "?" in text or (text and not text.strip("/")):
        raise FormError(
            f'"{text}" is no URL template',
            f'write a segment of a path, such as {key} = "viewtopic.php", and parameters in [rule.match]',
        )
    return text


_FIELDS = (
    TableField("template", _template),
    TableField("sites", number),
    TableField("against", number),
    TableField("source", strings),
    TableField("note", string),
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
    pack = reader.pack(document)
    return (None if reader.errors else pack), reader.faults


class _PackReader(TableReader):
    """Reads one pack."""

    def pack(self, document: Mapping[str, Any]) -> Pack:
        """Return what the file says."""
        self.known_keys(document, _FILE_KEYS, None, "a rule pack")
        self.has_format(document, FORMAT, "a rule pack")
        about = self.values(document, (TableField("name", string), TableField("note", string)), None)
        rules = [self._rule(table, number) for number, table in enumerate(self.tables(document, "rule"))]
        kept = tuple(each for each in rules if each is not None)
        return Pack(about.get("name", self.path.stem), kept, about.get("note", ""))

    def _rule(self, table: Mapping[str, Any], number: int) -> PackRule | None:
        before = len(self.errors)
        self.known_keys(table, [*(field.key for field in _FIELDS), "match", "ops"], number, "a rule of a pack")
        values = self.values(table, _FIELDS, number)
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
