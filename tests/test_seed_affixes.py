"""The affix examples of url-parameter-relevance (FIG. 2, 6 and 7), and the laws of its equations."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, exp, isfinite, log
from sys import setprofile
from typing import Any

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from scrapy_dedup.learning.methods.affixes import (
    OF_URLS,
    CharacterModel,
    counted_prefixes,
    empirical,
    given,
    log_test_statistic,
    observed,
    sigma_level,
    significant_prefixes,
    significant_suffixes,
    snapped_prefixes,
    uniform,
)

WORDS = ["aad", "ad", "art", "aab", "aa", "aardvark", "aat", "bad", "base"]
STRINGS = ["Prefix1_asdf", "Prefix1_blijef", "Prefix1_belwf", "Repeat", "Repeat", "Pre_agsdg", "Pre_giejw"]
# fmt: off
LISTED = {
    "P", "Pr", "Pre", "Pref", "Prefi", "Prefix", "Prefix1", "Prefix1_", "Pre_",
    "R", "Re", "Rep", "Repe", "Repea", "Repeat",
}
# fmt: on
SIZES = (36, 62, 95)


def texts(affixes: Sequence[object]) -> set[str]:
    return {affix.text for affix in affixes}  # type: ignore[attr-defined]


def by_definition(count: int, strings: int, p: Fraction) -> Fraction:
    """Equation (23), as it is written."""
    terms = [comb(strings, i) * p**i * (1 - p) ** (strings - i) for i in range(strings + 1)]
    return sum(terms[count:], Fraction()) / sum(terms[1:], Fraction())


# The counter of FIG. 2


@pytest.mark.parametrize(
    ("strings", "text", "count", "as_long"),
    [
        (WORDS, "aa", 5, 9),  # the document counts four; with "aa" itself there are five
        (STRINGS, "Prefix1_", 3, 5),  # the document writes "Prefix_" once
        (STRINGS, "Prefix1", 3, 5),
        (STRINGS, "Pre_", 2, 7),
        (STRINGS, "Pre", 5, 7),
        (STRINGS, "Repeat", 2, 7),
    ],
)
def test_counts_of_prefixes_among_strings_that_are_as_long(
    strings: list[str], text: str, count: int, as_long: int
) -> None:
    (found,) = [prefix for prefix in counted_prefixes(strings, uniform()) if prefix.text == text]
    assert (found.count, found.strings) == (count, as_long)


@hypothesis_given(st.lists(st.text("ab", max_size=5), max_size=12))
def test_counted_prefixes_are_those_that_two_strings_share(strings: list[str]) -> None:
    counted = {prefix.text: (prefix.count, prefix.strings) for prefix in counted_prefixes(strings, uniform(2))}
    every = {text[:length] for text in strings for length in range(1, len(text) + 1)}
    counts = {text: sum(other.startswith(text) for other in strings) for text in every}
    expected = {
        text: (count, sum(len(other) >= len(text) for other in strings)) for text, count in counts.items() if count > 1
    }
    assert counted == expected


# Equations (19) to (23)


@pytest.mark.parametrize("size", [2, 26, 95])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_equation_23(size: int, length: int) -> None:
    p = Fraction(1, size**length)
    for strings in (1, 2, 7, 40):
        for count in {1, 2, strings // 2 or 1, strings} & set(range(1, strings + 1)):
            expected = by_definition(count, strings, p)
            assert exp(log_test_statistic(count, strings, length * -log(size))) == pytest.approx(float(expected))


def test_r_and_re_at_one_two_and_three_sigmas() -> None:
    """In an alphabet of 26, the listed "R" is an event of one sigma and "Re" one of two."""
    of_r = exp(log_test_statistic(2, 7, -log(26)))
    of_re = exp(log_test_statistic(2, 7, -2 * log(26)))
    assert sigma_level(2) < of_r < sigma_level(1)
    assert sigma_level(3) < of_re < sigma_level(2)


def test_the_statistic_of_long_affixes_neither_underflows_nor_cancels() -> None:
    """1 - (1 - p)**N is 0.0 from eight characters of 95 on, and p itself from 164 on."""
    values = [log_test_statistic(3, 1000, length * -log(95)) for length in (1, 8, 20, 155, 170, 5000)]
    assert all(map(isfinite, values))
    assert values == sorted(values, reverse=True)
    # About comb(1000, 3) * p**3 / (1000 * p).
    assert values[3] == pytest.approx(log(comb(1000, 3) / 1000) - 2 * 155 * log(95))


def test_the_statistic_of_a_million_strings() -> None:
    p = log(0.1)
    assert log_test_statistic(99_000, 1_000_000, p) == pytest.approx(0, abs=1e-3)
    assert -1 < log_test_statistic(100_000, 1_000_000, p) < -0.6
    assert log_test_statistic(103_000, 1_000_000, p) < log(sigma_level(9))


@hypothesis_given(st.integers(1, 60), st.integers(2, 40), st.integers(1, 4))
def test_more_occurrences_are_less_probable(strings: int, size: int, length: int) -> None:
    found = [log_test_statistic(count, strings, length * -log(size)) for count in range(1, strings + 1)]
    assert found[0] == 0
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(found))


@pytest.mark.parametrize("count", [0, 8])
def test_counts_that_cannot_be_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} times at 7"):
        log_test_statistic(count, 7, -1.0)


# Character models


def test_models_multiply_over_the_characters() -> None:
    model = given({"a": 1, "b": 3})
    assert exp(model.log_probability("ab")) == pytest.approx(3 / 16)
    assert exp(uniform(10).log_probability("xyz")) == pytest.approx(0.001)
    assert empirical(["ab", "bb"]).logs == pytest.approx(model.logs)


def test_character_sets() -> None:
    """A given set, that of URLs (letters, digits, eight reserved and nine special characters), or what the strings have."""
    reserved, special = ";/?:@=&%", "$,.+!*'()"
    assert OF_URLS == 26 + 26 + 10 + len(reserved) + len(special) == 79
    assert exp(uniform(OF_URLS).log_probability("aa")) == pytest.approx(1 / 79**2)
    # Of the document's strings: P r e f i x 1 _ a s d b l j w R p t g.
    assert len(set("".join(STRINGS))) == 19
    assert observed(STRINGS).log_probability("Re") == pytest.approx(-2 * log(19))
    assert observed([]).log_probability("a") == observed(["aa"]).log_probability("a") == -log(2)
    assert texts(snapped_prefixes(STRINGS, model=observed(STRINGS))) == {"Prefix1_", "Pre_"}


def test_a_character_that_the_model_lacks_is_as_rare_as_its_rarest() -> None:
    assert given({"a": 9, "z": 1}).log_probability("!") == pytest.approx(log(0.1))


def test_strings_of_one_character_have_a_model() -> None:
    assert significant_prefixes(["aaa"] * 3) == []


@pytest.mark.parametrize("frequencies", [{}, {"a": 0}])
def test_models_of_nothing_are_refused(frequencies: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        given(frequencies)
    with pytest.raises(ValueError, match="2 or more"):
        uniform(1)


def test_the_model_decides() -> None:
    """What common letters do by chance, rare ones do not."""
    common = ["ea", "eb", "ec", "fd", "ge"]
    rare = [text.replace("e", "q", 1) if text[0] == "e" else text for text in common]
    english = given({"e": 50, "q": 1, **dict.fromkeys("abcdfg", 8)})
    assert "e" not in texts(significant_prefixes(common, model=english, sigmas=2))
    assert "q" in texts(significant_prefixes(rare, model=english, sigmas=2))


# The pseudocode and its example


@pytest.mark.parametrize("size", SIZES)
def test_the_pseudocode_on_its_example(size: int) -> None:
    """All that the document lists, and "Prefix1_b", which it does not list and its own test passes."""
    found = significant_prefixes(STRINGS, model=uniform(size), sigmas=1)
    assert texts(found) == LISTED | {"Prefix1_b"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"shortest": 3, "longest": 6}, {text for text in LISTED if 3 <= len(text) <= 6}),
        ({"maximal": True}, {"Prefix1_b", "Pre_", "Repeat"}),
        ({"followed": True}, LISTED - {"Repeat"} | {"Prefix1_b"}),
        # The document says Pre_ and Prefix1 (elsewhere Prefix1_).
        ({"maximal": True, "followed": True}, {"Pre_", "Prefix1_b"}),
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_lengths_and_filters(size: int, filters: dict[str, Any], expected: set[str]) -> None:
    assert texts(significant_prefixes(STRINGS, model=uniform(size), sigmas=1, **filters)) == expected


@pytest.mark.parametrize("model", [*map(uniform, SIZES), empirical(STRINGS)])
def test_snapped_to_delimiters_they_are_the_documents_result(model: CharacterModel) -> None:
    found = snapped_prefixes(STRINGS, model=model)
    assert {affix.text: affix.count for affix in found} == {"Prefix1_": 3, "Pre_": 2}


# Suffixes


@hypothesis_given(st.lists(st.text("ab.", max_size=6), max_size=15))
def test_suffixes_are_prefixes_of_the_reversed_strings(strings: list[str]) -> None:
    backwards = [text[::-1] for text in strings]
    suffixes = [affix.text[::-1] for affix in significant_suffixes(strings, sigmas=1)]
    assert suffixes == [affix.text for affix in significant_prefixes(backwards, sigmas=1)]


def test_file_extensions_are_significant_suffixes() -> None:
    files = [f"{name}.html" for name in ("intro", "news", "faq", "shop")] + [
        f"{name}.mpg" for name in ("cat", "dog", "owl")
    ]
    assert texts(significant_suffixes(files, maximal=True)) == {".html", ".mpg"}


@pytest.mark.parametrize(
    ("strings", "model", "expected"),
    [
        (["www1", "www2", "www3", "www14", "mail", "shop"], uniform(36), {"www"}),
        # Of so few strings the affix itself makes most of the characters.
        (["www1", "www2", "www3", "www14", "mail", "shop"], None, set()),
        (["utm_source", "utm_medium", "utm_term", "id", "q", "page"], None, {"utm_"}),
        # What is always followed by the same is no affix.
        (["shop-a"] * 9, None, set()),
        (["shop-a"] * 5 + ["shop-b"] * 5, None, {"shop-"}),
        # A shorter affix stays where the longer does not cover it.
        ([f"news/{i}" for i in range(10)] + [f"news/old/{i}" for i in range(10)], None, {"news/", "news/old/"}),
        ([*(f"news/old/{i}" for i in range(10)), "news/7"], None, {"news/old/"}),
    ],
)
def test_snapped_prefixes(strings: list[str], model: CharacterModel | None, expected: set[str]) -> None:
    assert texts(snapped_prefixes(strings, model=model)) == expected


# Odd input, and cost


@pytest.mark.parametrize("strings", [[], [""], ["", ""], ["a"], ["a", "b"]])
def test_odd_input_has_no_affixes(strings: list[str]) -> None:
    assert significant_prefixes(strings) == significant_suffixes(strings) == snapped_prefixes(strings) == []


class _Counted(str):
    """A string that counts how often one of its characters is looked at."""

    looks = 0
    __slots__ = ()

    def __getitem__(self, place: object) -> str:
        _Counted.looks += 1
        return str.__getitem__(self, place)  # type: ignore[index]


@pytest.mark.parametrize("strings", [
    [f"http://example.com/section/{i % 7}/article-{i:06}.html" for i in range(400)],
    ["a" * 400 for _ in range(50)],
    ["ab" * 50 + str(i) for i in range(400)],
])  # fmt: skip
def test_each_character_is_looked_at_once(strings: list[str]) -> None:
    _Counted.looks = 0
    list(counted_prefixes([_Counted(text) for text in strings], uniform()))
    assert 0 < _Counted.looks <= sum(map(len, strings))


@pytest.mark.parametrize("find", [significant_prefixes, snapped_prefixes])
def test_calls_are_linear_in_the_characters(find: object) -> None:
    """Twice the strings of twice the length: four times the characters, and no more than that in calls."""

    def calls(number: int, length: int) -> int:
        strings = [f"{'x/' * length}{i:05}" for i in range(number)]
        count = 0

        def counting(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event.endswith("call")

        setprofile(counting)
        try:
            find(strings, maximal=True) if find is significant_prefixes else find(strings)  # type: ignore[operator]
        finally:
            setprofile(None)
        return count

    assert calls(400, 200) < 4.4 * calls(200, 100)
