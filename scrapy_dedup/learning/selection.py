"""One function out of what several learners propose.

The core learner comes first. Where it leaves duplicates apart, its function is completed by mappings between forms
of URLs, judged together with what is there: they stay where more URLs are removed and no more pages are lost. So the
whole is at least as good, on what was seen, as the core alone, and what says nothing new is not deployed.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..rules.model import key_problem, operation_problem
from .config import current
from .data.frame import Frame
from .data.judgement import Judgement, SiteUrls, book_of, rules_acting
from .data.sampling import SEED, searched
from .decision.strata import narrowed
from .learners import replacing
from .learners.core import Learner, SiteEvidence, difference_sets
from .proposals.combining import outcome_of, rules_of
from .proposals.proposal import Match, Proposal

logger = logging.getLogger(__name__)

MAX_SEARCHED = 30_000
"""Maximum number of URLs in which forms are looked for; what is found is judged on all."""
MAX_PARTING = 5
"""Patterns of forms that are tried without, since under them URLs of a page part that were one."""
MAX_ROUNDS = 5
"""Rounds of narrowing what was chosen, until nothing changes."""
CORE = "difference_sets"
"""The core learner, as the evidence of a rule names it."""
FORMS = "replacing"
"""The learner of forms of URLs: it runs on the duplicates that the core leaves apart, and compares whole URLs."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Proposals that may act. ``sources`` are the learners that each comes from: others may say the same."""

    proposals: list[Proposal] = field(default_factory=list)
    sources: Mapping[Proposal, tuple[str, ...]] = field(default_factory=dict)


