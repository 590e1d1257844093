"""Judgement of the places of a site's pages: transient, volatile, growing, undecided.

A place is taken apart into what changes by itself: one text of several that stay, or the words of a text between others
that stay (:mod:`.slot_learning`). Of each the features are worked out and scored (:mod:`.features`, :mod:`.score`). Without evidence everything
stays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache

from ....chance import at_most
from ....urls.templates import in_order
from ...model import PathKind, Template, TransientPath
from ...slots import Slot
from ..counts.place_counts import Cell, Change, Place, PlaceCounts, Templates, pooled
from ..counts.sightings import Sighting
from ..parameters import current
from .examples import examples_of
from .features import Features
from .score import LEFT_OUT, STRIPPED, Score, probability
from .shown_place import ShownPlace, slots_of
from .slot_learning import is_fleeting, is_heading

_MOST = 400
"""Trials that are told apart: more say no more."""
ENDS = (1, -1)
"""Positions that are counted from the first text or the last, in lists of any number."""


def paths_of(
    place: Place,
    evidence: Mapping[Templates, PlaceCounts],
    known: AbstractSet[Template],
    sightings: Mapping[Templates, Sequence[Sighting]],
    score: Score = probability,
) -> list[TransientPath]:
    """Return the paths of one place, none if its texts are stable.

    Kinds of pages on which the place was not seen to change, or surely lasts, are left out of the rest's evidence, and
    of its paths. *known* are all kinds of which anything is known: paths that are true of them all name none.
    *sightings* are what some pages of each kind have shown there, *score* tells how likely it is that what changes passes.
    """
    changing: Mapping[Templates, PlaceCounts] = {kinds: each for kinds, each in evidence.items() if _changes(each)}
    if not changing:
        return []
    everywhere = _everywhere({kind for kinds in evidence for kind in kinds}, known)
    changing = _without_own(place, changing, sightings, everywhere)
    of_them = sorted(changing, key=repr)
    shown = ShownPlace(place, [each for kinds in of_them for each in sightings.get(kinds, ())], everywhere, score)
    found = list(_paths_of(shown, pooled(changing[kinds] for kinds in of_them)))
    # Under a name of several kinds it may be from one to the other that a page changes.
    lasting = {kinds[0] for kinds in evidence.keys() - changing.keys() if len(kinds) == 1}
    templates = {kind for kinds in changing for kind in kinds} - lasting
    if not templates:
        return []
    if templates == known:
        return found
    return [replace(path, templates=in_order(templates)) for path in found]


def lasting_kinds(evidence: Mapping[Templates, PlaceCounts]) -> set[Template]:
    """Return the kinds of pages on which a place surely lasts, by their own *evidence*."""
    return {kinds[0] for kinds, each in evidence.items() if len(kinds) == 1 and _lasts(each)}


def _without_own(
    place: Place,
    changing: Mapping[Templates, PlaceCounts],
    sightings: Mapping[Templates, Sequence[Sighting]],
    everywhere: float,
) -> Mapping[Templates, PlaceCounts]:
    """Return the kinds of pages without those whose texts at the place are surely the pages' own, unless all are."""
    if len(changing) == 1:
        return changing
    own = set()
    for kinds in changing:
        found = ShownPlace(place, sightings.get(kinds, ()), everywhere).features(None)
        if found is not None and found.evidence < current().own:
            own.add(kinds)
    return {kinds: each for kinds, each in changing.items() if kinds not in own} or changing


def _everywhere(having: AbstractSet[Template], known: AbstractSet[Template]) -> float:
    """Return the share of the kinds of pages that have a place, as they have the site's header; parameters do not make a kind."""
    names, all_names = {kind[:2] for kind in having}, {kind[:2] for kind in known}
    return len(names & all_names) / (1 + len(all_names))


def _changes(evidence: PlaceCounts) -> bool:
    """Return whether the place was seen to change: texts went, came, or all did both."""
    moved = evidence.went.opportunities and evidence.appeared
    return bool(evidence.whole.changes or evidence.grown or moved)


def _lasts(evidence: PlaceCounts) -> bool:
    """Return whether no text has changed, often enough."""
    return not _changes(evidence) and is_rare(0, evidence.whole.opportunities, current().often)


def _paths_of(shown: ShownPlace, evidence: PlaceCounts) -> Iterator[TransientPath]:
    cells = evidence.positions
    most = max((cell.changes / cell.opportunities for cell in cells.values()), default=0.0)
    hot = {at: cell for at, cell in cells.items() if cell.changes and not _is_cold(cell, most)}
    if hot and len(hot) < len(cells) and not shown.is_one_list():
        ends = _from_ends(shown, evidence, hot)
        for (number, of), cell in sorted(hot.items()):
            if number + 1 not in ends and number - of not in ends:
                yield _judged(shown, cell, number + 1, of)
        yield from ends.values()
        return
    whole = _with_visits(evidence)
    if whole.changes:
        yield _judged(shown, whole)
    elif evidence.grown:
        yield _path(shown, "growing", evidence.whole, examples=evidence.grown_examples)


