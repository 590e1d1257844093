"""The change that a mask shows of each place: what stood before, and after, without what may be a secret."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import learn_mask

TOKEN, OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
LONG = "A long text that is the same in both versions of a page and says nothing of what changes there, which is "


def example(*shown: str) -> tuple[str, str]:
    """What a mask shows of pages that all change from one of the texts, which may be HTML, to another."""
    own = "".join(f"<i>{number} lasts</i>" for number in range(20))
    pages = {f"http://a.example/{n}": [f"<body><h1>{n}</h1>{own}{text}" for text in shown] for n in range(3)}
    places = [path for path in learn_mask(pages).paths if path.examples]
    assert places
    return places[0].examples[0]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("<p>It is noon", "<p>It is nine", ("It is noon", "It is nine")),
        # Of a list that which went, and that which came.
        ("<li>a<li>b<li>c", "<li>c<li>a<li>d", ("b", "d")),
        # Tokens look like what they are, under their names; words of addresses and short numbers are none.
        (f"<p>/cart?sid={TOKEN}", f"<p>/cart?sid={OTHER}", ("/cart?sid=<hex32>", "/cart?sid=<hex32>")),
        ("<p>/?category=17&session=ab12cd34ef56gh78", "<p>/?category=18", ("/?category=17&session=…", "/?category=18")),
        ("<p>/the-storm-of-2024-05-01_part-12.html", "<p>/a", ("/the-storm-of-2024-05-01_part-12.html", "/a")),
        (f"<p>/news/{TOKEN[:8]}-{TOKEN[8:12]}-{TOKEN}.html", "<p>/b", ("/news/….html", "/b")),
        ("<p>by me@example.com", "<p>by x+y@a.example+u@b.example, a@b", ("by …", "by ……, a@b")),
        # Of a long text what stands around the first difference.
        (f"<p>{LONG}12 of all", f"<p>{LONG}345 of all", ("… changes there, which is 12 of all", "… changes there, which is 345 of all")),
    ],
)  # fmt: skip
def test_a_change_is_shown(before: str, after: str, found: tuple[str, str]) -> None:
    assert example(before, after) == found


around = st.text("ab /?&=", max_size=90)


@given(around, around, st.text("ab ", max_size=30))
@settings(max_examples=20)
def test_no_token_is_shown_whatever_stands_around_it(before: str, after: str, common: str) -> None:
    for text in example(f"<p>{common}{before} {TOKEN}", f"<p>{common}{after} {OTHER}!"):
        assert len(text) <= 81
        assert not re.search("[0-9]{5}|[c-f][0-9]{3}", text), text


def test_texts_of_one_endless_word_are_shown_in_linear_time() -> None:
    # By the square of their length this would take hours.
    for word in ("1" * 300_000, "a-" * 150_000, "u@" + "b" * 300_000):
        assert all(len(text) <= 81 for text in example(f"<p>{word}", f"<p>{word} more"))