def selected(evidence: SiteEvidence) -> Selected:
    """Return the proposals of the learners that may act; none where no two URLs of the sample lead to one page."""
    sample = evidence.sample
    pages = len(set(sample.content))
    if len(sample.urls) == pages or pages < 2:
        return Selected()
    own = _narrowed(_asked(CORE, difference_sets, evidence), evidence)
    outcome = _judged(own, evidence)
    alone = _Choice(own, {CORE: own})
    if _is_enough(outcome) or evidence.deadline.passed():
        return _with_constants(alone, evidence)
    some = _searched(evidence, outcome)
    choice = _with_forms(alone, some)
    if some is not evidence:
        # What some of the URLs let through is asked of all of them.
        choice = replace(choice, proposals=_narrowed(choice.proposals, evidence))
        if _merit(_judged(choice.proposals, evidence)) > _merit(outcome):
            choice = alone
    return _with_constants(choice, evidence)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Proposals, and what each learner proposed."""

    proposals: list[Proposal]
    candidates: Mapping[str, Sequence[Proposal]]


def _narrowed(proposals: Sequence[Proposal], evidence: SiteEvidence) -> list[Proposal]:
    """Return proposals, each for the values and the sections that its evidence reaches."""
    return narrowed(proposals, evidence.table, _judged(proposals, evidence), evidence.deep)


def _searched(evidence: SiteEvidence, outcome: Judgement) -> SiteEvidence:
    """Return the evidence in which forms are looked for: all, or a sample of it where it is large."""
    rows = len(evidence.table)
    if rows <= MAX_SEARCHED:
        return evidence
    frame = Frame(evidence.table, np.arange(rows))
    return evidence.part(searched(frame, outcome.numbers, MAX_SEARCHED, np.random.default_rng(SEED)))


def _with_forms(choice: _Choice, evidence: SiteEvidence) -> _Choice:
    """Return a choice with the mappings between forms of URLs that show when what may be dropped is gone, if they remove more."""
    outcome = _judged(choice.proposals, evidence)
    if _is_enough(outcome) or evidence.deadline.passed():
        return choice
    left = replace(evidence, sample=_left_apart(outcome))
    found = _asked(FORMS, lambda one: replacing.proposals(one.sample, one.deep), left)
    candidates = {**choice.candidates, FORMS: found}
    fresh = [proposal for proposal in found if proposal not in choice.proposals]
    if not fresh:
        return replace(choice, candidates=candidates)
    union, joined = _joined(choice.proposals, fresh, outcome, evidence)
    return _Choice(union if _merit(joined) < _merit(outcome) else choice.proposals, candidates)


def _left_apart(outcome: Judgement) -> SiteUrls:
    """Return the URLs of a judgement as its function leaves them, each with the page that most of its URLs show.

    Of equals it is the page that most of all URLs show, so that an odd response takes the place of no page.
    """
    content = outcome.sample.content
    everywhere = Counter(content)
    pages = []
    for members in outcome.by_key.values():
        here = Counter(content[i] for i in members)
        pages.append(max(here, key=lambda page: (here[page], everywhere[page])))
    return replace(
        outcome.sample,
        urls=list(outcome.by_key),
        content=pages,
        times=None,
        constant=None,
        remembered={},
    )


def _joined(
    chosen: list[Proposal], fresh: list[Proposal], outcome: Judgement, evidence: SiteEvidence
) -> tuple[list[Proposal], Judgement]:
    """Return the chosen and the fresh proposals together, and their judgement; *outcome* is that of the chosen ones.

    Two learners may lead the URLs of a page to different forms, where each alone leads them to one. So the patterns of
    what is fresh that part what was one before are taken out again, where more is removed without them.
    """
    union = [*chosen, *fresh]
    joined = _judged(union, evidence)
    for match in _parting(fresh, outcome, joined, evidence)[:MAX_PARTING]:
        if evidence.deadline.passed():
            break
        kept = [proposal for proposal in fresh if proposal.match != match]
        other = [*chosen, *kept]
        without = _judged(other, evidence)
        if _merit(without) < _merit(joined):
            fresh, union, joined = kept, other, without
    return union, joined


def _parting(fresh: Sequence[Proposal], before: Judgement, after: Judgement, evidence: SiteEvidence) -> list[Match]:
    """Return the patterns of proposals under which URLs of pages are that have more keys than before, most of them first."""
    sample = after.sample
    known, now = _keys_of_pages(before), _keys_of_pages(after)
    parted = {page for page, number in now.items() if number > known[page]}
    if not parted:
        return []
    rules = rules_of(sample.site, fresh)
    matches = {rule.id: match for rule, match in zip(rules, dict.fromkeys(one.match for one in fresh), strict=True)}
    book = book_of(rules, sample, evidence.deep)
    urls = (url for url, page in zip(sample.urls, sample.content, strict=True) if page in parted)
    acting_on = rules_acting(book, [one.operation for one in fresh])
    count = Counter(matches[rule.id] for url in urls for rule in acting_on(url))
    return [match for match, _ in count.most_common()]


def _keys_of_pages(judgement: Judgement) -> Counter[int]:
    """Return how many keys the URLs of each page have."""
    content = judgement.sample.content
    return Counter(page for members in judgement.by_key.values() for page in {content[i] for i in members})


def _is_enough(outcome: Judgement) -> bool:
    """Return whether a function removes nearly all duplicates."""
    return outcome.removed >= current().enough_removed * (len(outcome.sample.urls) - len(set(outcome.sample.content)))


def _merit(outcome: Judgement) -> float:
    """Return how many downloads a function costs, less those that it saves."""
    return -value_of(outcome)


def value_of(outcome: Judgement) -> float:
    """Return the downloads that a function saves, less those that the pages are worth which it is expected to lose."""
    return outcome.verdict().value


def _with_constants(choice: _Choice, evidence: SiteEvidence) -> Selected:
    """Return a choice, with what must be kept beside it."""
    sources = _sources(choice.proposals, choice.candidates)
    kept = choice.proposals
    for _ in range(MAX_ROUNDS):
        # What is taken from one proposal may be what another one was excused by.
        before, kept = kept, _narrowed(kept, evidence)
        if kept == before:
            break
    sources = {one: sources.get(one, (CORE,)) for one in kept}
    return Selected(kept, sources)


def _asked(name: str, learner: Learner, evidence: SiteEvidence) -> list[Proposal]:
    """Return what a learner proposes and rules can say; nothing where it fails."""
    try:
        found = learner(evidence)
    except Exception:
        # The others have found something, too; their rules must not go with this one's fault.
        logger.exception("The learner %s failed on %s; the others go on", name, evidence.sample.site)
        return []
    unsayable = {
        one.match
        for one in found
        if operation_problem(one.key, one.operation) or any(key_problem(key) for key, _ in one.match)
    }
    return [proposal for proposal in found if proposal.match not in unsayable]


def _judged(proposals: Sequence[Proposal], evidence: SiteEvidence) -> Judgement:
    """Return what proposals do to the URLs of the sample."""
    return outcome_of(proposals, evidence.sample, evidence.deep)


def _sources(
    chosen: Iterable[Proposal], candidates: Mapping[str, Sequence[Proposal]]
) -> dict[Proposal, tuple[str, ...]]:
    return {
        proposal: tuple(name for name, proposals in candidates.items() if proposal in proposals) for proposal in chosen
    }
