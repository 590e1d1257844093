"""Whether rules are safe: one judgement, whichever learner proposed them.

The judge says which proposals may act; the worst goes first, until none is left that may not.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...observation import APART
from ...rules import RuleBook
from ...rules.model import BARE, ORDERED
from ...urls import values_of
from ..data.judgement import Deep, Judgement, SiteUrls, book_of, judged
from ..data.url_table import REPEAT, joined_repeats
from ..evidence.judge import Verdict
from ..evidence.witnesses import remembered
from ..evidence.witnesses import witnesses as groups_of
from ..proposals.blame import MAX_CLEAN, MAX_MEMBERS, arrangement, bare_texts, blamed
from ..proposals.combining import rules_of
from ..proposals.proposal import Proposal

MAX_ROUNDS = 20
"""Rounds of taking out what is refuted; proposals that are not settled then are not used."""


def validated(
    proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep, *, counted: Mapping[Proposal, int] | None = None
) -> list[Proposal]:
    """Return the proposals that stay when the function is judged as a whole; see :func:`validation`."""
    return validation(proposals, sample, deep, counted=counted).kept


@dataclass(frozen=True, slots=True)
class Validation:
    """The proposals that are kept, and of those that are refuted two URLs that each made one and that are two pages."""

    kept: list[Proposal]
    refuted: Mapping[Proposal, tuple[str, str]]


def validation(
    proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep, *, counted: Mapping[Proposal, int] | None = None
) -> Validation:
    """Judge the function of some proposals as a whole; return those that stay, and why the others do not.

    *counted* are the witness groups that speak for proposals, where more are known of than the sample holds: for rules
    that act already. A page that was edited between two crawls is not held against these: the URLs that a rule makes
    one were fetched in both, each once.

    Proposals that are part of bad groups are taken out, the worst first, until each rule that is left
    is free of counterexamples or within what noise can explain. To take one out divides groups and
    joins none, so that from the second round on only what was in bad groups is looked at, and some of
    the clean groups, which speak for what is left.
    """
    kept = list(proposals)
    looked_at = sample
    starts = _starts(sample) if counted else []
    witnesses: Clean | None = None
    why: dict[Proposal, tuple[str, str]] = {}
    for _ in range(MAX_ROUNDS):
        book = book_of(rules_of(sample.site, kept), sample, deep)
        judgement = judged(book, looked_at)
        witnesses = Clean.of(judgement) if witnesses is None else witnesses.again(book)
        rejected = refuted(kept, book, judgement, witnesses, counted or {}, starts=starts)
        if not rejected:
            return Validation(kept, why)
        for proposal, number in rejected.items():
            pair = _two_pages(looked_at, judgement.bad[number], starts)
            left = without(kept, proposal)
            why.update(dict.fromkeys([one for one in kept if one not in left], pair))
            kept = left
        looked_at = looked_at.part(sorted(i for members in judgement.bad for i in members))
    return Validation([], why)


@dataclass(frozen=True, slots=True)
class Clean:
    """Clean groups of the first round, which speak for proposals, each for ``step`` of them."""

    judgement: Judgement
    groups: Sequence[Sequence[int]]
    step: int

    @classmethod
    def of(cls, judgement: Judgement) -> "Clean":
        """Return some of the clean groups of a judgement."""
        clean = judgement.clean
        step = len(clean) // MAX_CLEAN + 1
        return cls(judgement, clean[::step], step)

    def again(self, book: RuleBook) -> "Clean":
        """Return them as they are under other rules."""
        asked = self.judgement.sample.part([i for members in self.groups for i in members[:MAX_MEMBERS]])
        judgement = judged(book, asked)
        return Clean(judgement, judgement.clean, self.step)


def without(proposals: Sequence[Proposal], rejected: Proposal) -> list[Proposal]:
    """Return the proposals less a rejected one, and less those that only hold together with it."""
    return [
        other
        for other in proposals
        if other != rejected and not (rejected.joint and other.joint and other.match == rejected.match)
    ]


def refuted(
    proposals: Sequence[Proposal],
    book: RuleBook,
    judgement: Judgement,
    witnesses: Clean,
    counted: Mapping[Proposal, int],
    *,
    starts: Sequence[float] = (),
) -> dict[Proposal, int]:
    """Return proposals with more counterexamples than noise explains, the worst first, each with the number of a bad group.

    A bad group is held against the worst of those that brought it together; the others are asked
    again when that one is gone. *counted* are the groups that speak for rules that act already, *starts* are when crawls began.
    """
    bad = judgement.bad
    if not bad:
        return {}
    against = blamed(proposals, book, judgement, bad)
    if starts:
        edited = {
            number for number, members in enumerate(bad) if not _differs_at_once(judgement.sample, members, starts)
        }
        against = {one: groups - edited if one in counted else groups for one, groups in against.items()}
    speaking = blamed(proposals, book, witnesses.judgement, witnesses.groups)
    rejected: dict[Proposal, int] = {}
    open_groups = set(range(len(bad)))
    evidence = _Evidence(judgement, witnesses, bad, speaking, counted)
    while True:
        wrong = {}
        for proposal, groups in against.items():
            still = groups & open_groups
            if still and (doubt := evidence.doubt(proposal, still)) is not None:
                wrong[proposal] = doubt
        if not wrong:
            return rejected
        worst = max(wrong, key=lambda p: (wrong[p], repr(p)))
        groups = against.pop(worst)
        rejected[worst] = min(groups & open_groups)
        open_groups -= groups


def verdicts(proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep) -> dict[Proposal, Verdict]:
    """Return the expected outcome of each proposal, except those of constant pages."""
    book = book_of(rules_of(sample.site, proposals), sample, deep)
    judgement = judged(book, sample)
    clean = Clean.of(judgement)
    against = blamed(proposals, book, judgement, judgement.bad)
    speaking = blamed(proposals, book, clean.judgement, clean.groups)
    evidence = _Evidence(judgement, clean, judgement.bad, speaking, {})
    return {one: evidence.verdict(one, against.get(one, set())) for one in proposals if not one.constant}


class _Evidence:
    """Groups that speak for and against proposals, as the judge takes them."""

    def __init__(
        self,
        judgement: Judgement,
        clean: Clean,
        bad: Sequence[Sequence[int]],
        speaking: Mapping[Proposal, set[int]],
        counted: Mapping[Proposal, int],
    ) -> None:
        self._sample, self._clean, self._bad, self._speaking = judgement.sample, clean, bad, speaking
        self._counted = counted
        self._values: dict[str, dict[str, str | None]] = {}

    def doubt(self, proposal: Proposal, against: AbstractSet[int]) -> float | None:
        """Return the expected share of wrong groups of a proposal that may not act; None of one that may."""
        if proposal.constant:  # what is all one page is no more than one group
            rows = [i for number in sorted(against) for i in self._bad[number]]
            content, lone = self._sample.shown(rows)
            return None if self._sample.judge.is_one_page(content, lone) else 1.0
        found = self.verdict(proposal, against)
        return None if found.passes else found.posterior.wrong

    def verdict(self, proposal: Proposal, against: AbstractSet[int]) -> Verdict:
        """Return the expected outcome of a proposal with these groups as counterexamples."""
        sample, judge = self._sample, self._sample.judge
        groups: list[Sequence[int]] = [self._bad[number] for number in sorted(against)]
        clean = [self._clean.groups[number][:MAX_MEMBERS] for number in sorted(self._speaking.get(proposal, ()))]
        rows = [i for members in groups for i in members]
        of_clean = [i for members in clean for i in members]
        content, lone = (
            np.r_[one, other]
            for one, other in zip(sample.shown(rows), self._clean.judgement.sample.shown(of_clean), strict=True)
        )
        sizes = [len(members) for members in (*groups, *clean)]
        kind = sample.kind_of(proposal.key, proposal.operation)
        texts = [self._value(sample.urls[i], proposal.key) for i in rows]
        texts += [self._value(self._clean.judgement.sample.urls[i], proposal.key) for i in of_clean]
        numbers: dict[str | int | None, int] = {}
        is_there = any(text is not None for text in texts)  # an empty value is another one than none
        value = np.array([numbers.setdefault(text if is_there else i, len(numbers)) for i, text in enumerate(texts)])
        prior = judge.prior(proposal.key, kind.prior, proposal)
        found = groups_of(np.repeat(np.arange(len(sizes)), sizes), content, lone, prior, value)
        step = np.where(np.arange(len(sizes)) < len(groups), 1.0, float(self._clean.step))
        found = replace(found, weight=found.weight * step)
        unseen = self._counted.get(proposal, 0) - float(found.weight[len(groups) :].sum())
        if unseen > 0:
            found += remembered(unseen, 0.0, prior)
        return judge.verdict(found)

    def _value(self, url: str, key: str) -> str | None:
        known = self._values.setdefault(key, {})
        if url not in known:
            known[url] = dropped_value(url, key, self._sample)
        return known[url]


def dropped_value(url: str, key: str, sample: SiteUrls) -> str | None:
    """Return what a proposal on *key* drops of a URL: its value there, or the order in which things stand."""
    if key in ORDERED:
        return arrangement(url, key)
    view = dict(joined_repeats(values_of(url, groups=sample.site_groups)))
    return (REPEAT.join(bare_texts(view)) or None) if key == BARE else view.get(key)


def _starts(sample: SiteUrls) -> list[float]:
    """Return when the crawls of a sample began, as far as times tell, but for the first one; nothing where there is only one."""
    times = sorted(sample.times or ())
    return [after for before, after in pairwise(times) if after - before > APART]


def _two_pages(sample: SiteUrls, members: Sequence[int], starts: Sequence[float]) -> tuple[str, str]:
    """Return two URLs of a bad group that are different pages, in one crawl if there are such."""
    pages = next((found for found in _by_crawl(sample, members, starts) if len(found) > 1), None)
    one, other, *_ = (pages or {sample.content[i]: i for i in members}).values()
    return sample.urls[one], sample.urls[other]


def _differs_at_once(sample: SiteUrls, members: Sequence[int], starts: Sequence[float]) -> bool:
    """Return whether URLs of a group were different pages in one and the same crawl; *starts* are when crawls began."""
    return any(len(found) > 1 for found in _by_crawl(sample, members, starts))


def _by_crawl(sample: SiteUrls, members: Sequence[int], starts: Sequence[float]) -> list[dict[int, int]]:
    """Return, for each crawl that has seen URLs of a group, a URL of each content that it has seen."""
    contents: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for i in members:
        crawl = bisect_right(starts, sample.times[i]) if sample.times is not None else 0
        contents[crawl].setdefault(sample.content[i], i)
    return list(contents.values())


def within_budget(proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep, max_loss: float) -> list[Proposal]:
    """Return proposals less those that save least for the pages that they are seen to lose.

    *max_loss* is the share of the site's pages that all together may lose; unless it is 0, that is a page at least.
    """
    most = max(max_loss * len(set(sample.content)), 1.0) if max_loss else 0.0
    kept = list(proposals)
    for _ in range(MAX_ROUNDS):
        found = verdicts(kept, sample, deep)
        losing = sorted(
            (one for one in found if found[one].seen_lost), key=lambda one: found[one].removed / found[one].seen_lost
        )
        if not losing or sum(found[one].seen_lost for one in losing) <= most:
            break
        kept = without(kept, losing[0])  # without it the groups of the others change
    return kept
