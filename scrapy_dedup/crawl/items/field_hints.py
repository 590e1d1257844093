"""Which fields of items look like page content, for those who have not named any."""

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from lxml.html.defs import tags
from scrapy import signals
from scrapy.http import HtmlResponse

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ..support.faults import Faults

logger = logging.getLogger(__name__)

#: Items that are looked at.
_ITEMS: Final = 50
#: Characters from which on a text may be that of a page; what is read of a longer one.
_LONG, _READ = 200, 2_000
#: The share of its words that stand in the page, from which on it is the page's own.
_OWN: Final = 0.8
_DEPTH: Final = 3
_MOST_NAMED: Final = 10
_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9]*)(?:\s[^<>]*|/)?>")
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")
_WORD = re.compile(r"\w+")


class FieldHints:
    """Looks at the first items of a crawl, and names fields at its end."""

    def __init__(self, crawler: "Crawler", faults: "Faults") -> None:
        self._crawler = crawler
        self._faults = faults
        self._left = _ITEMS
        #: Field, dots in it lead into nested items -> "html" or "text".
        self.found: dict[str, str] = {}
        crawler.signals.connect(self._look, signals.item_scraped)

    def _look(self, item: Any, response: Any) -> None:
        if not isinstance(response, HtmlResponse):
            return
        try:
            words: set[str] = set()
            for name, value in _strings(item, _DEPTH):
                if is_html(value, response.text):
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
        if not self.found:
            return
        fields = dict(sorted(self.found.items())[:_MOST_NAMED])
        logger.info(
            "scrapy-dedup: DEDUP_CONTENT_FIELDS = %s would strip transient content from fields that look like pages "
            '(DEDUP_STRIP = "off" silences this)',
            fields,
            extra={"spider": self._crawler.spider},
        )


def is_html(value: str, source: str) -> bool:
    """Whether a string is a part of the HTML of a page, and no text in which angle brackets stand.

    It has an element that HTML knows, with its end tag. A text of the page that quotes one is told by *source*, the
    HTML of the page, in which the tag is escaped.
    """
    for start, name in {match.group(): match.group(1) for match in _TAG.finditer(value, 0, _READ)}.items():
        if name.lower() not in tags or f"&lt;{start[1:-1]}" in source:
            continue
        if re.search(rf"</{name}\s*>", value, re.IGNORECASE):
            return True
    return False


def has_tag(value: str) -> bool:
    """Whether anything in a string may be a tag."""
    return _ANY_TAG.search(value) is not None


def _strings(item: Any, depth: int, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, value) of the strings in an item's fields, in lists of strings and in nested items."""
    if not depth or not ItemAdapter.is_item(item):
        return
    for name, value in ItemAdapter(item).items():
        if not isinstance(name, str):
            continue
        values = value if isinstance(value, list | tuple) else [value]
        texts = [each for each in values if isinstance(each, str)]
        if texts:
            yield before + name, "\n".join(texts)
        for each in values[:_ITEMS]:
            yield from _strings(each, depth - 1, f"{before}{name}.")
