"""Rules of duplicate-url-discarder, and what sites declare: their documents' examples, and laws of reading and writing."""

import json
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dedup.rules import (
    Absent,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    OfClass,
    OneOf,
    Predicate,
    Rule,
    RuleBook,
    RuleFileError,
    Status,
)
from scrapy_dedup.rules.exchange import (
    CleanParam,
    clean_params,
    read_url_discarder,
    search_variance,
    write_url_discarder,
)
from scrapy_dedup.urls import DeepSplit, ValueClass, normal_form

from .urls import any_text

SITE = "example.com"
FILE = Path("file")

# -- URLs and rules to try the laws with

NAMES = ["sid", "id", "ref", "ID", "utm_source", "tag[]", "é 气"]
WRITTEN = {"tag[]": "tag%5B%5D", "é 气": "%C3%A9+%E6%B0%94"}
SEGMENTS = ["shop", "Shop", "view", "some_dir", "7", "v1.0", "get_book.pl", "a.php", "x-y"]
HOSTS = [SITE, f"www.{SITE}", f"shop.{SITE}", f"a.shop.{SITE}"]

parameters = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["", "1", "2", "aB"])), max_size=4)
paths = st.builds(
    lambda segments, slash: "/" + "/".join(segments) + ("/" if slash and segments else ""),
    st.lists(st.sampled_from(SEGMENTS), max_size=3),
    st.booleans(),
)


def url_of(scheme: str, host: str, path: str, pairs: list[tuple[str, str]]) -> str:
    query = "&".join(f"{WRITTEN.get(name, name)}={value}" for name, value in pairs)
    return f"{scheme}://{host}{path}" + (f"?{query}" if query else "")


urls = st.builds(url_of, st.sampled_from(["http", "https"]), st.sampled_from(HOSTS), paths, parameters)

ANY = OfClass(ValueClass("any"))
SCOPES: list[dict[str, Predicate]] = [
    {},
    {"path.0": Literal("shop")},
    {"path.0": Literal("7")},
    {"path.0": Literal("shop"), "path.1": ANY},
    {"path.0": Literal("shop"), "path.1": Absent(), "path.trail": Literal("/"), "ext": Absent()},
    {"path.0": Literal("some_dir"), "path.1": Literal("get_book"), "ext": Literal("pl"), "path.2": Absent()},
    {"path.0": Literal("7"), "path.1": ANY, "ext": Literal("php")},
    {"path.0": Absent()},
    {"path.0": ANY, "path.1": Literal("view")},
    {"host.1": Literal("shop")},
    {"host.1": Literal("www", optional=True), "host.2": Absent()},
    {"host.1": Literal("www", optional=True), "host.2": Absent(), "path.0": Literal("7")},
    {"host.1": Absent()},
    {"scheme": Literal("https")},
    {"q.id": Literal("1")},
    {"q.id": ANY},
    {"path.len": Literal("2")},
]
OPERATIONS = st.one_of(
    st.sets(st.sampled_from(NAMES), min_size=1, max_size=3).map(
        lambda names: {f"q.{name}": Ignore() for name in names}
    ),
    st.sets(st.sampled_from(NAMES), max_size=2).map(
        lambda names: {"q.*": Ignore(), **{f"q.{name}": Keep() for name in names}}
    ),
    st.sampled_from(
        [
            {"q.sid": Ignore(only={"1"})},
            {"q.sid": Ignore(only=ValueClass("int", 1, 8))},
            {"q.sid": Lower(), "q.ref": Ignore()},
            {"q.id": Keep()},
            {"q.utm_*": Ignore()},
            {"path.0": Ignore()},
            {"host.1": Ignore(only={"www"}), "q.sid": Ignore()},
        ]
    ),
)
rules = st.builds(
    Rule,
    st.just(SITE),
    st.sampled_from(SCOPES),
    OPERATIONS,
    st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.MANUAL, Status.OFF]),
)
rule_sets = st.lists(rules, max_size=3, unique_by=lambda rule: rule.id)


PATHS = [
    *("/", "/shop", "/shop/", "/shop.html", "/shop.html/", "/Shop", "/Shop/x", "/shop/x", "/shop/view/", "/shopping"),
    *(
        "/7",
        "/7/",
        "/7.html",
        "/7/a.php",
        "/7/a.php/x",
        "/7/a/b.php",
        "/7/.php",
        "/72",
        "/a/view",
        "/a/view/x",
        "/a/b/view",
    ),
    *("/some_dir/get_book.pl", "/some_dir/get_book.plx", "/some_dir/get_book.pl/", "/some_dir/get_book.pl/x"),
]


