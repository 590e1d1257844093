"""Near-duplicates: how many pages of a site are nearly, but not exactly, alike, by the simhash of what they show."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from simhash import Simhash, SimhashIndex
from xxhash import xxh3_64_digest

from .sketch import Sketch

__all__ = ["DISTANCE", "LIMIT", "NearDuplicates", "near_duplicates"]

DISTANCE: Final = 3
"""Bits, of 64, in which the simhash values of near-duplicates may differ (Manku, Jain and Das Sarma, "Detecting near-duplicates
for web crawling", WWW 2007)."""
LIMIT: Final = 2_000
"""Sketches that are compared at most."""
_COMPARISONS: Final = 100_000
"""The same of comparisons: where one template is most of every page, each would be compared with all others."""

# SimhashIndex tells its progress, and each big bucket, to the log.
_quiet = logging.getLogger(__name__ + ".index")
_quiet.setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """How many pages nearly are others: of *pages* different pages, *near* have a near-duplicate in the sample.

    Many of them mean that passing content (clocks, counters, rotating blocks) hides duplicates that exact fingerprints cannot
    see. Nothing is merged by it.
    """

    pages: int
    near: int

    @property
    def share(self) -> float:
        """Return the share of pages that have a near-duplicate."""
        return self.near / self.pages if self.pages else 0.0


def near_duplicates(sketches: Iterable[Sketch]) -> NearDuplicates:
    """Count the pages that differ in their words, but hardly.

    Pages with the same words in any order count once. At most :data:`LIMIT` pages are compared, chosen by their fingerprints, so
    that the same pages give the same figure; where very many are alike, fewer of them are looked up.
    """
    distinct = {sketch.bag: sketch for sketch in sketches if sketch.words}
    values = [(bag, _simhash(distinct[bag])) for bag in sorted(distinct)[:LIMIT]]
    index = SimhashIndex(values, k=DISTANCE, log=_quiet)
    pages = near = comparisons = 0
    for _, value in values:
        if comparisons > _COMPARISONS:
            break
        comparisons += sum(len(index.bucket[key]) for key in index.get_keys(value))
        pages += 1
        near += len(index.get_near_dups(value)) > 1
    return NearDuplicates(pages, near)


def _simhash(sketch: Sketch) -> Simhash:
    """Return the simhash of a page, each block weighing as much as it has words."""
    # Heavier features overflow in the package: it multiplies arrays of uint8.
    weights = {f"{block:x}": min(words, 50) for block, words in sketch.counted().items()}
    return Simhash(weights, hashfunc=xxh3_64_digest, log=_quiet)
