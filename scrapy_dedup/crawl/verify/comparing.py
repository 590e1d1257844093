"""Comparison of a spot check with the page that it was taken for; in threads, with what the store holds.

Every page that a crawl fetches is in the store, so that memory holds none. Where the site has a mask, what lasts
of two pages is compared. Two pages that are equal by that alone are one page only if it is most of what is their
own: of a page that is hidden but for its site's template nobody can tell which one it is.
"""

from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from ...content.resemblance import SHARED, Difference, difference, own_words
from ...content.sketch import Sketch
from ...learning.data.clusters import PageIdentities, no_evidence
from ...learning.data.lasting import plain_identity
from ...learning.lifetime.refutation import Noise, noise_of
from ...learning.search.walls import is_shell
from ...observation import Observation
from ...store.conversions import version_in
from ...store.page_queries import fetched_twice, latest_page, pages_like, pages_of_kind, some_pages
from ...urls import normal_form
from ..seen.alike_pages import OddContent

if TYPE_CHECKING:
    from ...masks.model import Mask
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
        #: Version of a mask, URL and fingerprint of a page -> what tells it from others by what lasts of it.
        self._lasting: dict[tuple[str, str, str], str | None] = {}

    def with_page(self, check: "ObservationRow", url: str) -> PageDifference:
        """Compare a spot check with the page at *url*. Raises StoreError."""
        mine = observation_of_row(check)
        with self._lock:
            page = self._page(check.scope, check.site, url)
            if mine is None or page is None or {mine.ends, page.ends} == {True, False}:  # one may be cut off
                return PageDifference(Difference.UNKNOWN)
            if no_evidence(page) and not no_evidence(mine):
                return PageDifference(Difference.UNKNOWN, hardly_any_text=True)
            store = self._opened()
            if plain_identity(mine) == plain_identity(page) and not no_evidence(mine):
                return PageDifference(self._equal(store, check, mine, page))
            one, two = self._identity(mine), self._identity(page)
            others = [
                each
                for each in some_pages(store, check.scope, check.site, _OTHERS)
                if each.sketch is not None and self._identity(each) not in (one, two)
            ]
            found = self._difference(mine, page, others)
            if found is Difference.NONE:
                return PageDifference(self._equal(store, check, mine, page))
            if found is Difference.UNKNOWN:
                return PageDifference(found)
            pairs = fetched_twice(store, check.scope, check.site, _TWICE, since=self._began)
            noise = noise_of(
                (self._difference(first, second, others), (first.time or 0.0) >= self._began) for first, second in pairs
            )
            self._crawl_store.flush()
            but, key = {check.hops[0] if check.hops else check.url, url}, self._key(url)
            clear = found is Difference.CLEAR
            contents = [
                OddContent(plain_identity(one), one.sketch, other.sketch if clear else None)
                for one, other in ((page, mine), (mine, page))
            ]
            likes, shown = (self._showing(store, check, content) for content in contents)
            is_odd = [any(self._key(each.url) != key for each in some) for some in (likes, shown)]
            if is_odd[0] != is_odd[1]:  # unrelated URLs show one of the two, which is no page
                content = contents[is_odd.index(True)]
                others = likes if is_odd[0] else shown
                return PageDifference(found, noise, plain_identity(others[0]), elsewhere=True, odd_content=content)
            shown = [each for each in shown if each.url not in but]
            if shown:  # it is not lost, and may be an error or a form
                return PageDifference(found, noise, plain_identity(shown[0]), elsewhere=True)
            doubtful = found is Difference.NEAR and mine.sketch is not None and not self.knows_what_passes(page.url)
            return PageDifference(found, noise, one or plain_identity(mine), doubtful=doubtful)

    def _equal(self, store: "Store", check: "ObservationRow", mine: Observation, page: Observation) -> Difference:
        """Return that a spot check is its page, or that nobody knows, where different pages may show the same."""
        if check.password:
            return Difference.NONE
        shown = self._identity(mine) or plain_identity(mine)
        seen = {
            normal_form(each.url): self._identity(each) or plain_identity(each)
            for each in pages_of_kind(store, check.scope, check.site, page.url, _ALIKE)
        }
        for each in (page, mine):
            seen.pop(normal_form(each.url), None)
            seen[normal_form(each.url)] = shown
        numbers = {identity: number for number, identity in enumerate(dict.fromkeys(seen.values()))}
        shell = is_shell([*seen], [numbers[identity] for identity in seen.values()])
        return Difference.UNKNOWN if shell else Difference.NONE

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

    def _difference(self, one: Observation, two: Observation, others: list[Observation]) -> Difference:
        if no_evidence(one) or no_evidence(two):
            return Difference.UNKNOWN
        if plain_identity(one) == plain_identity(two):
            return Difference.NONE
        mine, its = self._identity(one), self._identity(two)
        if mine is None or its is None:
            return Difference.UNKNOWN
        if mine == its:
            known = self._mostly_lasts(one, others) and self._mostly_lasts(two, others)
            return Difference.NONE if known else Difference.UNKNOWN
        if None in map(PageIdentities((one, two), self._masks.of(one.url)).of, (one, two)):
            return Difference.UNKNOWN  # they differ in what was not seen to pass, or to last, on pages like them
        return difference(self._sketch(one), self._sketch(two), self._sketches(others))

    def knows_what_passes(self, url: str) -> bool:
        """Whether pages such as the one at *url* are compared by what lasts of them."""
        return self._mask(url) is not None

    def _mask(self, url: str) -> "Mask | None":
        mask = self._masks.of(url)
        return mask if mask is not None and mask.applies_to(url) else None

    def _identity(self, page: Observation) -> str | None:
        """Return what tells a page from others by what lasts of it; None if that cannot be told."""
        mask = self._mask(page.url)
        if mask is None:
            return PageIdentities((page,), None).of(page)
        name = mask.version, page.url, page.fingerprint
        if name not in self._lasting:
            if len(self._lasting) >= _REMEMBERED:
                self._lasting.clear()
            found = PageIdentities((page,), mask).of(page)
            # What it shows with all that passes tells nothing beside another visit.
            self._lasting[name] = None if found == plain_identity(page) else found
        return self._lasting[name]

    def _sketch(self, page: Observation) -> Sketch | None:
        """Return the sketch of what lasts of a page."""
        mask = self._mask(page.url)
        if mask is None or page.version is None:
            return page.sketch
        return mask.masked_sketch(page.version, url=page.url)

    def _sketches(self, pages: list[Observation]) -> list[Sketch]:
        return [sketch for sketch in map(self._sketch, pages) if sketch is not None]

    def _mostly_lasts(self, page: Observation, others: list[Observation]) -> bool:
        """Whether most of what is a page's own lasts, by words; *others* are pages of the site."""
        lasting = self._sketch(page)
        if lasting is None or page.sketch is None:
            return False
        plain = [each.sketch for each in others if each.sketch is not None]
        own = own_words(page.sketch, plain)
        return 0 < own_words(lasting, self._sketches(others)) >= SHARED * own

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
    )
