"""Whether the fields that ``DEDUP_CONTENT_FIELDS`` names are those that items have, and hold what their kind says."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse

from ..support.item_fields import holds_text, values_of
from .field_hints import has_tag, is_html

#: Names of fields of items that are remembered, and those that a message lists.
_MOST, _SHOWN = 200, 10
#: Names that may have been meant which a message lists.
_NEAR: Final = 3
_DEPTH: Final = 3
#: Items of a list whose fields are looked at.
_PARTS: Final = 10
#: Values of a field whose kind is looked at.
_VALUES: Final = 50
#: Words from which on a value shows whether it is HTML: a name or a figure is both.
_WORDS: Final = 3
_WORD = re.compile(r"\w+")


class FieldCheck:
    """Looks at items until each field was met with a value that fits, and its kind is known."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._kinds = dict(fields)
        #: Fields that no item had yet with a value that fits.
        self._open = dict.fromkeys(fields)
        #: Field -> the type of a value that does not fit.
        self._held: dict[str, type[Any]] = {}
        #: The fields that items have; dots lead into nested ones.
        self._names: dict[str, None] = {}
        #: Field -> how many of its values were looked at for tags, and how many had what speaks against its kind.
        self._seen = dict.fromkeys(fields, 0)
        self._against = dict.fromkeys(fields, 0)
        self._looking = set(fields)

    def look(self, item: Any, response: Any = None) -> None:
        """Look at an item, and at its response, if it is known."""
        if not self._open and not self._looking:
            return
        for name in [name for name in self._kinds if name in self._open or name in self._looking]:
            for value in values_of(item, name):
                if holds_text(value):
                    self._open.pop(name, None)
                    self._look_at_kind(name, [value] if isinstance(value, str) else value, response)
                elif name in self._open and value is not None and value not in ([], ()):
                    self._held[name] = type(value)
        if self._open and len(self._names) < _MOST:
            self._names.update(dict.fromkeys(_names_in(item, _DEPTH)))

    @property
    def missing(self) -> list[str]:
        """The fields that no item has."""
        return [name for name in self._open if self._names and name not in self._held and name not in self._names]

    @property
    def mistaken(self) -> list[str]:
        """The fields that hold something else than their kind says."""
        held = [name for name in self._open if self._names and name in self._held]
        return [*held, *(name for name in self._kinds if self._is_of_other_kind(name))]

    @property
    def problem(self) -> str:
        """What is wrong with the fields that were named, and what would be right; "" if nothing is known to be."""
        # Of a field that was empty in all items nothing is known.
        wrong = {*self.missing, *self.mistaken}
        return "; ".join(self._said(name) for name in self._kinds if name in wrong)

    def _look_at_kind(self, name: str, strings: list[str], response: Any) -> None:
        if name not in self._looking:
            return
        text = " ".join(strings)
        if self._kinds[name] == "html":
            against = not has_tag(text)
            if against and len(_WORD.findall(text)) < _WORDS:
                return
        else:
            against = is_html(text, response.text if isinstance(response, HtmlResponse) else "")
            if not against and not text.strip():
                return
        self._seen[name] += 1
        self._against[name] += against
        if self._seen[name] >= _VALUES:
            self._looking.discard(name)

    def _is_of_other_kind(self, name: str) -> bool:
        """Whether none of a field's values has a tag that should be HTML, or most are HTML that should be text."""
        seen, against = self._seen[name], self._against[name]
        return bool(seen) and (against == seen if self._kinds[name] == "html" else against * 2 > seen)

    def _said(self, name: str) -> str:
        if name not in self._open:
            if self._kinds[name] == "html":
                return f"the field {name!r} is named as \"html\", and none of its values has a tag: {{{name!r}: 'text'}} is right"
            return f"the field {name!r} is named as \"text\", and its values are HTML: {{{name!r}: 'html'}} is right"
        held = self._held.get(name)
        if held is None:
            return f"no item has the field {name!r}: {self._meant(name)}"
        inner = [each for each in self._names if each.startswith(f"{name}.")]
        right = f"name a field in it, such as {inner[0]!r}" if inner else "take it out of the setting"
        return f"the field {name!r} holds {held.__name__} and not a string or a list of strings: {right}"

    def _meant(self, name: str) -> str:
        nested = [each for each in self._names if each.endswith(f".{name}")]
        last = [each for each in self._names if not any(other.startswith(f"{each}.") for other in self._names)]
        near = (nested or get_close_matches(name, last, _NEAR))[:_NEAR]
        if near:
            return f"is {' or '.join(map(repr, near))} meant?"
        known = ", ".join(sorted(self._names)[:_SHOWN])
        return f"items have {known}{' and more' if len(self._names) > _SHOWN else ''}"


def _names_in(item: Any, depth: int, before: str = "") -> Iterator[str]:
    """Yield the names of the fields of an item, and of nested ones."""
    if not depth or not ItemAdapter.is_item(item):
        return
    for name, value in ItemAdapter(item).items():
        if isinstance(name, str):
            yield before + name
            for part in value[:_PARTS] if isinstance(value, list | tuple) else (value,):
                yield from _names_in(part, depth - 1, f"{before}{name}.")
