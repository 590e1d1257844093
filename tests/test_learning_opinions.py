"""Opinions on a parameter, of its name and of the site itself: fewer or more pages decide beside them, some always do, and a counterexample is heard."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.rules.exchange import CLEAN_PARAM, declaring_lines

from .learning import Rows, check, observed
from .urls import any_text

# How many pages are needed


def pages(key: str, known: int) -> Rows:
    """*known* pages under two of three values of a key, and 300 that were seen under one."""
    rng = Random(1)
    return [
        (f"/v?id={i}&{key}={word}", f"page {i}")
        for i in range(known + 300)
        for word in rng.sample(("list", "grid", "full"), 2 if i < known else 1)
    ]


def needed(key: str, *more: Observation) -> int:
    """How many pages let a rule act that drops a key."""
    return next(n for n in range(1, 40) if len(learn_rules([*observed(pages(key, n), words=100), *more])))


def robots(line: str, host: str = "shop.example") -> Observation:
    return Observation(
        f"http://{host}:80/robots.txt", "lines", words=100, headers={CLEAN_PARAM: f"Clean-param: {line}"}
    )


def test_seed_a_name_that_is_generally_relevant_asks_for_more_pages_and_what_the_site_states_for_fewer() -> None:
    """The document's list of names moves the prior: it is right in 80 % of cases."""
    assert 1 < needed("x", robots("x")) < needed("x")
    assert needed("utm_x") <= needed("x") < needed("file") == needed("vid")


# What a site declares


def shop(host: str = "shop.example", pairs: int = 3, **headers: str) -> list[Observation]:
    """Twelve pages with a ref, which says nothing, *pairs* of them under two URLs: three are too few by themselves."""
    return [
        Observation(f"http://{host}/view?id={n}&ref={ref + n}", f"{host} {n}", words=100, headers=headers or None)
        for ref, many in ((100, 12), (200, pairs))
        for n in range(many)
    ]


def varied(header: str, pairs: int = 3) -> list[Observation]:
    return shop(pairs=pairs, **{"no-vary-search": header})


DROPPED, KEPT = (f"/view?id=5&ref=123 {sign} /view?id=5&ref=345" for sign in ("==", "!="))
APART = [
    Observation(
        f"http://shop.example/v?id={i}&x={x}",
        f"page {i} {x}",
        words=100,
        headers={"no-vary-search": 'params=("x" "id")'},
    )
    for i in range(40)
    for x in range(3)
]
DECLARED: dict[str, tuple[Any, ...]] = {
    **{
        header: (varied(header), DROPPED)
        for header in (
            'params=("ref")',
            'params, except=("id" "page")',
            'key-order, params=("ref" "other")',
            'params=("re%66")',
        )
    },
    **{
        header: (varied(header), KEPT)
        for header in ('params=("other")', 'params, except=("ref")', "key-order", "params=ref", "%%%", 'params=("ref"')
    },
    "nothing": (shop(), KEPT),
    "a header, and no equal pages": (varied('params=("ref")', pairs=0), KEPT),
    "a header that lies": (varied('params=("ref" "id")'), "/view?id=1 != /view?id=2", DROPPED),
    "a header that other pages refute": (APART, "/v?id=1&x=1 != /v?id=1&x=2", "/v?id=1&x=1 != /v?id=2&x=1"),
    "a line that other pages refute": (
        [*(replace(each, headers=None) for each in APART), robots("x&id")],
        "/v?id=1&x=1 != /v?id=1&x=2",
    ),
    **{line: ([*shop(), robots(line)], DROPPED) for line in ("ref /v", "s&ref", "ref /v*w")},
    **{line: ([*shop(), robots(line)], KEPT) for line in ("ref /other", "other", "=")},
    "a line of its host": (
        [*shop("m.shop.example"), robots("ref", "m.shop.example")],
        DROPPED.replace("/view", "http://m.shop.example/view"),
    ),
    "a line of another host": (
        [*shop("www.shop.example"), robots("ref", "m.shop.example")],
        KEPT.replace("/view", "http://www.shop.example/view"),
    ),
}


@pytest.mark.parametrize("name", DECLARED)
def test_what_a_site_declares_decides_beside_few_pages(name: str) -> None:
    rows, *sayings = DECLARED[name]
    check(learn_rules(rows), *sayings)


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
def test_lines_of_a_robots_txt(body: bytes, lines: list[str]) -> None:
    assert declaring_lines(body) == [f"Clean-param: {line}" for line in lines]


odd = st.tuples(any_text.filter(bool), st.sampled_from("abc"), any_text, any_text)


@settings(max_examples=20)
@given(st.lists(odd, max_size=12))
def test_never_raises(rows: list[tuple[str, str, str, str]]) -> None:
    """Whatever stands in headers and canonical URLs, and where redirects lead."""
    learn_rules(
        Observation(
            url, page, words=99, headers={"no-vary-search": text, CLEAN_PARAM: text}, canonical=other, redirect=other
        )
        for url, page, text, other in rows
    )
