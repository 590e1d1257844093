"""The pooled budget of a site, held on URLs that took no part in learning.

A gate of 0.1 % per rule would ask for 2,995 clean groups and throw half of the savings away, and
save no page. So each rule passes a loose gate, and all together keep the share of lost pages under
DEDUP_MAX_LOSS. The URLs are halved by the key that the learned function gives them: both pages of a
wrong merge fall into the same half, where a split by content would hide every counterexample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from ..urls import DeepSplit
from .combining import rules_of
from .emission import Proposal
from .site import SiteLearner
from .validation import Judgement, Sample, blamed, book_of, judged, without

MIN_URLS = 100
"""Below this a half of the URLs teaches nothing."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What rules learned from one half of the URLs did to the other half, both ways."""

    pages: int = 0
    groups: int = 0
    bad: int = 0
    lost: int = 0


def within_budget(
    proposals: Sequence[Proposal], sample: Sample, deep: Mapping[str, DeepSplit], max_loss: float
) -> tuple[list[Proposal], HeldOut]:
    """Return the proposals that keep the expected loss within *max_loss*, and the held-out figures.

    While more pages are lost than the budget allows, what lost most of them on the held-out URLs
    (an operation on a key) is not deployed. One page is allowed wherever anything is.
    """
    kept = list(proposals)
    if not kept or len(sample.urls) < MIN_URLS:
        return kept, HeldOut()
    halves = _halves(kept, sample, deep)
    allowed = max(1, int(max_loss * len(set(sample.content)))) if max_loss > 0 else 0
    trials = []
    for one, other in ((0, 1), (1, 0)):
        training, test = sample.part(halves[one]), sample.part(halves[other])
        trials.append((SiteLearner(training, deep).proposals(), test))
    while True:
        held_out, against = _tried(trials, deep)
        if held_out.lost <= allowed or not against:
            return kept, held_out
        worst = max(against, key=lambda kind: (against[kind], kind))
        kept = _without_kind(kept, worst)
        trials = [(_without_kind(learned, worst), test) for learned, test in trials]


def _halves(
    proposals: Sequence[Proposal], sample: Sample, deep: Mapping[str, DeepSplit]
) -> tuple[list[int], list[int]]:
    book = book_of(rules_of(sample.site, proposals), sample, deep)
    halves: tuple[list[int], list[int]] = ([], [])
    for number, url in enumerate(sample.urls):
        halves[crc32(book.canonical_key(url).encode("utf-8", "replace")) & 1].append(number)
    return halves


Kind = tuple[str, str]


def _kind(proposal: Proposal) -> Kind:
    return proposal.key, type(proposal.operation).__name__


def _tried(
    trials: Sequence[tuple[list[Proposal], Sample]], deep: Mapping[str, DeepSplit]
) -> tuple[HeldOut, dict[Kind, int]]:
    """Return the held-out figures, and how many lost pages each kind of operation is blamed for."""
    pages = groups = bad = lost = 0
    against: dict[Kind, int] = {}
    for learned, test in trials:
        book = book_of(rules_of(test.site, learned), test, deep)
        judgement = judged(book.canonical_key, test)
        wrong = judgement.bad
        pages += len(set(test.content))
        groups += len(judgement.merged)
        bad += len(wrong)
        lost += _lost(judgement, wrong)
        for proposal, count in blamed(learned, book, judgement, wrong).items():
            against[_kind(proposal)] = against.get(_kind(proposal), 0) + count
    return HeldOut(pages, groups, bad, lost), against


def _lost(judgement: Judgement, wrong: Sequence[Sequence[int]]) -> int:
    """Return the number of pages lost, an upper one: a lost page may still be reached elsewhere."""
    return judgement.lost if wrong else 0


def _without_kind(proposals: list[Proposal], kind: Kind) -> list[Proposal]:
    for proposal in [proposal for proposal in proposals if _kind(proposal) == kind]:
        proposals = without(proposals, proposal)
    return proposals
