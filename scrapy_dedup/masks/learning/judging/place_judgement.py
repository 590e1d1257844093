"""What is to be said of each place of a site's pages: transient, growing, undecided.

A place is taken apart into what changes by itself: one text of several that stay, or the words of a text between others
that stay (:mod:`.wording`). Of each the features are worked out and scored (:mod:`.features`, :mod:`.score`). Without evidence everything
stays.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from ....content.tokenizer.unseen import is_unseen
from ....urls.templates import in_order
from ...model import PathKind, Template, TransientPath
from ...slots import Slot, hidden, pieces
from ..counts.place_counts import Cell, Change, Evidence, Kinds, Place, pooled
from ..counts.sightings import Sighting
from .bounds import CONFIDENCE, confidence, is_rare
from .distances import Shown
from .examples import examples_of
from .features import Features, features_of
from .score import LEFT_OUT, STRIPPED, Score, probability
from .slot_learning import ADDRESSES, NOTHING, is_fleeting, is_heading, is_wording_shared, slot_of

__all__ = ["lasting_kinds", "paths_of"]

SELDOM = 0.20
"""Share of changes under which a place lasts, if that is sure; of those of the text that changes most, in a list."""
MOVED = 0.2
"""Share of the texts of a list that have stood at several places in it, at least."""
OWN = -5.0
"""Evidence under which what a kind of pages shows is the pages' own."""
OFTEN = 0.25
"""Share of changes over which pages are compared without what is no matter of theirs, if that is sure."""
ALONE = 0.4
"""The same where one page is all there is: two changes out of two."""
THEIRS = 2.0
"""Log-likelihood ratio over which a place is a matter of the page; over which it is drawn anew, or counts visits."""
ENDS = (1, -1, 2, -2)
"""Positions that are counted from the first text or the last, in lists of any number."""
APART = 86_400.0
"""Seconds between two versions of which it is not known when they were fetched."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of a place beside its counts: what pages have shown there, and the share of the kinds of pages that have it."""

    place: Place
    sightings: Sequence[Sighting]
    everywhere: float
    score: Score = probability


def paths_of(
    place: Place,
    evidence: Mapping[Kinds, Evidence],
    known: AbstractSet[Template],
    sightings: Mapping[Kinds, Sequence[Sighting]],
    score: Score = probability,
) -> list[TransientPath]:
    """Return what is to be said of one place, nothing where it lasts.

    Kinds of pages on which the place was not seen to change, or surely lasts, are left out of the rest's evidence, and
    of its paths. *known* are all kinds of which anything is known: paths that are true of them all name none.
    *sightings* are what some pages of each kind have shown there, *score* tells how likely it is that what changes passes.
    """
    changing: Mapping[Kinds, Evidence] = {kinds: each for kinds, each in evidence.items() if _changes(each)}
    if not changing:
        return []
    everywhere = _everywhere({kind for kinds in evidence for kind in kinds}, known)
    changing = _without_own(place, changing, sightings, everywhere)
    of_them = sorted(changing, key=repr)
    seen = _Seen(place, [each for kinds in of_them for each in sightings.get(kinds, ())], everywhere, score)
    found = list(_paths_of(seen, pooled(changing[kinds] for kinds in of_them)))
    # Under a name of several kinds it may be from one to the other that a page changes.
    lasting = {kinds[0] for kinds in evidence.keys() - changing.keys() if len(kinds) == 1}
    templates = {kind for kinds in changing for kind in kinds} - lasting
    if not templates:
        return []
    if templates == known:
        return found
    return [replace(path, templates=in_order(templates)) for path in found]


def lasting_kinds(evidence: Mapping[Kinds, Evidence]) -> set[Template]:
    """Return the kinds of pages on which a place surely lasts, by their own *evidence*."""
    return {kinds[0] for kinds, each in evidence.items() if len(kinds) == 1 and _lasts(each)}


def _without_own(
    place: Place,
    changing: Mapping[Kinds, Evidence],
    sightings: Mapping[Kinds, Sequence[Sighting]],
    everywhere: float,
) -> Mapping[Kinds, Evidence]:
    """Return the kinds of pages but those on which what stands at a place is surely the pages' own, if not all are such."""
    if len(changing) == 1:
        return changing
    own = set()
    for kinds in changing:
        found = _features(_Seen(place, sightings.get(kinds, ()), everywhere), None, 0, 0)
        if found is not None and found.evidence < OWN:
            own.add(kinds)
    return {kinds: each for kinds, each in changing.items() if kinds not in own} or changing


def _everywhere(having: AbstractSet[Template], known: AbstractSet[Template]) -> float:
    """Return the share of the kinds of pages that have a place, as they have the site's header; parameters do not make a kind."""
    names, all_names = {kind[:2] for kind in having}, {kind[:2] for kind in known}
    return len(names & all_names) / (1 + len(all_names))


def _changes(evidence: Evidence) -> bool:
    """Whether the place was seen to change: texts went, came, or all did both."""
    moved = evidence.went.opportunities and evidence.appeared
    return bool(evidence.whole.changes or evidence.grown or moved)


def _lasts(evidence: Evidence) -> bool:
    """Whether no text has changed, often enough."""
    return not _changes(evidence) and is_rare(0, evidence.whole.opportunities, SELDOM)


