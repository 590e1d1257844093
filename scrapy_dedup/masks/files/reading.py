"""A mask file read: all of it, or what is wrong with it, line by line."""

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_args

from ...files.errors import FormError, RuleFileError, problem_and_remedy
from ...files.table_fields import TableField, one_of, strings
from ...files.table_reader import TableReader
from ...files.toml_reading import parsed
from ..path import Template, TransientPath
from ..slots import GAP, Slot, slot_in, slot_problem
from .mask_data import MaskData, Mode
from .page_kinds import NOT, PageKinds, pattern_of, template_of_entry
from .path_table import EXAMPLES, FORMAT, KINDS, MACHINE, PATH, PATH_KEYS, POSITION, SLOT, TEMPLATES, is_path_header

__all__ = ["MaskText", "read_mask"]

_FILE_KEYS = ("format", "site", "mode", KINDS, MACHINE, "path")
_MODE = (TableField("mode", one_of(*get_args(Mode))),)
_LAYOUTS = (TableField("layouts", strings),)


def read_mask(text: str, path: Path) -> tuple[MaskData | None, list[RuleFileError]]:
    """Return (the mask that *text* says, all that is wrong with it); None where anything is wrong."""
    found = MaskText(text, path)
    return found.mask, found.faults


class MaskText(TableReader):
    """The text of a mask file: its tables as they stand there, what they mean, and all that is wrong with them.

    ``paths`` are in the order of the file; ``mask`` is None where there are faults.
    """

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text, path, is_path_header)
        self.document: Mapping[str, Any] = {}
        self.paths: list[TransientPath] = []
        self.kinds = PageKinds()
        self.mask: MaskData | None = None
        try:
            self.document = parsed(text, path)
        except RuleFileError as error:
            self.errors.append(error)
            return
        if self.has_format(self.document, FORMAT, "a mask file"):  # else what the rest of it means is not known
            mask = self._mask(self.document)
            self.mask = None if self.errors else mask

    def _mask(self, document: Mapping[str, Any]) -> MaskData:
        self.known_keys(document, _FILE_KEYS, None, "a mask file")
        site = self.site(document)
        mode = self.values(document, _MODE, None).get("mode", "default")
        self.kinds = self._kinds(document)
        layouts = self._layouts(document)
        paths: dict[tuple[str, str, int, int], TransientPath] = {}
        for number, table in enumerate(self.tables(document, "path")):
            path = self._path(table, number)
            if path is None:
                continue
            self.paths.append(path)
            if paths.setdefault(path.key, path) is not path:
                self.fault(
                    self.line(number, "selector"),
                    f"a second path has the selector {path.selector}",
                    "remove one of them, or say which position or attribute it is about",
                )
        return MaskData(site, tuple(paths.values()), mode, self.kinds.templates, layouts)

    # The head

    def _kinds(self, document: Mapping[str, Any]) -> PageKinds:
        table = document.get(KINDS, {})
        if not isinstance(table, Mapping):
            self.fault(
                self.line(None, KINDS), f"{KINDS} is {table!r}", f'begin a table with [{KINDS}]: news = "/news/*"'
            )
            return PageKinds()
        groups: dict[str, tuple[Template, ...]] = {}
        known: set[Template] = set()
        for name, value in table.items():
            entries = value if isinstance(value, list) else [value]
            try:
                found = [template_of_entry(entry) for entry in entries]
            except FormError as error:
                self._pattern_fault(error, None, KINDS, name, entries=entries)
                continue
            line = self.line(None, KINDS, name)
            if not name or name.startswith(("/", "?", NOT)):
                self.fault(line, f"{name!r} is no name of a kind of pages", 'write name = "/pattern/*"')
            if not found:
                self.fault(line, f"{name} names no pattern", f'write {name} = "/news/*", or remove the line')
            for template in found:
                if template in known:
                    self.fault(line, f"{pattern_of(template)!r} stands here twice", "remove one of them")
                known.add(template)
            groups[name] = tuple(found)
        return PageKinds(groups)

    def _layouts(self, document: Mapping[str, Any]) -> frozenset[str]:
        table = document.get(MACHINE, {})
        if not isinstance(table, Mapping):
            self.fault(self.line(None, MACHINE), f"{MACHINE} is {table!r}", f"[{MACHINE}] is a table that nobody edits")
            return frozenset()
        self.known_keys(table, ("layouts",), None, f"the table [{MACHINE}]")
        return frozenset(self.values(table, _LAYOUTS, None).get("layouts", ()))

    # A path

    def _path(self, table: Mapping[str, Any], number: int) -> TransientPath | None:
        before = len(self.errors)
        self.known_keys(table, PATH_KEYS, number, "a path")
        values = self.values(table, PATH, number)
        if not values.get("selector") and len(self.errors) == before:
            example = 'selector = "html/body/p.clock"'
            self.fault(self.line(number), "a path without a selector is of nothing", f"add a line such as {example}")
        # A path without a kind was written by hand.
        values.setdefault("state", "" if "kind" in table else "strip")
        values["slot"] = self._slot(table, number, values.get("attribute", ""))
        values["position"], values["of"] = self._place(table, number, values["slot"])
        values |= {name: self._templates(table, number, key) for key, name in TEMPLATES.items()}
        sides = self.values(table, EXAMPLES, number)
        values["examples"] = tuple(zip_longest(*[sides.get(name, []) for name in ("before", "after")], fillvalue=""))
        return TransientPath(**values) if len(self.errors) == before else None

    def _slot(self, table: Mapping[str, Any], number: int, attribute: str) -> Slot | None:
        said = self.values(table, SLOT, number)
        if "slot" in said:
            if "text" in said:
                self.fault(self.line(number, "slot"), "text and slot say the same", "remove one of them")
            problem = slot_problem(said["slot"], attribute)
            if problem is not None:
                self.fault(self.line(number, "slot"), *problem_and_remedy(problem))
            return tuple(said["slot"])
        try:
            return slot_in(said.get("text") or GAP, attribute)
        except ValueError as error:
            self.fault(self.line(number, "text"), *problem_and_remedy(str(error)))
            return None

    def _place(self, table: Mapping[str, Any], number: int, slot: Slot | None) -> tuple[int, int]:
        position, of = self.values(table, POSITION, number).get("position", (0, 0))
        if position and not of and slot is None and table.get("typed") is not True:
            self.fault(
                self.line(number, "position"),
                "a position of any number has a slot, or is typed",
                'say with text what stays, such as text = "Today is {…}", or typed = true where what goes holds a digit',
            )
        return position, of

    def _templates(self, table: Mapping[str, Any], number: int, key: str) -> tuple[Template, ...]:
        value = table.get(key, [])
        entries = [value] if isinstance(value, str) else value
        if not isinstance(entries, list):
            self.fault(self.line(number, key), f"{key} is {value!r}", f'write {key} = ["news", "/shop/*?page="]')
            return ()
        try:
            return self.kinds.meant(entries)
        except FormError as error:
            self._pattern_fault(error, number, key, entries=entries)
            return ()

    def _pattern_fault(self, error: FormError, number: int | None, *keys: str, entries: list[Any]) -> None:
        line = self.line(number, *keys)
        said = [each for each in entries if isinstance(each, str) and repr(each.removeprefix(NOT)) in error.problem]
        if said and line is not None:
            line = self.lines.holding(said[0], line)
        self.fault(line, error.problem, error.remedy)
