"""The pooled budget of a site, held on URLs that took no part in learning.

A gate of 0.1 % per rule would ask for 2,995 clean groups and throw half of the savings away, and
save no page. So each rule passes a loose gate, and all together keep the share of lost pages under
DEDUP_MAX_LOSS. The URLs are halved by the key that the learned function gives them: both pages of a
wrong merge fall into the same half, where a split by content would hide every counterexample.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from ..urls import DeepSplit
from .blame import blamed
from .combining import rules_of
from .coverage import covers
from .emission import Proposal
from .evidence import plausible_pages
from .judgement import Judgement, Sample, book_of, judged
from .noise import Noise
from .site import SiteLearner
from .validation import without

MIN_URLS = 100
"""Below this a half of the URLs teaches nothing."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What rules learned from one half of the URLs did to the other half, both ways."""

    pages: int = 0
    groups: int = 0
    bad: int = 0
    lost: int = 0
    lone: int = 0
    """Of the lost pages, those that a single URL of the site showed."""

    def lost_for_real(self, lone_share: float) -> int:
        """Return how many of the lost pages count, where *lone_share* of all pages show at one URL only."""
        return plausible_pages(self.lost, self.lone, lone_share)


def within_budget(
    proposals: Sequence[Proposal], sample: Sample, learner: SiteLearner, max_loss: float
) -> tuple[list[Proposal], HeldOut]:
    """Return the proposals that keep the expected loss within *max_loss*, and the held-out figures.

    While more pages are lost than the budget allows, what is to blame for most of them is not
    deployed. What only half of the URLs would have let through, and all of them do not (it was found
    to be narrower, or not at all), is not held against the rest. One page is allowed wherever
    anything is, and what cannot be pages is not counted (:func:`.plausible_pages`).
    """
    kept, deep = list(proposals), learner.deep
    if not kept or len(sample.urls) < MIN_URLS:
        return kept, HeldOut()
    halves = _halves(kept, sample, deep)
    allowed = max(1, int(max_loss * len(set(sample.content)))) if max_loss > 0 else 0
    lone_share = len(sample.lone) / len(set(sample.content))
    trials = []
    for one, other in ((0, 1), (1, 0)):
        test = sample.part(halves[other])
        trials.append((learner.proposals_of_part(np.array(halves[one], dtype=np.intp)), test))
    while True:
        held_out, against = _tried(trials, kept, deep)
        for _, test in trials:
            test.remembered.clear()  # two judgements are as large as the URLs
        if held_out.lost_for_real(lone_share) <= allowed:
            # What is seen to be lost is not believed to be within the budget, whatever halves say.
            seen, against = _tried([(kept, sample)], kept, deep)
            if seen.lost_for_real(lone_share) <= allowed:
                return kept, held_out
        if not against:
            return kept, held_out
        worst = max(against, key=lambda proposal: (against[proposal], repr(proposal)))
        kept = _less(kept, [proposal for proposal in kept if covers(proposal, worst)])


def _halves(
    proposals: Sequence[Proposal], sample: Sample, deep: Mapping[str, DeepSplit]
) -> tuple[list[int], list[int]]:
    book = book_of(rules_of(sample.site, proposals), sample, deep)
    halves: tuple[list[int], list[int]] = ([], [])
    for key, members in judged(book, sample).by_key.items():
        halves[crc32(key.encode("utf-8", "replace")) & 1].extend(members)
    for half in halves:
        half.sort()
    return halves


def _tried(
    trials: Sequence[tuple[list[Proposal], Sample]], kept: Sequence[Proposal], deep: Mapping[str, DeepSplit]
) -> tuple[HeldOut, Counter[Proposal]]:
    """Return the held-out figures, and how many bad groups each proposal that counts is blamed for."""
    pages = groups = bad = lost = lone = 0
    against: Counter[Proposal] = Counter()
    for learned, test in trials:
        deployed = [proposal for proposal in learned if any(covers(other, proposal) for other in kept)]
        book = book_of(rules_of(test.site, deployed), test, deep)
        judgement = judged(book, test)
        wrong = judgement.bad
        pages += len(set(test.content))
        groups += len(judgement.merged)
        bad += len(wrong)
        lost += len(judgement.lost_pages)
        lone += len(judgement.lost_pages & _beside_a_page(judgement))
        against.update({proposal: len(found) for proposal, found in blamed(deployed, book, judgement, wrong).items()})
    return HeldOut(pages, groups, bad, lost, lone), against


def _beside_a_page(judgement: Judgement) -> set[int]:
    """Return the contents of a single URL that stand in a group beside one page: what may be noise."""
    bad = judgement.bad
    members = (i for number in Noise.of(judgement).groups(judgement) for i in bad[number])
    return {judgement.sample.content[i] for i in members} & judgement.sample.lone


def _less(proposals: list[Proposal], rejected: Sequence[Proposal]) -> list[Proposal]:
    for proposal in rejected:
        proposals = without(proposals, proposal)
    return proposals
