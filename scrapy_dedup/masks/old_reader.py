"""Mask files of the first format, which older releases wrote: read, and written in the present one when they change."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from .page_kinds import PageKinds
from .path import Example, Template
from .reader import Reader
from .slots import Slot

__all__ = ["OLD_FORMAT", "OldReader"]

OLD_FORMAT: Final = "dedup-mask/1"


class OldReader(Reader):
    """Reads one file of the first format: URL templates and slots as lists, examples as texts without order."""

    FILE_KEYS: ClassVar[tuple[str, ...]] = ("format", "site", "mode", "templates", "layouts", "path")
    PATH_KEYS: ClassVar[tuple[str, ...]] = (
        *("selector", "attribute", "position", "slot", "kind", "state", "templates", "everywhere", "except"),
        *("untested", "typed", "words", "css", "xpath", "confidence", "pages", "changes", "opportunities", "examples"),
    )
    TEXTS: ClassVar[tuple[str, ...]] = ("selector", "attribute", "css", "xpath")
    COUNTS: ClassVar[tuple[str, str, str]] = ("changes", "opportunities", "pages")
    ON: ClassVar[str] = "templates"
    _slotted = "add a line with slot, or typed = true where what stands there holds a digit"

    def _kinds(self, document: Mapping[str, Any]) -> PageKinds:
        return PageKinds().holding(self._templates(document, None, "templates"))

    def _layouts(self, document: Mapping[str, Any]) -> list[str]:
        return self._strings(document, None, "layouts") or []

    def _templates(self, table: Mapping[str, Any], number: int | None, name: str) -> tuple[Template, ...]:
        value = table.get(name, [])
        if isinstance(value, list) and all(
            isinstance(each, list) and each and all(isinstance(part, int | str) for part in each) for each in value
        ):
            return tuple([tuple(each) for each in value])
        self.fault(
            self._line(number, name),
            f"{name} is no list of URL templates",
            f'write {name} = [[5, "item", "id"]], or remove the line: then it is about all pages',
        )
        return ()

    def _slot(self, table: Mapping[str, Any], number: int, attribute: str) -> Slot | None:
        return self._listed_slot(table, number, attribute)

    def _examples(self, table: Mapping[str, Any], number: int) -> tuple[Example, ...]:
        # Up to three texts, of which the first two are mostly those of one change.
        found = self._strings(table, number, "examples") or []
        return ((found[0], "".join(found[1:2])),) if found else ()
