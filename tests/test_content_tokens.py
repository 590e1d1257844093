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
from scrapy_dedup.content.tokenizer import tokens as module
from scrapy_dedup.content.tokenizer.automaton import MAX_DEPTH
from scrapy_dedup.content.tokenizer.memo import Memo
from scrapy_dedup.content.tokenizer.selectors import step_of
from scrapy_dedup.content.tokenizer.token_kinds import TokenKind
from scrapy_dedup.content.tokenizer.tokens import Block, Token, blocks, tokens

from .work import work_of

OPEN, CLOSE, EMPTY, TEXT, COMMENT, RAW = TokenKind


@pytest.fixture(autouse=True)
def _own_trie(monkeypatch: pytest.MonkeyPatch) -> None:
    # What one test teaches the reader must not hide what another one shows.
    monkeypatch.setattr(scanning, "_tries", [automaton.Trie()])


def kinds(html: str) -> list[tuple[TokenKind, str]]:
    return [(token.kind, html[token.start : token.end]) for token in tokens(html)]


def texts(html: str) -> list[tuple[str, str]]:
    """Return path and text of each visible text."""
    return [(token.path, token.text) for token in tokens(html) if token.text]


def paths(html: str) -> list[str]:
    return [path for path, _ in texts(html)]


def test_kinds() -> None:
    assert kinds("<!DOCTYPE html><p class=a>x<br>y<img/></p><!-- c --><?php ?>") == [
        (COMMENT, "<!DOCTYPE html>"),
        (OPEN, "<p class=a>"),
        (TEXT, "x"),
        (EMPTY, "<br>"),
        (TEXT, "y"),
        (EMPTY, "<img/>"),
        (CLOSE, "</p>"),
        (COMMENT, "<!-- c -->"),
        (COMMENT, "<?php ?>"),
    ]


def test_a_token_says_where_it_stands() -> None:
    html = '<HTML><Body><DIV id="main" class="wide  box"><p>a &amp;\n b</p></DIV></Body></HTML>'
    found = tokens(html)
    text = found[4]
    assert (text.kind, text.text, text.depth, text.parent) == (TEXT, "a & b", 4, 3)
    assert (text.path, text.selector) == ("html/body/div/p", "html/body/div#main.box.wide/p")
    start, end = found[2], found[6]
    # A start tag stands outside of its element, an end tag inside, and names its start tag.
    assert (start.name, start.path, start.depth, start.parent) == ("div", "html/body", 2, 1)
    assert (end.name, end.path, end.depth, end.parent) == ("div", "html/body/div", 3, 2)
    assert start.text == end.text == ""


def test_tokens_do_not_change() -> None:
    (token,) = tokens("x")
    assert type(token) is Token
    assert token == Token(TEXT, 0, 1, "", -1, 0, "", "", "x")
    assert len({token, *tokens("x")}) == 1
    with pytest.raises(AttributeError):
        token.start = 5  # type: ignore[misc]


def test_void_elements_are_never_open() -> None:
    assert paths("<p>a<br>b<img src=x>c<input>d<wbr>e") == ["p"] * 5
    assert paths("<p>a</br>b<hr>c") == ["p", "p", ""]


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
    ],
)
def test_implied_ends(html: str, expected: list[str]) -> None:
    assert paths(html) == expected
    assert [block.selector for block in blocks(html)] == expected


def test_end_tags_without_a_start_close_nothing() -> None:
    assert paths("<div>a</b>b</p>c</div>d</div>e") == ["div", "div", "div", "", ""]
    # A cell keeps what is in it to itself.
    assert paths("<div><table><td>a</div>b</ul>c</table>d") == ["div/table/td"] * 3 + ["div"]
    assert paths("<ul><li><ul></li>a") == ["ul/li/ul"]


def test_an_end_tag_closes_what_is_open_inside() -> None:
    assert paths("<div><b><i>a</div>b") == ["div/b/i", ""]


def test_comments() -> None:
    for comment in ("<!-- <b> -->", "<!-->", "<!--->", "<!-- a --!>", "<!x>", "</ b>", "<?x>", "<![CDATA[x]]>", "</>"):
        assert kinds(f"a{comment}b") == [(TEXT, "a"), (COMMENT, comment), (TEXT, "b")]
    for comment in ("<!-- <b>c</b>", "<!-", "<?x <!-- ", "<b c='>", '<b c="d e', "<b", "<b c=", "</b", "<!---"):
        assert kinds(f"a{comment}") == [(TEXT, "a"), (COMMENT, comment)]


