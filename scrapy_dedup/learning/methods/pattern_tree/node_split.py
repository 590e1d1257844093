"""Which key a node is split by, and which of its values are salient (pattern-tree, section 5.1)."""

from dataclasses import dataclass
from itertools import pairwise
from math import log, log2, sqrt

import numpy as np
import numpy.typing as npt

from ...evidence.arrays import ABSENT, Codes
from ..pattern_tree_gaps import PatternTreeChoices

MIN_RATIO = 3.0
MIN_SIGMAS = 3.0
MIN_SHARE = 0.1
MIN_FREQUENCY = 30
MIN_COVERAGE = 0.5
"""Share of URLs that have a key; below it the key is optional, and split by last."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of one key in one node: codes and frequencies, the most frequent first.

    ``total`` is the number of URLs, ``absent`` of those without the key.
    """

    key: str
    codes: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.intp]
    total: int

    @property
    def absent(self) -> int:
        """The number of URLs that do not have the key."""
        return self.total - int(self.frequencies.sum())

    @property
    def constant(self) -> bool:
        """Whether every URL has the key, and with the same value."""
        return len(self.frequencies) == 1 and self.absent == 0


def distribution(key: str, codes: Codes) -> Distribution:
    """Return the values of a key, given its code in each URL of a node."""
    values, counts = np.unique(codes, return_counts=True)
    present = values != ABSENT
    values, counts = values[present], counts[present]
    order = np.lexsort((values, -counts))
    return Distribution(key, values[order], counts[order], len(codes))


def entropy(frequencies: npt.ArrayLike, total: int) -> float:
    """Return equation 4 in bits: the sum of -v/N log v/N over the values of a key.

    >>> entropy([2, 2], 4), entropy([4], 4)
    (1.0, 0.0)
    >>> round(entropy([1] * 100, 10_000), 2) # a rare key: absence is no value in the paper
    0.13
    """
    shares = np.asarray(frequencies, dtype=float) / total
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def choice(found: Distribution, options: PatternTreeChoices) -> tuple[object, ...]:
    """Return by what keys are put in order: the least is split first.

    In the paper's way the entropy alone. Otherwise path length first and keys that most URLs lack
    last; the entropy, absence being a value, is relative to that of as many equally frequent values.
    """
    length_later = options.depth != "length first" or found.key != "path.len"
    if options.key_choice == "entropy":
        return length_later, round(entropy(found.frequencies, found.total), 9), found.key
    counts = [*found.frequencies, found.absent] if found.absent else found.frequencies
    relative = entropy(counts, found.total) / log2(1 + len(counts))
    rare = found.absent > (1 - MIN_COVERAGE) * found.total
    return length_later, rare, round(relative, 9), not found.key.startswith("path."), found.key


def decline(frequencies: npt.ArrayLike, how: str = "drop") -> int | None:
    """Return the number of values before the decline of a descending curve, None without one.

    Equation 5 takes the maximum of ``log f(i) - log f(i-1)``; on descending frequencies that is never
    above zero, so that as printed ("printed") it picks the smallest drop. "drop" takes the largest;
    "significant" the largest by which a value is three times as frequent and three deviations away.

    >>> curve = [900, 850, 800, 60, 15, 1]
    >>> decline(curve, "printed"), decline(curve, "drop"), decline(curve, "significant")
    (1, 5, 3)
    >>> decline([3, 3, 2, 2, 1, 1], "drop"), decline([3, 3, 2, 2, 1, 1], "significant")
    (4, None)
    """
    counts = [float(count) for count in np.asarray(frequencies)]
    if len(counts) < 2:
        return len(counts) or None
    drops = [log(high) - log(low) for high, low in pairwise(counts)]
    if how == "printed":
        return drops.index(min(drops)) + 1
    if how == "significant":
        deviations = (sqrt(1 / high + 1 / low) for high, low in pairwise(counts))
        drops = [
            drop if drop >= log(MIN_RATIO) and drop >= MIN_SIGMAS * deviation else 0.0
            for drop, deviation in zip(drops, deviations, strict=True)
        ]
    largest = max(drops)
    return drops.index(largest) + 1 if largest > 0 else None


def salient_values(found: Distribution, options: PatternTreeChoices) -> npt.NDArray[np.int32]:
    """Return the codes of the salient values of a key: those before the decline."""
    counts = found.frequencies
    alone = len(counts) == 1 and options.without_decline == "frequent"
    number = None if alone else decline(counts, options.decline)
    if number is None:
        if options.without_decline == "trivial":
            return found.codes[:0]
        frequent = (counts >= MIN_SHARE * found.total) & (counts >= max(MIN_FREQUENCY, sqrt(found.total)))
        return found.codes[frequent]
    return found.codes[:number]
