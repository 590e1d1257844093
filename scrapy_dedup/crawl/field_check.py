"""Whether the fields that ``DEDUP_CONTENT_FIELDS`` names are those that items have, and hold what can be stripped."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from itemadapter import ItemAdapter

from .content_fields import holds_text, values_of

__all__ = ["FieldCheck"]

#: Names of fields of items that are remembered, and those that a message lists.
_MOST, _SHOWN = 200, 10
_DEPTH: Final = 3
#: Items of a list whose fields are looked at.
_PARTS: Final = 10


class FieldCheck:
    """Looks at items until each field was met with a value that fits."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        #: Fields that no item had yet with a value that fits.
        self._open = dict.fromkeys(fields)
        #: Field -> the type of a value that does not fit.
        self._held: dict[str, type[Any]] = {}
        #: The fields that items have; dots lead into nested ones.
        self._names: dict[str, None] = {}

    def look(self, item: Any) -> None:
        """Look at an item."""
        if not self._open:
            return
        for name in list(self._open):
            for value in values_of(item, name):
                if holds_text(value):
                    self._open.pop(name, None)
                elif value is not None and value not in ([], ()):
                    self._held[name] = type(value)
        if self._open and len(self._names) < _MOST:
            self._names.update(dict.fromkeys(_names_in(item, _DEPTH)))

    @property
    def problem(self) -> str:
        """What is wrong with the fields that were named, and what would be right; "" if nothing is known to be."""
        if not self._names:
            return ""
        # Of a field that was empty in all items nothing is known.
        return "; ".join(self._said(name) for name in self._open if name in self._held or name not in self._names)

    def _said(self, name: str) -> str:
        held = self._held.get(name)
        if held is None:
            return f"no item has the field {name!r}: {self._meant(name)}"
        inner = [each for each in self._names if each.startswith(f"{name}.")]
        right = f"name a field in it, such as {inner[0]!r}" if inner else "take it out of the setting"
        return f"the field {name!r} holds {held.__name__} and not a string or a list of strings: {right}"

    def _meant(self, name: str) -> str:
        nested = [each for each in self._names if each.endswith(f".{name}")]
        near = nested or get_close_matches(name, self._names, 1)
        if near:
            return f"is {near[0]!r} meant?"
        known = ", ".join(sorted(self._names)[:_SHOWN])
        return f"items have {known}{' and more' if len(self._names) > _SHOWN else ''}"


def _names_in(item: Any, depth: int, before: str = "") -> Iterator[str]:
    """Give the names of the fields of an item, and of nested ones."""
    if not depth or not ItemAdapter.is_item(item):
        return
    for name, value in ItemAdapter(item).items():
        if isinstance(name, str):
            yield before + name
            for part in value[:_PARTS] if isinstance(value, list | tuple) else (value,):
                yield from _names_in(part, depth - 1, f"{before}{name}.")
