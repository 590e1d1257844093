"""What some pages have shown, version by version, at the places that change: what features are made of."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ...content.unseen import is_unseen
from .epochs import Fetch, Seen
from .evidence import Kinds, Place, grouped, order_of
from .regions import nearness

__all__ = ["Sighting", "Sightings", "sightings_of"]

MOST_PAGES = 64
"""Pages of a place and of the same kinds that are looked at."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The texts of one place in one version of a page; none where it was not there.

    ``kinds`` are those of the page. ``number`` is that of the version, from 0; ``fetch`` is None where it is not known
    when that was. ``near``: share of the page's
    own words that stand in its region (see :mod:`.regions`).
    """

    page: str
    kinds: Kinds
    number: int
    fetch: Fetch | None
    texts: tuple[str, ...]
    near: float


Sightings = dict[Place, dict[Kinds, list[Sighting]]]


def sightings_of(
    pages: Iterable[Seen],
    places: AbstractSet[Place],
    visiting: Mapping[Kinds, AbstractSet[Place]],
    is_own: Callable[[str], bool],
) -> Sightings:
    """Return what some of the *pages* have shown at *places*, all that were seen to change.

    *visiting* are those that come and go on pages of some kinds: that a page does not have them says something, too.
    *is_own* tells whether a text is that of a page, and not the site's. Linear in the blocks of the pages.
    """
    found: Sightings = defaultdict(lambda: defaultdict(list))
    taken: Counter[tuple[Place, Kinds]] = Counter()
    for page in sorted(pages, key=lambda page: (order_of(page.name), page.name)):
        shown = (page.places() & places) | visiting.get(page.kinds, set())
        wanted = [place for place in shown if taken[place, page.kinds] < MOST_PAGES]
        if wanted:
            taken.update((place, page.kinds) for place in wanted)
            _add(found, page, wanted, places, is_own)
    return found


def _add(
    found: Sightings,
    page: Seen,
    wanted: Sequence[Place],
    changing: AbstractSet[Place],
    is_own: Callable[[str], bool],
) -> None:
    for number, version in enumerate(page.versions):
        groups = grouped(version.rows())
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
