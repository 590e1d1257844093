"""Rules in the formats of others: their documents' examples, and laws of reading and writing."""

import json
import re
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, unquote_plus, urlsplit

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
    Set,
    SiteRules,
    Status,
)
from scrapy_dedup.rules.exchange import (
    CleanParam,
    NotExpressible,
    add_rules,
    book_of_texts,
    clean_params,
    exported,
    imported,
    read_clean_param,
    read_no_vary_search,
    read_url_discarder,
    search_variance,
    write_clean_param,
    write_no_vary_search,
    write_python,
    write_url_discarder,
)
from scrapy_dedup.rules.files import load_file, path_of_site, save_site
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


def back(form: str, text: str) -> RuleBook:
    readers = {
        "clean-param": read_clean_param,
        "no-vary-search": read_no_vary_search,
        "url-discarder": read_url_discarder,
    }
    return RuleBook(readers[form](text, FILE, [SITE]).rules)


# -- laws of writing


def cleaned(text: str, url: str) -> str:
    """What Clean-param lines make of a URL, in plain words of their documentation."""
    parts = urlsplit(url)
    names = {name for rule in clean_params(text.splitlines()) if rule.covers(parts.path) for name in rule.names}
    return parts._replace(
        query="&".join(p for p in parts.query.split("&") if p.partition("=")[0] not in names)
    ).geturl()


def without_what_headers_say(text: str, url: str) -> str:
    """What the headers of a ``_headers`` file make of a URL; of several the last one counts."""
    parts = urlsplit(url)
    variance = search_variance("")
    lines = text.splitlines()
    for pattern, header in zip(lines[::2], lines[1::2], strict=True):
        if parts.path == pattern or (pattern[-1] == "*" and parts.path.startswith(pattern[:-1])):
            variance = search_variance(header.partition(":")[2])
    kept = []
    for piece in parts.query.split("&"):
        name = unquote_plus(piece.partition("=")[0])
        if name not in variance.no_vary if variance.no_vary is not None else name in variance.vary:
            kept.append(piece)
    return parts._replace(query="&".join(kept)).geturl()


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


@pytest.mark.parametrize("form", ["clean-param", "no-vary-search", "url-discarder"])
def test_what_is_written_equates_no_more_than_the_rules(form, tmp_path):
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
            text = exported(book, form, [SITE]).text
            if form == "clean-param":
                made = partial(cleaned, text)
            elif form == "no-vary-search":
                made = partial(without_what_headers_say, text)
            else:
                made = discarder(text, tmp_path).process_url
            for url in some:
                assert book.canonical_key(made(url)) == book.canonical_key(url), (scope, text)


@given(rule_sets, st.sampled_from(["clean-param", "no-vary-search", "url-discarder"]), st.booleans())
def test_every_acting_rule_is_written_or_told(several, form, approximate):
    written = exported(RuleBook(several), form, [SITE], approximate=approximate)
    told = {each.what.rpartition(" ")[2] for each in written.left_out}
    acting = {rule.id for rule in several if rule.status.acts}
    assert told <= acting
    if acting - told:
        assert not written.empty


def expressible(form: str) -> list[Rule]:
    """Rules that a format holds exactly."""
    matches: list[dict[str, Predicate]] = [{}]
    if form == "url-discarder":
        www: dict[str, Predicate] = {"host.1": Literal("www", optional=True), "host.2": Absent()}
        matches += [{"host.1": Literal("shop")}, {"scheme": Literal("https")}, www]
    ops: list[dict[str, Ignore | Keep]] = [{"q.sid": Ignore()}, {"q.sid": Ignore(), "q.é 气": Ignore()}]
    if form != "clean-param":
        ops += [{"q.*": Ignore()}, {"q.*": Ignore(), "q.id": Keep()}]
    return [Rule(SITE, match, operations, Status.MANUAL) for match in matches for operations in ops]


@pytest.mark.parametrize("form", ["clean-param", "no-vary-search", "url-discarder"])
def test_what_a_format_holds_comes_back_as_it_was(form):
    for rule in expressible(form):
        written = exported(RuleBook([rule]), form, [SITE])
        assert written.left_out == ()
        found = back(form, written.text)
        assert [(again.match, RuleBook([again]).digest()) for again in found] != []
        (again,) = found
        assert again.match == rule.match
        assert {key: op for key, op in again.ops.items() if key.isascii() and "%" not in key} == {
            key: op for key, op in rule.ops.items() if key.isascii()
        }
        assert len(again.ops) == len(rule.ops)


