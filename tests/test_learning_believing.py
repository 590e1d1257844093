"""Belief in the one pipeline: how many pages must speak for a rule, and what is a candidate until they do."""

from random import Random

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.belief import DEFAULT_WEIGHTS, Belief, Opinion, Source, log_odds
from scrapy_dedup.learning.believing import MOST_GROUPS, groups_needed
from scrapy_dedup.learning.doubts import doubts
from scrapy_dedup.learning.entropy import Relevance
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.rules import RuleBook, Status
from scrapy_dedup.rules.exchange import CLEAN_PARAM

SITE = "http://example.com"


def seen(url: str, page: str, **more: object) -> Observation:
    return Observation(SITE + url, page, words=100, **more)


def pages(key: str, known: int, alone: int = 300) -> list[Observation]:
    """*known* pages under three values of a key, and pages that were seen once."""
    rng = Random(1)
    rows = [seen(f"/v?id={i}&{key}={rng.randrange(10**6)}", f"page {i}") for i in range(known) for _ in range(3)]
    return rows + [seen(f"/v?id={i}&{key}={rng.randrange(10**6)}", f"page {i}") for i in range(known, known + alone)]


@pytest.mark.parametrize(("key", "known", "status"), [
    ("x", 12, Status.ACTIVE),
    ("file", 12, Status.CANDIDATE),
    ("vid", 30, Status.CANDIDATE),
    ("vid", 45, Status.ACTIVE),
])  # fmt: skip
def test_seed_a_name_that_is_generally_relevant_asks_for_more_pages(key: str, known: int, status: Status) -> None:
    """The document's list of names is right in 80 % of cases: 36 groups of pages outweigh it, and ten do not."""
    book = learn(pages(key, known)).book
    assert [rule.status for rule in book] == [status]
    (rule,) = book
    assert set(rule.ops) == {f"q.{key}"}
    assert rule.evidence is not None
    assert rule.evidence.groups == known
    one, other = f"{SITE}/v?id=7&{key}=123456", f"{SITE}/v?id=7&{key}=654321"
    assert book.equivalent(one, other) is (status is Status.ACTIVE)


@pytest.mark.parametrize(("known", "status"), [(4, Status.ACTIVE), (2, None)])
def test_what_the_site_states_asks_for_fewer_pages_and_not_for_none(known: int, status: Status | None) -> None:
    robots = seen("/robots.txt", "lines", headers={CLEAN_PARAM: "Clean-param: x"})
    book = learn([*pages("x", known), robots]).book
    assert [rule.status for rule in book] == ([status] if status else [])


@pytest.mark.parametrize("header", [{CLEAN_PARAM: "Clean-param: x&id"}, {"no-vary-search": 'params=("x" "id")'}])
def test_no_prior_outvotes_a_counterexample(header: dict[str, str]) -> None:
    rows = [seen(f"/v?id={i}&x={x}", f"page {i} {x}", headers=header) for i in range(40) for x in range(3)]
    assert len(learn(rows).book) == 0


def test_a_rule_of_which_nobody_says_anything_needs_ten() -> None:
    assert groups_needed(0.0) == 10
    assert groups_needed(-5.0) == 10
    assert groups_needed(-5.0, stated=True) == 3
    assert groups_needed(9.0) == MOST_GROUPS
    weights = [log_odds(DEFAULT_WEIGHTS[source]) for source in (Source.NAMES, Source.ENTROPY, Source.MANUAL)]
    assert [groups_needed(weight) for weight in weights] == [36, 79, 165]


def test_as_many_groups_as_are_needed_make_the_probability_that_of_ten() -> None:
    alone = Belief(groups=10).relevant
    for source in Source:
        opinions = (Opinion(source, Relevance.ACCEPT),)
        least = groups_needed(Belief(opinions).prior)
        assert Belief(opinions, groups=least).relevant <= alone + 1e-9
        assert Belief(opinions, groups=least - 1).relevant > alone


def test_what_is_stated_is_probed_until_pages_show_it() -> None:
    """The probability is below the band, and still there is no rule without evidence."""
    robots = seen("/robots.txt", "lines", headers={CLEAN_PARAM: "Clean-param: x"})
    alone = pages("x", 0, 20)
    assert {doubt.key for doubt in doubts("example.com", [*alone, robots], RuleBook())} >= {"q.x"}
    known = [*pages("x", 5, 20), robots]
    assert "q.x" not in {doubt.key for doubt in doubts("example.com", known, RuleBook())}
