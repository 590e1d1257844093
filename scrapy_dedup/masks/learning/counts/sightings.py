"""What some pages have shown, version by version, at the places that change: what features are made of."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ....content.retention import Fetch
from ....content.tokenizer.unseen import is_unseen
from ....content.versions import Version, by_place
from .epochs import PageVersions
from .place_counts import Place, Templates, order_of

MOST_PAGES = 64
"""Pages of a place and of the same kinds that are looked at."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The texts of one place in one version of a page; none where it was not there.

    ``kinds`` are those of the page. ``number`` is that of the version, from 0; ``fetch`` is None where it is not known
    when that was. ``near``: share of the page's
    own words that stand in its region (:func:`nearness`).
    """

    page: str
    kinds: Templates
    number: int
    fetch: Fetch | None
    texts: tuple[str, ...]
    near: float


Sightings = dict[Place, dict[Templates, list[Sighting]]]


def sightings_of(
    pages: Iterable[PageVersions],
    places: AbstractSet[Place],
    visiting: Mapping[Templates, AbstractSet[Place]],
    is_own: Callable[[str], bool],
) -> Sightings:
    """Return what some of the *pages* have shown at *places*, all that were seen to change.

    *visiting* are those that come and go on pages of some kinds: that a page does not have them says something, too.
    *is_own* tells whether a text is that of a page, and not the site's. Linear in the blocks of the pages.
    """
    found: Sightings = defaultdict(lambda: defaultdict(list))
    taken: Counter[tuple[Place, Templates]] = Counter()
    for page in sorted(pages, key=lambda page: (order_of(page.name), page.name)):
        shown = (page.places() & places) | visiting.get(page.kinds, set())
        wanted = [place for place in shown if taken[place, page.kinds] < MOST_PAGES]
        if wanted:
            taken.update((place, page.kinds) for place in wanted)
            _add(found, page, wanted, places, is_own)
    return found


def _add(
    found: Sightings,
    page: PageVersions,
    wanted: Sequence[Place],
    changing: AbstractSet[Place],
    is_own: Callable[[str], bool],
) -> None:
    for number, version in enumerate(page.versions):
        groups = by_place(version.rows())
        near = nearness(version, changing, is_own)
        for place in wanted:
            if is_unseen(place[1]) and not version.markup:
                continue  # it was not looked for
            found[place][page.kinds].append(
                Sighting(
                    page.name,
                    page.kinds,
                    number,
                    page.fetches[number] if page.fetches else None,
                    tuple(groups.get(place, ())),
                    near.get(place, 1.0),
                )
            )


def nearness(version: Version, changing: AbstractSet[Place], is_own: Callable[[str], bool]) -> Mapping[Place, float]:
    """Return for each place that is *changing* the share (0 to 1) of the page's own words, of those that last, in its region.

    A *region* is what stands in one child of the innermost element that holds all of a page's texts: header, contents,
    sidebar, footer. What changes among the page's own texts may be theirs (whether a thing is to be had); what stands apart
    from them is rather the site's.

    *is_own* tells whether a text is that of a page, and not the site's. The title is in no region. On a page without any
    text of its own nothing is told. Linear in the blocks.
    """
    texts = [row for row in version.blocks if not row[1] and row[0].rpartition("/")[2] != "title"]
    steps = {selector: selector.split("/") for selector, _, _ in version.blocks}
    depth = _shared({selector: steps[selector] for selector, _, _ in texts}.values())

    def region(selector: str) -> str:
        # Texts that stand right in the frame, or each in an element of its own there, are beside each other.
        parts = steps[selector]
        return "/".join(parts[: depth + 1]) if len(parts) > depth + 1 else ""

    own: Counter[str] = Counter()
    places: set[Place] = set()
    for selector, attribute, text in version.blocks:
        if (selector, attribute) in changing:
            places.add((selector, attribute))
        elif not attribute and selector.rpartition("/")[2] != "title" and is_own(text):
            own[region(selector)] += len(text.split())
    total = own.total()
    return {place: own[region(place[0])] / total for place in places} if total else {}


def _shared(paths: Iterable[list[str]]) -> int:
    """Return the number of steps that all paths begin with."""
    paths = list(paths)
    if not paths:
        return 0
    first, last = min(paths), max(paths)  # in the order of lists, what these share all do
    depth = 0
    while depth < min(len(first), len(last)) and first[depth] == last[depth]:
        depth += 1
    return depth