def test_what_is_written_equates_no_more_than_the_rules(tmp_path):
    some = [
        url_of(scheme, host, path, pairs)
        for scheme in ("http", "https")
        for host in [*HOSTS, f"www.shop.{SITE}"]
        for path in PATHS
        for pairs in (
            [("sid", "1"), ("id", "1"), ("ref", "2")],
            [("SID", "1"), ("id", "aB"), ("ID", "1"), ("sid", "2")],
        )
    ]
    for scope in SCOPES:
        for ops in ({"q.sid": Ignore(), "q.ref": Ignore()}, {"q.*": Ignore(), "q.ref": Keep()}):
            book = RuleBook([Rule(SITE, scope, ops), Rule(SITE, {"path.0": Literal("shop")}, {"q.id": Ignore()})])
            text = write_url_discarder(book, [SITE]).text
            made = discarder(text, tmp_path).process_url
            for url in some:
                assert book.canonical_key(made(url)) == book.canonical_key(url), (scope, text)


@given(rule_sets, st.booleans())
def test_every_acting_rule_is_written_or_told(several, approximate):
    written = write_url_discarder(RuleBook(several), [SITE], approximate=approximate)
    told = {each.what.rpartition(" ")[2] for each in written.left_out}
    acting = {rule.id for rule in several if rule.status.acts}
    assert told <= acting
    if acting - told:
        assert not written.empty


def test_what_the_format_holds_comes_back_as_it_was():
    www: dict[str, Predicate] = {"host.1": Literal("www", optional=True), "host.2": Absent()}
    dropped = [{"q.sid"}, {"q.sid", "q.%C3%A9+%E6%B0%94"}]
    ops: list[dict[str, Ignore | Keep]] = [{key: Ignore() for key in keys} for keys in dropped]
    ops += [{"q.*": Ignore()}, {"q.*": Ignore(), "q.id": Keep()}]
    for match in ({}, {"host.1": Literal("shop")}, {"scheme": Literal("https")}, www):
        for operations in ops:
            rule = Rule(SITE, match, operations, Status.MANUAL)
            written = write_url_discarder(RuleBook([rule]), [SITE])
            assert written.left_out == ()
            (again,) = read_url_discarder(written.text, FILE, [SITE]).rules
            assert (again.match, again.ops) == (rule.match, rule.ops)


def told_of(
    *several: Rule, approximate: bool = False, deep: dict[str, DeepSplit] | None = None
) -> tuple[str, list[str]]:
    """What is written of rules, as far as it is processors and their arguments, and what is told of the rest."""
    book = RuleBook(several, {SITE: deep or {}})
    written = write_url_discarder(book, [SITE], approximate=approximate)
    return str([(form["processor"], form["args"]) for form in json.loads(written.text)]), [
        each.why for each in written.left_out
    ]


def test_why_a_rule_cannot_be_written_names_all_that_is_in_the_way():
    _, told = told_of(Rule(SITE, {"path.0": OneOf(["cat", "item"], optional=True)}, {"host.1": IgnoreValue("www")}))
    assert told == ["not written: the format has no operation on host.1; the format has no such condition on path.0"]


def test_guards_are_left_away_only_when_asked():
    rule = Rule(SITE, {}, {"q.sid": Ignore(only=ValueClass("hex", 32, 32)), "q.page": Ignore(only={"1"})})
    text, told = told_of(rule)
    assert text == "[]"
    assert "not written" in told[0]
    text, told = told_of(rule, approximate=True)
    assert text == "[('queryRemoval', ['sid'])]"
    assert len(told) == 2
    assert any("written wider than it is: also where q.sid is not hex32" in each for each in told)


def test_what_another_rule_keeps_is_not_written():
    drops = Rule(SITE, {}, {"q.sid": Ignore(), "q.ref": Ignore()})
    keeps = Rule(SITE, {"path.0": Literal("login")}, {"q.sid": Keep()}, Status.MANUAL)
    text, told = told_of(drops, keeps)
    assert text == "[('queryRemoval', ['ref'])]"
    assert len(told) == 2


def test_rules_that_do_not_act_are_not_written():
    assert told_of(Rule(SITE, {}, {"q.sid": Ignore()}, Status.OFF)) == ("[]", [])


def test_deep_tokens_are_told():
    text, told = told_of(Rule(SITE, {}, {"q.topic": Ignore()}), deep={"q.topic": DeepSplit(".")})
    assert text == "[]"
    assert "two parts" in told[0]


