"""The change that a mask shows of each place: what stood before, and after, without what may be a secret."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.masks.example import example_of

TOKEN, OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
LONG = "A long text that is the same in both versions of a page and says nothing of what changes there, which is "


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (["It is noon"], ["It is nine"], ("It is noon", "It is nine")),
        (["a", "b", "c"], ["c", "a", "d"], ("b", "d")),
        (["Box"], [], ("Box", "")),
        # Words of addresses and short numbers are no tokens.
        ([f"/cart?sid={TOKEN}"], [f"/cart?sid={OTHER}"], ("/cart?sid=…", "/cart?sid=…")),
        (["/?category=17&session=ab12cd34ef56gh78"], ["/?category=18"], ("/?category=17&session=…", "/?category=18")),
        (["/the-storm-of-2024-05-01_part-12.html"], ["/a"], ("/the-storm-of-2024-05-01_part-12.html", "/a")),
        ([f"/news/{TOKEN[:8]}-{TOKEN[8:12]}-{TOKEN}.html"], ["/b"], ("/news/….html", "/b")),
        (["by me@example.com"], ["by x+y@a.example+u@b.example, a @b"], ("by …", "by ……, a @b")),
        # Of a long text what stands around the first difference.
        ([f"{LONG}12 of all"], [f"{LONG}345 of all"], ("…changes there, which is 12 of all", "…changes there, which is 345 of all")),
    ],
)  # fmt: skip
def test_a_change_is_shown(before: list[str], after: list[str], found: tuple[str, str]) -> None:
    assert example_of(before, after) == found


around = st.text("ab /?&=", max_size=90)


@given(around, around, st.text("ab ", max_size=30))
@settings(max_examples=50)
def test_no_token_is_shown_whatever_stands_around_it(before: str, after: str, common: str) -> None:
    for text in example_of([f"{common}{before} {TOKEN}"], [f"{common}{after} {OTHER}!"]):
        assert len(text) <= 80
        assert not re.search("[0-9]{5}|[c-f][0-9]{3}", text), text


@pytest.mark.parametrize("word", ["1" * 300_000, "a-" * 150_000, "u@" + "b" * 300_000])
def test_texts_of_one_endless_word_are_shown_in_linear_time(word: str) -> None:
    assert all(len(text) <= 80 for text in example_of([word], [f"{word} more"]))  # by the square it would take hours
