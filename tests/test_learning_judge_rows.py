"""Witness groups that look alike are worked out once: the likelihoods are those of each by itself."""

import numpy as np
import pytest

from scrapy_dedup.learning.config import current
from scrapy_dedup.learning.evidence.judge import Judge
from scrapy_dedup.learning.evidence.value_kinds import ValueKind
from scrapy_dedup.learning.evidence.witnesses import EQUALS, RATES, SHARES, likelihoods, witnesses


def drawn(seed: int) -> tuple[np.ndarray, ...]:  # type: ignore[type-arg]
    """Return group, content and value of some URLs, and whether a content is shown by one URL only."""
    rng = np.random.default_rng(seed)
    group = np.sort(np.r_[np.arange(40), rng.integers(0, 40, 120)])
    content = (group * 3 + (rng.random(160) < 0.2) * rng.integers(1, 3, 160)).astype(np.int32)
    counts = np.bincount(content)
    order = rng.permutation(160)
    return group[order], content[order], rng.integers(0, 4, 160)[order], (counts[content] == 1)[order]


def by_hand(content: list[int], lone: list[bool], value: list[int]) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Return the logarithms of the likelihoods of one group, as the judge's docstring has them."""

    def one_page(rows: list[int]) -> np.ndarray:  # type: ignore[type-arg]
        odd = {row: RATES * (1.0 if lone[row] else current().usual_error_rate) for row in rows}
        mains = [
            np.prod([1 - RATES if content[row] == main else odd[row] for row in rows], axis=0)
            for main in {content[row] for row in rows}
        ]
        return np.log(np.sum(mains, axis=0) + np.prod([odd[row] for row in rows], axis=0))

    parts = {each: [row for row in range(len(value)) if value[row] == each] for each in set(value)}
    pages = []
    for rows in parts.values():
        shown = [content[row] for row in rows]
        pages.append(max(sorted(set(shown)), key=shown.count))
    distinct = len(set(pages))
    equal = (len(parts) - distinct) * np.log(EQUALS) + (distinct - 1) * np.log1p(-EQUALS)
    several = np.sum([one_page(rows) for rows in parts.values()], axis=0)[:, None] + equal
    return one_page(list(range(len(content)))), several


@pytest.mark.parametrize("seed", range(4))
def test_each_group_has_its_own_likelihood(seed: int) -> None:
    group, content, value, lone = drawn(seed)
    found = witnesses(group, content, lone, ValueKind.OTHER.prior, value)
    assert len(found) == 40 > len(found.one)
    for number in range(40):
        rows = np.flatnonzero(group == number)
        one, several = by_hand(content[rows].tolist(), lone[rows].tolist(), value[rows].tolist())
        assert found.one[found.look[number]] == pytest.approx(one)
        assert found.several[found.look[number]] == pytest.approx(several)
        assert (found.removed[number], found.lost[number]) == (len(rows) - 1, len(set(content[rows])) - 1)


def test_parts_are_judged_as_each_by_itself() -> None:
    group, content, value, lone = drawn(9)
    found, judge = witnesses(group, content, lone, ValueKind.DRAWN.prior, value), Judge()
    part = np.sort(np.random.default_rng(0).integers(0, 9, len(found)))
    each = [found.part(part == number) for number in range(10)]
    together = likelihoods(found, part, 10)
    assert together.shape == (10, len(RATES), len(SHARES) * len(EQUALS))
    for number, one in enumerate(each):
        assert together[number] == pytest.approx(likelihoods(one)[0])
    said = judge.may_act(found, part, 10).tolist()
    assert said == [judge.posterior(one).may_act for one in each]
    assert len(set(said)) == 2