# -- Clean-param: the examples of Yandex's documentation


@pytest.mark.parametrize(
    ("line", "rule", "covered", "other"),
    [
        (
            "Clean-param: ref /some_dir/get_book.pl",
            CleanParam(("ref",), "/some_dir/get_book.pl"),
            "/some_dir/get_book.pl",
            "/get_book.pl",
        ),
        ("Clean-param: sid /index.php", CleanParam(("sid",), "/index.php"), "/index.php5", "/x/index.php"),
        (
            "clean-param : sid&sort /forum/*.php # twice",
            CleanParam(("sid", "sort"), "/forum/*.php"),
            "/forum/a/list.php",
            "/forum/list.html",
        ),
        (
            "Clean-param: s&ref /forum*/showthread.php",
            CleanParam(("s", "ref"), "/forum*/showthread.php"),
            "/forum_old/showthread.php",
            "/forum/index.php",
        ),
        ("Clean-param: someTrash&otherTrash", CleanParam(("someTrash", "otherTrash")), "/any", ""),
    ],
)
def test_clean_param_examples(line, rule, covered, other):
    assert list(clean_params(["User-agent: Yandex", "Disallow:", line])) == [rule]
    assert rule.covers(covered)
    assert not other or not rule.covers(other)


@pytest.mark.parametrize(
    "line",
    [
        "Clean-param:",
        "Clean-param: & /x",
        "Clean-param: a b/c",
        "Clean-param: a /b /c",
        "Clean-param: a /b?c=1",
        "Clean-param: \ud800 /é",
        f"Clean-param: {'&'.join(['abcdefghi'] * 51)}",
    ],
)
def test_clean_param_faults(line):
    assert list(clean_params([line])) == []


# -- No-Vary-Search: the examples of the draft


@pytest.mark.parametrize(
    ("value", "no_vary", "vary", "key_order"),
    [
        ("params", None, set(), True),
        ('params=("a")', {"a"}, set(), True),
        ('params, except=("x")', None, {"x"}, True),
        ("key-order", set(), set(), False),
        (
            'params=("utm_source" "utm_medium" "utm_campaign")',
            {"utm_source", "utm_medium", "utm_campaign"},
            set(),
            True,
        ),
        ('params, except=("productId")', None, {"productId"}, True),
        ("params=?1", None, set(), True),
        ("key-order=?1", set(), set(), False),
        ('params, key-order, except=("x")', None, {"x"}, False),
        ("params=?0", set(), set(), True),
        ("params=()", set(), set(), True),
        ("key-order=?0", set(), set(), True),
        ('params=("%C3%A9+%E6%B0%97")', {"é 気"}, set(), True),
        ('unknown-key, params=("a")', {"a"}, set(), True),
        ('params=("a"), params=("b")', {"b"}, set(), True),
        ('params=("a";q=1 "b\\"c");x, d=@1659578233, e=%"f%c3%bc" ,\tf=token/x', {"a", 'b"c'}, set(), True),
    ],
)
def test_no_vary_search_examples(value, no_vary, vary, key_order):
    found = search_variance(value)
    assert found.no_vary == no_vary
    assert found.vary == vary
    assert found.key_order is key_order


@pytest.mark.parametrize(
    "value",
    [
        'key-order="not a boolean"',
        'params="not a boolean or inner list"',
        "params=(not-a-string)",
        'params=("a"), except=("x")',
        "params=(), except=()",
        'params=?0, except=("x")',
        "params, except=(not-a-string)",
        'params, except="not an inner list"',
        "params, except=?1",
        'except=("x")',
        "except=()",
        'params=("é")',
        'params=("a""b")',
        "params=(",
        'params="',
        "params,",
        "params key-order",
        "Params, params=1",
        "params, x=@999999999999999",
    ],
)
def test_no_vary_search_invalid_examples(value):
    with pytest.raises(ValueError, match=r"key-order|params|except|structured field|ASCII"):
        search_variance(value)


def test_no_vary_search_unknown_keys_say_nothing():
    assert search_variance("unknown-key") == search_variance("")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://example.com", "https://example.com/?"),
        ("https://example.com/?a=x", "https://example.com/?%61=%78"),
        ("https://example.com/?a=é", "https://example.com/?a=%C3%A9"),
        ("https://example.com/?a=x&&&&", "https://example.com/?a=x"),
        ("https://example.com/?a=", "https://example.com/?a"),
        ("https://example.com/?a=%20", "https://example.com/?a=+"),
    ],
)
def test_no_vary_search_equivalent_after_parsing(first, second):
    assert RuleBook().equivalent(first, second)


