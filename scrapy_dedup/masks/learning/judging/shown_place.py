"""What pages have shown at one place, and the features of what a path there would take out of them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....content.tokenizer.unseen import is_unseen
from ...slots import Slot, hidden, pieces
from ..counts.place_counts import Cell, Place
from ..counts.sightings import Sighting
from ..parameters import current
from .distances import DAY, ShownValue
from .features import Features, features_of
from .score import Score, probability
from .slot_learning import ADDRESSES, NOTHING, is_wording_shared, slot_of


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """What pages have shown at a place. ``everywhere``: share (0 to 1) of the kinds of pages that have it."""

    place: Place
    sightings: Sequence[Sighting]
    everywhere: float
    score: Score = probability

    def features(self, slot: Slot | None, position: int = 0, of: int = 0) -> Features | None:
        """Return the features of what a path would take out of pages; None where no page has shown it."""
        attribute = self.place[1]
        several = slot is None and not position and any(len(each.texts) > 1 for each in self.sightings)
        shown = [
            # Where nobody knows when versions were fetched, they are taken to be a day apart.
            ShownValue(
                each.page,
                each.kinds,
                each.fetch[0] if each.fetch else DAY * each.number,
                each.fetch[1] if each.fetch else each.page,
                value,
                each.near,
            )
            for each in self.sightings
            if (value := each.texts if several else _taken(each.texts, slot, attribute, position, of)) is not None
        ]
        return features_of(shown, everywhere=self.everywhere) if shown else None

    def is_one_list(self) -> bool:
        """Return whether its texts move up and down in a list that is no matter of its page."""
        positions: defaultdict[str, set[int]] = defaultdict(set)
        for each in self.sightings:
            for number, text in enumerate(each.texts):
                positions[text].add(number)
        moved = sum(len(found) > 1 for found in positions.values())
        if moved < 2:
            return False
        found = self.features(None)
        return found is not None and found.page <= current().theirs


def _taken(texts: tuple[str, ...], slot: Slot | None, attribute: str, position: int, of: int) -> tuple[str, ...] | None:
    """Return what a path would take out of some texts; None where it says nothing of them."""
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


def slots_of(place: Place, cell: Cell) -> Iterator[Slot | None]:
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
