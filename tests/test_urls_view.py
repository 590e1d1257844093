"""The key-value view: lossless, and one for all spellings of a URL."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dedup.urls import (
    DeepSplit,
    SiteGroups,
    entries_of,
    learn_deep_splits,
    normal_form,
    normal_parts,
    site_of_url,
    values_of,
)
from scrapy_dedup.urls.origins import origin_of
from scrapy_dedup.urls.paths import path_values, segments_of

from .urls import any_text, plain_urls


@given(any_text)
@example("http://u:p@[::1]:80/a;b=1;c/d=2//e.html/?x=1;y=2&z&&=#f#g")
def test_lossless(url: str) -> None:
    assert "".join([entry.lead + entry.text for entry in entries_of(url)]) == url


@given(any_text)
def test_values_are_those_of_the_normal_form(url: str) -> None:
    assert values_of(url) == values_of(normal_form(url))


@given(plain_urls())
def test_entries_and_values_agree_on_normal_forms(url: str) -> None:
    url = normal_form(url)
    values = values_of(url)
    shown = dict.fromkeys(values, 0)
    for entry in entries_of(url):
        if entry.key.startswith(("q.", "s.", "path.", "ext", "m.")):
            key = entry.key.replace("[", "%5B")
            number = 0
            while shown.get(key):
                number += 1
                key = f"{entry.key.replace('[', '%5B')}[{number}]"
            assert values[key] == entry.value
            shown[key] = 1
    assert {key for key in values if not shown[key]} <= {"scheme", "path.len", "path.trail", "host.1", "host.2"}


@given(any_text)
def test_the_normal_form_is_the_sum_of_its_parts(url: str) -> None:
    origin, path, _ = normal_parts(url)
    taken = origin_of(origin, SiteGroups({}))
    if origin:
        assert taken.compose(taken.scheme, taken.labels, taken.domain) == origin
        segments, slash = segments_of(path)
        assert "/" + "/".join([segment.compose() for segment in segments]) + "/" * slash == path


@given(any_text)
def test_both_ways_to_read_a_path_agree(url: str) -> None:
    path = normal_parts(url)[1]
    quick: dict[str, str | None] = {}
    path_values(path, quick)
    long: dict[str, str | None] = {}
    segments, slash = segments_of(path)
    for segment in segments:
        long.setdefault(segment.key, segment.value)
        if segment.extension is not None:
            long["ext"] = segment.extension
    long["path.len"] = str(sum(not segment.name for segment in segments))
    if slash:
        long["path.trail"] = "/"
    assert {key: value for key, value in quick.items() if key[:2] != "m." and not key.endswith("]")} == long


def shown(url: str, **more: object) -> dict[str, str | None]:
    values = values_of(url, **more)  # type: ignore[arg-type]
    return {key: value for key, value in values.items() if key not in {"scheme", "path.len"}}


@pytest.mark.parametrize(
    ("rest", "values"),
    [
        ("/", {}),
        ("/a", {"path.0": "a"}),
        ("/a/", {"path.0": "a", "path.trail": "/"}),
        ("//", {"path.0": "", "path.trail": "/"}),
        ("//a", {"path.0": "", "path.1": "a"}),
        ("/a.html", {"path.0": "a", "ext": "html"}),
        ("/a.html/", {"path.0": "a", "ext": "html", "path.trail": "/"}),
        ("/a.html/b", {"path.0": "a.html", "path.1": "b"}),
        ("/a.html/x=1", {"path.0": "a", "ext": "html", "s.x": "1"}),
        ("/v1.0", {"path.0": "v1.0"}),
        ("/.htaccess", {"path.0": ".htaccess"}),
        ("/a.tar.gz", {"path.0": "a.tar", "ext": "gz"}),
        ("/a.jpeg2000", {"path.0": "a.jpeg2000"}),
        ("/a.m%C3%A9", {"path.0": "a.m%C3%A9"}),
        ("/ASIN/7/qid=1/br=1-13/", {"path.0": "ASIN", "path.1": "7", "s.qid": "1", "s.br": "1-13", "path.trail": "/"}),
        ("/x=1/x=2", {"s.x": "1", "s.x[1]": "2"}),
        ("/a;jsessionid=X?b=1", {"path.0": "a", "m.jsessionid": "X", "q.b": "1"}),
        ("/a;v;w=/b;v=2", {"path.0": "a", "path.1": "b", "m.v": None, "m.w": "", "m.v[1]": "2"}),
        ("/a;x[1]=1", {"path.0": "a", "m.x%5B1%5D": "1"}),
        ("/?a", {"q.a": ""}),
        ("/?a=", {"q.a": ""}),
        ("/?a=2&a=1&b&a=3", {"q.a": "1", "q.a[1]": "2", "q.a[2]": "3", "q.b": ""}),
        ("/?a[1]=x&a=1&a=2", {"q.a": "1", "q.a[1]": "2", "q.a%5B1%5D": "x"}),
        ("/?C=N;O=D", {"q.C": "N", "q.O": "D"}),
        ("/?C=N%3BO%3DD", {"q.C": "N", "q.O": "D"}),
        ("/?a=1;2", {"q.a": "1%3B2"}),
        ("/?a=1;b", {"q.a": "1%3Bb"}),
        ("/?=1", {"q.": "1"}),
        ("/?u=http://x/?y=1", {"q.u": "http%3A%2F%2Fx%2F%3Fy%3D1"}),
        ("/a/../b/./c", {"path.0": "b", "path.1": "c"}),
        ("/%7Eme/%c3%a9", {"path.0": "~me", "path.1": "%C3%A9"}),
        ("/a#b", {"path.0": "a"}),
    ],
)
def test_values(rest: str, values: dict[str, str | None]) -> None:
    assert shown(f"http://example.com{rest}") == values


def test_path_length() -> None:
    lengths = {"/": "0", "/a": "1", "/a/": "1", "/a/b.html": "2", "/a/x=1/b": "2", "//": "1"}
    assert {path: values_of(f"http://h{path}")["path.len"] for path in lengths} == lengths
    assert values_of("http://h" + "/a" * 100)["path.99"] == "a"


@pytest.mark.parametrize(
    ("url", "site", "values"),
    [
        ("http://example.com", "example.com", {}),
        ("https://WWW.Example.com:443", "example.com", {"host.1": "www"}),
        ("https://example.com:80", "example.com:80", {}),
        ("http://a.b.example.co.uk:8080", "example.co.uk:8080", {"host.1": "b", "host.2": "a"}),
        ("http://www.me.github.io", "me.github.io", {"host.1": "www"}),
        ("http://github.io", "github.io", {}),
        ("http://www.localhost:8102", "localhost:8102", {"host.1": "www"}),
        ("http://localhost", "localhost", {}),
        ("http://127.0.0.1:8104", "127.0.0.1:8104", {}),
        ("http://[::0:1]:80", "[::1]", {}),
        ("http://[::1]:81", "[::1]:81", {}),
        ("http://wiki.corp", "wiki.corp", {}),
        ("http://www.wiki.corp", "wiki.corp", {"host.1": "www"}),
        ("http://intranet", "intranet", {}),
        ("http://bücher.example.com", "example.com", {"host.1": "xn--bcher-kva"}),
        ("http://www.example.com.", "example.com", {}),
        ("http://me:secret@www.example.com", "example.com", {"host.1": "www"}),
        ("mailto:me@example.com", "", {}),
        ("http://h:99999/", "", {}),
    ],
)
def test_sites_and_hosts(url: str, site: str, values: dict[str, str | None]) -> None:
    assert site_of_url(url) == site
    assert shown(url) == values


def test_no_secret_leaves_the_entries() -> None:
    url = "http://me:secret@example.com/"
    assert "secret" not in repr(values_of(url)) + site_of_url(url)
    assert [entry.value for entry in entries_of(url) if entry.key == "userinfo"] == ["me:secret"]


def test_site_groups() -> None:
    groups = {"shop": ["shop.de", "SHOP.fr"], "local": ["localhost:1", "localhost:2"]}
    assert site_of_url("http://www.shop.fr/", groups=groups) == "shop"
    assert shown("http://www.shop.fr/", groups=groups) == {"host.0": "shop.fr", "host.1": "www"}
    assert site_of_url("http://shop.de:81/", groups=SiteGroups(groups)) == "shop:81"
    assert site_of_url("http://localhost:2/", groups=groups) == "local"
    assert site_of_url("http://localhost:3/", groups=groups) == "localhost:3"
    assert SiteGroups(groups) == SiteGroups(groups) != SiteGroups({})
    with pytest.raises(ValueError, match="two site groups"):
        SiteGroups({"a": ["x.de"], "b": ["x.de"]})


def test_a_query_that_is_a_path() -> None:
    assert shown("http://h/?/27015/category/&slideshow") == {
        "q./0": "",
        "q./1": "27015",
        "q./2": "category",
        "q./3": "",
        "q.slideshow": "",
    }
    assert shown("http://h/?org/x.html&a/b") == {"q./0": "a", "q./1": "b", "q.org%2Fx.html": ""}
    assert shown("http://h/?from=/a/b") == {"q.from": "%2Fa%2Fb"}
    assert shown("http://h/?http://x.example/a") == {"q.http%3A%2F%2Fx.example%2Fa": ""}


def test_deep_tokens() -> None:
    deep = {"q.topic": DeepSplit(".", "first"), "path.0": DeepSplit("-", "last"), "q.x": DeepSplit("_")}
    assert shown("http://h/red-shoes-12?topic=41.msg7&x=1", deep=deep) == {
        "path.0.head": "red-shoes",
        "path.0.tail": "12",
        "q.topic.head": "41",
        "q.topic.tail": "msg7",
        "q.x": "1",
    }
    assert shown("http://h/?topic=1.2&topic.head=x", deep=deep) == {"q.topic.head": "x", "q.topic.tail": "2"}


def test_learned_deep_tokens() -> None:
    columns = {
        "q.topic": [f"{n}.{n * 20}" for n in range(30)],
        "path.1": [f"some-title-{'x' * (n % 5)}-{n}" for n in range(40)],
        "q.date": [f"a:{n:04x}ff" for n in range(40)],
        "q.few": [f"{n}.0" for n in range(19)],
        "q.words": [f"{a}-{b}" for a in ("red", "blue") for b in ("shoes", "hats", *"abcdefghijk")],
        "host.1": [f"{n}-x" for n in range(30)],
    }
    assert learn_deep_splits(columns) == {
        "q.topic": DeepSplit(".", "first"),
        "path.1": DeepSplit("-", "last"),
        "q.date": DeepSplit(":", "last"),
    }


def test_numbers_at_the_same_place_of_other_pages_do_not_hide_a_deep_token() -> None:
    columns = {
        "path.1": [*map(str, range(60)), *(f"title-{n}" for n in range(40))],
        "q.topic": [*map(str, range(60)), *(f"{n}.msg{n}" for n in range(40))],
        "path.2": [*map(str, range(60)), *(f"title-{n}" for n in range(19))],
    }
    assert learn_deep_splits(columns) == {"path.1": DeepSplit("-", "last")}


@pytest.mark.parametrize("bad", [("", "last"), ("-", "middle")])
def test_deep_splits_that_are_none(bad: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"delimiter|side"):
        DeepSplit(*bad)


def test_deep_tokens_that_are_optional() -> None:
    deep = {"q.id": DeepSplit(":", "first", optional=True), "path.0": DeepSplit("-", "last", optional=True)}
    assert shown("http://h/12?id=7", deep=deep) == {"path.0.tail": "12", "q.id.head": "7"}
    assert shown("http://h/hats-12?id=", deep=deep) == {"path.0.head": "hats", "path.0.tail": "12", "q.id": ""}


@given(st.text(), st.sampled_from("-_."), st.sampled_from(["first", "last"]), st.booleans())
def test_the_parts_of_a_value_are_the_value(value: str, delimiter: str, side: str, optional: bool) -> None:
    parts = DeepSplit(delimiter, side, optional).parts(value)
    assert (value if parts is None else delimiter.join(part for part in parts if part is not None)) == value


def test_long_and_wide() -> None:
    url = "http://h/?" + "&".join(f"p{n}=" + "x" * 30 for n in range(300))
    assert len(values_of(url)) == 302
    assert len(values_of("http://h/?" + "a&" * 4000)) == 4002
