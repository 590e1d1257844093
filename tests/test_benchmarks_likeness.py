"""The trap sites say what they claim, and the likeness benchmark counts what it says."""

import re
from collections import defaultdict
from random import Random

import pytest

from tests.server import page, prose

from .benchmarks.likeness import Truth, judged, measured, served_recording
from .benchmarks.likeness_traps import TRAPS, Response, trap_site
from .benchmarks.recordings.recording import answer, write_recording

DRAWN = {
    *("featured", "related", "related2", "updates", "archive", "polls", "language_counters", "quotes", "latest"),
    *("threads", "clock_or_id", "commits", "weather", "auctions"),
}
"""Traps some pages of which are drawn anew at each response."""


@pytest.mark.parametrize("name", TRAPS)
def test_the_truth_of_a_trap(name):
    site = trap_site(name)
    targets_of, keys_of = defaultdict(set), defaultdict(set)
    for target, each in site.pages.items():
        targets_of[each.key].add(target)
        keys_of[site.plain[target]].add(each.key)
    for key, targets in targets_of.items():
        assert {re.sub(r"[?&]sid=[0-9a-f]{16}", "", target) for target in targets} == {key}
        assert len({site.plain[target] for target in targets}) == 1
    assert sum(len(targets) > 1 for targets in targets_of.values()) >= 20
    assert any(len(keys) > 1 for keys in keys_of.values()) == (name == "stations"), "some of which are equal by chance"
    found, todo = {"/"}, ["/"]
    while todo:
        html = site.at(todo.pop(), Response(1, 0, Random(1)))
        links = {link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+)"', html or "")}
        todo += links - found
        found |= links
    assert found == site.pages.keys()


@pytest.mark.parametrize("name", TRAPS)
def test_what_is_drawn_differs_and_all_else_is_the_same(name):
    def texts(number: int) -> list[str | None]:
        site = trap_site(name)
        return [site.at(target, Response(number, 1, Random(f"{target} {number}"))) for target in site.pages]

    once, again, later = texts(5), texts(5), texts(99)
    assert once == again
    assert (once != later) == (name in DRAWN)


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
def test_a_recording_is_crawled_with_noise_and_judged_without(tmp_path):
    base = "http://127.0.0.1:8999"
    links = [f"/p/{number}{mark}" for number in range(12) for mark in ("", "?sid=1")]
    named = [f"{link}#part" for link in links[::2]]  # a fragment is no part of what a server is asked for
    answers = [answer(f"{base}/", page(prose("home"), "/", *named, *links), depth=0)]
    answers += [answer(base + link, page(prose(link.partition("?")[0]), "/")) for link in links]
    write_recording(tmp_path / "small.jsonl.gz", answers)
    with served_recording(tmp_path / "small.jsonl.gz", "none") as served:
        found = measured("small", "none", 0, served, tmp_path / "project")
    assert (found.urls, found.same, found.found, found.wrong, found.errors, found.again) == (25, 12, 12, 0, 0, 1)
