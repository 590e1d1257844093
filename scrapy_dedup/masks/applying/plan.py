"""A mask made ready to be applied: one look-up per block of a page, and the pages on which it acts."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xxhash import xxh3_64_hexdigest

from ...urls.templates import template_of
from ..css_xpath import SUBTREE_SUFFIX
from ..ranges import merged
from ..slots import ANYTHING, hidden, pieces
from ..words import has_digit, is_typed

if TYPE_CHECKING:
    from ...content.tokenizer.tokens import Block
    from ...content.versions import Version
    from ..path import Template, TransientPath

Row = tuple[str, str, str]
"""(selector, attribute, text) of a block."""

Ranges = Sequence[tuple[int, int]]
"""Ranges of the pieces of a text that are hidden; an empty one stands for the whole text."""

_ids_and_classes = re.compile(r"[#.][^/]*").sub


class PathPlan:
    """A path of a mask, ready to be applied; *whole* where pages are compared: then of what is explained no word stays."""

    __slots__ = ("_templates", "at_once", "excepted", "path", "untested", "whole")

    def __init__(self, path: "TransientPath", *, whole: bool) -> None:
        self.path = path
        self.whole = whole
        self._templates, self.excepted, self.untested = map(frozenset, (path.templates, path.excepted, path.untested))
        # Where nothing was seen to change it may be the page's own, and nothing is taken out of items but what the user says.
        self.at_once = path.typed and (whole or path.state == "strip")

    def ranges(self, text: str, page: "PageKind") -> Ranges | None:
        """Return the hidden ranges of *text*, which is on a *page*; None for none."""
        path, slot = self.path, self.path.slot
        # Where it was seen to change, it is known what stands there.
        needs_digit = path.typed and not (page.is_known and (slot is not None or path.of or not path.position))
        if slot is None and needs_digit and not has_digit(text):
            return None
        found = pieces(text, path.attribute)
        if slot is None or (page.is_carried and page.template in self.untested):
            # Pages are told apart by the words: "12 visitors", "12 Besucher".
            transient = [is_typed(piece) or piece in path.words for piece in found]
            if not (path.typed and self.whole) or all(transient):
                return ()
            return [(at, at + 1) for at, passes in enumerate(transient) if passes] or None
        ranges = hidden(found, slot, path.attribute)
        if not ranges:
            return None
        if needs_digit and not any(has_digit(piece) for start, end in ranges for piece in found[start:end]):
            return None
        return () if self.whole and not any(ANYTHING in literal.split() for literal in slot) else ranges

    def acts_on(self, page: "PageKind") -> bool:
        """Return whether it hides anything of a page."""
        if self.path.everywhere:
            if page.template in self.excepted or (page.template in self.untested and not page.is_carried):
                return False
            return self.at_once or page.is_known
        if self._templates:
            return page.template in self._templates and (self.at_once or page.is_known)
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
    any depth, as the transient-content document has it; but not at the (selector, attribute) that are *kept*. It is *whole*
    where pages are compared; else what is left of a page may be given to it again, and nothing more is hidden then.
    """

    def __init__(
        self, paths: Sequence["TransientPath"], kept: Sequence[tuple[str, str]] = (), *, whole: bool = False
    ) -> None:
        self._places: dict[tuple[str, str], _PathsAtPlace] = {}
        #: The paths below which all is hidden, and those below which nothing is.
        self.roots = Roots(path.selector for path in paths)
        self.kept_roots = Roots(selector for selector, _ in kept)
        self._kept = frozenset(kept)
        for path in paths:
            if path.selector.endswith(SUBTREE_SUFFIX):
                continue
            place = self._places.setdefault((path.selector, path.attribute), _PathsAtPlace())
            plan = PathPlan(path, whole=whole)
            if path.position:
                place.numbered[path.position, path.of] = plan
            else:
                place.anywhere.append(plan)
        if not whole:
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
    removed = Counter([of for (_, of), plan in place.numbered.items() if plan.path.slot is None and of])
    spent: set[int] = {0} if removed else set()
    for of in sorted(removed, reverse=True):
        if of not in spent:
            spent.update(range(of - removed[of], of))
    place.numbered = {
        at: plan
        for at, plan in place.numbered.items()
        if at[1] not in spent and (at[1] or plan.path.slot is not None or plan.path.typed)
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


class Reach:
    """The pages on which the paths *acting* act.

    *templates* and *layouts* are those of the mask: kinds of pages of which some were seen in two versions.
    """

    def __init__(
        self, acting: Sequence["TransientPath"], templates: AbstractSet["Template"], layouts: AbstractSet[str]
    ) -> None:
        self.acting = acting
        self._templates = templates
        self._layouts = layouts
        self._selectors = frozenset([path.selector for path in acting if not path.selector.endswith(SUBTREE_SUFFIX)])
        #: Whether something acts on URL templates of any name, and those on which something does.
        self._is_everywhere = any(path.everywhere for path in acting)
        self._reached = templates | {template for path in acting for template in path.templates}
        #: Those where it is not known whether something is to act.
        self._untested = frozenset(template for path in acting for template in path.untested)

    def applies_to(self, url: str | None) -> bool:
        """Return whether something may act on the page at *url*; on that of an unknown URL it may."""
        if not self.acting:
            return False
        return url is None or not self._templates or self._is_everywhere or template_of(url) in self._reached

    def layout(self, rows: Iterable[Row]) -> str:
        """Return a digest of the places of a page, without those where something may act: 16 hexadecimal digits."""
        found = sorted({row[0] for row in rows if not row[1]} - self._selectors)
        return xxh3_64_hexdigest("\n".join(found).encode("utf-8", "surrogatepass"))

    def is_verified(self, version: "Version", url: str | None) -> bool:
        """Return whether it was seen what changes on pages of the URL template of a page, or with the same places, and nothing is untested."""
        page = self.kind(version.blocks, url)
        return page.is_known and page.template not in self._untested

    def kind(self, rows: Sequence[Row], url: str | None, *, carried: bool = False) -> PageKind:
        """Return what plans must know of a page; what was learned elsewhere is true of it, too, where it is *carried*."""
        if url is None:
            return PageKind()
        template = template_of(url)
        if not self._templates or template in self._templates:
            return PageKind(template, is_carried=carried)
        verified = carried or (bool(self._layouts) and self.layout(rows) in self._layouts)
        return PageKind(template, is_seen=False, is_verified=verified, is_carried=carried)
