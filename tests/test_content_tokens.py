"""Pages as tokens and blocks: where each begins and ends, in which element it stands, and what of it is seen.

As browsers read them, whatever is left out, closed twice or cut off; the work grows with the page and no faster.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dedup.content.html import parse
from scrapy_dedup.content.sketch import sketch_of_html, sketch_of_texts
from scrapy_dedup.content.tokenizer import automaton, scanning
from scrapy_dedup.content.tokenizer.automaton import MAX_DEPTH
from scrapy_dedup.content.tokenizer.selectors import step_of
from scrapy_dedup.content.tokenizer.token_kinds import TokenKind
from scrapy_dedup.content.tokenizer.tokens import Block, blocks, tokens

from .work import work_of

OPEN, CLOSE, EMPTY, TEXT, COMMENT, RAW = TokenKind
SEEN = "script", "style", "template", "noscript", "iframe", "noembed", "noframes"
SCRIPT = "<script>{}</script>b"


@pytest.fixture(autouse=True)
def _own_trie(monkeypatch: pytest.MonkeyPatch) -> None:
    # What one test teaches the reader must not hide what another one shows.
    monkeypatch.setattr(scanning, "_tries", [automaton.Trie()])


def kinds(html: str) -> list[tuple[TokenKind, str]]:
    return [(token.kind, html[token.start : token.end]) for token in tokens(html)]


def texts(html: str) -> list[tuple[str, str]]:
    """Return path and text of each visible text."""
    return [(token.path, token.text) for token in tokens(html) if token.text]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(
            ["<!DOCTYPE html>", "<p class=a>", "x", "<br>", "y", "<img/>", "</p>", "<!-- c -->", "<?php ?>"],
            [COMMENT, OPEN, TEXT, EMPTY, TEXT, EMPTY, CLOSE, COMMENT, COMMENT],
            id="all kinds",
        ),
        *(
            (["a", comment, "b"], [TEXT, COMMENT, TEXT])
            for comment in (
                "<!-- <b> -->",
                "<!-->",
                "<!--->",
                "<!-- a --!>",
                "<!x>",
                "</ b>",
                "<?x>",
                "<![CDATA[x]]>",
                "</>",
            )
        ),
        *(
            (["a", cut_off], [TEXT, COMMENT])
            for cut_off in ("<!-- <b>c</b>", "<!-", "<?x <!-- ", "<b c='>", '<b c="d e', "<b", "<b c=", "</b", "<!---")
        ),
        *(([text], [TEXT]) for text in ("a < b", "a <1> b", "<", "</", "a << b <=> c", "x<\x00p>y", "<é>", "<\u212a>")),
        (["1 <2", "<b>", "3"], [TEXT, OPEN, TEXT]),
        *(
            ([tag, "t", "</a>"], [OPEN, TEXT, CLOSE])
            for tag in ('<a title="x>y">', "<a title='x>y<b>'>", '<a b="1" title = "<>" >', "<a title=\"'>\" b='\">'>")
        ),
        # Only a quote that begins a value does.
        (["<a b'c>", "d'>"], [OPEN, TEXT]),
        (['<a b=c"d>', 'e">'], [OPEN, TEXT]),
        (["<a =>", "=>"], [OPEN, TEXT]),
        # A tag that was met complete is still cut off at the end.
        (["<b>", "<b"], [OPEN, COMMENT]),
        (['<b a="1">', '<b a="1"<i>', "x"], [OPEN, OPEN, TEXT]),
        *((["a", f"<{name}>", "<p>b"], [TEXT, OPEN, RAW]) for name in SEEN),
        *(
            (
                [f"<{name}>", f"a < b</p><p>&amp;</x{name}></{name}x>", f"</{name.upper()} >", "b"],
                [OPEN, RAW, CLOSE, TEXT],
            )
            for name in SEEN
        ),
    ],
)
def test_kinds(pieces: list[str], expected: list[TokenKind]) -> None:
    assert kinds("".join(pieces)) == list(zip(expected, pieces, strict=True))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<li>b</ul>c", ["ul/li", "ul/li", ""]),
        ("<ul><li>a<ul><li>b</ul>c<li>d", ["ul/li", "ul/li/ul/li", "ul/li", "ul/li"]),
        ("<ul><li><div>a<li>b", ["ul/li/div", "ul/li"]),
        ("<p>a<p>b<div>c", ["p", "p", "div"]),
        ("<p>a<b>b<p>c", ["p", "p/b", "p"]),
        ("<p>a<button><p>b", ["p", "p/button/p"]),
        ("<div><p>a</div>b", ["div/p", ""]),
        ("<table><tr><td>a<td>b<tr><th>c</table>d", ["table/tr/td", "table/tr/td", "table/tr/th", ""]),
        ("<table><td>a<table><td>b</table>c<td>d", ["table/td", "table/td/table/td", "table/td", "table/td"]),
        ("<table><thead><tr><td>a<tbody><tr><td>b", ["table/thead/tr/td", "table/tbody/tr/td"]),
        ("<dl><dt>a<dd>b<dt>c</dl>", ["dl/dt", "dl/dd", "dl/dt"]),
        ("<dl><dd><dl><dt>a</dl><dt>b", ["dl/dd/dl/dt", "dl/dt"]),
        ("<select><option>a<option>b</select>c", ["select/option", "select/option", ""]),
        ("<select><optgroup><option>a<optgroup><option>b", ["select/optgroup/option"] * 2),
        ("<h1>a<h2>b</h1>c", ["h1", "h2", ""]),
        ("<a name=1>a<h2>b</h2><a name=2>c", ["a", "a/h2", "a"]),
        ("<a><div>a<a>b</a>c</div>d</a>e", ["a/div", "a/div/a", "a/div", "a", ""]),
        ("<html><head><title>a</title><body>b<body>c<html>d", ["html/head/title", *["html/body"] * 3]),
        ("<html><head><meta><div>b", ["html/div"]),
        # Void elements are never open.
        ("<p>a<br>b<img src=x>c<input>d<wbr>e", ["p"] * 5),
        ("<p>a</br>b<hr>c", ["p", "p", ""]),
        # End tags without a start close nothing; others close what is open inside.
        ("<div>a</b>b</p>c</div>d</div>e", ["div", "div", "div", "", ""]),
        ("<div><b><i>a</div>b", ["div/b/i", ""]),
        # A cell keeps what is in it to itself.
        ("<div><table><td>a</div>b</ul>c</table>d", ["div/table/td"] * 3 + ["div"]),
        ("<ul><li><ul></li>a", ["ul/li/ul"]),
    ],
)
def test_implied_ends(html: str, expected: list[str]) -> None:
    assert [path for path, _ in texts(html)] == expected
    assert [block.selector for block in blocks(html) if not block.attribute] == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        *((f"<{name}>a < b</{name}x><p></{name}>b<{name}></{name}>c", [("", "b"), ("", "c")]) for name in SEEN),
        *(
            (f"<{name}>a <b>&lt;</p></{name}>b", [(name, "a <b><</p>"), ("", "b")])
            for name in ("title", "textarea", "xmp")
        ),
        ("<plaintext>a</plaintext>b", [("plaintext", "a</plaintext>b")]),
        # As in XHTML, and as lxml reads it: text would be lost otherwise.
        ("<script src=x />a<div/>b", [("", "a"), ("", "b")]),
        ("<a href=x/>a", [("a", "a")]),
        *(
            (SCRIPT.format(script), [("", "b")])
            for script in (
                "<!-- <script> </script> -->",
                "<!-- <script> </script>",
                "<!-->",
                "<!-- </scripty> <script> x --> ",
                "<!-- ",
            )
        ),
        ("<script><!-- <script> </script>b", []),
        ("<template>a<template>b</template>c</template>d", [("", "d")]),
        (
            "<svg><title>a<b/></title><![CDATA[<b>&amp;]]>c</svg>d",
            [("svg/title", "a"), ("svg", "<b>&amp;"), ("svg", "c"), ("", "d")],
        ),
        ("<svg><![CDATA[ <b> ]]><![CDATA[]]></svg><![CDATA[x]]>", [("svg", "<b>")]),
        ("<svg><foreignObject><p>a<p>b", [("svg/foreignobject/p", "a"), ("svg/foreignobject/p", "b")]),
        ("<svg><g><p>a", [("p", "a")]),
        ("<svg><![CDATA[a", [("svg", "a")]),
    ],
)
def test_what_is_seen(html: str, expected: list[tuple[str, str]]) -> None:
    assert texts(html) == expected
    assert [block.text for block in blocks(html) if not block.attribute] == [text for _, text in expected]


def test_a_token_says_where_it_stands() -> None:
    html = '<HTML><Body><DIV id="main" class="wide  box"><p>a &amp;\n b</p></DIV></Body></HTML>'
    found = tokens(html)
    start, text, end = found[2], found[4], found[6]
    assert (text.kind, text.text, text.depth, text.parent) == (TEXT, "a & b", 4, 3)
    assert (text.path, text.selector) == ("html/body/div/p", "html/body/div#main.box.wide/p")
    # A start tag stands outside of its element, an end tag inside, and names its start tag.
    assert (start.name, start.path, start.depth, start.parent) == ("div", "html/body", 2, 1)
    assert (end.name, end.path, end.depth, end.parent) == ("div", "html/body/div", 3, 2)
    assert start.text == end.text == ""


@pytest.mark.parametrize(
    ("tag", "selector"),
    [
        ("p ID=a CLASS='c b'", "p#a.b.c"),
        ("p id=a id=b class=c class=d", "p#a.c"),
        ("p/id=a/class=b", "p#a%2Fclass=b"),
        ("p data-id=a title=' id=b '", "p"),
        ("p\fid\t=\n a", "p#a"),
        ("p\x0bid=a", "p\x0bid=a"),
        ("p id=&quot;a&quot;", 'p#"a"'),
        ("p id class= id=b", "p.id=b"),
        ("body id=home class=x", "body"),
        ("My-TAG\x00é", "my-tag\ufffdé"),
        ("p\u212a", "p\u212a"),
        ("x" * 500, "x" * 64),
    ],
)
def test_names_and_attributes(tag: str, selector: str) -> None:
    assert tokens(f"<{tag}>x")[-1].selector == selector


@pytest.mark.parametrize(
    ("name", "identifier", "classes", "step"),
    [
        ("div", "ad-8371", "b a a c3d4e5f6", "div#ad-0.a.b"),
        ("div", "x" * 65, "", "div"),
        ("div", "550e8400-e29b-41d4-a716-446655440000", "", "div"),
        ("div", "", "w-1/2 md:w-1.5 100%", "div.0%25.md:w-0%2E0.w-0%2F0"),
        ("x", "", "v1 v2 v3", "x.v0"),
        ("x", "", " ".join(chr(97 + i) * 60 for i in range(8)), "x"),
    ],
    ids=range(6),
)
def test_steps(name: str, identifier: str, classes: str, step: str) -> None:
    assert step_of(name, identifier, classes) == step


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("\t a \r\n\f b&nbsp;\xa0c ", "a b c"),
        ("a\u2003b\x0bc\x1cd", "a\u2003b\x0bc\x1cd"),
        ("a\x00b&#0;", "ab\ufffd"),
        ("&lt;b&gt; &amp;amp; &eacute &#x41;&#0000000000000066;", "<b> &amp; é AB"),
        ("&#" + "1" * 10_000 + ";&#" + "0" * 10_000 + "65;&#x" + "f" * 10_000, "\ufffdA\ufffd"),
        (" &#32; \n", ""),
    ],
    ids=range(6),
)
def test_visible_text(html: str, text: str) -> None:
    assert tokens(html)[0].text == text


@pytest.mark.parametrize(
    "pieces",
    [
        ["a\n", "b\r\n", "c\r", "\r\n", "<p>", "d\n", "</p>", "\n"],
        ["<script>", "a\nb", "</script>"],
        ["a\x0bb\u2028c"],
    ],
)
def test_lines(pieces: list[str]) -> None:
    html = "".join(pieces)
    assert [html[token.start : token.end] for token in tokens(html, lines=True)] == pieces


def test_blocks() -> None:
    html = (
        '<p>a <b> </b><a class="x" href="/y?a=1&amp;b=2&copy=3">go</a><img alt=i src= pic.png><input value="7"> 1 <2<b>'
    )
    assert list(blocks(html)) == [
        Block("p", "a", 3, 5),
        Block("p/a.x", "/y?a=1&b=2&copy=3", 32, 53, "href"),
        Block("p/a.x", "go", 55, 57),
        Block("p/img", "pic.png", html.index("pic.png"), html.index("pic.png") + 7, "src"),
        Block("p/input", "7", html.index('7"'), html.index('7"') + 1, "value"),
        Block("p", "1 <2", html.index(" 1 <2"), html.index("<b>", 60)),
    ]


VALUES = ["1", "q' b='2", ""]
ATTRIBUTES = [
    # The same text around, but not the value of that attribute.
    ('<a class="n" href="{}" rel="x">', ["1", "q' b='2", ""]),
    ("<a title=' href=\"{}\"'>", ["", "", ""]),
    ('<a title=\' href="{}"\' href="z">', ["z", "z", "z"]),
    ('<a href=q href="{}">', ["q", "q", "q"]),
    ('<a HREF="q{}">', ["q1", "qq' b='2", "q"]),
    ("<a href='q{}'>", ["q1", "qq", "q"]),
]


@pytest.mark.parametrize(("tag", "found"), ATTRIBUTES)
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_links_that_differ_by_their_address_only(tag: str, found: list[str], order: list[int]) -> None:
    page = "".join(f"{tag.format(VALUES[number])}t</a>" for number in order)
    expected = [found[number] for number in order if found[number]]
    assert [block.text for block in blocks(page) if block.attribute] == expected


PARTS = """< > </ /> <!-- --> " ' = <p> </p> <p|id=a1|class=b> <div> </div> <li> <ul> </ul> <table> <tr> <td> </td>
</table> <script> </script> <title> </title> <svg> </svg> <![CDATA[ ]]> x a|b &amp; &# &#99999999999; é <a|href="x">
<a|href=x/> <img|src=x> <br/> <template> </template> <noscript> <? <!x <select><option> <body> <html> <head> <textarea>
</textarea> <plaintext> <h1> </h2> <button>""".split()
pages = st.one_of(
    st.text(),
    st.lists(st.sampled_from([*[part.replace("|", " ") for part in PARTS], " ", "\n", "\r", "\0", "\xa0"])).map(
        "".join
    ),
)


@given(pages, st.booleans())
@example("<" * 20, False)
@example("<a b='<a b=\"" * 3, True)
@example("\ud800<p \udfff>&\ud800", False)
def test_tokens_tile_any_text(html: str, lines: bool) -> None:
    found = tokens(html, lines=lines)
    assert "".join([html[token.start : token.end] for token in found]) == html
    for index, token in enumerate(found):
        assert token.start < token.end
        assert -1 <= token.parent < index
        assert (token.parent < 0) == (token.depth == 0)
        if token.parent >= 0:
            parent = found[token.parent]
            assert parent.kind is OPEN
            assert token.depth == parent.depth + 1
            assert token.path == f"{parent.path}/{parent.name}".lstrip("/")
        assert len(token.path.split("/")) == token.depth or not token.path
        assert (token.text == "") or token.kind is TEXT
        assert (token.name == "") == (token.kind in {TEXT, COMMENT, RAW})


@given(pages)
def test_blocks_are_the_visible_texts_of_the_tokens(html: str) -> None:
    found = list(blocks(html))
    assert [(b.selector, b.text, b.start, b.end) for b in found if not b.attribute] == [
        (token.selector, token.text, token.start, token.end) for token in tokens(html) if token.text
    ]
    ends = 0
    for block in found:
        assert ends <= block.start < block.end <= len(html)
        ends = block.end
    # Once more, with all that the first reading taught.
    assert list(blocks(html)) == found


@given(pages, st.integers(0, 9), st.integers(0, 3), st.booleans())
@example("<p>a < b << c<i>d", 9, 0, False)
@example("<svg><![CDATA[a]]>b < c", 9, 0, False)
def test_in_which_portions_a_page_is_read_changes_nothing(html: str, window: int, portion: int, lines: bool) -> None:
    expected, expected_blocks = list(tokens(html, lines=lines)), list(blocks(html))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_WINDOW", window)
        patch.setattr(scanning, "_PORTION", portion)
        found = tokens(html, lines=lines)
        assert [*iter(found)] == expected  # portion by portion
        assert [found[number] for number in range(len(found))] == expected  # from all of them
        assert list(blocks(html)) == expected_blocks


@given(pages)
def test_lines_add_cuts_only(html: str) -> None:
    whole, cut = tokens(html), tokens(html, lines=True)
    assert {token.end for token in whole} <= {token.end for token in cut}
    assert [token for token in cut if token.kind is not TEXT and token.parent < 0] == [
        token for token in whole if token.kind is not TEXT and token.parent < 0
    ]


WELL_FORMED = """<!DOCTYPE html><html><head><title>A &amp; b</title><style>p { color: red }</style></head>
<body class="home"><!-- c --><h1>Heading</h1><ul><li>One<li>Two <b>bold</b></ul><p>a &lt; b<p>c<br>d
<table><tr><td>1<td>2</table><noscript>no</noscript><form><input value=x><textarea>draft</textarea></form>
<script>if (a < b) document.write("<p>x</p>")</script><p>last&nbsp;words</body></html>"""


def test_the_text_is_that_of_page_sketches() -> None:
    found = [block.text for block in blocks(WELL_FORMED) if not block.attribute]
    assert sketch_of_texts(found).text == sketch_of_html(parse(WELL_FORMED)).text


def test_many_threads_share_what_they_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [
        f'<div id=a{i} title={"x" * i}><p class="{name}">text {i} <a href="/{i}">x</a><li class=c{i % 7}>{name}' * 20
        for i, name in product(range(20), ("news", "ad"))
    ]
    expected = [list(blocks(page)) for page in some]
    monkeypatch.setattr(automaton, "_LIMIT", 20_000)
    monkeypatch.setattr(scanning, "_tries", [automaton.Trie()])
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [list(blocks(page)) for page in some], range(8)):
            assert found == expected


class Measured(str):  # noqa: SLOT000
    """A page that counts the characters that are searched for the ends of its markup."""

    searched = 0

    def find(self, *args: Any) -> int:
        found = super().find(*args)
        end = args[2] if len(args) > 2 else len(self)
        self.searched += (found if found >= 0 else end) - args[1]
        return found


HOSTILE: dict[str, Callable[[int], str]] = {
    "deep": lambda n: "<div>" * n,
    "deep and closed": lambda n: "<div><b>" * n + "</b></div>" * n,
    "unmatched": lambda n: "<div>" * 300 + "</x>" * n,
    "unmatched, alternating": lambda n: "<div>" * 300 + "</x></y>" * n,
    "unmatched, deep": lambda n: "<div>" * n + "".join([f"</x{i}>" for i in range(n)]),
    "over the limit and back": lambda n: "<div>" * (MAX_DEPTH - 1) + "<b><i></i></b>" * n,
    "names": lambda n: "".join([f"<x{i}>" for i in range(n)]),
    "names side by side": lambda n: "".join([f"<x{i}>a</x{i}>" for i in range(n)]),
    "attributes": lambda n: "<p " + "a=1 " * n + ">",
    "classes": lambda n: "".join([f'<p class="c{chr(97 + i % 26)}{"x" * (i // 26)}">a</p>' for i in range(n)]),
    "unclosed quotes": lambda n: '<a b="' * n,
    "unclosed quotes and ends": lambda n: "<a b='x>" * n,
    "both quotes": lambda n: "<a b=\"x>y<c d='z>" * n,
    "quoted ends": lambda n: '<a b=">">t</a>' * n,
    "comments without end": lambda n: "<!--" * n,
    "comments half closed": lambda n: "<!-- x --" * n,
    "less than": lambda n: "<" * n,
    "less than in text": lambda n: "a < b " * n,
    "items": lambda n: "<li>" * n,
    "lists": lambda n: "<ul><li>" * n,
    "tables": lambda n: "<table><tr><td>" * n,
    "links": lambda n: "<a href=x><div>" * n,
    "scripts without end": lambda n: "<script>" * n,
    "scripts": lambda n: "<script><!--</script>" * n,
    "scripts in comments": lambda n: "<script><!--<script>" * n,
    "templates": lambda n: "<template></b>" * n,
    "sections": lambda n: "<svg><![CDATA[" * n,
    "sections, closed": lambda n: "<svg>" + "<![CDATA[a]]>" * n,
    "declarations": lambda n: "<!x" * n,
    "NUL": lambda n: "\0<p\0>" * n,
    "references": lambda n: "&#" * n + "<p>" * n,
}


def read(page: str) -> list[Block]:
    return list(blocks(page))


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_page_and_no_faster(name: str) -> None:
    counts = []
    for size in (150, 450):
        scanning._tries[0] = automaton.Trie()
        page = Measured(HOSTILE[name](size))
        counts.append((work_of(partial(read, page), "scrapy_dedup"), page.searched, len(page)))
    (few, _, short), (many, searched, long) = counts
    assert many - few <= 3 * few * (long - short) / long * 1.1 + 1000
    assert searched <= 3 * long


def test_paths_of_very_deep_pages_are_cut_but_depths_are_true() -> None:
    found = tokens("<b>" * 1000 + "text" + "</b>" * 700 + "<i>more" + "</i>" + "</b>" * 100 + "<i>x")
    assert [(token.text, token.depth, len(token.path.split("/"))) for token in found if token.text] == [
        ("text", 1000, MAX_DEPTH),
        ("more", 301, MAX_DEPTH),
        ("x", 201, 201),
    ]
