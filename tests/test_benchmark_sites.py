"""The made-up sites are what they say: the same from one seed, true to their own page keys, and pages that show the truth of their tokens."""

from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.pages.response import sketch_of_html
from scrapy_dedup.rules import Ignore, Rule
from scrapy_dedup.urls import normal_form

from .benchmarks.scoring.score import score
from .benchmarks.scoring.trials import Marks, evidence, grades
from .benchmarks.sites.crawl import Row, crawl, shared_out, split
from .benchmarks.sites.levels import KINDS, LEVELS, level_knobs, site, sites_of
from .benchmarks.sites.model import DAY, START, TURN, Knobs, Site
from .benchmarks.sites.phenomena import PHENOMENA
from .benchmarks.sites.render import SLOTS, Kind, Page, main_words, render
from .benchmarks.sites.traps import TRAPS

SMALL = Knobs(pages=60, mega=100)
CARELESS = {
    "T1": ["q.page"],
    "T2": ["q.lang"],
    "T3": ["q.view"],
    "T4": ["q.mode"],
    "T5": ["q.v"],
    "T6": ["q.k"],
    "T9": ["q.sid", "q.ref", "q.uid", "q.cid"],
    "T13": ["q.color"],
    "T14": ["q.e"],
    "T16": ["host.2"],
    "T20": ["q.cur"],
    "T22": ["q.ref"],
    "T23": ["q.a", "q.b"],
    "T24": ["q.s", "q.v"],
    "T25": ["path.1", "path.2", "path.3"],
    "T27": ["q.v"],
    "T30": ["q.action"],
}
"""The keys that a careless learner would drop, for traps of one parameter."""


def site_of(name: str, **knobs: float) -> Site:
    """A site with one kind of pages."""
    return site(name.lower(), 0, [KINDS[name]], replace(SMALL, **knobs))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def everything() -> tuple[Site, list[Row]]:
    """A site of all kinds, and its crawl."""
    (made,) = sites_of("L3", 3, Knobs(pages=30, mega=60))
    return made, crawl(made)