def _paths_of(seen: _Seen, evidence: Evidence) -> Iterator[TransientPath]:
    cells = evidence.positions
    most = max((cell.changes / cell.opportunities for cell in cells.values()), default=0.0)
    hot = {at: cell for at, cell in cells.items() if cell.changes and not _is_cold(cell, most)}
    if hot and len(hot) < len(cells) and not _is_one_list(seen):
        ends = _from_ends(seen, evidence, hot)
        for (number, of), cell in sorted(hot.items()):
            if number + 1 not in ends and number - of not in ends:
                yield _judged(seen, cell, number + 1, of)
        yield from ends.values()
        return
    whole = _with_visits(evidence)
    if whole.changes:
        yield _judged(seen, whole)
    elif evidence.grown:
        yield _path(seen, "growing", evidence.whole, examples=evidence.grown_examples)


def _is_cold(cell: Cell, most: float) -> bool:
    """Whether a text has changed much more seldom than that which has *most* changes for its opportunities."""
    return is_rare(cell.changes, cell.opportunities, SELDOM * most)


def _is_one_list(seen: _Seen) -> bool:
    """Whether texts are of one list, in which they move up and down, and which is no matter of its page."""
    places: defaultdict[str, set[int]] = defaultdict(set)
    for each in seen.sightings:
        for number, text in enumerate(each.texts):
            places[text].add(number)
    moved = sum(len(found) > 1 for found in places.values())
    if moved < max(2, MOVED * len(places)):
        return False
    found = _features(seen, None, 0, 0)
    return found is not None and found.page <= THEIRS


def _with_visits(evidence: Evidence) -> Cell:
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


def _from_ends(seen: _Seen, evidence: Evidence, hot: Iterable[tuple[int, int]]) -> dict[int, TransientPath]:
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
        path = _judged(seen, total, end)
        if path.kind == "transient" and path.slot is not None:
            found[end] = path
    return found


def _judged(seen: _Seen, cell: Cell, position: int = 0, of: int = 0) -> TransientPath:
    """Return what is to be said of the texts of a place, or of one of them."""
    best: tuple[float, Slot | None, Features | None] = 0.0, None, None
    if is_heading(seen.place[0]) and not all(map(is_fleeting, cell.examples)):
        return _path(seen, "undecided", cell, position=position, of=of)
    for slot in _slots(seen.place, cell):
        found = _features(seen, slot, position, of)
        sure = seen.score(found) if found is not None else 0.0
        if best[2] is None or sure > best[0]:
            best = sure, slot, found
        if sure >= STRIPPED:
            break  # what stays in the narrower one is more
    sure, slot, found = best
    kind: PathKind = "undecided"
    if found is not None and sure >= STRIPPED:
        kind = "transient"
    elif found is not None and not seen.place[1] and _is_left_out(found, sure, cell):
        kind = "volatile"
    return _path(seen, kind, cell, sure=sure, position=position, of=of, slot=slot)


def _is_left_out(found: Features, sure: float, cell: Cell) -> bool:
    """Whether pages are compared without what stands there: several have shown another one so often that it tells none of them."""
    if len(cell.pages) == 1:  # it is all there is
        return confidence(cell.changes, cell.opportunities, ALONE) >= CONFIDENCE
    if len(cell.changed_pages) < 2:
        return False
    if sure >= LEFT_OUT:
        return True
    is_theirs = found.page > THEIRS and found.anew < THEIRS and found.rises < THEIRS
    return not is_theirs and confidence(cell.changes, cell.opportunities, OFTEN) >= CONFIDENCE


def _slots(place: Place, cell: Cell) -> Iterator[Slot | None]:
    """Yield the slots that what changes may have, those first that leave more of a text."""
    attribute = "" if is_unseen(place[1]) else place[1]  # what nobody sees is judged as texts are
    if any(not len(change.before) == len(change.after) == 1 for change in cell.examples):
        if attribute not in ADDRESSES:
            yield None
        return
    met = []
    for of_site in (False, True):
        slot = slot_of(cell.examples, attribute, of_site=of_site)
        if slot != NOTHING and slot not in met:
            met.append(slot)
            yield slot
    if not met and not attribute and is_wording_shared(cell.examples):
        yield None


def _features(seen: _Seen, slot: Slot | None, position: int, of: int) -> Features | None:
    """Return the features of what a path would take out of pages; None where none has shown it."""
    _, attribute = seen.place
    several = slot is None and not position and any(len(each.texts) > 1 for each in seen.sightings)
    shown = [
        Shown(
            each.page,
            each.kinds,
            each.fetch[0] if each.fetch else APART * each.number,
            each.fetch[1] if each.fetch else each.page,
            value,
            each.near,
        )
        for each in seen.sightings
        if (value := each.texts if several else _value(each.texts, slot, attribute, position, of)) is not None
    ]
    return features_of(shown, everywhere=seen.everywhere) if shown else None


def _value(texts: tuple[str, ...], slot: Slot | None, attribute: str, position: int, of: int) -> tuple[str, ...] | None:
    """Return what would be taken out of some texts; None where the path says nothing of them."""
    if position:
        if (of and len(texts) != of) or not -len(texts) <= position <= len(texts):
            return None
        texts = (texts[position - (position > 0)],)
    if len(texts) != 1:
        return () if slot is None else None
    words = pieces(texts[0], attribute)
    if slot is None:
        return (" ".join(words),)
    ranges = hidden(words, slot, attribute)
    return None if ranges is None else (" ".join([word for start, end in ranges for word in words[start:end]]),)


def _path(
    seen: _Seen,
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
        *seen.place,
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