def test_less_than_in_text() -> None:
    for text in ("a < b", "a <1> b", "<", "</", "a << b <=> c", "x<\x00p>y", "<é>"):
        assert kinds(f"{text}") == [(TEXT, text)]
    assert kinds("1 <2<b>3") == [(TEXT, "1 <2"), (OPEN, "<b>"), (TEXT, "3")]
    assert [(block.text, block.start, block.end) for block in blocks(" 1 <2<b>3")] == [("1 <2", 0, 5), ("3", 8, 9)]


def test_greater_than_in_values() -> None:
    for tag in (
        '<a title="x>y">',
        "<a title='x>y<b>'>",
        '<a b="1" title = "<>" >',
        "<a title=\"'>\" b='\">'>",
    ):
        assert kinds(f"{tag}t</a>") == [(OPEN, tag), (TEXT, "t"), (CLOSE, "</a>")]
    # Only a quote that begins a value does.
    assert kinds("<a b'c>d'>") == [(OPEN, "<a b'c>"), (TEXT, "d'>")]
    assert kinds('<a b=c"d>e">') == [(OPEN, '<a b=c"d>'), (TEXT, 'e">')]
    assert kinds("<a =>=>") == [(OPEN, "<a =>"), (TEXT, "=>")]


def test_a_tag_that_was_met_complete_is_still_cut_off_at_the_end() -> None:
    assert kinds("<b><b") == [(OPEN, "<b>"), (COMMENT, "<b")]
    assert kinds('<b a="1"><b a="1"<i>x') == [(OPEN, '<b a="1">'), (OPEN, '<b a="1"<i>'), (TEXT, "x")]


def test_raw_contents() -> None:
    for name in ("script", "style", "template", "noscript", "iframe", "noembed", "noframes"):
        html = f"<{name}>a < b</p><p>&amp;</x{name}></{name}x></{name.upper()} >b"
        assert [kind for kind, _ in kinds(html)] == [OPEN, RAW, CLOSE, TEXT]
        assert texts(html) == [("", "b")]
        assert kinds(f"a<{name}><p>b") == [(TEXT, "a"), (OPEN, f"<{name}>"), (RAW, "<p>b")]
        assert texts(f"<{name}></{name}>b") == [("", "b")]
    for name in ("title", "textarea", "xmp"):
        html = f"<{name}>a <b>&lt;</p></{name}>b"
        assert texts(html) == [(name, "a <b><</p>"), ("", "b")]
        assert [block.text for block in blocks(html)] == ["a <b><</p>", "b"]
    assert texts("<plaintext>a</plaintext>b") == [("plaintext", "a</plaintext>b")]


def test_a_closed_script_tag_has_no_contents() -> None:
    # As in XHTML, and as lxml reads it: text would be lost otherwise.
    assert texts("<script src=x />a<div/>b") == [("", "a"), ("", "b")]
    assert texts("<a href=x/>a") == [("a", "a")]


def test_scripts_in_comments_in_scripts() -> None:
    for script in (
        "<!-- <script> </script> -->",
        "<!-- <script> </script>",
        "<!-->",
        "<!-- </scripty> <script> x --> ",
    ):
        assert texts(f"<script>{script}</script>b") == [("", "b")]
    assert texts("<script><!-- </script>b") == [("", "b")]
    assert texts("<script><!-- <script> </script>b") == []


def test_templates_in_templates() -> None:
    assert texts("<template>a<template>b</template>c</template>d") == [("", "d")]


def test_drawings_and_formulas() -> None:
    assert texts("<svg><title>a<b/></title><![CDATA[<b>&amp;]]>c</svg>d") == [
        ("svg/title", "a"),
        ("svg", "<b>&amp;"),
        ("svg", "c"),
        ("", "d"),
    ]
    assert [block.text for block in blocks("<svg><![CDATA[ <b> ]]><![CDATA[]]></svg><![CDATA[x]]>")] == ["<b>"]
    assert texts("<svg><foreignObject><p>a<p>b") == [("svg/foreignobject/p", "a"), ("svg/foreignobject/p", "b")]
    assert texts("<svg><g><p>a") == [("p", "a")]
    assert texts("<svg><![CDATA[a") == [("svg", "a")]


def test_attributes() -> None:
    def selector(tag: str) -> str:
        return tokens(f"<{tag}>x")[-1].selector

    assert selector("p ID=a CLASS='c b'") == "p#a.b.c"
    assert selector("p id=a id=b class=c class=d") == "p#a.c"
    assert selector("p/id=a/class=b") == "p#a.b/class=b".replace(".b/class=b", "%2Fclass=b")
    assert selector("p data-id=a title=' id=b '") == "p"
    assert selector("p\fid\t=\n a") == "p#a"
    assert selector("p\x0bid=a") == "p\x0bid=a"
    assert selector("p id=&quot;a&quot;") == 'p#"a"'
    assert selector("p id class= id=b") == "p.id=b"
    assert selector("body id=home class=x") == "body"