def _is_cold(cell: Cell, most: float) -> bool:
    """Return whether a text has changed much more seldom than that which has *most* changes for its opportunities."""
    return is_rare(cell.changes, cell.opportunities, current().often * most)


def _with_visits(evidence: PlaceCounts) -> Cell:
    """Return the counts of a place as a whole, with those of its comings and goings if it does both.

    What only went, or only came, may have been moved for good.
    """
    total = Cell()
    total.add(evidence.whole)
    visits = min(evidence.went.opportunities, evidence.appeared)
    if visits > 1:
        total.add(evidence.went)
        total.changes += visits - evidence.went.opportunities
    return total


def _from_ends(shown: ShownPlace, evidence: PlaceCounts, hot: Iterable[tuple[int, int]]) -> dict[int, TransientPath]:
    """Return the paths of positions counted from the first text or the last of any number, with literal words to go by.

    Where pages have different numbers of texts at a place, that is what they have in common.
    """
    found: dict[int, TransientPath] = {}
    for end in ENDS:
        at = [(position, of) for position, of in hot if end in (position + 1, position - of)]
        if len({of for _, of in at}) < 2:
            continue
        total = Cell()
        for (position, of), cell in sorted(evidence.positions.items()):
            if end in (position + 1, position - of):
                total.add(cell)
        path = _judged(shown, total, end)
        if path.kind == "transient" and path.slot is not None:
            found[end] = path
    return found


def _judged(shown: ShownPlace, cell: Cell, position: int = 0, of: int = 0) -> TransientPath:
    """Return the path for all texts of a place, or for one of them."""
    best: tuple[float, Slot | None, Features | None] = 0.0, None, None
    if is_heading(shown.place[0]) and not all(map(is_fleeting, cell.examples)):
        return _path(shown, "undecided", cell, position=position, of=of)
    for slot in slots_of(shown.place, cell):
        found = shown.features(slot, position, of)
        sure = shown.score(found) if found is not None else 0.0
        if best[2] is None or sure > best[0]:
            best = sure, slot, found
        if sure >= STRIPPED:
            break  # what stays in the narrower one is more
    sure, slot, found = best
    kind: PathKind = "undecided"
    if found is not None and sure >= STRIPPED:
        kind = "transient"
    elif found is not None and not shown.place[1] and _is_left_out(found, sure, cell):
        kind = "volatile"
    return _path(shown, kind, cell, sure=sure, position=position, of=of, slot=slot)


def _is_left_out(found: Features, sure: float, cell: Cell) -> bool:
    """Return whether pages are compared without what stands there: several have shown another one so often that it tells none of them."""
    if len(cell.pages) == 1:  # it is all there is
        return confidence(cell.changes, cell.opportunities, current().alone) >= current().confidence
    if len(cell.changed_pages) < 2:
        return False
    if sure >= LEFT_OUT:
        return True
    is_theirs = found.page > current().theirs and found.anew < current().theirs and found.rises < current().theirs
    return not is_theirs and confidence(cell.changes, cell.opportunities, current().often) >= current().confidence


def _path(
    shown: ShownPlace,
    kind: PathKind,
    cell: Cell,
    *,
    sure: float = 0.0,
    position: int = 0,
    of: int = 0,
    slot: Slot | None = None,
    examples: Iterable[Change] = (),
) -> TransientPath:
    return TransientPath(
        *shown.place,
        slot=slot,
        kind=kind,
        confidence=round(sure, 3),
        pages=len(cell.pages),
        changes=round(cell.changes),
        opportunities=cell.opportunities,
        examples=examples_of(examples or cell.examples),
        position=position,
        of=of,
    )


@lru_cache(maxsize=8192)
def confidence(changes: float, opportunities: int, threshold: float) -> float:
    """Return the probability that a share of changes is over *threshold*, by Beta(1 + changes, 1 + the others).

    The lower 90 % bound of the share is over the threshold where this is over 0.90.

    >>> [round(confidence(n, n, 0.25), 2) for n in (0, 1, 2)]
    [0.75, 0.94, 0.98]
    """
    if opportunities > _MOST:
        changes *= _MOST / opportunities
        opportunities = _MOST
    return at_most(int(changes), opportunities + 1, threshold)


def is_rare(changes: float, opportunities: int, threshold: float) -> bool:
    """Return whether it is as sure that the share of changes is *under* the threshold."""
    return confidence(changes, opportunities, threshold) <= 1 - current().confidence
