"""Epochs: the versions of pages before and after a redesign, which have other places.

A redesign moves what passes to other places, and other things to the old ones. So versions of one epoch say nothing
of those of another, and a mask is of the latest epoch.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

from ....content.retention import Fetch
from ....content.versions import Version
from ....urls.templates import template_of
from ...path import Template
from ..parameters import current
from .place_counts import Place, Templates

Places = frozenset[Place]


@dataclass(frozen=True, slots=True)
class PageVersions:
    """A page by its URL, or any name, and its versions in order of time.

    ``templates`` are those of the URLs that it was seen under, where its name is another; ``crawls`` numbers the crawls
    that the versions are of, and ``fetches`` says when and where each was fetched; empty where that is not known.
    """

    name: str
    versions: Sequence[Version]
    templates: tuple[Template, ...] = ()
    crawls: Sequence[int] = ()
    fetches: Sequence[Fetch] = ()

    @property
    def kinds(self) -> Templates:
        """The URL templates of the page; that of a name that is no URL is ()."""
        found = tuple(sorted(set(self.templates), key=repr))
        return found or (template_of(self.name) if "://" in self.name else (),)

    def part(self, start: int, end: int | None = None) -> "PageVersions":
        """Return the page with some of its versions."""
        of_each = {name: getattr(self, name)[start:end] for name in ("versions", "crawls", "fetches")}
        return replace(self, **of_each)

    def places(self) -> set[Place]:
        """Return the places of all versions, those that nobody sees among them."""
        unseen = (row[:2] for version in self.versions for row in version.markup)
        return set[Place]().union(*map(places_of, self.versions), unseen)


@dataclass(frozen=True, slots=True)
class Epochs:
    """The pages with their versions of the latest epoch, and with those of all before; without pages that have none."""

    latest: tuple[PageVersions, ...]
    past: tuple[PageVersions, ...] = ()


def latest_epoch(pages: Iterable[PageVersions]) -> Epochs:
    """Return the versions of pages since the last redesign of their kind, and those before.

    A kind of pages was redesigned if most of its pages turned from one set of places to another, the same for all, for
    good. One page of a site by itself is not enough. Time is linear in the blocks.
    """
    pages = tuple(pages)
    groups: defaultdict[Templates, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        groups[page.kinds].append(number)
    turned = {number for number, page in enumerate(pages) if _has_turned(page)}
    starts: dict[int, int] = {}
    for numbers in groups.values() if len(turned) > 1 else ():
        if turned.isdisjoint(numbers):
            continue
        design = _Design([pages[number] for number in numbers])
        while design.turn():
            pass
        starts.update((number, start) for number, start in zip(numbers, design.starts, strict=True) if start)
    if not starts:
        return Epochs(pages)
    latest = [page.part(starts.get(number, 0)) for number, page in enumerate(pages)]
    past = [pages[number].part(0, start) for number, start in sorted(starts.items())]
    return Epochs(tuple([page for page in latest if page.versions]), tuple(past))


def _has_turned(page: PageVersions) -> bool:
    places = (places_of(version) for version in page.versions)
    return any(likeness(before, after) < current().redesign for before, after in pairwise(places))


class _Design:
    """The pages of one kind; ``starts`` has for each the number of its versions that are of earlier designs."""

    def __init__(self, pages: Sequence[PageVersions]) -> None:
        self.starts = [0] * len(pages)
        known: dict[Places, Places] = {}  # most versions have the places of others
        self._places = [[known.setdefault(found, found) for found in map(places_of, page.versions)] for page in pages]
        self._crawls = [page.crawls or [0] * len(page.versions) for page in pages]

    def turns(self) -> dict[int, int]:
        """Return the first version of each page that is unlike the one before it."""
        found = {}
        for page, versions in enumerate(self._places):
            for number in range(self.starts[page] + 1, len(versions)):
                if likeness(versions[number - 1], versions[number]) < current().redesign:
                    found[page] = number
                    break
        return found

    def turn(self) -> bool:
        """Leave the versions of the first design behind if there is a later one; whether it is so."""
        turns = self.turns()
        if not turns:
            return False
        old = _usual([self._places[page][number - 1] for page, number in turns.items()])
        new = _usual([self._places[page][number] for page, number in turns.items()])
        if likeness(old, new) >= current().redesign:
            return False

        def is_old(places: Places) -> bool:
            like = likeness(places, old)
            return like >= current().redesign and like > likeness(places, new)

        # Pages that were not fetched since may have turned, too.
        since = min(self._crawls[page][number] for page, number in turns.items())
        starts = list(self.starts)
        stayed = returned = 0
        for page, versions in enumerate(self._places):
            if page in turns:
                starts[page] = turns[page]
                returned += any(map(is_old, versions[turns[page] :]))
            else:
                while starts[page] < len(versions) and is_old(versions[starts[page]]):
                    starts[page] += 1
                stayed += len(versions) > 1 and starts[page] == len(versions) and self._crawls[page][-1] >= since
        if stayed >= len(turns) or returned > current().returned * len(turns):
            return False
        self.starts = starts
        return True


def places_of(version: Version) -> Places:
    """Return the places of what a version shows."""
    return frozenset([row[:2] for row in version.blocks])


def _usual(found: Sequence[Places]) -> Places:
    """Return the places that most of these have."""
    counts = Counter([place for places in found for place in places])
    return frozenset([place for place, number in counts.items() if 2 * number > len(found)])


def likeness(one: AbstractSet[Place], other: AbstractSet[Place]) -> float:
    """Return how much places agree (Jaccard)."""
    if not one and not other:
        return 1.0
    return len(one & other) / len(one | other)
