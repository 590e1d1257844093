"""The sequential test: how many samples refute a rule, and how many do not."""

import random

import pytest

from scrapy_dedup.content.resemblance import Difference, difference
from scrapy_dedup.content.sketch import sketch_of_html
from scrapy_dedup.crawl.verify.rule_trials import ELSEWHERE, PATIENCE, Case, RuleTrials
from scrapy_dedup.learning.lifetime.refutation import Noise, Trial, likelihood_ratio, noise_of

from .server import page, prose

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


def test_the_ratio_of_likelihoods() -> None:
    assert likelihood_ratio(0, 100, 0.01) < 1
    assert likelihood_ratio(1, 1, 1.0) < 20, "where every page differs, no difference says anything"
    assert likelihood_ratio(1000, 1000, 1e-9) > 1e100
    ratios = [likelihood_ratio(bad, 20, 0.05) for bad in range(2, 20)]
    assert ratios == sorted(ratios)


def test_noise_is_counted() -> None:
    unknown = Difference.UNKNOWN
    pairs = [(NONE, True), (NEAR, False), (CLEAR, True), (CLEAR, False), (unknown, True)]
    assert noise_of(pairs) == Noise(1, 2, 1, 1, 1)
    assert Noise(1, 1).share == 1, "all that was met"
    assert Noise(1, 1, 1).clear_share == 0.5


def sketch(text: str, *more: str) -> object:
    body = "".join(f"<p>{part}</p>" for part in more)
    return sketch_of_html(page(text).replace("<ul>", f"{body}<ul>"))


def test_how_two_pages_differ() -> None:
    menu = ["the menu of the shop", *(f"section {number}" for number in range(30))]
    one, again = sketch(prose(1, 20), *menu, "12:00"), sketch(prose(1, 20), *menu, "12:01")
    two = sketch(prose(2, 20), *menu, "12:02")
    others = [sketch(prose(number, 20), *menu, "12:03") for number in range(3, 8)]
    assert difference(one, again, others) is NEAR
    assert difference(one, two, others) is CLEAR
    assert difference(one, two, []) is NEAR, "nobody knows what is the template"
    assert difference(one, None, others) is NEAR
    colours = [sketch(prose(1, 20), *menu, f"in {colour}") for colour in ("red", "blue")]
    assert difference(*colours, others) is NEAR


def case(*rules: str, number: int = 0, elsewhere: bool = False) -> Case:
    return Case(rules, CLEAR, f"page {number}", Noise(), "http://a.test/1", "http://a.test/2", elsewhere=elsewhere)


def names(refuted: list[tuple[str, Case]]) -> list[str]:
    return [rule for rule, _ in refuted]


def test_of_two_rules_the_one_that_was_never_right_alone_is_to_blame() -> None:
    suspects = RuleTrials()
    suspects.confirm(("sid",))
    assert names(suspects.accuse(case("page", "sid"))) == ["page"]
    assert suspects.trial("sid").differing == 0


def test_a_case_waits_for_others() -> None:
    suspects = RuleTrials()
    assert not suspects.accuse(case("page", "sid"))
    assert suspects
    assert not suspects.confirm(("page", "sid")), "which says nothing of either"
    assert names(suspects.confirm(("sid",))) == ["page"]
    assert not suspects


def test_where_nothing_decides_all_are_to_blame() -> None:
    suspects = RuleTrials()
    found = [names(suspects.accuse(case("page", "sid", number=number))) for number in range(PATIENCE)]
    assert not any(found[:-1])
    assert set(found[-1]) == {"page", "sid"}
    suspects = RuleTrials()
    suspects.accuse(case("page", "sid"))
    assert set(names(suspects.settle())) == {"page", "sid"}
    assert not suspects.settle()


def test_one_page_counts_once() -> None:
    """A form to log in, an error: however many samples lead to it."""
    suspects = RuleTrials()
    near = case("sid")
    for _ in range(10):
        assert not suspects.accuse(Case(near.rules, NEAR, "the form", Noise(), near.url, near.page))
    assert suspects.trial("sid").differing == 1


def test_several_pages_that_other_urls_have_shown_are_no_errors() -> None:
    """A form to log in is one page, wherever it is shown; several such pages are what their URLs say."""
    suspects = RuleTrials()
    forms = [case("lang", number=number % (ELSEWHERE - 1), elsewhere=True) for number in range(20)]
    assert not [found for form in forms for found in suspects.accuse(form)]
    assert suspects.trial("lang").samples == 0
    assert names(suspects.accuse(case("lang", number=ELSEWHERE, elsewhere=True)))[0] == "lang"
    assert suspects.trial("lang").clear == ELSEWHERE


def test_pages_that_other_urls_have_shown_count_for_the_rule_that_is_suspected() -> None:
    suspects = RuleTrials()
    suspects.confirm(("sid",))
    cases = [case(*rules, number=n, elsewhere=True) for n, rules in enumerate([("lang",), ("sid", "lang"), ("sid",)])]
    assert not [found for each in cases for found in suspects.accuse(each)]
    assert names(suspects.accuse(case("lang", "sid", number=7, elsewhere=True)))[0] == "lang"
    assert suspects.trial("sid").differing == 0
