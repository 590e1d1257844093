"""Accepted proposals, widened to unseen names of a family, numbered hosts, and spellings of a value.

Source: url-parameter-relevance, FIG. 2, 6 and 7, and the passage on case sensitivity. A learner's proposal is taken
where it removes more URLs; what speaks of names and values that nobody saw removes none of those that were seen. So
it rests on the accepted ones, each of which has pages of its own, and is taken unless some URL speaks against it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..data.judgement import Deep, Judgement, SiteUrls
from ..proposals.combining import outcome_of
from ..proposals.proposal import Proposal


@dataclass(frozen=True, slots=True)
class Wider:
    """A proposal that says more than accepted ones, and those of them that it takes the place of."""

    proposal: Proposal
    instead: tuple[Proposal, ...] = ()

    def among(self, proposals: Iterable[Proposal]) -> list[Proposal]:
        """Return *proposals* with the wider one."""
        return [*(one for one in proposals if one not in self.instead), self.proposal]


def generalised(
    proposals: Sequence[Proposal],
    candidates: Sequence[Wider],
    sample: SiteUrls,
    deep: Deep,
) -> list[Proposal]:
    """Return accepted proposals, widened by those of the *candidates* against which no URL speaks."""
    found = list(proposals)
    if not candidates:
        return found
    before = outcome_of(found, sample, deep)
    together = found
    for candidate in candidates:
        together = candidate.among(together)
    if _is_harmless(before, outcome_of(together, sample, deep)):
        return together
    for candidate in candidates if len(candidates) > 1 else ():
        more = candidate.among(found)
        if _is_harmless(before, outcome_of(more, sample, deep)):
            found = more
    return found


def _is_harmless(before: Judgement, after: Judgement) -> bool:
    """Return whether no URLs of different pages were brought together, and none of one page parted."""
    numbers = before.numbers.tolist()
    return after.removed >= before.removed and not any(len({numbers[i] for i in group}) > 1 for group in after.bad)
