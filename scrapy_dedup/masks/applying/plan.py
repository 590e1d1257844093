"""A mask made ready to be applied: one look-up per block of a page."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..css_xpath import SUBTREE_SUFFIX
from ..ranges import merged
from ..slots import ANYTHING, Slot, hidden, pieces
from ..words import has_digit, is_typed

if TYPE_CHECKING:
    from ...content.tokenizer.tokens import Block
    from ..path import TransientPath

Row = tuple[str, str, str]
"""(selector, attribute, text) of a block."""

Ranges = Sequence[tuple[int, int]]
"""Ranges of the pieces of a text that are hidden; an empty one stands for the whole text."""

_ids_and_classes = re.compile(r"[#.][^/]*").sub


@dataclass(frozen=True, slots=True)
class PathPlan:
    """A mask path compiled: which ranges of a text at its selector it hides.

    The fields are those of :class:`scrapy_dedup.masks.path.TransientPath`.
    """

    selector: str
    attribute: str
    slot: Slot | None
    position: int
    of: int
    templates: frozenset[tuple[object, ...]] = frozenset()
    typed: bool = False
    everywhere: bool = False
    excepted: frozenset[tuple[object, ...]] = frozenset()
    untested: frozenset[tuple[object, ...]] = frozenset()
    #: Whether a text that is explained by its slot is hidden with the literal words: nothing else stands there.
    whole: bool = False
    #: Whether it acts on pages, too, on which nothing was seen to change.
    at_once: bool = False
    #: Words that are hidden like numbers.
    words: frozenset[str] = frozenset()

    def ranges(self, text: str, page: "PageKind") -> Ranges | None:
        """Return the hidden ranges of *text*, which is on a *page*; None for none."""
        # Where it was seen to change, it is known what stands there.
        needs_digit = self.typed and not (page.is_known and (self.slot is not None or self.of or not self.position))
        if self.slot is None and needs_digit and not has_digit(text):
            return None
        found = pieces(text, self.attribute)
        if self.slot is None or (page.is_carried and page.template in self.untested):
            # Pages are told apart by the words: "12 visitors", "12 Besucher".
            transient = [is_typed(piece) or piece in self.words for piece in found]
            if not (self.typed and self.whole) or all(transient):
                return ()
            return [(at, at + 1) for at, passes in enumerate(transient) if passes] or None
        ranges = hidden(found, self.slot, self.attribute)
        if not ranges:
            return None
        if needs_digit and not any(has_digit(piece) for start, end in ranges for piece in found[start:end]):
            return None
        return () if self.whole and not any(ANYTHING in literal.split() for literal in self.slot) else ranges

    def acts_on(self, page: "PageKind") -> bool:
        """Return whether it hides anything of a page."""
        if self.everywhere:
            if page.template in self.excepted or (page.template in self.untested and not page.is_carried):
                return False
            return self.at_once or page.is_known
        if self.templates:
            return page.template in self.templates and (self.at_once or page.is_known)
        return page.is_seen


@dataclass(frozen=True, slots=True)
class PageKind:
    """What a plan must know of a page beside its texts.

    ``template`` is its URL template, None if its URL is unknown. ``is_seen``: pages of this template were seen in two
    versions. ``is_verified``: if not, a page with the same places was. ``is_carried``: what was learned on pages of other
    templates is taken to hold on it, too.
    """

    template: tuple[object, ...] | None = None
    is_seen: bool = True
    is_verified: bool = False
    is_carried: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it was seen what changes on such pages."""
        return self.is_seen or self.is_verified


@dataclass(slots=True)
class _PathsAtPlace:
    """The paths of one selector and attribute."""

    anywhere: list[PathPlan] = field(default_factory=list)
    numbered: dict[tuple[int, int], PathPlan] = field(default_factory=dict)

    def paths(self, number: int, of: int) -> list[PathPlan]:
        """Return the paths of one of so many blocks."""
        if not self.numbered:
            return self.anywhere
        keys = ((number, of), (number, 0), (number - of - 1, 0))
        return [*self.anywhere, *[self.numbered[key] for key in keys if key in self.numbered]]


