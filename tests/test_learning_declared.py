"""What sites declare about their URLs: opinions, beside which fewer groups of equal pages decide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.data.clusters import no_evidence
from scrapy_dedup.learning.opinions.declared import Declarations, linked_opinions, stated_opinions
from scrapy_dedup.rules.exchange import CLEAN_PARAM, CleanParam, declaring_lines
from scrapy_dedup.urls import normal_form

from .urls import any_text

SITE = "example.com"


def seen(url: str, page: str, **more: object) -> Observation:
    return Observation(url, page, words=100, **more)


def shop(header: str | None = None, pairs: int = 3, host: str = SITE, path: str = "/view") -> list[Observation]:
    """Twelve pages with a ref, which says nothing, *pairs* of them under two URLs: three are too few by themselves."""
    headers = {"no-vary-search": header} if header else None
    return [
        seen(f"http://{host}{path}?id={page}&ref={ref + page}", f"{host} {path} {page}", headers=headers)
        for ref, pages in ((100, 12), (200, pairs))
        for page in range(pages)
    ]


def robots(line: str, host: str = SITE) -> Observation:
    return seen(f"http://{host}:80/robots.txt", "robots", headers={CLEAN_PARAM: line})


def is_dropped(book: RuleBook, page: str = f"http://{SITE}/view") -> bool:
    return book.equivalent(f"{page}?id=5&ref=123", f"{page}?id=5&ref=345")


@pytest.mark.parametrize(
    "header",
    ['params=("ref")', 'params, except=("id" "page")', 'key-order, params=("ref" "other")', 'params=("re%66")'],
)
def test_a_header_names_a_parameter(header):
    book = learn_rules(shop(header))
    (rule,) = book
    assert list(rule.ops) == ["q.ref"]
    assert is_dropped(book)
    assert not is_dropped(learn_rules(shop(header, pairs=0))), "without a group of equal pages nothing is learned"


@pytest.mark.parametrize(
    "header", [None, 'params=("other")', 'params, except=("ref")', "key-order", "params=ref", "%%%", 'params=("ref"']
)
def test_a_header_that_says_nothing_of_it(header):
    assert len(learn_rules(shop(header))) == 0


def test_a_header_that_lies_is_refuted():
    book = learn_rules(shop('params=("ref" "id")'))
    assert not book.equivalent(f"http://{SITE}/view?id=1", f"http://{SITE}/view?id=2")


@pytest.mark.parametrize(
    ("line", "dropped"),
    [("ref /v", True), ("s&ref", True), ("ref /v*w", True), ("ref /other", False), ("other", False), ("=", False)],
)
def test_clean_param_is_read_as_it_is_written(line, dropped):
    assert is_dropped(learn_rules([*shop(), robots(f"Clean-param: {line}")])) == dropped
    assert no_evidence(robots(line)) == "robots.txt"


def test_clean_param_of_a_recorded_robots_txt_is_about_its_host():
    """Each host has a file of its own."""
    shops = [*shop(host=f"www.{SITE}"), *shop(host=f"shop.{SITE}")]
    opinions = {
        host: stated_opinions(
            Declarations.of([*shops, robots("Clean-param: ref", f"shop.{SITE}")]),
            "q.ref",
            [normal_form(each.url) for each in shop(host=f"{host}.{SITE}")],
        )
        for host in ("www", "shop")
    }
    assert [len(opinions[host]) for host in ("www", "shop")] == [0, 1]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"", []),
        (b"\xff\xfe\x00Clean-param: \x00", []),
        (b"Disallow: /\r\nCLEAN-PARAM: a&b /x*\r\nclean-param: &\nclean-param: c\nClean-param: c", ["a&b /x*", "c"]),
        (b"Clean-param: a\n" * 9999, ["a"]),
        (b"".join(b"Clean-param: p%d\n" % n for n in range(300)), [f"p{n}" for n in range(200)]),
        pytest.param(b"Clean-param: &\n" * 200 + b"Clean-param: c", [], id="no more lines are read"),
    ],
)
def test_lines_of_a_robots_txt(body, lines):
    assert declaring_lines(body) == [f"Clean-param: {line}" for line in lines]


def test_declarations_of_odd_observations():
    rows = [
        Observation("no url", "a", canonical="http://[", headers={"no-vary-search": "\x00"}),
        Observation(f"http://{SITE}/", "", status=301, redirect="mailto:x"),
        Observation(f"http://{SITE}/", "b", canonical=f"http://{SITE}/"),
    ]
    found = Declarations.of(rows, ["Clean-param", "\ud800", "clean-param: a"])
    assert found.clean_params == (("", CleanParam(("a",))),)
    assert found.canonical == ((f"http://{SITE}/", f"http://{SITE}/"),)
    assert found.redirects == ()
    assert not Declarations()


@given(st.lists(st.tuples(any_text.filter(bool), st.sampled_from("abc"), any_text, any_text), max_size=12), st.text())
def test_never_raises(rows, line):
    observations = [
        seen(url, page, headers={"no-vary-search": header}, canonical=canonical)
        for url, page, header, canonical in rows
    ]
    declared = Declarations.of(observations, [line, f"Clean-param: {line}"])
    assert isinstance(linked_opinions(declared), dict)
    assert isinstance(stated_opinions(declared, "q.a", [normal_form(url) for url, *_ in rows]), tuple)
