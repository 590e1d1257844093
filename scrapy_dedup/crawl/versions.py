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

    def __init__(self, repeats: "Repeats", *, kept: bool) -> None:
        self.kept = kept
        self._repeats = repeats
        self._seen: Counter[int] = Counter()
        #: Sites that have a mask.
        self.masked: frozenset[str] = frozenset()

    def wanted(self, site: str, url: str) -> bool:
        """Whether to keep the texts of the page at *url*, and count it if so."""
        if not self.kept or site in self.masked or site in self._repeats.changing:
            return self.kept
        template = hash((site, template_of(url)))
        if not self._has_room(template):
            return False
        self._seen[template] += 1
        return True

    def keeps(self, site: str, url: str) -> bool:
        """Whether the texts of another page such as the one at *url* would be kept."""
        if not self.kept or site in self.masked or site in self._repeats.changing:
            return self.kept
        return self._has_room(hash((site, template_of(url))))

    def _has_room(self, template: int) -> bool:
        number = self._seen[template]
        return number < PER_TEMPLATE and (number > 0 or len(self._seen) < MOST_TEMPLATES)
