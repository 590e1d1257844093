import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.tokenizer import automaton, tags
from scrapy_dedup.content.tokenizer.memo import Memo
from scrapy_dedup.content.tokenizer.selectors import step_of
from scrapy_dedup.content.tokenizer.tags import Tag, read_tag

PARTS = ["a", "p", "img", "/", " ", "\t", "=", '"', "'", "id", "class", "href", "src", "x1", "ID", "\0", "é"]


def test_what_a_tag_says() -> None:
    assert read_tag('a class="x y" HREF="/z" id=\'n\'') == Tag(False, "a", "n", "x y", False, (20, 22))
    assert read_tag("IMG src=pic.png /") == Tag(False, "img", "", "", True, (8, 15))
    assert read_tag("img src=pic.png/") == Tag(False, "img", "", "", False, (8, 16))
    assert read_tag("/a") == Tag(True, "a", "", "", False, (0, 0))
    assert read_tag('p id="" id="b" class=c') == Tag(False, "p", "", "c", False, (0, 0))
    assert read_tag('a title="b') is None
    assert read_tag("1") is None


@pytest.mark.parametrize(
    "text",
    [
        "a title=' href=\"x\"'",
        'a title=\' href="x"\' href="z"',
        'a b=c"d href="e"',
        'a "="x" href="y z"',
        'a href=q href="x"',
        'p id=a"b c" class="d"',
        "p class='a' class=\"b\"",
        'a href=""',
    ],
)
def test_quotes_that_begin_no_value(text: str) -> None:
    assert read_tag(text) == tags._read(text)


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_a_tag_read_by_its_outline_says_the_same(text: str) -> None:
    assert read_tag("a " + text) == tags._read("a " + text)
    assert read_tag(text) == tags._read(text)


@given(st.text(alphabet="0123456789abfxyzGH-_ .é"), st.text(alphabet="019afxZ- _"))
def test_a_step_does_not_depend_on_which_digits_there_are(identifier: str, classes: str) -> None:
    names = tags.without_digits(identifier), tags.without_digits(classes)
    assert step_of("p", *names) == step_of("p", identifier, classes)


def test_what_is_remembered_of_outlines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    outlines = Memo(tags._outline, each=200, limit=3000)
    monkeypatch.setattr(tags, "_outlines", outlines)
    for number in range(100):
        assert read_tag(f'p lang=x{number} id="b"') == Tag(False, "p", "b", "", False, (0, 0))
    assert len(outlines) < 20


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
