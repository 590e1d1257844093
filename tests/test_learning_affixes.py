"""What significant affixes add: names and hosts that were not seen belong to those that were."""

import random
from collections.abc import Callable
from itertools import product

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.decision.validation import validated
from scrapy_dedup.learning.learners.affixes import families, proposals
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.rules import Ignore
from scrapy_dedup.urls import normal_form


def sample(rows: list[tuple[str, object]]) -> SiteUrls:
    pages: dict[str, int] = {}
    content = {normal_form(url): pages.setdefault(str(page), len(pages)) for url, page in rows}
    return SiteUrls("shop.com", list(content), list(content.values()))


def campaigns(names: tuple[str, ...], kept: str = "id") -> list[tuple[str, object]]:
    rng = random.Random(1)
    rows: list[tuple[str, object]] = []
    for i in range(40):
        for _ in range(4):
            junk = "&".join(f"{name}={rng.choice(['mail', 'ad', 'social'])}{rng.randrange(40)}" for name in names)
            rows.append((f"http://shop.com/view?{kept}={i}&{junk}", i))
    return rows


def test_a_family_of_irrelevant_names_holds_those_that_were_not_seen() -> None:
    chosen = sample(campaigns(("utm_source", "utm_medium", "utm_campaign")))
    found = proposals(chosen, {})
    assert [proposal.key for proposal in found] == ["q.utm_campaign", "q.utm_medium", "q.utm_source", "q.utm_*"]
    assert validated(found, chosen, {}) == found
    book = RuleBook(rules_of("shop.com", found))
    assert book.equivalent("http://shop.com/view?id=1&utm_term=mail7", "http://shop.com/view?id=1")
    assert not book.equivalent("http://shop.com/view?id=1&utm_term=mail7", "http://shop.com/view?id=2")


def test_a_family_with_a_relevant_name_is_none() -> None:
    assert proposals(sample(campaigns(("utm_source", "utm_medium", "utm_campaign"), kept="utm_id")), {}) == []


def test_two_names_are_no_family() -> None:
    assert proposals(sample(campaigns(("utm_source", "utm_medium"))), {}) == []
    assert families(["utm_source", "utm_medium", "id"]) == {}


def test_numbered_hosts() -> None:
    chosen = sample([(f"http://www{n}.shop.com/watch?video={i}", i) for i in range(30) for n in (1, 2, 4)])
    assert proposals(chosen, {}) == [Proposal((), "host.1", Ignore(only=[f"www{n}" for n in range(1, 9)]))]


def test_hosts_that_tell_pages_apart_are_left_alone() -> None:
    assert (
        proposals(
            sample(
                [(f"http://www{n}.shop.com/?v={i}&s={s}", (n, i)) for i in range(30) for n in (1, 2, 4) for s in "ab"]
            ),
            {},
        )
        == []
    )


THINGS = [f"{word}{end}" for word in ("shoe", "hat", "coat", "belt", "sock", "glove") for end in ("s", "box", "es")]
VALUES = pytest.mark.parametrize(
    "value",
    [
        pytest.param(lambda kind, thing: f"/{kind}-{thing}", id="prefix"),
        pytest.param(lambda kind, thing: f"/{thing}_{kind}", id="suffix"),
        pytest.param(lambda kind, thing: f"/go?page={kind}.{thing}", id="parameter"),
    ],
)


@VALUES
def test_the_pipeline_learns_inside_values(value: Callable[[str, str], str]) -> None:
    """The way of showing a page stands before its name, in one value; no number tells where one ends."""
    seen = [
        Observation(f"http://shop.com{value(kind, thing)}", thing, status=200, words=50)
        for i, thing in enumerate(THINGS)
        for j, kind in enumerate(("print", "view", "mobile"))
        if (i + j) % 3 or i % 2
    ]
    book = learn_rules(seen)
    fresh = [f"http://shop.com{value(kind, 'newthing')}" for kind in ("print", "view", "mobile", "other")]
    assert len({book.canonical_key(url) for url in fresh[:3]}) == 1
    assert book.canonical_key(fresh[3]) not in {book.canonical_key(fresh[0]), book.canonical_key(fresh[1])}
    assert not book.equivalent(fresh[0], f"http://shop.com{value('print', 'hats')}")


@VALUES
def test_affixes_that_tell_pages_apart_are_kept(value: Callable[[str, str], str]) -> None:
    seen = []
    for n, (thing, kind) in enumerate(product(THINGS, ("en", "de", "fr"))):
        url = f"http://shop.com{value(kind, thing)}"
        with_session = f"{url}{'&' if '?' in url else '?'}sid={n:032x}"
        seen += [Observation(other, f"{thing} {kind}", status=200, words=50) for other in (url, with_session)]
    book = learn_rules(seen)
    assert len(book)
    for thing in (*THINGS, "newthing"):
        urls = [f"http://shop.com{value(kind, thing)}" for kind in ("en", "de", "fr")]
        assert len({book.canonical_key(url) for url in urls}) == 3


@pytest.mark.parametrize("rows", [[], [("http://shop.com/", 1)], [("no url", 1), ("", 1)]])
def test_odd_input(rows: list[tuple[str, object]]) -> None:
    assert proposals(sample(rows), {}) == []
    assert families([]) == {}
