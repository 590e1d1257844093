"""A mask learned: what pages have shown, the parts of places that change, one judgement of each, and where it acts."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..chance import at_most
from .carry import Part, Trials, agreement, alike, is_all_over, like_texts, pairs_of, unfit
from .example import example_of
from .judge import MOMENTS, STRIPPED, Features, features_of
from .model import Act, Place
from .observe import Fetch, Observations, Sighting, Where
from .slot_learning import ADDRESSES, slot_of
from .slots import Slot

MOST_POSITIONS: Final = 50
"""Longer lists change as a whole."""
THEIRS: Final = 2.0
"""Logarithm of a likelihood ratio over which it is a matter of the page, or drawn anew."""
OWN: Final = -5.0
"""Evidence below which what a kind of pages shows is the pages' own."""
OFTEN: Final = 0.25
"""Share of changes over which pages are compared without what is not theirs."""
FEW: Final = 0.5
"""Share of the controls under which those are edits in which what is the page's own has changed."""
SURE: Final = 0.9
COLD: Final = 1 / 3
"""Share of the changes of the text that changes most under which another one of the place stays."""
MOST_HOT: Final = 2 / 3
"""Share of the texts of a place that change from which on all of it does: the others may be the same by chance."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part of a place that was seen to change, as it is judged."""

    part: Part
    features: Features
    trials: Trials
    #: Those of the part without a slot, on all kinds of pages.
    all_trials: Trials


def learned(seen: Observations) -> list[Place]:
    """Return the places where what stands does not last."""
    found = list(candidates(seen))
    own = {each.part.where: each for each in found if each.features.evidence < OWN}
    controls, edited = (
        {pair.other.fetch for each in some for pair in each.trials.changed if pair.gap <= MOMENTS}
        for some in (found, own.values())
    )
    # A control in which what is the page's own has changed, as in few others, was an edit: it says nothing of the rest of the page.
    if 0 < len(edited) < FEW * len(controls):
        found = [each for each in candidates(seen, edited) if each.part.where not in own] + [*own.values()]
    return [place for place in [_placed(each, seen) for each in found] if place is not None]


def candidates(seen: Observations, without: Collection[Fetch] = ()) -> Iterator[Candidate]:
    """Yield the parts of places that change, with what they are judged by; some responses may say nothing."""
    for where, sightings in sorted(seen.places.items()):
        shown = [each for each in sightings if each.fetch not in without]
        for part, taken in _parts(where, shown):
            found = _judged(part, taken, seen)
            if found is not None:
                yield found


def _parts(where: Where, shown: Sequence[Sighting]) -> Iterator[tuple[Part, list[Sighting]]]:
    """Yield a place as a whole, or its texts that change where others stay, counted from the nearer end."""
    changes, met = Counter[int](), Counter[int]()
    positions: defaultdict[str, set[int]] = defaultdict(set)
    for pair in pairs_of(shown):
        before, after = pair.one.texts, pair.other.texts
        number = len(before)
        if number == len(after) and 1 < number <= MOST_POSITIONS:
            for at, (was, now) in enumerate(zip(before, after, strict=True)):
                end = at + 1 if 2 * at < number else at - number
                met[end] += 1
                changes[end] += was != now
                positions[was].add(at)
                positions[now].add(at)
    most = max([changes[end] / met[end] for end in met], default=0.0)
    hot = [end for end in sorted(met) if changes[end] and changes[end] >= COLD * most * met[end]]
    moved = sum(len(found) > 1 for found in positions.values()) > 1
    if hot and len(hot) < MOST_HOT * len(met) and not moved:
        for end in hot:
            yield Part(where, end), _shown(Part(where, end), shown)
    else:
        yield Part(where), list(shown)


def _shown(part: Part, shown: Sequence[Sighting]) -> list[Sighting]:
    """Return what pages have shown of a part."""
    taken = [(each, part.of(each.texts)) for each in shown]
    return [replace(each, texts=texts) for each, texts in taken if texts is not None]


def _judged(part: Part, shown: Sequence[Sighting], seen: Observations) -> Candidate | None:
    """Return a part with its slot, judged; None where it did not change, or says what its page is."""
    luck = agreement([(fetch, part.of(texts)) for fetch, texts in seen.shown[part.where]])
    everywhere = len(seen.kinds_with(part.where)) / (1 + len(seen.kinds))
    all_trials = Trials(pairs_of(shown), luck)
    judged = [each for each in shown if each.kind in all_trials.changing]
    slot = _slot_of(part, judged, like_texts(part, all_trials, seen) if all_trials.is_typed else None)
    taken = [] if slot == () else _shown(Part(part.where, slot=slot), judged)
    trials = Trials(pairs_of(taken), luck)
    if not trials.changed or (_is_heading(part.where[0]) and not trials.is_typed):
        return None
    return Candidate(replace(part, slot=slot), features_of(taken, everywhere), trials, all_trials)


def _slot_of(part: Part, shown: Sequence[Sighting], others: Sequence[str] | None) -> Slot | None:
    """Return the slot of single texts, around what changes; of others it is all, or () where links change."""
    pages: defaultdict[str, list[str]] = defaultdict(list)
    for each in shown:
        pages[each.page] += each.texts
    if any(len(each.texts) > 1 for each in shown) or any(pair.visits for pair in pairs_of(shown)):
        return () if part.where[1] in ADDRESSES else None
    return slot_of(list(pages.values()), part.where[1], others)


def _placed(found: Candidate, seen: Observations) -> Place | None:
    """Return the place that is learned, None where what changes may be its page's."""
    part, trials = found.part, found.trials
    changed = trials.changed
    lasting = found.all_trials.lasting | trials.lasting
    still = found.all_trials.still
    not_on = lasting
    if trials.is_typed:
        not_on = lasting | (unfit(part, trials, seen) - trials.changing)
    act = _act(found)
    # A list that is pushed on has changed, too: some of it is there still.
    is_anew = all({*pair.one.texts}.isdisjoint(pair.other.texts) for pair in trials.pairs)
    if act is None and trials.is_typed and is_anew and is_all_over(part, not_on, seen):
        act = "compare"
    if act is None:
        return None
    on = (trials.changing | (alike(trials, still, seen) - still)) - lasting
    if trials.is_typed:
        on = frozenset() if part.slot or act == "compare" else seen.kinds_with(part.where) - not_on
    return Place(
        *part.where,
        position=part.position,
        slot=part.slot,
        typed=trials.is_typed,
        act=act,
        on=tuple(sorted(on)),
        not_on=() if on else tuple(sorted(not_on)),
        changes=len(changed),
        opportunities=len(trials.pairs),
        pages=len({pair.one.page for pair in trials.pairs}),
        example=example_of(changed[0].one.texts, changed[0].other.texts),
    )


def _act(found: Candidate) -> Act | None:
    """Return what is done where a part stands; what several pages show anew so often tells none of them apart."""
    features, changes = found.features, len(found.trials.changed)
    if len({pair.one.page for pair in found.trials.changed}) < 2:
        return None
    if features.score >= STRIPPED:
        return "strip"
    if found.part.where[1]:
        return None
    is_theirs = features.page > THEIRS
    if is_theirs and features.anew < THEIRS:
        return None
    often = FEW if is_theirs else OFTEN
    return "compare" if at_most(changes, len(found.trials.pairs) + 1, often) >= SURE else None


def _is_heading(selector: str) -> bool:
    return any(step.partition("#")[0].partition(".")[0] in ("title", "h1") for step in selector.split("/"))