def test_steps() -> None:
    assert step_of("div", "ad-8371", "b a a c3d4e5f6") == "div#ad-0.a.b"
    assert step_of("div", "x" * 65, "") == "div"
    assert step_of("div", "", "w-1/2 md:w-1.5 100%") == "div.0%25.md:w-0%2E0.w-0%2F0"
    assert step_of("div", "550e8400-e29b-41d4-a716-446655440000", "") == "div"
    assert len(step_of("x", "", " ".join(chr(97 + i) * 60 for i in range(8)))) < 150
    assert step_of("x", "", "v1 v2 v3") == "x.v0"


def test_names() -> None:
    (token, *_) = tokens("<My-TAG\x00é>")
    assert token.name == "my-tag\ufffdé"
    assert tokens("<\u212a>")[0].kind is TEXT
    assert tokens("<p\u212a>")[0].name == "p\u212a"
    assert len(tokens(f"<{'x' * 500}>")[0].name) == 64


def test_visible_text() -> None:
    def text(html: str) -> str:
        return tokens(html)[0].text

    assert text("\t a \r\n\f b&nbsp;\xa0c ") == "a b c"
    assert text("a\u2003b\x0bc\x1cd") == "a\u2003b\x0bc\x1cd"
    assert text("a\x00b&#0;") == "ab\ufffd"
    assert text("&lt;b&gt; &amp;amp; &eacute &#x41;&#0000000000000066;") == "<b> &amp; é AB"
    assert text("&#" + "1" * 10_000 + ";&#" + "0" * 10_000 + "65;&#x" + "f" * 10_000) == "\ufffdA\ufffd"
    assert text(" &#32; \n") == ""


def test_lines() -> None:
    html = "a\nb\r\nc\r\r\n<p>d\n</p>\n"
    found = [html[token.start : token.end] for token in tokens(html, lines=True)]
    assert found == ["a\n", "b\r\n", "c\r", "\r\n", "<p>", "d\n", "</p>", "\n"]
    script = "<script>a\nb</script>"
    assert len(tokens(script, lines=True)) == 3
    assert len(tokens("a\x0bb\u2028c", lines=True)) == 1


def test_blocks() -> None:
    html = '<p>a <b> </b><a class="x" href="/y?a=1&amp;b=2&copy=3">go</a><img alt=i src= pic.png><input value="7">'
    found = list(blocks(html))
    assert found == [
        Block("p", "a", 3, 5),
        Block("p/a.x", "/y?a=1&b=2&copy=3", 32, 53, "href"),
        Block("p/a.x", "go", 55, 57),
        Block("p/img", "pic.png", html.index("pic.png"), html.index("pic.png") + 7, "src"),
        Block("p/input", "7", html.index('7"'), html.index('7"') + 1, "value"),
    ]


def test_links_that_differ_by_their_address_only() -> None:
    def links(html: str) -> list[tuple[str, str]]:
        return [(block.selector, block.text) for block in blocks(html) if block.attribute]

    html = '<a class="n" href="{}" rel="x">t</a>'
    assert links("".join(map(html.format, "abab"))) == [("a.n", name) for name in "abab"]
    # The same text around, but not the value of that attribute.
    for tag, found in [
        ("<a title=' href=\"{}\"'>", ["", "", ""]),
        ('<a title=\' href="{}"\' href="z">', ["z", "z", "z"]),
        ('<a href=q href="{}">', ["q", "q", "q"]),
        ('<a HREF="q{}">', ["q1", "q' b='2", "q"]),
        ('<a href="q{}">', ["q1", "q' b='2", "q"]),
        ("<a href='q{}'>", ["q1", "q", "q"]),
    ]:
        for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
            for value in order:
                html = tag.format(["1", "' b='2", ""][value])
                assert [text for _, text in links(html + "</a>")] == [found[value]] * (found[value] != "")
    assert links('<a href="">t</a><a href="x">t') == [("a", "x")]


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


