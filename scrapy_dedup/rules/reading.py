"""A rule file read: all of it, or what is wrong with it, line by line."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..files.errors import RuleFileError
from ..files.faults import Lines, parsed, site_meant
from ..urls import DeepSplit
from .forms import FormError, operation_of, predicate_of
from .model import (
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

__all__ = ["FORMAT", "is_rule_header", "read_rules"]

FORMAT = "dedup-rules/1"
is_rule_header = re.compile(r"""\s*\[\[\s*(?:rule|"rule"|'rule')\s*\]\]""").match
_FILE_KEYS = ("format", "site", "deep", "rule")
_RULE_KEYS = ("id", "status", "note", "match", "ops", "evidence")
_COUNTS = (
    "groups",
    "counterexamples",
    "pages",
    "urls",
    "removed",
    "apart",
    "samples",
    "refuted",
    "probes",
    "contradicted",
)
_TIMES = ("until", "refuted_at")
_EVIDENCE_KEYS = ("learners", "method", *_COUNTS, "upper95", "examples", "lengths", *_TIMES)
_STATUSES = [str(status.value) for status in Status]


def read_rules(text: str, path: Path) -> tuple[SiteRules | None, list[RuleFileError]]:
    """Return (the rules that *text* says, all that is wrong with it).

    The rules are None where anything is wrong.
    """
    try:
        document = parsed(text, path)
    except RuleFileError as error:
        return None, [error]
    reader = _Reader(text, path)
    rules = reader.site_rules(document)
    reader.errors.sort(key=lambda error: error.line or 0)
    return (None if reader.errors else rules), reader.errors


class _Reader:
    """Collects the faults of one file."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self.errors: list[RuleFileError] = []
        self._lines = Lines(text, is_rule_header)

    def _line(self, rule: int | None, *keys: str) -> int | None:
        return self._lines.line(rule, *keys)

    def _fault(self, line: int | None, problem: str, remedy: str) -> None:
        self.errors.append(RuleFileError(self.path, line, problem, remedy))

    def site_rules(self, document: Mapping[str, Any]) -> SiteRules:
        self._known_keys(document, _FILE_KEYS, None, "a rule file")
        if "format" not in document:
            self._fault(1, "format is missing", f'the first line of a rule file is format = "{FORMAT}"')
        elif document["format"] != FORMAT:
            self._fault(
                self._line(None, "format"),
                f"format is {document['format']!r}, which this release does not read",
                f'write format = "{FORMAT}", or use the release that wrote the file',
            )
        site = document.get("site")
        if not isinstance(site, str) or not site:
            line = self._line(None, "site") if "site" in document else 1
            self._fault(line, "site is missing", 'say whose rules these are, such as site = "example.com"')
            site = ""
        wanted = site_meant(site)
        if wanted != site:
            problem = "a site is a domain as rules know it, without scheme, path and www"
            self._fault(self._line(None, "site"), problem, f'write site = "{wanted}"')
        deep = self._deep(document.get("deep", {}))
        tables = document.get("rule", [])
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self._fault(self._line(None, "rule"), "rule is no list of tables", "begin each rule with [[rule]]")
            tables = []
        rules: list[Rule] = []
        for number, table in enumerate(tables):
            rule = self._rule(table, number, site)
            if rule is None:
                continue
            if any(rule.id == other.id for other in rules):
                self._fault(
                    self._line(number, "id"),
                    f"a second rule has the id {rule.id}",
                    "give one of them another id, or remove it",
                )
            else:
                rules.append(rule)
        return SiteRules(site, tuple(rules), deep)

    def _known_keys(self, table: Mapping[str, Any], known: tuple[str, ...], rule: int | None, where: str) -> None:
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"{where} has {', '.join(known)}"
                self._fault(self._line(rule, key), f'{where} has no key "{key}"', remedy)

    def _deep(self, table: Any) -> dict[str, DeepSplit]:
        deep: dict[str, DeepSplit] = {}
        example = '"q.topic" = { delimiter = ".", side = "first" }'
        if not isinstance(table, Mapping):
            self._fault(self._line(None, "deep"), "deep is no table", f"write [deep] and lines such as {example}")
            return deep
        for key, form in table.items():
            problem = key_problem(key)
            if problem is not None:
                self._fault(self._line(None, key), *_halves(problem))
            elif not isinstance(form, Mapping) or not set(form) <= {"delimiter", "side", "optional"}:
                self._fault(self._line(None, key), f'"{key}" is no deep token', f"write it as {example}")
            else:
                try:
                    deep[key] = DeepSplit(
                        str(form.get("delimiter", "")),
                        str(form.get("side", "last")),
                        form.get("optional", False) is True,
                    )
                except ValueError as error:
                    self._fault(self._line(None, key), str(error), f"write it as {example}")
        return deep

    def _rule(self, table: Mapping[str, Any], number: int, site: str) -> Rule | None:
        before = len(self.errors)
        self._known_keys(table, _RULE_KEYS, number, "a rule")
        match = self._table(table, number, "match", predicate_of)
        ops = self._table(table, number, "ops", operation_of)
        if "ops" not in table and not self.errors[before:]:
            self._fault(self._line(number), "a rule without ops does nothing", 'add [rule.ops] and "q.NAME" = "ignore"')
        if is_mixed(ops):
            self._fault(self._line(number, "ops"), *_halves(MIXED))
        evidence = self._evidence(table.get("evidence"), number)
        # A rule without an id was written by hand.
        status = table.get("status", "active" if "id" in table else "manual")
        if status not in _STATUSES:
            self._fault(
                self._line(number, "status"), f"status is {status!r}", f"a status is one of {', '.join(_STATUSES)}"
            )
        texts = {}
        for name in ("id", "note"):
            texts[name] = table.get(name, "")
            if not isinstance(texts[name], str):
                self._fault(self._line(number, name), f"{name} is {texts[name]!r}", f"{name} is a string in quotes")
        if len(self.errors) > before:
            return None
        return Rule(site, match, ops, Status(status), evidence, str(texts["note"]), str(texts["id"]))

    def _table(self, table: Mapping[str, Any], number: int, name: str, read: Callable[[Any], Any]) -> dict[str, Any]:
        content = table.get(name, {})
        if not isinstance(content, Mapping):
            self._fault(self._line(number, name), f"{name} is no table", f"write [rule.{name}] and a line for each key")
            return {}
        found: dict[str, Any] = {}
        for key, form in content.items():
            line = self._line(number, name, key)
            problem = operation_key_problem(key) if name == "ops" else key_problem(key)
            if problem is not None:
                self._fault(line, *_halves(problem))
                continue
            try:
                found[key] = read(form)
            except FormError as error:
                self._fault(line, f'"{key}": {error.problem}', error.remedy)
                continue
            problem = operation_problem(key, found[key]) if name == "ops" else None
            if problem is not None:
                self._fault(line, *_halves(problem))
        return found

    def _evidence(self, table: Any, number: int) -> Evidence | None:
        if table is None:
            return None
        if not isinstance(table, Mapping):
            self._fault(self._line(number, "evidence"), "evidence is no table", "write [rule.evidence], or remove it")
            return None
        before = len(self.errors)
        self._known_keys(table, _EVIDENCE_KEYS, number, "evidence")
        for name in _COUNTS:
            if not isinstance(table.get(name, 0), int):
                self._fault(self._line(number, "evidence", name), f"{name} is {table[name]!r}", f"{name} is a number")
        if not isinstance(table.get("upper95", 1.0), int | float):
            self._fault(self._line(number, "evidence", "upper95"), "upper95 is no number", "it is between 0 and 1")
        times = {name: _seconds(table.get(name, "")) for name in _TIMES}
        for name, seconds in times.items():
            if seconds is None:
                self._fault(
                    self._line(number, "evidence", name),
                    f"{name} is no time",
                    'it is a text such as "2026-01-31T12:00:00Z"',
                )
        lengths = table.get("lengths", {})
        if not isinstance(lengths, Mapping) or not all(_is_range(length) for length in lengths.values()):
            self._fault(
                self._line(number, "evidence", "lengths"),
                "lengths is no table of shortest and longest values",
                'write lengths = { "q.NAME" = [1, 32] }, or remove it',
            )
        learners = table.get("learners", [])
        if not isinstance(learners, list) or not all(isinstance(name, str) for name in learners):
            self._fault(self._line(number, "evidence", "learners"), "learners is no list of names", "write []")
        if not isinstance(table.get("method", ""), str):
            self._fault(self._line(number, "evidence", "method"), "method is no text", 'write method = "NAME"')
        examples = table.get("examples", [])
        if not isinstance(examples, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(url, str) for url in pair) for pair in examples
        ):
            self._fault(
                self._line(number, "evidence", "examples"),
                "examples is no list of pairs of URLs",
                "write examples = []",
            )
        if len(self.errors) > before:
            return None
        return Evidence(
            learners=tuple(learners),
            method=table.get("method", ""),
            upper95=float(table.get("upper95", 1.0)),
            examples=tuple((pair[0], pair[1]) for pair in examples),
            lengths=tuple((str(key), int(least), int(most)) for key, (least, most) in lengths.items()),
            until=times["until"] or 0,
            refuted_at=times["refuted_at"] or 0,
            **{name: int(table.get(name, 0)) for name in _COUNTS},
        )


def _is_range(length: Any) -> bool:
    return isinstance(length, list) and len(length) == 2 and all(type(number) is int for number in length)


def _seconds(text: Any) -> int | None:
    """Return the seconds since 1970 that a text names, 0 for none; None if it names none."""
    if not isinstance(text, str):
        return None
    try:
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()) if text else 0
    except (ValueError, OverflowError):
        return None


def _halves(message: str) -> tuple[str, str]:
    problem, _, remedy = message.partition("; ")
    return problem, remedy
