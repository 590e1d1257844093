"""Score of a place: the probability that what changes there is transient, from its features.

One logistic function in the place of rules. Its weights stand in ``place_weights.toml``, which says from what they were fitted.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from math import exp
from typing import Final

from .features import Features

__all__ = ["CONSTANT", "LEFT_OUT", "STRIPPED", "WEIGHED", "WEIGHTS_FILE", "Score", "probability", "shipped", "weighed"]

Score = Callable[[Features], float]

STRIPPED: Final = 0.88
"""Probability from which on what stands there is taken out of items: content that is lost is dearer than what stays."""
LEFT_OUT: Final = 0.8
"""Probability from which on pages are compared without it."""
WEIGHTS_FILE: Final = "place_weights.toml"
WEIGHED: Final = ("evidence", "random", "words", "near", "everywhere", "around")
"""The features that have weights; a new one counts for nothing until the file is written again."""
CONSTANT: Final = "constant"
"""The name of what is added whatever the features are."""


def probability(of: Features) -> float:
    """Return the probability (0 to 1) that a place with these features is transient."""
    return weighed(of, shipped())


def weighed(of: Features, weights: Mapping[str, float]) -> float:
    """Return the probability that a place is transient by some *weights*, of the features and of what is constant."""
    odds = weights[CONSTANT] + sum([weights.get(name, 0.0) * getattr(of, name) for name in WEIGHED])
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, float]:
    """Return the weights of the package's file."""
    import tomlkit  # here, since nothing but learning needs it

    text = files(__package__).joinpath(WEIGHTS_FILE).read_text(encoding="utf-8")
    found = tomlkit.parse(text).unwrap()["weights"]
    return {name: float(weight) for name, weight in found.items()}