# -- duplicate-url-discarder


def discarder(text: str, folder: Path):
    canonicalizer = pytest.importorskip("duplicate_url_discarder.url_canonicalizer")
    path = folder / "rules.json"
    path.write_text(text, encoding="utf-8")
    return canonicalizer.UrlCanonicalizer([path])


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """url-matcher would look for a newer list of public suffixes."""
    extract = pytest.importorskip("tldextract").TLDExtract(suffix_list_urls=(), cache_dir=None)
    monkeypatch.setattr("tldextract.tldextract.TLD_EXTRACTOR", extract)


def dud(processor: str, args: list[object], *include: str, **more: object) -> dict[str, object]:
    return {"order": 0, "processor": processor, "args": args, "urlPattern": {"include": list(include)}, **more}


names_as_written = st.lists(
    st.sampled_from(["sid", "id", "ref", "ID", "utm_source", "tag%5B%5D"]), min_size=1, max_size=3, unique=True
)
patterns = st.sampled_from(
    [
        *(SITE, f"shop.{SITE}", f"https://{SITE}", f"{SITE}/", f"{SITE}/shop", f"{SITE}/shop/", f"{SITE}/shop|"),
        *(f"{SITE}/shop?id=1", f"{SITE}/?id=*", f"{SITE}/*/view", f"{SITE}/some_dir/get_book.pl|", f"www.{SITE}/7"),
    ]
)


@given(names_as_written, st.sampled_from([SITE, f"shop.{SITE}", f"https://{SITE}", f"{SITE}/"]), st.booleans(), urls)
def test_url_discarder_agrees_on_domains(tmp_path_factory, names, pattern, everything_else, url):
    text = json.dumps([dud("queryRemovalExcept" if everything_else else "queryRemoval", names, pattern)])
    found = read_url_discarder(text, FILE)
    assert found.left_out == ()
    theirs = discarder(text, tmp_path_factory.getbasetemp()).process_url(url)
    assert RuleBook(found.rules).canonical_key(url) == normal_form(theirs)


@given(names_as_written, patterns, st.booleans(), urls)
def test_url_discarder_is_never_read_wider(tmp_path_factory, names, pattern, everything_else, url):
    text = json.dumps([dud("queryRemovalExcept" if everything_else else "queryRemoval", names, pattern)])
    found = read_url_discarder(text, FILE)
    assert found.rules
    theirs = discarder(text, tmp_path_factory.getbasetemp()).process_url(url)
    assert RuleBook(found.rules).canonical_key(url) in {normal_form(url), normal_form(theirs)}


@given(rule_sets, urls)
def test_url_discarder_with_our_rules_loses_no_page(tmp_path_factory, several, url):
    book = RuleBook(several)
    written = write_url_discarder(book, [SITE])
    theirs = discarder(written.text, tmp_path_factory.getbasetemp()).process_url(url)
    assert book.canonical_key(theirs) == book.canonical_key(url)


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=2), urls, urls)
def test_url_discarder_subpaths(tmp_path_factory, args, first, second):
    text = json.dumps([dud("subpathRemoval", args, SITE)])
    book = RuleBook(read_url_discarder(text, FILE).rules)
    theirs = discarder(text, tmp_path_factory.getbasetemp())
    # Extensions and the slash at the end are no parts of a segment here.
    one, other = (url.replace(".", "-").replace("-com", ".com", 1) for url in (first, second))
    one, other = (re.sub(r"(www|shop|a)-", r"\1.", url) for url in (one, other))
    if book.equivalent(one, other):
        assert normal_form(theirs.process_url(one)) == normal_form(theirs.process_url(other))
    if not urlsplit(one).path.endswith("/") and not urlsplit(other).path.endswith("/"):
        same = normal_form(theirs.process_url(one)) == normal_form(theirs.process_url(other))
        assert book.equivalent(one, other) == same


def test_url_discarder_normalizer():
    found = read_url_discarder(json.dumps([dud("normalizer", [], SITE)]), FILE)
    book = RuleBook(found.rules)
    assert book.equivalent("http://www.example.com/a/", "http://example.com/a")
    assert book.equivalent("http://www2.example.com/a", "http://example.com/a")
    assert not book.equivalent("http://shop.example.com/a", "http://example.com/a")
    assert "www0 to www9" in str(found.left_out[0])


