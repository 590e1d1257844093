"""Score of a place: the probability that what changes there is transient, from its features.

One logistic function in the place of rules. Its weights were fitted to made-up sites with parts of a known nature, each nature
weighed alike, by ``python -m tests.benchmarks.place_weights``, which prints how well they do on sites, and on natures, left out.
"""

from math import exp
from typing import Final

from .features import Features

__all__ = ["LEFT_OUT", "STRIPPED", "probability"]

STRIPPED: Final = 0.95
"""Probability from which on what stands there is taken out of items: content that is lost is dearer than what stays."""
LEFT_OUT: Final = 0.8
"""Probability from which on pages are compared without it."""

EVIDENCE, RANDOM, WORDS, NEAR, EVERYWHERE, AROUND, ANY = 1.74, 3.31, 1.83, -1.25, 2.49, 2.23, -1.8


def probability(of: Features) -> float:
    """Return the probability (0 to 1) that a place with these features is transient."""
    odds = ANY + EVIDENCE * of.evidence + RANDOM * of.random
    odds += WORDS * of.words + NEAR * of.near + EVERYWHERE * of.everywhere + AROUND * of.around
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))
