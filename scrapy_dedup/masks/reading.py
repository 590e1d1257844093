"""A mask file read: all of it, or what is wrong with it, line by line."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast, get_args

from ..files.errors import RuleFileError
from ..files.faults import Lines, parsed, site_meant
from .model import Mask, PathKind, State, Template, TransientPath
from .slots import Slot, slot_problem

__all__ = ["FORMAT", "is_path_header", "read_mask"]

FORMAT = "dedup-mask/1"
is_path_header = re.compile(r"""\s*\[\[\s*(?:path|"path"|'path')\s*\]\]""").match

_FILE_KEYS = ("format", "site", "mode", "templates", "layouts", "path")
_COUNTS = ("pages", "changes", "opportunities")
#: In the order in which they are written.
PATH_KEYS = (
    *("selector", "attribute", "position", "slot", "kind", "state", "templates", "everywhere", "except", "untested"),
    *("typed", "words", "css", "xpath", "confidence", *_COUNTS, "examples"),
)
_KINDS = get_args(PathKind)
_STATES = tuple([state for state in get_args(State) if state])
_MODES = ("default", "seed")
_position = re.compile(r"(-?[1-9][0-9]{0,5}) of (any|[1-9][0-9]{0,5})").fullmatch


def read_mask(text: str, path: Path) -> tuple[Mask | None, list[RuleFileError]]:
    """Return (the mask that *text* says, all that is wrong with it); None where anything is wrong."""
    try:
        document = parsed(text, path)
    except RuleFileError as error:
        return None, [error]
    reader = _Reader(text, path)
    mask = reader.mask(document)
    reader.errors.sort(key=lambda error: error.line or 0)
    return (None if reader.errors else mask), reader.errors


class _Reader:
    """Collects the faults of one file."""

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self.errors: list[RuleFileError] = []
        self._line = Lines(text, is_path_header).line

    def _fault(self, line: int | None, problem: str, remedy: str) -> None:
        self.errors.append(RuleFileError(self.path, line, problem, remedy))

    def _known_keys(self, table: Mapping[str, Any], known: tuple[str, ...], number: int | None, where: str) -> None:
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"{where} has {', '.join(known)}"
                self._fault(self._line(number, key), f'{where} has no key "{key}"', remedy)

    def mask(self, document: Mapping[str, Any]) -> Mask:
        self._known_keys(document, _FILE_KEYS, None, "a mask file")
        if "format" not in document:
            self._fault(1, "format is missing", f'the first line of a mask file is format = "{FORMAT}"')
        elif document["format"] != FORMAT:
            self._fault(
                self._line(None, "format"),
                f"format is {document['format']!r}, which this release does not read",
                f'write format = "{FORMAT}", or use the release that wrote the file',
            )
        site = document.get("site", "")
        if not isinstance(site, str):
            self._fault(self._line(None, "site"), f"site is {site!r}", 'write it in quotes: site = "example.com"')
            site = ""
        elif (wanted := site_meant(site)) != site:
            problem = "a site is a domain as rules know it, without scheme, path and www"
            self._fault(self._line(None, "site"), problem, f'write site = "{wanted}"')
        mode = document.get("mode", "default")
        if mode not in _MODES:
            self._fault(self._line(None, "mode"), f"mode is {mode!r}", f"a mode is one of {', '.join(_MODES)}")
        templates = self._templates(document, None)
        layouts = self._strings(document, None, "layouts")
        tables = document.get("path", [])
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self._fault(self._line(None, "path"), "path is no list of tables", "begin each path with [[path]]")
            tables = []
        paths: dict[tuple[str, str, int, int], TransientPath] = {}
        for number, table in enumerate(tables):
            path = self._path(table, number)
            if path is not None and paths.setdefault(path.key, path) is not path:
                self._fault(
                    self._line(number, "selector"),
                    f"a second path has the selector {path.selector}",
                    "remove one of them, or say which position or attribute it is about",
                )
        return Mask(
            site,
            tuple(paths.values()),
            "seed" if mode == "seed" else "default",
            frozenset(templates),
            frozenset(layouts or ()),
        )

    def _path(self, table: Mapping[str, Any], number: int) -> TransientPath | None:
        before = len(self.errors)
        self._known_keys(table, PATH_KEYS, number, "a path")
        texts = {name: self._text(table, number, name) for name in ("selector", "attribute", "css", "xpath")}
        if not texts["selector"] and not self.errors[before:]:
            example = 'selector = "html/body/p.clock"'
            self._fault(self._line(number), "a path without a selector is of nothing", f"add a line such as {example}")
        # A path without a kind was written by hand.
        kind = table.get("kind", "transient")
        state = table.get("state", "" if "kind" in table else "strip")
        self._one_of(kind, _KINDS, number, "kind")
        if state != "":
            self._one_of(state, _STATES, number, "state")
        position = self._place(table, number)
        slot = self._slot(table, number, texts["attribute"])
        templates = self._templates(table, number)
        excepted, untested = [self._templates(table, number, name) for name in ("except", "untested")]
        for name in ("everywhere", "typed"):
            if not isinstance(table.get(name, False), bool):
                self._fault(self._line(number, name), f"{name} is {table[name]!r}", f"{name} is true or false")
        for name in _COUNTS:
            if not isinstance(table.get(name, 0), int):
                self._fault(self._line(number, name), f"{name} is {table[name]!r}", f"{name} is a number")
        if not isinstance(table.get("confidence", 0.0), int | float):
            self._fault(self._line(number, "confidence"), "confidence is no number", "it is between 0 and 1")
        examples = self._strings(table, number, "examples")
        words = self._strings(table, number, "words")
        if len(self.errors) > before:
            return None
        return TransientPath(
            texts["selector"],
            texts["attribute"],
            slot,
            cast("PathKind", kind),
            float(table.get("confidence", 0.0)),
            **{name: int(table.get(name, 0)) for name in _COUNTS},
            examples=tuple(examples or ()),
            position=position[0],
            of=position[1],
            templates=tuple(templates),
            state=cast("State", state),
            typed=bool(table.get("typed", False)),
            everywhere=bool(table.get("everywhere", False)),
            excepted=tuple(excepted),
            untested=tuple(untested),
            words=tuple(words or ()),
        )

    def _text(self, table: Mapping[str, Any], number: int, name: str) -> str:
        value = table.get(name, "")
        if isinstance(value, str):
            return value
        self._fault(self._line(number, name), f"{name} is {value!r}", f"{name} is a string in quotes")
        return ""

    def _one_of(self, value: Any, known: tuple[str, ...], number: int, name: str) -> None:
        if value not in known:
            self._fault(self._line(number, name), f"{name} is {value!r}", f"a {name} is one of {', '.join(known)}")

    def _place(self, table: Mapping[str, Any], number: int) -> tuple[int, int]:
        value = table.get("position")
        if value is None:
            return 0, 0
        found = _position(value) if isinstance(value, str) else None
        position, of = (int(found[1]), int(found[2].replace("any", "0"))) if found is not None else (0, 0)
        if not position or (of and not 1 <= position <= of):
            self._fault(
                self._line(number, "position"),
                f"position is {value!r}",
                'write it as "3 of 5", or "1 of any" for the first and "-1 of any" for the last of any number',
            )
        elif not of and "slot" not in table and table.get("typed") is not True:
            remedy = "add a line with slot, or typed = true where what stands there holds a digit"
            self._fault(self._line(number, "position"), "a position of any number has a slot, or is typed", remedy)
        return position, of

    def _slot(self, table: Mapping[str, Any], number: int, attribute: str) -> Slot | None:
        found = self._strings(table, number, "slot")
        if found is None:
            return None
        problem = slot_problem(found, attribute)
        if problem is not None:
            self._fault(self._line(number, "slot"), *problem.split("; ", 1))
        return tuple(found)

    def _strings(self, table: Mapping[str, Any], number: int | None, name: str) -> list[str] | None:
        value = table.get(name)
        if value is None or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            return value
        self._fault(self._line(number, name), f"{name} is no list of strings", f'write {name} = ["one", "two"]')
        return None

    def _templates(self, table: Mapping[str, Any], number: int | None, name: str = "templates") -> list[Template]:
        value = table.get(name, [])
        if isinstance(value, list) and all(
            isinstance(each, list) and each and all(isinstance(part, int | str) for part in each) for each in value
        ):
            return [tuple(each) for each in value]
        self._fault(
            self._line(number, name),
            f"{name} is no list of URL templates",
            f'write {name} = [[5, "item", "id"]], or remove the line: then it is about all pages',
        )
        return []
