"""Opinions on a parameter, of its name, of the site itself and of rule packs: fewer or more pages decide beside them, some always do, and a counterexample is heard."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.evidence.user_names import Names
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.packs.model import Pack, PackRule
from scrapy_dedup.rules import Absent, Ignore, Keep, Literal, Rule
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


# Rule packs

VIEW = PackRule({"q.view": Ignore()}, "viewtopic.php", source=("https://docs.test/",))
PACK = Pack("forums", (VIEW,))
TOPIC = "/viewtopic.php?t={}&view={}"


def topics(twice: int, differ: int = 0, more: Rows = ()) -> list[Observation]:
    """*twice* topics in two views that are one page, *differ* that are two, and twelve in one view each."""
    rows = [
        (TOPIC.format(n, view), f"topic {n} {view if n >= twice else ''}")
        for n in range(twice + differ)
        for view in ("list", "tree")
    ]
    others = [(TOPIC.format(n, "list"), f"topic {n}") for n in range(50, 62)]
    return observed([*rows, *others, *more], words=100)


def packed(rows: list[Observation], *packs: Pack, known: RuleBook | None = None, **options: Any) -> list[Rule]:
    return list(learn(rows, LearningOptions(packs=packs, **options), known=known or RuleBook()).book)


FORUMS = [(f"/viewforum.php?f={n}&view={view}", f"forum {n} {view}") for n in range(3) for view in ("list", "tree")]
ELSEWHERE = observed([(f"/p?t={n}&view={view}", f"page {n}") for n in range(2) for view in "ab"], words=100)
OF_LIST = replace(PACK, rules=(PackRule({"q.view": Ignore(only={"list"})}, sites=3),))
LISTED = [
    (f"/viewtopic.php?t={n}{view}", f"topic {n}") for n in range(12) for view in ("", "&view=list")[: 1 + (n < 2)]
]
DOUBTED = replace(PACK, rules=(PackRule({"q.view": Ignore()}, sites=1, against=2),))


@pytest.mark.parametrize(
    ("rows", "packs", "named", "ops"),
    [
        pytest.param(topics(2), [], {}, [], id="two pages alone"),
        pytest.param(topics(2), [PACK], {}, [{"q.view": Ignore()}], id="two pages beside a pack"),
        pytest.param(topics(1), [PACK], {}, [], id="one page"),
        pytest.param(topics(2, differ=1), [PACK], {}, [], id="a counterexample"),
        pytest.param(ELSEWHERE, [PACK], {}, [], id="no page of the template"),
        pytest.param(topics(2, more=FORUMS), [PACK], {}, [{"q.view": Ignore()}], id="pages of their own elsewhere"),
        pytest.param(observed(LISTED, words=100), [OF_LIST], {}, [{"q.view": Ignore(only={"list"})}], id="one value"),
        pytest.param(topics(2), [DOUBTED], {}, [], id="other sites speak against it"),
        pytest.param(topics(2), [PACK], {"relevant": ["view"]}, [], id="the user calls it relevant"),
        pytest.param(topics(2), [PACK], {"irrelevant": ["view"]}, [{"q.view": Ignore()}], id="the user calls it noise"),
    ],
)
def test_what_a_pack_needs(rows: list[Observation], packs: list[Pack], named: Any, ops: list[Any]) -> None:
    found = packed(rows, *packs, names=Names.of(named) if named else None)
    assert [dict(rule.ops) for rule in found] == ops
    check(RuleBook(found), "/viewforum.php?f=7&view=list != /viewforum.php?f=7&view=tree")
    # It stays when the pack is gone.
    assert [rule.id for rule in packed(rows, known=RuleBook(found))] == [rule.id for rule in found]


def test_a_rule_of_a_pack_says_so() -> None:
    (rule,) = packed(topics(2), PACK)
    assert dict(rule.match) == {"path.0": Literal("viewtopic"), "path.1": Absent(), "ext": Literal("php")}
    assert rule.evidence is not None
    assert (rule.evidence.groups, rule.evidence.pack, rule.evidence.learners) == (2, "forums", ("pack",))
    check(RuleBook([rule]), f"{TOPIC.format(77, 'list')} == {TOPIC.format(77, 'tree')}")


@pytest.mark.parametrize("template", ["", "viewtopic.php"])
def test_what_a_pack_calls_the_page_needs_more_pages(template: str) -> None:
    kept = replace(PACK, rules=(PackRule({"q.view": Keep()}, template, sites=9),))
    alone, beside = (next(n for n in range(2, 30) if packed(topics(n), *packs)) for packs in ([], [kept]))
    assert alone < beside


SITES = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(["", "&view=list", "&view=tree", "&sid=1"]), st.integers(0, 6)),
    unique_by=lambda row: row[:2],
    max_size=25,
)


@settings(max_examples=20)
@given(SITES, st.booleans())
def test_law_a_prior_never_acts_without_two_pages_that_speak_for_it_and_none_changes_nothing(
    rows: list[tuple[int, str, int]], every_page_once: bool
) -> None:
    seen = observed(
        (f"/viewtopic.php?t={n}{rest}", f"text {place if every_page_once else text}")
        for place, (n, rest, text) in enumerate(rows)
    )
    for rule in packed(seen, replace(PACK, rules=(VIEW, PackRule({"q.sid": Ignore()}, sites=99)))):
        assert not every_page_once
        assert rule.evidence is not None
        assert rule.evidence.groups >= 2 or "pack" not in rule.evidence.learners
    nothing = Pack("empty"), Pack("other", (PackRule({"q.view": Ignore()}, "other.php", sites=9),))
    assert packed(seen, *nothing) == packed(seen)
