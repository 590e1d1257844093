"""The sequential test: how many samples refute a rule, and how many do not."""

import random

import pytest

from scrapy_dedup.crawl.verify.rule_trials import ELSEWHERE, PATIENCE, Case, RuleTrials
from scrapy_dedup.learning.lifetime.refutation import Difference, Noise, Trial, noise_of

NONE, NEAR, CLEAR = Difference.NONE, Difference.NEAR, Difference.CLEAR
QUIET = Noise(0, 40)


def refuted_after(noise: Noise, *outcomes: Difference) -> int | None:
    """The number of samples after which a rule is refuted."""
    trial = Trial()
    for number, each in enumerate(outcomes, 1):
        trial.add(each)
        if trial.refuted(noise):
            return number
    return None


@pytest.mark.parametrize(
    ("noise", "outcomes", "after"),
    [
        (Noise(), [CLEAR], 1),
        (Noise(), [NONE] * 5 + [CLEAR], 6),
        (Noise(), [NONE] * 500 + [CLEAR], 501),
        (Noise(), [NEAR], None),
        (Noise(), [NEAR, NEAR], 2),
        (Noise(), [NONE] * 3 + [NEAR] + [NONE] * 3, None),
        (Noise(), [NONE] * 100 + [NEAR, NONE, NEAR, NEAR], 104),
        (QUIET, [NEAR], 1),
        (QUIET, [NONE] * 100, None),
        (Noise(30, 30), [NEAR] * 500, None),
        (Noise(30, 30), [NEAR] * 20 + [CLEAR], 21),
        (Noise(3, 30), [NEAR, NEAR, NONE] * 10, 8),
        (Noise(3, 30), [NONE, NONE, NONE, NONE, NEAR] * 10, None),
        (Noise(30, 30, 30), [CLEAR] * 4, None),
        (Noise(30, 30, 30), [CLEAR] * 20, 8),
        (Noise(0, 0, 0, 30, 30), [NEAR] * 500, None),
        (Noise(0, 0, 0, 30, 30), [NEAR] * 20 + [CLEAR], 21),
        (Noise(0, 9, 0, 30, 30), [NEAR], 1),
        (Noise(0, 0, 0, 0, 30), [NEAR], 1),
    ],
)
def test_when_samples_refute(noise: Noise, outcomes: list[Difference], after: int | None) -> None:
    assert refuted_after(noise, *outcomes) == after


def test_a_rule_that_is_right_is_seldom_refuted() -> None:
    """By noise of the share that is assumed, also if one looks after each sample."""
    chance = random.Random(5)
    noise = Noise(4, 20)
    share = 0.2
    assert share < noise.share < 0.45, "the upper bound of what was met"
    refuted = sum(
        refuted_after(noise, *(NEAR if chance.random() < share else NONE for _ in range(200))) is not None
        for _ in range(200)
    )
    assert refuted <= 20


@pytest.mark.parametrize("share", [0.1, 0.3, 1])
def test_a_rule_that_is_partly_wrong_is_refuted(share: float) -> None:
    chance = random.Random(7)
    assert all(
        refuted_after(QUIET, *(NEAR if chance.random() < share else NONE for _ in range(200))) is not None
        for _ in range(50)
    )


def test_an_unknown_difference_is_no_evidence() -> None:
    with pytest.raises(ValueError, match="no evidence"):
        Trial().add(Difference.UNKNOWN)


def test_noise_is_counted() -> None:
    unknown = Difference.UNKNOWN
    pairs = [(NONE, True), (NEAR, False), (CLEAR, True), (CLEAR, False), (unknown, True)]
    assert noise_of(pairs) == Noise(1, 2, 1, 1, 1)
    assert Noise(1, 1).share == 1, "all that was met"
    assert Noise(1, 1, 1).clear_share == 0.5


Step = tuple[str, str, int, bool, str]
FORMS = [("accuse", "lang", number % (ELSEWHERE - 1), True, "") for number in range(20)]
TRIALS: dict[str, list[Step]] = {
    # (what is said, of which rules, which page came, whether other URLs have shown it, which rules that refutes)
    "the one that was never right alone is to blame": [
        ("confirm", "sid", 0, False, ""),
        ("accuse", "page sid", 0, False, "page"),
    ],
    # That both are confirmed says nothing of either.
    "a case waits for others": [
        ("accuse", "page sid", 0, False, ""),
        ("confirm", "page sid", 0, False, ""),
        ("confirm", "sid", 0, False, "page"),
    ],
    "where nothing decides all are to blame": [
        *[("accuse", "page sid", number, False, "") for number in range(PATIENCE - 1)],
        ("accuse", "page sid", PATIENCE, False, "page sid"),
    ],
    "where nothing decides by the end of the crawl all are to blame": [
        ("accuse", "page sid", 0, False, ""),
        ("settle", "", 0, False, "page sid"),
        ("settle", "", 0, False, ""),
    ],
    # A form to log in is one page, wherever it is shown; several such pages are what their URLs say.
    "several pages that other URLs have shown are no errors": [*FORMS, ("accuse", "lang", ELSEWHERE, True, "lang")],
    "they count for the rule that is suspected": [
        ("confirm", "sid", 0, False, ""),
        ("accuse", "lang", 0, True, ""),
        ("accuse", "sid lang", 1, True, ""),
        ("accuse", "sid", 2, True, ""),
        ("accuse", "lang sid", 7, True, "lang"),
    ],
}


@pytest.mark.parametrize("name", TRIALS)
def test_which_rule_is_to_blame(name: str) -> None:
    trials = RuleTrials()
    for said, rules, number, elsewhere, expected in TRIALS[name]:
        ids = tuple(rules.split())
        case = Case(ids, CLEAR, f"page {number}", Noise(), "http://a.test/1", "http://a.test/2", elsewhere=elsewhere)
        given = {"confirm": [ids], "accuse": [case], "settle": []}[said]
        assert {rule for rule, _ in getattr(trials, said)(*given)} == set(expected.split())
    assert trials.trial("sid").differing == 0 or expected != "page"


def test_one_page_counts_once() -> None:
    """A form to log in, an error: however many samples lead to it."""
    trials = RuleTrials()
    for _ in range(10):
        assert not trials.accuse(Case(("sid",), NEAR, "the form", Noise(), "http://a.test/1", "http://a.test/2"))
    assert trials.trial("sid").differing == 1
