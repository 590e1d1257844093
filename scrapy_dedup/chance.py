"""Chances that everything asks about: how likely so few of so many are."""

from math import exp, lgamma, log, log1p

__all__ = ["at_most"]


def at_most(bad: int, total: int, share: float) -> float:
    """Return the probability of at most *bad* successes in *total* trials.

    >>> round(at_most(0, 10, 0.1), 3)
    0.349
    """
    if share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0
    chance = 0.0
    for k in range(bad, -1, -1):
        ways = lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1)
        fresh = exp(ways + k * log(share) + (total - k) * log1p(-share))
        chance += fresh
        if k < share * total and fresh < 1e-12 * chance:  # the others are smaller still
            break
    return chance
