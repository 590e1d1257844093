"""Of which pages the texts are kept: enough of each URL template to find what comes and goes, or all."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from ..urls.templates import template_of

if TYPE_CHECKING:
    from .repeats import Repeats

#: Pages of each template whose texts are kept, the first ones of a crawl.
PER_TEMPLATE: Final = 100
#: Templates of a crawl that are counted; of further ones nothing is kept.
MOST_TEMPLATES: Final = 5_000


class Versions:
    """Decides, page by page; where texts are not to be stored (DEDUP_STORE_TEXTS), none are *kept*.

    All pages are kept of a site that has a mask, since its pages are compared under it, and of one that is likely to have
    one soon: a URL that was fetched twice has shown two texts there.
    """

    def __init__(self, repeats: "Repeats", *, kept: bool, markup: bool = False) -> None:
        self.kept = kept
        #: Whether attributes, scripts and comments are kept with the texts.
        self.markup = kept and markup
        self._repeats = repeats
        self._seen: Counter[int] = Counter()
        #: Sites that have a mask.
        self.masked: frozenset[str] = frozenset()

    def wanted(self, site: str, url: str) -> bool:
        """Whether to keep the texts of the page at *url*, and count it if so."""
        if not self.kept:
            return False
        if site in self.masked or site in self._repeats.changing:
            return True
        template = hash((site, template_of(url)))
        number = self._seen[template]
        if number >= PER_TEMPLATE or (not number and len(self._seen) >= MOST_TEMPLATES):
            return False
        self._seen[template] = number + 1
        return True
