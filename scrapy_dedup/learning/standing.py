"""Rules that act already, and what they keep from being seen.

A rule that acts discards what would speak for it: of the URLs that it makes one, the crawl downloads the first.
Learned again from what is downloaded then, it would be narrowed to where duplicates were seen before it was
there, what it had discarded elsewhere would be fetched after all, and so on in circles. So a rule that acts stays as
wide as it is while enough duplicates that were seen speak for it and none against it, nor the site itself by what it
declares; what it discards is watched by samples.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..rules import Rule, Status
from ..urls import DeepSplit
from .blame import blamed
from .combining import rules_of
from .coverage import says_as_much
from .emission import Proposal
from .evidence import MIN_GROUPS
from .judgement import Sample, book_of, judged
from .validation import MAX_CLEAN

__all__ = ["with_standing"]


def with_standing(
    proposals: Sequence[Proposal],
    before: Iterable[Rule],
    sample: Sample,
    deep: Mapping[str, DeepSplit],
    known_deep: Mapping[str, DeepSplit],
    *,
    contradicted: Callable[[Sequence[Proposal]], bool],
) -> tuple[list[Proposal], dict[Proposal, tuple[str, ...]]]:
    """Return *proposals*, and in the place of narrower ones what the learned rules of *before* that act say.

    With these the learners that they are from. *deep* are the deep tokens that the proposals may speak of,
    *known_deep* those of the rules of before. *contradicted* tells whether the site declares otherwise.
    """
    kept = list(proposals)
    sources: dict[Proposal, tuple[str, ...]] = {}
    outcome = judged(book_of(rules_of(sample.site, kept), sample, deep), sample)
    for rule in sorted(before, key=lambda rule: rule.id):
        if rule.status is not Status.ACTIVE or rule.is_alias or not _same_deep(rule, deep, known_deep):
            continue
        own = [Proposal(tuple(rule.match.items()), key, operation) for key, operation in rule.ops.items()]
        if all(any(says_as_much(each, one) for each in kept) for one in own):
            continue
        joined = [*(each for each in kept if not any(says_as_much(one, each) for one in own)), *own]
        book = book_of(rules_of(sample.site, joined), sample, deep)
        found = judged(book, sample)
        if len(found.bad) > len(outcome.bad) or found.lost > outcome.lost or found.removed < outcome.removed:
            continue
        clean = found.clean
        step = len(clean) // MAX_CLEAN + 1
        speaking = blamed(own, book, found, clean[::step])
        if all(len(speaking.get(one, ())) * step >= MIN_GROUPS for one in own) and not contradicted(own):
            kept, outcome = joined, found
            sources.update(dict.fromkeys(own, rule.evidence.learners if rule.evidence is not None else ()))
    return kept, {proposal: names for proposal, names in sources.items() if proposal in kept}


def _same_deep(rule: Rule, deep: Mapping[str, DeepSplit], known_deep: Mapping[str, DeepSplit]) -> bool:
    """Whether the parts of values that a rule speaks of are the same parts now."""
    for key in (*rule.match, *rule.ops):
        whole = key.removesuffix(".head").removesuffix(".tail")
        if whole != key and deep.get(whole) != known_deep.get(whole):
            return False
    return all(deep.get(key) == known_deep.get(key) for key in rule.ops)
