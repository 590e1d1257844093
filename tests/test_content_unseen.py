"""Values of a page that nobody sees: what is found, under which names, and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.tokenizer.literals import LONGEST, in_address, in_attribute, in_script
from scrapy_dedup.content.tokenizer.markup import decoded_attribute
from scrapy_dedup.content.tokenizer.tokens import blocks
from scrapy_dedup.content.tokenizer.unseen import MOST, attribute_spans, is_unseen, unseen_blocks
from scrapy_dedup.content.versions import packed_version, version_of

PAGE = """<!doctype html><html lang=en><head><meta charset="utf-8"><meta name="csrf-token" content="4f2a">
<meta property="og:title" content="A chair"><link rel="icon" href="/i.png?v=3"><link rel=canonical href='/p/1'>
<script nonce="q1" src="/a.js?1699"></script>
<script>window.state = {"page": "news", 'request': 'r7', at: 1700, "n": [1, 2]}; load("/p?a=1&b=2") // don't 5</script>
<script type="application/ld+json">{"@type": "Product", "offers": {"price": "12.99"}}</script><style>p { top: 5px }</style></head>
<body class="x" id="y" data-request="d9" data-state='{"token": "t5", "n": 4}' data-more="{&quot;sid&quot;:&quot;s6&quot;}">
<!-- cache: 2026-11-24 09:12 --><!-- --><!bogus 12:00>
<img src="/x.jpg?v=1" alt="A chair &amp; a table" data-sku=S1><a href="/q?t=1" onclick="go('t1')">f</a>
<noscript><img src="https://t.example/p.gif?r=123&amp;u=4"></noscript><option value="o p">o</option><input value=v name="f">
</body></html>"""


def rows(html: str) -> list[tuple[str, str, str]]:
    """(last step of the selector, attribute, text) of all that nobody sees."""
    return [(block.selector.rpartition("/")[2], block.attribute, block.text) for block in unseen_blocks(html)]


def test_what_nobody_sees() -> None:
    assert rows(PAGE) == [
        ("html", "lang", "en"),
        ("meta", "charset", "utf-8"),
        ("meta", "content[name=csrf-token]", "4f2a"),
        ("meta", "content[property=og:title]", "A chair"),
        ("link", "href[rel=icon][?v]", "3"),
        ("link", "href[rel=canonical]", "/p/1"),
        ("script", "nonce", "q1"),
        ("script", "src[?]", "1699"),
        ("script", "#script[page]", "news"),
        ("script", "#script[request]", "r7"),
        ("script", "#script[at]", "1700"),
        ("script", "#script[n]", "1"),
        ("script", "#script[n]", "2"),
        ("script", "#script[load?a]", "1"),
        ("script", "#script[load?b]", "2"),
        ("script", "type", "application/ld+json"),
        ("script", "#script[@type]", "Product"),
        ("script", "#script[price]", "12.99"),
        ("body", "data-request", "d9"),
        ("body", "data-state[token]", "t5"),
        ("body", "data-state[n]", "4"),
        ("body", "data-more[sid]", "s6"),
        ("body", "#comment[cache]", "cache: 2026-11-24 09:12"),
        ("img", "src[?v]", "1"),
        ("img", "alt", "A chair & a table"),
        ("img", "data-sku", "S1"),
        ("a", "onclick[go]", "t1"),
        ("noscript", "#script[src?r]", "123"),
        ("noscript", "#script[src?u]", "4"),
        ("option", "value[]", "o p"),
        ("input", "name", "f"),
    ]


def test_it_is_no_block_and_its_texts_stand_where_they_are_said_to() -> None:
    assert {block.attribute for block in blocks(PAGE)} == {"", "href", "src", "value"}
    assert not any(is_unseen(block.attribute) for block in blocks(PAGE))
    for block in unseen_blocks(PAGE):
        written = PAGE[block.start : block.end]
        assert is_unseen(block.attribute)
        assert (decoded_attribute(written) if block.attribute == "alt" else written) == block.text


@pytest.mark.parametrize(
    ("page", "selector"),
    [
        ('<body><p id="a-12" class="b  c">x<i data-x="1">', "body/p#a-0.b.c/i"),
        # A body and an html element are known by their names; a script is as an element that has the attribute.
        ('<html><body data-x="1" class="page-7">', "html/body"),
        ('<script class="s" data-x="1">a = 5</script>', "script.s"),
    ],
)
def test_selectors_are_those_of_the_elements(page: str, selector: str) -> None:
    assert {block.selector for block in unseen_blocks(page)} == {selector}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a = 'x'; b = \"y\"; c = `z`", [("a", "x"), ("b", "y"), ("c", "z")]),
        ('{"a": {"b": -1.5e3, "c": ""}}', [("b", "-1.5e3")]),
        ('_q.push(["id", "u1"])', [("push", "id"), ("push", "u1")]),
        (r'a = "one \" two"; b = 3', [("a", r"one \" two"), ("b", "3")]),
        ("a = 'not closed\nb = 7", [("a", "not closed"), ("b", "7")]),
        ("/* a = 5 */ // b = 6\nc = 7", [("c", "7")]),
        ('"x1y2z3x4y5z6": "a", "ad-17": "b"', [("", "a"), ("ad-0", "b")]),
        ('u = "http:\\/\\/a\\/b?x=1\\u0026y=2"', [("u?x", "1"), ("u?y", "2")]),
        ('u = "/a/b", q = "is it? a=b"', [("u", "/a/b"), ("q", "is it? a=b")]),
        ("x2 = y5 + .5", []),
        ("", []),
    ],
)
def test_literals_of_a_script(source: str, found: list[tuple[str, str]]) -> None:
    assert [(each.key, each.text) for each in in_script(source)] == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("/a.jpg?v=1 1x, /b.jpg?v=2&amp;w=3#d 2x", [("?v", "1"), ("?v", "2"), ("?w", "3")]),
        ("/a.jpg?17 2x", [("?", "17")]),
        ("a=b&c=d", None),
        ("/a/b", None),
        # What has lost its values is an address still.
        ("/a.jpg?v= 1x, /b?", []),
    ],
)
def test_parameters_of_addresses(source: str, found: list[tuple[str, str]] | None) -> None:
    parameters = in_address(source)
    assert (None if parameters is None else [(each.key, each.text) for each in parameters]) == found


def test_long_values() -> None:
    """A token is kept by its head and a hash; a text to be read is no token, and not kept; of a script the beginning is."""
    token, text = "a1" * LONGEST, "word " * LONGEST
    (kept,) = in_script(f's = "{token}"')
    assert (kept.end - kept.start, len(kept.text)) == (len(token), 81)
    assert in_script(f's = "{token}"') == in_script(f's = "{token}"') != in_script(f's = "{token[:-1]}b"')
    assert in_script(f's = "{text}"') == ()
    long = " " * 19_000 + "".join(f"a{number:04} = 5;" for number in range(1_000))
    assert len(in_script(long)) == 100
    assert rows(f'<p title="{text}">') == []
    assert [text for _, _, text in rows(f"<p title='{'word ' * 50}'>")] == [("word " * 50).strip()]


html = st.lists(
    st.sampled_from(
        (
            *(
                '<p data-x="',
                "<p data-x='",
                '">',
                "'>",
                "<meta name=a content=",
                "<script>",
                "</script>",
                "<!--",
                "-->",
            ),
            *(
                "<b y=",
                ">",
                "{",
                '"',
                "'",
                ":",
                "a",
                "b?c=",
                "&amp;",
                "&quot;",
                "12",
                " ",
                "\n",
                "\0",
                "\ud800",
                "\\",
                "`",
            ),
        )
    )
).map("".join)


@given(html | st.text())
def test_any_page(page: str) -> None:
    found = unseen_blocks(page)
    assert all(0 <= block.start < block.end <= len(page) and block.text and block.text.strip() for block in found)
    version = version_of(page, markup=True)
    assert version.blocks == version_of(page).blocks
    assert version.markup == tuple([(block.selector, block.attribute, block.text) for block in found])
    assert packed_version(page, markup=True) == version.to_bytes()


values = st.lists(
    st.tuples(st.sampled_from(["id", "class", "data-a", "name", "content", "b"]), st.text("ab1 &;?=/{:", max_size=12))
)


@given(values, st.sampled_from(["p", "meta", "link", "input"]))
def test_quotes_make_no_difference(attributes: list[tuple[str, str]], name: str) -> None:
    double, single = (
        f"<{name}" + "".join(f" {key}={quote}{value}{quote}" for key, value in attributes) + ">" for quote in "\"'"
    )
    assert unseen_blocks(double) == unseen_blocks(single)
    assert list(attribute_spans(double)) == list(attribute_spans(single))


@pytest.mark.parametrize(
    "piece",
    [
        "<i data-x='1'>",
        "'",
        '"',
        "'\\'",
        "`",
        "/*",
        "//",
        "a:",
        "\\",
        "1",
        "-",
        "&quot;",
        "?a=",
        "a",
        "{",
        "<b c='",
        '<b c="',
        "<!--",
    ],
)
def test_hostile_pages_cost_one_pass(piece: str) -> None:
    for before, after in (("<script>", "</script>"), ("<p data-x='{&quot;", "'>"), ('<p onclick="', '">'), ("", "")):
        assert len(unseen_blocks(before + piece * 100_000 + after)) <= MOST


@given(st.text("ab'\"\\`:{}[]&;quot12?= \n/*"))
def test_literals_are_in_order_and_disjoint(source: str) -> None:
    for found in (in_script(source), in_attribute(source)):
        at = 0
        for _, text, start, end in found:
            assert at <= start < end <= len(source)
            assert text == source[start:end]
            at = end
