"""Kinds of values: what those of a key look like says how likely it names a page, and how alike a site's sections are in it."""

import re
from collections.abc import Mapping
from enum import Enum

import numpy as np

from .judge import Prior
from .table import ABSENT, Codes, Rows

__all__ = ["ORDER", "WHOLE", "ValueKind", "kind_of_key", "kind_of_values", "other_part"]

MOST_ENUMERATED = 40
"""Values of a key that can be a choice of few."""
TOKENS, DISTINCT = 0.9, 0.3
"""Share of the values that look drawn, and of the URLs that have one of their own, of a key of tokens."""
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


ORDER = ValueKind.DRAWN
"""Of an order: segments that stand in several orders at all are hardly ever anything but a set."""


def other_part(key: str) -> str | None:
    """Return the key of the other token of a value of two; None for other keys.

    >>> other_part("m.jsessionid.tail"), other_part("q.id")
    ('m.jsessionid.head', None)
    """
    base, _, end = key.rpartition(".")
    return {"head": f"{base}.tail", "tail": f"{base}.head"}.get(end)


def kind_of_key(key: str, columns: Mapping[str, Codes], vocabulary: list[str], rows: Rows | None = None) -> ValueKind:
    """Return the kind of a key's values, in some of the rows: what stands in one value with what is drawn was rather drawn, too."""

    def kind(of: str) -> ValueKind:
        return kind_of_values(columns[of] if rows is None else columns[of][rows], vocabulary)

    other = other_part(key)
    drawn = other is not None and other in columns and kind(other) is ValueKind.DRAWN
    return ValueKind.DRAWN if drawn else kind(key)


def kind_of_values(codes: Codes, vocabulary: list[str]) -> ValueKind:
    """Return the kind of a column's values."""
    present = codes[codes != ABSENT]
    values = np.unique(present)
    if len(values) <= MOST_ENUMERATED and len(present) >= 2 * len(values):
        return ValueKind.ENUMERATED
    some = values[:: len(values) // MOST_LOOKED_AT + 1].tolist()
    drawn = sum(_token(vocabulary[value]) is not None for value in some)
    is_token = drawn > TOKENS * len(some) and len(values) > DISTINCT * len(present)
    return ValueKind.DRAWN if is_token else ValueKind.OTHER
