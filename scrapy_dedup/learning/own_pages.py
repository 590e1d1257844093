"""Whether two URLs show pages of their own, or one page that hardly differs from itself.

A clock, a counter or an advertisement leaves most of a page as it was. What shares less than half of what is its own
with the page beside it (:mod:`..content.resemblance`) is no such noise, however rare it may be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from ..content.resemblance import Difference, difference
from ..content.sketch import Sketch

MAX_PAGES = 2_000
"""Different pages of a site whose sketches are kept."""
OTHERS = 24
"""Pages of the site that tell what is its template."""


@dataclass(frozen=True, slots=True)
class OwnPages:
    """The sketches of some pages of a site, by a URL of each in normal form."""

    sketches: Mapping[str, Sketch] = field(default_factory=dict)
    _asked: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        """Whether any sketch is kept."""
        return bool(self.sketches)

    def are_apart(self, one: str, other: str) -> bool:
        """Tell whether two URLs are known to show pages that differ clearly; False where nobody can tell."""
        if one not in self.sketches or other not in self.sketches:
            return False
        pair = (one, other) if one < other else (other, one)
        if pair not in self._asked:
            left, right = self.sketches[pair[0]], self.sketches[pair[1]]
            found = difference(left, right, list(islice(self._others(left, right), OTHERS)))
            self._asked[pair] = found is Difference.CLEAR
        return self._asked[pair]

    def _others(self, one: Sketch, other: Sketch) -> Iterator[Sketch]:
        step = len(self.sketches) // (2 * OTHERS) + 1
        for sketch in islice(self.sketches.values(), 0, None, step):
            if sketch.bag not in (one.bag, other.bag):
                yield sketch
