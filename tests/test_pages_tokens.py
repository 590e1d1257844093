"""Pages as tokens, and as rows with offsets: as lxml reads them, whatever is left out, closed twice or cut off."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dedup.pages.blocks import rows_of
from scrapy_dedup.pages.response import parse
from scrapy_dedup.pages.selectors import step_of
from scrapy_dedup.pages.tokens import Block, Token, TokenKind, blocks_with_offsets, tokens
from scrapy_dedup.pages.unseen import is_unseen

from .work import work_of

OPEN, CLOSE, EMPTY, TEXT, COMMENT, RAW = TokenKind
RAW_ELEMENTS = "script", "style"


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
            for comment in ("<!-- <b> -->", "<!-->", "<!--->", "<!-- a --!>", "<!x>", "</ b>", "<?x>", "</>")
        ),
        *(
            (["a", cut_off], [TEXT, COMMENT])
            for cut_off in ("<!-- <b>c</b>", "<!-", "<?x <!-- ", "<b c='>", '<b c="d e', "<b", "<b c=", "</b", "<b ")
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
        *((["a", f"<{name}>", "<p>b"], [TEXT, OPEN, RAW]) for name in RAW_ELEMENTS),
        *(
            ([f"<{name}>", f"a < b</p></x{name}></{name}x>", f"</{name.upper()} >", "b"], [OPEN, RAW, CLOSE, TEXT])
            for name in RAW_ELEMENTS
        ),
        # What is in these is markup, and yet not seen.
        *(
            ([f"<{name}>", "a", "<p>", "b", "</p>", f"</{name}>", "c"], [OPEN, RAW, OPEN, RAW, CLOSE, CLOSE, TEXT])
            for name in ("template", "noscript")
        ),
        (["<title>", "a<b>", "</title>", "<textarea>", "</p>", "</textarea>"], [OPEN, TEXT, CLOSE] * 2),
    ],
)
def test_kinds(pieces: list[str], expected: list[TokenKind]) -> None:
    html = "".join(pieces)
    found = [(token.kind, html[token.start : token.end]) for token in tokens(html)]
    assert found == list(zip(expected, pieces, strict=True))


@pytest.mark.parametrize(
    ("html", "paths"),
    [
        ("<ul><li>a<li>b</ul>c", ["ul/li", "ul/li", ""]),
        ("<ul><li>a<ul><li>b</ul>c<li>d", ["ul/li", "ul/li/ul/li", "ul/li", "ul/li"]),
        ("<p>a<p>b<div>c", ["p", "p", "div"]),
        ("<p>a<b>b<p>c", ["p", "p/b", "p"]),
        ("<div><p>a</div>b", ["div/p", ""]),
        ("<table><tr><td>a<td>b<tr><th>c</table>d", ["table/tr/td", "table/tr/td", "table/tr/th", ""]),
        ("<table><td>a<table><td>b</table>c<td>d", ["table/td", "table/td/table/td", "table/td", "table/td"]),
        ("<dl><dt>a<dd>b<dt>c</dl>", ["dl/dt", "dl/dd", "dl/dt"]),
        ("<select><option>a<option>b</select>c", ["select/option", "select/option", ""]),
        ("<a>x<a>y", ["a", "a"]),
        # Void elements are never open, nor those that end with a slash.
        ("<p>a<br>b<img src=x>c<input>d<b/>e", ["p"] * 5),
        # End tags without a start close nothing; others close what is open inside.
        ("<div>a</b>b</p>c</div>d</div>e", ["div", "div", "div", "", ""]),
        ("<div><b><i>a</div>b", ["div/b/i", ""]),
        # A cell keeps what is in it to itself.
        ("<div><table><td>a</div>b</ul>c</table>d", ["div/table/td"] * 3 + ["div"]),
    ],
)
def test_where_texts_stand(html: str, paths: list[str]) -> None:
    assert [token.path for token in tokens(html) if token.text] == [f"html/body/{path}".rstrip("/") for path in paths]


@pytest.mark.parametrize("start", ["<html><head>", "<head>", "<html>", ""])
def test_every_page_has_a_head_and_a_body(start: str) -> None:
    html = f"{start}<title>a</title><meta><div>b</div>c<body>d<body>e<html>f</body>g"
    paths = ["head/title", "body/div", *["body"] * 4]
    assert [token.path.removeprefix("html/") for token in tokens(html) if token.text] == [*paths, "html"]
    assert [token.depth for token in tokens("a<p>b") if token.text] == [0, 1]


def test_a_token_says_where_it_stands() -> None:
    html = '<HTML><Body><DIV id="main" class="wide  box"><p>a &amp;\n b</p></DIV></Body></HTML>'
    found = list(tokens(html))
    start, text, end = found[2], found[4], found[6]
    assert (text.kind, text.text, text.depth, text.parent) == (TEXT, "a & b", 4, 3)
    assert (text.path, text.selector) == ("html/body/div/p", "html/body/div#main.box.wide/p")
    # A start tag stands outside of its element, an end tag inside, and names its start tag.
    assert (start.name, start.path, start.depth, start.parent) == ("div", "html/body", 2, 1)
    assert (end.name, end.path, end.depth, end.parent) == ("div", "html/body/div", 3, 2)
    assert (start.tag.step, start.tag.values) == ("div#main.box.wide", ())
    assert start.text == end.text == ""
    assert repr(text) == "<Token text 'a &amp;\\n b' in 'html/body/div#main.box.wide/p'>"


@pytest.mark.parametrize(
    ("tag", "selector"),
    [
        ("p ID=a CLASS='c b'", "p#a.b.c"),
        ("p id=a id=b class=c class=d", "p#a.c"),
        ("p/id=a/class=b", "p#a%2Fclass=b"),
        ("p data-id=a title=' id=b '", "p"),
        ("p\fid\t=\n a", "p#a"),
        ("p id=&quot;a&quot;", 'p#"a"'),
        ("p id class= id=b", "p.id=b"),
        ("body id=home class=x", "body"),
        ("x" * 500, "x" * 64),
    ],
)
def test_names_and_attributes(tag: str, selector: str) -> None:
    assert list(tokens(f"<{tag}>x"))[-1].selector.removeprefix("html/").removeprefix("body/") == selector


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
        ("a\x00b&#0;", "ab\ufffd"),
        ("&lt;b&gt; &amp;amp; &eacute &#x41;&#0000000000000066;", "<b> &amp; é AB"),
        ("&#" + "1" * 10_000 + ";&#" + "0" * 10_000 + "65;&#x" + "f" * 10_000, "\ufffdA\ufffd"),
        (" &#32; \n", ""),
    ],
    ids=range(5),
)
def test_visible_text(html: str, text: str) -> None:
    assert next(tokens(html)).text == text


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
    at = html.index
    assert list(blocks_with_offsets(html)) == [
        Block("html/body/p", "", "a", 3, 5),
        Block("html/body/p/a.x", "href", "/y?a=1&b=2&copy=3", 32, 53),
        Block("html/body/p/a.x", "", "go", 55, 57),
        Block("html/body/p/img", "alt", "i", at("i src"), at(" src")),
        Block("html/body/p/img", "src", "pic.png", at("pic.png"), at("pic.png") + 7),
        Block("html/body/p/input", "value", "7", at('7"'), at('7"') + 1),
        Block("html/body/p", "", "1 <2", at(" 1 <2"), html.rindex("<b>")),
    ]


def quoted(quote: str, value: str) -> str:
    return quote + value.replace(quote, "&quot;" if quote == '"' else "&#39;") + quote


def written_element(parts: tuple[str, dict[str, str], str | None]) -> str:
    name, attributes, contents = parts
    tag = "".join([f"<{name}", *[f" {each}={value}" for each, value in attributes.items()], ">"])
    return tag if contents is None else f"{tag}{contents}</{name}>"


PAGES = [
    "<title>t</title><script>s = {'a': 7}</script><p class=b>x<br>y",
    "<!doctype html><html lang=de><head><meta name=a content=b><link rel=c href=/d?e=f></head><body id=g>h</body></html>",
    "<p>a</p></body>b<i>c</i></html>d<p>e",
    "<noscript><img src=/p.gif?r=12></noscript><div>a<noscript>id: 5<p data-x=1>Version: 7 b</p>n: 6</noscript>c<style>a: 7</style>",
    "<template><p title=x>a</p></template><iframe src=/f>g</iframe><textarea><b>c</textarea>",
    "<section>a<b>b</b><body class=x><i>c",
    "<head>text<meta name=a content=b>",
    "<frameset><frame src=/a></frameset>",
    "<table><tr><td>a<td>b<tr><td>c<p>d<div>e</table>f",
    "<ul><li>a<ul><li>b</ul>c<li>d</ul><dl><dt>e<dd>f</dl><h1>g<h2>h</h2></h1><a href=i>j<a href=k>l</a>",
    "<form><p>a<form>b</form><select><option value=1>c<option selected>d</select><input type=hidden name=t value=v>",
    '<div data-a=\'{"b": "c", "d": 5}\' onclick="go(\'e\')">f &amp; g&nbsp;h <!--  made  at 9:30 --><!-- x\n y --></div>',
    "<b><i>a</b>b<i>c</i><wbr>d<video><source src=/e?f=1></video>g",
]


WRITTEN = st.sampled_from(
    [
        "a",
        " b\n c ",
        "é &amp; &lt;i&gt; &nbsp;&copy;",
        "1 &#13; 2",
        "x=1&y=2",
        "/a?b=1&amp;c=2#d",
        '{"k": "v", "n": 5}',
        "",
        " ",
    ]
)
NAMED = st.sampled_from(
    ["id", "class", "href", "src", "title", "data-x", "onclick", "value", "name", "content", "rel", "type"]
)
ATTRIBUTES = st.dictionaries(
    NAMED,
    st.sampled_from("\"'").flatmap(
        lambda quote: WRITTEN.filter(lambda text: "&#" not in text).map(partial(quoted, quote))
    ),
)
VOID = "img", "br", "input", "hr", "link"
LEAVES = st.one_of(
    WRITTEN,
    WRITTEN.map("<!-- {} -->".format),
    st.tuples(
        st.sampled_from(("script", "style", "textarea", "iframe")),
        ATTRIBUTES,
        WRITTEN.filter(lambda text: "&" not in text),
    ).map(written_element),
    st.tuples(st.sampled_from(VOID), ATTRIBUTES, st.none()).map(written_element),
)
"""Texts, comments, elements whose contents are no markup, and those that have none."""


@given(
    st.recursive(
        LEAVES,
        lambda inner: st.tuples(
            st.sampled_from(("div", "span", "section", "b", "ul")),
            ATTRIBUTES,
            st.lists(inner).map("".join),
        ).map(written_element),
        max_leaves=30,
    )
)
def test_rows_of_any_page_that_closes_its_elements_are_those_of_its_tree(body: str) -> None:
    """Whatever is in them; what lxml mends of others stands in the pages below, and what is hidden in a template or noscript."""
    check_rows(f"<!DOCTYPE html><html><head><title>t</title></head><body><p>begin</p>{body}</body></html>")


@pytest.mark.parametrize("html", PAGES)
def test_rows_are_those_of_the_tree_that_lxml_makes(html: str) -> None:
    check_rows(html)


def check_rows(html: str) -> None:
    found = list(blocks_with_offsets(html))
    rows = rows_of(parse(html))
    assert [block[:3] for block in found if not is_unseen(block.attribute)] == rows.seen
    assert [block[:3] for block in found if is_unseen(block.attribute)] == rows.unseen
    for block in found:
        if "&" not in (written := html[block.start : block.end]):
            assert written.split() == block.text.split()


PARTS = """< > </ /> <!-- --> " ' = <p> </p> <p|id=a1|class=b> <div> </div> <li> <ul> </ul> <table> <tr> <td> </td>
</table> <script> </script> <title> </title> <svg> </svg> <![CDATA[ ]]> x a|b &amp; &# &#99999999999; é <a|href="x">
<a|href=x/> <img|src=x> <br/> <template> </template> <noscript> <? <!x <select><option> <body> <html> <head> <textarea>
</textarea> <plaintext> <h1> </h2> <button> 12 { " <meta|name=a|content=b> <b|data-x='""".split()
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
    found = list(tokens(html, lines=lines))
    assert "".join([html[token.start : token.end] for token in found]) == html
    for index, token in enumerate(found):
        assert token.start < token.end
        assert -1 <= token.parent < index
        assert (token.parent < 0) == (token.depth == 0)
        if token.parent >= 0:
            parent = found[token.parent]
            assert parent.kind is OPEN
            assert token.depth == parent.depth + 1
            assert token.path.startswith(f"{parent.path}/{parent.name}".lstrip("/"))
        assert (token.text == "") or token.kind is TEXT
        assert (token.name == "") == (token.kind in {TEXT, COMMENT, RAW})


@given(pages)
def test_blocks_stand_where_they_are_said_to(html: str) -> None:
    found = list(blocks_with_offsets(html))
    assert [block.text for block in found if not block.attribute] == [
        token.text for token in tokens(html) if token.text
    ]
    assert all(0 <= block.start < block.end <= len(html) for block in found)
    assert list(blocks_with_offsets(html)) == found  # once more, with all that was remembered
    rows_of(parse(html))


@given(pages)
def test_lines_add_cuts_only(html: str) -> None:
    def others(found: list[Token]) -> list[tuple[TokenKind, int]]:
        return [(token.kind, token.start) for token in found if token.kind is not TEXT]

    whole, cut = list(tokens(html)), list(tokens(html, lines=True))
    assert {token.end for token in whole} <= {token.end for token in cut}
    assert others(whole) == others(cut)


HOSTILE: dict[str, Callable[[int], str]] = {
    "deep": lambda n: "<div>" * n,
    "deep and closed": lambda n: "<div><b>" * n + "</b></div>" * n,
    "unmatched": lambda n: "<div>" * 300 + "</x>" * n,
    "unmatched, deep": lambda n: "<div>" * n + "".join([f"</x{i}>" for i in range(n)]),
    "barred": lambda n: "<b><div>" + "<i>" * n + "</b>" * n,
    "over the limit and back": lambda n: "<div>" * 255 + "<b><i></i></b>" * n,
    "names": lambda n: "".join([f"<x{i}>" for i in range(n)]),
    "names side by side": lambda n: "".join([f"<x{i}>a</x{i}>" for i in range(n)]),
    "attributes": lambda n: "<p " + "a=1 " * n + ">",
    "unclosed quotes": lambda n: '<a b="' * n,
    "unclosed quotes and ends": lambda n: "<a b='x>" * n,
    "both quotes": lambda n: "<a b=\"x>y<c d='z>" * n,
    "quoted ends": lambda n: '<a b=">">t</a>' * n,
    "comments without end": lambda n: "<!--" * n,
    "comments half closed": lambda n: "<!-- x --" * n,
    "less than": lambda n: "<" * n,
    "less than in text": lambda n: "a < b " * n,
    "items": lambda n: "<li>" * n,
    "tables": lambda n: "<table><tr><td>" * n,
    "scripts without end": lambda n: "<script>" * n,
    "scripts": lambda n: "<script><!--</script>" * n,
    "templates": lambda n: "<template></b>" * n,
    "NUL": lambda n: "\0<p\0>" * n,
    "blanks": lambda n: "<a" + " " * n + "b" + "/" * n + "\n" * n + "=" + " " * n,
    "references": lambda n: "&#" * n + "<p>" * n,
}


def read(page: str) -> list[Block]:
    return list(blocks_with_offsets(page))


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_page_and_no_faster(name: str) -> None:
    counts = []
    for size in (150, 450):
        page = HOSTILE[name](size)
        counts.append((work_of(partial(read, page), "scrapy_dedup"), len(page)))
    (few, short), (many, long) = counts
    assert many - few <= 3 * few * (long - short) / long * 1.1 + 1000


@pytest.mark.parametrize(
    "name", ["attributes", "unclosed quotes", "both quotes", "comments half closed", "less than", "blanks"]
)
def test_patterns_look_at_each_character_a_few_times(name: str) -> None:
    """Of pages of a megabyte, for which one that goes back would take hours."""
    page = HOSTILE[name](1_000_000 // len(HOSTILE[name](1)))
    assert "".join([html for token in tokens(page) for html in [page[token.start : token.end]]]) == page
    rows_of(parse(page))


def test_paths_of_very_deep_pages_are_cut_but_depths_are_true() -> None:
    found = tokens("<b>" * 3000 + "text" + "</b>" * 700 + "<i>more" + "</i>" + "</b>" * 2100 + "<i>x")
    assert [(token.text, token.depth, len(token.path.split("/"))) for token in found if token.text] == [
        ("text", 3000, 1997),
        ("more", 2301, 1997),
        ("x", 201, 203),
    ]
