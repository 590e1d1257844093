"""Belief in the one pipeline: how many pages must speak for a rule."""

from random import Random

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.asking.doubts import doubts
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.methods.entropy import Relevance
from scrapy_dedup.learning.opinions.other_sites import priors_by_site
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


def other_sites(key: str, count: int = 3) -> list[Observation]:
    """Sites on which pages differ where the parameter does, and in nothing else."""
    return [
        Observation(f"http://other{site}.com/show?{key}={i}", f"{site} {i}", words=100)
        for site in range(count)
        for i in range(12)
    ]


def test_seed_a_name_that_is_the_page_on_other_sites_asks_for_more_pages() -> None:
    """Any host: three sites are right as often as a list of names, in 80 % of cases; two say nothing yet."""
    alone, two, three = (needed("item", *other_sites("item", count)) for count in (0, 2, 3))
    assert alone == two < three


def test_a_name_of_two_minds_asks_for_nothing() -> None:
    """On two sites the parameter is the page, on another one, whose rules are known, it is noise."""
    known = RuleBook([Rule("noisy.com", {}, {"q.item": Ignore()}, Status.ACTIVE)])
    book = learn([*pages("item", 12), *other_sites("item", 2)], known=known).book
    assert [rule.status for rule in book if rule.site == "example.com"] == [Status.ACTIVE]


def test_that_a_name_is_relevant_elsewhere_says_nothing_of_one_value() -> None:
    """Lists have pages on all sites, and still their first page needs no number."""
    rows = [
        seen(f"/list?id={i}{more}", f"list {i} {more[6:] or 1}")
        for i in range(14)
        for more in ("", "&page=1", "&page=2")
    ]
    alone = learn(rows).book
    together = learn([*rows, *other_sites("page")]).book
    one, other, next_one = (f"{SITE}/list?id=77{more}" for more in ("", "&page=1", "&page=2"))
    for book in (alone, together):
        assert book.equivalent(one, other)
        assert not book.equivalent(one, next_one)


def test_a_site_has_no_voice_in_its_own_priors() -> None:
    by_site = {"example.com": pages("x", 12)}
    for number in range(3):
        by_site[f"s{number}.com"] = [Observation(f"http://s{number}.com/v?id={i}&x={x}", str(i), words=100)
                                     for i in range(12) for x in range(3)]  # fmt: skip
    priors = priors_by_site(by_site, RuleBook())
    assert priors["example.com"].sites["x"] == (0, 3)
    assert priors["s0.com"].sites["x"] == (0, 3), "the two others, and the first one"
    assert priors["example.com"].relevance("x") is Relevance.IGNORE
    assert priors_by_site(dict(list(by_site.items())[:3]), RuleBook()) == {}


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
