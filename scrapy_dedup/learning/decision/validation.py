"""Whether rules that act already are refuted: the function is judged as a whole, as it is deployed.

The judge says which proposals may act; the worst goes first, until none is left that may not. And the budget: what
all rules of a site together are seen to lose.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...observation import APART
from ...rules import Evidence
from ...rules.model import BARE, ORDERED
from ...urls import values_of
from ..data.judgement import Deep, SiteUrls, book_of, judged
from ..data.url_table import REPEAT, joined_repeats
from ..evidence.judge import Verdict
from ..evidence.witnesses import remembered
from ..evidence.witnesses import witnesses as groups_of
from ..proposals.blame import MAX_CLEAN, MAX_MEMBERS, arrangement, bare_texts, blamed
from ..proposals.combining import rules_of
from ..proposals.proposal import Proposal

MAX_ROUNDS = 20
"""Rounds of taking out what is refuted; proposals that are not settled then are not used."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The proposals that are kept, and of those that are refuted two URLs that each made one and that are two pages."""

    kept: list[Proposal]
    refuted: Mapping[Proposal, tuple[str, str]]


def validation(
    proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep, *, counted: Mapping[Proposal, int]
) -> Validation:
    """Judge the function of some proposals as a whole; return those that stay, and why the others do not.

    *counted* are the witness groups that speak for proposals, where more are known of than the sample holds: for rules
    that act already. A page that was edited between two crawls is not held against these: the URLs that a rule makes
    one were fetched in both, each once.
    """
    kept = list(proposals)
    starts = _starts(sample) if counted else []
    why: dict[Proposal, tuple[str, str]] = {}
    for _ in range(MAX_ROUNDS):
        evidence = _Evidence(kept, sample, deep, counted, starts)
        rejected = evidence.rejected()
        if not rejected:
            return Validation(kept, why)
        for proposal, number in rejected.items():
            pair = _two_pages(sample, evidence.bad[number], starts)
            left = without(kept, proposal)
            why.update(dict.fromkeys([one for one in kept if one not in left], pair))
            kept = left
    return Validation([], why)


def without(proposals: Sequence[Proposal], rejected: Proposal) -> list[Proposal]:
    """Return the proposals less a rejected one, and less those that only hold together with it."""
    return [
        other
        for other in proposals
        if other != rejected and not (rejected.joint and other.joint and other.match == rejected.match)
    ]


