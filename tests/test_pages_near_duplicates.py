"""Pages that are nearly alike: how many there are among those of a site, within bounds and in any order."""

import logging
from random import Random

import pytest

from scrapy_dedup.pages import near_duplicates as module
from scrapy_dedup.pages.near_duplicates import NearDuplicates, near_duplicates
from scrapy_dedup.pages.sketch import Sketch, sketch_of_texts


def page(number: int, *more: str) -> Sketch:
    random = Random(number)
    return sketch_of_texts([f"{random.random()} {random.random()}" for _ in range(300)] + list(more))


@pytest.mark.parametrize(
    ("sketches", "pages", "near"),
    [
        ([], 0, 0),
        ([sketch_of_texts([])], 0, 0),
        ([page(i) for i in range(30)], 30, 0),
        ([*(page(i) for i in range(20)), page(7, "12:00"), page(7, "12:01"), page(9, "12:02")], 23, 5),
        ([page(1), page(1), sketch_of_texts(["a b"]), sketch_of_texts(["b", "a"])], 2, 0),
        # Weights that do not fit a byte.
        ([sketch_of_texts(["word " * 900, "same"] * 30), sketch_of_texts(["word"])], 2, 0),
    ],
    ids=["nothing", "no text", "pages of their own", "clocks", "equal pages", "a block of many words"],
)
def test_pages_that_differ_in_a_few_words(
    sketches: list[Sketch], pages: int, near: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        found = near_duplicates(sketches)
    assert (found, found.share) == (NearDuplicates(pages, near), near / max(pages, 1))
    assert not caplog.records


def test_the_sample_and_the_cost_are_bounded_and_do_not_depend_on_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 30)
    sketches = [page(i // 2, str(i)) for i in range(60)]
    found = near_duplicates(sketches)
    assert found.pages == 30
    assert found == near_duplicates(reversed(sketches))
    monkeypatch.setattr(module, "LIMIT", 60)
    monkeypatch.setattr(module, "_COMPARISONS", 500)
    found = near_duplicates(page(1, str(i)) for i in range(60))
    assert 0 < found.near == found.pages < 20
