"""The information content of a parameter: two conditional entropies, in bits.

Source: url-parameter-relevance, equations (9) to (11) and Tables 1 to 4. The document prints the
values of its Case 2 the wrong way round, and those of the path of its URLs (15) to (18); what is
computed here is its formula.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import log2
from typing import Any


class Unused(Enum):
    """What stands for the value of a parameter that a URL does not have."""

    UNUSED = "unused"


UNUSED = Unused.UNUSED


def entropy(values: Iterable[Hashable]) -> float:
    """Return H(V) of observed values, in bits; 0.0 for none.

    >>> entropy("aabb"), entropy([])
    (1.0, 0.0)
    """
    counts = Counter(values)
    total = counts.total()
    return max(0.0, log2(total) - _weighted(counts) / total) if total else 0.0


def conditional_entropy(of: Sequence[Hashable], given: Sequence[Hashable]) -> float:
    """Return H(of|given) of values observed together, in bits, by equation (9); 0.0 for none.

    >>> conditional_entropy([1, 2, 3, 4], "AAAA"), conditional_entropy("AAAA", [1, 2, 3, 4])
    (2.0, 0.0)

    Raises ValueError when there are more of the one than of the other.
    """
    joint = Counter(zip(of, given, strict=True))
    # The probabilities of the formula multiplied out, which makes a certainty exactly 0.
    return max(0.0, _weighted(Counter(given)) - _weighted(joint)) / len(of) if of else 0.0


def _weighted(counts: Mapping[Any, int]) -> float:
    return sum(count * log2(count) for count in counts.values())


@dataclass(frozen=True, slots=True)
class Information:
    """What the values V of a parameter and the fingerprints F of the content say of each other.

    All in bits. ``fingerprint_given_value`` is H(F|V): high where the value says little about the
    page; ``value_given_fingerprint`` is H(V|F): high where the value is random to the page;
    ``fingerprint`` is H(F) and ``value`` H(V), the most that the two can be.
    """

    fingerprint_given_value: float
    value_given_fingerprint: float
    fingerprint: float = 0.0
    value: float = 0.0


def information(values: Sequence[Hashable], fingerprints: Sequence[Hashable]) -> Information:
    """Return the information content of a parameter: ``values[i]`` led to ``fingerprints[i]``.

    A URL without the parameter has the value :data:`UNUSED`. O(n).
    Raises ValueError when there are more of the one than of the other.
    """
    return Information(
        conditional_entropy(fingerprints, values),
        conditional_entropy(values, fingerprints),
        entropy(fingerprints),
        entropy(values),
    )
