"""The places of a mask, and what they hide of a page: where pages are compared, and where it is stripped of them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final, Literal

from ..pages.blocks import JSON, Row
from ..pages.tokens import Block, blocks_with_offsets
from ..pages.unseen import is_unseen
from ..pages.versions import by_place
from .kinds import kind_of, matches, path_of
from .selectors import ALL, Selects, css_of, is_path, named_in, said_of
from .slots import ANYTHING, Ranges, Slot, hidden, is_typed, merged, pieces
from .token_changes import changed_paths

__all__ = ["Act", "Place", "Plan", "State", "acts_on", "ranges_of"]

Act = Literal["strip", "compare"]
State = Literal["", "keep", "strip"]

_MOST_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """A place on the pages of a site where what stands there does not last: texts of elements, or values of their attributes."""

    #: That of rows, or CSS that a user wrote (see :mod:`.selectors`).
    selector: str
    attribute: str = ""
    #: Which of the rows with this selector and attribute: from 1 for the first, from -1 for the last; 0 for all.
    position: int = 0
    #: The literal words around what changes; None: all of it.
    slot: Slot | None = None
    #: Whether only what is made of numbers, codes and words of the calendar is hidden.
    typed: bool = False
    #: "strip": pages are compared without it, and items lose it. "compare": pages are compared without it, items keep it
    #: (a stock figure, a rating).
    act: Act = "strip"
    #: Kinds of pages (path patterns) on which alone it acts; none: all. And those where it does not, as was learned.
    on: tuple[str, ...] = ()
    not_on: tuple[str, ...] = ()
    #: Those where it does not since the user says so, whatever is learned.
    never_on: tuple[str, ...] = ()
    #: What the user says: "keep" (never touched, whatever is learned), "strip" (always), or nothing.
    state: State = ""
    #: What it rests on: changes seen, pairs of responses in which it could have changed, and pages.
    changes: int = 0
    opportunities: int = 0
    pages: int = 0
    #: What stood there before a change and after it, secrets blotted out.
    example: tuple[str, str] | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells one place of a mask from another, as its file says it."""
        return *said_of(self.selector, self.attribute), self.position

    @property
    def meant(self) -> slice:
        """Which of the rows with this selector and attribute are meant."""
        first = self.position - (self.position > 0)
        return slice(first, first + 1 or None) if self.position else slice(None)

    @property
    def css(self) -> str:
        """A CSS selector, for parsel."""
        return css_of(self.selector, self.attribute)

    @property
    def does(self) -> tuple[object, ...]:
        """All that makes a difference to pages."""
        return *self.key, self.slot, self.typed, self.act, self.on, self.not_on, self.never_on, self.state


def acts_on(place: Place, url: str | None) -> bool:
    """Return whether a place acts on the page at *url*; on one at an unknown URL it does where it does on all."""
    never = place.not_on + place.never_on
    if url is None or not (place.on or never):
        return not place.on
    kind, path = kind_of(url), path_of(url)
    is_on, is_not_on = (any(matches(each, kind, path) for each in patterns) for patterns in (place.on, never))
    return not is_not_on and (is_on or not place.on)


def ranges_of(place: Place, row: Row, *, comparing: bool) -> Ranges | None:
    """Return the ranges of a row's text that a place hides; None for none.

    Where pages are compared no word stays of what is explained: a page that lacks a visitor counter is one that has it.
    """
    _, attribute, text = row
    found = pieces(text, attribute)
    if place.slot is None:
        typed = [at for at, piece in enumerate(found) if not place.typed or is_typed(piece)]
        return () if len(typed) == len(found) else [(at, at + 1) for at in typed] or None
    ranges = hidden(found, place.slot, attribute)
    if not ranges or (place.typed and not any(map(is_typed, [each for a, b in ranges for each in found[a:b]]))):
        return None
    return () if comparing and not any(ANYTHING in literal.split() for literal in place.slot) else ranges


