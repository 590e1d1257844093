"""What rules do, as a user writes them: the key that a URL has under given rules, and what is said of it."""

import pytest

from .crawling import book_of, rule_toml
from .work import work_of

#: What is tried, the rules, and URLs with their keys; where only paths are named they are of example.com.
CASES: list[tuple[str, str, dict[str, str]]] = [
    (
        "a parameter is dropped, whatever its value",
        'ops = { "q.sid" = "ignore" }',
        {"/?sid=1&id=2": "/?id=2", "/?sid": "/", "/?sid=1&sid=2": "/", "/?SID=1": "/?SID=1"},
    ),
    (
        "parameters of one beginning",
        'ops = { "q.utm_*" = "ignore" }',
        {"/?utm_source=a&utm_medium=b&utm=c": "/?utm=c"},
    ),
    (
        "a value is the same as none",
        'ops = { "q.page" = { ignore = ["1"] } }',
        {"/?page=1": "/", "/?page=2": "/?page=2", "/?page=11": "/?page=11"},
    ),
    (
        "a value is the same as another",
        'ops = { "q.action" = { set = { view = "show" }, remove = ["home"], default = "show" } }',
        {"/?action=view": "/?action=show", "/?action=home": "/?action=show", "/": "/?action=show"},
    ),
    (
        "the case of the first letter alone",
        'ops = { "path.1" = "lower-first", "q.t" = "lower-first" }',
        {"/wiki/Cat": "/wiki/cat", "/wiki/CAT": "/wiki/cAT", "/wiki/%C3%89A?t=Ab&t=Cd": "/wiki/%C3%89A?t=ab&t=cd"},
    ),
    (
        "the presence counts, the value does not",
        'ops = { "q.tag" = "ignore-value" }',
        {"/?tag=a": "/?tag=*", "/?tag=b": "/?tag=*", "/": "/", "/?tag=*": "/?tag=*"},
    ),
    (
        "a value dropped only where it is of a class",
        """
match = { "q.sid" = { class = "hex", length = [32, 32] } }
ops = { "q.sid" = "ignore" }
[[rule]]
ops = { "q.n" = { ignore = { class = "int", length = [1, 3] } } }""",
        {
            "/?sid=0123456789abcdef0123456789abcdef": "/",
            "/?sid=abc": "/?sid=abc",
            "/?n=12": "/",
            "/?n=1234": "/?n=1234",
        },
    ),
    (
        "a bundle: both or none",
        """
match = { "q.C" = "N", "q.O" = "A" }
ops = { "q.C" = "ignore", "q.O" = "ignore" }""",
        {"/?C=N;O=A": "/", "/?O=A&C=N": "/", "/?C=N;O=D": "/?C=N;O=D", "/?C=N": "/?C=N"},
    ),
    (
        "a guard that may be absent, one that must be",
        """
match = { "q.a" = { is = "1", optional = true }, "q.b" = { absent = true } }
ops = { "q.x" = "ignore" }""",
        {"/?x=1": "/", "/?x=1&a=1": "/?a=1", "/?x=1&a=2": "/?a=2&x=1", "/?x=1&b=": "/?b=&x=1"},
    ),
    (
        "a page that is constant: all but what the rule asks for is dropped",
        """
match = { "path.0" = "login", "q.do" = { in = ["in", "up"] } }
ops = { "q.*" = "ignore", "path.*" = "ignore" }""",
        {"/login/a/b/?do=in&x=1": "/login?do=in", "/login?do=up&y=2": "/login?do=up", "/login/a?x=1": "/login/a?x=1"},
    ),
    (
        "a segment that may be there, in the first place",
        """
match = { "path.0" = "index.php" }
ops = { "path.0" = "ignore" }""",
        {
            "/index.php/x": "/x",
            "/x": "/x",
            "/index.php/x/": "/x/",
            "/index.php/index.php/x": "/x",
            "/index.php": "/index.php",
        },
    ),
    (
        "after that the shorter path is looked at afresh",
        """
match = { "path.0" = "index.php" }
ops = { "path.0" = "ignore" }
[[rule]]
match = { "path.0" = "show" }
ops = { "q.x" = "ignore" }""",
        {"/index.php/show?x=1": "/show", "/show?x=1": "/show"},
    ),
    (
        "the index page of a directory",
        """
match = { "path.1" = "index", "ext" = "html", "path.2" = { absent = true } }
ops = { "path.1" = "ignore", "ext" = "ignore", "path.trail" = { set = {}, default = "/" } }""",
        {"/dir/index.html": "/dir/", "/dir/": "/dir/", "/dir/index.htm": "/dir/index.htm"},
    ),
    (
        "a segment that may be there, in the last place",
        """
match = { "path.0" = "users", "path.2" = "info" }
ops = { "path.2" = "ignore" }""",
        {"/users/7/info/": "/users/7/", "/users/7/": "/users/7/", "/users/7/info": "/users/7"},
    ),
    (
        "a segment dropped whatever it is keeps its place before others",
        """
match = { "path.0" = "item" }
ops = { "path.2" = "ignore" }""",
        {
            "/item/7/title": "/item/7",
            "/item/7": "/item/7",
            "/item/7/title/reviews": "/item/7/*/reviews",
            "/item/7/other/reviews": "/item/7/*/reviews",
            "/item/7/a/b/c": "/item/7/*/b/c",
        },
    ),
    (
        "unless it shall be cut out",
        """
match = { "path.0" = { class = "int", length = [6, 9] } }
ops = { "path.0" = "cut" }""",
        {"/1234567/a/b": "/a/b", "/a/b": "/a/b"},
    ),
    (
        "several segments at once",
        """
match = { "path.0" = "a" }
ops = { "path.1" = "ignore", "path.2" = "ignore-value", "path.4" = "ignore" }""",
        {"/a/1/2/3/4": "/a/*/*/3", "/a/1": "/a", "/a/1/2": "/a/*/*", "/a/1/2/3/4/5": "/a/*/*/3/*/5"},
    ),
    (
        "what else a segment has stays in its place",
        'ops = { "path.1" = "ignore" }',
        {"/a/b.html": "/a/*.html", "/a/b;v=1": "/a/*;v=1", "/a/b;v=1/c": "/a/*;v=1/c"},
    ),
    (
        "extension, slash, matrix parameters, key=value segments",
        'ops = { "ext" = "ignore", "path.trail" = "ignore", "m.jsessionid" = "ignore", "s.qid" = "ignore" }',
        {
            "/a.html;jsessionid=1": "/a",
            "/qid=7/a/": "/a",
            "/a/qid=7/": "/a",
            "/": "/",
            "/a;v=1;jsessionid=2/b": "/a;v=1/b",
        },
    ),
    (
        "an extension for another, and for none",
        'ops = { "ext" = { set = { htm = "html" }, default = "html" } }',
        {"/a.htm": "/a.html", "/a": "/a.html", "/a.php": "/a.php", "/": "/"},
    ),
    (
        "lower case, escapes apart",
        'ops = { "path.0" = "lower", "q.v" = "lower" }',
        {"/Docs/Intro?v=A%2fB": "/docs/Intro?v=a%2Fb"},
    ),
    (
        "a query that is a path",
        """
match = { "q./1" = { class = "int" } }
ops = { "q./2" = "ignore", "q./3" = "ignore" }
[[rule]]
ops = { "q.a" = "ignore" }""",
        {
            "/p.php?/12/tags/7-ash": "/p.php?%2F12=",
            "/p.php?/12/tags/7-ash/2&a=1": "/p.php?%2F12%2F*%2F*%2F2=",
            "/p.php?/x/tags": "/p.php?%2Fx%2Ftags=",
            "/p.php?from=/12/tags": "/p.php?from=%2F12%2Ftags",
        },
    ),
    (
        "a list of values",
        'ops = { "q.f" = { set-of-values = "," }, "path.0" = { set-of-values = "," } }',
        {"/b,a?f=2,1,2&f=3&g=2,1": "/a,b?f=1%2C2&f=3&g=2%2C1"},
    ),
    (
        "a set of values",
        'ops = { "q.f" = "set-of-values" }',
        {"/?f=2&f=1&f=2": "/?f=1&f=2", "/?f=1&f=2": "/?f=1&f=2", "/?g=1&g=1": "/?g=1&g=1"},
    ),
    (
        "a nested URL",
        'ops = { "q.u" = "nested", "q.sid" = "ignore" }',
        {
            "/?u=http%3A%2F%2FEXAMPLE.com%2F%3Fsid%3D1%26a%3D2": "/?u=http%3A%2F%2Fexample.com%2F%3Fa%3D2",
            "/?u=http://other.com/%3Fsid=1": "/?u=http%3A%2F%2Fother.com%2F%3Fsid%3D1",
            "/?u=/x": "/?u=%2Fx",
            "/?u=%ff": "/?u=%FF",
        },
    ),
    (
        "a nested URL of another site, of which some parameters are ignored here",
        'ops = { "q.u" = { nested = { "other.com" = { "q.sid" = { ignore = { class = "int", length = [1, 9] } }, "q.tag[]" = "ignore" }, "other.com/" = { "q.m" = "ignore" }, "other.com/b" = { "q.n" = "ignore" } } } }',
        {
            "/?u=http://www.OTHER.com/a%3Fsid=12%26b=2%26tag%5B%5D=1": "/?u=http%3A%2F%2Fwww.other.com%2Fa%3Fb%3D2",
            "/?u=http://other.com/%3Fsid=abc": "/?u=http%3A%2F%2Fother.com%2F%3Fsid%3Dabc",
            "/?u=http://other.com/b/c%3Fn=1%26m=2": "/?u=http%3A%2F%2Fother.com%2Fb%2Fc%3Fm%3D2",
            "/?u=http://other.com/?n=1%26m=2": "/?u=http%3A%2F%2Fother.com%2F%3Fn%3D1",
            "/?u=http://other.com/bb%3Fn=1": "/?u=http%3A%2F%2Fother.com%2Fbb%3Fn%3D1",
            "/?u=http://third.com/%3Fsid=1": "/?u=http%3A%2F%2Fthird.com%2F%3Fsid%3D1",
            "/?sid=1": "/?sid=1",
        },
    ),
    (
        "nested in a nested one, to a depth of two",
        'ops = { "q.u" = "nested", "q.s" = "ignore" }',
        {
            "/?s=0&u=http://example.com/?s=1%26u=http://example.com/%3Fs=2%2526u=http://example.com/%253Fs=3": "/?u=http%3A%2F%2Fexample.com%2F%3Fu%3Dhttp%253A%252F%252Fexample.com%252F%253Fu%253Dhttp%25253A%25252F%25252Fexample.com%25252F%25253Fs%25253D3"
        },
    ),
    (
        "copied from the query into the path",
        """
match = { "path.0" = "display" }
ops = { "path.0" = { set = { display = "archive0" } }, "path.1" = { replace = "q.pageid", prefix = "p-" }, "path.2" = { set = {}, default = "display" }, "q.pageid" = "ignore" }""",
        {"/display?pageid=1+0": "/archive0/p-1%200/display", "/archive0/p-1%200/display": "/archive0/p-1%200/display"},
    ),
    (
        "copied from the path into the query",
        """
match = { "path.0" = "t" }
ops = { "q.id" = { replace = "path.1", transform = "lower" }, "path.1" = "ignore" }""",
        {"/t/A+b": "/t?id=a%2Bb", "/t": "/t"},
    ),
    (
        "what a rule brings along stays one value",
        """
match = { "q.a" = "1" }
ops = { "q.a" = { set = { 1 = "x&y=2#z" } }, "path.0" = { set = { p = "q/r?s" } } }""",
        {"/p?a=1": "/q%2Fr%3Fs?a=x%26y%3D2%23z"},
    ),
    (
        "rules are written raw or escaped",
        """
match = { "q.größe" = "a b", "path.0" = "ü:b" }
ops = { "q.tag[]" = "ignore" }""",
        {"/%C3%BC:b?gr%C3%B6%C3%9Fe=a+b&tag[]=1": "/%C3%BC:b?gr%C3%B6%C3%9Fe=a+b"},
    ),
    (
        "a circle has one key",
        'ops = { "q.a" = { set = { 1 = "2", 2 = "3", 3 = "1" } } }',
        {"/?a=1": "/?a=1", "/?a=2": "/?a=1", "/?a=3": "/?a=1", "/?a=4": "/?a=4"},
    ),
    (
        "parameters in any order, whatever divides them",
        'ops = { "query" = "any-order", "q.stamp" = "ignore" }',
        {"/?way=A;stamp=1;col=M": "/?col=M&way=A", "/?col=M&way=A": "/?col=M&way=A", "/?b;a=1": "/?b%3Ba=1"},
    ),
    (
        "matrix parameters in any order",
        'ops = { "matrix" = "any-order" }',
        {"/a;y=1;x=2/b;d;c": "/a;x=2;y=1/b;c;d", "/a": "/a"},
    ),
    (
        "named segments in any order, where they stand in a row",
        """
match = { "path.0" = "list" }
ops = { "path" = { any-order = ["color-", "size-"], after = 1 } }""",
        {
            "/list/size-9/color-red/": "/list/color-red/size-9/",
            "/list/size-9/color-red/page/2": "/list/color-red/size-9/page/2",
            "/list/size-9/sale/color-red": "/list/size-9/sale/color-red",
            "/list/size-9/color-red.html": "/list/color-red/size-9.html",
            "/list/size-9/color-red/index.html": "/list/color-red/size-9/index.html",
            "/other/size-9/color-red": "/other/size-9/color-red",
        },
    ),
    (
        "pairs of segments in any order",
        'ops = { "path" = { any-order = ["color/", "size/"] } }',
        {
            "/size/9/color/red": "/color/red/size/9",
            "/size/color/color/red/page/2": "/color/red/size/color/page/2",
            "/size/9/color": "/size/9/color",
            "/size/9/color/red.html": "/color/red/size/9.html",
        },
    ),
    (
        "all segments after the first in any order",
        'ops = { "path" = { any-order = [], after = 1 } }',
        {"/tags/b/a": "/tags/a/b", "/tags/b//a": "/tags/b//a", "/b/a": "/b/a", "/": "/"},
    ),
    (
        "parameters without a value",
        'ops = { "bare" = { ignore = { class = "int", length = [9, 12] } }, "q.1234567890" = "keep" }',
        {
            "/?1690000000": "/",
            "/?id=7&1690000000": "/?id=7",
            "/?about": "/?about=",
            "/?1690000000=1": "/?1690000000=1",
            "/?1234567890": "/?1234567890=",
        },
    ),
    (
        "parameters without a value, of which it counts that they are there",
        'ops = { "bare" = { ignore-value = ["a", "b"] } }',
        {"/?a": "/?*=", "/?b&c": "/?*=&c="},
    ),
    (
        "a repeat has a key of its own to ask for",
        """
match = { "q.a[1]" = { absent = true } }
ops = { "q.a" = { ignore = ["1"] } }""",
        {"/?a=1": "/", "/?a=1&a=2": "/?a=1&a=2"},
    ),
    (
        "a label of the host",
        """
match = { "host.1" = "www" }
ops = { "host.1" = "ignore" }""",
        {"http://a.www.example.com/": "http://a.example.com/", "http://m.example.com/": "http://m.example.com/"},
    ),
    (
        "a label of the host removed, and one set",
        'ops = { "host.1" = { set = { de = "us" }, remove = ["www"] } }',
        {
            "http://www.example.com/a": "http://example.com/a",
            "http://de.example.com/": "http://us.example.com/",
            "http://m.example.com/": "http://m.example.com/",
        },
    ),
    (
        "any label of the host",
        'ops = { "host.1" = "ignore" }',
        {"http://x.example.com/": "http://example.com/", "http://a.b.example.com/": "http://a.*.example.com/"},
    ),
    (
        "a label where there is none",
        'ops = { "host.1" = { set = {}, default = "www" } }',
        {"/": "http://www.example.com/"},
    ),
    (
        "no label that no host has",
        'ops = { "host.1" = { set = { www = "a/b" } } }',
        {"http://www.example.com/": "http://www.example.com/"},
    ),
    (
        "the scheme",
        'ops = { "scheme" = "ignore" }',
        {"https://example.com/": "http://example.com/", "http://example.com/": "http://example.com/"},
    ),
    (
        "a scheme for another",
        'ops = { "scheme" = { set = { http = "https" } } }',
        {"http://example.com/a": "https://example.com/a"},
    ),
    (
        "user and password stay",
        'ops = { "q.a" = "ignore" }',
        {
            "http://me:x@example.com/?a=1": "http://me:x@example.com/",
            "http://example.com:81/?a=1": "http://example.com:81/?a=1",
        },
    ),
    (
        "values of two parts",
        """
[deep]
"q.topic" = { delimiter = "." }
"path.1" = { delimiter = "-" }
[[rule]]
ops = { "q.topic.tail" = { ignore = ["0"] }, "path.1.head" = "ignore" }""",
        {
            "/?topic=41.0": "/?topic=41",
            "/?topic=41": "/?topic=41",
            "/?topic=41.20": "/?topic=41.20",
            "/p/any-title-7": "/p/7",
            "/p/7": "/p/7",
        },
    ),
    (
        "matrix parameters of two parts",
        """
[deep]
"m.sid" = { delimiter = "." }
[[rule]]
ops = { "m.sid.head" = "ignore", "m.sid.tail" = { ignore = ["node1"] } }""",
        {"/a;sid=0A1B.node1;v=1": "/a;v=1", "/a;sid=0A1B.node2": "/a;sid=node2"},
    ),
    (
        "one part of a value counts that it is there",
        """
[deep]
"q.topic" = { delimiter = "." }
[[rule]]
ops = { "q.topic.tail" = "ignore-value", "q.topic.head" = "ignore" }""",
        {"/?topic=41.0": "/?topic=*"},
    ),
    (
        "one part of a value is asked for",
        """
[deep]
"q.topic" = { delimiter = "." }
[[rule]]
match = { "q.topic.tail" = "0" }
ops = { "q.x" = "ignore" }""",
        {"/?topic=4.0&x=1": "/?topic=4.0", "/?topic=4.1&x=1": "/?topic=4.1&x=1"},
    ),
    (
        "a keep of the user beats a learned order",
        """
status = "active"
ops = { "path" = { any-order = ["a-", "b-"] }, "query" = "any-order" }
[[rule]]
ops = { "path" = "keep" }""",
        {"/b-1/a-1?y=1;x=1": "/b-1/a-1?x=1&y=1"},
    ),
    (
        "only active and manual rules act",
        """
status = "active"
ops = { "q.active" = "ignore" }
[[rule]]
status = "manual"
ops = { "q.manual" = "ignore" }
[[rule]]
status = "candidate"
ops = { "q.candidate" = "ignore" }
[[rule]]
status = "suspended"
ops = { "q.suspended" = "ignore" }
[[rule]]
status = "off"
ops = { "q.off" = "ignore" }""",
        {"/?active=1&manual=1&candidate=1&suspended=1&off=1": "/?candidate=1&off=1&suspended=1"},
    ),
    (
        "of two rules the one that asks for more",
        """
status = "active"
ops = { "q.id" = "ignore", "q.*" = "ignore-value" }
[[rule]]
status = "active"
match = { "path.0" = "a" }
ops = { "q.id" = { set = { "1" = "2" } }, "q.x" = "keep" }""",
        {"/a?id=1&x=1": "/a?x=1", "/b?id=1&x=1": "/b?x=*"},
    ),
    (
        "a rule of the user beats those that are learned",
        """
ops = { "q.id" = "keep" }
[[rule]]
status = "active"
match = { "path.0" = "a" }
ops = { "q.id" = "ignore" }""",
        {"/a?id=1": "/a?id=1"},
    ),
    (
        "eight steps and no more",
        """
match = { "path.0" = "x" }
ops = { "path.0" = "ignore" }""",
        {
            "/x/x/x/x/x/x/x/x/a": "/a",
            "/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/a": "/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/a",
        },
    ),
    (
        "an added segment takes the extension with it",
        """
match = { "path.0" = "a" }
ops = { "path.1" = { replace = "q.id" }, "q.id" = "ignore" }""",
        {"/a.html?id=4": "/a/4.html", "/a/9.html?id=4": "/a/4.html", "/a?id=4": "/a/4"},
    ),
    (
        "an added extension stands after what is left",
        """
match = { "path.1" = { class = "slug" }, "q.id" = { absent = true }, "ext" = { absent = true } }
ops = { "path.0" = { replace = "", prefix = "doku" }, "path.1" = "cut", "ext" = { set = {}, default = "php" }, "q.id" = { replace = ["path.0", "path.1"], join = ":" } }""",
        {"/talk/start?rev=1": "/doku.php?id=talk%3Astart&rev=1", "/talk": "/talk"},
    ),
    (
        "a number without zeros at its beginning",
        'ops = { "q.nr" = { replace = "q.nr", transform = "number" } }',
        {"/?nr=007": "/?nr=7", "/?nr=7": "/?nr=7", "/?nr=000": "/?nr=0", "/?nr=0x7": "/?nr=0x7", "/?nr=": "/?nr="},
    ),
    (
        "a fixed text for a value",
        """
match = { "path.0" = { class = "int", length = [1, 9] }, "path.1" = { absent = true } }
ops = { "path.0" = { replace = "", prefix = "item" }, "q.id" = { replace = "path.0", prefix = "n" } }""",
        {"/55": "/item?id=n55"},
    ),
    (
        "a value shown in itself, under a condition",
        """
match = { "path.0" = { class = "int" } }
ops = { "path.0" = { replace = "path.0", prefix = "v" } }""",
        {"/7": "/v7"},
    ),
]


