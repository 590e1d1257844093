"""Texts that a site may write to keep a crawl busy: the work that they make grows with their length, and no faster.

Each text is made of one piece many times, in each place where it may stand. Eight times the text is not to take more than
22 times the time of the processor; what takes the square of its length takes 64 times.
"""

from functools import partial

import pytest

from scrapy_dedup import Mask, RuleBook
from scrapy_dedup.masks.model import Place
from scrapy_dedup.rules import (
    AnyOrder,
    Ignore,
    IgnoreValue,
    Lower,
    Nested,
    Operation,
    Replace,
    Rule,
    SetOfValues,
    Status,
)

from .growth import worse_than_linear

#: Characters of the short texts; of the long ones there are eight times as many.
SIZE = 1_000

PIECES = [
    *"/&;=%+@#.-:\\[1aé\x00\ud800",
    *(
        "a/",
        "%2F",
        "http://a.test/",
        "?u=http://a.test/",
        "a=1;",
        "a=&",
        "a=1&",
        "x=%2Fa&",
        "%25",
        "%%36%31",
        "../",
        ";v=1/",
        "a.b",
    ),
    *("a1", "12ab34cd", "a[0]=1&", "%5B%5D=&", "%3Ba%3D"),
]
URLS = {
    "query": "http://a.test/?{}",
    "name": "http://a.test/?{}=x",
    "value": "http://a.test/?u={}",
    "value of another": "http://a.test/?u=http://a.test/?{}",
    "beside a path in the query": "http://a.test/?%2Fa&{}=",
    "path": "http://a.test/{}",
    "matrix parameters": "http://a.test/x;{}",
    "fragment": "http://a.test/?sid=1#{}",
    "host": "http://{}.a.test/",
    "user": "http://{}@a.test/",
    "port": "http://a.test:{}/",
    "all": "{}",
}
RULES: dict[str, dict[str, Operation]] = {
    "ignore": {"q.sid": Ignore(), "path.0": Ignore(), "ext": Ignore(), "s.sid": Ignore(), "m.sid": Ignore()},
    "whole": {
        "q.*": Lower(),
        "q./1": IgnoreValue(),
        "q.a": SetOfValues(),
        "q.x": SetOfValues(","),
        "q.b": Replace(("path.0",)),
        "path": AnyOrder(),
        "matrix": AnyOrder(),
        "query": AnyOrder(),
        "host.*": Ignore(),
    },
    "nested": {"q.u": Nested()},
}


def repeated(before: str, piece: str, after: str, size: int) -> str:
    """*piece* as often as it goes into *size* characters, and what stands around it."""
    return before + piece * (size // len(piece)) + after


@pytest.mark.parametrize("place", URLS)
def test_urls(place: str) -> None:
    before, after = URLS[place].split("{}")
    inputs = {repr(piece): partial(repeated, before, piece, after) for piece in PIECES}
    for ops in RULES.values():
        book = RuleBook([Rule("a.test", {}, ops, Status.MANUAL)])
        assert worse_than_linear(book.canonical, inputs, SIZE) == {}


def test_hosts_of_many_letters() -> None:
    """Punycode takes the square of the length of a label, and more of letters that are all different."""

    def ideographs(size: int) -> str:
        return f"http://{''.join(map(chr, range(0x4E00, 0x4E00 + size)))}.test/"

    book = RuleBook([Rule("a.test", {}, {"q.sid": Ignore()}, Status.MANUAL)])
    assert worse_than_linear(book.canonical, {"ideographs": ideographs}, SIZE) == {}
    assert book.canonical("http://bücher.example/").site == "xn--bcher-kva.example"


HTML = {
    "tag": "<p>a {} b</p>",
    "attribute": '<p title="{}" class="{}" id="{}" data-s=\'{}\'>t</p>',
    "address": '<a href="?{}">t</a><img srcset="{}" src="/a.png?{}">',
    "attributes": "<p {}>t",
    "script": "<script>s = {}</script>t",
    "JSON": '<script type="application/json">{{"a": "{}"}}</script>t',
    "style": "<style>{}</style>t",
    "comment": "<!-- about {} -->t",
    "open": "<p>a<{}",
}
MARKUP = [
    *"<>&\"'`\\-!/=0a ,\n\x00\u2028",
    *(
        "<p>",
        "<div>",
        "</p>",
        "</x>",
        "<a href=x>",
        "<b><i>",
        "<table><tr><td>",
        "<li>",
        "<svg>",
        "<math><mi>",
        "<select>",
    ),
    *(
        "<!--",
        "-->",
        "<!",
        "</",
        "<?",
        "<![CDATA[",
        "<script>",
        "<script><!--",
        "</script",
        "<style>",
        "<title>",
        "<textarea>",
    ),
    *(
        "<template>",
        "<plaintext>",
        "<noscript>",
        "<html>",
        "<body>",
        "<head>",
        "<link rel=",
        "<meta name=",
        "&#",
        "&#1",
        "&amp;",
    ),
    *(
        "&quot;",
        '\\"',
        "\\u0041",
        '{"a":',
        "[",
        '"a":1,',
        "1,",
        "/*",
        "//",
        "${",
        "?a=1&",
        "a.png 1x, ",
        "12:",
        "deadbeef ",
        "=",
    ),
    *(" a=b", ' a="', " id=m1", "⟦", "⟦a⟧", '<i id="m1">'),
]
PLACES = [
    Place("html/body/p", state="strip"),
    Place("html/body/p", attribute="title", slot=("a", ""), state="strip"),
    Place("html/body/p", attribute="data-s", state="strip"),
    Place("html/body/script", attribute="#script[s]", state="strip"),
    Place("html/body/script", attribute="#script[a]", state="strip"),
    Place("html/body", attribute="#comment[about]", state="strip"),
]


@pytest.mark.parametrize("place", HTML)
def test_pages(place: str) -> None:
    """What a mask takes out of a page."""
    stripped = partial(Mask("a.test", tuple(PLACES)).strip, url="http://a.test/")
    assert stripped("<html><body><p title='a b'>c</p><!-- about d -->") == "<html><body><p title='a '></p><!--  -->"

    def filled(piece: str, size: int) -> str:
        return f"<html><body>{HTML[place]}".format(*[piece * (size // len(piece))] * 4)

    assert worse_than_linear(stripped, {repr(piece): partial(filled, piece) for piece in MARKUP}, 4 * SIZE) == {}
