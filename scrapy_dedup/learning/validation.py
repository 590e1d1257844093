"""Whether rules are safe: one judgement, whichever learner proposed them (design, validation).

A proposal may be part of no bad group, or of a share of them that is bounded like noise.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..rules import RuleBook
from .blame import MAX_MEMBERS, blamed
from .clusters import APART
from .combining import rules_of
from .emission import Proposal
from .evidence import MAX_OWED_SHARE, like_noise, tolerable
from .judgement import Deep, Judgement, Sample, book_of, judged
from .noise import Noise

ROUNDS = 20
MAX_CLEAN = 2_000
"""Clean groups that are looked at to count what speaks for a proposal; of more, every n-th is."""


def validated(
    proposals: Sequence[Proposal], sample: Sample, deep: Deep, *, counted: Mapping[Proposal, int] | None = None
) -> list[Proposal]:
    """Return the proposals that stay when the function is judged as a whole; see :func:`validation`."""
    return validation(proposals, sample, deep, counted=counted).kept


@dataclass(frozen=True, slots=True)
class Validation:
    """The proposals that are kept, and of those that are refuted two URLs that each made one and that are two pages."""

    kept: list[Proposal]
    refuted: Mapping[Proposal, tuple[str, str]]


def validation(
    proposals: Sequence[Proposal], sample: Sample, deep: Deep, *, counted: Mapping[Proposal, int] | None = None
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
    witnesses: Witnesses | None = None
    why: dict[Proposal, tuple[str, str]] = {}
    for _ in range(ROUNDS):
        book = book_of(rules_of(sample.site, kept), sample, deep)
        judgement = judged(book, looked_at)
        witnesses = Witnesses.of(judgement) if witnesses is None else witnesses.again(book)
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
class Witnesses:
    """Clean groups that speak for proposals, each for ``step`` of them, and the noise: both of the first round."""

    judgement: Judgement
    groups: Sequence[Sequence[int]]
    step: int
    noise: Noise

    @classmethod
    def of(cls, judgement: Judgement) -> "Witnesses":
        """Return some of the clean groups of a judgement."""
        clean = judgement.clean
        step = len(clean) // MAX_CLEAN + 1
        return cls(judgement, clean[::step], step, Noise.of(judgement))

    def again(self, book: RuleBook) -> "Witnesses":
        """Return them as they are under other rules."""
        asked = self.judgement.sample.part([i for members in self.groups for i in members[:MAX_MEMBERS]])
        judgement = judged(book, asked)
        return Witnesses(judgement, judgement.clean, self.step, self.noise)


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
    witnesses: Witnesses,
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
    for_it = Counter({proposal: len(groups) * witnesses.step for proposal, groups in speaking.items()})
    for proposal, known in counted.items():
        for_it[proposal] = max(for_it[proposal], known)
    rejected: dict[Proposal, int] = {}
    open_groups = set(range(len(bad)))
    owed = witnesses.noise.owed(judgement)
    lone = witnesses.noise.groups(judgement, owed)
    lost = [judgement.lost_in(members) for members in bad]
    keys = {(number, proposal.key) for proposal, groups in against.items() for number in groups}
    suspects = Counter(number for number, _ in keys)
    while True:
        wrong = {}
        for proposal, groups in against.items():
            still = groups & open_groups
            pages = sum(lost[number] for number in still & owed.get(proposal.key, frozenset()))
            if pages > MAX_OWED_SHARE * (len(still) + for_it[proposal]):
                bad_enough = True
            elif still <= lone:
                # One of those that differ is to blame, and only where something is: each has its share.
                bad_enough = not like_noise(sum(lost[number] / suspects[number] for number in still), for_it[proposal])
            else:
                bad_enough = not tolerable(sum(lost[number] for number in still), len(still) + for_it[proposal])
            if bad_enough:
                wrong[proposal] = len(still)
        if not wrong:
            return rejected
        worst = max(wrong, key=lambda p: (wrong[p] / (wrong[p] + for_it[p]), wrong[p], repr(p)))
        groups = against.pop(worst)
        rejected[worst] = min(groups & open_groups)
        open_groups -= groups


def _starts(sample: Sample) -> list[float]:
    """Return when the crawls of a sample began, as far as times tell, but for the first one; nothing where there is only one."""
    times = sorted(sample.times or ())
    return [after for before, after in pairwise(times) if after - before > APART]


def _two_pages(sample: Sample, members: Sequence[int], starts: Sequence[float]) -> tuple[str, str]:
    """Return two URLs of a bad group that are different pages, in one crawl if there are such."""
    pages = next((found for found in _by_crawl(sample, members, starts) if len(found) > 1), None)
    one, other, *_ = (pages or {sample.content[i]: i for i in members}).values()
    return sample.urls[one], sample.urls[other]


def _differs_at_once(sample: Sample, members: Sequence[int], starts: Sequence[float]) -> bool:
    """Tell whether URLs of a group were different pages in one and the same crawl; *starts* are when crawls began."""
    return any(len(found) > 1 for found in _by_crawl(sample, members, starts))


def _by_crawl(sample: Sample, members: Sequence[int], starts: Sequence[float]) -> list[dict[int, int]]:
    """Return, for each crawl that has seen URLs of a group, a URL of each content that it has seen."""
    contents: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for i in members:
        crawl = bisect_right(starts, sample.times[i]) if sample.times is not None else 0
        contents[crawl].setdefault(sample.content[i], i)
    return list(contents.values())
