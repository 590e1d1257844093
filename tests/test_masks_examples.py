"""The change that a mask shows of each place: what stood before, and after, without what may be a secret."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.masks.learning.counts.place_counts import Change
from scrapy_dedup.masks.learning.judging.examples import example_of, examples_of, shown

TOKEN, OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
LONG = "A long text that is the same in both versions of a page and says nothing of what changes there, which is "


def of(before: tuple[str, ...], after: tuple[str, ...]) -> object:
    return examples_of([Change(1, "http://a.example/1", 0, before, after)])


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (("It is noon",), ("It is nine",), ("It is noon", "It is nine")),
        # Of a list that which went, and that which came.
        (("a", "b", "c"), ("c", "a", "d"), ("b", "d")),
        (("a", "b"), ("b", "a"), ("a", "b")),
        (("a", "b"), (), ("a", "")),
        ((), ("a",), ("", "a")),
        # Tokens look like what they are, under their names.
        ((f"/cart?sid={TOKEN}",), (f"/cart?sid={OTHER}",), ("/cart?sid=<hex32>", "/cart?sid=<hex32>")),
        (("by me@example.com",), ("by you@example.com",), ("by …", "by …")),
        # Of a long text what stands around the first difference.
        (
            (f"{LONG}12 of all",),
            (f"{LONG}345 of all",),
            ("… changes there, which is 12 of all", "… changes there, which is 345 of all"),
        ),
    ],
)
def test_a_change_is_shown(before: tuple[str, ...], after: tuple[str, ...], found: tuple[str, str]) -> None:
    assert of(before, after) == (found,)


def test_the_first_change_that_shows_a_difference() -> None:
    pairs = [(["a"], ["a"]), ([TOKEN], [OTHER]), (["b"], []), (["c"], ["d"]), (["e"], ["f"])]
    assert example_of(pairs) == (("c", "d"),)
    assert example_of(pairs[:3]) == (("<hex32>", "<hex32>"),)
    assert example_of(pairs[:1]) == ()
    assert examples_of([]) == ()


@given(st.text("ab /?&=", max_size=90), st.text("ab /?&=", max_size=90), st.text("ab ", max_size=30))
def test_no_token_is_shown_whatever_stands_around_it(before: str, after: str, common: str) -> None:
    ((one, other),) = of((f"{common}{before} {TOKEN}",), (f"{common}{after} {OTHER}!",))  # type: ignore[misc]
    for text in (one, other):
        assert len(text) <= 81
        assert not re.search("[0-9]{5}|[c-f][0-9]{3}", text), text


def test_words_of_addresses_are_no_secret() -> None:
    assert shown("/news/the-storm-of-2024-05-01_part-12.html") == "/news/the-storm-of-2024-05-01_part-12.html"
    for token in (f"{TOKEN[:8]}-{TOKEN[8:12]}-{TOKEN}", "12345678-1234-1234-1234-123456789012", "ab1-cd2-ef3-gh4-ij5"):
        assert token not in shown(f"/news/{token}.html")


def test_short_numbers_under_a_name_are_no_secret() -> None:
    assert shown("/list?category=17&session=ab12cd34ef56gh78") == "/list?category=17&session=…"


def test_addresses_of_people_are_never_shown() -> None:
    assert shown("x+y@a.example+u@b.example, a@b, c@d@e.example") == "……, a@b, c@…"


def test_a_text_of_one_endless_word_is_shown_in_linear_time() -> None:
    # By the square of its length this would take days.
    for word in ("1" * 1_000_000, "a-" * 500_000, "u@" + "b" * 1_000_000):
        assert len(shown(word)) <= 80
