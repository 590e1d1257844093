"""What sites declare about their URLs: it proposes, and groups of equal pages decide."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Observation
from scrapy_dedup.learning.data.clusters import clusters, no_evidence
from scrapy_dedup.learning.data.judgement import SiteUrls, book_of
from scrapy_dedup.learning.decision.validation import validated
from scrapy_dedup.learning.opinions.declared import Declarations, proposals
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.rules import RuleBook
from scrapy_dedup.rules.exchange import CLEAN_PARAM, CleanParam, declaring_lines
from scrapy_dedup.urls import DeepSplit, ValueClass

from .urls import any_text

SITE = "example.com"


def seen(url: str, page: str, **more: object) -> Observation:
    return Observation(url, page, words=100, **more)


def learned(observations: list[Observation], robots: list[str] | None = None, deep=None) -> RuleBook:
    """The rules that validation leaves of what is declared."""
    sample = SiteUrls.of(SITE, clusters(observations), None)
    found = proposals(sample, deep or {}, Declarations.of(observations, robots or []))
    return book_of(rules_of(SITE, validated(found, sample, deep or {})), sample, deep or {})


def shop(header: str | None = None, pages: int = 8, seed: int = 1) -> list[Observation]:
    """Pages of /view and /list with a ref, which says nothing, under two URLs each."""
    rng = Random(seed)
    headers = {"no-vary-search": header} if header else None
    return [
        seen(f"http://{SITE}/{kind}?id={page}&ref={rng.randrange(10**6)}", f"{kind}{page}", headers=headers)
        for kind in ("view", "list")
        for page in range(pages)
        for _ in range(2)
    ]


@pytest.mark.parametrize(
    "header",
    ['params=("ref")', 'params, except=("id" "page")', 'key-order, params=("ref" "other")', 'params=("re%66")'],
)
def test_a_header_names_a_parameter(header):
    book = learned(shop(header))
    (rule,) = book
    assert rule.match == {}
    assert list(rule.ops) == ["q.ref"]
    assert book.equivalent(f"http://{SITE}/new?id=5&ref=123456", f"http://{SITE}/new?id=5")
    # A shape that was never there is not covered.
    assert not book.equivalent(f"http://{SITE}/new?id=5&ref=contact", f"http://{SITE}/new?id=5")


@pytest.mark.parametrize(
    "header", [None, 'params=("other")', 'params, except=("ref")', "key-order", "params=ref", "%%%", 'params=("ref"']
)
def test_a_header_that_says_nothing_of_it(header):
    assert len(learned(shop(header))) == 0


def test_a_header_of_some_paths_only():
    rng = Random(3)
    observations = [
        *shop('params=("ref")'),
        *(seen(f"http://{SITE}/help?ref={rng.randrange(10**6)}", f"help{n}") for n in range(40)),
    ]
    book = learned(observations)
    assert book.equivalent(f"http://{SITE}/view?id=5&ref=123456", f"http://{SITE}/view?id=5")
    assert not book.equivalent(f"http://{SITE}/help?ref=123456", f"http://{SITE}/help")


def test_a_header_that_lies_is_refuted():
    observations = shop('params=("ref" "id")', pages=40)
    book = learned(observations)
    assert [list(rule.ops) for rule in book] in ([["q.ref"]], [])
    assert not book.equivalent(f"http://{SITE}/view?id=1", f"http://{SITE}/view?id=2")


def test_without_a_group_of_equal_pages_nothing_is_proposed():
    rng = Random(4)
    headers = {"no-vary-search": 'params=("ref")'}
    observations = [seen(f"http://{SITE}/v?id={n}&ref={rng.random()}", f"p{n}", headers=headers) for n in range(50)]
    observations.append(seen(f"http://{SITE}/w", "p1"))
    assert len(learned(observations)) == 0


def test_clean_param_is_read_as_it_is_written():
    """A wildcard within a segment, which no single rule can say, becomes the values that are there."""
    rng = Random(5)
    observations = [
        seen(f"http://{SITE}/{forum}/showthread.php?s={rng.randrange(16**12):012x}&t={t}", f"{forum}{t}")
        for forum in ("forum_old", "forum_new")
        for t in range(10)
        for _ in range(2)
    ]
    observations += [
        seen(f"http://{SITE}/search/showthread.php?s={rng.randrange(16**12):012x}", f"x{n}") for n in range(30)
    ]
    book = learned(observations, ["User-agent: Yandex", "Clean-param: s&ref /forum*/showthread.php", "Clean-param: ="])
    assert book.equivalent(
        f"http://{SITE}/forum_old/showthread.php?t=3&s=0123456789ab", f"http://{SITE}/forum_old/showthread.php?t=3"
    )
    assert not book.equivalent(
        f"http://{SITE}/search/showthread.php?s=0123456789ab", f"http://{SITE}/search/showthread.php"
    )
    assert len(learned(observations)) == 0


def test_clean_param_of_a_recorded_robots_txt_is_about_its_host():
    """Each host has a file of its own."""
    rng = Random(6)
    hosts = ("www", "shop")
    observations = [
        seen(f"http://{host}.{SITE}/v?id={page}&ref={rng.randrange(10**6)}", f"{host}{page}")
        for host in hosts
        for page in range(6)
        for _ in range(2)
    ]
    robots = seen(f"http://shop.{SITE}:80/robots.txt", "robots", headers={CLEAN_PARAM: "Clean-param: ref"})
    assert no_evidence(robots) == "robots.txt"
    book = learned([*observations, robots])
    assert book.equivalent(f"http://shop.{SITE}/v?id=5&ref=123456", f"http://shop.{SITE}/v?id=5")
    assert not book.equivalent(f"http://www.{SITE}/v?id=5&ref=123456", f"http://www.{SITE}/v?id=5")


@pytest.mark.parametrize(("line", "other"), [("Clean-param: ref /v", "/w/"), ("Clean-param: ref /v/", "/v2/")])
def test_a_line_says_nothing_of_other_paths_however_few_they_are(line, other):
    observations = [
        seen(f"http://{SITE}/v/{page}?ref={page}{k}", f"v{page}") for page in range(100) for k in range(1 + (page < 6))
    ]
    observations += [seen(f"http://{SITE}{other}{page}?ref={page}0", f"w{page}") for page in range(4)]
    robots = seen(f"http://{SITE}/robots.txt", "robots", headers={CLEAN_PARAM: line})
    book = learned([*observations, robots])
    assert book.equivalent(f"http://{SITE}/v/7?ref=71", f"http://{SITE}/v/7?ref=72")
    assert not book.equivalent(f"http://{SITE}{other}7?ref=71", f"http://{SITE}{other}7?ref=72")


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


def test_deep_tokens_of_a_declared_parameter():
    rng = Random(6)
    headers = {"no-vary-search": 'params=("from")'}
    observations = [
        seen(f"http://{SITE}/v?id={n}&from=a-{rng.randrange(10**6)}", f"p{n}", headers=headers)
        for n in range(20)
        for _ in range(2)
    ]
    book = learned(observations, deep={"q.from": DeepSplit("-")})
    assert book.equivalent(f"http://{SITE}/v?id=1&from=a-77", f"http://{SITE}/v?id=1&from=a-123456")


def test_a_site_that_declares_for_many_parameters_at_once():
    """With unique values in several of them no two URLs agree on the rest."""
    rng = Random(7)
    headers = {"no-vary-search": 'params, except=("id")'}
    observations = [
        seen(
            f"http://{SITE}/v?id={n}&" + "&".join(f"junk{k}={rng.randrange(10**9)}" for k in range(5)),
            f"p{n}",
            headers=headers,
        )
        for n in range(10)
        for _ in range(2)
    ]
    book = learned(observations)
    assert len({book.canonical_key(row.url) for row in observations}) == 10


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
    sample = SiteUrls.of(SITE, clusters(observations), None)
    declared = Declarations.of(observations, [line, f"Clean-param: {line}"])
    assert isinstance(proposals(sample, {}, declared), list)


@pytest.mark.parametrize("kind", ["empty", "one", "one page", "all unique"])
def test_nothing_to_learn(kind):
    rows = {"empty": [], "one": shop('params=("ref")')[:1], "one page": [], "all unique": []}[kind]
    if kind == "one page":
        rows = [seen(f"http://{SITE}/x", "p", headers={"no-vary-search": "params"})] * 3
    elif kind == "all unique":
        rows = [seen(f"http://{SITE}/x?ref={n}", f"p{n}", headers={"no-vary-search": "params"}) for n in range(50)]
    assert len(learned(rows)) == 0


def test_shapes_are_widened_as_elsewhere():
    (rule,) = learned(shop('params=("ref")'))
    only = rule.ops["q.ref"].only
    assert isinstance(only, ValueClass)
    assert only.name == "int"
    assert only.max_len >= 12