@pytest.mark.parametrize(
    ("form", "directory"), [("clean-param", "/shop/"), ("no-vary-search", "/shop/*"), ("clean-param", "/a/b_c.d/")]
)
def test_a_directory_comes_back_as_it_was(form, directory):
    names = "ref"
    text = (
        f"Clean-param: {names} {directory}\n"
        if form == "clean-param"
        else f'{directory}\n  No-Vary-Search: params=("ref")\n'
    )
    book = back(form, text)
    written = exported(book, form, [SITE])
    assert written.text == text
    assert written.left_out == ()


def test_why_a_rule_cannot_be_written_names_all_that_is_in_the_way():
    rule = Rule(SITE, {"path.0": OneOf(["cat", "item"], optional=True)}, {"host.1": IgnoreValue("www")})
    (left_out,) = exported(RuleBook([rule]), "clean-param", [SITE]).left_out
    assert (
        left_out.why == "not written: the format has no operation on host.1; the format has no such condition on path.0"
    )


def test_guards_are_left_away_only_when_asked():
    rule = Rule(SITE, {}, {"q.sid": Ignore(only=ValueClass("hex", 32, 32)), "q.page": Ignore(only={"1"})})
    for write in (write_clean_param, write_no_vary_search):
        strict = write([rule])
        assert strict.text == ""
        assert "not written" in strict.left_out[0].why
        wide = write([rule], approximate=True)
        assert "sid" in wide.text
        assert "page" not in wide.text
        assert [each.what for each in wide.left_out] == [rule.id, rule.id]
        assert any("written wider than it is: also where q.sid is not hex32" in each.why for each in wide.left_out)


def test_what_another_rule_keeps_is_not_written():
    drops = Rule(SITE, {}, {"q.sid": Ignore(), "q.ref": Ignore()})
    keeps = Rule(SITE, {"path.0": Literal("login")}, {"q.sid": Keep()}, Status.MANUAL)
    written = write_clean_param([drops, keeps])
    assert written.text == "Clean-param: ref\n"
    assert {each.what for each in written.left_out} == {drops.id, keeps.id}


def test_rules_that_do_not_act_are_not_written():
    off = Rule(SITE, {}, {"q.sid": Ignore()}, Status.OFF)
    for form in ("clean-param", "no-vary-search", "url-discarder"):
        written = exported(RuleBook([off]), form, [SITE])
        assert written.empty
        assert written.left_out == ()


def test_deep_tokens_are_told():
    rule = Rule(SITE, {}, {"q.topic": Ignore()})
    written = write_clean_param([rule], {"q.topic": DeepSplit(".")})
    assert written.text == ""
    assert "two parts" in written.left_out[0].why


def test_formats_of_one_site_say_so():
    book = RuleBook([Rule(SITE, {}, {"q.a": Ignore()}), Rule("other.test", {}, {"q.b": Ignore()})])
    for form in ("clean-param", "no-vary-search"):
        with pytest.raises(ValueError, match="is of one site"):
            exported(book, form, book.sites)
    forms = json.loads(exported(book, "url-discarder", book.sites).text)
    assert [form["urlPattern"]["include"] for form in forms] == [["example.com"], ["other.test"]]


# -- Clean-param: the examples of Yandex's documentation


