"""Answers that different pages have in common: they make no rule, and session ids beside them do.

An application shows its frame for each page of a section, an end point ``{"available": true}`` for each product. Under which URLs
such an answer stands says nothing.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.rules import Evidence, Ignore, Rule, Status

SITE = "http://app.example"
Rows = list[tuple[str, str]]


def sids() -> Callable[[], str]:
    rng = random.Random(5)
    return lambda: f"{rng.getrandbits(128):032x}"


def articles(number: int = 60, key: str = "id") -> Rows:
    """Articles under three session ids each."""
    sid = sids()
    return [(f"/article?{key}={i}&sid={sid()}", f"article {i}") for i in range(number) for _ in range(3)]


def end_points(number: int, value: Callable[[int], str], rare: float = 0.0, skus: int = 80) -> Rows:
    """End points that give one answer for all SKUs, but the first one for a share of them."""
    return [
        (f"/api/{name}?sku={value(i)}", f"{name}: {'no' if name == 'stock' and i < rare * skus else 'yes'}")
        for name in ("stock", "rating", "promotion", "delivery", "gift", "badge", "offer", "size")[:number]
        for i in range(skus)
    ]


def sections(number: int, pages: int, value: Callable[[int], str] = str, more: tuple[str, ...] = ("",)) -> Rows:
    """Pages of sections, of which each shows one frame."""
    names = ("products", "news", "jobs", "events", "people", "places", "brands", "guides")[:number]
    return [
        (f"/{name}/{value(i)}{query}", f"frame of {name}") for name in names for i in range(pages) for query in more
    ]


def learned(rows: Rows, **options: Any) -> RuleBook:
    return learn_rules([Observation(SITE + url, text) for url, text in rows], **options)


def merged(book: RuleBook, rows: Rows) -> int:
    """Return how many of some pages are taken for another one."""
    return len(rows) - len({book.canonical_key(SITE + url) for url, _ in rows})


def word(number: int) -> str:
    return f"{('red', 'blue', 'green', 'old', 'new')[number % 5]}-{('shirt', 'hat', 'shoe', 'coat')[number // 5 % 4]}-{number // 20 * 'x'}z"


APART = {
    **{f"{k} end points": end_points(k, str) for k in (1, 2, 3, 4, 5, 8)},
    **{
        f"one SKU in {1 / share:.0f} has another answer": end_points(5, str, share)
        for share in (0.025, 0.05, 0.1, 0.25, 0.5)
    },
    "SKUs are words": end_points(5, word),
    "SKUs of letters and numbers": end_points(5, lambda i: f"AB{i:04}"),
    **{f"{k} sections of {n}": sections(k, n) for k in (2, 3, 5, 8) for n in (2, 4, 25)},
    "pages named by words": sections(8, 25, word),
    "pages named by hashes": sections(8, 25, lambda i: f"{i * 7919:032x}"),
}


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("name", APART)
def test_what_shows_one_answer_stays_apart_and_session_ids_beside_it_are_ignored(name: str, beside: bool) -> None:
    """Also where the values name products that have pages of their own."""
    products = [(f"/p/{i}", f"product {i}") for i in range(80)] if beside else []
    book = learned([*APART[name], *products, *articles()])
    assert merged(book, APART[name]) == 0
    assert merged(book, products) == 0
    assert book.equivalent(f"{SITE}/article?id=7&sid={sids()()}", f"{SITE}/article?id=7")


def test_a_parameter_that_makes_no_difference_beside_frames() -> None:
    """It may be learned of the frames or not; what it is added to stays apart."""
    pages = sections(8, 25, more=("", "?src=list"))
    book = learned(pages)
    assert len({book.canonical_key(SITE + url.partition("?")[0]) for url, _ in pages}) == 200


@pytest.mark.parametrize("values", [str, lambda i: f"{i * 7919:08x}", lambda i: f"{i * 104729 % 10**12:012d}"])
def test_what_has_one_content_under_each_of_many_pages_is_evidence(values: Callable[[int], str]) -> None:
    """Few pages with many values, or many pages with few."""
    for pages, urls in ((40, 3), (12, 9)):
        rows = [
            (f"/view?id={i}&ref={values(i * urls + n + 1)}", f"page {i}") for i in range(pages) for n in range(urls)
        ]
        assert merged(learned(rows), rows) == len(rows) - pages


def test_session_ids_on_pages_that_are_named_by_words() -> None:
    sid = sids()
    names = ("about", "contact", "help", "terms", "privacy", "jobs", "press", "shop", "blog", "start")
    rows = [(f"/{name}?sid={sid()}", name) for name in names for _ in range(20)]
    assert merged(learned(rows), rows) == len(rows) - len(names)


def test_numbers_on_pages_that_two_words_name_together() -> None:
    """Each page is a place by itself: that it shows one content says nothing against it."""
    rng = random.Random(3)
    rows = [
        (f"/watch?path={path}&file={word(i)}&x={rng.randrange(1000)}", f"{path} {i}")
        for path in ("cats", "dogs", "birds", "fish", "mice")
        for i in range(20)
        for _ in range(6)
    ]
    assert merged(learned(rows), rows) >= len(rows) - 110


def test_a_rule_that_rests_on_such_answers_leaves_and_others_stay() -> None:
    rows = [Observation(SITE + url, text) for url, text in [*end_points(5, str), *articles()]]
    site = "app.example"
    wrong = Rule(site, {}, {"q.sku": Ignore()}, Status.ACTIVE, Evidence(groups=5, pages=5, urls=400, removed=395))
    right = Rule(site, {}, {"q.sid": Ignore()}, Status.ACTIVE, Evidence(groups=60, pages=60, urls=180, removed=120))
    for known, left in ((wrong, {"q.sid"}), (replace(wrong, status=Status.MANUAL), {"q.sid", "q.sku"})):
        found = learn(rows, LearningOptions(), known=RuleBook([known, right]))
        assert {key for rule in found.book for key in rule.ops} == left
        gone = [each.rule.ops.keys() for each in found.departures]
        assert gone == ([] if "q.sku" in left else [{"q.sku"}])
    assert "answers that different pages have in common" in str(
        learn(rows, LearningOptions(), known=RuleBook([wrong])).departures[0]
    )


def test_a_rule_stays_whose_pages_were_filtered_beside_such_answers() -> None:
    """Of what a rule makes one nothing comes again: want of evidence does not end it."""
    rows = [Observation(SITE + url, text) for url, text in end_points(2, str)]
    known = Rule(
        "app.example", {}, {"q.sku": Ignore()}, Status.ACTIVE, Evidence(groups=60, pages=60, urls=180, removed=120)
    )
    assert [rule.ops.keys() for rule in learn(rows, LearningOptions(), known=RuleBook([known])).book] == [{"q.sku"}]


def test_what_is_told() -> None:
    rows = [Observation(SITE + url, text) for url, text in [*end_points(5, str), *articles()]]
    (report,) = learn(rows, LearningOptions(), known=RuleBook()).reports
    (note,) = [note for note in report.notes if "show one answer" in note]
    assert "80 URLs of http://app.example/api/rating?sku=..." in note or "and 2 more" in note
    assert "nothing is filtered on account of them" in note
    assert not learn(rows[400:], LearningOptions(), known=RuleBook()).reports[0].one_answer


def test_two_crawls_do_not_make_a_page_of_an_answer_but_a_password_field_does() -> None:
    def crawled(password: bool) -> RuleBook:
        rows = [*articles(key="sku"), *[(f"/api/stock?sku={i}", "yes") for i in range(60)]]
        return learn_rules(
            Observation(SITE + url, text, time=at, password=password and text == "yes")
            for at in (1e9, 1e9 + 86_400)
            for url, text in rows
        )

    assert not crawled(password=False).equivalent(f"{SITE}/api/stock?sku=1", f"{SITE}/api/stock?sku=2")
    assert crawled(password=True).equivalent(f"{SITE}/api/stock?sku=1", f"{SITE}/api/stock?sku=2")
