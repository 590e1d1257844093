"""A rule file read: all of it, or what is wrong with it, line by line."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..files.errors import FormError, RuleFileError, problem_and_remedy
from ..files.table_fields import TableField, one_of, string
from ..files.table_reader import TableReader
from ..urls import DeepSplit
from .forms import operation_of, predicate_of
from .model import (
    EVIDENCE,
    MIXED,
    Evidence,
    Rule,
    SiteRules,
    Status,
    is_mixed,
    key_problem,
    operation_key_problem,
    operation_problem,
)

FORMAT = "dedup-rules/1"
is_rule_header = re.compile(r"""\s*\[\[\s*(?:rule|"rule"|'rule')\s*\]\]""").match
_FILE_KEYS = ("format", "site", "deep", "rule")
_RULE_KEYS = ("id", "status", "note", "match", "ops", "evidence")
_RULE = (
    TableField("id", string),
    TableField("note", string),
    TableField("status", one_of(*[str(status.value) for status in Status])),
)


def read_rules(text: str, path: Path) -> tuple[SiteRules | None, list[RuleFileError]]:
    """Return (the rules that *text* says, all that is wrong with it).

    The rules are None where anything is wrong.
    """
    reader = _RuleReader(text, path, is_rule_header)
    if reader.errors:
        return None, reader.errors
    rules = reader.site_rules()
    return (None if reader.errors else rules), reader.faults


class _RuleReader(TableReader):
    """Reads one rule file."""

    def site_rules(self) -> SiteRules:
        """Return what the file says."""
        document = self.document
        self.has_format(FORMAT, "a rule file")
        self.known_keys(document, _FILE_KEYS, None, "a rule file")
        site = self.site()
        if document.get("site", "") == "":
            line = self.line(None, "site") if "site" in document else 1
            self.fault(line, "site is missing", 'say whose rules these are, such as site = "example.com"')
        deep = self._deep(document.get("deep", {}))
        rules: dict[str, Rule] = {}
        for number, table in enumerate(self.tables("rule")):
            rule = self._rule(table, number, site)
            if rule is not None and rules.setdefault(rule.id, rule) is not rule:
                self.fault(
                    self.line(number, "id"),
                    f"a second rule has the id {rule.id}",
                    "give one of them another id, or remove it",
                )
        return SiteRules(site, tuple(rules.values()), deep)

    def _deep(self, table: Any) -> dict[str, DeepSplit]:
        deep: dict[str, DeepSplit] = {}
        example = '"q.topic" = { delimiter = ".", side = "first" }'
        if not isinstance(table, Mapping):
            self.fault(self.line(None, "deep"), "deep is no table", f"write [deep] and lines such as {example}")
            return deep
        for key, form in table.items():
            problem = key_problem(key)
            if problem is not None:
                self.fault(self.line(None, key), *problem_and_remedy(problem))
            elif not isinstance(form, Mapping) or not set(form) <= {"delimiter", "side", "optional"}:
                self.fault(self.line(None, key), f'"{key}" is no deep token', f"write it as {example}")
            else:
                try:
                    deep[key] = DeepSplit(
                        str(form.get("delimiter", "")),
                        str(form.get("side", "last")),
                        form.get("optional", False) is True,
                    )
                except ValueError as error:
                    self.fault(self.line(None, key), str(error), f"write it as {example}")
        return deep

    def _rule(self, table: Mapping[str, Any], number: int, site: str) -> Rule | None:
        before = len(self.errors)
        self.known_keys(table, _RULE_KEYS, number, "a rule")
        match = self._table(table, number, "match", predicate_of)
        ops = self._table(table, number, "ops", operation_of)
        if "ops" not in table and not self.errors[before:]:
            self.fault(self.line(number), "a rule without ops does nothing", 'add [rule.ops] and "q.NAME" = "ignore"')
        if is_mixed(ops):
            self.fault(self.line(number, "ops"), *problem_and_remedy(MIXED))
        evidence = self._evidence(table, number)
        values = self.values(table, _RULE, number)
        if len(self.errors) > before:
            return None
        # A rule without an id was written by hand.
        status = values.get("status", Status.ACTIVE if "id" in table else Status.MANUAL)
        return Rule(site, match, ops, Status(status), evidence, values.get("note", ""), values.get("id", ""))

    def _table(self, table: Mapping[str, Any], number: int, name: str, read: Callable[[Any], Any]) -> dict[str, Any]:
        content = table.get(name, {})
        if not isinstance(content, Mapping):
            self.fault(self.line(number, name), f"{name} is no table", f"write [rule.{name}] and a line for each key")
            return {}
        found: dict[str, Any] = {}
        for key, form in content.items():
            line = self.line(number, name, key)
            problem = operation_key_problem(key) if name == "ops" else key_problem(key)
            if problem is not None:
                self.fault(line, *problem_and_remedy(problem))
                continue
            try:
                found[key] = read(form)
            except FormError as error:
                self.fault(line, f'"{key}": {error.problem}', error.remedy)
                continue
            problem = operation_problem(key, found[key]) if name == "ops" else None
            if problem is not None:
                self.fault(line, *problem_and_remedy(problem))
        return found

    def _evidence(self, table: Mapping[str, Any], number: int) -> Evidence | None:
        if "evidence" not in table:
            return None
        evidence = table["evidence"]
        if not isinstance(evidence, Mapping):
            self.fault(self.line(number, "evidence"), "evidence is no table", "write [rule.evidence], or remove it")
            return None
        self.known_keys(evidence, [field.key for field in EVIDENCE], number, "evidence")
        return Evidence(**self.values(evidence, EVIDENCE, number, "evidence"))
