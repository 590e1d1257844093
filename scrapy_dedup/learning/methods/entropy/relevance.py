"""Whether a parameter is relevant: both conditional entropies below their thresholds.

Source: url-parameter-relevance, the relevancy calculation module. Relevant means that the parameter
alone tells the pages apart, one to one. Its contrary is not "safe to drop": the entropies of any
parameter with few values grow with the site (H(F|V) of ``lang`` is near log2 of the number of pages),
which is why what is found here is never deployed without validation.
"""

from dataclasses import dataclass
from enum import Enum

from .information import Information


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
