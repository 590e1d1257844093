"""How sure it is that what a rule filters are duplicates: by all that is known of the rule together."""

from typing import TYPE_CHECKING, Final

from ..evidence.shares import upper_bound

if TYPE_CHECKING:
    from ...rules.model import Evidence

#: A bound from which on it says nothing but that little was checked.
UNINFORMATIVE: Final = 0.1


def share_lost(evidence: "Evidence | None", samples: int = 0, differing: int = 0) -> float:
    """Return the upper 95 % bound of the share of the URLs filtered by a rule that are other pages.

    Witness groups and spot checks count together: those that *evidence* tells of, and *samples*
    further spot checks, of which *differing* showed another page.

    >>> from scrapy_dedup.rules import Evidence
    >>> round(share_lost(Evidence(groups=67, samples=2), samples=2), 3), share_lost(None)
    (0.041, 1.0)
    """
    if evidence is not None:
        differing += evidence.counterexamples + evidence.refuted
        samples += evidence.groups + evidence.counterexamples + evidence.samples
    return upper_bound(differing, samples)
