"""What identifies a body: the text of a page, the leaves of a JSON answer, the digest of anything else."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup.pages.response import ContentKind, Fingerprints, decode, fingerprint_body, kind_of, page_content
from scrapy_dedup.pages.sketch import Sketch


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", b"", ContentKind.HTML),
        ("Text/HTML; charset=utf-8", b"", ContentKind.HTML),
        ("application/xhtml+xml", b"", ContentKind.HTML),
        ("application/json", b"", ContentKind.JSON),
        ("application/ld+json;profile=x", b"", ContentKind.JSON),
        ("text/plain", b"<html>", ContentKind.OTHER),
        ("application/xml", b"<html>", ContentKind.OTHER),
        ("image/png", b"", ContentKind.OTHER),
        ("", b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>", ContentKind.HTML),
        ("", b"<html>", ContentKind.HTML),
        ("", b"\x89PNG", ContentKind.OTHER),
        ("", b"", ContentKind.OTHER),
    ],
)
def test_kind(content_type: str, body: bytes, kind: ContentKind) -> None:
    assert kind_of(content_type, body) is kind


@pytest.mark.parametrize(
    ("one", "two", "other", "name", "words"),
    [
        (b"<p class=a>Text of it</p>", b"<div>Text <b>of it</b></div>", b"<p>Text of", "text/html", 3),
        # JSON is its leaves, whatever their order is and how it is written.
        (b'{"a": 1, "b": [1, 2]}', b'{"b":[1,2],\n"a":1}', b'{"b":[2,1],"a":1}', "application/json; x=y", None),
    ],
)
def test_a_body_is_what_it_says(one: bytes, two: bytes, other: bytes, name: str, words: int | None) -> None:
    first, same, apart = (fingerprint_body(body, name) for body in (one, two, other))
    assert (first.text, first.bag, first.words) == (same.text, same.bag, words)
    assert first.digest != same.digest
    assert first.text != apart.text
    assert first.sketch is not None
    assert (first.sketch.text, first.sketch.bag, first.sketch.words) == (first.text, first.bag, words)
    assert Sketch.from_bytes(first.sketch.to_bytes()) == first.sketch


def test_neither_the_encoding_matters_nor_a_tree_that_is_there() -> None:
    page = "<meta charset='{}'><p>Café crème</p>"
    known = fingerprint_body(page.encode("latin-1"), "text/html", encoding="latin-1")
    declared = fingerprint_body(page.format("latin-1").encode("latin-1"), "text/html")
    header = fingerprint_body(page.encode(), "text/html; charset=utf-8")
    tree = Selector(text=page).root
    content = page_content(b"<p>not read", "text/html", "http://a.test/", kind=ContentKind.HTML, root=tree)
    assert known.text == declared.text == header.text == content.fingerprints.text


def test_a_kind_that_is_known_is_not_guessed_and_kinds_never_share_a_fingerprint() -> None:
    assert fingerprint_body(b"<p>a b", "text/plain", kind=ContentKind.HTML).words == 2
    assert fingerprint_body(b"<html>", "text/html", kind=ContentKind.OTHER).sketch is None
    for body in (b"12", b"a", b""):
        html, plain = (fingerprint_body(body, name) for name in ("text/html", "text/plain"))
        assert len({html.text, html.bag, plain.text}) == 3
    assert fingerprint_body(b"12", "text/plain").text != fingerprint_body(b"12", "application/json").text


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe\xff", b"[" * 100_000, b"1" * 10_000, b'"\\ud800"'])
def test_what_is_no_json_is_its_digest(body: bytes) -> None:
    prints = fingerprint_body(body, "application/json")
    assert prints.text in {prints.digest, fingerprint_body(body, "application/json").text}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        *((b"1", b"1.0"), (b"1e400", b"1e401"), (b"null", b"NaN"), (b"[]", b"{}"), (b'{"a": 1}', b'{"b": 1}')),
        *((b'{"a": {"b": 1}}', b'{"a.b": 1}'), (b"[1, 1]", b"[1]"), (b'{"a": ["b"]}', b'{"a": "b"}')),
    ],
)
def test_json_values_that_differ(one: bytes, two: bytes) -> None:
    first, second = (fingerprint_body(body, "application/json") for body in (one, two))
    assert (first.text == second.text, first.bag == second.bag) == (False, False)


def test_what_json_says_of_its_own_address_makes_no_other_page() -> None:
    """As JSON:API and HAL have it: each answer names the URL that it was asked for."""
    urls = [f"http://a.test/item?id=7&sid={sid}" for sid in ("4f2a", "9c1b")]
    answers = [f'{{"id": 7, "name": "Red shoes", "links": {{"self": "{url}"}}}}'.encode() for url in urls]
    found = [
        fingerprint_body(*each, kind=ContentKind.JSON)
        for each in zip(answers, ["application/json"] * 2, urls, strict=True)
    ]
    assert found[0].text == found[1].text
    other = fingerprint_body(answers[0].replace(b"Red", b"Blue"), "application/json", urls[0])
    assert found[0].bag == found[1].bag != other.bag


def test_the_order_of_a_json_list_matters_to_its_text_alone() -> None:
    first, second = (fingerprint_body(body, "application/json") for body in (b"[1, 2]", b"[2, 1]"))
    assert (first.text == second.text, first.bag == second.bag) == (False, True)


def test_what_is_not_seen_has_a_fingerprint_of_its_own() -> None:
    """That of an application which shows nothing but its frame; values that repeat the page's own address do not count."""
    frame = "<body>Loading<script>state = {{'id': '{}', 'price': {}}}</script><img src='/i/{}.png?v={}'>"
    shown = [
        fingerprint_body(frame.format(*values).encode(), "text/html", f"http://a.test/item?sid={values[0]}")
        for values in (("7f", 5, "a", 1), ("8e", 5, "a", 2), ("7f", 6, "a", 1), ("7f", 5, "b", 1))
    ]
    assert len({each.text for each in shown}) == 1
    assert shown[0].unseen == shown[1].unseen
    assert len({each.unseen for each in shown}) == 3
    assert fingerprint_body(b"<p title=t class=c>text</p>", "text/html").unseen == ""
    assert fingerprint_body(b"text", "text/plain").unseen == ""
    assert shown[0].sketch is not None
    assert shown[0].sketch.unseen == shown[0].unseen


