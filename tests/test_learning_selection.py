"""One function out of what several learners propose, in the time there is."""

import logging
from time import monotonic

import numpy as np
import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning import selection
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.frame import Frame
from scrapy_dedup.learning.data.sampling import searched
from scrapy_dedup.learning.data.url_table import encode
from scrapy_dedup.learning.deadline import NEVER, Deadline
from scrapy_dedup.learning.learners import replacing
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.learning.search.guards import grown
from scrapy_dedup.learning.site_rules import learn_site
from scrapy_dedup.rules import RuleBook
from scrapy_dedup.urls import values_of

SITE = "http://shop.example"
SEEN = [Observation(f"{SITE}/p?id={i}&sid={i:031x}{s}", f"page {i}") for i in range(60) for s in "ab"]


def learned(seen: list[Observation], deadline: Deadline = NEVER) -> tuple[RuleBook, tuple[str, ...]]:
    """Return the rules and the notes."""
    found = learn_site("shop.example", clusters(seen), LearningOptions(deadline=deadline), known=RuleBook())
    return RuleBook(found.rules, {"shop.example": found.deep}), found.report.notes


def test_a_faulty_learner_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(replacing, "proposals", failing)
    seen = [Observation(f"{SITE}/topic/{i}", f"topic {i}") for i in range(60)]
    seen += [Observation(f"{SITE}/t?n={i}", f"topic {i}") for i in range(60)]
    with caplog.at_level(logging.ERROR):
        book, _ = learned([*SEEN, *seen])
    assert [set(rule.ops) for rule in book] == [{"q.sid"}]
    assert any("replacing failed on shop.example" in message for message in caplog.messages)


def test_what_is_found_in_time_counts() -> None:
    """The first learner is asked in any case; what it found is tested as ever."""
    seen = [Observation(f"{SITE}/q?id={i}&v={v}", f"page {i} {v}") for i in range(60) for v in "ab"]
    book, notes = learned(
        SEEN + [Observation(f"{one.url}&x=1", one.fingerprint) for one in seen] + seen, Deadline(monotonic() - 1)
    )
    assert book.equivalent(f"{SITE}/p?id=7&sid={0:032x}", f"{SITE}/p?id=7&sid={1:032x}")
    assert not book.equivalent(f"{SITE}/q?id=7&v=a", f"{SITE}/q?id=7&v=b")
    assert any("out of time" in note for note in notes)
    in_time, notes = learned(SEEN, Deadline(monotonic() + 600))
    assert in_time == learned(SEEN)[0]
    assert not notes


def test_no_guard_is_looked_for_after_the_deadline() -> None:
    urls = [f"{SITE}/{kind}?id={i}&v={v}" for kind in "ab" for i in range(100) for v in range(3)]
    content = [(i if kind == "a" else 1000 + 3 * i + v) for kind in "ab" for i in range(100) for v in range(3)]
    table = encode(urls, [values_of(url) for url in urls], content)
    trees = [
        grown(Frame(table, np.arange(len(urls))), {}, (), np.random.default_rng(0), deadline=deadline)
        for deadline in (NEVER, Deadline(monotonic() - 1))
    ]
    assert [len(tree.branches) for tree in trees] == [1, 0]


def test_large_sites_are_searched_in_part_and_judged_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """``v`` is noise but for one page in a hundred, of which the part that is searched holds few."""
    seen = [Observation(f"{SITE}/p?id={i}&sid={i:031x}{s}&v=0", f"page {i}") for i in range(1000) for s in "ab"]
    seen += [Observation(f"{SITE}/p?id={i}&sid={i:031x}c&v=1", f"page {i}") for i in range(1000)]
    seen += [Observation(f"{SITE}/p?id={i}&sid={i:031x}d&v=2", f"other {i % 5}") for i in range(0, 1000, 100)]
    monkeypatch.setattr(selection, "MAX_SEARCHED", 300)
    book, _ = learned(seen)
    assert book.equivalent(f"{SITE}/p?id=77&sid={0:032x}&v=0", f"{SITE}/p?id=77&sid={1:032x}&v=0")
    assert not book.equivalent(f"{SITE}/p?id=7&sid={0:032x}&v=0", f"{SITE}/p?id=7&sid={0:032x}&v=2")


def test_what_is_searched_are_whole_clusters_that_are_kept_apart() -> None:
    urls = [f"{SITE}/p?id={i}&sid={n}" for i in range(500) for n in range(3)]
    urls += [f"{SITE}/q?id={i}&sid={n}" for i in range(500) for n in range(3)]
    content = [i for i in range(1000) for _ in range(3)]
    table = encode(urls, [values_of(url) for url in urls], content)
    # The clusters of /p are one key each, those of /q are not.
    keys = np.array([i if i < 500 else 1000 + 3 * i + n for i in range(1000) for n in range(3)])
    rows = searched(Frame(table, np.arange(len(urls))), keys, 600, np.random.default_rng(0))
    assert 500 < len(rows) <= 600
    chosen = [content[row] for row in rows]
    assert sum(number >= 500 for number in chosen) >= 300
    assert sum(chosen.count(number) == 3 for number in set(chosen)) > 0.5 * len(set(chosen))
