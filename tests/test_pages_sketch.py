"""Sketches of pages: what is seen of one, whatever its markup, as a text, a bag of words and blocks."""

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from parsel import Selector

from scrapy_dedup.pages.blocks import HIDING, rows_of
from scrapy_dedup.pages.response import decode, parse, sketch_of_html
from scrapy_dedup.pages.sketch import MANY, MAX_BLOCKS, Sketch, sketch_of_rows, sketch_of_texts

PAGE = """<!DOCTYPE html>
<html><head><title>A  title</title><style>p { color: red }</style><script>var a = 1</script></head>
<body><!-- a comment --><h1>Heading</h1><p>Some <b>bold</b>
text.</p><script>track("x")</script><noscript><p>Switch it on</p></noscript>
<template><li>Slot</li></template><form><input value="typed"><textarea>draft</textarea></form></body></html>"""


def test_text_bytes_and_tree_give_the_same_sketch() -> None:
    tree = Selector(text=PAGE).root
    before = etree.tostring(tree)
    assert sketch_of_rows(rows_of(tree)) == sketch_of_html(PAGE) == sketch_of_html(PAGE.encode())
    assert etree.tostring(tree) == before


BEHIND = "<html><body>{}<p>one two</p>{}</body></html>"


@pytest.mark.parametrize(
    ("page", "same"),
    [
        pytest.param(PAGE, "<title>A title</title><h1>Heading</h1><p>Some bold text.</p><p>draft</p>", id="page"),
        ("<p>one two three</p>", "<p>one two three"),
        ("<div><div>one</div> <b>two</b>\n\n<i>three</i></div>", "<p>one two three"),
        ("one&nbsp;two <!-- x --> three", "<p>one two three"),
        ("<p class='x' id=y>one</p><script>1</script><p>two <a href='/z'>three</a></p>", "<p>one two three"),
        *((page, "") for page in ("   ", "<html></html>", "<img src=x><script>a</script>", "\0", "<!-- -->")),
        # Equal text in and out of what is not seen is taken out once.
        ("<p>same</p><script>same</script><p>other</p>", "<p>same other"),
        ("<noscript><p>page 2</p></noscript><p>page 2</p>", "<p>page 2"),
        (
            "<p>one</p><noscript><p>two</p><script>three</script></noscript><p>three</p><style>four</style><p>five</p>",
            "<p>one three five",
        ),
        *(
            (BEHIND.format(*places), BEHIND.format("", more))
            for tag in ("script", "style", "template", "noscript")
            for hidden in (f"<{tag}>three</{tag}><!-- four -->",)
            for places, more in (((hidden, ""), ""), (("", hidden), ""), (("", f"{hidden}<p>five</p>"), "<p>five</p>"))
        ),
    ],
)
def test_only_what_is_seen_counts(page: str, same: str) -> None:
    one, other = sketch_of_html(page), sketch_of_html(same)
    assert (one.text, one.bag, one.words) == (other.text, other.bag, other.words)
    assert Sketch.from_bytes(one.to_bytes()) == one


LISTED = [f'<a href="{name}">{name}</a>  2026-01-{day:02} 10:00  {day}K\n' for day, name in enumerate("abcdef", 1)]
HEAD = '<h1>Index of /</h1><pre><a href="?C=N;O=D">Name</a> <a href="?C=M;O=A">Last modified</a><hr>'


@pytest.mark.parametrize(
    ("pages", "texts", "bags"),
    [
        (["<p>".join(words) for words in permutations(("ab c", "d", "e f g"))], 6, 1),
        ([HEAD + "".join(part) + "</pre>" for part in (LISTED, LISTED[::-1])], 2, 1),
        # A listing and the same listing with one line twice are different pages.
        (["<p>a b", "<p>a b b", "<p>ab"], 3, 3),
    ],
    ids=["parts", "a sorted listing", "words"],
)
def test_order_matters_to_text_but_not_to_bag(pages: list[str], texts: int, bags: int) -> None:
    sketches = [sketch_of_html(page) for page in pages]
    assert (len({each.text for each in sketches}), len({each.bag for each in sketches})) == (texts, bags)


def test_partial_pages_differ_by_their_length() -> None:
    whole, short, long = (sketch_of_texts(["beginning"], ["value"], partial=n) for n in (0, 2_000_000, 3_000_000))
    assert len({whole.text, short.text, long.text}) == 3
    assert len({whole.bag, short.bag, long.bag}) == len({whole.unseen, short.unseen, long.unseen}) == 3
    assert (whole.partial, long.partial) == (0, 3_000_000)
    assert Sketch.from_bytes(long.to_bytes()) == long


def test_blocks_past_the_cap_are_folded() -> None:
    texts = [f"line {i}" for i in range(MAX_BLOCKS + 50)]
    sketch = sketch_of_texts(texts)
    assert len(sketch.blocks) == MAX_BLOCKS + 1
    assert sketch.words == 2 * len(texts)
    assert sketch.text == sketch_of_texts([" ".join(texts)]).text
    assert sketch.bag == sketch_of_texts([" ".join(texts)]).bag
    assert Sketch.from_bytes(sketch.to_bytes()) == sketch
    changed = sketch_of_texts([*texts[:-1], "another line"])
    assert changed.blocks != sketch.blocks


def test_hashes_do_not_change_between_versions() -> None:
    # Fingerprints are stored: another value here means another version of the format.
    sketch = sketch_of_html("<title>One</title><p>two three</p>")
    assert sketch.text == "60e4a03925edf58811a0bf97e9aac339"
    assert sketch.bag == "d5d64222ec75ed46fccbbc6b6051ef40"


