"""The URLs of a site as the store has seen them, and which of them are one page: by the rules that act, or by equal texts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ..rules.book import RuleBook
from ..rules.canonical import Canonical
from ..store.queries import SeenUrl

#: Pages of fewer words say too little to be one by them.
_FEW_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class SeenPages:
    """The URLs of a site, the latest first, and what is one page among those that are pages."""

    site: str
    urls: tuple[SeenUrl, ...]
    keys: Mapping[str, Canonical]
    #: Canonical key -> pages of several URLs, the first fetched first.
    by_key: Mapping[str, tuple[SeenUrl, ...]]
    #: Pages that are one by their keys or their texts, the first fetched first.
    groups: tuple[tuple[SeenUrl, ...], ...] = field(repr=False)

    @property
    def pages(self) -> list[SeenUrl]:
        """Those with content."""
        return [url for url in self.urls if is_page(url)]


def seen_pages(site: str, urls: Iterable[SeenUrl], book: RuleBook) -> SeenPages:
    """Return which of the URLs of a site are one page."""
    found = tuple(urls)
    keys = {url.url: book.canonical(url.url) for url in found if is_page(url)}
    by_key: defaultdict[str, list[SeenUrl]] = defaultdict(list)
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        path = []
        while (above := leader.setdefault(name, name)) != name:
            path.append(name)
            name = above
        for each in path:
            leader[each] = name
        return name

    pages = sorted((url for url in found if is_page(url)), key=lambda url: (url.time, url.url))
    for page in pages:
        by_key[keys[page.url].key].append(page)
        key = lead(f"key {keys[page.url].key}")
        if page.bag is not None and (page.words or 0) >= _FEW_WORDS:
            leader[lead(f"bag {page.bag}")] = key
    groups: defaultdict[str, list[SeenUrl]] = defaultdict(list)
    for page in pages:
        groups[lead(f"key {keys[page.url].key}")].append(page)
    several = {key: tuple(some) for key, some in by_key.items() if len(some) > 1}
    return SeenPages(site, found, keys, several, tuple(map(tuple, groups.values())))


def is_page(url: SeenUrl) -> bool:
    """Whether the response is a page with content."""
    return url.status == 200 and url.bag is not None