def test_url_discarder_universal_rules():
    text = json.dumps([dud("queryRemoval", ["utm_source"], ""), dud("queryRemoval", ["sid"], SITE)])
    found = read_url_discarder(text, FILE)
    assert [rule.site for rule in found.rules] == [SITE]
    assert "name those it is for" in str(found.left_out[0])
    found = read_url_discarder(text, FILE, [SITE, "other.test"])
    assert {(rule.site, *rule.ops) for rule in found.rules} == {(SITE, "q.sid"), ("other.test", "q.utm_source")}
    assert found.left_out == ()
    # As there: a universal rule acts where no other does.
    found = read_url_discarder(text, FILE, [SITE])
    assert [list(rule.ops) for rule in found.rules] == [["q.sid"]]
    assert "rules of their own" in str(found.left_out[0])


def test_url_discarder_what_is_not_read():
    text = json.dumps(
        [
            {**dud("queryRemoval", ["a"]), "urlPattern": {"include": [SITE], "exclude": [f"{SITE}/login"]}},
            dud(
                "queryRemoval", ["a"], f"{SITE}/shop*/x", f"{SITE}/#top", "*.example.com", f"ftp://{SITE}", "http://[::"
            ),
            dud("queryRemoval", ["a"], f"{SITE}/?id=1*"),
            dud("queryRemoval", ["a=b"], SITE),
        ],
        indent=1,
    )
    found = read_url_discarder(text, FILE)
    assert found.rules == ()
    assert len(found.left_out) == 8
    assert [each.what for each in found.left_out][:2] == ["line 2", "line 17"]
    assert "exclude" in found.left_out[0].why


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[\n{", 2, "invalid JSON"),
        ("{}", 1, "no list of rules"),
        ("[\n\n 5]", 3, "rule 1: it is no object"),
        ('[\n{"order": 0}]', 2, 'it has no "processor"'),
        (json.dumps([dud("nothing", [], SITE)]), 1, "there is no processor 'nothing'"),
        (json.dumps([dud("queryRemoval", [5], SITE)]), 1, "no list of names"),
        (json.dumps([dud("subpathRemoval", [True], SITE)]), 1, "no list of whole numbers"),
        (json.dumps([dud("normalizer", ["x"], SITE)]), 1, "takes no args"),
        (json.dumps([{**dud("queryRemoval", []), "urlPattern": []}]), 1, 'has no "include"'),
        (json.dumps([{**dud("queryRemoval", []), "urlPattern": {"include": "a"}}]), 1, "no list of patterns"),
        ("[" * 100_000, None, "invalid JSON"),
        ("[" + "1" * 5000 + "]", None, "invalid JSON"),
    ],
)
def test_url_discarder_faults(text, line, problem):
    with pytest.raises(RuleFileError) as caught:
        read_url_discarder(text, FILE)
    assert caught.value.line == line
    assert problem in str(caught.value)


def test_url_discarder_reads_the_rules_it_ships():
    shipped = pytest.importorskip("duplicate_url_discarder_rules")
    found = [read_url_discarder(Path(path).read_text(), Path(path)) for path in shipped.RULE_PATHS]
    assert sum(len(each.rules) for each in found) > 400
    told = [each for several in found for each in several.left_out]
    assert all("universal" in each.why for each in told)


# -- hostile text


@given(st.one_of(st.text(), any_text, st.text('[]{}":,0truenull \n')))
@example('[{"order": 0, "processor": "queryRemoval", "args": ["\\ud800"], "urlPattern": {"include": ["a.b"]}}]')
@example('[{"order": 0, "processor": "queryRemoval", "args": ["a[1]"], "urlPattern": {"include": ["a.b"]}}]')
def test_any_text_is_read_or_refused(text):
    with suppress(RuleFileError):
        RuleBook(read_url_discarder(text, FILE, [SITE]).rules).canonical_key("http://example.com/a?b=1")


def test_url_discarder_approximate():
    rule = Rule(SITE, {"path.0": Literal("Shop")}, {"q.sid": Ignore()})
    strict = write_url_discarder(RuleBook([rule]), [SITE])
    assert strict.empty
    assert "upper from lower case" in strict.left_out[0].why
    wide = write_url_discarder(RuleBook([rule]), [SITE], approximate=True)
    assert json.loads(wide.text)[0]["urlPattern"] == {"include": ["example.com/Shop|", "example.com/Shop/"]}
    assert "with or without www." in wide.left_out[0].why
