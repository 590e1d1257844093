"""When what a crawl has seen of a site is worth learning from."""

from collections import Counter
from collections.abc import Collection, Iterable

from ..urls.templates import template_of

#: Responses of a site before it is learned for the first time.
FIRST = 40
#: By which part of what was seen before it must have grown each time after that.
GROWTH = 0.5
#: The same where duplicates were seen that no rule removes: what is not proven yet may soon be.
SOON = 0.2
#: So many duplicates at least.
LEFT = 10
#: Responses of a kind of pages that was not there before, as which a site is learned earlier.
NEW_KIND = 20
#: Kinds of pages that are counted, of all sites.
MOST_KINDS = 20_000


class _Site:
    """What is counted of one site."""

    __slots__ = ("growth", "kinds", "learned", "learned_kinds", "seen")

    def __init__(self) -> None:
        self.seen = 0
        #: How many of those were there when it was learned the last time.
        self.learned = 0
        #: The part by which it must have grown since.
        self.growth = GROWTH
        #: Kinds of pages that were not there then, with the number of their pages; and those that were.
        self.kinds: Counter[int] = Counter()
        self.learned_kinds: frozenset[int] = frozenset()


class Times:
    """Counts new responses per site."""

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = {}
        self._kinds = 0
        self._due: dict[str, None] = {}

    def add(self, site: str, url: str) -> bool:
        """Count a response; return whether its site should be learned."""
        found = self._sites.get(site)
        if found is None:
            found = self._sites[site] = _Site()
        found.seen += 1
        if site in self._due:
            return True
        if found.seen - found.learned >= max(FIRST, found.growth * found.learned) or self._is_new_kind(found, url):
            self._due[site] = None
            return True
        return False

    def _is_new_kind(self, site: _Site, url: str) -> bool:
        kind = hash(template_of(url))
        if kind in site.learned_kinds:
            return False
        if kind not in site.kinds:
            if self._kinds >= MOST_KINDS:
                return False
            self._kinds += 1
        site.kinds[kind] += 1
        # At first, all kinds are new.
        return site.learned > 0 and site.kinds[kind] >= NEW_KIND

    @property
    def due(self) -> tuple[str, ...]:
        """The sites that should be learned."""
        return tuple(self._due)

    @property
    def news(self) -> tuple[str, ...]:
        """The sites that something new is known of."""
        return tuple(site for site, found in self._sites.items() if found.seen > found.learned)

    def begun(self, sites: Iterable[str]) -> dict[str, int]:
        """Note that *sites* are learned now; return what is to be given back where that fails."""
        before = {}
        for site in sites:
            found = self._sites[site]
            before[site] = found.learned
            found.learned = found.seen
            found.learned_kinds |= found.kinds.keys()
            found.kinds = Counter()
            self._due.pop(site, None)
        return before

    def told(self, site: str, *, left: int) -> None:
        """Note what a learning has found of a site: how many duplicates are *left* that no rule removes."""
        if site in self._sites:
            self._sites[site].growth = min(SOON, GROWTH) if left >= LEFT else GROWTH

    def failed(self, before: "dict[str, int]", *, due: Collection[str] = ()) -> None:
        """Note that learning has failed: what was new still is; *due* are the sites to be learned again all the same."""
        for site, learned in before.items():
            self._sites[site].learned = learned
        self._due.update(dict.fromkeys(due))
