"""Fingerprints of plain URLs are those that Scrapy makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_dedup.crawl.identity.request_fingerprints import plain_fingerprint, plain_fingerprints

PIECES = st.lists(
    st.sampled_from([
        *"abzAZ019-_.~/?&=;:%#@+ ",
        *("http://", "https://", "a.example", "127.0.0.1", ":8000", ":80", "[::1]", "www.", "xn--a", "a" * 64),
        *("a=1", "b=", "a-b=2", "a=0", "=&", "//", "/./", "/../", "..", "/.a", "%2F", "\u00e9"),
    ]),
    max_size=12,
).map("".join)  # fmt: skip


@given(PIECES, PIECES)
def test_as_scrapy_makes_them(one: str, other: str) -> None:
    for url in (f"http://a.example/{one}?{other}", f"http://{one}/{other}"):
        try:
            request = Request(url)
        except ValueError:
            continue
        found = plain_fingerprint(request.url)
        assert found is None or found == fingerprint(request), request.url


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "https://shop.a.example:8443/b/c-d_e.html",
        "http://127.0.0.1:8000/shop/item-1.html?color=1&sid=x1&view=full",
        "http://localhost/?b=2&a=&a=1&a-b=3&B=1",
    ],
)
def test_most_urls_are_plain(url: str) -> None:
    assert plain_fingerprint(url) == fingerprint(Request(url))


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example",
        "http://A.example/",
        "http://user@a.example/",
        "http://a.example//",
        "http://a.example/../b",
        "http://a.example/a;b=1",
        "http://a.example/?",
        "http://a.example/?a",
        "http://a.example/?a=1&",
        "http://a.example/?a=%31",
        "http://a.example/?a=1#b",
        "http://" + "a" * 64 + ".example/",
        "ftp://a.example/",
    ],
)
def test_others_are_left_to_scrapy(url: str) -> None:
    assert plain_fingerprint(url) is None


def test_a_scrapy_that_makes_others_is_asked_for_all() -> None:
    assert plain_fingerprints(fingerprint)("http://a.example/") == fingerprint(Request("http://a.example/"))
    assert plain_fingerprints(lambda request: fingerprint(request)[::-1])("http://a.example/") is None


def test_a_long_url_that_is_not_plain_takes_one_pass() -> None:
    assert plain_fingerprint("http://a.example/" + "a" * 100_000 + "%") is None
    assert plain_fingerprint("http://a.example/?" + "a=1&" * 50_000) is None
