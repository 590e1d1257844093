"""Spot checks of a rule: what share of its filtered requests to fetch, and what share of them may be lost.

A filtered request loses a page with the expected share of wrong groups, after the witness groups that the rule was learned
from and the spot checks since. A lost page is worth ``Config.price`` downloads and a spot check costs one: so a rule of which
nothing is known is checked each time, and the less the more have agreed.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ..config import current
from ..evidence.judge import Judge, Posterior
from ..evidence.shares import upper_bound
from ..evidence.value_kinds import ValueKind
from ..evidence.witnesses import remembered

if TYPE_CHECKING:
    from ...rules.model import Evidence


#: A bound from which on it says nothing but that little was checked.
UNINFORMATIVE: Final = 0.1


def share_lost(evidence: "Evidence | None", samples: int = 0, differing: int = 0) -> float:
    """Return the upper 95 % bound of the share of the URLs filtered by a rule that are other pages.

    Witness groups and spot checks count together: those that *evidence* tells of, and *samples*
    further spot checks, of which *differing* showed another page. One that has shown nothing may be one, too.

    >>> from scrapy_dedup.rules import Evidence
    >>> round(share_lost(Evidence(groups=67, samples=2), samples=2), 3), share_lost(None)
    (0.041, 1.0)
    """
    if evidence is not None:
        differing += evidence.counterexamples + evidence.refuted + evidence.undecided
        samples += evidence.groups + evidence.counterexamples + evidence.samples + evidence.undecided
    return upper_bound(differing, samples)


MOST_COUNTED_GROUPS = 1_000
"""Groups of which more tell nothing new."""


@lru_cache(maxsize=4096)
def spot_check_share(agreeing: int, differing: int = 0) -> float:
    """Return the share of the next filtered requests to check, after so many witness groups and spot checks.

    >>> spot_check_share(0), spot_check_share(3) > spot_check_share(10) > spot_check_share(100)
    (1.0, True)
    """
    found = remembered(min(agreeing, MOST_COUNTED_GROUPS), min(differing, MOST_COUNTED_GROUPS), ValueKind.OTHER.prior)
    posterior: Posterior = Judge().posterior(found)
    return min(1.0, current().price * posterior.wrong)
