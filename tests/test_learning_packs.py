"""A rule pack is a prior: two pages are enough beside it, one is not, none never is, and a counterexample is heard."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.packs.model import Pack, PackRule
from scrapy_dedup.rules import Absent, Ignore, Keep, Literal, Rule, Status

SITE = "forum.test"
VIEW = PackRule({"q.view": Ignore()}, "viewtopic.php", source=("https://docs.test/",))
PACK = Pack("forums", (VIEW,))


def observed(url: str, text: str) -> Observation:
    return Observation(f"http://{SITE}{url}", text, words=100)


def topics(twice: int, once: int = 12, *, differ: int = 0) -> list[Observation]:
    """*twice* topics in two views that are one page, *differ* that are two, and *once* others in one view each."""
    rows = []
    for number in range(twice + differ):
        same = number < twice
        for view in ("list", "tree"):
            text = f"topic {number}" if same else f"topic {number} as a {view}"
            rows.append(observed(f"/viewtopic.php?t={number}&view={view}", text))
    others = range(twice + differ, twice + differ + once)
    return rows + [observed(f"/viewtopic.php?t={n}&view=list", f"topic {n}") for n in others]


def learned(rows: Sequence[Observation], *packs: Pack, known: RuleBook | None = None) -> list[Rule]:
    return list(learn(rows, LearningOptions(packs=packs), known=known or RuleBook()).book)


def test_two_pages_are_enough_beside_a_pack_and_not_without_one() -> None:
    rows = topics(2)
    assert learned(rows) == []
    (rule,) = learned(rows, PACK)
    assert rule.status is Status.ACTIVE
    assert dict(rule.match) == {"path.0": Literal("viewtopic"), "path.1": Absent(), "ext": Literal("php")}
    assert dict(rule.ops) == {"q.view": Ignore()}
    assert rule.evidence is not None
    assert (rule.evidence.groups, rule.evidence.pack, rule.evidence.learners) == (2, "forums", ("pack",))


def test_one_page_is_not() -> None:
    assert learned(topics(1), PACK) == []


def test_a_counterexample_beside_two_pages_is_heard() -> None:
    assert learned(topics(2, differ=1), PACK) == []


def test_a_site_without_the_template_is_left_alone() -> None:
    elsewhere = [observed(f"/p?t={n}&view={view}", f"page {n}") for n in range(2) for view in "ab"]
    assert learned(elsewhere, PACK) == []


def test_a_rule_with_a_template_holds_there_alone() -> None:
    rows = topics(2)
    rows += [
        observed(f"/viewforum.php?f={n}&view={view}", f"forum {n} {view}")
        for n in range(3)
        for view in ("list", "tree")
    ]
    (rule,) = learned(rows, PACK)
    assert dict(rule.match)["path.0"] == Literal("viewtopic")
    book = RuleBook([rule])
    assert book.equivalent(f"http://{SITE}/viewtopic.php?t=77&view=list", f"http://{SITE}/viewtopic.php?t=77&view=tree")
    assert not book.equivalent(
        f"http://{SITE}/viewforum.php?f=7&view=list", f"http://{SITE}/viewforum.php?f=7&view=tree"
    )


def test_values_that_a_pack_names_and_no_others() -> None:
    pack = replace(PACK, rules=(PackRule({"q.view": Ignore(only={"list"})}, sites=3),))
    rows = [observed(f"/viewtopic.php?t={n}{view}", f"topic {n}") for n in range(2) for view in ("", "&view=list")]
    rows += [observed(f"/viewtopic.php?t={n}", f"topic {n}") for n in range(2, 12)]
    (rule,) = learned(rows, pack)
    assert dict(rule.ops) == {"q.view": Ignore(only={"list"})}


@pytest.mark.parametrize("template", ["", "viewtopic.php"])
def test_what_a_pack_calls_the_page_needs_more_pages(template: str) -> None:
    kept = replace(PACK, rules=(PackRule({"q.view": Keep()}, template, sites=9),))
    numbers = [n for n in range(2, 30) if learned(topics(n))]
    with_it = [n for n in range(2, 30) if learned(topics(n), kept)]
    assert min(numbers) < min(with_it)


def test_a_pack_that_other_sites_speak_against_proposes_nothing() -> None:
    doubted = replace(PACK, rules=(PackRule({"q.view": Ignore()}, sites=1, against=2),))
    assert learned(topics(2), doubted) == []


def test_a_rule_stays_when_the_pack_is_gone() -> None:
    rows = topics(2)
    first = learned(rows, PACK)
    assert [rule.id for rule in learned(rows, known=RuleBook(first))] == [rule.id for rule in first]


@pytest.mark.parametrize("named", ["relevant", "irrelevant"])
def test_the_user_knows_better_than_a_pack(named: str) -> None:
    from scrapy_dedup.learning.evidence.user_names import Names

    options = LearningOptions(packs=(PACK,), names=Names.of({named: ["view"]}))
    found = list(learn(topics(2), options, known=RuleBook()).book)
    assert bool(found) == (named == "irrelevant")


SITES = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(["", "&view=list", "&view=tree", "&sid=1"]), st.integers(0, 6)),
    unique_by=lambda row: row[:2],
    max_size=25,
)


def site_of(rows: list[tuple[int, str, int]]) -> list[Observation]:
    return [observed(f"/viewtopic.php?t={number}{rest}", f"text {text}") for number, rest, text in rows]


@settings(max_examples=40, deadline=None)
@given(SITES)
def test_law_a_pack_of_nothing_changes_nothing(rows: list[tuple[int, str, int]]) -> None:
    seen = site_of(rows)
    assert learned(
        seen, Pack("empty"), Pack("other", (PackRule({"q.view": Ignore()}, "other.php", sites=9),))
    ) == learned(seen)


@settings(max_examples=40, deadline=None)
@given(SITES, st.booleans())
def test_law_a_prior_never_acts_without_two_pages_that_speak_for_it(
    rows: list[tuple[int, str, int]], every_page_once: bool
) -> None:
    if every_page_once:
        rows = [(number, rest, place) for place, (number, rest, _) in enumerate(rows)]
    seen = site_of(rows)
    pack = replace(PACK, rules=(VIEW, PackRule({"q.sid": Ignore()}, sites=99)))
    for rule in learned(seen, pack):
        assert not every_page_once
        assert rule.evidence is not None
        assert rule.evidence.groups >= 2 or "pack" not in rule.evidence.learners
