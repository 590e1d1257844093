"""Shingles, supershingles, megashingles, and the other ways to compare pages that go with them."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.learning.methods.shingles import (
    MAX_ROUNDS,
    MEGASHINGLES,
    MINWISE,
    Shingling,
    buckets,
    equivalence_classes,
    megashingles,
    minwise_values,
    parted,
    rare_word_classes,
    sharing,
    shingles,
    shingling,
)

ALIKE = [
    (0.99, 0.9998),
    (0.98, 0.9957),
    (0.97, 0.9785),
    (0.95, 0.8786),
    (0.90, 0.4151),
    (0.85, 0.1198),
    (0.80, 0.0258),
    (0.70, 0.0007),
]


def probability_of_sharing(similarity: float) -> float:
    """Return the probability that two supershingles of six or more agree, each of 14 minwise values."""
    agree = similarity**14
    return 1 - (1 - agree) ** 6 - 6 * agree * (1 - agree) ** 5


def resemblance(a: Shingling, b: Shingling) -> float:
    return float(np.mean(a.minwise == b.minwise))


def page(number: int, words: int = 400) -> list[str]:
    random = Random(number)
    return [f"{random.getrandbits(40):x}" for _ in range(words)]


@pytest.mark.parametrize(("similarity", "probability"), ALIKE)
def test_probability_of_sharing_a_megashingle(similarity: float, probability: float) -> None:
    assert probability_of_sharing(similarity) == pytest.approx(probability, abs=5e-5)


@pytest.mark.parametrize("similarity", [0.95, 0.9, 0.8])
def test_measured_share_of_pages_that_share_a_megashingle(similarity: float) -> None:
    """The real thing, from shingles of a known resemblance, is as often as the formula says."""
    random = np.random.default_rng(7)
    trials, size = 600, 200
    common = round(similarity * size)
    own = (size - common) // 2
    hits = 0
    for _ in range(trials):
        every = random.integers(0, 2**63, common + 2 * own, dtype=np.uint64)
        one, other = every[: common + own], np.r_[every[:common], every[common + own :]]
        hits += any(map(int.__eq__, megashingles(minwise_values(one)), megashingles(minwise_values(other))))
    expected = probability_of_sharing(common / (common + 2 * own))
    assert hits / trials == pytest.approx(expected, abs=4 * (expected * (1 - expected) / trials) ** 0.5)


def test_numbers_of_values() -> None:
    found = shingling(page(1))
    assert found.minwise.shape == (MINWISE,) == (84,)
    assert len(found.megashingles) == MEGASHINGLES == 15
    assert len(set(found.minwise.tolist())) == 84, "84 permutations, not one"


def test_minwise_values_do_not_depend_on_chunks_or_order() -> None:
    every = np.random.default_rng(3).integers(0, 2**63, 10_000, dtype=np.uint64)
    halves = np.minimum(minwise_values(every[:5_000]), minwise_values(every[5_000:]))
    assert np.array_equal(minwise_values(every), halves)
    assert np.array_equal(minwise_values(every[::-1]), halves)


def test_estimated_resemblance() -> None:
    words = page(1, 1_000)
    changed = words[:500] + page(2, 500)
    true = len(np.intersect1d(shingles(words), shingles(changed))) / len(np.union1d(shingles(words), shingles(changed)))
    assert resemblance(shingling(words), shingling(changed)) == pytest.approx(true, abs=0.16)
    assert resemblance(shingling(words), shingling(words)) == 1.0
    assert resemblance(shingling(words), shingling(page(3))) == 0.0


def test_shingles_know_the_order_of_words() -> None:
    words = page(1, 50)
    assert not np.intersect1d(shingles(words), shingles(words[::-1])).size
    assert len(shingles(words)) == 46
    assert len(shingles(["a", "b"])) == 1
    assert not len(shingles([]))


def test_odd_pages() -> None:
    for word in ("one", "\ud800"):
        assert len(shingles([word])) == 1


@given(st.lists(st.text(max_size=5), min_size=1, max_size=30))
def test_equal_pages_are_equal(words: list[str]) -> None:
    one, other = shingling(words), shingling(list(words))
    assert one.megashingles == other.megashingles


# -- classes


def test_one_bucket_per_host() -> None:
    urls = ["http://a.example/1", "http://b.example/1", "http://A.example/2", "http://["]
    assert buckets(urls) == [["http://a.example/1", "http://A.example/2"], ["http://b.example/1"], ["http://["]]
    assert equivalence_classes(dict.fromkeys(urls, page(1))) == [["http://a.example/1", "http://A.example/2"]]


def test_a_changed_word_leaves_a_page_in_its_class() -> None:
    pages = {}
    for number in range(20):
        words = page(number)
        pages |= {f"http://a/{number}": words, f"http://a/{number}?sid=1": [*words, "12:00"]}
    assert equivalence_classes(pages) == [[f"http://a/{n}", f"http://a/{n}?sid=1"] for n in range(20)]


def test_short_pages_are_equal_or_not_and_those_without_words_in_no_class() -> None:
    words = page(1, 60)
    assert equivalence_classes({"/a": words, "/b": [*words, "more"], "/c": [*words], "/d": [], "/e": []}) == [
        ["/a", "/c"]
    ]


def test_a_megashingle_counts_at_its_position_only() -> None:
    one = shingling(page(1))
    turned = Shingling(one.minwise, one.megashingles[1:] + one.megashingles[:1])
    assert sharing([one, turned]) == []


def chain(length: int) -> list[Shingling]:
    """Pages of which each differs from the one before in one word of 400, the ends in many."""
    words, fresh = page(0), page(999, length)
    found = []
    for step in range(length):
        words = [*words[1:], fresh[step]]
        found.append(shingling(words))
    return found


def test_a_chain_of_shared_megashingles_is_parted_by_medoids() -> None:
    pages = chain(240)
    assert [len(members) for members in sharing(pages)] == [240], "joined, link by link"
    assert resemblance(pages[0], pages[-1]) < 0.5
    parts = parted(pages, range(240))
    assert len(parts) > 3
    assert sorted(number for part in parts for number in part) == list(range(240))
    for part in parts:
        best = max(part, key=lambda i: sum(resemblance(pages[i], pages[j]) for j in part))
        assert min(resemblance(pages[best], pages[j]) for j in part) > 0.8


def test_parting_is_bounded() -> None:
    pages = [shingling(page(number, 100)) for number in range(MAX_ROUNDS + 20)]
    assert [len(part) for part in parted(pages, range(len(pages)))] == [1] * len(pages)
    assert parted(pages, []) == []


# -- the document's alternative


def test_rare_words() -> None:
    common = page(0)
    pages = {f"/{number}": [*common, f"rare{number // 2}"] for number in range(10)}
    pages["/none"] = common
    found = rare_word_classes(pages, most=2)
    assert found == [["/0", "/1"], ["/2", "/3"], ["/4", "/5"], ["/6", "/7"], ["/8", "/9"]]