@pytest.mark.parametrize(
    ("body", "name", "most"),
    [(b"\x89PNG...", "image/png", 99), (b"<html>", "text/plain", 99), (b'{"b": 1, "a": 2}', "application/json", 5)],
)
def test_other_content_and_big_json_is_its_digest(body: bytes, name: str, most: int) -> None:
    prints = fingerprint_body(body, name, max_body=most)
    assert prints.text == prints.bag == prints.digest
    assert (prints.words, prints.sketch) == (None, None)


def test_big_bodies_are_sketched_in_part() -> None:
    start = b"<p>" + b"word " * 300

    def prints(end: bytes, **more: Any) -> Fingerprints:
        return fingerprint_body(start + end, "text/html", max_body=1000, **more)

    one, longer, other = prints(b"<p>end"), prints(b"<p>other end"), prints(b"<p>dne")
    assert one.words == longer.words == 200
    # Their lengths differ, and no end of a page is taken for another one.
    assert len({each.text for each in (one, longer, other)}) == len({each.bag for each in (one, longer, other)}) == 3
    whole = Selector(text="<p>the whole").root
    content = page_content(start + b"<p>end", "text/html", "", kind=ContentKind.HTML, root=whole, max_body=1000)
    assert content.fingerprints.text == one.text
    assert (content.rows, content.password) == (None, None)
    assert one.sketch is not None
    assert one.sketch.partial == len(start) + 6


@settings(deadline=None)
@given(st.binary(), st.sampled_from(["text/html", "application/json", "", "text/html; charset=utf-16", "x/y"]))
def test_never_raises(body: bytes, content_type: str) -> None:
    prints = fingerprint_body(body, content_type, max_body=50)
    assert len(prints.text) == len(prints.bag) == len(prints.digest) == 32


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "no-such-encoding", None])
def test_decode(encoding: str | None) -> None:
    body = "<p>é".encode(encoding if encoding in ("latin-1", "utf-16") else "utf-8")
    assert decode(body, "text/html; charset=utf-8", encoding) == "<p>é"
