"""What the tables of a mask file say, and what is wrong with them, line by line."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast, get_args

from ..files.errors import RuleFileError
from ..files.faults import Lines, site_meant
from .file_keys import KINDS, MACHINE, PATH_KEYS, is_path_header
from .model import Mask, Mode
from .page_kinds import NOT, PageKinds, PatternError, pattern_of, template_of_entry
from .path import Example, PathKind, State, Template, TransientPath
from .slots import Slot, slot_in, slot_problem

__all__ = ["Reader"]

_FILE_KEYS = ("format", "site", "mode", KINDS, MACHINE, "path")
_COUNTS = ("changed", "compared", "pages")
_STATES = tuple([state for state in get_args(State) if state])
_MODES = ("default", "seed")
_position = re.compile(r"(-?[1-9][0-9]{0,5}) of (any|[1-9][0-9]{0,5})").fullmatch


class Reader:
    """Reads one file, and collects its faults."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self.errors: list[RuleFileError] = []
        #: The paths of the file in its order, and its kinds of pages.
        self.paths: list[TransientPath] = []
        self.kinds = PageKinds()
        self._lines = Lines(text, is_path_header)
        self._line = self._lines.line

    def fault(self, line: int | None, problem: str, remedy: str) -> None:
        """Note a fault."""
        self.errors.append(RuleFileError(self.path, line, problem, remedy))

    def mask(self, document: Mapping[str, Any]) -> Mask:
        """Return what the file says; where there are faults it means nothing."""
        self._known_keys(document, _FILE_KEYS, None, "a mask file")
        site = document.get("site", "")
        if not isinstance(site, str):
            self.fault(self._line(None, "site"), f"site is {site!r}", 'write it in quotes: site = "example.com"')
            site = ""
        elif (wanted := site_meant(site)) != site:
            problem = "a site is a domain as rules know it, without scheme, path and www"
            self.fault(self._line(None, "site"), problem, f'write site = "{wanted}"')
        mode = document.get("mode", "default")
        if mode not in _MODES:
            self.fault(self._line(None, "mode"), f"mode is {mode!r}", f"a mode is one of {', '.join(_MODES)}")
        self.kinds = self._kinds(document)
        layouts = self._layouts(document)
        tables = document.get("path", [])
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self.fault(self._line(None, "path"), "path is no list of tables", "begin each path with [[path]]")
            tables = []
        paths: dict[tuple[str, str, int, int], TransientPath] = {}
        for number, table in enumerate(tables):
            path = self._path(table, number)
            if path is None:
                continue
            self.paths.append(path)
            if paths.setdefault(path.key, path) is not path:
                self.fault(
                    self._line(number, "selector"),
                    f"a second path has the selector {path.selector}",
                    "remove one of them, or say which position or attribute it is about",
                )
        known_mode: Mode = "seed" if mode == "seed" else "default"
        return Mask(site, tuple(paths.values()), known_mode, self.kinds.templates, frozenset(layouts))

    def _known_keys(self, table: Mapping[str, Any], known: tuple[str, ...], number: int | None, where: str) -> None:
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"{where} has {', '.join(known)}"
                self.fault(self._line(number, key), f'{where} has no key "{key}"', remedy)

    def _path(self, table: Mapping[str, Any], number: int) -> TransientPath | None:
        before = len(self.errors)
        self._known_keys(table, PATH_KEYS, number, "a path")
        texts = {name: self._text(table, number, name) for name in ("selector", "attribute")}
        if not texts["selector"] and not self.errors[before:]:
            example = 'selector = "html/body/p.clock"'
            self.fault(self._line(number), "a path without a selector is of nothing", f"add a line such as {example}")
        # A path without a kind was written by hand.
        kind = table.get("kind", "transient")
        state = table.get("state", "" if "kind" in table else "strip")
        self._one_of(kind, get_args(PathKind), number, "kind")
        if state != "":
            self._one_of(state, _STATES, number, "state")
        slot = self._slot(table, number, texts["attribute"])
        position = self._place(table, number, slot)
        templates, excepted, untested = [self._templates(table, number, name) for name in ("on", "except", "untested")]
        for name in ("everywhere", "typed"):
            if not isinstance(table.get(name, False), bool):
                self.fault(self._line(number, name), f"{name} is {table[name]!r}", f"{name} is true or false")
        for name in _COUNTS:
            if not _is_number(table.get(name, 0), int):
                self.fault(self._line(number, name), f"{name} is {table[name]!r}", f"{name} is a number")
        if not _is_number(table.get("confidence", 0.0), int | float):
            self.fault(self._line(number, "confidence"), "confidence is no number", "it is between 0 and 1")
        examples = self._examples(table, number)
        words = self._strings(table, number, "words")
        if len(self.errors) > before:
            return None
        changes, opportunities, pages = [int(table.get(name, 0)) for name in _COUNTS]
        return TransientPath(
            texts["selector"],
            texts["attribute"],
            slot,
            cast("PathKind", kind),
            float(table.get("confidence", 0.0)),
            pages=pages,
            changes=changes,
            opportunities=opportunities,
            examples=examples,
            position=position[0],
            of=position[1],
            templates=templates,
            state=cast("State", state),
            typed=bool(table.get("typed", False)),
            everywhere=bool(table.get("everywhere", False)),
            excepted=excepted,
            untested=untested,
            words=tuple(words or ()),
        )

    def _text(self, table: Mapping[str, Any], number: int, name: str) -> str:
        value = table.get(name, "")
        if isinstance(value, str):
            return value
        self.fault(self._line(number, name), f"{name} is {value!r}", f"{name} is a string in quotes")
        return ""

    def _one_of(self, value: Any, known: tuple[str, ...], number: int, name: str) -> None:
        if value not in known:
            self.fault(self._line(number, name), f"{name} is {value!r}", f"a {name} is one of {', '.join(known)}")

    def _place(self, table: Mapping[str, Any], number: int, slot: Slot | None) -> tuple[int, int]:
        value = table.get("position")
        if value is None:
            return 0, 0
        found = _position(value) if isinstance(value, str) else None
        position, of = (int(found[1]), int(found[2].replace("any", "0"))) if found is not None else (0, 0)
        if not position or (of and not 1 <= position <= of):
            self.fault(
                self._line(number, "position"),
                f"position is {value!r}",
                'write it as "3 of 5", or "1 of any" for the first and "-1 of any" for the last of any number',
            )
        elif not of and slot is None and table.get("typed") is not True:
            self.fault(
                self._line(number, "position"),
                "a position of any number has a slot, or is typed",
                'say with text what stays, such as text = "Today is {…}", or typed = true where what goes holds a digit',
            )
        return position, of

    def _strings(self, table: Mapping[str, Any], number: int | None, name: str) -> list[str] | None:
        value = table.get(name)
        if value is None or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            return value
        self.fault(self._line(number, name), f"{name} is no list of strings", f'write {name} = ["one", "two"]')
        return None

    def _listed_slot(self, table: Mapping[str, Any], number: int, attribute: str) -> Slot | None:
        """Return the slot that stands as a list of its literals: of words that a text could not say."""
        found = self._strings(table, number, "slot")
        if found is None:
            return None
        problem = slot_problem(found, attribute)
        if problem is not None:
            self.fault(self._line(number, "slot"), *problem.split("; ", 1))
        return tuple(found)

    def _kinds(self, document: Mapping[str, Any]) -> PageKinds:
        table = document.get(KINDS, {})
        if not isinstance(table, Mapping):
            self.fault(
                self._line(None, KINDS), f"{KINDS} is {table!r}", f'begin a table with [{KINDS}]: news = "/news/*"'
            )
            return PageKinds()
        groups: dict[str, tuple[Template, ...]] = {}
        known: set[Template] = set()
        for name, value in table.items():
            entries = value if isinstance(value, list) else [value]
            try:
                found = [template_of_entry(entry) for entry in entries]
            except PatternError as error:
                self._pattern_fault(error, None, KINDS, name, entries=entries)
                continue
            line = self._line(None, KINDS, name)
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

    def _layouts(self, document: Mapping[str, Any]) -> list[str]:
        table = document.get(MACHINE, {})
        if not isinstance(table, Mapping):
            self.fault(
                self._line(None, MACHINE), f"{MACHINE} is {table!r}", f"[{MACHINE}] is a table that nobody edits"
            )
            return []
        self._known_keys(table, ("layouts",), None, f"the table [{MACHINE}]")
        return self._strings(table, None, "layouts") or []

    def _templates(self, table: Mapping[str, Any], number: int, name: str) -> tuple[Template, ...]:
        value = table.get(name, [])
        entries = [value] if isinstance(value, str) else value
        if not isinstance(entries, list):
            self.fault(self._line(number, name), f"{name} is {value!r}", f'write {name} = ["news", "/shop/*?page="]')
            return ()
        try:
            return self.kinds.meant(entries)
        except PatternError as error:
            self._pattern_fault(error, number, name, entries=entries)
            return ()

    def _pattern_fault(self, error: PatternError, number: int | None, *keys: str, entries: list[Any]) -> None:
        line = self._line(number, *keys)
        said = [each for each in entries if isinstance(each, str) and repr(each.removeprefix(NOT)) in error.problem]
        if said and line is not None:
            line = self._lines.holding(said[0], line)
        self.fault(line, error.problem, error.remedy)

    def _slot(self, table: Mapping[str, Any], number: int, attribute: str) -> Slot | None:
        if "text" not in table or "slot" in table:
            if "text" in table:
                self.fault(self._line(number, "slot"), "text and slot say the same", "remove one of them")
            return self._listed_slot(table, number, attribute)
        try:
            return slot_in(self._text(table, number, "text") or "{…}", attribute)
        except ValueError as error:
            problem, _, remedy = str(error).partition("; ")
            self.fault(self._line(number, "text"), problem, remedy)
            return None

    def _examples(self, table: Mapping[str, Any], number: int) -> tuple[Example, ...]:
        sides = []
        for name in ("before", "after"):
            value = table.get(name, [])
            side = [value] if isinstance(value, str) else value
            if not isinstance(side, list) or not all(isinstance(each, str) for each in side):
                self.fault(
                    self._line(number, name), f"{name} is {value!r}", f'write {name} = "a text that stood there"'
                )
                side = []
            sides.append(side)
        before, after = sides
        longer = max(len(before), len(after))
        return tuple(zip(*[[*side, *[""] * (longer - len(side))] for side in sides], strict=True))


def _is_number(value: Any, wanted: Any) -> bool:
    return isinstance(value, wanted) and not isinstance(value, bool)
