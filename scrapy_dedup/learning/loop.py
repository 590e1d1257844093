"""The loop that finds what URLs of one page have in common: pairs propose operations, the judge weighs them, the most valuable one acts.

    pairs -> candidates -> judge -> the most valuable within the budget -> apply to all URLs -> again

Merging is denoising: with each operation that acts pages get more URLs, and more pairs propose.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

import numpy as np

from . import judge as judging
from .constants import constant_pages
from .data.soft_errors import soft_errors
from .evidence.arrays import Numbers
from .evidence.witnesses import SHARES
from .kinds import kind_of
from .operations import SUPPORT, Condition, Drop, Operation, Pair, with_guard
from .rewrites import OPERATIONS
from .scopes import restricted
from .table import Table
from .trial import Judged, Trial
from .views import View

MOST_OF_PAGE: Final = 8
"""URLs of a page that are compared each with each."""
MOST_STEPS: Final = 40
"""Operations of a site."""
LARGE: Final = 4
"""URLs of a group that tells of odd responses."""
UNDECIDED: Final = 0.3
"""Share of the groups of an operation that may be asked for."""


@dataclass(slots=True)
class Question:
    """URLs to fetch again, what the answers are worth, and how many URLs they speak for."""

    urls: tuple[int, ...]
    value: float
    responses: float


@dataclass
class Loop:
    """The loop for one site. *views* and *pages*: of each URL the view, which the operations change, and the number of its content."""

    views: list[View]
    pages: Sequence[int]
    confirmed: frozenset[int]
    """Contents that were seen again when they were asked for: no odd responses."""
    told: Numbers
    """The log-likelihood of the RATES of odd responses by what single URLs have shown several times."""
    odd: float
    """Odd responses among *responses* that were fetched again."""
    responses: float
    max_loss: float
    """Share of the pages that may surely be lost; one page at least, unless it is 0."""
    operations: list[Operation] = field(default_factory=list)
    questions: dict[tuple[int, ...], Question] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shown = {(frozenset(view.items()), page) for view, page in zip(self.views, self.pages, strict=True)}
        self.urls = Counter(page for _, page in shown)
        self.rates = judging.usual_rates()
        self.spent = 0
        self.most = max(1.0, self.max_loss * len(self.urls)) if self.max_loss else 0.0

    def run(self) -> list[Operation]:
        """Return the operations of the site, in the order in which they act."""
        trial = self._trial()
        for step in range(MOST_STEPS):
            candidates = self.candidates(trial.table)
            if not candidates:
                break
            if not step:
                self.rates = self.rates_of(trial, candidates)
                trial = replace(trial, rates=self.rates)
            best = self._best(trial, candidates)
            if best is None:
                break
            self.spent += best.surely_lost
            self.operations.append(restricted(trial, best))
            for view in self.views:
                self.operations[-1].apply(view)
            before, trial = len(trial.table), self._trial()
            if len(trial.table) >= before:
                break
        return self.operations

    def _trial(self) -> Trial:
        return Trial(Table(self.views, self.pages, self.urls), self.urls, self.confirmed, self.rates)

    def _best(self, trial: Trial, candidates: Sequence[Operation]) -> Judged | None:
        """Return the most valuable candidate, as a whole or in part, that fits the budget."""
        best: Judged | None = None
        for operation in candidates:
            found = trial.judge(operation)
            if len(found.rows) < SUPPORT:
                continue
            self._ask(trial, found)
            if not found.verdict.may_act and isinstance(operation, Drop) and len(operation.keys) > 1:
                found = self._put_back(trial, found)
            chosen = self._excepted(trial, found) if found.verdict.may_act else self._guarded(trial, found)
            if chosen is not None:
                chosen = self._key_by_key(trial, chosen)
            if (
                chosen is not None
                and chosen.verdict.value > 0
                and self.spent + chosen.surely_lost <= self.most
                and (best is None or chosen.verdict.value > best.verdict.value)
            ):
                best = chosen
        return best

    # -- candidates

    def candidates(self, table: Table) -> list[Operation]:
        """Return the operations that pairs of URLs of one page propose."""
        units: defaultdict[int, list[int]] = defaultdict(list)
        for unit, page in enumerate(table.page.tolist()):
            units[page].append(unit)
        proposed: list[dict[Hashable, list[Pair]]] = [{} for _ in OPERATIONS]
        for of_page in units.values():
            pairs = [(table.views[one], table.views[other]) for one, other in combinations(of_page[:MOST_OF_PAGE], 2)]
            for kind, found in zip(OPERATIONS, proposed, strict=True):
                once: dict[Hashable, Pair] = {}
                for one, other in pairs:
                    for each in kind.propose(one, other):
                        once.setdefault(each, (one, other))
                for each, pair in once.items():
                    found.setdefault(each, []).append(pair)
        return [
            operation for kind, found in zip(OPERATIONS, proposed, strict=True) for operation in kind.made(found, table)
        ]

    def rates_of(self, trial: Trial, candidates: Sequence[Operation]) -> Numbers:
        """Return what is believed of the share of odd responses, by controls, what was asked, and large groups that agree."""
        judged = sorted(
            [trial.judge(operation) for operation in candidates],
            key=lambda each: -sum(len(each.groups.looks[look]) == 1 for look in each.groups.look) if each.groups else 0,
        )
        told = []
        for each in judged[:6]:
            large = [Counter(trial.table.page[units].tolist()) for units in each.rows if len(units) > 2]
            if sum(len(shown) == 1 for shown in large) < 0.5 * len(large):
                continue  # it is wrong itself
            agreeing = [
                shown for shown in large if shown.total() >= LARGE and max(shown.values()) >= 0.74 * shown.total()
            ]
            all_ = sum(shown.total() for shown in agreeing)
            odd = sum(
                number
                for shown in agreeing
                for page, number in shown.items()
                if self.urls[page] == 1 and number < max(shown.values())
            )
            told.append((odd, all_))
        enough = [each for each in told if each[1] >= 50] or sorted(told, key=lambda each: -each[1])[:1]
        odd, all_ = min(enough, key=lambda each: (each[0] + 1) / (each[1] + 100), default=(0, 0))
        rates = judging.usual_rates() + self.told
        rates = rates + judging.told_rates(self.odd + odd, self.responses + all_)
        found: Numbers = rates - np.logaddexp.reduce(rates)
        return found

    # -- parts of an operation

    def _put_back(self, trial: Trial, found: Judged) -> Judged:
        """Return the best part of keys that may not be dropped together: the key whose return gains most is put back, again and again."""
        while not found.verdict.may_act and isinstance(found.operation, Drop) and len(found.operation.keys) > 1:
            keys = found.operation.keys
            fewer = [replace(found.operation, keys=tuple([each for each in keys if each != key])) for key in keys]
            best = max(
                [trial.judge(each) for each in fewer],
                key=lambda each: (each.verdict.value, -each.verdict.wrong),
            )
            if best.verdict.value <= found.verdict.value and best.verdict.wrong >= found.verdict.wrong:
                break
            found = best
        return found

    def _key_by_key(self, trial: Trial, found: Judged) -> Judged | None:
        """Return an operation without the keys of which the groups in which they differ do not let them be dropped.

        What speaks for one key says nothing of another that is dropped with it.
        """
        while isinstance(found.operation, Drop) and len(found.operation.keys) > 1:
            keys = tuple([key for key in found.operation.keys if self._may_be_dropped(trial, found, key)])
            if keys == found.operation.keys:
                return found
            if not keys:
                return None
            found = trial.judge(replace(found.operation, keys=keys))
            if not found.verdict.may_act:
                return None
        return found

    def _may_be_dropped(self, trial: Trial, found: Judged, key: str) -> bool:
        column = trial.table.hashes_of(key)
        rows = [found.rows[number] for number in found.differing(column)]
        if not rows:
            return False
        kind = kind_of(Drop(keys=(key,)), trial.table)
        groups = trial.groups(found, kind, rows, having=column != 0)
        return judging.verdict(groups, kind, self.rates).is_right

    def _guarded(self, trial: Trial, found: Judged) -> Judged | None:
        """Return an operation under those values of another key under which it may act; None if there are none."""
        best: tuple[float, Condition] | None = None
        for key, values in trial.table.guards.items():
            if key in found.operation.touched or any(condition.key == key for condition in found.operation.guard):
                continue
            under = self._by_value(trial, found, key)
            if len(under) < 2:
                continue
            passing = []
            for value in values:
                if value in under:
                    part = trial.part(found, under[value])
                    if part.verdict.may_act:
                        passing.append((value, part.verdict.value))
            worth = sum(value for _, value in passing)
            if passing and (best is None or worth > best[0]):
                best = worth, Condition(key, frozenset([value for value, _ in passing]))
        if best is None:
            return None
        judged = trial.judge(with_guard(found.operation, best[1]))
        return judged if judged.verdict.may_act else None

    def _excepted(self, trial: Trial, found: Judged) -> Judged:
        """Return an operation without the values of other keys under which it is plainly wrong."""
        if (found.verdict.bad > 0.3).sum() < 2:
            return found
        operation = found.operation
        for key, values in trial.table.guards.items():
            if key in operation.touched:
                continue
            under = self._by_value(trial, found, key)
            for value in values:
                some = under.get(value, [])
                if 2 <= len(some) <= 0.5 * len(found.rows) and len(operation.guard) < len(found.operation.guard) + 3:
                    shares = trial.part(found, some).verdict.shares
                    if shares[SHARES >= 0.3].sum() > 0.5:
                        operation = with_guard(operation, Condition(key, frozenset([value]), is_in=False))
        if operation is found.operation:
            return found
        judged = trial.judge(operation)
        return judged if judged.verdict.value >= found.verdict.value else found

    @staticmethod
    def _by_value(trial: Trial, found: Judged, key: str) -> dict[str | None, list[int]]:
        column = trial.table.columns.get(key, {})
        under: defaultdict[str | None, list[int]] = defaultdict(list)
        for number, units in enumerate(found.rows):
            under[column.get(int(units[0]))].append(number)
        return under

    # -- what to ask

    def _ask(self, trial: Trial, found: Judged) -> None:
        """Note the URLs of undecided groups of an operation that would act if these were odd responses."""
        if found.groups is None:
            return
        several = [len(found.groups.looks[look]) > 1 for look in found.groups.look]
        undecided = [number for number, each in enumerate(several) if each and found.verdict.bad[number] > 0.02]
        if not undecided or len(undecided) > UNDECIDED * len(found.rows):
            return
        others = [number for number in range(len(found.rows)) if number not in set(undecided)]
        rest = trial.part(found, others)
        if not rest.verdict.may_act:
            return
        for number in undecided:
            units = found.rows[number].tolist()
            usual, most = Counter(trial.table.page[units].tolist()).most_common(1)[0]
            odd = [unit for unit in units if most == 1 or trial.table.page[unit] != usual][:2]
            urls = tuple(sorted([trial.table.rows_of[unit][0] for unit in odd]))
            value, responses = rest.verdict.value / len(undecided), sum(map(len, found.rows)) / len(undecided)
            self.questions[urls] = Question(urls, value, responses)


Ask = Callable[[str], int | None]
"""The number of the content that a URL shows when it is fetched again; None if it is not fetched."""
MOST_ASKED: Final = 12
"""URLs of a site that are fetched again."""


def learn_operations(
    urls: Sequence[str],
    views: Sequence[View],
    contents: Sequence[int],
    ask: Ask | None,
    *,
    told: Numbers,
    max_loss: float,
) -> list[Operation]:
    """Return the operations of a site from what each of its URLs, in normal form, has shown (the numbers of contents).

    *told* is the log-likelihood of the RATES of odd responses by what single URLs have shown several times, *max_loss* the share of
    the pages that may surely be lost. *ask* is called for at most MOST_ASKED URLs, where what they show again decides most.
    """
    shown = list(contents)
    confirmed: set[int] = set()
    odd, responses, left = 0.0, 0.0, MOST_ASKED
    times = Counter(contents)
    while True:
        of_site = [dict(view) for view in views]
        constants = constant_pages(of_site, shown)
        rows = [row for row, view in enumerate(of_site) if not any(each.apply(view) for each in constants)]
        soft = soft_errors([urls[row] for row in rows], np.array([shown[row] for row in rows], np.int32))
        rows = [row for row, is_soft in zip(rows, soft, strict=True) if not is_soft]
        left_views, left_pages = [of_site[row] for row in rows], [shown[row] for row in rows]
        loop = Loop(left_views, left_pages, frozenset(confirmed), told, odd, responses, max_loss)
        operations = [*constants, *loop.run()]
        asked = False
        for question in sorted(loop.questions.values(), key=lambda each: (-each.value, each.urls)):
            if ask is None or left < len(question.urls):
                break
            left -= len(question.urls)
            answers = {row: ask(urls[row]) for row in [rows[each] for each in question.urls]}
            if None in answers.values():
                continue
            responses += question.responses
            asked = True
            for row, again in answers.items():
                if again == contents[row]:
                    confirmed.add(contents[row])
                else:
                    odd += 1
                    shown[row] = again if again is not None and times[again] else contents[row]
        if not asked:
            return operations
