"""Texts of pages that the store keeps: enough of each URL template to find transient content, or all."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from ...pages.versions import Pack, packed
from ...urls.templates import template_of

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings
    from .repeats import Repeats
    from .site_masks import SiteMasks

#: Pages of each template whose texts are kept, the first ones of a crawl.
PER_TEMPLATE: Final = 100
#: Templates of a crawl that are counted; of further ones nothing is kept.
MOST_TEMPLATES: Final = 5_000


class KeptTexts:
    """Decides, page by page, whether its text is kept.

    All pages are kept of a site that has a mask, since its pages are compared under it, and of one that is likely to have
    one soon: a URL that was fetched twice has shown two texts there.
    """

    def __init__(self, settings: "DedupSettings", repeats: "Repeats", masks: "SiteMasks") -> None:
        #: How pages are kept; None where texts are not to be stored (DEDUP_STORE_TEXTS).
        self.kept = pack_of(settings)
        self._repeats = repeats
        self._masks = masks
        self._seen: Counter[int] = Counter()

    def wanted(self, site: str, url: str) -> Pack | None:
        """Return how to keep the page at *url*, and count it; None if it is not to be kept."""
        if self.kept is None or self._are_all_kept(site):
            return self.kept
        template = hash((site, template_of(url)))
        if not self._has_room(template):
            return None
        self._seen[template] += 1
        return self.kept

    def keeps(self, site: str, url: str) -> bool:
        """Whether the texts of another page such as the one at *url* would be kept."""
        if self.kept is None:
            return False
        return self._are_all_kept(site) or self._has_room(hash((site, template_of(url))))

    def _are_all_kept(self, site: str) -> bool:
        return site in self._masks.sites or site in self._repeats.changing

    def _has_room(self, template: int) -> bool:
        number = self._seen[template]
        return number < PER_TEMPLATE and (number > 0 or len(self._seen) < MOST_TEMPLATES)


def pack_of(settings: "DedupSettings") -> Pack | None:
    """Return how texts are kept; None where they are not to be."""
    if not settings.store_texts:
        return None
    if settings.published_masks is None:
        return packed
    from ...masks.token_changes import packed_with_table

    return packed_with_table