texts = st.lists(st.text(max_size=30), max_size=30)


@settings(deadline=None)
@given(texts, st.randoms())
def test_bag_does_not_depend_on_order_nor_on_cuts(blocks: list[str], random: "object") -> None:
    shuffled = list(blocks)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sketch_of_texts(shuffled).bag == sketch_of_texts([" ".join(blocks)]).bag
    assert sketch_of_texts(blocks).text == sketch_of_texts([" ".join(blocks)]).text
    assert Sketch.from_bytes(sketch_of_texts(blocks).to_bytes()) == sketch_of_texts(blocks)


# Strings that parsel itself can encode.
@settings(deadline=None)
@given(st.text())
def test_never_raises_on_any_text(page: str) -> None:
    assert sketch_of_html(page) == sketch_of_rows(rows_of(Selector(text=page, type="html").root))


@settings(deadline=None)
@given(st.binary())
def test_never_raises_on_any_bytes(body: bytes) -> None:
    sketch_of_html(decode(body))
    sketch_of_html(body)


tags = st.sampled_from(["p", "div", "b", "script", "style", "noscript", "template", "table", "td", "title", "textarea"])
markup = st.lists(
    st.one_of(tags.map("<{}>".format), tags.map("</{}>".format), st.sampled_from(["a", " ", "b c", "<!--", "-->"])),
    max_size=40,
).map("".join)


@settings(deadline=None)
@given(markup)
def test_agrees_with_a_plain_walk(page: str) -> None:
    root = parse(page)

    def walk(element: etree._Element) -> list[str]:
        found = []
        if isinstance(element.tag, str) and element.tag not in HIDING:
            found.append(element.text or "")
            for child in element:
                found += walk(child)
                found.append(child.tail or "")
        return found

    assert sketch_of_rows(rows_of(root)).bag == sketch_of_texts(walk(root)).bag


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 50_000 + "deep",
        "<p>" + "<b>x" * 50_000,
        "<a href='" * 50_000,
        "</p>" * 100_000 + "text",
        "<script>" * 50_000,
        "&" * 200_000,
        "<table><tr>" * 20_000,
        "word " * 200_000,
        "<" * 200_000,
        "<noscript>x<script>y</script>" * 10_000,
    ],
    ids=range(10),
)
def test_hostile_pages(page: str) -> None:
    assert math.isfinite(sketch_of_html(page).words)


def photo(source: str, words: str = "Photo album of our holidays next previous") -> str:
    return f"<html><body><img src='/logo.png'><p>{words}</p><img src='{source}'></body></html>"


def test_pages_of_few_words_are_told_apart_by_their_images_and_not_by_where_these_come_from() -> None:
    one, other = sketch_of_html(photo("/photos/17.jpg")), sketch_of_html(photo("/photos/18.jpg"))
    assert (one.text == other.text, one.bag == other.bag) == (False, False)
    for place in (
        "/photos/17.jpg?v=2",
        "../photos/17.jpg",
        "http://www.example.com/photos/17.jpg",
        "//cdn/photos/17.jpg",
    ):
        assert (same := sketch_of_html(photo(place))).text == one.text
        assert same.bag == one.bag


def test_images_do_not_tell_pages_of_many_words_apart_nor_make_poor_ones_evidence() -> None:
    long = "word " * 30
    one, other = (sketch_of_html(photo(source, long)) for source in ("/a.jpg", "/b.jpg"))
    assert (one.text, one.unseen == other.unseen) == (other.text, False)
    assert sketch_of_html(photo("/a.jpg", "next previous")).words == 2


def test_values_that_nobody_sees() -> None:
    """Their fingerprint depends neither on their order nor on what is seen, and on how often each is there."""
    one, other, twice = (sketch_of_texts([text], values) for text, values in (("x", "ab"), ("y", "ba"), ("x", "abb")))
    assert one.unseen == other.unseen != twice.unseen
    assert (one.blocks, one.weights, one.text) == (twice.blocks, twice.weights, twice.text)
    assert sketch_of_texts(["x"]).unseen == ""
    for sketch in (one, other, twice):
        assert Sketch.from_bytes(sketch.to_bytes()) == sketch


# The stored form


def test_many_words_in_a_block() -> None:
    for number in (1, 2, MANY - 1, MANY, MANY + 1, 70_000):
        sketch = sketch_of_texts(["word " * number, "end"])
        assert sketch.words == number + 1
        assert sketch.weights == (min(number, MANY), 1)
        assert Sketch.from_bytes(sketch.to_bytes()) == sketch


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *((data, "page sketch") for data in (b"", b"\0", b"\3", b"\3" + bytes(67), b"\3" + bytes(64) + b"\xff" * 4)),
        (b"\2" + bytes(80), "format 2: this version reads format 3"),
    ],
    ids=range(6),
)
def test_no_sketch(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sketch.from_bytes(data)


def test_a_cut_sketch() -> None:
    data = sketch_of_texts([f"text number {i}" for i in range(40)]).to_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="page sketch"):
            Sketch.from_bytes(data[:length])


@settings(deadline=None)
@given(st.binary())
def test_any_stored_bytes(data: bytes) -> None:
    try:
        sketch = Sketch.from_bytes(b"\3" + data)
    except ValueError:
        return
    assert sketch.bag