class _Evidence:
    """Groups that speak for and against proposals, as the judge takes them; ``bad`` are those of several pages.

    *counted* are the groups that speak for rules that act already, *starts* are when crawls began.
    """

    def __init__(
        self,
        proposals: Sequence[Proposal],
        sample: SiteUrls,
        deep: Deep,
        counted: Mapping[Proposal, int],
        starts: Sequence[float] = (),
    ) -> None:
        book = book_of(rules_of(sample.site, proposals), sample, deep)
        judgement = judged(book, sample)
        clean = judgement.clean if judgement.bad else []
        self.bad = judgement.bad
        self._sample = sample
        self._counted = counted
        self._step = len(clean) // MAX_CLEAN + 1
        self._clean = clean[:: self._step]
        self._speaking = blamed(proposals, book, judgement, self._clean)
        self.against = blamed(proposals, book, judgement, self.bad)
        if starts:
            edited = {
                number for number, members in enumerate(self.bad) if not _differs_at_once(sample, members, starts)
            }
            self.against = {one: groups - edited if one in counted else groups for one, groups in self.against.items()}
        self._values: dict[str, dict[str, str | None]] = {}

    def rejected(self) -> dict[Proposal, int]:
        """Return proposals with more counterexamples than noise explains, the worst first, each with the number of a bad group.

        A bad group is held against the worst of those that brought it together; the others are asked
        again when that one is gone.
        """
        found: dict[Proposal, int] = {}
        against, left = dict(self.against), set(range(len(self.bad)))
        while True:
            wrong = {}
            for proposal, groups in against.items():
                still = groups & left
                if still and (doubt := self._doubt(proposal, still)) is not None:
                    wrong[proposal] = doubt
            if not wrong:
                return found
            worst = max(wrong, key=lambda p: (wrong[p], repr(p)))
            groups = against.pop(worst)
            found[worst] = min(groups & left)
            left -= groups

    def _doubt(self, proposal: Proposal, against: AbstractSet[int]) -> float | None:
        """Return the expected share of wrong groups of a proposal that may not act; None of one that may."""
        if proposal.constant:  # what is all one page is no more than one group
            content, lone = self._sample.shown([i for number in sorted(against) for i in self.bad[number]])
            return None if self._sample.judge.is_one_page(content, lone) else 1.0
        found = self.verdict(proposal, against)
        return None if found.passes else found.posterior.wrong

    def verdict(self, proposal: Proposal, against: AbstractSet[int]) -> Verdict:
        """Return the expected outcome of a proposal with these groups as counterexamples."""
        sample, judge = self._sample, self._sample.judge
        wrong = [self.bad[number] for number in sorted(against)]
        clean = [self._clean[number][:MAX_MEMBERS] for number in sorted(self._speaking.get(proposal, ()))]
        rows = [i for members in (*wrong, *clean) for i in members]
        content, lone = sample.shown(rows)
        sizes = [len(members) for members in (*wrong, *clean)]
        kind = sample.kind_of(proposal.key, proposal.operation)
        texts = [self._value(sample.urls[i], proposal.key) for i in rows]
        numbers: dict[str | int | None, int] = {}
        is_there = any(text is not None for text in texts)  # an empty value is another one than none
        value = np.array([numbers.setdefault(text if is_there else i, len(numbers)) for i, text in enumerate(texts)])
        prior = judge.prior(proposal.key, kind.prior)
        found = groups_of(np.repeat(np.arange(len(sizes)), sizes), content, lone, prior, value)
        found = replace(found, weight=found.weight * np.where(np.arange(len(sizes)) < len(wrong), 1.0, self._step))
        unseen = self._counted.get(proposal, 0) - float(found.weight[len(wrong) :].sum())
        if unseen > 0:
            found += remembered(unseen, 0.0, prior)
        return judge.verdict(found)

    def _value(self, url: str, key: str) -> str | None:
        """Return what a proposal on *key* drops of a URL: its value there, or the order in which things stand."""
        known = self._values.setdefault(key, {})
        if url not in known:
            if key in ORDERED:
                known[url] = arrangement(url, key)
            else:
                view = dict(joined_repeats(values_of(url, groups=self._sample.site_groups)))
                known[url] = (REPEAT.join(bare_texts(view)) or None) if key == BARE else view.get(key)
        return known[url]


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
        evidence = _Evidence(kept, sample, deep, {})
        found = {one: evidence.verdict(one, groups) for one, groups in evidence.against.items() if not one.constant}
        losing = sorted(
            (one for one in kept if one in found and found[one].seen_lost),
            key=lambda one: found[one].removed / found[one].seen_lost,
        )
        if not losing or sum(found[one].seen_lost for one in losing) <= most:
            break
        kept = without(kept, losing[0])  # without it the groups of the others change
    return kept


def counted_with_files(filed: Mapping[Proposal, Evidence], sample: SiteUrls, deep: Deep) -> dict[Proposal, int]:
    """Return how many witness groups speak for what rules of before say: those in their files, and those seen since.

    *filed* is the evidence in the files. What was seen up to the time that it names stands there already.
    """
    found = {proposal: evidence.groups for proposal, evidence in filed.items()}
    for until in {evidence.until for evidence in filed.values() if evidence.until and sample.times is not None}:
        later = [row for row, at in enumerate(sample.times or ()) if at > until]
        if later:
            pages = pages_for(list(filed), sample.part(later), deep)
            for proposal, evidence in filed.items():
                if evidence.until == until:
                    found[proposal] += pages[proposal]
    return found


def pages_for(proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep) -> dict[Proposal, int]:
    """Return how many pages speak for each proposal: those of the groups that it brings together.

    Groups of one and the same page are one witness: an error page may answer anywhere.
    """
    book = book_of(rules_of(sample.site, proposals), sample, deep)
    judgement = judged(book, sample)
    clean = judgement.clean
    step = len(clean) // MAX_CLEAN + 1
    asked = clean[::step]
    speaking = blamed(proposals, book, judgement, asked)
    return {
        proposal: step * len({sample.content[asked[number][0]] for number in speaking.get(proposal, ())})
        for proposal in proposals
    }
