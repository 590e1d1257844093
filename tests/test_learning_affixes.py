"""What significant affixes add: names and hosts that were not seen belong to those that were."""

import random

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.affixes import affix_splits, families, proposals
from scrapy_dedup.learning.combining import rules_of
from scrapy_dedup.learning.emission import Proposal
from scrapy_dedup.learning.judgement import Sample
from scrapy_dedup.learning.validation import validated
from scrapy_dedup.rules import Ignore
from scrapy_dedup.urls import DeepSplit, normal_form


def sample(rows: list[tuple[str, object]]) -> Sample:
    pages: dict[str, int] = {}
    content = {normal_form(url): pages.setdefault(str(page), len(pages)) for url, page in rows}
    return Sample("shop.com", list(content), list(content.values()))


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
    assert [proposal.key for proposal in found] == ["q.utm_*"]
    assert validated(found, chosen, {}) == found
    book = RuleBook(rules_of("shop.com", found))
    assert book.equivalent("http://shop.com/view?id=1&utm_term=mail7", "http://shop.com/view?id=1")
    assert not book.equivalent("http://shop.com/view?id=1&utm_term=mail7", "http://shop.com/view?id=2")


def test_a_family_with_a_relevant_name_is_none() -> None:
    assert proposals(sample(campaigns(("utm_source", "utm_medium", "utm_campaign"), kept="utm_id")), {}) == []


def test_two_names_are_no_family() -> None:
    assert proposals(sample(campaigns(("utm_source", "utm_medium"))), {}) == []
    assert families(["utm_source", "utm_medium", "id"], least=2) == {"utm_": ["utm_medium", "utm_source"]}


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


def test_boundaries_inside_values() -> None:
    pages = [f"{word}{end}" for word in ("shoe", "hat", "coat", "belt") for end in ("s", "box", "es")]
    values = [f"{kind}_{page}" for kind in ("print", "view") for page in pages]
    assert affix_splits({"path.1": values, "q.page": pages, "host.1": values}) == {"path.1": DeepSplit("_", "first")}


@pytest.mark.parametrize("rows", [[], [("http://shop.com/", 1)], [("no url", 1), ("", 1)]])
def test_odd_input(rows: list[tuple[str, object]]) -> None:
    assert proposals(sample(rows), {}) == []
    assert affix_splits({}) == {}
    assert families([]) == {}
