"""How closely a rule that acts is watched: the share of its filtered requests that is worth a spot check.

A request that a rule filters loses a page with the expected share of wrong groups that the judge believes in, after the witness
groups that the rule was learned from and the spot checks since. A lost page is worth ``Config.price`` downloads and a spot check costs one:
so a rule of which nothing is known is checked each time, and the less the more have agreed.
"""

from functools import lru_cache

from ..config import current
from ..evidence.judge import Judge, Posterior
from ..evidence.value_kinds import ValueKind
from ..evidence.witnesses import remembered

ENOUGH = 1_000
"""Groups of which more tell nothing new."""


@lru_cache(maxsize=4096)
def spot_check_share(agreeing: int, differing: int = 0) -> float:
    """Return the share of the next filtered requests to check, after so many witness groups and spot checks.

    >>> spot_check_share(0), spot_check_share(3) > spot_check_share(10) > spot_check_share(100)
    (1.0, True)
    """
    found = remembered(min(agreeing, ENOUGH), min(differing, ENOUGH), ValueKind.OTHER.prior)
    posterior: Posterior = Judge().posterior(found)
    return min(1.0, current().price * posterior.wrong)
