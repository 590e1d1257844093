"""Laws of the canonical key, by hypothesis: for whatever rules a user may write, and every URL."""

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import RuleBook

from .crawling import book_of, ignore, rule_toml
from .rules import deep_texts, rule_texts
from .urls import any_text, paths, plain_urls, queries

SITE = "example.com"
GROUPS = {"pair": [SITE, "example.org"]}

_urls = st.builds(
    "{}://{}example.com{}?{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www.", "b.a."]),
    paths(),
    queries(),
)
_wide = st.lists(_urls, min_size=1, max_size=4).flatmap(
    lambda urls: st.tuples(st.builds(lambda deep, rules: [deep, *rules], deep_texts, rule_texts(urls)), st.just(urls))
)
_few = st.sampled_from(["", "1", "2", "*"])
_few_urls = st.builds(
    "http://{}example.com{}?{}".format,
    st.sampled_from(["", "1.", "1.2."]),
    st.sampled_from(["/", "/1", "/1/", "/2/1//", "//"]),
    st.lists(st.builds("{}={}".format, st.sampled_from("abc"), _few), max_size=3).map("&".join),
)
#: Many rules that act on one key, and on what others ask for.
_narrow = st.tuples(
    rule_texts(some=_few, keys=["q.a", "q.b", "q.c", "path.0", "path.trail", "host.1"], statuses=["active", "manual"]),
    st.lists(_few_urls, min_size=1, max_size=6),
)
_facets = st.lists(st.sampled_from(["a-1", "a-2", "b-1", "b-1.x", "c", "d", "1", "a=1", "a-1;v=1"]), max_size=6)
_orders = st.tuples(
    st.builds(
        lambda names, after, more: [rule_toml(f'"path" = {{ any-order = {names}, after = {after} }}', *more)],
        st.sampled_from(['["a-", "b-"]', '["c/", "d/"]', '["b-", "c/", "a-"]', "[]"]),
        st.integers(0, 2),
        st.sampled_from([[], ['"path.0" = "keep"'], ['"path.1" = "ignore"'], ['"path.trail" = "ignore"']]),
    ),
    st.lists(_facets.map(lambda found: f"http://example.com/{'/'.join(found)}.html"), min_size=1, max_size=4),
)


@given(st.one_of(_wide, _narrow, _orders), any_text, st.booleans())
def test_a_key_is_its_own_key(case: tuple[list[str], list[str]], other: str, grouped: bool) -> None:
    rules, urls = case
    book = book_of(*rules, site="pair" if grouped else SITE, groups=GROUPS if grouped else None)
    for url in [*urls, *(url.replace(SITE, "example.org") for url in urls), other]:
        key = book.canonical_key(url)
        found, explained = book.canonical(url), book.explain(url)
        assert book.canonical_key(key) == key == RuleBook().canonical_key(key)
        assert found.key == explained.key == key
        assert found.changes or key == explained.normal_form
        assert {rule for rule, *_ in found.changes} <= {rule.id for rule in book.acting(url)}
        assert [rule for rule, _ in explained.rules] == book.matching(url)
        if explained.site not in book.sites:
            assert key == explained.normal_form == RuleBook().canonical_key(url)


@given(_wide, st.lists(plain_urls(), max_size=3), st.randoms())
def test_what_makes_no_difference(case: tuple[list[str], list[str]], others: list[str], random: random.Random) -> None:
    """The order of parameters and of rules, rules that do not act, and all that the normal form evens out.

    The digest, by which workers of one crawl know whether they have the same rules, says so, too.
    """
    (deep, *rules), urls = case
    book = book_of(deep, *rules)
    other = book_of(deep, *reversed(rules), ignore("q.*", status="off"))
    changed = book_of(deep, *rules, ignore("q.new"))
    digests = [each.digest() for each in (book, changed, book_of(deep, *rules, ignore("q.new"), groups=GROUPS))]
    assert other.digest() == book.digest()
    assert len(set(digests)) == 3
    for url in urls + others:
        base, _, query = url.rstrip("".join(map(chr, range(33)))).partition("?")
        pieces = query.partition("#")[0].split("&")
        random.shuffle(pieces)
        key = book.canonical_key(url)
        assert other.canonical_key(url) == book.canonical_key(RuleBook().canonical_key(url)) == key
        if url in urls:
            assert book.canonical_key(f"{base}?{'&'.join(pieces)}#") == key


#: Rules that ask for different numbers of parameters, so that there is no doubt which one comes first.
_asked = st.sampled_from(["1", "2", None])
_done = st.sampled_from(["ignore", "ignore-value", "keep", "set"])
_simple = st.tuples(
    *(
        st.tuples(
            st.dictionaries(st.sampled_from("abc"), _asked, min_size=number, max_size=number),
            st.dictionaries(st.sampled_from("abc"), _done, max_size=2),
        )
        for number in range(3)
    )
)


Asked = dict[str, str | None]
Done = dict[str, str]


def step(rules: Sequence[tuple[Asked, Done]], query: dict[str, str]) -> dict[str, str]:
    """What rules make of parameters in one step, as the documentation says it: of several, the one that asks for more counts."""
    found: dict[str, str] = {}
    for name, value in query.items():
        acting = [
            done[name] for match, done in rules if name in done and all(query.get(k) == v for k, v in match.items())
        ]
        says = [done for done in acting if done != "set" or value == "1"]  # of other values it says nothing
        new = {"ignore": "", "ignore-value": "*", "set": "2"}.get(says[-1] if says else "keep", value)
        found |= {name: new} if new else {}
    return found


@given(_simple, st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), min_size=1))
def test_a_key_is_what_the_documentation_says(rules: tuple[tuple[Asked, Done], ...], query: dict[str, str]) -> None:
    forms = {"set": '{ set = { 1 = "2" } }'}
    book = book_of(
        *(
            rule_toml(
                *(f'"q.{name}" = {forms.get(done, f"{chr(34)}{done}{chr(34)}")}' for name, done in ops.items()),
                match=[
                    f'"q.{name}" = ' + (f'"{value}"' if value else "{ absent = true }") for name, value in match.items()
                ],
            )
            for match, ops in rules
            if ops
        )
    )
    found = query
    while (following := step(rules, found)) != found:
        found = following
    expected = "&".join(f"{name}={value}" for name, value in sorted(found.items()))
    url = f"http://example.com/?{'&'.join(f'{name}={value}' for name, value in query.items())}"
    assert book.canonical_key(url) == "http://example.com/" + (f"?{expected}" if expected else "")


def test_a_key_is_its_own_key_where_the_inner_site_adds_what_the_outer_one_ignores() -> None:
    ignoring = rule_toml('"q.u" = { nested = { "example.org" = { "q.sid" = "ignore" } } }')
    adding = '"q.sid" = { set = {}, default = "1" }'
    for own in ([adding], [adding, '"q.x" = { replace = "q.sid" }'], ['"q.sid" = { replace = "q.y" }']):
        book = book_of(rule_toml(*own), site="example.org")
        book = book_of(ignoring)  # beside the file of the other site
        assert book.sites == ("example.com", "example.org")
        for inner in ("", "%3Fsid=3%26y=4", "%3Fsid=3%26sid=4"):
            key = book.canonical_key(f"http://example.com/?u=http://example.org/{inner}")
            assert book.canonical_key(key) == key
