"""Candidate rules and odd responses: what is worth postponing, and what is worth fetching again."""

from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.learn import Learned, learn
from scrapy_dedup.learning.learning_options import LearningOptions

from .crawling import ignore, save_rules
from .learning import Rows, check, observed, whole

SITE = "shop.example"
ODD, OTHER = "/p?id=900&s=z00000ab", "/p?id=900&s=z00001ab"
VIEWS = ("list", "table", "tiles")


def pairs(number: int, differ: bool = False) -> Rows:
    return [(f"/p?id={k}&s={sign}{k:05}ab", f"{k}{sign if differ else ''}") for k in range(number) for sign in "xy"]


def learned(rows: Rows, *, rules: tuple[str, ...] = (), candidates: bool = True) -> Learned:
    """Learn from responses that came one after the other, beside rules in a file."""
    save_rules(SITE, *rules)
    seen = [Observation(each.url, each.fingerprint, words=50, time=1e9 + n) for n, each in enumerate(observed(rows))]
    return learn(seen, LearningOptions(candidates=candidates), known=RuleBook.load("dedup-rules", missing_ok=True))


ABOUT = [(f"/about/{k}", f"about {k}") for k in range(20)]
SECTIONS = [
    (f"/{name}/show?id={k}&view={view}", f"{name} {k}")
    for name, number in (("shop", 40), ("blog", 1))
    for k in range(number)
    for view in VIEWS
] + [(f"/blog/show?id={k}&view=list", f"blog {k}") for k in range(10, 60)]
OTHERWISE = [
    (f"/{name}/show?id={k}&view={view}", f"{name} {k} {view if name == 'blog' else ''}")
    for name in ("shop", "blog")
    for k in range(40)
    for view in VIEWS
]
SIGN, VIEW = "/p?id=77&s=x00000ab {} /p?id=77&s=y00000ab", "/{}/show?id=7&view=list {} /{}/show?id=7&view=tiles"


@pytest.mark.parametrize(
    ("rows", "rules", "acting", "postponing"),
    [
        pytest.param(pairs(1) + ABOUT, [], [(SIGN, "!=")], [(SIGN, "==")], id="what is likely"),
        pytest.param(pairs(20) + ABOUT, [], [(SIGN, "==")], [(SIGN, "==")], id="what acts"),
        pytest.param(pairs(4, differ=True), [], [(SIGN, "!=")], [(SIGN, "!=")], id="what names the page"),
        pytest.param(pairs(1), [ignore("q.s", "off")], [(SIGN, "!=")], [(SIGN, "!=")], id="what is off"),
        pytest.param(pairs(1), [ignore("q.s", "suspended")], [(SIGN, "!=")], [(SIGN, "!=")], id="what is refuted"),
        # Of a choice of few values one section says little of another, and so much that it is worth waiting for.
        pytest.param(
            SECTIONS,
            [],
            [("shop", "=="), ("blog", "!=")],
            [("shop", "=="), ("blog", "==")],
            id="what acts in another section",
        ),
        pytest.param(
            OTHERWISE,
            [],
            [("shop", "=="), ("blog", "!=")],
            [("shop", "=="), ("blog", "!=")],
            id="a section that is otherwise",
        ),
    ],
)
def test_what_is_likely_is_a_candidate_until_it_acts(
    rows: Rows, rules: list[str], acting: Any, postponing: Any
) -> None:
    found = learned(rows, rules=tuple(rules))
    for book, sayings in (found.book, acting), (found.book.with_candidates(SITE, found.candidates[SITE]), postponing):
        check(book, *(text.format(sign) if text == SIGN else VIEW.format(text, sign, text) for text, sign in sayings))
    assert learned(rows, rules=tuple(rules), candidates=False).candidates[SITE] == (), "only where they are asked for"


@pytest.mark.parametrize(
    ("number", "more", "odd"),
    [(3, [], {ODD, OTHER}), (8, [], {ODD, OTHER}), (8, [OTHER.replace("001", "002")], {ODD}), (200, [], set())],
)
def test_an_odd_response_that_may_be_a_page_is_to_be_fetched_again(number: int, more: list[str], odd: set[str]) -> None:
    """One against one: nobody knows which of the two is odd. Of many groups, or of more URLs, the others tell."""
    found = learned([*pairs(number), (ODD, "odd"), (OTHER, "900"), *((url, "900") for url in more)])
    assert set(found.odd.get(SITE, ())) == {whole(url) for url in odd}


@pytest.mark.parametrize(("shown", "sign"), [("900", "=="), ("odd", "!=")])
def test_what_it_shows_the_second_time_decides(shown: str, sign: str) -> None:
    """The page of the others: it was noise. The same again: it is a page, and few groups are outvoted by it."""
    found = learned([*pairs(5), (ODD, "odd"), (OTHER, "900"), (ODD, shown)])
    check(found.book, SIGN.format(sign))
    assert whole(ODD) not in found.odd.get(SITE, ()), "it is not asked for a third time"
