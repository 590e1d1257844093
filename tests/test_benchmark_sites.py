"""The made-up sites are what they say: the same from one seed, and true to their own page keys."""

from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.urls import normal_form
from tests.benchmarks.scoring.grading import Marks, grades
from tests.benchmarks.scoring.score import score
from tests.benchmarks.sites.catalogue import KINDS
from tests.benchmarks.sites.crawl import Row, crawl, shared_out
from tests.benchmarks.sites.levels import LEVELS, level_knobs, site, sites_of
from tests.benchmarks.sites.model import START, TURN, Knobs, Request
from tests.benchmarks.sites.phenomena import PHENOMENA
from tests.benchmarks.sites.site import Site
from tests.benchmarks.sites.splits import MOST_TRAINING, split
from tests.benchmarks.sites.traps import TRAPS

SMALL = Knobs(pages=60, mega=100)


def site_of(name: str, knobs: Knobs = SMALL, seed: int = 0) -> Site:
    """A site with one kind of pages."""
    return site(name.lower(), seed, [KINDS[name]], knobs)


def texts(rows: list[Row]) -> list[str]:
    return [row.page_text for row in rows]


def test_thirty_phenomena_and_thirty_traps() -> None:
    assert list(PHENOMENA) == [f"D{number}" for number in range(1, 31)]
    assert list(TRAPS) == [f"T{number}" for number in range(1, 31)]
    assert all(kind.title for kind in KINDS.values())


def test_one_seed_gives_one_crawl() -> None:
    (one,), (two,) = sites_of("L3", 3, SMALL), sites_of("L3", 3, SMALL)
    assert crawl(one) == crawl(two)
    (other,) = sites_of("L3", 4, SMALL)
    assert {row.url for row in crawl(one)}.isdisjoint(row.url for row in crawl(other))


@pytest.mark.parametrize("name", PHENOMENA)
def test_every_phenomenon_has_duplicates_that_rules_can_merge(name: str) -> None:
    made = site_of(name)
    rows = crawl(made)
    scores = score([made.book().canonical_key(row.url) for row in rows], texts(rows))
    assert scores.duplicates >= 10
    assert scores.pages >= 55
    # The rules of truth merge exactly the page keys.
    assert scores.oracle_compression == 1
    assert scores.lost == scores.false_pairs == 0
    # One page, one content: nothing in a phenomenon lies.
    seen = {(row.page, row.fingerprint) for row in rows if row.status == 200}
    assert len(seen) == len({page for page, _ in seen}) == len({content for _, content in seen})


def without(name: str) -> "list[str]":
    """The keys that a careless learner would drop, for traps of one parameter."""
    return {
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
    }.get(name, [])


@pytest.mark.parametrize("name", TRAPS)
def test_every_trap_catches_and_can_be_passed(name: str) -> None:
    made = site_of(name, replace(SMALL, rare=0.2))
    endpoint = made.endpoints[name]
    rows = [row for row in crawl(made) if not row.drifted]
    book = made.book()
    (grade,) = grades(made, rows, [book.canonical_key(row.url) for row in rows])
    assert grade.passed or name == "T8"  # Scrapy's own canonical form loses pages there
    assert len({row.page for row in rows}) >= 20
    if keys := without(name):
        from scrapy_dedup.rules import Ignore, Rule

        careless = RuleBook([Rule(made.domain, {}, {key: Ignore() for key in keys})])
        rows = crawl(made)
        (grade,) = grades(made, rows, [careless.canonical_key(row.url) for row in rows])
        assert grade.lost > 1
        assert not grade.passed
    assert endpoint.is_trap


def test_careless_lower_case_and_file_names_are_caught() -> None:
    for name, key in (("T7", str.lower), ("T26", lambda url: url.rpartition("/")[2].partition("?")[0])):
        made = site_of(name)
        rows = crawl(made)
        (grade,) = grades(made, rows, [key(row.url) for row in rows])
        assert grade.lost > 3


