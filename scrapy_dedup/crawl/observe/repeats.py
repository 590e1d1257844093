"""Repeated contents, shown again by another URL, and URLs whose content changes: both are what is learned from."""

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from ...learning.contents import LEAST_WORDS
from ...urls.templates import template_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...store.rows import ObservationRow

#: Contents that are remembered, of all sites; and URLs; some 150 bytes each.
MOST: Final = 20_000


class Repeats:
    """Contents shown again, and URLs that change, by site. The event loop and the thread of the store may both note rows."""

    def __init__(self) -> None:
        #: What tells a site and a content -> what tells the URL that has shown it first.
        self._first: dict[int, int] = {}
        #: What tells a content and a kind of pages that has repeated it, and what tells a kind that has repeated any.
        self._repeated: set[int] = set()
        self._kinds: set[int] = set()
        self._found: deque[str] = deque()
        #: Site -> how many texts of HTML have shown again under another URL of a kind, but the first one of each kind: that may be the one
        #: answer of different pages, which says nothing of whether texts last.
        self.number: Counter[str] = Counter()
        #: What tells a URL -> what tells the content that it has shown first.
        self._shown: dict[int, int] = {}
        #: Sites on which a URL that was fetched twice has shown two contents.
        self.changing: set[str] = set()
        #: URL to which redirects have led -> what tells its content; whoever knows where they came from takes it out.
        self.led_to: dict[str, int] = {}

    def note(self, row: "ObservationRow") -> None:
        """Note a page that has come."""
        prints = row.fingerprints
        if prints is not None and row.hops and len(self.led_to) < MOST:
            self.led_to[row.url] = hash((row.site, prints.bag))
        if prints is None or (prints.words is not None and prints.words < LEAST_WORDS):
            return
        content, url = hash((row.site, prints.bag)), hash(row.url)
        shown = self._shown.get(url)
        if shown is not None:
            if shown != content:
                self.changing.add(row.site)
            return
        if len(self._shown) < MOST:
            self._shown[url] = content
        first = self._first.get(content)
        if first is None:
            if len(self._first) < MOST:
                self._first[content] = url
        elif first != url:
            self._found.append(row.site)
            template = template_of(row.url)
            repeated, kind = hash((content, template)), hash((row.site, template))
            if prints.words is not None and repeated not in self._repeated and len(self._repeated) < MOST:
                self._repeated.add(repeated)
                self.number[row.site] += kind in self._kinds
                self._kinds.add(kind)

    def has_kind(self, site: str, url: str) -> bool:
        """Whether pages such as the one at *url* have shown a text of HTML again."""
        return hash((site, template_of(url))) in self._kinds

    def redirected(self, site: str) -> None:
        """Note a URL that leads to the page of another one."""
        self._found.append(site)

    def found(self) -> "Iterator[str]":
        """Yield the site of each URL that has shown what another one had shown, once."""
        while self._found:
            yield self._found.popleft()
