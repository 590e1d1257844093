"""The frame of a page: what stands around all that is the page's own, and apart from it.

A *region* is what stands in one child of the innermost element that holds all of a page's texts: header, contents,
sidebar, footer. What changes among the page's own texts may be theirs (whether a thing is to be had); what stands
before the first of them or after the last, in a region without them, is the site's.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ...content.versions import Version
from .evidence import Place

__all__ = ["Frame", "frame_of"]


@dataclass(frozen=True, slots=True)
class Frame:
    """Which places of a version come before all of the page's own texts, and which after them all.

    ``near`` has for each place the share of the page's own words that stand in its region, from 0 to 1.
    """

    leading: frozenset[Place]
    trailing: frozenset[Place]
    near: dict[Place, float]


def frame_of(version: Version, changing: AbstractSet[Place], is_own: Callable[[str], bool]) -> Frame:
    """Return where the places that are *changing* stand among the texts of the page's own that last.

    *is_own* tells whether a text is that of a page, and not the site's. The title stands for none. On a page without any
    text of its own nothing leads or trails: nothing tells the site's texts from the page's. Linear in the blocks.
    """
    texts = [row for row in version.blocks if not row[1] and row[0].rpartition("/")[2] != "title"]
    steps = {selector: selector.split("/") for selector, _, _ in version.blocks}
    depth = _shared({selector: steps[selector] for selector, _, _ in texts}.values())

    def region(selector: str) -> str:
        # Texts that stand right in the frame, or each in an element of its own there, are beside each other.
        parts = steps[selector]
        return "/".join(parts[: depth + 1]) if len(parts) > depth + 1 else ""

    own: Counter[str] = Counter()
    leading: set[Place] = set()  # before the first text of its own
    between: set[Place] = set()
    trailing: set[Place] = set()  # after the last one so far
    for selector, attribute, text in version.blocks:
        place = selector, attribute
        if place in changing:
            (trailing if own else leading).add(place)
        elif not attribute and selector.rpartition("/")[2] != "title" and is_own(text):
            own[region(selector)] += len(text.split())
            between |= trailing
            trailing.clear()
    total = own.total()
    if not total:
        return Frame(frozenset(), frozenset(), {})
    near = {place: own[region(place[0])] / total for place in leading | between | trailing}
    return Frame(frozenset(leading - between - trailing), frozenset(trailing - between - leading), near)


def _shared(paths: Iterable[list[str]]) -> int:
    """Return the number of steps that all paths begin with."""
    paths = list(paths)
    if not paths:
        return 0
    first, last = min(paths), max(paths)  # in the order of lists, what these share all do
    depth = 0
    while depth < min(len(first), len(last)) and first[depth] == last[depth]:
        depth += 1
    return depth