@pytest.mark.parametrize(("rules", "keys"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_cases(rules: str, keys: dict[str, str]) -> None:
    book = book_of(rules if rules.lstrip().startswith("[") else f"[[rule]]\n{rules}")
    for url, key in keys.items():
        whole, expected = (f"http://example.com{each}" if each.startswith("/") else each for each in (url, key))
        assert book.canonical_key(whole) == expected
        assert book.canonical_key(expected) == expected


def test_site_groups() -> None:
    shops = {"shop": ["a.de", "b.fr"]}
    book = book_of(rule_toml('"host.0" = "ignore"', '"q.sid" = "ignore"'), site="shop", groups=shops)
    assert book.equivalent("http://www.b.fr/x?sid=1", "http://www.a.de/x")
    book = book_of(rule_toml('"host.0" = { set = { "a.de" = "b.fr" } }'), site="shop", groups=shops)
    assert book.canonical_key("http://www.a.de/x") == "http://www.b.fr/x"
    assert book.canonical_key("http://www.c.de/x") == "http://www.c.de/x"


@pytest.mark.parametrize(
    ("match", "ops", "said"),
    [
        ("", '"q.x" = { ignore = { class = "any" } }', "q.x ignore any, everywhere"),
        ("", '"q.x" = { ignore = { class = "any", length = [1] } }', "q.x ignore any{1,}, everywhere"),
        ("", '"q.x" = { ignore = { class = "hex", length = [4] } }', "q.x ignore hex{4,}, everywhere"),
        ("", '"q.x" = { ignore = { class = "any", length = [1, 1] } }', "q.x ignore any{1}, everywhere"),
        ("", '"q.x" = { ignore = { class = "any", length = [1, 6] } }', "q.x ignore any{1,6}, everywhere"),
        (
            '"q.y" = { class = "int", length = [2, 3], optional = true }',
            '"q.x" = { set = { a = "b" } }',
            'q.x "a" as "b", q.y = int{2,3}, or absent (manual)',
        ),
        (
            "",
            '"query" = "any-order"\n"bare" = { ignore = { class = "int" } }\n"path" = { any-order = ["a-", "b-"] }',
            'bare ignore int, path any-order of segments "a-" or "b-", query any-order, everywhere',
        ),
        (
            "",
            '"path" = { any-order = [], after = 1 }\n"matrix" = "any-order"',
            "matrix any-order, path any-order after the first 1, everywhere",
        ),
    ],
)
def test_a_rule_says_itself(match: str, ops: str, said: str) -> None:
    (rule,) = book_of(rule_toml(ops, match=[match] if match else []))
    assert said in str(rule)
    assert rule.to_dict()["site"] == "example.com"


def test_explanation() -> None:
    """Which rules matched a URL, and what each of them changed on it."""
    ops = ('"q.sid" = "ignore"', '"q.id" = "lower"', '"q.new" = { set = {}, default = "1" }', '"query" = "any-order"')
    book = book_of(rule_toml(*ops), rule_toml('"q.x" = "ignore"', match=['"path.0" = "b"']))
    found = book.explain("http://www.example.com/a?sid=1;id=2")
    assert (found.site, found.values["host.1"]) == ("example.com", "www")
    assert found.key == "http://www.example.com/a?id=2&new=1"
    ((rule, used),) = found.rules
    assert set(used) == {"q.sid", "q.new", "query"}
    assert book.matching(found.url) == [rule]
    assert [set(each) for _, each in book.explain("http://example.com/?id=2&new=1").rules] == [set()]
    assert book.explain("no url").rules == ()


def test_rules_that_act_on_what_others_leave() -> None:
    form = rule_toml('"path.0" = { replace = "q.id" }', match=['"q.slug" = { absent = true }'])
    book = book_of(rule_toml('"q.slug" = "ignore"'), form)
    url = "http://example.com/?id=4&slug=a"
    assert [list(rule.ops) for rule in book.matching(url)] == [["q.slug"]]
    assert {key for rule in book.acting(url) for key in rule.ops} == {"q.slug", "path.0"}
    assert book.acting("http://elsewhere.test/") == []


def test_a_book() -> None:
    book = book_of(rule_toml('"q.b" = "ignore"'), rule_toml('"q.a" = "ignore"'))
    assert (len(book), book.sites, repr(book)) == (2, ("example.com",), "<RuleBook: 2 rules for 1 sites>")
    assert list(book) == list(book.for_site("example.com"))
    assert book.for_site("x") == ()
    assert book == book_of(rule_toml('"q.a" = "ignore"'), rule_toml('"q.b" = "ignore"'))
    assert book != book_of(rule_toml('"q.a" = "ignore"'))


def test_many_rules_cost_no_more() -> None:
    """Of a URL whose pattern was met before, the work does not grow with the rules of its site."""
    work = []
    for number in (5, 100):
        book = book_of(*(rule_toml('"q.x" = "ignore"', match=[f'"q.do" = "{n}"']) for n in range(number)))
        for n in range(5):
            assert book.canonical_key(f"http://example.com/?do={n}&x=0") == f"http://example.com/?do={n}"
            assert book.canonical_key(f"http://example.com/?do=a{n}&x=0").endswith("&x=0")
        keys = [f"http://example.com/?do={n}&x=1" for n in range(5)]
        work.append(work_of(lambda book=book, keys=keys: list(map(book.canonical_key, keys)), "scrapy_dedup"))  # type: ignore[misc]
    assert work[1] < 2 * work[0]


def test_the_length_of_a_key_has_a_bound() -> None:
    """Two keys that are shown in each other would grow tenfold with each step."""
    names = [
        f'"q.{one}" = {{ replace = [{", ".join([f"""{chr(34)}q.{other}{chr(34)}"""] * 9)}] }}'
        for one, other in ("ab", "ba")
    ]
    circle = book_of(rule_toml(*names))
    for value in ("12345", "x" * 5_000):
        key = circle.canonical_key(f"http://example.com/?a={value}&b=67")
        assert len(key) < 100_000
        assert circle.canonical_key(key) == key
