import logging
from random import Random

import pytest

from scrapy_dedup.content import near_duplicates as module
from scrapy_dedup.content.near_duplicates import NearDuplicates, near_duplicates
from scrapy_dedup.content.sketch import Sketch, sketch_of_texts


def page(number: int, *more: str) -> Sketch:
    random = Random(number)
    return sketch_of_texts([f"{random.random()} {random.random()}" for _ in range(400)] + list(more))


def test_pages_of_their_own() -> None:
    assert near_duplicates(page(i) for i in range(50)) == NearDuplicates(pages=50, near=0)


def test_a_clock_makes_a_near_duplicate() -> None:
    sketches = [page(i) for i in range(20)] + [page(7, "12:00"), page(7, "12:01"), page(9, "12:02")]
    found = near_duplicates(sketches)
    assert found == NearDuplicates(pages=23, near=5)
    assert found.share == 5 / 23


def test_equal_pages_count_once() -> None:
    assert near_duplicates([page(1), page(1), sketch_of_texts(["a b"]), sketch_of_texts(["b", "a"])]).pages == 2


def test_pages_without_text_do_not_count() -> None:
    assert near_duplicates([sketch_of_texts([])]) == NearDuplicates(0, 0)
    assert near_duplicates([]).share == 0.0


def test_the_sample_is_bounded_and_does_not_depend_on_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 30)
    sketches = [page(i // 2, str(i)) for i in range(60)]
    found = near_duplicates(sketches)
    assert found.pages == 30
    assert found == near_duplicates(reversed(sketches))


def test_the_cost_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMPARISONS", 500)
    found = near_duplicates(page(1, str(i)) for i in range(60))
    assert 0 < found.near == found.pages < 20


def test_a_block_of_many_words() -> None:
    # Weights that do not fit a byte: the package overflows on them.
    assert near_duplicates([sketch_of_texts(["word " * 900, "same"] * 30), sketch_of_texts(["word"])]).pages == 2


def test_silent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        near_duplicates(page(1, str(i)) for i in range(210))
    assert not caplog.records
