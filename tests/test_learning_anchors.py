"""What a URL can name on a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.learning.aliases.anchors import LONGEST_NAME, anchors_of
from scrapy_dedup.urls import values_of
from scrapy_dedup.urls.namings import Naming, namings, token_of, tokens_in


def test_names_on_a_page() -> None:
    body = (
        b"""<div id="msg178"><a name='p9'></a><i id=c-5f3ea2b9c1></i><b id="top"></b><u data-id="7" href="?id=8"></u>"""
    )
    assert anchors_of(body) == {"178": ("msg",), "9": ("p",), "5f3ea2b9c1": ("c-",)}
    several = b"".join(b'<p id="%s178"></p>' % (b"x" * n) for n in range(9))
    assert anchors_of(several) == {"178": ("", "x", "xx", "xxx")}, "the shortest beginnings are kept"


@pytest.mark.parametrize(
    ("value", "token"), [("41.msg178", "178"), ("178", "178"), ("d41d8cd98f", "d41d8cd98f"), ("footer", ""), ("", "")]
)
def test_tokens(value: str, token: str) -> None:
    assert token_of(value) == token


def test_namings_of_a_url() -> None:
    url = "http://h.test/forum/index.php?topic=41.msg178"
    assert list(namings(values_of(url), "msg178")) == [
        Naming("fragment", "msg", "178"),
        Naming("q.topic", "msg", "178"),
    ]
    assert "178" in tokens_in(url)
    assert "17" not in tokens_in(url)


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes) -> None:
    for prefixes in anchors_of(b' id="' + body + b'" name=' + body).values():
        assert all(len(prefix) < LONGEST_NAME for prefix in prefixes)


def test_long_and_hostile_bodies_take_linear_time() -> None:
    assert not anchors_of(b' id="' + b"a" * 1_000_000)
    assert not anchors_of(b' id="a' * 100_000)