@pytest.mark.parametrize(("name", "most"), [("T11", 0.95), ("T12", 0.8), ("T18", 0.8)])
def test_some_pages_show_what_others_show(name: str, most: float) -> None:
    rows = crawl(site_of(name))
    pages = {row.page for row in rows}
    assert len({row.fingerprint for row in rows}) < most * len(pages)


def test_front_pages_differ_from_fetch_to_fetch() -> None:
    seen = defaultdict(set)
    for row in crawl(site_of("T21")):
        seen[row.url].add(row.fingerprint)
    assert Counter(len(contents) for contents in seen.values())[3] >= 6


def test_what_comes_late_is_never_learned_from() -> None:
    (made,) = sites_of("L3", 0, SMALL)
    rows = crawl(made)
    assert {row.endpoint for row in rows if row.late} == {"T5", "T6", "T22", "T27"}
    assert {row.endpoint for row in rows if row.drifted} == {"T22"}
    assert all((row.time >= TURN) == row.late for row in rows)
    for train in (None, 0.2, 1.0):
        assert not any(row.late for row in split(rows, 0, train).train)


def test_drift_changes_the_truth() -> None:
    made = site_of("T22")
    (url, other) = (f"{made.endpoints['T22'].at('/show')}?id=7&ref={ref}" for ref in (1, 2))
    assert made.page_key(url, START) == made.page_key(other, START)
    assert made.page_key(url, TURN) != made.page_key(other, TURN)


def test_splits_hold_pages_out() -> None:
    (made,) = sites_of("L2", 0, SMALL)
    rows = crawl(made)
    parts = split(rows, 0)
    seen = {row.page for row in parts.train}
    assert seen.isdisjoint(row.page for row in parts.new)
    assert {row.url for row in parts.train}.isdisjoint(row.url for row in parts.same)
    assert len(parts.train) + len(parts.same) + len(parts.new) == len(rows)
    few = split(rows, 0, 0.1)
    assert len(few.train) == round(0.1 * len(rows))
    # By page: the URLs of a page come together; by URL they are torn apart.
    torn = split(rows, 0, 0.1, by_url=True)
    assert len({row.page for row in few.train}) < len({row.page for row in torn.train})
    assert len(split(rows, 0, 1.0).train) == len(rows)
    assert MOST_TRAINING == 100_000


def test_noise_and_missed_duplicates_spoil_fingerprints_and_not_the_truth() -> None:
    clean, noisy, partial = (
        crawl(site_of("D1", replace(SMALL, **knobs))) for knobs in ({}, {"noise": 0.1}, {"clusters": 0.5})
    )
    assert texts(clean) == texts(noisy) == texts(partial)
    changed = sum(a.fingerprint != b.fingerprint for a, b in zip(clean, noisy, strict=True)) / len(clean)
    assert 0.03 < changed < 0.2
    apart = sum(a.fingerprint != b.fingerprint for a, b in zip(clean, partial, strict=True)) / len(clean)
    assert 0.35 < apart < 0.65


def test_pages_that_could_not_be_had_are_errors_to_the_learner_and_pages_to_the_truth() -> None:
    clean, partial = (crawl(site_of("D1", replace(SMALL, missing=missing))) for missing in (0.0, 0.5))
    assert texts(clean) == texts(partial)
    unknown = [row.observation() for row in partial if not row.fingerprint]
    assert {row.status for row in unknown} == {503}
    assert 0.35 < len(unknown) / len(partial) < 0.65
    assert all(a.fingerprint in ("", b.fingerprint) for a, b in zip(partial, clean, strict=True))