class Plan:
    """Which blocks of a page are hidden, by their selectors.

    A selector that ends in :data:`scrapy_dedup.masks.css_xpath.SUBTREE_SUFFIX` is made of the names of tags, and what stands in such an element is hidden, at
    any depth, as the transient-content document has it; but not at the (selector, attribute) that are *kept*. With *again*,
    what is left of a page may be given to it again, and nothing more is hidden then.
    """

    def __init__(self, paths: Iterable[PathPlan], *, kept: Iterable[tuple[str, str]] = (), again: bool = True) -> None:
        paths, kept = list(paths), list(kept)
        self._places: dict[tuple[str, str], _PathsAtPlace] = {}
        #: The paths below which all is hidden, and those below which nothing is.
        self.roots = Roots(path.selector for path in paths)
        self.kept_roots = Roots(selector for selector, _ in kept)
        self._kept = frozenset(kept)
        for path in paths:
            if path.selector.endswith(SUBTREE_SUFFIX):
                continue
            place = self._places.setdefault((path.selector, path.attribute), _PathsAtPlace())
            if path.position:
                place.numbered[path.position, path.of] = path
            else:
                place.anywhere.append(path)
        if again:
            for place in self._places.values():
                _settle(place)
        self._selectors = frozenset(selector for selector, _ in self._places)

    def __bool__(self) -> bool:
        """Return whether it hides anything."""
        return bool(self._places or self.roots)

    def hidden(self, rows: Iterable[Row], page: PageKind) -> Mapping[int, Ranges]:
        """Return the hidden ranges of each row of which something is hidden, by its index.

        Where the URL of the *page* is unknown, paths that are true of some URL templates only hide nothing.
        """
        if self.roots:
            rows = list(rows)
            below = {place for place in {row[:2] for row in rows} if self.is_below(*place)}
            found: dict[int, Ranges] = {index: () for index, row in enumerate(rows) if row[:2] in below}
            return {**self._at_places(rows, page), **found}
        return self._at_places(rows, page)

    def _at_places(self, rows: Iterable[Row], page: PageKind) -> dict[int, Ranges]:
        places, selected = self._places, self._selectors
        # Of most rows no more than the selector is looked at.
        own = [
            (index, key, row[2]) for index, row in enumerate(rows) if row[0] in selected and (key := row[:2]) in places
        ]
        counts = Counter([key for _, key, _ in own])
        seen: Counter[tuple[str, str]] = Counter()
        found: dict[int, Ranges] = {}
        for index, key, text in own:
            seen[key] += 1
            paths = places[key].paths(seen[key], counts[key])
            ranges = _united([path.ranges(text, page) for path in paths if path.acts_on(page)])
            if ranges is not None:
                found[index] = ranges
        return found

    def is_below(self, selector: str, attribute: str = "") -> bool:
        """Return whether what stands at a place is hidden since it is below a root."""
        path = _ids_and_classes("", selector)
        kept = (selector, attribute) in self._kept or self.kept_roots.holds(path)
        return not kept and self.roots.holds(path)

    def lasting_in(self, blocks: Iterable["Block"]) -> list[tuple[int, int]]:
        """Return the spans of the blocks that are kept although they are below a root."""
        if not self._kept:
            return []
        return [
            (block.start, block.end)
            for block in blocks
            if self.roots.holds(_ids_and_classes("", block.selector))
            and not self.is_below(block.selector, block.attribute)
        ]


class Roots:
    """Paths of tag names that mean everything below them."""

    def __init__(self, selectors: Iterable[str]) -> None:
        self.paths = frozenset(
            [each.removesuffix(SUBTREE_SUFFIX) for each in selectors if each.endswith(SUBTREE_SUFFIX)]
        )
        self._longest = max(map(len, self.paths), default=0)

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.paths)

    def holds(self, path: str) -> bool:
        """Return whether a path is one of them, or below one."""
        at = path.find("/")
        while 0 < at <= self._longest:
            if path[:at] in self.paths:
                return True
            at = path.find("/", at + 1)
        return path in self.paths


def _settle(place: _PathsAtPlace) -> None:
    """Drop numbered paths that would act again on a page that others have acted on.

    Without the two of five blocks that pass a page has three, which must not be taken for a page of three.
    """
    removed = Counter([of for (_, of), path in place.numbered.items() if path.slot is None and of])
    spent: set[int] = {0} if removed else set()
    for of in sorted(removed, reverse=True):
        if of not in spent:
            spent.update(range(of - removed[of], of))
    place.numbered = {
        at: path
        for at, path in place.numbered.items()
        if at[1] not in spent and (at[1] or path.slot is not None or path.typed)
    }


def _united(found: Sequence[Ranges | None]) -> Ranges | None:
    some = [ranges for ranges in found if ranges is not None]
    if not some:
        return None
    if not all(some):
        return ()
    if len(some) == 1:
        return some[0]
    return merged(pair for ranges in some for pair in ranges)


def plan_of(path: "TransientPath", *, whole: bool) -> PathPlan:
    """Return what a path of a mask hides; *whole* where pages are compared."""
    place = path.selector, path.attribute, path.slot, path.position, path.of
    templates, excepted, untested = map(frozenset, (path.templates, path.excepted, path.untested))
    # Where nothing was seen to change it may be the page's own, and nothing is taken out of items but what the user says.
    at_once = path.typed and (whole or path.state == "strip")
    words = frozenset(path.words)
    return PathPlan(*place, templates, path.typed, path.everywhere, excepted, untested, whole, at_once, words)


def plan_for(paths: Iterable["TransientPath"], kept: Iterable[tuple[str, str]] = (), *, whole: bool = False) -> Plan:
    """Return the plan of some paths of a mask, without *kept* places; *whole* for comparing pages."""
    return Plan([plan_of(path, whole=whole) for path in paths], kept=kept, again=not whole)
