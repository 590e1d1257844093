"""How much evidence is enough: the gates that every learner's rules pass (design, validation)."""

from functools import lru_cache
from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95
MIN_GROUPS = 10
"""Informative groups that a rule needs."""
MAX_BAD_SHARE = 0.005
"""Upper bound of the share of bad groups that a rule with counterexamples may have."""


@lru_cache(maxsize=4096)
def upper_bound(bad: int, total: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided Clopper-Pearson upper bound of a share, 1.0 where nothing was seen.

    >>> round(upper_bound(0, 299), 4), round(upper_bound(0, 10), 3), upper_bound(0, 0)
    (0.01, 0.259, 1.0)
    """
    if bad >= total:
        return 1.0
    low, high = bad / total, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if _at_most(bad, total, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(bad: int, total: int, share: float) -> float:
    """Return the probability of at most *bad* successes in *total* trials."""
    if share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0
    return sum(
        exp(lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) + k * log(share) + (total - k) * log1p(-share))
        for k in range(bad + 1)
    )


def tolerable(bad: int, informative: int) -> bool:
    """Tell whether so many bad groups can be noise: none, or a share bounded by MAX_BAD_SHARE."""
    if bad == 0:
        return True
    if bad > MAX_BAD_SHARE * informative:
        return False
    return upper_bound(bad, informative) <= MAX_BAD_SHARE
