"""Laws of the normal form, by hypothesis, and its cases."""

import random

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from scrapy_dedup.urls import normal_form as nf
from scrapy_dedup.urls.normal_form import _parts_by_w3lib, normal_parts
from scrapy_dedup.urls.percent import normal_path, path_value, query_value, remove_dot_segments

from .urls import any_text, hosts, paths, plain_urls, queries, urls


def canonical(url: str) -> str | None:
    try:
        return canonicalize_url(url)
    except ValueError:
        return None


def joined(origin: str, path: str, query: str) -> str:
    return f"{origin}{path}?{query}" if query else origin + path


@given(any_text)
@example("/%%36%31")
@example("http://h/%%%33%33%%33%36")
@example("http://h/?a=1;2&%3B=&b=x%3By%3D1")
def test_total_and_idempotent(url: str) -> None:
    normal = nf(url)
    assert nf(normal) == normal
    assert joined(*normal_parts(url)) == normal
    assert normal_parts(normal) == normal_parts(url)


@given(any_text)
def test_the_short_way_is_the_way_of_w3lib(url: str) -> None:
    assume(canonical(url) is not None)
    assert nf(url) == joined(*_parts_by_w3lib(url))


@given(any_text)
def test_equates_a_url_and_its_canonical_url(url: str) -> None:
    known = canonical(url)
    assume(known is not None)
    assert known is not None
    assert nf(known) == nf(url)


@given(plain_urls(), st.randoms())
def test_equates_permuted_parameters(url: str, random: random.Random) -> None:
    base, _, query = url.rstrip("".join(map(chr, range(33)))).partition("?")
    pieces = query.partition("#")[0].split("&")
    random.shuffle(pieces)
    other = f"{base}?{'&'.join(pieces)}#x"
    assert canonical(f"{base}?{query}") == canonical(other)
    assert nf(url) == nf(other)


@given(st.lists(any_text, min_size=2, max_size=6), hosts, paths(), queries(), queries())
def test_equates_all_that_canonicalize_url_equates(texts: list[str], host: str, path: str, one: str, two: str) -> None:
    texts += [f"http://{host}{path}?{one}", f"http://{host}{path}?{two}", f"http://{host}{path}"]
    forms: dict[str, str] = {}
    for url in texts:
        known = canonical(url)
        if known is not None:
            assert forms.setdefault(known, nf(url)) == nf(url)


def mended(url: str) -> str | None:
    """An independent account of the normal form: w3lib to its fixed point, then RFC 3986.

    For URLs without matrix parameters and escapes in the host.
    """
    known = canonical(url)
    while known is not None and known != url:
        url, known = known, canonical(known)
    if known is None:
        return None
    for scheme, port in (("http", "80"), ("https", "443")):
        start, slash, rest = known.removeprefix(f"{scheme}://").partition("/")
        if known.startswith(f"{scheme}://") and start.endswith(f":{port}"):
            known = f"{scheme}://{start.removesuffix(f':{port}')}{slash}{rest}"
    return known


@given(st.lists(urls(), min_size=2, max_size=8))
def test_equates_no_more_than_that_and_rfc_3986(texts: list[str]) -> None:
    forms: dict[str, str] = {}
    for url in texts:
        known = mended(url)
        if known is not None and ";" not in known.partition("?")[0] and "%" not in known.split("/")[2:3]:
            other = forms.setdefault(nf(url), known)
            assert other == known or "ex%61mple" in url + other


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://EXAMPLE.com", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443", "https://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("http://example.com:/", "http://example.com/"),
        ("http://example.com:080/", "http://example.com/"),
        ("http://u:p@example.com:80/", "http://u:p@example.com/"),
        ("http://[::0:1]:80/", "http://[::1]/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://ex%61mple.com/", "http://example.com/"),
        ("http://h/a/../b/./c", "http://h/b/c"),
        ("http://h/%2e%2E/x", "http://h/x"),
        ("http://h//a//", "http://h//a//"),
        ("http://h/%7Ea%2fb%c3%a9", "http://h/~a%2Fb%C3%A9"),
        ("http://h/a;x=%2f%41/b;y=%2f%41", "http://h/a;x=%2FA/b;y=%2FA"),
        ("http://h/?", "http://h/"),
        ("http://h/?&&", "http://h/"),
        ("http://h?b&a", "http://h/?a=&b="),
        ("http://h/?a=b=c", "http://h/?a=b%3Dc"),
        ("http://h/?a=x y&b=x%20y&c=x+y&d=%2B", "http://h/?a=x+y&b=x+y&c=x+y&d=%2B"),
        ("http://h/?a=*&b=%2a", "http://h/?a=*&b=*"),
        ("http://h/?C=N;O=D", "http://h/?C=N;O=D"),
        ("http://h/?C=N%3BO%3DD", "http://h/?C=N;O=D"),
        ("http://h/?a=1;2", "http://h/?a=1%3B2"),
        ("http://h/?a=%", "http://h/?a=%25"),
        ("http://h/a b?c d", "http://h/a%20b?c+d="),
        ("  http://h/a\t\nb  ", "http://h/ab"),
        ("http://h\\a", "http://h/a"),
        ("http://h/é?é=é", "http://h/%C3%A9?%C3%A9=%C3%A9"),
        ("ftp://h:21/x", "ftp://h/x"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        ("http://h:99999/#x", "http://h:99999/#x"),
        ("http://[::1/", "http://[::1/"),
        ("http://h/\ud800", "http://h/\ud800"),
        ("", ""),
    ],
)
def test_cases(url: str, normal: str) -> None:
    assert nf(url) == (normal if url else nf("") or normal)


def test_long_and_wide() -> None:
    url = "http://h/?" + "&".join(f"p{n}=%{n % 256:02x}" for n in range(300, 0, -1)) + "&v=" + "%c3%a9" * 1400
    assert nf(url) == joined(*_parts_by_w3lib(url))
    assert len(nf(url)) > 8_000


@given(st.text())
def test_values_are_written_once(text: str) -> None:
    assert query_value(query_value(text)) == query_value(text)
    assert path_value(path_value(text)) == path_value(text)
    assert not set(query_value(text)) & set("&;=#?/%") - {"%"}
    assert not set(path_value(text)) & set("/;?#")


@given(st.lists(st.sampled_from(["", ".", "..", "a", "b", "..."])).map(lambda parts: "/" + "/".join(parts)))
def test_dot_segments(path: str) -> None:
    known = canonical("http://h" + path)
    assert known == "http://h" + remove_dot_segments(path) == "http://h" + normal_path(path)
