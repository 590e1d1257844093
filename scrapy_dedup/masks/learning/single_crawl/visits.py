"""Texts that depend on the visit and not on the page, found in a single crawl: "recently viewed", a trace, a cart.

A page that stands under several URLs is seen several times in a crawl, and what differs between two of
these times may be what the URLs ask for (another order of a list) or what the visit brings with it. Of the
latter kind is what is *more like what other pages showed just before and after than like what the same page
showed at another time, or than what other pages with those parameters showed then*: contents of a page are
not, nor is what the parameters ask for. So pairs of URLs that differ in the same few query
parameters, and whose pages are nearly the same, are compared place by place with the pages next to them in
time; if all that tells most of these pairs apart stands in such places, these places are transient.

What changes at random (an advertisement) or with each request (a clock) is not found this way, since
neither neighbours nor versions are alike: that takes versions of a page (:mod:`.learn`).

A visit is of one crawl: the next one begins with an empty cart. So what one crawl shows is compared with what
the same crawl shows; of several crawls the one counts that has shown most of the parameters. A crawl that has
learned what they are downloads few of their pages: what an earlier one has shown stands then.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....urls.templates import in_order, template_of
from ...path import TransientPath
from ..counts.place_counts import Place
from ..parameters import current
from .visit_pairs import Pages, Visit, jaccard, similarity, telling

NEAR, FAR = 3, 400
"""Pages before and after in which a neighbour is looked for: any, and one with given parameters."""

Asked = tuple[str | None, ...]
"""The values of the parameters in which two URLs differ."""


@dataclass(slots=True)
class VisitComparison:
    """Of one place: on how many pages two visits differ, and how alike others are then.

    Sums of similarities to the first of two visits: of the second one, of the first one's neighbour in time, and
    of the second one's neighbour whose URL has the first one's parameters.
    """

    pages: int = 0
    compared: int = 0
    visits: float = 0.0
    neighbours: float = 0.0
    namesakes: float = 0.0

    def is_transient(self, least: int) -> bool:
        """Return whether neighbours are more alike than visits, and than what the parameters ask for."""
        others = max(self.visits, self.namesakes)
        return self.compared >= least and self.neighbours - others >= current().margin * self.compared

    def fails(self) -> bool:
        """Return whether there is evidence that visits are more alike."""
        return self.compared >= current().beside_pages and self.neighbours < max(self.visits, self.namesakes)


@dataclass(frozen=True, slots=True)
class TransientPlaces:
    """Places whose texts depend on the visit, and the kinds of pages that were compared."""

    paths: tuple[TransientPath, ...]
    templates: frozenset[tuple[object, ...]]


def transient_places(crawls: Iterable[Pages]) -> TransientPlaces:
    """Return the places whose texts depend on the visit, on the pages of one site.

    *crawls* are the pages that each of several crawls has seen, the latest crawl first: (URL, version) in order of
    time. Linear in the blocks of the pages, but for a bounded number of comparisons.
    """
    found: dict[Place, VisitComparison] = {}
    templates: set[tuple[object, ...]] = set()
    for keys, (pages, urls, visits, pairs) in telling(crawls).items():
        asked = [tuple(values.get(key) for key in sorted(keys)) for values in urls]
        transient = _transient(visits, asked, pairs)
        if transient:
            templates.update(template_of(pages[number][0]) for pair in pairs for number in pair)
        for place, comparison in transient.items():
            if place not in found or comparison.compared > found[place].compared:
                found[place] = comparison
    paths = [
        TransientPath(
            selector,
            attribute,
            confidence=round(1 - 1 / (1 + comparison.pages), 3),
            pages=comparison.pages,
            changes=comparison.pages,
            opportunities=comparison.pages,
            templates=in_order(templates),
        )
        for (selector, attribute), comparison in sorted(found.items())
    ]
    return TransientPlaces(tuple(paths), frozenset(templates))


def _transient(
    visits: Sequence[Visit], asked: Sequence[Asked], pairs: Sequence[tuple[int, int]]
) -> dict[Place, VisitComparison]:
    """Return the places that tell most of the *pairs* apart, if they are transient; else nothing."""
    differing = {pair: _differing(visits, pair) for pair in pairs}
    differing = {pair: places for pair, places in differing.items() if places}
    if len({one for one, _ in differing}) < current().visited_pages:
        return {}
    comparisons = _compared(visits, asked, differing)
    transient = {place for place, each in comparisons.items() if each.is_transient(current().visited_pages)}
    transient |= {
        place
        for place, each in comparisons.items()
        if each.is_transient(current().beside_pages) and _beside(place, transient, differing)
    }
    transient |= _inside(transient, comparisons, visits, differing)
    explained = sum(places <= transient for places in differing.values())
    if explained < current().visited_pages or explained < current().nearly_all * len(differing):
        return {}
    return {place: comparisons[place] for place in transient}


def _differing(visits: Sequence[Visit], pair: tuple[int, int]) -> set[Place]:
    one, other = visits[pair[0]].places, visits[pair[1]].places
    return {place for place in one.keys() | other.keys() if one.get(place) != other.get(place)}


def _compared(
    visits: Sequence[Visit], asked: Sequence[Asked], differing: Mapping[tuple[int, int], set[Place]]
) -> dict[Place, VisitComparison]:
    comparisons: dict[Place, VisitComparison] = defaultdict(VisitComparison)
    for (one, other), places in differing.items():
        for place in places:
            comparison = comparisons[place]
            comparison.pages += 1
            texts = visits[one].places.get(place, Counter())
            near = _neighbour(visits, one, one, place)
            namesake = _neighbour(visits, one, other, place, asked)
            if near is not None and namesake is not None:
                comparison.compared += 1
                comparison.visits += jaccard(texts, visits[other].places.get(place, Counter()))
                comparison.neighbours += jaccard(texts, near)
                comparison.namesakes += jaccard(texts, namesake)
    return comparisons


def _neighbour(
    visits: Sequence[Visit], one: int, at: int, place: Place, asked: Sequence[Asked] | None = None
) -> Counter[str] | None:
    """Return what another page than page *one* shows at *place*, the one next in time to page *at*.

    With *asked*, one whose URL has the same parameters as that of page *one*.
    """
    for distance in range(1, (NEAR if asked is None else FAR) + 1):
        for near in (at + distance, at - distance):
            if not 0 <= near < len(visits) or near == one or place not in visits[near].places:
                continue
            if asked is not None and asked[near] != asked[one]:
                continue
            if similarity(visits[one], visits[near]) < current().nearly_all:
                return visits[near].places[place]
    return None


def _beside(place: Place, transient: set[Place], differing: Mapping[tuple[int, int], set[Place]]) -> bool:
    """Return whether *place* differs only where transient places differ, too."""
    with_it = [places for places in differing.values() if place in places]
    return bool(transient) and all(places & transient for places in with_it)


def _inside(
    transient: set[Place],
    comparisons: dict[Place, VisitComparison],
    visits: Sequence[Visit],
    differing: Mapping[tuple[int, int], set[Place]],
) -> set[Place]:
    """Return the places of transient blocks of which by themselves nothing is known.

    A block is an ancestor of several transient places, and of none that is known to last: by comparison with its
    neighbours, or since two visits mostly show the same there, and another page something else. What stands in the
    smallest of them now and then ("out of stock"), in no two visits that were compared, is transient, too.
    """
    steps = [place[0].split("/") for place in transient]
    under = Counter("/".join(each[:depth]) + "/" for each in steps for depth in range(2, len(each)))
    blocks = {ancestor for ancestor, number in under.items() if number >= current().several}
    shown = {place for visit in visits if visit.places.keys() & transient for place in visit.places} - transient
    inside = {place for place in shown if _is_in(place, blocks)}
    same: Counter[Place] = Counter()
    for (one, other), places in differing.items():
        if places & transient and (near := _other_page(visits, one)) is not None:
            mine, its = visits[one].places, visits[near].places
            both = inside & mine.keys() & visits[other].places.keys()
            same.update(place for place in both - places if mine[place].keys() != its.get(place, Counter()).keys())
    lasting = {
        place
        for place in inside
        if comparisons[place].fails() or same[place] >= max(current().beside_pages, comparisons[place].pages)
    }
    blocks = {ancestor for ancestor in blocks if not any(place[0].startswith(ancestor) for place in lasting)}
    smallest = {one for one in blocks if not any(other != one and other.startswith(one) for other in blocks)}
    found = set()
    for place in inside - lasting:
        if comparisons[place].pages:
            if _is_in(place, blocks):
                found.add(place)
        elif block := next((ancestor for ancestor in sorted(smallest) if place[0].startswith(ancestor)), ""):
            found.add(place)
            around = (comparisons[each] for each in transient if each[0].startswith(block))
            comparisons[place] = min(around, key=lambda each: each.pages)
    return found


def _other_page(visits: Sequence[Visit], one: int) -> int | None:
    """Return another page than page *one*, next to it in time; None if there is none near."""
    for distance in range(1, NEAR + 1):
        for near in (one + distance, one - distance):
            if 0 <= near < len(visits) and similarity(visits[one], visits[near]) < current().nearly_all:
                return near
    return None


def _is_in(place: Place, blocks: set[str]) -> bool:
    return any(place[0].startswith(ancestor) for ancestor in blocks)
