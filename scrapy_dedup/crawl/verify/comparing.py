"""Comparison of a spot check with the page that it was taken for; in threads, with what the store holds.

Every page that a crawl fetches is in the store, so that memory holds none. Where the site has a mask, what lasts
of two pages is compared. Two pages that are equal by that alone are one page only if it is most of what is their
own: of a page that is hidden but for its site's template nobody can tell which one it is.
"""

from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from ...learning.contents import Contents, Known, NoEvidence, plain_identity, why_no_page
from ...learning.contents import Difference as Compared
from ...learning.lifetime.refutation import Difference, Noise, noise_of
from ...learning.search.walls import is_shell
from ...observation import Observation
from ...store.conversions import version_in
from ...store.page_queries import fetched_twice, latest_page, pages_like, pages_of_kind, some_pages
from ...urls import normal_form
from ..seen.alike_pages import OddContent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...store.rows import ObservationRow
    from ...store.store import Store
    from ..identity.identities import Identities
    from ..observe.site_masks import SiteMasks
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore

#: Pages by which it is told what is a page's own, pages that may show the same, and URLs fetched twice that tell the noise.
_OTHERS: Final = 12
_ALIKE: Final = 100
_TWICE: Final = 100
#: Pages of which it is remembered what lasts of them; some 200 bytes each.
_REMEMBERED: Final = 2_000


class PageDifference(NamedTuple):
    """How a spot check differs from its page, and how much pages of the site differ from themselves."""

    difference: Difference
    noise: Noise = Noise()
    #: What tells the page of the spot check from other ones.
    content: str = ""
    #: Whether another URL has shown that page in this crawl, or an unrelated one has shown either.
    elsewhere: bool = False
    #: Whether it has hardly any text where the spot check has some; what the odd one of the two shows that unrelated URLs show, too.
    hardly_any_text: bool = False
    odd_content: OddContent | None = None
    #: Whether they differ in some words only, and it is not known yet what passes on the site.
    doubtful: bool = False


