"""The tables of a file of rules or masks, read: what is wrong with them is collected, each fault with its line."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .errors import FormError, RuleFileError
from .table_fields import TableField, string
from .toml_reading import Lines, parsed, site_meant


class TableReader:
    """Reads one file, and collects its faults; what it returns for a faulty part means nothing.

    The tables of the file are counted from 0; None stands for its head. *is_header* tells whether a line begins a table.
    """

    def __init__(self, text: str, path: Path, is_header: Callable[[str], object]) -> None:
        self.path = path
        self.errors: list[RuleFileError] = []
        self.lines = Lines(text, is_header)
        self.line = self.lines.line
        #: What the file says, nothing where that is no TOML.
        self.document: Mapping[str, Any] = {}
        try:
            self.document = parsed(text, path)
        except RuleFileError as error:
            self.errors.append(error)

    @property
    def faults(self) -> list[RuleFileError]:
        """All that is wrong with the file, in the order of its lines."""
        return sorted(self.errors, key=lambda error: error.line or 0)

    def fault(self, line: int | None, problem: str, remedy: str) -> None:
        """Note a fault."""
        self.errors.append(RuleFileError(self.path, line, problem, remedy))

    def has_format(self, wanted: str, what: str) -> bool:
        """Return whether the file has the *wanted* format, and note a fault if not; *what* is "a rule file", say."""
        form = self.document.get("format")
        if self.errors:
            return False
        if form is None:
            self.fault(1, "format is missing", f'the first line of {what} is format = "{wanted}"')
        elif form != wanted:
            remedy = f'write format = "{wanted}", or use the release that wrote the file'
            self.fault(self.line(None, "format"), f"format is {form!r}, which this release does not read", remedy)
        return form == wanted

    def site(self) -> str:
        """Return the site of the file, "" if it names none."""
        site = self.values(self.document, [TableField("site", string)], None).get("site", "")
        wanted = site_meant(site)
        if wanted != site:
            problem = "a site is a domain as rules know it, without scheme, path and www"
            self.fault(self.line(None, "site"), problem, f'write site = "{wanted}"')
        return str(site)

    def tables(self, name: str) -> list[Mapping[str, Any]]:
        """Return the tables that begin with [[*name*]]."""
        tables = self.document.get(name, [])
        if isinstance(tables, list) and all(isinstance(table, Mapping) for table in tables):
            return tables
        self.fault(self.line(None, name), f"{name} is no list of tables", f"begin each {name} with [[{name}]]")
        return []

    def known_keys(self, table: Mapping[str, Any], known: Iterable[str], number: int | None, what: str) -> None:
        """Note a fault for each key of a table that is not *known*; *what* names the table in messages: "a rule", say."""
        known = list(known)
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"{what} has {', '.join(known)}"
                self.fault(self.line(number, key), f'{what} has no key "{key}"', remedy)

    def values(
        self, table: Mapping[str, Any], fields: Iterable[TableField], number: int | None, *within: str
    ) -> dict[str, Any]:
        """Return the values of a table's *fields* that are there, by attribute.

        *within*: the keys that lead to it from the table with this *number*, if it is part of that one.
        """
        found: dict[str, Any] = {}
        for field in fields:
            if field.key in table:
                try:
                    found[field.name] = field.read(field.key, table[field.key])
                except FormError as error:
                    self.fault(self.line(number, *within, field.key), error.problem, error.remedy)
        return found
