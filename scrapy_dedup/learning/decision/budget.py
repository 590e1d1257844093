"""The budget of a site: how many of its pages its rules together may be seen to lose (DEDUP_MAX_LOSS)."""

from collections.abc import Sequence

from ..config import current
from ..data.judgement import Deep, Sample
from ..proposals.proposal import Proposal
from .validation import verdicts, without

ROUNDS = 10


def within_budget(proposals: Sequence[Proposal], sample: Sample, deep: Deep, max_loss: float) -> list[Proposal]:
    """Return proposals less those that save least for the pages that they are seen to lose.

    *max_loss* is the share of the site's pages that all together may lose.
    """
    most = max(max_loss * len(set(sample.content)), current().least_budget) if max_loss else 0.0
    kept = list(proposals)
    for _ in range(ROUNDS):
        found = verdicts(kept, sample, deep)
        losing = sorted(
            (one for one in found if found[one].seen_lost), key=lambda one: found[one].removed / found[one].seen_lost
        )
        if not losing or sum(found[one].seen_lost for one in losing) <= most:
            break
        kept = without(kept, losing[0])  # without it the groups of the others change
    return kept
