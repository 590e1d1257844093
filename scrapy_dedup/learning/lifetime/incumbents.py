"""Incumbents: the rules that act already, settled with freshly learned ones.

A rule that acts filters what would speak for it: of the URLs that it makes one, a crawl downloads the first. And the
store may be another one, or none. So want of evidence never ends it (:mod:`..rules.lifecycle`): it stays as wide as it
is until a counterexample refutes it, together with the evidence that stands in its file, or the site declares that what
it drops is content. Of what is learned anew that is added which removes more, or says all that an incumbent says.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...rules import Keep, Literal, Rule, Status
from ...rules.lifecycle import Departure, Reason
from ...urls import DeepSplit
from ...urls.deep_tokens import whole_key
from ..data.judgement import Judgement, SiteUrls, book_of, judged
from ..decision.validation import pages_for, validation
from ..evidence.witnesses import remembered
from ..proposals.combining import outcome_of, rules_of
from ..proposals.coverage import exclude_each_other, says_as_much
from ..proposals.proposal import Proposal

MOST_PATTERNS = 40
"""Patterns of fresh proposals that are tried one by one beside the incumbents."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What is deployed: incumbents that stay with what is added to them.

    ``sources`` are the learners of the incumbents' proposals; ``departures`` the rules of before that leave; ``deep`` the
    deep tokens that all of them may speak of.
    """

    proposals: list[Proposal]
    deep: Mapping[str, DeepSplit]
    sources: Mapping[Proposal, tuple[str, ...]] = field(default_factory=dict)
    departures: tuple[Departure, ...] = ()


def with_incumbents(
    fresh: Sequence[Proposal],
    before: Iterable[Rule],
    sample: SiteUrls,
    deep: Mapping[str, DeepSplit],
    known_deep: Mapping[str, DeepSplit],
    *,
    counted: Mapping[Proposal, int],
    alike: SiteUrls,
) -> Settled:
    """Return *fresh* proposals settled with the learned rules of *before*.

    *deep* are the deep tokens that the fresh ones may speak of, *known_deep* those of the rules of before; *counted* are
    the witness groups that speak for what these say, in their files and since then; *alike* URLs that show one answer, as
    different pages may do, are none of the *sample*. O(URLs) for each
    look at the whole function: two where nothing changes.
    """
    learned = sorted((rule for rule in before if not rule.is_alias and not rule.status.users), key=lambda rule: rule.id)
    rules = {rule: said_by(rule) for rule in learned if rule.status is Status.ACTIVE}
    waiting = [rule for rule in learned if rule.status is Status.CANDIDATE]
    if not rules and not waiting:
        return Settled(list(fresh), deep)
    deep = {**deep, **{key: split for key, split in known_deep.items() if key in _keys_of(rules)}}
    acting = [one for said in rules.values() for one in said]
    sample = without_odd_contents(judged(book_of(rules_of(sample.site, acting), sample, deep), sample))
    return _Settling(sample, deep, rules, counted, alike).settled(
        [one for one in fresh if _has_its_splits(one, deep, known_deep, _keys_of(rules))], waiting
    )


class _Settling:
    """One settlement; *rules* are the acting rules of before, with what they say."""

    def __init__(
        self,
        sample: SiteUrls,
        deep: Mapping[str, DeepSplit],
        rules: Mapping[Rule, Sequence[Proposal]],
        counted: Mapping[Proposal, int],
        alike: SiteUrls,
    ) -> None:
        self._sample = sample
        self._alike = alike
        self._deep = deep
        self._rules = rules
        self._counted = counted
        self._removed: dict[tuple[Proposal, ...], int] = {}

    def settled(self, fresh: Sequence[Proposal], waiting: Sequence[Rule]) -> Settled:
        """Return the deployed proposals, and the outcome for each earlier rule; *waiting* are candidates."""
        left, reasons = self._left()
        chosen = self._completed(left, [one for one in fresh if not _narrows(one, left)])
        # Where what was learned first is in the way of what removes more, it is what is added.
        if self._removes(fresh) > self._removes(chosen) and self._validated(fresh) == list(fresh):
            chosen = self._completed(list(fresh), left)
        departures = []
        for rule, said in self._rules.items():
            by = self._rules_that_say(chosen, said)
            if all(one in chosen for one in said) and rule.id in by:
                continue
            covered = all(any(_says(other, one) for other in chosen) for one in said)
            reason, urls = reasons.get(rule, (Reason.COVERED, None))
            departures.append(Departure(rule, Reason.COVERED if covered else reason, urls, by))
        departures += self._ended(waiting, chosen)
        sources = {
            one: rule.evidence.learners
            for rule, said in self._rules.items()
            if rule.evidence is not None
            for one in said
            if one in chosen
        }
        return Settled(chosen, self._deep, sources, tuple(departures))

    # Incumbents

    def _left(self) -> tuple[list[Proposal], dict[Rule, tuple[Reason, tuple[str, str] | None]]]:
        """Return the remaining incumbents, and for the others the reason why they leave."""
        own = list(dict.fromkeys(one for said in self._rules.values() for one in said))
        outcome = validation(own, self._sample, self._deep, counted=self._counted)
        left = outcome.kept
        reasons: dict[Rule, tuple[Reason, tuple[str, str] | None]] = {}
        for rule, said in self._rules.items():
            if any(one not in left for one in said):
                pairs = (outcome.refuted[one] for one in said if one in outcome.refuted)
                reasons[rule] = Reason.COUNTEREXAMPLE, next(pairs, None)
            elif self._are_called_content(said):
                left = [one for one in left if one not in said]
                reasons[rule] = Reason.DECLARED, None
            elif self._rests_on_one_answer(said):
                left = [one for one in left if one not in said]
                reasons[rule] = Reason.ONE_ANSWER, None
        # A rule that only keeps goes where pages are seen to be one which it keeps apart.
        for one in [one for one in left if isinstance(one.operation, Keep)]:
            others = [other for other in left if other != one]
            if self._removes(others) > self._removes(left) and self._validated(others) == others:
                left = others
        return left, reasons

    def _are_called_content(self, said: Sequence[Proposal]) -> bool:
        """Return whether proposals drop what the site or lists call content, and too few pages outweigh that."""
        judge = self._sample.judge
        asked = [one for one in said if judge.said.get(one.key, 0.0) > 0]
        if not asked:
            return False
        here = pages_for(said, self._sample, self._deep)
        known = {one: max(here[one], self._counted.get(one, 0)) for one in asked}
        kinds = {one: judge.prior(one.key, self._sample.kind_of(one.key, one.operation).prior) for one in asked}
        return any(known[one] and not judge.posterior(remembered(known[one], 0.0, kinds[one])).may_act for one in asked)

    def _rests_on_one_answer(self, said: Sequence[Proposal]) -> bool:
        """Return whether too few pages speak for proposals without those answers that different pages have in common."""
        judge = self._sample.judge
        none = pages_for(said, self._alike, self._deep)
        if not any(none.values()):
            return False
        here = pages_for(said, self._sample, self._deep)
        for one in said:
            known = max(here[one], self._counted.get(one, 0) - none[one])
            prior = judge.prior(one.key, self._sample.kind_of(one.key, one.operation).prior)
            if none[one] and not judge.posterior(remembered(max(known, 0), 0.0, prior)).may_act:
                return True
        return False

    # What is added to them

    def _completed(self, left: list[Proposal], fresh: Sequence[Proposal]) -> list[Proposal]:
        """Return the incumbents with those fresh proposals that remove more, or say all that some of them say."""
        news = [one for one in fresh if not any(_says(other, one) for other in left)]
        if not news:
            return left
        union = _united(left, news)
        if self._removes(union) == self._removes(left) and not _widens(news, left):
            return left
        if self._adds(union, left) and not _widens(news, left):
            return union
        chosen = left
        for match in list(dict.fromkeys(one.match for one in news))[:MOST_PATTERNS]:
            some = [one for one in news if one.match == match]
            union = _united(chosen, some)
            if (self._adds(union, chosen) or _widens(some, chosen)) and self._goes_with(union, chosen):
                chosen = union
        return chosen

    def _adds(self, union: Sequence[Proposal], chosen: Sequence[Proposal]) -> bool:
        """Return whether a union removes more URLs than the chosen proposals, without counterexamples."""
        return self._removes(union) > self._removes(chosen) and self._goes_with(union, chosen)

    def _goes_with(self, union: Sequence[Proposal], chosen: Sequence[Proposal]) -> bool:
        """Return whether a union removes no fewer URLs than the chosen proposals, without counterexamples."""
        return self._removes(union) >= self._removes(chosen) and self._validated(union) == list(union)

    def _removes(self, proposals: Sequence[Proposal]) -> int:
        """Return how many URLs proposals remove together."""
        name = tuple(proposals)
        if name not in self._removed:
            self._removed[name] = outcome_of(proposals, self._sample, self._deep).removed
        return self._removed[name]

    def _validated(self, proposals: Sequence[Proposal]) -> list[Proposal]:
        return validation(proposals, self._sample, self._deep, counted=self._counted).kept

    # Rules of before

    def _rules_that_say(self, chosen: Sequence[Proposal], said: Sequence[Proposal]) -> tuple[str, ...]:
        """Return the ids of the rules into which proposals go that say all or some of what a rule says."""
        matches = {
            other.match
            for other in chosen
            for one in said
            if other.key == one.key and (_says(other, one) or _says(one, other))
        }
        found = rules_of(self._sample.site, [one for one in chosen if one.match in matches])
        return tuple(sorted(rule.id for rule in found))

    def _ended(self, waiting: Sequence[Rule], chosen: Sequence[Proposal]) -> list[Departure]:
        """Return the candidates that need not wait any more: others say as much, or pages speak against them."""
        found = []
        for rule in waiting:
            said = said_by(rule)
            if all(any(_says(other, one) for other in chosen) for one in said):
                found.append(Departure(rule, Reason.COVERED, by=self._rules_that_say(chosen, said)))
            elif not set(said) <= set(self._validated(_united(chosen, said))):
                found.append(Departure(rule, Reason.COUNTEREXAMPLE))
        return found


def said_by(rule: Rule) -> list[Proposal]:
    """Return what a rule says. Where it asks for the values that it drops, it only holds as a whole."""
    joint = len(rule.ops) > 1 and all(isinstance(rule.match.get(key), Literal) for key in rule.ops)
    return [Proposal(tuple(rule.match.items()), key, operation, joint) for key, operation in rule.ops.items()]


def _says(one: Proposal, other: Proposal) -> bool:
    """Return whether one proposal says all that another one says; of what keeps, nothing but the same does.

    What keeps is an exception to something wider, and which of two exceptions counts depends on how narrow they are.
    """
    return one == other or (not isinstance(other.operation, Keep) and says_as_much(one, other))


def _narrows(one: Proposal, incumbents: Sequence[Proposal]) -> bool:
    """Return whether a fresh proposal keeps what an incumbent drops: a caution, for want of evidence that the rule filters."""
    return isinstance(one.operation, Keep) and any(
        other.key == one.key
        and not isinstance(other.operation, Keep)
        and not exclude_each_other(dict(one.match), dict(other.match))
        for other in incumbents
    )


def _widens(fresh: Sequence[Proposal], incumbents: Sequence[Proposal]) -> bool:
    """Return whether a fresh proposal says all that an incumbent says, or is the family of its name."""
    return any(
        _says(one, other)
        or (one.key.endswith("*") and other.key.startswith(one.key[:-1]) and set(one.match) <= set(other.match))
        for one in fresh
        for other in incumbents
    )


def _united(chosen: Sequence[Proposal], more: Sequence[Proposal]) -> list[Proposal]:
    """Return proposals with *more*, less what these say, too."""
    return [*(one for one in chosen if not any(_says(other, one) for other in more)), *more]


def _keys_of(rules: Iterable[Rule]) -> set[str]:
    """Return the keys whose deep tokens, or which themselves, rules speak of."""
    return {whole_key(key) for rule in rules for key in (*rule.match, *rule.ops)}


def _has_its_splits(
    one: Proposal, deep: Mapping[str, DeepSplit], known_deep: Mapping[str, DeepSplit], kept: set[str]
) -> bool:
    """Return whether a fresh proposal speaks of no part of a value that the incumbents part elsewhere."""
    for key in (one.key, *(key for key, _ in one.match)):
        whole = whole_key(key)
        if whole != key and whole in kept and whole in known_deep and deep.get(whole) != known_deep[whole]:
            return False
    return True


LEAST_PAGES: Final = 3
"""Groups of URLs that are one page by the rules that show a content which may be odd; most groups do not show it."""


def without_odd_contents(judgement: Judgement) -> SiteUrls:
    """Return the sample without the URLs that show odd contents where the others of their group are one page. O(URLs)."""
    sample = judgement.sample
    content = sample.content
    shown = Counter(each for members in judgement.by_key.values() for each in {content[i] for i in members})
    odd = {each for each, pages in shown.items() if LEAST_PAGES <= pages <= len(judgement.by_key) / 2}
    dropped = {
        i
        for members in judgement.bad
        if len({content[i] for i in members} - odd) == 1
        for i in members
        if content[i] in odd
    }
    return sample.part([i for i in range(len(content)) if i not in dropped]) if dropped else sample
