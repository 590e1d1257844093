"""Shares: their bounds, and how small one must be for a proposal to be made. Whether it acts says the judge."""

from functools import lru_cache
from math import lgamma

from ...chance import at_most
from ..config import current

CONFIDENCE = 0.95


@lru_cache(maxsize=4096)
def upper_bound(bad: int, total: int) -> float:
    """Return the one-sided Clopper-Pearson upper 95 % bound of a share, 1.0 where nothing was seen.

    >>> round(upper_bound(0, 299), 4), round(upper_bound(0, 10), 3), upper_bound(0, 0)
    (0.01, 0.259, 1.0)
    """
    if bad >= total:
        return 1.0
    low, high = bad / total, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if at_most(bad, total, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def of_any_share(some: int, total: int) -> float:
    """Return the log-likelihood that *some* of a *total* are such, each at its place, where any share of such is as likely.

    >>> from math import exp
    >>> round(exp(of_any_share(1, 2)), 3), round(exp(of_any_share(0, 9)), 3)
    (0.167, 0.1)
    """
    return lgamma(some + 1) + lgamma(total - some + 1) - lgamma(total + 2)


def worth_asking(bad: int, groups: int) -> bool:
    """Return whether so few of some groups are bad that a learner proposes what makes them; the judge decides.

    >>> worth_asking(1, 10), worth_asking(2, 10)
    (True, False)
    """
    return bad <= current().proposed_bad * groups