@pytest.mark.parametrize(
    ("line", "first", "second"),
    [
        (
            "Clean-param: ref /some_dir/get_book.pl",
            "http://www.example.com/some_dir/get_book.pl?ref=site_1&book_id=123",
            "http://www.example.com/some_dir/get_book.pl?ref=site_2&book_id=123",
        ),
        (
            "Clean-param: s /forum/showthread.php",
            "http://www.example.com/forum/showthread.php?s=681498b9648949605&t=8243",
            "http://www.example.com/forum/showthread.php?s=1e71c4427317a117a&t=8243",
        ),
        (
            "Clean-param: sid /index.php",
            "http://www.example.com/index.php?page=1&sid=2564126ebdec301c607e5df",
            "http://www.example.com/index.php?page=1&sid=974017dcd170d6c4a5d76ae",
        ),
        (
            "Clean-param: sid&sort /forum/*.php",
            "http://example.com/forum/list.php?sid=5&sort=asc&t=1",
            "http://example.com/forum/list.php?t=1",
        ),
        (
            "Clean-param: someTrash&otherTrash",
            "http://example.com/anything/at/all?someTrash=1&x=2",
            "http://example.com/anything/at/all?x=2&otherTrash=5",
        ),
    ],
)
def test_clean_param_examples(line, first, second):
    found = read_clean_param(f"User-agent: Yandex\nDisallow:\n{line}\n", FILE, [SITE])
    assert found.left_out == ()
    assert all(rule.status is Status.MANUAL and rule.note for rule in found.rules)
    book = RuleBook(found.rules)
    assert book.equivalent(first, second)
    assert not book.equivalent(first, re.sub(r"(book_id|t|page|x)=\w+", r"\1=other", second))
    upper = line.partition(" ")[2].split("&")[0].split()[0].upper()
    if upper not in line:
        assert book.canonical_key(f"{first}&{upper}=1") != book.canonical_key(first)


def test_clean_param_in_several_scripts():
    text = "Clean-param: s /forum/index.php\nclean-param : s /forum/showthread.php # twice\n"
    book = RuleBook(read_clean_param(text, FILE, [SITE]).rules)
    for script in ("index.php", "showthread.php"):
        assert book.equivalent(f"http://example.com/forum/{script}?s=1&t=2", f"http://example.com/forum/{script}?t=2")
    assert not book.equivalent("http://example.com/forum/other.php?s=1", "http://example.com/forum/other.php")


def test_clean_param_a_wildcard_within_a_segment_is_told():
    line = "Clean-param: s&ref /forum*/showthread.php"
    found = read_clean_param(line, FILE, [SITE])
    assert found.rules == ()
    assert found.left_out == (NotExpressible("line 1", "not read: no predicate is about a part of a segment (forum*)"),)
    (rule,) = clean_params([line])
    assert rule.names == ("s", "ref")
    assert rule.covers("/forum_old/showthread.php")
    assert rule.covers("/forum/x/showthread.php5")
    assert not rule.covers("/forum/index.php")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Clean-param:", "names no parameter"),
        ("Clean-param: & /x", "names no parameter"),
        ("Clean-param: a b/c", "does not begin with /"),
        ("Clean-param: a /b /c", "something after its path"),
        ("Clean-param: a /b?c=1", "has other characters"),
        (f"Clean-param: {'&'.join(['abcdefghi'] * 51)}", "has 509 characters, and may have 500"),
    ],
)
def test_clean_param_faults(line, problem):
    with pytest.raises(RuleFileError) as caught:
        read_clean_param(f"User-agent: *\n{line}\n", FILE, [SITE])
    assert caught.value.line == 2
    assert problem in str(caught.value)
    assert "write Clean-param: " in str(caught.value)
    assert list(clean_params([line])) == []


def test_clean_param_lines_are_no_longer_than_500():
    names = [f"parameter_{number:04}" for number in range(200)]
    match: dict[str, Predicate] = {"path.0": Literal("shop"), "path.1": ANY}
    slash: dict[str, Predicate] = {**SCOPES[4]}
    ops = {f"q.{name}": Ignore() for name in names}
    written = write_clean_param([Rule(SITE, match, ops), Rule(SITE, slash, ops)])
    assert written.left_out == ()
    lines = written.text.splitlines()
    assert max(len(line.removeprefix("Clean-param: ")) for line in lines) <= 500
    assert len(lines) < 10
    assert sorted(name for rule in clean_params(lines) for name in rule.names) == names
    assert {rule.path for rule in clean_params(lines)} == {"/shop/"}


clean_param_lines = st.builds(
    lambda names, path: f"Clean-param: {'&'.join(names)} {path}".rstrip(),
    st.lists(st.sampled_from(["sid", "id", "ref", "utm_source", "tag[]"]), min_size=1, max_size=2),
    st.sampled_from(["", "/", "/shop", "/shop/", "/Shop*", "/shop/*/view", "/some_dir/get_book.pl", "/*.php", "/7/*"]),
)