class PageComparer:
    """Compares pages under masks; its methods wait for the store, so that they are called in threads."""

    def __init__(
        self, store: "CrawlStore", masks: "SiteMasks", status: "CrawlStatus", identities: "Identities"
    ) -> None:
        self._crawl_store = store
        self._masks = masks
        self._began = status.began
        self._identities = identities
        self._store: Store | None = None
        self._lock = Lock()
        self._known: Known = {}

    def with_page(self, check: "ObservationRow", url: str) -> PageDifference:
        """Compare a spot check with the page at *url*. Raises StoreError."""
        mine = observation_of_row(check)
        with self._lock:
            page = self._page(check.scope, check.site, url)
            if mine is None or page is None or {mine.ends, page.ends} == {True, False}:  # one may be cut off
                return PageDifference(Difference.UNKNOWN)
            if why_no_page(page) and not why_no_page(mine):
                return PageDifference(Difference.UNKNOWN, hardly_any_text=True)
            store = self._opened()
            alike = _without(mine, pages_of_kind(store, check.scope, check.site, page.url, _ALIKE))
            contents = self._contents((*alike, page, mine))
            if contents.compare(mine, page).difference is Compared.SAME:
                return PageDifference(Difference.NONE)
            pairs = list(fetched_twice(store, check.scope, check.site, _TWICE, since=self._began))
            others = _without(mine, [*some_pages(store, check.scope, check.site, _OTHERS), *chain.from_iterable(pairs)])
            contents = self._contents((*alike, *others, page, mine))
            found, is_equal = contents.compare(mine, page), contents.equal(mine, page)
            if found.difference is Compared.SAME:
                return PageDifference(Difference.NONE)
            if is_equal is not False and not contents.differ_unseen(mine, page):
                is_page = is_equal and not _may_be_shell(contents, (*alike, page, mine))
                return PageDifference(Difference.NONE if is_page else Difference.UNKNOWN)
            noise = noise_of(
                (_difference(contents, first, second), (first.time or 0.0) >= self._began) for first, second in pairs
            )
            content = contents.of(mine)
            differing = PageDifference(
                _difference(contents, mine, page),
                noise,
                plain_identity(mine) if isinstance(content, NoEvidence) else content.identity,
                doubtful=found.difference is Compared.UNDECIDED,
            )
            return self._shown_elsewhere(check, mine, page, differing, contents)

    def _shown_elsewhere(
        self,
        check: "ObservationRow",
        mine: Observation,
        page: Observation,
        differing: PageDifference,
        known: Contents,
    ) -> PageDifference:
        """Return how a spot check and its page differ, with whether other URLs show either: then it may be an error or a form."""
        self._crawl_store.flush()
        store, key = self._opened(), self._key(page.url)
        is_clear = differing.difference is Difference.CLEAR
        contents = [
            OddContent(plain_identity(one), one.sketch, other.sketch if is_clear else None)
            for one, other in ((page, mine), (mine, page))
        ]
        likes, shown = (
            [each for each in self._showing(store, check, content) if not known.differ_unseen(each, one)]
            for content, one in zip(contents, (page, mine), strict=True)
        )
        is_odd = [any(self._key(each.url) != key for each in some) for some in (likes, shown)]
        if is_odd[0] != is_odd[1]:  # unrelated URLs show one of the two, which is no page
            odd, others = contents[is_odd.index(True)], likes if is_odd[0] else shown
            name = plain_identity(others[0])
            return differing._replace(content=name, elsewhere=True, odd_content=odd, doubtful=False)
        own = {check.hops[0] if check.hops else check.url, page.url}
        shown = [each for each in shown if each.url not in own]
        if shown:  # it is not lost
            return differing._replace(content=plain_identity(shown[0]), elsewhere=True, doubtful=False)
        return differing

    def showing(self, check: "ObservationRow", content: OddContent) -> list[str]:
        """Return the URLs that have shown *content*, or nearly so, on the site of a spot check. Raises StoreError."""
        with self._lock:
            self._crawl_store.flush()
            return [each.url for each in self._showing(self._opened(), check, content)]

    def _showing(self, store: "Store", check: "ObservationRow", content: OddContent) -> list[Observation]:
        words = None if content.sketch is None else content.sketch.words
        return [
            each
            for each in pages_like(store, check.scope, check.site, content.bag, words, since=self._began)
            if content.is_shown_by(plain_identity(each), each.sketch)
        ]

    def _key(self, url: str) -> str:
        return self._identities.book.canonical_key(url)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _contents(self, pages: "Sequence[Observation]") -> Contents:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        mask = self._masks.of(pages[-1].url)
        return Contents(pages, mask, self._known)

    def _page(self, scope: str, site: str, url: str) -> Observation | None:
        """Return the page at *url* as this crawl has seen it, else as one before has."""
        store = self._opened()
        page = latest_page(store, scope, site, url)
        if page is None or (page.time or 0.0) < self._began:
            self._crawl_store.flush()  # it may be waiting to be written
            page = latest_page(store, scope, site, url)
        return page

    def _opened(self) -> "Store":
        if self._store is None:
            self._store = self._crawl_store.read()
        return self._store


def _without(mine: Observation, pages: "Iterable[Observation]") -> list[Observation]:
    """Return pages without a response that may have been recorded since it came: it is no control of itself."""
    own = mine.url, mine.crawl, mine.fingerprint
    return [each for each in pages if (each.url, each.crawl, each.fingerprint) != own]


def _difference(contents: Contents, one: Observation, other: Observation) -> Difference:
    """Return how two responses differ in what lasts of them."""
    is_equal = contents.equal(one, other)
    if is_equal is None:
        return Difference.UNKNOWN
    if is_equal:
        return Difference.NEAR if contents.differ_unseen(one, other) else Difference.NONE
    return Difference.CLEAR if contents.are_unlike(one, other) else Difference.NEAR


def _may_be_shell(contents: Contents, pages: "Sequence[Observation]") -> bool:
    """Return whether what the last of some pages shows may be what different pages have in common, by what their URLs say."""
    seen: dict[str, str] = {}
    for each in pages:
        content = contents.of(each)
        url = normal_form(each.url)
        seen.pop(url, None)
        seen[url] = plain_identity(each) if isinstance(content, NoEvidence) else content.identity
    numbers = {identity: number for number, identity in enumerate(dict.fromkeys(seen.values()))}
    return is_shell([*seen], [numbers[identity] for identity in seen.values()])


def observation_of_row(row: "ObservationRow") -> Observation | None:
    """Return a page as learning sees it; None if the row is that of none."""
    prints = row.fingerprints
    if prints is None or row.status != 200:
        return None
    return Observation(
        row.url,
        prints.text,
        status=row.status,
        time=row.time,
        length=row.length,
        bag=prints.bag,
        sketch=prints.sketch,
        words=prints.words,
        version=version_in(row.version),
        ends=row.ends,
        password=row.password,
        crawl=row.crawl,
        unseen=prints.unseen,
    )
