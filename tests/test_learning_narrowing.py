"""A rule is not narrowed past its counterexamples: what it leaves out must be another matter, and not bad luck."""

from collections.abc import Callable
from random import Random

import pytest

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.narrowing import _by_chance

SITE = "http://example.com"
Row = tuple[str, tuple[object, ...]]

VALUES: dict[str, Callable[[Random], str]] = {
    "small": lambda rng: str(rng.randrange(1, 5)),
    "lang": lambda rng: rng.choice(["de", "en", "fr"]),
    "date": lambda rng: f"202{rng.randrange(5)}-0{rng.randrange(1, 9)}-1{rng.randrange(9)}",
}


def visited(kind: str, rng: Random, pages: range, matters: frozenset[int]) -> list[Row]:
    """Return URLs, each with its page: on few pages, those of *matters*, a parameter tells which it is."""
    rows: list[Row] = []
    for page in pages:
        for _ in range(rng.choice([1, 2, 2, 3])):
            value = VALUES[kind](rng)
            url = f"{SITE}/d/{page}?x={value}&s={rng.randrange(10**8)}"
            rows.append((url, (page, value) if page in matters else (page,)))
    return rows


def observed(rows: list[Row]) -> list[Observation]:
    return [Observation(url, f"the page {page} with some words", words=100) for url, page in rows]


@pytest.mark.parametrize("kind", list(VALUES))
@pytest.mark.parametrize("seed", range(4))
def test_a_value_without_counterexample_is_no_better_than_the_others(kind: str, seed: int) -> None:
    """Three pages of 200 depend on the parameter: of some values none of them was seen, and others will be."""
    rng = Random(seed)
    matters = frozenset(rng.sample(range(200), 3))
    seen = visited(kind, rng, range(200), matters)
    while len({page for _, page in seen if page[0] in matters}) == len(matters):
        seen += visited(kind, rng, range(min(matters), min(matters) + 1), matters)
    book = learn_rules(observed(seen))
    new = visited(kind, rng, range(1000, 1200), frozenset(range(1000, 1200)))
    pages = {book.canonical_key(url): page for url, page in reversed(new)}
    assert len(set(pages.values())) == len({page for _, page in new}), [rule.ops for rule in book]


def test_what_is_another_matter_is_left_out() -> None:
    """The first page of a list is as none is given, and every other one is another page."""
    rows: list[Row] = []
    for topic in range(12):
        rows += [(f"{SITE}/t?id={topic}", (topic, 1)), (f"{SITE}/t?id={topic}&page=1", (topic, 1))]
        rows += [(f"{SITE}/t?id={topic}&page={page}", (topic, page)) for page in (2, 3)]
    book = learn_rules(observed(rows))
    assert book.equivalent(f"{SITE}/t?id=99", f"{SITE}/t?id=99&page=1")
    assert not book.equivalent(f"{SITE}/t?id=99", f"{SITE}/t?id=99&page=2")


def test_one_counterexample_elsewhere_is_as_likely_as_there_are_groups() -> None:
    assert _by_chance(1, 30, 70) == pytest.approx(0.3)
    assert _by_chance(2, 3, 1) == pytest.approx(0.5)
    assert _by_chance(10, 10, 10) < 1e-5
