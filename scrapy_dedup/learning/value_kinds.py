"""Kinds of values: what those of a key look like says how likely it names a page, and how alike a site's sections are in it."""

import re
from enum import Enum

import numpy as np

from .config import current
from .judge import Prior
from .table import ABSENT, Codes

__all__ = ["WHOLE", "ValueKind", "kind_of_values"]

MOST_LOOKED_AT = 500
_token = re.compile(r"(?=.*[0-9])[0-9A-Za-z]{6,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch


class ValueKind(Enum):
    """What the values of a key are: drawn at random, a choice of few, or any other."""

    DRAWN = "drawn"
    ENUMERATED = "enumerated"
    OTHER = "other"

    @property
    def prior(self) -> Prior:
        """What is believed of a key of such values."""
        return _PRIORS[self]

    @property
    def unlike(self) -> float:
        """Probability that what such a key means differs from section to section of a site."""
        return {ValueKind.DRAWN: 0.02, ValueKind.OTHER: 0.2, ValueKind.ENUMERATED: 0.5}[self]


WHOLE = Prior.of(0.4, 0.15, 0.45, (0.1, 0.1, 0.2, 0.596, 0.004))
"""Of a function that drops several keys together."""
_PRIORS = {
    ValueKind.DRAWN: Prior.of(0.6, 0.1, 0.3, (0.75, 0.1, 0.1, 0.049, 0.001)),
    ValueKind.OTHER: Prior.of(0.2, 0.04, 0.76, (0.75, 0.1, 0.1, 0.049, 0.001)),
    ValueKind.ENUMERATED: Prior.of(0.15, 0.03, 0.82, (0.6, 0.1, 0.1, 0.198, 0.002)),
}


def kind_of_values(codes: Codes, vocabulary: list[str]) -> ValueKind:
    """Return the kind of a column's values."""
    present = codes[codes != ABSENT]
    values = np.unique(present)
    if len(values) <= current().most_enumerated and len(present) >= 2 * len(values):
        return ValueKind.ENUMERATED
    some = values[:: len(values) // MOST_LOOKED_AT + 1].tolist()
    drawn = sum(_token(vocabulary[value]) is not None for value in some)
    is_token = drawn > current().drawn_share * len(some) and len(values) > current().drawn_distinct * len(present)
    return ValueKind.DRAWN if is_token else ValueKind.OTHER
