"""Candidate rules and odd responses: what is worth postponing, and what is worth fetching again."""

from collections.abc import Iterable

import pytest

from scrapy_dedup.learning.learn import Learned, learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules import Ignore, Rule, RuleBook, Status

SITE = "shop.example"
ODD = f"http://{SITE}/p?id=900&s=z00000ab"
OTHER = f"http://{SITE}/p?id=900&s=z00001ab"


def seen(url: str, text: str, time: float = 0.0) -> Observation:
    return Observation(url=url, time=time, status=200, fingerprint=text, words=50)


def pairs(number: int, *, name: str = "s", differ: bool = False) -> list[Observation]:
    return [
        seen(f"http://{SITE}/p?id={k}&{name}={sign}{k:05}ab", f"{k}{sign if differ else ''}", float(k))
        for k in range(number)
        for sign in "xy"
    ]


def learned(observations: list[Observation], *rules: Rule) -> Learned:
    return learn(observations, LearningOptions(candidates=True), known=RuleBook(rules))


def keys_of(rules: Iterable[Rule]) -> set[str]:
    return {key for rule in rules for key in rule.ops}


def drops(found: Learned) -> bool:
    return any("q.s" in rule.ops for rule in found.book if rule.status.acts)


@pytest.mark.parametrize(("number", "candidate", "acts"), [(1, True, False), (20, False, True)])
def test_what_is_likely_is_a_candidate_until_it_acts(number: int, candidate: bool, acts: bool) -> None:
    found = learned(pairs(number) + [seen(f"http://{SITE}/about/{k}", f"about {k}") for k in range(20)])
    assert (keys_of(found.candidates.get(SITE, ())) == {"q.s"}, drops(found)) == (candidate, acts)


def test_what_names_the_page_is_no_candidate() -> None:
    assert "q.s" not in keys_of(learned(pairs(4, differ=True)).candidates[SITE])


@pytest.mark.parametrize("status", [Status.OFF, Status.SUSPENDED])
def test_what_is_switched_off_or_refuted_is_no_candidate(status: Status) -> None:
    found = learned(pairs(1), Rule(SITE, {}, {"q.s": Ignore()}, status))
    assert found.candidates[SITE] == ()


def test_what_acts_in_one_section_is_a_candidate_in_the_next() -> None:
    """Of a choice of few values one section says little of another, and so much that it is worth waiting for."""
    sections = [("shop", 40), ("blog", 1)]
    views = [
        seen(f"http://{SITE}/{name}/show?id={k}&view={view}", f"{name} {k}", float(k))
        for name, number in sections
        for k in range(number)
        for view in ("list", "table", "tiles")
    ]
    others = [seen(f"http://{SITE}/blog/show?id={k}&view=list", f"blog {k}") for k in range(10, 60)]
    found = learned(views + others)
    urls = [f"http://{SITE}/{{}}/show?id=7&view={view}" for view in ("list", "tiles")]
    wide = found.book.with_candidates(SITE, found.candidates[SITE])
    assert found.book.equivalent(*(url.format("shop") for url in urls))
    assert not found.book.equivalent(*(url.format("blog") for url in urls))
    assert wide.equivalent(*(url.format("blog") for url in urls))


def test_a_section_that_is_seen_to_be_otherwise_is_no_candidate() -> None:
    views = [
        seen(f"http://{SITE}/{name}/show?id={k}&view={view}", f"{name} {k} {view if name == 'blog' else ''}", float(k))
        for name in ("shop", "blog")
        for k in range(40)
        for view in ("list", "table", "tiles")
    ]
    found = learned(views)
    urls = [f"http://{SITE}/{{}}/show?id=7&view={view}" for view in ("list", "tiles")]
    wide = found.book.with_candidates(SITE, found.candidates[SITE])
    assert wide.equivalent(*(url.format("shop") for url in urls))
    assert not wide.equivalent(*(url.format("blog") for url in urls))


def test_candidates_are_named_only_where_they_are_asked_for() -> None:
    assert learn(pairs(1), known=RuleBook()).candidates[SITE] == ()


@pytest.mark.parametrize("number", [3, 5, 8])
def test_an_odd_response_that_may_be_a_page_is_to_be_fetched_again(number: int) -> None:
    """One against one: nobody knows which of the two is odd. Of many groups the others tell."""
    undecided = [seen(ODD, "odd", 50.0), seen(OTHER, "900", 51.0)]
    found = learned(pairs(number) + undecided)
    assert set(found.odd[SITE]) == {ODD, OTHER}
    assert SITE not in learned(pairs(200) + undecided).odd


def test_an_odd_response_among_others_is_the_only_one_asked_for() -> None:
    some = [seen(ODD, "odd", 50.0), seen(OTHER, "900", 51.0), seen(OTHER.replace("001", "002"), "900", 52.0)]
    assert learned(pairs(8) + some).odd[SITE] == (ODD,)


def test_what_it_shows_the_second_time_decides() -> None:
    """The page of the others: it was noise. The same again: it is a page, and few groups are outvoted by it."""
    some = [*pairs(5), seen(ODD, "odd", 50.0), seen(OTHER, "900", 51.0)]
    noise, page = (learned([*some, seen(ODD, text, 60.0)]) for text in ("900", "odd"))
    assert drops(noise)
    assert not drops(page)
    assert ODD not in (*noise.odd.get(SITE, ()), *page.odd.get(SITE, ())), "it is not asked for a third time"
