"""Versions of pages taken in, one page after the other, into evidence by place and kinds of pages."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from ....content.tokenizer.unseen import is_unseen
from ....content.versions import by_place
from ..parameters import current
from .alignment import TextDifference, compared
from .epochs import PageVersions, likeness
from .moving import Moves
from .place_counts import Place, PlaceCounts, Templates, VersionPair
from .sightings import Sightings, sightings_of

if TYPE_CHECKING:
    from ...path import Template


TextsByPlace = dict[Place, list[str]]


@dataclass(frozen=True, slots=True)
class _ComparedVersions:
    """What a pair of versions shows, by place."""

    pair: VersionPair
    kinds: Templates
    before: TextsByPlace
    after: TextsByPlace


@dataclass(frozen=True, slots=True)
class _Replacement:
    """A place that lost texts and got others, which may have moved."""

    place: Place
    pair: VersionPair
    kinds: Templates
    before: list[str]
    after: list[str]
    found: TextDifference


class Collection:
    """Evidence, page by page; the order of pages does not matter."""

    def __init__(self) -> None:
        self.evidence: dict[Place, dict[Templates, PlaceCounts]] = {}
        #: Templates of which a page was seen in two versions.
        self.templates: set[Template] = set()
        self.pages = 0
        self._pages_by_text: Counter[int] = Counter()
        #: What is to be judged when all pages are known.
        self._doubtful: list[_ComparedVersions] = []
        self._changes: list[_Replacement] = []
        self._seen: list[PageVersions] = []
        self._dynamic: set[str] = set()

    def add(self, seen: PageVersions) -> None:
        """Take in the versions of a page."""
        page, versions = seen.name, seen.versions
        if not versions:
            return
        self.pages += 1
        self._pages_by_text.update({_hash(text) for _, attribute, text in versions[0].blocks if not attribute})
        if len(versions) < 2:
            return
        kinds = seen.kinds
        self.templates.update(kinds)
        groups = [by_place(version.rows()) for version in versions]
        # What a page shows says whether two versions are alike; what nobody sees is but judged.
        shown = [_shown(each) if version.markup else each for each, version in zip(groups, versions, strict=True)]
        self._seen.append(seen)
        for number, (before, after) in enumerate(pairwise(groups)):
            if likeness(shown[number].keys(), shown[number + 1].keys()) < current().redesign:
                continue  # they are not of one design, and say nothing of each other
            found = _ComparedVersions(VersionPair(page, number), kinds, before, after)
            if self._is_doubtful(shown[number], shown[number + 1]):
                self._doubtful.append(found)
            else:
                self._count(found)

    def settle(self) -> Sightings:
        """Judge what could not be judged before all pages were known; return what was seen at the places that change.

        No page says anything that is all new each time, and what has moved to another page has not passed.
        """
        for versions in self._doubtful:
            if self._is_dynamic(versions):
                self._dynamic.add(versions.pair.page)
            else:
                self._count(versions)
        self._doubtful = []
        changed = {each.place for each in self._changes}
        lasting = {
            place for place, found in self.evidence.items() if place not in changed and not _changed(found.values())
        }
        pages = ((seen.name, seen.versions, seen.crawls) for seen in self._seen)
        moves = Moves(((each.place, each.before, each.after) for each in self._changes), pages, lasting)
        for each in self._changes:
            evidence = self._evidence(each.place, each.kinds)
            stayed = moves.without(each.place, each.before, each.after)
            if stayed is None:
                evidence.compare(each.pair, each.before, each.after, each.found)
            else:
                evidence.moved(each.pair, min(stayed) / len(each.before))
        changing = {place for place, found in self.evidence.items() if _changed(found.values())}
        visiting: defaultdict[Templates, set[Place]] = defaultdict(set)
        for place in changing:
            for kinds, evidence in self.evidence[place].items():
                if evidence.went.opportunities or evidence.appeared:
                    visiting[kinds].add(place)
        sightings = sightings_of(
            (seen for seen in self._seen if seen.name not in self._dynamic),
            changing,
            visiting,
            lambda text: self._pages_by_text[_hash(text)] <= max(1, current().own_text * self.pages),
        )
        self._changes = []
        self._seen = []
        return sightings

    def _count(self, versions: _ComparedVersions) -> None:
        pair, kinds = versions.pair, versions.kinds
        for place, before in versions.before.items():
            evidence = self._evidence(place, kinds)
            after = versions.after.get(place)
            if after is None:
                evidence.gone(pair, before)
                continue
            found = compared(before, after)
            if found.lost and found.came:
                self._changes.append(_Replacement(place, pair, kinds, before, after, found))
            else:
                evidence.compare(pair, before, after, found)
        for place in versions.after.keys() - versions.before.keys():
            self._evidence(place, kinds).appeared += 1

    def _evidence(self, place: Place, kinds: Templates) -> PlaceCounts:
        found = self.evidence.setdefault(place, {})
        if kinds not in found:
            found[kinds] = PlaceCounts()
        return found[kinds]

    @staticmethod
    def _is_doubtful(before: TextsByPlace, after: TextsByPlace) -> bool:
        """Return whether a page may be one of which all that is its own changed, as far as one page can tell."""
        lost = _lost(before, after)
        return lost.total() >= current().several and lost.total() > 0.1 * sum(map(len, before.values()))

    def _is_dynamic(self, versions: _ComparedVersions) -> bool:
        lost = self._words(_lost(versions.before, versions.after))
        return lost >= current().dynamic * self._words(_texts(versions.before)) > 0

    def _words(self, texts: Counter[str]) -> int:
        """Return the number of words of those texts that are not the site's."""
        by_text = self._pages_by_text
        return sum(
            len(text.split()) * number for text, number in texts.items() if by_text[_hash(text)] < current().several
        )


def _shown(groups: TextsByPlace) -> TextsByPlace:
    return {place: texts for place, texts in groups.items() if not is_unseen(place[1])}


def _changed(found: Iterable[PlaceCounts]) -> bool:
    return any(each.whole.changes or each.grown or each.went.opportunities or each.appeared for each in found)


def _texts(groups: TextsByPlace) -> Counter[str]:
    return Counter([text for (_, attribute), texts in groups.items() if not attribute for text in texts])


def _lost(before: TextsByPlace, after: TextsByPlace) -> Counter[str]:
    return _texts(before) - _texts(after)


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
