"""Score of a place: the probability that what changes there is transient, from its features.

One logistic function in place of rules: its weights were fitted to made-up sites with parts of a known nature, each part's
nature weighed alike, by ``python -m tests.benchmarks.places``.
"""

from collections.abc import Mapping
from math import exp

__all__ = ["LEFT_OUT", "STRIPPED", "probability"]

STRIPPED = 0.9
"""Probability of being transient from which on what stands there is taken out of items: content that is lost is dearer than what stays."""
LEFT_OUT = 0.5
"""Probability from which on pages are compared without it."""

WEIGHTS: Mapping[str, float] = {"anew": 1.06, "time": 4.54, "page": -3.62, "pool": 2.08, "number": -0.75, "token": 2.46, "words": 2.65, "near": -3.8, "everywhere": 3.19, "comes": 1.15, "1": -2.2}


def probability(features: Mapping[str, float]) -> float:
    """Return the probability (0 to 1) that a place with these features is transient."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, sum(WEIGHTS[name] * value for name, value in features.items()) + WEIGHTS["1"]))))
