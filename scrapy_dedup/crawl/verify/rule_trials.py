"""Trials of rules: for and against which rule a spot check speaks, where several have made it a duplicate.

A session id and a page number that differ in two URLs at once: if they are two pages, either rule may be wrong,
or both. Of such rules that is suspected which was confirmed by itself least often, for values like these. Where that tells
nothing, the spot check waits until others do; where they do not, all its rules are to blame, as
a right rule that is suspended costs requests, and a wrong one that acts costs pages.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...learning.lifetime.refutation import Difference, Noise, Trial

#: Spot checks that wait, of the same rules.
PATIENCE: Final = 12
#: Pages that spot checks of a rule have shown, each of which was fetched by another URL, too. So few may be errors and forms.
ELSEWHERE: Final = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A spot check that was not the page it was taken for, by one of several rules."""

    rules: tuple[str, ...]
    difference: Difference
    #: What tells the page that it was.
    content: str
    noise: Noise
    #: The URL of the spot check, and that of the page it was taken for.
    url: str
    page: str
    #: By the rule: the kind of what it changes there. That it is right for one value says nothing about another.
    kinds: Mapping[str, int] = field(default_factory=dict)
    #: Whether another URL has shown the page.
    elsewhere: bool = False


class RuleTrials:
    """The rules of one site and what spot checks say of them."""

    def __init__(self) -> None:
        #: By the id of the rule.
        self.trials: dict[str, Trial] = {}
        #: How often a rule was confirmed where no other one was needed, by the kind of what it changed there.
        self._alone: Counter[tuple[str, int]] = Counter()
        self._open: list[Case] = []
        #: By the rules that are suspected: the first cases whose pages other URLs have shown, by the page.
        self._elsewhere: defaultdict[tuple[str, ...], dict[str, Case]] = defaultdict(dict)
        #: Rules of which the next request that no other rule filters is to be checked, as it may decide an open case.
        self.wanted: set[str] = set()

    def __bool__(self) -> bool:
        """Whether there are cases that no spot check has decided yet."""
        return bool(self._open)

    def confirm(self, rules: tuple[str, ...], kinds: Mapping[str, int] | None = None) -> list[tuple[str, Case]]:
        """Count a spot check that *rules* were right about; return the rules that it refutes, by leaving no other ones."""
        for rule in rules:
            self.trial(rule).add(Difference.NONE)
        if len(rules) == 1:
            self._alone[rules[0], (kinds or {}).get(rules[0], 0)] += 1
        cases, self._open = self._open, []
        return [refuted for case in cases for refuted in self._try(case)]

    def accuse(self, case: Case) -> list[tuple[str, Case]]:
        """Count a spot check that rules were wrong about; return the rules that it refutes.

        An error or a form is one page, whatever it is asked for: one that other URLs have shown counts
        only beside others of that sort.
        """
        if not case.elsewhere:
            return self._try(case)
        pages = self._elsewhere[self._suspected(case)]
        if len(pages) >= ELSEWHERE:
            return self._try(case)
        pages.setdefault(case.content, case)
        if len(pages) < ELSEWHERE:
            return []
        return [refuted for each in pages.values() for refuted in self._try(each)]

    def settle(self) -> list[tuple[str, Case]]:
        """Decide the cases that are open, since no more spot checks come; return the rules that they refute."""
        cases, self._open = self._open, []
        return [refuted for case in cases for refuted in self._blame(case.rules, case)]

    def trial(self, rule: str) -> Trial:
        """Return the trial of a rule."""
        return self.trials.setdefault(rule, Trial())

    def drop(self, rule: str) -> None:
        """Forget the cases in which a rule is suspected that is suspended now."""
        self.wanted.discard(rule)
        self._open = [case for case in self._open if rule not in case.rules]
        for rules in [rules for rules in self._elsewhere if rule in rules]:
            del self._elsewhere[rules]

    def _try(self, case: Case) -> list[tuple[str, Case]]:
        suspected = self._suspected(case)
        if len(suspected) == 1:
            return self._blame(suspected, case)
        if not any(each.rules == case.rules for each in self._open):
            self.wanted.update(suspected)
        self._open.append(case)
        same = [each for each in self._open if each.rules == case.rules]
        if len(same) < PATIENCE:
            return []
        self._open = [each for each in self._open if each.rules != case.rules]
        return [refuted for each in same for refuted in self._blame(suspected, each)]

    def _suspected(self, case: Case) -> tuple[str, ...]:
        """Return the rules that were confirmed by themselves least often, for what they change there."""
        alone = {rule: self._alone[rule, case.kinds.get(rule, 0)] for rule in case.rules}
        return tuple(rule for rule in case.rules if alone[rule] == min(alone.values()))

    def _blame(self, rules: tuple[str, ...], case: Case) -> list[tuple[str, Case]]:
        refuted = []
        for rule in rules:
            trial = self.trial(rule)
            if trial.met(case.content):
                continue
            trial.add(case.difference)
            if trial.refuted(case.noise):
                refuted.append((rule, case))
        return refuted
