"""Tags: what is read of one, also by what tags like it have taught."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.tokenizer import automaton, tags
from scrapy_dedup.content.tokenizer.selectors import step_of
from scrapy_dedup.content.tokenizer.tags import Tag, read_tag

PARTS = ["a", "p", "img", "/", " ", "\t", "=", '"', "'", "id", "class", "href", "src", "x1", "ID", "\0", "é"]


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ('a class="x y" HREF="/z" id=\'n\'', Tag(False, "a", "n", "x y", False, (20, 22))),
        ("IMG src=pic.png /", Tag(False, "img", "", "", True, (8, 15))),
        ("img src=pic.png/", Tag(False, "img", "", "", False, (8, 16))),
        ("/a", Tag(True, "a", "", "", False, (0, 0))),
        ('p id="" id="b" class=c', Tag(False, "p", "", "c", False, (0, 0))),
        ('a title="b', None),
        ("1", None),
    ],
)
def test_what_a_tag_says(text: str, tag: Tag | None) -> None:
    assert read_tag(text) == tag


QUOTES = [
    *(
        "a title=' href=\"x\"'",
        'a title=\' href="x"\' href="z"',
        'a b=c"d href="e"',
        'a "="x" href="y z"',
        'a href=q href="x"',
    ),
    *('p id=a"b c" class="d"', "p class='a' class=\"b\"", 'a href=""'),
]


@given(st.sampled_from(QUOTES) | st.lists(st.sampled_from(PARTS)).map("".join))
def test_a_tag_read_by_its_outline_says_the_same(text: str) -> None:
    for tag in (text, f"a {text}"):
        assert read_tag(tag) == tags._read(tag)


@given(st.text(alphabet="0123456789abfxyzGH-_ .é"), st.text(alphabet="019afxZ- _"))
def test_a_step_does_not_depend_on_which_digits_there_are(identifier: str, classes: str) -> None:
    names = tags.without_digits(identifier), tags.without_digits(classes)
    assert step_of("p", *names) == step_of("p", identifier, classes)


@given(st.lists(st.sampled_from([*PARTS, "7", "08", "h1", "h2", "&#49;", ">"])).map("".join))
def test_tags_that_differ_in_their_digits_lead_to_the_place_that_they_lead_to_by_themselves(text: str) -> None:
    """What a place has learned from other tags says nothing else of a tag than the tag itself."""
    known = automaton.Trie().root
    for number in ("1", "2", "30"):
        _ = known[f"p class=x{number} {text}"], known[f"h{number} {text}"], known[text.replace("1", number)]
    for tag in (f"p class=x5 {text}", f"h2 {text}", f"h1 {text}", text):
        mine, alone = known[tag], automaton.Trie().root[tag]
        assert (mine is None) is (alone is None)
        if mine is not None and alone is not None:
            assert (mine.row, mine.special, mine.raw) == (alone.row, alone.special, alone.raw)
            assert mine.place.selector == alone.place.selector
            assert mine.shown == alone.shown
            if mine.shown is not None:
                assert mine.value_in(f"<{tag}>", 0) == alone.value_in(f"<{tag}>", 0)