def test_levels_are_made_of_thirty_phenomena_and_thirty_traps(everything: tuple[Site, list[Row]]) -> None:
    assert list(KINDS) == [f"{kind}{number}" for kind in "DT" for number in range(1, 31)]
    counts = {level: [len(made.endpoints) for made in sites_of(level, 0, SMALL)] for level in LEVELS}
    assert counts == {"L0": [1] * 60, "L1": [3], "L2": [30], "L3": [60], "L4": [60]}
    assert (level_knobs("L4").noise, level_knobs("L4", Knobs(noise=0.1)).noise) == (0.03, 0.1)
    (again,), (other,) = (sites_of("L3", seed, Knobs(pages=30, mega=60)) for seed in (3, 4))
    assert crawl(again) == everything[1]
    assert {row.url for row in everything[1]}.isdisjoint(row.url for row in crawl(other))
    for wrong in ({"ratio": 1.0}, {"noise": -0.1}, {"pages": 0}, {"junk": 6}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Knobs(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PHENOMENA)
def test_the_rules_of_truth_merge_exactly_the_pages_of_a_phenomenon(name: str) -> None:
    made = site_of(name)
    rows = crawl(made)
    pages = [row.page_text for row in rows]
    scores = score([made.book().canonical_key(row.url) for row in rows], pages)
    assert scores.duplicates >= 10
    assert (scores.oracle_compression, scores.lost, scores.false_pairs) == (1, 0, 0)
    seen = {(row.page, row.fingerprint) for row in rows if row.status == 200}
    assert len(seen) == len({page for page, _ in seen}) == len({content for _, content in seen})
    enough = score([normal_form(row.url) for row in rows], pages).oracle_compression == 1
    assert enough == (name in {"D9", "D11", "D26"})


@pytest.mark.parametrize("name", TRAPS)
def test_every_trap_catches_and_can_be_passed(name: str) -> None:
    made = site_of(name, rare=0.2)
    rows = [row for row in crawl(made) if not row.drifted]
    (grade,) = grades(made, rows, [made.book().canonical_key(row.url) for row in rows])
    assert grade.passed or name == "T8"  # Scrapy's own canonical form loses pages there
    if keys := CARELESS.get(name):
        careless = RuleBook([Rule(made.domain, {}, {key: Ignore() for key in keys})])
        rows = crawl(made)
        (grade,) = grades(made, rows, [careless.canonical_key(row.url) for row in rows])
        assert grade.lost > 1
        assert not grade.passed


def test_what_comes_late_is_never_learned_from_and_pages_are_held_out(everything: tuple[Site, list[Row]]) -> None:
    _, rows = everything
    assert {row.endpoint for row in rows if row.late} == {"T5", "T6", "T22", "T27"}
    assert {row.endpoint for row in rows if row.drifted} == {"T22"}
    for train in (None, 0.2, 1.0):
        assert not any(row.late for row in split(rows, 0, train).train)
    parts = split([row for row in rows if row.endpoint != "T24"], 0)  # whose one page is parted by URL
    assert {row.page for row in parts.train}.isdisjoint(row.page for row in parts.new)
    assert {row.url for row in parts.train}.isdisjoint(row.url for row in parts.same)


def test_marks_of_the_truth_are_full(everything: tuple[Site, list[Row]]) -> None:
    made, rows = everything
    unseen = split(rows, 0).unseen
    marks = Marks.of(grades(made, unseen, list(map(made.book().canonical_key, [row.url for row in unseen]))))
    assert (marks.phenomena_passed, marks.traps_passed, marks.hard_lost, marks.lost_beyond) == (30, 29, 0, 0)
    nothing = Marks.of(grades(made, unseen, [row.url for row in unseen]))
    assert (nothing.phenomena_passed, nothing.rules_recovered) == (0, 0)


def test_knobs_spoil_what_is_seen_and_not_the_truth() -> None:
    clean = crawl(site_of("D1"))
    for knobs, least, most in (({"noise": 0.2}, 0.1, 0.3), ({"clusters": 0.5}, 0.3, 0.7), ({"missing": 0.5}, 0.3, 0.7)):
        spoiled = crawl(site_of("D1", **knobs))
        assert [row.page for row in spoiled] == [row.page for row in clean]
        changed = sum(a.fingerprint != b.fingerprint for a, b in zip(clean, spoiled, strict=True)) / len(clean)
        assert least < changed < most
    again = crawl(site_of("D1", again=0.5))
    assert {row.url for row in again} == {row.url for row in clean}
    assert 0.3 < len(again) / len(clean) - 1 < 0.7
    assert min(Counter(row.page for row in crawl(site_of("D1", singles=1))).values()) == 2
    assert 1 - len({row.page for row in clean}) / len(clean) == pytest.approx(0.6, abs=0.02)
    assert shared_out(Knobs(pages=3, ratio=0.99, most_variants=4), Random(0)) == [4, 4, 4]
    (pages, spoiled_pages), (of_clean, none) = (
        evidence(rows)["D1"] for rows in (crawl(site_of("D1", noise=0.5)), clean)
    )
    assert (pages, none) == (of_clean, 0)
    assert 0 < spoiled_pages <= pages


def seen(made: Site, url: str, time: float = START, nonce: int = 0, slots: tuple[str, ...] = SLOTS) -> Page:
    page = render(made, url, time, nonce, slots)
    assert page is not None
    return page


def test_main_text_is_equal_where_fingerprints_are(everything: tuple[Site, list[Row]]) -> None:
    made, rows = everything
    texts, prints = defaultdict(set), defaultdict(set)
    for row in rows[::3]:
        if row.status == 200:
            text = seen(made, row.url, row.time, slots=()).text(Kind.MAIN)
            texts[row.fingerprint].add(text)
            prints[text].add(row.fingerprint)
    assert {len(found) for found in (*texts.values(), *prints.values())} == {1}


def test_tokens_are_the_visible_text_and_differ_from_request_to_request_where_they_pass() -> None:
    made = site_of("D1")
    url = crawl(made)[0].url
    first, again, second = (seen(made, url, nonce=nonce) for nonce in (1, 1, 2))
    assert first == again
    assert first.html != second.html
    assert sketch_of_html(first.html).words == len(first.text().split())
    assert first.text(Kind.TEMPLATE) == second.text(Kind.TEMPLATE)
    assert sorted(first.text(Kind.MAIN).split()) == sorted(second.text(Kind.MAIN).split())
    grown = [
        {token.text for token in seen(made, url, START + day * DAY).tokens if token.slot == "X8"} for day in (0, 29)
    ]
    assert grown[0] < grown[1]
    redesigned = [{token.slot for token in seen(made, url, time).tokens} for time in (TURN - 1, TURN)]
    assert ["X9" in slots for slots in redesigned] == [False, True]


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 0, 0.05), (0.5, 0.35, 0.65), (0.95, 0.85, 0.99)])
def test_siblings_share_as_many_words_as_asked_for(share: float, least: float, most: float) -> None:
    one, two = (main_words(site_of("D1"), ("D1", name), 300, share) for name in "ab")
    assert least <= sum(a == b for a, b in zip(one, two, strict=True)) / 300 <= most
