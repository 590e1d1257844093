"""Fields of items that hold page content: whether those that ``DEDUP_CONTENT_FIELDS`` names are right, and which could be named."""

import logging
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import attrs
from itemadapter import ItemAdapter
from lxml.html.defs import tags
from scrapy import signals
from scrapy.http import HtmlResponse

from ..support.item_fields import holds_text, values_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..support.faults import Faults

logger = logging.getLogger(__name__)

#: Items in items whose fields are looked at, and those of one list.
_DEPTH, _PARTS = 3, 10
#: Items that are looked at for fields that could be named, and values of a field that is named.
_LOOKS: Final = 50
#: Names of fields of items that are remembered, and those that a message lists.
_MOST, _SHOWN = 200, 10
#: Names that may have been meant which a message lists.
_NEAR: Final = 3
#: Words from which on a value shows whether it is HTML: a name or a figure is both.
_WORDS: Final = 3
#: Characters from which on a text may be that of a page; what is read of a longer one.
_LONG, _READ = 200, 2_000
#: The share of its words that stand in the page, from which on it is the page's own.
_OWN: Final = 0.8
_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*|/)?>")
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")
_WORD = re.compile(r"\w+")


@attrs.define(eq=False)
class _NamedField:
    """A field that the setting names: how many of its values were looked at, and how many speak against its kind."""

    kind: str
    #: Whether an item had it with a value that can be stripped.
    fits: bool = False
    #: The type of one that cannot.
    held: str = ""
    seen: int = 0
    against: int = 0

    def look(self, text: str, response: Any) -> None:
        """Look whether a value is HTML, or text; of few words or of nothing it is not told."""
        if self.kind == "html":
            against = not _ANY_TAG.search(text)
            tells = not against or len(_WORD.findall(text)) >= _WORDS
        else:
            against = _is_html(text, response.text if isinstance(response, HtmlResponse) else "")
            tells = bool(text.strip())
        self.seen += tells
        self.against += tells and against

    @property
    def is_of_other_kind(self) -> bool:
        """Whether none of its values has a tag that should be HTML, or most are HTML that should be text."""
        return bool(self.seen) and (self.against == self.seen if self.kind == "html" else self.against * 2 > self.seen)


class FieldCheck:
    """Looks at items until each field was met with a value that fits, and its kind is known."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = {name: _NamedField(kind) for name, kind in fields.items()}
        #: The fields that items have; dots lead into nested ones.
        self._names: dict[str, None] = {}

    def look(self, item: Any, response: Any = None) -> None:
        """Look at an item, and at its response, if it is known."""
        for name, field in self._fields.items():
            for value in values_of(item, name) if not field.fits or field.seen < _LOOKS else ():
                if holds_text(value):
                    field.fits = True
                    field.look(value if isinstance(value, str) else " ".join(value), response)
                elif value is not None and value not in ([], ()):
                    field.held = type(value).__name__
        if len(self._names) < _MOST and not all(field.fits for field in self._fields.values()):
            self._names.update(dict.fromkeys(name for name, _ in _fields_in(item)))

    def problems(self) -> Iterator[tuple[bool, str]]:
        """Yield (whether no item has it, what is wrong and what would be right) of each field that is named wrongly."""
        # Of a field that was empty in all items nothing is known.
        for name, field in self._fields.items():
            if field.is_of_other_kind:
                is_wrong = {"html": "none of its values has a tag", "text": "its values are HTML"}[field.kind]
                right = {name: "text" if field.kind == "html" else "html"}
                yield False, f'the field {name!r} is named as "{field.kind}", and {is_wrong}: {right} is right'
            elif field.held and not field.fits:
                inner = [each for each in self._names if each.startswith(f"{name}.")]
                advice = f"name a field in it, such as {inner[0]!r}" if inner else "take it out of the setting"
                yield False, f"the field {name!r} holds {field.held} and not a string or a list of strings: {advice}"
            elif not field.fits and self._names and name not in self._names:
                yield True, f"no item has the field {name!r}: {self._meant(name)}"

    def _meant(self, name: str) -> str:
        nested = [each for each in self._names if each.endswith(f".{name}")]
        last = [each for each in self._names if not any(other.startswith(f"{each}.") for other in self._names)]
        near = (nested or get_close_matches(name, last, _NEAR))[:_NEAR]
        if near:
            return f"is {' or '.join(map(repr, near))} meant?"
        known = ", ".join(sorted(self._names)[:_SHOWN])
        return f"items have {known}{' and more' if len(self._names) > _SHOWN else ''}"


class FieldHints:
    """Looks at the first items of a crawl, and names fields at its end, for those who have not named any."""

    def __init__(self, crawler: "Crawler", faults: "Faults") -> None:
        self._crawler = crawler
        self._faults = faults
        self._left = _LOOKS
        #: Field, dots in it lead into nested items -> "html" or "text".
        self.found: dict[str, str] = {}
        crawler.signals.connect(self._look, signals.item_scraped)

    def _look(self, item: Any, response: Any) -> None:
        if not isinstance(response, HtmlResponse):
            return
        try:
            words: set[str] = set()
            for name, held in _fields_in(item):
                value = "\n".join(
                    each for each in (held if isinstance(held, list | tuple) else [held]) if isinstance(each, str)
                )
                if _is_html(value, response.text):
                    self.found[name] = "html"
                elif len(value) >= _LONG and name not in self.found:
                    words = words or set(_WORD.findall(response.text))
                    own = [word in words for word in _WORD.findall(value, 0, _READ)]
                    if own and sum(own) >= _OWN * len(own):
                        self.found[name] = "text"
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fields", "An item could not be looked at")
        self._left -= 1
        if self._left <= 0:
            self._crawler.signals.disconnect(self._look, signals.item_scraped)

    def log(self) -> None:
        """Name the fields in one line, if there are any."""
        if self.found:
            logger.info(
                "scrapy-dedup: DEDUP_CONTENT_FIELDS = %s would strip transient content from fields that look like pages "
                '(DEDUP_STRIP = "off" silences this)',
                dict(sorted(self.found.items())[:_SHOWN]),
                extra={"spider": self._crawler.spider},
            )


def _is_html(value: str, source: str) -> bool:
    """Whether a string is a part of the HTML of a page, and no text in which angle brackets stand.

    It has an element that HTML knows, with its end tag. A text of the page that quotes one is told by *source*, the
    HTML of the page, in which the tag is escaped.
    """
    return any(
        name.lower() in tags
        and f"&lt;{start[1:-1]}" not in source
        and re.search(rf"</{name}\s*>", value, re.IGNORECASE)
        for start, name in {match.group(): match.group(1) for match in _TAG.finditer(value, 0, _READ)}.items()
    )


def _fields_in(item: Any, depth: int = _DEPTH, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of the fields of an item, and of those of items in it, also in lists; their names have dots."""
    if not depth or not ItemAdapter.is_item(item):
        return
    for name, value in ItemAdapter(item).items():
        if isinstance(name, str):
            yield before + name, value
            for part in value[:_PARTS] if isinstance(value, list | tuple) else (value,):
                yield from _fields_in(part, depth - 1, f"{before}{name}.")