class Plan:
    """The places of a mask ready to be applied: where pages are compared, or where they are stripped."""

    def __init__(self, places: Sequence[Place], *, comparing: bool) -> None:
        self._comparing = comparing
        self.places = [place for place in places if place.state or comparing or place.act == "strip"]
        self._paths: dict[tuple[str, str], list[int]] = {}
        self._selecting: list[tuple[int, tuple[str, str], Selects]] = []
        #: How many elements the longest path leads through whose whole contents are meant.
        self._deepest = 0
        for number, place in enumerate(self.places):
            css, part = said = said_of(place.selector, place.attribute)
            # What a user has spoken of means what its CSS means, whatever the other classes of an element.
            if is_path(css) and (not place.state or place.selector.startswith(("html/", JSON))):
                self._paths.setdefault(said, []).append(number)
                self._deepest = max(self._deepest, (css.count(" > ") + 2) * (place.attribute == ALL))
            else:
                self._selecting.append((number, (named_in(place.attribute)[0], part), Selects(css)))
        self._numbers = lru_cache(_MOST_REMEMBERED)(self._numbers_of)

    def applies_to(self, url: str | None) -> bool:
        """Return whether it may hide something of the page at *url*; of one at an unknown URL it may."""
        return any(place.state != "keep" and (url is None or acts_on(place, url)) for place in self.places)

    def hidden(self, rows: Iterable[Row], url: str | None) -> dict[int, Ranges]:
        """Return the hidden ranges of each row of which something is hidden, by its index."""
        rows = list(rows)
        acting = [(place, indices) for place, indices in self.standing(rows) if acts_on(place, url)]
        kept = {index for place, indices in acting if place.state == "keep" for index in indices}
        found = defaultdict[int, list[Ranges]](list)
        for place, index in [(place, index) for place, indices in acting for index in indices if index not in kept]:
            ranges = ranges_of(place, rows[index], comparing=self._comparing)
            if ranges is not None:
                found[index].append(ranges)
        return {
            index: merged([pair for each in ranges for pair in each]) if all(ranges) else ()
            for index, ranges in sorted(found.items())
        }

    def standing(self, rows: Sequence[Row]) -> list[tuple[Place, list[int]]]:
        """Return the places that a page has, each with the indices of its rows, whatever its kind and its texts."""
        indices = defaultdict[int, list[int]](list)
        for index, (selector, attribute, _) in enumerate(rows):
            for number in self._numbers(selector, attribute):
                indices[number].append(index)
        standing = [(self.places[number], own) for number, own in sorted(indices.items())]
        return [(place, own[place.meant]) for place, own in standing]

    def _numbers_of(self, selector: str, attribute: str) -> tuple[int, ...]:
        """Return the numbers of the places of rows with this selector and attribute."""
        name, _, _, part = named_in(attribute)
        found = list(self._paths.get(said_of(selector, attribute), ()))
        for number, meant, selects in self._selecting:
            if meant in ((ALL, ""), (name, part)) and selects(selector, attribute, inside=meant[0] == ALL):
                found.append(number)
        steps = selector.split("/", self._deepest)[: self._deepest]
        for path in accumulate([re.split("[#.]", step, maxsplit=1)[0] for step in steps], "{}/{}".format):
            found += self._paths.get((css_of(path, ALL), ""), ())
        return tuple(found)

    def on_page(
        self, html: str, url: str | None, *, other: str | None = None, shown: bool = False
    ) -> tuple[list[Block], Mapping[int, Ranges]]:
        """Return the rows of a page with their offsets, and what is hidden of each, by its index.

        Where there is an *other* version of the page, only where the two differ; a path of the transient-content document differs
        as a whole, as :func:`.token_changes.changed_paths` finds it. *shown*: of texts, addresses of links and values of forms alone.
        """
        blocks = [block for block in blocks_with_offsets(html) if not (shown and is_unseen(block.attribute))]
        rows = [block[:3] for block in blocks]
        found = self.hidden(rows, url)
        if other is None or not found:
            return blocks, found
        before, now = by_place([block[:3] for block in blocks_with_offsets(other)]), by_place(rows)
        standing = [each for each in self.standing(rows) if each[0].attribute == ALL and not each[0].state]
        changed = changed_paths(html, other, {place.css for place, _ in standing}) if standing else set()
        differs = {at: place.css in changed for place, indices in standing for at in indices}
        return blocks, {
            at: each for at, each in found.items() if differs.get(at, now[rows[at][:2]] != before.get(rows[at][:2]))
        }
