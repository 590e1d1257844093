"""What identifies a body: the text of a page, the canonical form of JSON, the digest of anything else."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup.content.fingerprints import ContentKind, Fingerprints, canonical_json, fingerprint_body, kind_of


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
        # JSON is its canonical form.
        (b'{"a": 1, "b": [1, 2]}', b'{"b":[1,2],\n"a":1}', b'{"b":[2,1],"a":1}', "application/json; x=y", None),
    ],
)
def test_a_body_is_what_it_says(one: bytes, two: bytes, other: bytes, name: str, words: int | None) -> None:
    first, same, apart = (fingerprint_body(body, name) for body in (one, two, other))
    assert (first.text, first.bag, first.words) == (same.text, same.bag, words)
    assert first.digest != same.digest
    assert first.text != apart.text
    assert (first.sketch is None) is (words is None)


def test_neither_the_encoding_matters_nor_a_tree_that_is_there() -> None:
    page = "<meta charset='{}'><p>Café crème</p>"
    known = fingerprint_body(page.encode("latin-1"), "text/html", encoding="latin-1")
    declared = fingerprint_body(page.format("latin-1").encode("latin-1"), "text/html")
    header = fingerprint_body(page.encode(), "text/html; charset=utf-8")
    tree = fingerprint_body(b"<p>not read", "text/html", root=Selector(text=page).root)
    assert known.text == declared.text == header.text == tree.text


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
    [(b"1", b"1.0"), (b"1.5", b'"1.5"'), (b"1e400", b"1e401"), (b"null", b"NaN"), (b"1", b'"1"'), (b"[]", b"{}")],
)
def test_json_values_that_differ(one: bytes, two: bytes) -> None:
    assert canonical_json(one) != canonical_json(two)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(json_values)
def test_canonical_json_does_not_depend_on_form(value: object) -> None:
    forms = {canonical_json(json.dumps(value, indent=indent).encode()) for indent in (None, 3)}
    forms.add(canonical_json(json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")))
    assert len(forms - {None}) <= 1


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
    assert prints(b"<p>end").text == prints(b"<p>end", root=Selector(text="<p>the whole").root).text == one.text
    assert one.sketch is not None
    assert one.sketch.partial == len(start) + 6


@settings(deadline=None)
@given(st.binary(), st.sampled_from(["text/html", "application/json", "", "text/html; charset=utf-16", "x/y"]))
def test_never_raises(body: bytes, content_type: str) -> None:
    prints = fingerprint_body(body, content_type, max_body=50)
    assert len(prints.text) == len(prints.bag) == len(prints.digest) == 32
