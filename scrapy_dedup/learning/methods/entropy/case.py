"""Whether upper and lower case of a parameter matter.

Source: url-parameter-relevance, the passage on case sensitivity.
"""

from collections.abc import Hashable, Sequence

from ....urls.percent import lower_value
from .columns import Column, Value
from .information import conditional_entropy


def case_information(values: Column, fingerprints: Sequence[Hashable]) -> float:
    """Return H(F|lower(V)) - H(F|V), in bits: what the case adds to what is known of the page.

    >>> case_information(["video.mpg", "VIDEO.mpg"], [1, 1])
    0.0
    """
    lowered = [lowered_value(value) for value in values]
    return conditional_entropy(fingerprints, lowered) - conditional_entropy(fingerprints, values)


def lowered_value(value: Value) -> Value:
    """Return a value without its case information; percent-escapes stay as they are."""
    return lower_value(value) if isinstance(value, str) else value


def has_capitals(values: Column) -> bool:
    """Tell whether the values have any case information."""
    return any(value != lowered_value(value) for value in set(values))
