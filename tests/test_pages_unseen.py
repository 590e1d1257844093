"""Rows of a response that nobody sees: what is found, under which names, and what of it tells pages apart; and JSON answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.pages.blocks import json_rows, rows_of
from scrapy_dedup.pages.response import parse
from scrapy_dedup.pages.tokens import blocks_with_offsets
from scrapy_dedup.pages.unseen import MOST, is_unseen, marked, tells, values_of, values_of_script

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
ROWS = [
    ("html", "lang", "en", False),
    ("meta", "charset", "utf-8", False),
    ("meta", "content[name=csrf-token]", "4f2a", True),
    ("meta", "content[property=og:title]", "A chair", True),
    ("link", "href[rel=icon]", "/i.png", False),
    ("link", "href[rel=icon][?v]", "3", False),
    ("link", "href[rel=canonical]", "/p/1", False),
    ("script", "nonce", "q1", False),
    ("script", "src[]", "/a.js", False),
    ("script", "src[?]", "1699", False),
    ("script", "#script[page]", "news", True),
    ("script", "#script[request]", "r7", True),
    ("script", "#script[at]", "1700", True),
    ("script", "#script[n]", "1", True),
    ("script", "#script[n]", "2", True),
    ("script", "#script[load]", "/p", True),
    ("script", "#script[load?a]", "1", False),
    ("script", "#script[load?b]", "2", False),
    ("script", "type", "application/ld+json", False),
    ("script", "#script[@type]", "Product", True),
    ("script", "#script[price]", "12.99", True),
    ("body", "data-request", "d9", True),
    ("body", "data-state[token]", "t5", True),
    ("body", "data-state[n]", "4", True),
    ("body", "data-more[sid]", "s6", True),
    ("body", "#comment[cache]", "cache: 2026-11-24 09:12", False),
    ("img", "src[?v]", "1", False),
    ("img", "alt", "A chair & a table", False),
    ("img", "data-sku", "S1", True),
    ("a", "onclick[go]", "t1", False),
    ("img", "src[?r]", "123", False),
    ("img", "src[?u]", "4", False),
    ("option", "value[]", "o p", True),
    ("input", "name", "f", False),
]


def test_what_nobody_sees_and_what_of_it_tells_pages_apart() -> None:
    found = [
        (selector, attribute, text)
        for selector, attribute, text, *_ in blocks_with_offsets(PAGE)
        if is_unseen(attribute)
    ]
    assert [(row[0].rpartition("/")[2], *row[1:], tells(*row)) for row in found] == ROWS
    walked = rows_of(parse(PAGE)).unseen
    assert [row for row in walked if "bogus" not in row[2]] == found


@pytest.mark.parametrize(
    ("element", "attribute", "text", "told"),
    [
        ("img", "src", "/a.jpg", True),
        ("noscript", "#script[a]", "b", False),
        ("meta", "content[property=og:image]", "/a.jpg", True),
        ("link", "href[rel=icon]", "/a.png", False),
        ("frame", "src[]", "/a", True),
        ("script", "src[]", "/a.js", False),
        ("video", "poster", "/a.jpg", True),
        ("a", "download", "a.zip", True),
        ("a", "href", "/a/manual.PDF?v=1", True),
        ("a", "href", "https://a.test/b/c.tar.gz#d", True),
        ("a", "href", "/a/page.html", False),
        ("a", "href", "https://a.test", False),
        ("a", "href", "/a/b.c/d", False),
        ("input", "value", "v", True),
        ("p", "", "seen", False),
        ("p", "title", "t", False),
        ("meta", "content[property=og:image][?w]", "5", False),
    ],
)
def test_what_tells_pages_apart(element: str, attribute: str, text: str, told: bool) -> None:
    assert tells(f"html/body/{element}.c", attribute, text) is told


@pytest.mark.parametrize(
    ("value", "is_echo"),
    [
        *(
            (value, True)
            for value in ("http://a.test/p/7f%20g?sid=4f2a&q=a+b", "http://a.test/p/7f%20g", "/p/7f%20g", "7f g")
        ),
        *((value, True) for value in ("4f2a", "a b", "a+b", "//a.test/p/7f%20g", "http:\\/\\/a.test\\/p\\/7f%20g")),
        *((value, False) for value in ("", "sid", "http://a.test/p/8", "4f2", "a.test")),
    ],
)
def test_values_that_repeat_the_address_of_their_page(value: str, is_echo: bool) -> None:
    assert (marked(value, "http://a.test/p/7f%20g?sid=4f2a&q=a+b#top") != value) is is_echo
    assert marked("x", "http://[") == "x"


def named(source: str) -> list[tuple[str, str]]:
    return [(name, source[start:end]) for name, start, end in values_of_script(source)]


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
        ('u = "http:\\/\\/a\\/b?x=1\\u0026y=2"', [("u", "http:\\/\\/a\\/b"), ("u?x", "1"), ("u?y", "2")]),
        ('u = "/a/b", q = "is it? a=b"', [("u", "/a/b"), ("q", "is it? a=b")]),
        ("x2 = y5 + .5", []),
        ("", []),
    ],
)
def test_literals_of_a_script(source: str, found: list[tuple[str, str]]) -> None:
    assert named(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            "/a.jpg?v=1 1x, /b.jpg?v=2&w=3#d 2x",
            [("srcset", "/a.jpg"), ("srcset[?v]", "1"), ("srcset[?v]", "2"), ("srcset[?w]", "3")],
        ),
        ("/a.jpg?17 2x", [("srcset", "/a.jpg"), ("srcset[?]", "17")]),
        ("a=b&c=d", [("srcset", "a=b&c=d")]),
        # What has lost its values is an address still.
        ("/a.jpg?v= 1x, /b?", [("srcset", "/a.jpg")]),
    ],
)
def test_parameters_of_addresses(source: str, found: list[tuple[str, str]]) -> None:
    assert [(name, source[first:last]) for _, name, first, last in values_of("img", {"srcset": source})] == found


def texts(page: str) -> list[str]:
    rows = rows_of(parse(page)).unseen
    assert rows == [block[:3] for block in blocks_with_offsets(page) if is_unseen(block.attribute)]
    return [text for _, _, text in rows]


def test_long_values() -> None:
    """A token is kept by its head and a hash; a text to be read is no token, and not kept; of a script the beginning is."""
    token, text = "a1" * 500, "word " * 500
    (kept,) = texts(f'<script>s = "{token}"</script>')
    assert len(kept) == 81
    assert [kept] == texts(f'<script>s = "{token}"</script>') != texts(f'<script>s = "{token[:-1]}b"</script>')
    assert texts(f'<script>s = "{text}"</script>') == texts(f'<p title="{text}">') == []
    assert texts(f"<p title='{'word ' * 50}'>") == [("word " * 50).strip()]
    assert len(texts(f"<script>{' ' * 19_000}{''.join(f'a{n:04} = 5;' for n in range(1_000))}</script>")) == 100


values = st.lists(
    st.tuples(st.sampled_from(["id", "class", "data-a", "name", "content", "b"]), st.text("ab1 &;?=/{:", max_size=12))
)


@given(values, st.sampled_from(["p", "meta", "link", "input"]))
def test_quotes_make_no_difference(attributes: list[tuple[str, str]], name: str) -> None:
    double, single = (
        f"<{name}" + "".join(f" {key}={quote}{value}{quote}" for key, value in attributes) + ">" for quote in "\"'"
    )
    assert list(blocks_with_offsets(double)) == list(blocks_with_offsets(single))


@given(st.text("ab'\"\\`:{}[]&;quot12?= \n/*"))
def test_literals_are_in_order_and_disjoint(source: str) -> None:
    at = 0
    for _, start, end in values_of_script(source):
        assert at <= start < end <= len(source)
        at = end


PIECES = [
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
    "<!--",
]


@pytest.mark.parametrize("piece", PIECES)
def test_hostile_pages_cost_one_pass(piece: str) -> None:
    for before, after in (("<script>", "</script>"), ("<p data-x='{&quot;", "'>"), ('<p onclick="', '">'), ("", "")):
        page = before + piece * 100_000 + after
        assert sum(is_unseen(block.attribute) for block in blocks_with_offsets(page)) <= MOST
        assert len(rows_of(parse(page)).unseen) <= MOST


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ('{"b": [1, 2.50, 1e999], "a": {"c.d[0]": "x y", "e": true}}', ["$.a.c%2Ed%5B0%5D x y", "$.a.e true", "$.b[] 1", "$.b[] 2.50", "$.b[] 1e999"]),
        ("[]", ["$ []"]),
        ('{"a": {}, "b": [[null]], "c": ""}', ["$.a {}", "$.b[][] null", "$.c "]),
        ('"a\\u0000b"', ["$ a\ufffdb"]),
        ("9" * 5_000, ["$ " + "9" * 5_000]),
        (b"\xef\xbb\xbf{", None),
        ("{'a': 1}", None),
        ("", None),
    ],
)  # fmt: skip
def test_json(body: str | bytes, rows: list[str] | None) -> None:
    found = json_rows(body)
    assert (None if found is None else [f"{selector} {text}" for selector, _, text in found.seen]) == rows


def test_hostile_json() -> None:
    assert json_rows("[" * 200_000 + "]" * 200_000) is None
    assert json_rows("[" * 200_000) is None
    deep = json_rows(f'{{"{"k" * 100}": [' * 200 + '"x"' + "]}" * 200)
    assert deep is not None
    ((selector, _, text),) = deep.seen
    assert (len(selector) < 5_000, text) == (True, "x")
    wide = json_rows(json.dumps({f"{'k' * 4_000}": list(range(50_000))}))
    assert wide is not None
    assert len({id(selector) for selector, _, _ in wide.seen}) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_any_json(value: Any) -> None:
    found = json_rows(json.dumps(value))
    assert found is not None
    assert (found.seen != [], found.unseen) == (True, [])
    if isinstance(value, dict):
        assert found == json_rows(json.dumps(dict(reversed(value.items())), indent=1))