@given(pages, st.integers(0, 9), st.booleans())
def test_windows_change_nothing(html: str, window: int, lines: bool) -> None:
    expected = list(tokens(html, lines=lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_WINDOW", window)
        assert list(tokens(html, lines=lines)) == expected


@given(pages, st.integers(0, 3), st.booleans())
@example("<p>a < b << c<i>d", 0, False)
@example("<svg><![CDATA[a]]>b < c", 0, False)
def test_portions_change_nothing(html: str, portion: int, lines: bool) -> None:
    expected, expected_blocks = list(tokens(html, lines=lines)), list(blocks(html))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_PORTION", portion)
        found = tokens(html, lines=lines)
        assert [*iter(found)] == expected  # portion by portion
        assert len(found) == len(expected)
        assert [found[number] for number in range(len(found))] == expected  # from all of them
        assert [*iter(found)] == expected
        assert list(blocks(html)) == expected_blocks


def test_a_page_of_elements_no_two_alike_leaves_few_objects_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "_MANY", 5)
    names = ["".join(name) for name in product("bcd", "aeiou", "fgh")]
    html = "<body>" + "".join([f'<p id="{name}">{name}<b>x</b>' for name in names])
    expected = [(f"body/p#{name}{bold}", text) for name in names for bold, text in (("", name), ("/b", "x"))]
    left = scanning._tries[0].left
    for _ in range(2):
        assert [(block.selector, block.text) for block in blocks(html)] == expected
    body = scanning._tries[0].root._children["body"]
    assert len(body._children) == 5
    # What it cannot remember counts all the same: a new trie begins some day, with room for others.
    assert left - scanning._tries[0].left > 200 * len(names)


@given(pages, st.integers(0, 4))
def test_the_limit_of_depth_changes_paths_only(html: str, limit: int) -> None:
    def places_of() -> list[tuple[object, ...]]:
        return [(t.kind, t.start, t.end, t.name, t.parent, t.depth) for t in tokens(html)]

    expected = places_of()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(automaton, "MAX_DEPTH", limit)
        patch.setattr(scanning, "_tries", [automaton.Trie()])
        assert places_of() == expected
        assert max([token.path.count("/") for token in tokens(html)], default=0) <= max(limit - 1, 0)
        assert [block.text for block in blocks(html)] == [block.text for block in blocks(html)]


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
        for i, name in product(range(30), ("news", "ad"))
    ]
    expected = [list(blocks(page)) for page in some]
    monkeypatch.setattr(automaton, "_LIMIT", 20_000)
    monkeypatch.setattr(module, "_texts", Memo(module._texts._make, each=100, times=2, limit=2_000))
    monkeypatch.setattr(scanning, "_tries", [automaton.Trie()])
    first = scanning._tries[0]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [list(blocks(page)) for page in some], range(16)):
            assert found == expected
    assert scanning._tries[0] is not first
    assert scanning._tries[0].left > -20_000


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


@pytest.mark.parametrize("function", [blocks, tokens])
@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_page_and_no_faster(name: str, function: Callable[[str], Any]) -> None:
    counts = []
    for size in (300, 900):
        scanning._tries[0] = automaton.Trie()
        page = Measured(HOSTILE[name](size))
        counts.append((work_of(partial(function, page), "scrapy_dedup"), page.searched, len(page)))
    (few, _, short), (many, searched, long) = counts
    assert many - few <= 3 * few * (long - short) / long * 1.1 + 1000
    assert searched <= 3 * long


@pytest.mark.parametrize("name", ["deep", "names", "names side by side", "classes", "lists"])
def test_what_is_remembered_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def count(place: automaton.OpenElements) -> int:
        return len(place) + len(place._alike) + 1 + sum(map(count, place._children.values()))

    monkeypatch.setattr(automaton, "_LIMIT", 100_000)
    scanning._tries[0] = automaton.Trie()
    page = HOSTILE[name](3000)
    assert list(blocks(page)) == list(blocks(page))
    assert count(scanning._tries[0].root) < 500
    assert scanning._tries[0].left <= 0


def test_a_text_too_long_to_remember_leaves_the_others_alone() -> None:
    """Nor does it stay in memory: a page of 10 MB may be one line."""
    memo = Memo(str.upper, each=10, limit=100)
    assert [memo[text] for text in ("a", "b", "c" * 91, "a" * 50)] == ["A", "B", "C" * 91, "A" * 50]
    assert sorted(memo) == ["a", "a" * 50, "b"]
    assert memo["d" * 20] == "D" * 20
    assert sorted(memo) == ["d" * 20]


def test_paths_of_very_deep_pages_are_cut_but_depths_are_true() -> None:
    found = tokens("<b>" * 1000 + "text" + "</b>" * 700 + "<i>more")
    assert [(token.text, token.depth, len(token.path.split("/"))) for token in found if token.text] == [
        ("text", 1000, MAX_DEPTH),
        ("more", 301, MAX_DEPTH),
    ]
    (last,) = [token for token in tokens("<b>" * 1000 + "</b>" * 800 + "<i>x") if token.text]
    assert (last.depth, last.path) == (201, "b/" * 200 + "i")
