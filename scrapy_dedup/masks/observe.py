"""What was observed: the responses of a site by page, in order of time, and what these show at the places that change."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from os.path import commonprefix
from typing import Final

from xxhash import xxh3_64_intdigest

from ..pages.versions import by_place
from .kinds import kind_of
from .retention import MOST_OF_KIND, MOST_VERSIONS, retained

Where = tuple[str, str]
"""Where rows stand: selector and attribute ("" for texts)."""
Row = tuple[str, str, str]
Texts = Mapping[Where, Sequence[str]]

OWN: Final = 0.1
"""Share of the pages that a text stands on at most to be theirs and not the site's."""
SAMPLE: Final = 200
"""Pages by which it is known what texts are the site's."""


@dataclass(eq=False)
class Fetch:
    """A response that is kept: where and when it was fetched (seconds), in which crawl, and its rows."""

    url: str
    at: float
    crawl: int
    rows: Sequence[Row]

    @cached_property
    def kind(self) -> str:
        """The kind of page."""
        return kind_of(self.url)

    @cached_property
    def texts(self) -> Texts:
        """Its texts by place."""
        return by_place([row for row in self.rows if not row[1]])

    @cached_property
    def values(self) -> Texts:
        """The values of its attributes by place."""
        return by_place([row for row in self.rows if row[1]])


Shown = tuple[Fetch, Texts]


@dataclass(frozen=True, slots=True)
class Sighting:
    """The texts that one response shows at a place, none where that is missing on it.

    ``near``: how near it stands to the page's own words.
    """

    page: str
    fetch: Fetch
    texts: tuple[str, ...]
    near: float = 1.0

    @property
    def at(self) -> float:
        """When it was fetched."""
        return self.fetch.at

    @property
    def kind(self) -> str:
        """The kind of page."""
        return self.fetch.kind


@dataclass
class Observations:
    """All that is known of a site; *key_of* returns the same for URLs of one page."""

    fetches: Sequence[Fetch]
    key_of: Callable[[str], str] = str
    places: dict[Where, list[Sighting]] = field(init=False)
    """What pages that were fetched again have shown at the places that change, in order of time."""
    again: set[Where] = field(init=False)
    """The places of pages that were fetched again."""

    def __post_init__(self) -> None:
        self.fetches = sorted(self.fetches, key=lambda each: (each.at, each.url, each.crawl))
        self.places, self.again = {}, set()
        self._look_at([*self._again(self.key_of, attrgetter("texts"))])
        # Links and forms repeat the URL: they are compared between responses to one URL only.
        self._look_at([*self._again(str, attrgetter("values"))])

    def _look_at(self, pages: Sequence[tuple[str, Sequence[Shown]]]) -> None:
        changed = {
            place
            for _, page in pages
            for (_, one), (_, other) in pairwise(page)
            for place in one.keys() | other.keys()
            if one.get(place) != other.get(place)
        }
        for name, page in pages:
            near = self._near(page[-1][0])
            here = {place for _, texts in page for place in texts}
            self.again |= here
            for place in here & changed:
                found = [Sighting(name, fetch, tuple(texts.get(place, ())), near(place[0])) for fetch, texts in page]
                self.places.setdefault(place, []).extend(found)

    def _again(
        self, key_of: Callable[[str], str], texts_of: Callable[[Fetch], Texts]
    ) -> Iterator[tuple[str, list[Shown]]]:
        """Yield the pages that were fetched again, by name, with their responses and what is compared of these."""
        by_page: defaultdict[str, list[Fetch]] = defaultdict(list)
        for each in self.fetches:
            by_page[key_of(each.url)].append(each)
        several = [page for page in by_page.items() if len(page[1]) > 1]
        taken = Counter[str]()
        for name, found in sorted(several, key=lambda page: (-len(page[1]), _order(page[0]))):
            taken[found[0].kind] += 1
            if taken[found[0].kind] <= MOST_OF_KIND:
                kept = retained([(each.at, each.url) for each in found], MOST_VERSIONS)
                yield name, [(found[at], texts_of(found[at])) for at in kept]

    @cached_property
    def latest(self) -> list[Fetch]:
        """The last response of each URL, of up to so many URLs of a kind, in an order that says nothing of them."""
        by_url = {each.url: each for each in self.fetches}
        taken = Counter[str]()
        found = []
        for url in sorted(by_url, key=_order):
            taken[by_url[url].kind] += 1
            if taken[by_url[url].kind] <= MOST_OF_KIND:
                found.append(by_url[url])
        return found

    @cached_property
    def shown(self) -> Mapping[Where, Sequence[tuple[Fetch, tuple[str, ...]]]]:
        """What the latest responses show at the places that change."""
        latest = [(each, {**each.texts, **each.values}) for each in self.latest]
        return {
            place: [(each, tuple(texts[place])) for each, texts in latest if place in texts] for place in self.places
        }

    @cached_property
    def layouts(self) -> Mapping[str, frozenset[Where]]:
        """URL -> the places of texts of its latest response, without those that change."""
        latest = {each.url: each for each in self.fetches}
        return {url: frozenset(each.texts.keys() - self.places.keys()) for url, each in latest.items()}

    def kinds_with(self, place: Where) -> frozenset[str]:
        """Return the kinds of pages that have a place."""
        return frozenset([fetch.kind for fetch, _ in self.shown[place]])

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of pages that the site has."""
        return frozenset([each.kind for each in self.fetches])

    @cached_property
    def _on_pages(self) -> tuple[Counter[str], int]:
        """On how many pages each text stands, and of how many."""
        by_page = {self.key_of(each.url): each for each in self.latest}
        sample = list(by_page.values())[:SAMPLE]
        return Counter([text for each in sample for text in {row[2] for row in each.rows if not row[1]}]), len(sample)

    def _near(self, fetch: Fetch) -> Callable[[str], float]:
        """Return what tells how near a selector is to the page's own words.

        That is the mean share of the elements around them, within the one that frames all texts, that are around it, too.
        """
        pages, number = self._on_pages
        texts = [
            (where.split("/"), text)
            for where, attribute, text in fetch.rows
            if not (attribute or where.endswith("/title"))
        ]
        frame = len(commonprefix([steps for steps, _ in texts]))  # noqa: RUF071 - of lists, not of characters
        own = [(steps, len(text.split())) for steps, text in texts if pages[text] <= max(1, OWN * number)]
        inside = defaultdict[str, float](float)
        for steps, words in own:
            for element in [*accumulate(steps, "{}/{}".format)][frame:-1]:
                inside[element] += words / (len(steps) - 1 - frame)
        all_ = sum([words for _, words in own])

        def near(selector: str) -> float:
            return (
                sum([inside[each] for each in accumulate(selector.split("/"), "{}/{}".format)]) / all_ if all_ else 1.0
            )

        return near


def _order(name: str) -> int:
    """Return a number that puts pages in an order that says nothing of them."""
    return xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"))
