"""The trap sites say what they claim, and the likeness benchmark counts what it says."""

import re
from collections import Counter, defaultdict
from random import Random

import pytest

from scrapy_dedup.content.sketch import sketch_of_html
from tests.benchmarks.likeness import OF_TRAPS, Truth, judged, measured, served_recording, served_trap
from tests.benchmarks.likeness_traps import TRAPS, Response, trap_site
from tests.benchmarks.recordings.recording import answer, write_recording
from tests.server import page, prose

DRAWN = {
    *("featured", "related", "related2", "updates", "archive", "polls", "language_counters", "quotes", "latest"),
    *("threads", "clock_or_id", "commits", "weather", "auctions"),
}
"""Traps some pages of which are drawn anew at each response."""
EQUAL = {"stations"}
"""Traps some pages of which are equal by chance."""


def test_there_are_seventeen_traps_and_more():
    assert len(TRAPS) >= 17 + 8


@pytest.mark.parametrize("name", TRAPS)
def test_the_truth_of_a_trap(name):
    site = trap_site(name)
    urls = defaultdict(set)
    for target, each in site.pages.items():
        urls[each.key].add(target)
    for key, targets in urls.items():
        assert {re.sub(r"[?&]sid=[0-9a-f]{16}", "", target) for target in targets} == {key}
        assert len({site.plain[target] for target in targets}) == 1
    assert len(site.pages) < 400
    assert sum(len(targets) > 1 for targets in urls.values()) >= 20
    pages_of_bag = defaultdict(set)
    for target, bag in site.plain.items():
        pages_of_bag[bag].add(site.pages[target].key)
    assert any(len(keys) > 1 for keys in pages_of_bag.values()) == (name in EQUAL)


@pytest.mark.parametrize("name", TRAPS)
def test_every_url_of_a_trap_is_linked_from_its_start(name):
    site = trap_site(name)
    found, todo = {"/"}, ["/"]
    while todo:
        html = site.at(todo.pop(), Response(1, 0, Random(1)))
        links = {link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', html or "")}
        todo += links - found
        found |= links
    assert found == site.pages.keys()


@pytest.mark.parametrize("name", TRAPS)
def test_what_is_drawn_differs_and_all_else_is_the_same(name):
    def bags(number: int) -> dict[str, str]:
        site = trap_site(name)
        drawn = {target: Response(number, 1, Random(f"{target} {number}")) for target in site.pages}
        return {target: sketch_of_html(site.at(target, said) or "").bag for target, said in drawn.items()}

    once, again, later = bags(5), bags(5), bags(99)
    assert once == again
    assert (once != later) == (name in DRAWN)
    assert Counter(once.values()).most_common(1)[0][1] < 10


def test_pairs_are_counted_as_it_is_said():
    truth = {
        **{url: Truth("one", "p1") for url in "ab"},
        "c": Truth("two", "p2"),
        **{url: Truth("three", "p3") for url in "def"},
        "g": Truth("four", "p3"),
        "h": Truth("five", "p5"),
    }
    nothing: dict[str, str | None] = dict.fromkeys(truth)
    assert judged(truth, nothing) == (4, 0, 0)
    right: dict[str, str | None] = {url: each.page for url, each in truth.items()}
    assert judged(truth, right) == (4, 4, 0)
    # c is taken for a and b, which are not told apart from it by any plain text; g is equal to d to f as plain text.
    wrong = {**right, "c": "one", "g": "three"}
    assert judged(truth, wrong) == (4, 4, 2)
    assert judged(truth, {**wrong, "f": None, "h": "three"}) == (4, 2, 2 + 3)
    everything: dict[str, str | None] = dict.fromkeys(truth, "x")
    assert judged(truth, everything) == (4, 4, 28 - 4 - 3)


@pytest.mark.usefixtures("_forked_benchmarks")
def test_a_quiet_trap_is_crawled_and_told_apart_as_its_text_tells(tmp_path):
    with served_trap("titles", OF_TRAPS[0]) as served:
        found = measured("titles", "none", 0, served, tmp_path / "project")
    site = trap_site("titles")
    assert (found.urls, found.same, found.wrong, found.errors) == (len(site.pages), found.found, 0, 0)
    assert found.recall == 1.0
    assert found.same > 50
    assert found.again == 1  # the start page


@pytest.mark.usefixtures("_forked_benchmarks")
def test_a_recording_is_crawled_with_noise_and_judged_without(tmp_path):
    base = "http://127.0.0.1:8999"
    links = [f"/p/{number}{mark}" for number in range(12) for mark in ("", "?sid=1")]
    named = [f"{link}#part" for link in links[::2]]  # a fragment is no part of what a server is asked for
    answers = [answer(f"{base}/", page(prose("home"), "/", *named, *links), depth=0)]
    answers += [answer(base + link, page(prose(link.partition("?")[0]), "/")) for link in links]
    write_recording(tmp_path / "small.jsonl.gz", answers)
    for noise, least in (("none", 12), ("token", 0)):
        with served_recording(tmp_path / "small.jsonl.gz", noise) as served:
            found = measured("small", noise, 0, served, tmp_path / noise)
        assert (found.urls, found.same, found.wrong, found.errors, found.again) == (25, 12, 0, 0, 1)
        assert least <= found.found <= 12
