"""Laws of the canonical key, by hypothesis: for every rule set and every URL."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.rules import (
    Absent,
    AnyOrder,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    Nested,
    OfClass,
    OneOf,
    Operation,
    Replace,
    Rule,
    RuleBook,
    Set,
    SetOfValues,
    Status,
)
from scrapy_dedup.rules.actions import Context
from scrapy_dedup.rules.apply_path import new_origin, new_path
from scrapy_dedup.rules.apply_query import new_query_at_length
from scrapy_dedup.rules.predicates import rule_matches
from scrapy_dedup.rules.table import CompiledRule, OpTable
from scrapy_dedup.urls import DeepSplit, SiteGroups, ValueClass, normal_form, normal_parts, site_of_url, values_of
from scrapy_dedup.urls.origins import origin_of

from .rules import deep_tokens, rules_for
from .urls import any_text, paths, plain_urls, queries

SITE = "example.com"
GROUPS = {"pair": ["example.com", "example.org"]}

plain = st.builds(
    "{}://{}example.com{}?{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www.", "b.a."]),
    paths(),
    queries(),
)


def slow_key(book: RuleBook, url: str, depth: int = 0) -> str:
    """Return the canonical key by the definition, with no short way."""
    text = normal_form(url)
    seen: list[str] = []
    while True:
        seen.append(text)
        text = step(book, text, depth)
        if text == seen[-1]:
            return text
        if text in seen:
            return min(seen[seen.index(text) :], key=normal_parts)
        if len(seen) > 8:
            return seen[0]


def step(book: RuleBook, text: str, depth: int) -> str:
    """Return what the rules make of the normal form *text* in one step."""
    origin, path, query = normal_parts(text)
    taken = origin_of(origin, book.groups)
    rules = book.site_rules(taken.site)
    compiled = [CompiledRule(rule) for rule in rules.rules if rule.status.acts]
    values = values_of(text, groups=book.groups, deep=rules.deep)
    matching = [rule for rule in compiled if rule_matches(rule.match, values)]
    if not matching:
        return text
    table = OpTable(matching, rules.deep)
    table.positions_only = table.pairs_only = False
    context = Context(lambda: values, None if depth >= 2 else lambda url: slow_key(book, url, depth + 1))
    new = new_query_at_length(table, query, context, [])
    return normal_form(
        f"{new_origin(table, taken, context, [])}{new_path(table, path, context, [])}" + (f"?{new}" if new else "")
    )


@st.composite
def books(draw: st.DrawFn, groups: bool = False) -> tuple[RuleBook, list[str]]:
    """A book of rules over the keys of some URLs, and the URLs."""
    urls = draw(st.lists(plain, min_size=1, max_size=4))
    site = "pair" if groups else SITE
    deep = {site: draw(deep_tokens)}
    return RuleBook(draw(rules_for(site, urls)), deep, GROUPS if groups else None), urls


@given(books())
def test_a_key_is_its_own_key_and_what_the_definition_says(case: tuple[RuleBook, list[str]]) -> None:
    book, urls = case
    for url in urls:
        key = book.canonical_key(url)
        assert book.canonical_key(key) == key
        assert normal_form(key) == key
        assert slow_key(book, url) == key


@given(books())
def test_a_key_comes_with_the_rules_that_made_it(case: tuple[RuleBook, list[str]]) -> None:
    book, urls = case
    for url in urls:
        found = book.canonical(url)
        assert found.key == book.canonical_key(url)
        assert found.changes or found.key == normal_form(url)
        assert {rule for rule, _, _ in found.changes} <= {rule.id for rule in book.acting(url)}
        for other in urls:
            if book.canonical_key(other) == found.key != normal_form(url):
                assert set(found.deciding_rules(book.canonical(other))) <= {
                    rule.id for rule in book if rule.status.acts
                }


def test_rules_that_change_what_differs_decide() -> None:
    book = RuleBook([Rule("a.test", {}, {"q.sid": Ignore()}), Rule("a.test", {}, {"q.utm": Ignore()})])
    sid, utm = (rule.id for rule in sorted(book, key=lambda rule: "q.utm" in rule.ops))
    both, sid_only, other = (book.canonical(f"http://a.test/?{query}") for query in ("sid=1&utm=2", "sid=1", "sid=3"))
    assert both.site == "a.test"
    assert {change[0] for change in both.changes} == {sid, utm}
    assert both.deciding_rules(sid_only) == (utm,)
    assert sid_only.deciding_rules(other) == other.deciding_rules(sid_only) == (sid,)
    assert both.deciding_rules(both) == (both.changes[0][0],)


_few = st.sampled_from(["", "1", "2", "*"])
_few_classes = st.sampled_from([ValueClass("int", 0, 1), ValueClass("int", 1, 2), ValueClass("any", 1, 9)])
_few_predicates = st.one_of(
    st.builds(Literal, _few, st.booleans()),
    st.builds(OneOf, st.lists(_few, max_size=2), st.booleans()),
    st.builds(OfClass, _few_classes, st.booleans()),
    st.just(Absent()),
)
_few_only = st.one_of(st.none(), st.lists(_few, max_size=2), _few_classes)
_few_operations = st.one_of(
    st.builds(Ignore, _few_only),
    st.builds(IgnoreValue, _few_only),
    st.builds(Set, st.dictionaries(st.none() | _few, st.none() | _few, max_size=2)),
    st.sampled_from([Keep(), Lower(), Lower(first=True), SetOfValues(), SetOfValues("-")]),
)
_few_rules = st.lists(
    st.builds(
        Rule,
        st.just(SITE),
        st.dictionaries(
            st.sampled_from(["q.a", "q.b", "q.a[1]", "host.1", "path.0", "path.trail"]), _few_predicates, max_size=2
        ),
        st.dictionaries(
            st.sampled_from(["q.a", "q.b", "q.c", "q.*", "path.trail", "path.0", "host.1"]), _few_operations, max_size=2
        ),
        st.sampled_from([Status.ACTIVE, Status.MANUAL]),
    ),
    max_size=3,
    unique_by=lambda rule: rule.id,
)
_facets = st.sampled_from(["a-", "b-", "c/", "d/"])
_orders = st.builds(AnyOrder, st.lists(_facets, max_size=3), after=st.integers(0, 2))
_order_rules = st.lists(
    st.builds(
        lambda match, order, ops: Rule(SITE, match, {"path": order, **ops}),
        st.dictionaries(st.sampled_from(["path.0", "path.1", "path.2", "ext", "q.a"]), _few_predicates, max_size=1),
        _orders,
        st.dictionaries(
            st.sampled_from(["path.0", "path.1", "path.trail", "q.a", "query", "matrix"]), st.just(Keep()), max_size=1
        )
        | st.dictionaries(st.sampled_from(["path.0", "path.1", "path.trail", "q.a"]), st.just(Ignore()), max_size=1),
    ),
    max_size=2,
    unique_by=lambda rule: rule.id,
)
_facet_urls = st.builds(
    "http://example.com/{}{}?{}".format,
    st.lists(st.sampled_from(["a-1", "a-2", "b-1", "b-1.x", "c", "d", "1", "2", "a=1", "a-1;v=1"]), max_size=6).map(
        "/".join
    ),
    st.sampled_from(["", "/", ".html"]),
    st.sampled_from(["", "a=1"]),
)


@given(_order_rules, st.lists(_facet_urls, min_size=1, max_size=8))
def test_orders_of_segments(rules: list[Rule], urls: list[str]) -> None:
    book = RuleBook(rules)
    for url in urls:
        key = book.canonical_key(url)
        assert book.canonical_key(key) == key == slow_key(book, url)


_few_urls = st.builds(
    "http://{}example.com{}?{}".format,
    st.sampled_from(["", "1.", "1.2."]),
    st.sampled_from(["/", "/1", "/1/", "/2/1//", "//"]),
    st.lists(st.builds("{}={}".format, st.sampled_from("abc"), _few), max_size=3).map("&".join),
)


@given(_few_rules, st.lists(_few_urls, min_size=1, max_size=8))
def test_few_keys_and_values_in_all_combinations(rules: list[Rule], urls: list[str]) -> None:
    """That the short ways are none too short: many rules act on one key, and on what others ask for."""
    book = RuleBook(rules)
    for url in urls:
        key = book.canonical_key(url)
        assert book.canonical_key(key) == key == slow_key(book, url)


@given(books(groups=True))
def test_site_groups(case: tuple[RuleBook, list[str]]) -> None:
    book, urls = case
    urls = urls + [url.replace("example.com", "example.org") for url in urls]
    for url in urls:
        key = book.canonical_key(url)
        assert book.canonical_key(key) == key == slow_key(book, url)


@given(books(), any_text)
def test_total_and_the_normal_form_where_no_rule_is(case: tuple[RuleBook, list[str]], url: str) -> None:
    book, _ = case
    key = book.canonical_key(url)
    assert book.canonical_key(key) == key
    if site_of_url(url) != SITE:
        assert key == normal_form(url)
    explanation = book.explain(url)
    assert explanation.key == key
    assert [rule.id for rule, _ in explanation.rules] == [rule.id for rule in book.matching(url)]


@given(books(), st.randoms())
def test_the_order_of_parameters_does_not_matter(case: tuple[RuleBook, list[str]], random: random.Random) -> None:
    book, urls = case
    for url in urls:
        base, _, query = url.rstrip("".join(map(chr, range(33)))).partition("?")
        pieces = query.partition("#")[0].split("&")
        random.shuffle(pieces)
        assert book.equivalent(f"{base}?{'&'.join(pieces)}#", url)


@given(books(), st.lists(plain_urls(), max_size=4))
def test_urls_of_one_normal_form_have_one_key(case: tuple[RuleBook, list[str]], others: list[str]) -> None:
    book, urls = case
    keys: dict[str, str] = {}
    for url in urls + others + [normal_form(url) for url in urls]:
        key = book.canonical_key(url)
        assert keys.setdefault(normal_form(url), key) == key


@given(st.lists(any_text, min_size=2))
def test_sites_without_rules_keep_all_apart(urls: list[str]) -> None:
    book = RuleBook([Rule("other.example", {}, {"*": Ignore()})])
    assert {book.canonical_key(url) for url in urls} == {normal_form(url) for url in urls}


@given(books())
def test_digest_says_whether_keys_may_differ(case: tuple[RuleBook, list[str]]) -> None:
    book, _ = case
    rules = list(book)
    deep = {site: book.site_rules(site).deep for site in book.sites}
    random.shuffle(rules)
    assert RuleBook(rules, deep).digest() == book.digest()
    acting = [rule for rule in rules if rule.status.acts]
    if acting:
        assert RuleBook(acting[1:], deep).digest() != book.digest()
        assert RuleBook(rules, deep, SiteGroups({"g": [SITE]})).digest() != book.digest()
        assert RuleBook(acting, {SITE: {"q.new": DeepSplit("-")}}).digest() != book.digest()


@pytest.mark.parametrize(
    "own",
    [
        {"q.sid": Set({None: "1"})},
        {"q.sid": Set({None: "1"}), "q.x": Replace("q.sid")},
        {"q.sid": Replace("q.y")},
    ],
)
@pytest.mark.parametrize("inner", ["", "%3Fsid=3%26y=4", "%3Fsid=3%26sid=4"])
def test_a_key_is_its_own_key_where_the_inner_site_adds_what_the_outer_one_ignores(
    own: dict[str, Operation], inner: str
) -> None:
    ignoring = Nested({"example.org": {"q.sid": Ignore()}})
    book = RuleBook([Rule("example.com", {}, {"q.u": ignoring}), Rule("example.org", {}, own)])
    key = book.canonical_key(f"http://example.com/?u=http://example.org/{inner}")
    assert book.canonical_key(key) == key