@given(clean_param_lines, urls)
@example("Clean-param: sid /shop", "http://example.com/shop.html?sid=1")
def test_clean_param_is_never_read_wider(line, url):
    book = RuleBook(read_clean_param(line, FILE, [SITE]).rules)
    (rule,) = clean_params([line])
    parts = urlsplit(url)
    names = {*rule.names, *(WRITTEN.get(name, name) for name in rule.names)}
    kept = [piece for piece in parts.query.split("&") if piece.partition("=")[0] not in names]
    cleaned = parts._replace(query="&".join(kept)).geturl() if rule.covers(parts.path) else url
    assert book.canonical_key(url) in {normal_form(url), normal_form(cleaned)}
    if rule.path in {"", "/", "/shop/"}:
        assert book.canonical_key(url) == normal_form(cleaned)


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
    with pytest.raises(RuleFileError) as caught:
        read_no_vary_search(f"# headers\n/*\n  No-Vary-Search: {value}\n", FILE, [SITE])
    assert caught.value.line == 3


def test_no_vary_search_unknown_keys_say_nothing():
    assert search_variance("unknown-key") == search_variance("")
    assert read_no_vary_search("No-Vary-Search: unknown-key\n", FILE, [SITE]).rules == ()


def test_no_vary_search_names_are_decoded():
    book = RuleBook(read_no_vary_search('No-Vary-Search: params=("%C3%A9+%E6%B0%97")', FILE, [SITE]).rules)
    forms = ["?é 気=1", "?é+気=2", "?%C3%A9%20気=3", "?%C3%A9+%E6%B0%97=4"]
    assert len({book.canonical_key(f"https://example.com/{form}") for form in forms}) == 1


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


variances = st.one_of(
    st.sets(st.sampled_from(NAMES), min_size=1, max_size=3).map(lambda names: (names, None)),
    st.sets(st.sampled_from(NAMES), max_size=2).map(lambda names: (None, names)),
)


@given(variances, urls, parameters)
def test_no_vary_search_agrees_with_the_drafts_comparison(variance, url, others):
    no_vary, vary = variance
    quoted = " ".join(f'"{WRITTEN.get(name, name)}"' for name in sorted(no_vary or vary or ()))
    value = f"params=({quoted})" if no_vary is not None else f"params, except=({quoted})"
    assert search_variance(value).no_vary == no_vary
    book = RuleBook(read_no_vary_search(f"No-Vary-Search: {value}", FILE, [SITE]).rules)
    parts = urlsplit(url)
    other = url_of(parts.scheme, parts.netloc, parts.path, others)

    def significant(query: str) -> list[tuple[str, str]]:
        pairs = parse_qsl(query, keep_blank_values=True)
        return sorted((n, v) for n, v in pairs if (n not in no_vary if no_vary is not None else n in vary))

    assert book.equivalent(url, other) == (significant(parts.query) == significant(urlsplit(other).query))


def test_no_vary_search_of_a_path_says_all_of_it():
    everywhere = Rule(SITE, {}, {"q.sid": Ignore()})
    in_shop = [Rule(SITE, scope, {"q.ref": Ignore()}) for scope in (SCOPES[3], SCOPES[4])]
    written = write_no_vary_search([everywhere, *in_shop])
    assert written.text == ('/*\n  No-Vary-Search: params=("sid")\n/shop/*\n  No-Vary-Search: params=("ref" "sid")\n')
    keeps = [Rule(SITE, scope, {"q.*": Ignore(), "q.id": Keep()}) for scope in (SCOPES[3], SCOPES[4])]
    written = write_no_vary_search([everywhere, *keeps])
    assert written.text.endswith('/shop/*\n  No-Vary-Search: params, except=("id")\n')


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
    written = exported(book, "url-discarder", [SITE])
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
    found = [imported(path, "url-discarder", []) for path in shipped.RULE_PATHS]
    assert sum(len(each.rules) for each in found) > 400
    told = [each for several in found for each in several.left_out]
    assert all("universal" in each.why for each in told)


# -- hostile text