def test_urls_that_are_asked_again_show_what_is_noise() -> None:
    knobs = replace(SMALL, again=0.5)
    once, again, noisy = (crawl(site_of("D1", each)) for each in (SMALL, knobs, replace(knobs, noise=0.2)))
    assert {row.url for row in once} == {row.url for row in again}
    assert 0.35 < len(again) / len(once) - 1 < 0.65
    for rows, differ in ((again, False), (noisy, True)):
        shown: dict[str, set[str]] = {}
        for row in rows:
            shown.setdefault(row.url, set()).add(row.fingerprint)
        assert any(len(fingerprints) > 1 for fingerprints in shown.values()) is differ


def test_pages_with_one_url_can_be_missing() -> None:
    rows = crawl(site_of("D1", replace(SMALL, singles=1)))
    assert min(Counter(row.page for row in rows).values()) == 2


@pytest.mark.parametrize("ratio", [0.2, 0.6, 0.8])
def test_ratio_of_duplicates(ratio: float) -> None:
    rows = crawl(site_of("D1", replace(SMALL, ratio=ratio)))
    assert 1 - len({row.page for row in rows}) / len(rows) == pytest.approx(ratio, abs=0.02)


def test_odd_knobs() -> None:
    one = crawl(site_of("D1", Knobs(pages=1)))
    assert len({row.page for row in one}) == 1
    assert len(crawl(site_of("D2", replace(SMALL, junk=0)))) == 60
    assert len(crawl(site_of("D1", replace(SMALL, ratio=0)))) == 60
    for junk in range(1, 6):
        row = crawl(site_of("D2", replace(SMALL, junk=junk)))[0]
        assert len(Request.of(row.url).query) == 1 + junk  # type: ignore[union-attr]
    assert not sum(crawl(site_of("T2", replace(SMALL, rare=0)))[0].page[2] != "" for _ in range(1))
    assert shared_out(Knobs(pages=3, ratio=0.99, most_variants=4), Random(0)) == [4, 4, 4]
    for wrong in ({"ratio": 1.0}, {"noise": -0.1}, {"pages": 0}, {"junk": 6}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Knobs(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="L9"):
        sites_of("L9", 0)
    with pytest.raises(ValueError, match="D31"):
        sites_of("L0", 0, only=["D31"])


def test_levels() -> None:
    counts = {level: [len(made.endpoints) for made in sites_of(level, 0, SMALL)] for level in LEVELS}
    assert counts == {"L0": [1] * 60, "L1": [3], "L2": [30], "L3": [60], "L4": [60]}
    assert level_knobs("L4").noise == 0.03
    assert level_knobs("L4", Knobs(noise=0.1)).noise == 0.1


def test_texts_that_are_no_url_have_no_page() -> None:
    (made,) = sites_of("L3", 0, SMALL)
    for url in ("", "mailto:a@b", "http://[::1/", "http://l3-0.example/", "/relative", "http://l3-0.example/no/such"):
        assert made.page_key(url) is None
        assert made.content(url) is None


def test_the_normal_form_is_enough_for_some_phenomena_only() -> None:
    sufficient = set()
    for name in PHENOMENA:
        rows = crawl(site_of(name))
        if score([normal_form(row.url) for row in rows], texts(rows)).oracle_compression == 1:
            sufficient.add(name)
    assert sufficient == {"D9", "D11", "D26"}


def test_marks_of_the_truth_are_full() -> None:
    (made,) = sites_of("L3", 0, SMALL)
    rows = split(crawl(made), 0).unseen
    book = made.book()
    marks = Marks.of(grades(made, rows, [book.canonical_key(row.url) for row in rows]))
    assert marks.phenomena_passed == 30
    assert marks.traps_passed == 29
    assert marks.hard_lost == marks.lost_beyond == 0
    nothing = Marks.of(grades(made, rows, [row.url for row in rows]))
    assert nothing.phenomena_passed == 0
    assert nothing.rules_recovered == 0


def test_a_mega_cluster_is_parted_by_url() -> None:
    parts = split(crawl(site_of("T24", replace(SMALL, mega=500))), 0)
    mega = ("T24", "home", "")
    assert all(any(row.page == mega for row in rows) for rows in (parts.train, parts.same, parts.new))
