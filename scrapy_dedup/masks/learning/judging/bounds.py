"""How sure it is that something changes as often as what passes does."""

from functools import lru_cache

from ....chance import at_most

__all__ = ["CONFIDENCE", "confidence", "is_rare"]

CONFIDENCE = 0.90
"""What passes must be so sure to; what is less sure to, and may, is undecided."""
_MOST = 400
"""Trials that are told apart: more say no more."""


@lru_cache(maxsize=8192)
def confidence(changes: float, opportunities: int, threshold: float) -> float:
    """Return the probability that a share of changes is over *threshold*, by Beta(1 + changes, 1 + the others).

    The lower 90 % bound of the share is over the threshold where this is over 0.90.

    >>> [round(confidence(n, n, 0.25), 2) for n in (0, 1, 2)]
    [0.75, 0.94, 0.98]
    """
    if opportunities > _MOST:
        changes *= _MOST / opportunities
        opportunities = _MOST
    return at_most(int(changes), opportunities + 1, threshold)


def is_rare(changes: float, opportunities: int, threshold: float) -> bool:
    """Whether it is as sure that the share of changes is *under* the threshold."""
    return confidence(changes, opportunities, threshold) <= 1 - CONFIDENCE
