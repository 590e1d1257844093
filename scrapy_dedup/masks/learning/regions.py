"""Regions of a page: how much of what is the page's own stands in the same one as a place.

A *region* is what stands in one child of the innermost element that holds all of a page's texts: header, contents,
sidebar, footer. What changes among the page's own texts may be theirs (whether a thing is to be had); what stands apart from
them is rather the site's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet

from ...content.versions import Version
from .evidence import Place

__all__ = ["nearness"]


def nearness(version: Version, changing: AbstractSet[Place], is_own: Callable[[str], bool]) -> Mapping[Place, float]:
    """Return for each place that is *changing* the share (0 to 1) of the page's own words, of those that last, in its region.

    *is_own* tells whether a text is that of a page, and not the site's. The title is in no region. On a page without any
    text of its own nothing is told. Linear in the blocks.
    """
    texts = [row for row in version.blocks if not row[1] and row[0].rpartition("/")[2] != "title"]
    steps = {selector: selector.split("/") for selector, _, _ in version.blocks}
    depth = _shared({selector: steps[selector] for selector, _, _ in texts}.values())

    def region(selector: str) -> str:
        # Texts that stand right in the frame, or each in an element of its own there, are beside each other.
        parts = steps[selector]
        return "/".join(parts[: depth + 1]) if len(parts) > depth + 1 else ""

    own: Counter[str] = Counter()
    places: set[Place] = set()
    for selector, attribute, text in version.blocks:
        if (selector, attribute) in changing:
            places.add((selector, attribute))
        elif not attribute and selector.rpartition("/")[2] != "title" and is_own(text):
            own[region(selector)] += len(text.split())
    total = own.total()
    return {place: own[region(place[0])] / total for place in places} if total else {}


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
