"""Belief in the one pipeline: how many pages must speak for a rule."""

from random import Random

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.asking.doubts import doubts
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.rules import Ignore, Rule, RuleBook, Status
from scrapy_dedup.rules.exchange import CLEAN_PARAM

SITE = "http://example.com"


def seen(url: str, page: str, **more: object) -> Observation:
    return Observation(SITE + url, page, words=100, **more)


def pages(key: str, known: int, alone: int = 300) -> list[Observation]:
    """*known* pages under two of three values of a key, and pages that were seen under one."""
    rng = Random(1)
    words = ("list", "grid", "full")
    rows = [seen(f"/v?id={i}&{key}={word}", f"page {i}") for i in range(known) for word in rng.sample(words, 2)]
    return rows + [seen(f"/v?id={i}&{key}={rng.choice(words)}", f"page {i}") for i in range(known, known + alone)]


def numbered(key: str, known: int, alone: int) -> list[Observation]:
    """As :func:`pages`, but *known* pages under three values, and each value another number."""
    rng = Random(1)
    rows = [seen(f"/v?id={i}&{key}={rng.randrange(10**6)}", f"page {i}") for i in range(known) for _ in range(3)]
    return rows + [seen(f"/v?id={i}&{key}={rng.randrange(10**6)}", f"page {i}") for i in range(known, known + alone)]


def needed(key: str, *more: Observation) -> int:
    """How many pages let a rule act that drops a key."""
    return next(
        known
        for known in range(1, 40)
        if any(rule.site == "example.com" and rule.status.acts for rule in learn([*pages(key, known), *more]).book)
    )


def test_seed_a_name_that_is_generally_relevant_asks_for_more_pages() -> None:
    """The document's list of names moves the prior: it is right in 80 % of cases."""
    assert needed("utm_x") <= needed("x") < needed("file") == needed("vid")


def test_what_the_site_states_asks_for_no_more_pages_and_for_some() -> None:
    robots = seen("/robots.txt", "lines", headers={CLEAN_PARAM: "Clean-param: x"})
    assert 1 < needed("x", robots) < needed("x")


@pytest.mark.parametrize("header", [{CLEAN_PARAM: "Clean-param: x&id"}, {"no-vary-search": 'params=("x" "id")'}])
def test_no_prior_outvotes_a_counterexample(header: dict[str, str]) -> None:
    rows = [seen(f"/v?id={i}&x={x}", f"page {i} {x}", headers=header) for i in range(40) for x in range(3)]
    assert len(learn(rows).book) == 0


def test_what_is_stated_is_probed_until_pages_show_it() -> None:
    """The probability is below the band, and still there is no rule without evidence."""
    robots = seen("/robots.txt", "lines", headers={CLEAN_PARAM: "Clean-param: x"})
    alone = numbered("x", 0, 20)
    assert {doubt.key for doubt in doubts("example.com", [*alone, robots], RuleBook())} >= {"q.x"}
    known = [*numbered("x", 5, 20), robots]
    assert "q.x" not in {doubt.key for doubt in doubts("example.com", known, RuleBook())}


@pytest.mark.parametrize("key", ["trk", "utm_source"])
def test_what_rules_of_other_sites_drop_is_probed_until_pages_show_it(key: str) -> None:
    """Listed and dropped elsewhere, it is believed to be noise; but there is no rule without evidence."""
    rules = [Rule(f"s{n}.com", {}, {f"q.{key}": Ignore()}, Status.ACTIVE) for n in range(3)]
    alone = numbered(key, 0, 20)
    found = {doubt.key: doubt.relevant for doubt in doubts("example.com", alone, RuleBook(rules))}
    assert found[f"q.{key}"] < 0.25
    assert min(found, key=lambda name: found[name]) == f"q.{key}", "what may save most is tried first"
    known = doubts("example.com", numbered(key, 12, 20), RuleBook(rules))
    assert f"q.{key}" not in {doubt.key for doubt in known}, "ten pages are enough for a rule"
