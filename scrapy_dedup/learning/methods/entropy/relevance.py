"""Whether a parameter is relevant: two conditional entropies, in bits, each below its threshold.

Source: url-parameter-relevance, the relevancy calculation module, equations (9) to (11) and Tables 1 to 4. The document
prints the values of its Case 2 the wrong way round, and those of the path of its URLs (15) to (18); what is
computed here is its formula. Relevant means that the parameter
alone tells the pages apart, one to one. Its contrary is not "safe to drop": the entropies of any
parameter with few values grow with the site (H(F|V) of ``lang`` is near log2 of the number of pages).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import log2
from typing import Any

from ...choices import IRRELEVANT


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


class Relevance(str, Enum):
    """What the rule of a parameter says: ``<ParameterName: IGNORE>`` or ``<ParameterName: ACCEPT>``."""

    ACCEPT = "accept"
    IGNORE = "ignore"

    __str__ = str.__str__


@dataclass(frozen=True, slots=True)
class RelevanceThresholds:
    """How much uncertainty a relevant parameter may leave.

    In bits, as in the document's example, whose values are the defaults; with ``relative``, as shares
    of H(F) and H(V), which mean the same on small and on large sites. *case* is the least
    H(F|lower(V)) - H(F|V), in bits, of a case-sensitive parameter.
    """

    fingerprint_given_value: float = 0.5
    value_given_fingerprint: float = 0.5
    case: float = 0.5
    relative: bool = False

    def relevance(self, found: Information) -> Relevance:
        """Return ACCEPT if and only if both entropies are below their thresholds.

        >>> RelevanceThresholds().relevance(Information(0.0, 0.0)), RelevanceThresholds().relevance(Information(0.0, 2.0))
        (<Relevance.ACCEPT: 'accept'>, <Relevance.IGNORE: 'ignore'>)
        """
        of_fingerprint, of_value = found.fingerprint_given_value, found.value_given_fingerprint
        if self.relative:
            of_fingerprint = of_fingerprint / found.fingerprint if found.fingerprint else 0.0
            of_value = of_value / found.value if found.value else 0.0
        both = of_fingerprint < self.fingerprint_given_value and of_value < self.value_given_fingerprint
        return Relevance.ACCEPT if both else Relevance.IGNORE


def name_of(key: str) -> str:
    """Return the name of the parameter that a key stands for: ``q.sid`` is ``sid``."""
    kind, dot, name = key.partition(".")
    return name if dot and kind in {"q", "m", "s"} else key


@dataclass(frozen=True, slots=True, init=False)
class NameList:
    """Names of parameters, without regard to case; one that ends in ``*`` stands for all of that beginning.

    >>> NameList(relevant=["file"], irrelevant=["utm_*"]).relevance("q.utm_source")
    <Relevance.IGNORE: 'ignore'>
    """

    relevant: frozenset[str]
    irrelevant: frozenset[str]

    def __init__(self, relevant: Iterable[str] = (), irrelevant: Iterable[str] = ()) -> None:
        object.__setattr__(self, "relevant", frozenset(name.lower() for name in relevant))
        object.__setattr__(self, "irrelevant", frozenset(name.lower() for name in irrelevant))

    def relevance(self, key: str) -> Relevance | None:
        """Return what the list says of a key, None where it says nothing; relevant beats irrelevant."""
        name = name_of(key).lower()
        if _among(name, self.relevant):
            return Relevance.ACCEPT
        return Relevance.IGNORE if _among(name, self.irrelevant) else None


def _among(name: str, listed: frozenset[str]) -> bool:
    return name in listed or any(entry.endswith("*") and name.startswith(entry[:-1]) for entry in listed)


DOCUMENT_NAMES = NameList(relevant=["vid", "file", "path"], irrelevant=["sessionid"])
"""The names that the document gives as examples."""

KNOWN_NAMES = NameList(relevant=DOCUMENT_NAMES.relevant, irrelevant=IRRELEVANT)
"""The document's, with session ids and tracking parameters whose names are unmistakable."""