@given(st.one_of(st.text(), any_text, st.text('[]{}":,0truenull \n')), st.sampled_from(["c", "n", "d"]))
@example('[{"order": 0, "processor": "queryRemoval", "args": ["\\ud800"], "urlPattern": {"include": ["a.b"]}}]', "d")
@example('[{"order": 0, "processor": "queryRemoval", "args": ["a[1]"], "urlPattern": {"include": ["a.b"]}}]', "d")
@example("Clean-param: \ud800 /", "c")
@example('No-Vary-Search: params=("%ff%00")', "n")
def test_any_text_is_read_or_refused(text, which):
    read = {"c": read_clean_param, "n": read_no_vary_search, "d": read_url_discarder}[which]
    prefix = {"c": "Clean-param: ", "n": "No-Vary-Search: ", "d": ""}[which]
    for attempt in (text, prefix + text):
        try:
            found = read(attempt, FILE, [SITE])
        except RuleFileError:
            continue
        RuleBook(found.rules).canonical_key("http://example.com/a?b=1")


# -- the module, the files


def test_python_module_is_the_same_function(tmp_path):
    groups = {"shop": ["shop.example", "shop.test"]}
    rule = Rule("shop", {"path.0": Literal("tü\"'\\")}, {"q.topic.tail": Ignore(), "q.sid": Ignore(only={"a\nb"})})
    other = Rule(SITE, {}, {"q.p": Set({"all": None})}, Status.MANUAL, note="'''")
    book = RuleBook([rule, other], {"shop": {"q.topic": DeepSplit(".")}}, groups)
    text = exported(book, "python", book.sites).text
    module: dict[str, object] = {}
    exec(compile(text, "keys.py", "exec"), module)
    for url in (
        "http://shop.test/t%C3%BC%22'%5C?topic=41.20&sid=a%0Ab",
        "http://example.com/?p=all&q=1",
        "http://elsewhere.test/?b&a",
        "no URL",
    ):
        assert module["canonical_key"](url) == book.canonical_key(url)
    assert book_of_texts(module["RULES"], groups) == book
    assert write_python([], {}).count("canonical_key = ") == 1


def test_rules_are_added_beside_those_that_are_there(tmp_path):
    learned = Rule(SITE, {}, {"q.a": Ignore()})
    off = Rule(SITE, {}, {"q.b": Ignore()}, Status.OFF)
    save_site(tmp_path, SiteRules(SITE, (learned, off), {"q.t": DeepSplit(".")}))
    found = read_clean_param("Clean-param: a\nClean-param: b\nClean-param: c\n", FILE, [SITE, "other.test"])
    count, told = add_rules(tmp_path, found.rules)
    assert count == 5
    assert [each.what for each in told] == [f"{SITE}: rule {off.id}"]
    rules = load_file(path_of_site(tmp_path, SITE))
    assert {(*rule.ops, rule.status) for rule in rules.rules} == {
        ("q.a", Status.MANUAL),
        ("q.b", Status.OFF),
        ("q.c", Status.MANUAL),
    }
    assert rules.deep == {"q.t": DeepSplit(".")}
    assert len(load_file(path_of_site(tmp_path, "other.test")).rules) == 3
    assert add_rules(tmp_path, found.rules)[0] == 5


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "rules.json"
    path.write_bytes(b"[\n\xff]")
    with pytest.raises(RuleFileError, match=r"rules\.json:2: this is not UTF-8"):
        imported(path, "url-discarder", [])
    path.write_text("\ufeffClean-param: a", encoding="utf-8")
    assert len(imported(path, "clean-param", [SITE]).rules) == 1
    with pytest.raises(ValueError, match="name the site"):
        imported(path, "clean-param", [])


def test_clean_param_is_a_value():
    assert CleanParam.of("a&b /x") == CleanParam(("a", "b"), "/x")


def test_url_discarder_approximate():
    rule = Rule(SITE, {"path.0": Literal("Shop")}, {"q.sid": Ignore()})
    strict = write_url_discarder([rule], domains=[SITE])
    assert strict.empty
    assert "upper from lower case" in strict.left_out[0].why
    wide = write_url_discarder([rule], domains=[SITE], approximate=True)
    assert json.loads(wide.text)[0]["urlPattern"] == {"include": ["example.com/Shop|", "example.com/Shop/"]}
    assert "with or without www." in wide.left_out[0].why
