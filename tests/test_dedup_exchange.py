"""``scrapy dedup export`` and ``import``: rules go over to duplicate-url-discarder and back, never wider than they are, and what does not is told."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook

from .conftest import Project
from .crawling import ignore, rule_toml, rules_of, save_rules

SITE = "shop.test"
#: Of each site the rules, the parameters of what is written (all others, where they begin with "-"), and what is told of the
#: rest; then the same of ``--approximate``.
EXPORTED: dict[str, tuple[list[str], list[str], list[str], list[str], list[str]]] = {
    SITE: (
        [
            ignore("q.sid"),
            rule_toml('"q.ref" = { ignore = { class = "int", length = [1, 8] } }', match=['"path.0" = "view"']),
            rule_toml('"q.sort" = { set = {}, remove = ["asc"] }'),
        ],
        ["sid"],
        ["q.ref", "q.sort"],
        ["sid", "ref"],
        ["written wider than it is: also where q.ref is not int1-8", "q.sort"],
    ),
    "other.test": ([ignore("q.utm_source")], ["utm_source"], [], ["utm_source"], []),
    "all.test": ([rule_toml('"q.*" = "ignore"', '"q.id" = "keep"')], ["-id"], [], ["-id"], []),
    "both.test": (
        [rule_toml('"host.1" = { ignore-value = ["www"] }', match=['"path.0" = { in = ["a", "b"], optional = true }'])],
        [],
        ["not written: the format has no operation on host.1; the format has no such condition on path.0"],
        [],
        ["the format has no operation on host.1"],
    ),
    "kept.test": (
        [rule_toml('"q.a" = "ignore"', '"q.b" = "ignore"', status="active", evidence={"groups": 9}), rule_toml('"q.a" = "keep"', match=['"path.0" = "login"'])],
        ["b"],
        ["", ""],
        ["b"],
        ["", ""],
    ),
    "off.test": ([ignore("q.sid", "off"), ignore("q.c")], ["c"], [], ["c"], []),
    "deep.test": (['[deep]\n"q.topic" = { delimiter = "." }', ignore("q.topic")], [], ["two parts"], [], ["two parts"]),
    "case.test": ([rule_toml('"q.sid" = "ignore"', match=['"path.0" = "Shop"'])], [], ["upper from lower case"], ["sid"], ["with or without www."]),
}  # fmt: skip


def arguments_of(forms: list[dict[str, Any]], site: str) -> list[str]:
    """The parameters that rules of duplicate-url-discarder drop, or all but those with "-"."""
    own = [form for form in forms if any(site in pattern for pattern in form["urlPattern"]["include"])]
    return [("-" if form["processor"] == "queryRemovalExcept" else "") + name for form in own for name in form["args"]]


@pytest.mark.parametrize("wide", [False, True])
def test_what_is_exported_and_what_is_told(project: Project, wide: bool) -> None:
    for site, (rules, *_) in EXPORTED.items():
        save_rules(site, *rules, directory=project.folder / "dedup-rules")
    output = ["--approximate", "--output", "rules.json"] if wide else []
    done = project.scrapy("dedup", "export", *output)
    assert done.returncode == 0, done.stderr
    assert bool(done.stdout) is not wide
    forms = json.loads((project.folder / "rules.json").read_text() if wide else done.stdout)
    lines = done.stderr.splitlines()
    for site, (_, *expected) in EXPORTED.items():
        names, told = expected[2:] if wide else expected[:2]
        own = [line for line in lines if line.startswith(f"{site}: ")]
        assert arguments_of(forms, site) == names
        assert bool(own) == bool(told)
        assert all(any(part in line for line in own) for part in told), own


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """url-matcher would look for a newer list of public suffixes."""
    extract = pytest.importorskip("tldextract").TLDExtract(suffix_list_urls=(), cache_dir=None)
    monkeypatch.setattr("tldextract.tldextract.TLD_EXTRACTOR", extract)


def discarder(path: Path) -> Any:
    """What duplicate-url-discarder makes of a URL with the rules of a file."""
    return pytest.importorskip("duplicate_url_discarder.url_canonicalizer").UrlCanonicalizer([path]).process_url


def normal(url: str) -> str:
    return RuleBook().canonical_key(url)


PATHS = [
    *("/", "/shop", "/shop/", "/shop.html", "/shop.html/", "/Shop", "/shop/x", "/shop/view/", "/shopping", "/7", "/7/"),
    *("/7.html", "/7/a.php", "/7/a.php/x", "/7/a/b.php", "/7/.php", "/72", "/a/view", "/a/view/x", "/a/b/view"),
    *("/some_dir/get_book.pl", "/some_dir/get_book.plx", "/some_dir/get_book.pl/", "/some_dir/get_book.pl/x"),
]
SCOPES = [
    "",
    '"path.0" = "shop"',
    '"path.0" = "7"',
    '"path.0" = "shop"\n"path.1" = { class = "any" }',
    '"path.0" = "shop"\n"path.1" = { absent = true }\n"path.trail" = "/"\n"ext" = { absent = true }',
    '"path.0" = "some_dir"\n"path.1" = "get_book"\n"ext" = "pl"\n"path.2" = { absent = true }',
    '"path.0" = "7"\n"path.1" = { class = "any" }\n"ext" = "php"',
    '"path.0" = { absent = true }',
    '"path.0" = { class = "any" }\n"path.1" = "view"',
    '"host.1" = "shop"',
    '"host.1" = { is = "www", optional = true }\n"host.2" = { absent = true }',
    '"host.1" = { absent = true }',
    '"scheme" = "https"',
    '"q.id" = "1"',
    '"q.id" = { class = "any" }',
    '"path.len" = "2"',
]
OPS = [
    ['"q.sid" = "ignore"', '"q.ref" = "ignore"', '"q.%C3%A9+%E6%B0%94" = "ignore"'],
    ['"q.*" = "ignore"', '"q.ref" = "keep"'],
    ['"q.sid" = { ignore = ["1"] }', '"q.tag[]" = "ignore"'],
    ['"q.sid" = "lower"', '"path.0" = "ignore"', '"q.utm_*" = "ignore"'],
]


def urls_of(site: str) -> list[str]:
    queries = ("sid=1&id=1&ref=2&tag%5B%5D=3", "SID=1&id=aB&ID=1&sid=2&%C3%A9+%E6%B0%94=x&utm_source=m")
    hosts = (site, f"www.{site}", f"shop.{site}", f"a.shop.{site}")
    return [
        f"{'https' if len(path) % 2 else 'http'}://{host}{path}?{query}"
        for host in hosts
        for path in PATHS
        for query in queries
    ]


def test_with_rules_of_ours_the_discarder_loses_no_page(project: Project) -> None:
    """It equates no more URLs than the rules do; and what the format holds comes back as it was."""
    folder = project.folder / "dedup-rules"
    for number, (scope, ops) in enumerate(product(SCOPES, OPS)):
        rule = rule_toml(*ops, match=[scope] if scope else [])
        save_rules(
            f"s{number}.test", rule, rule_toml('"q.id" = "ignore"', match=['"path.0" = "shop"']), directory=folder
        )
    book = RuleBook.load(folder)
    project.told("dedup", "export", "--output", "rules.json")
    made = discarder(project.folder / "rules.json")
    smaller = 0
    for site in book.sites:
        for url in urls_of(site):
            theirs, key = made(url), book.canonical_key(url)
            assert book.canonical_key(theirs) == key
            smaller += len(theirs) < len(url)
    assert smaller > 1_000
    project.told("dedup", "import", "rules.json", "-s", "DEDUP_DIR=again")
    again = RuleBook.load(project.folder / "again")
    whole = {rule.id for rule in again} & {rule.id for rule in book}
    assert len(whole) == 8
    assert all(again.canonical_key(url) in {normal(url), book.canonical_key(url)} for url in urls_of("s1.test"))


PATTERNS = [
    *("{0}", "shop.{0}", "https://{0}", "{0}/", "{0}/shop", "{0}/shop/", "{0}/shop|", "{0}/shop?id=1", "{0}/?id=*"),
    *("{0}/*/view", "{0}/some_dir/get_book.pl|", "www.{0}/7"),
]


def dud(processor: str, args: list[Any], *include: str, **more: object) -> dict[str, object]:
    return {"order": 0, "processor": processor, "args": args, "urlPattern": {"include": list(include), **more}}


def test_rules_of_the_discarder_are_never_read_wider(project: Project) -> None:
    """Of whole domains they are read as they are there."""
    names = ["sid", "ref", "utm_source", "tag%5B%5D"]
    processors = ("queryRemoval", "queryRemovalExcept")
    cases = list(enumerate(product(processors, PATTERNS)))
    forms = [dud(processor, names, pattern.format(f"s{number}.test")) for number, (processor, pattern) in cases]
    paths = {"p0.test": [-1], "p1.test": [0], "p2.test": [1, 2], "p3.test": [-1, 0]}
    forms += [dud("subpathRemoval", list(args), site) for site, args in paths.items()]
    path = project.write("rules.json", json.dumps(forms))
    project.told("dedup", "import", "rules.json")
    book, theirs = RuleBook.load(project.folder / "dedup-rules"), discarder(path)
    for number, (_, pattern) in cases:
        assert f"s{number}.test" in book.sites
        for url in urls_of(f"s{number}.test"):
            keys = {normal(theirs(url))} | (set() if pattern in PATTERNS[:4] else {normal(url)})
            assert book.canonical_key(url) in keys
    for site in paths:
        # Extensions and the slash at the end are no parts of a segment here.
        urls = [f"http://{site}{each.rstrip('/').replace('.', '-')}" for each in PATHS]
        for one, other in product(urls, urls):
            assert book.equivalent(one, other) == (normal(theirs(one)) == normal(theirs(other)))


def test_what_the_discarder_ships_is_read(project: Project) -> None:
    shipped = pytest.importorskip("duplicate_url_discarder_rules").RULE_PATHS
    done = [project.scrapy("dedup", "import", str(path), "--dry-run", "--json") for path in shipped]
    lines = [json.loads(line) for each in done for line in each.stdout.splitlines()]
    assert sum(line["type"] == "rule" for line in lines) > 400
    assert all("universal" in line["message"] for line in lines if line["type"] == "left out")
    assert not (project.folder / "dedup-rules").exists()


def test_rules_become_the_users(project: Project) -> None:
    """Beside those that are there; what is off stays off, and what is not read is told with its line."""
    folder = project.folder / "dedup-rules"
    (off,) = RuleBook.load(save_rules(SITE, rule_toml('"q.b" = "ignore"', status="active"), directory="off").parent)
    save_rules(
        SITE,
        ignore("q.sort"),
        f"{ignore('q.b', 'off')}".replace("status", f'id = "{off.id}"\nstatus'),
        directory=folder,
    )
    forms = [
        dud("queryRemoval", ["ref", "sid"], SITE),
        dud("queryRemoval", ["b"], SITE),
        dud("queryRemoval", ["s"], f"{SITE}/forum*/x", f"{SITE}/#top", "*.shop.test", f"ftp://{SITE}", "http://[::"),
        dud("queryRemoval", ["a"], f"{SITE}/?id=1*"),
        dud("queryRemoval", ["a=b"], SITE),
        dud("queryRemoval", ["a"], SITE, exclude=[f"{SITE}/login"]),
        dud("queryRemoval", ["utm"], ""),
        dud("normalizer", [], "n.test"),
    ]  # fmt: skip
    project.write("rules.json", json.dumps(forms, indent=0))
    for _ in range(2):
        done = project.scrapy("dedup", "import", "rules.json", SITE, "n.test", "other.test")
        assert done.returncode == 0, done.stderr
        assert f"{SITE}: q.ref ignore, q.sid ignore, everywhere" in done.stdout
        told = done.stderr.splitlines()
        for part in (
            "no predicate is about a part of a segment (forum*)",
            "left off, as it is in the rule file",
            "exclude",
            "www0 to www9",
        ):
            assert [line for line in told if part in line], part
        assert len([line for line in told if "rules.json, line " in line]) == 9
    assert {(*rule["ops"], rule.get("status", "manual")) for rule in rules_of(SITE, folder)} == {
        ("q.sort", "manual"),
        ("q.b", "off"),
        ("q.ref", "q.sid", "manual"),
    }
    assert [list(rule["ops"]) for rule in rules_of("other.test", folder)] == [["q.utm"]], (
        "where no other rule is, as there"
    )
    book = RuleBook.load(folder)
    same = ["http://www.n.test/a/", "http://n.test/a", "http://www2.n.test/a"]
    assert len({book.canonical_key(url) for url in same}) == 1
    assert not book.equivalent("http://shop.n.test/a", same[1])
    assert project.scrapy("dedup", "check").returncode == 0


#: Arguments, what the file holds, the exit code and what is said.
MISTAKES = [
    (["import"], "[]", 2, "no FILE"),
    (["import", "file", SITE], "[]", 1, f"there is no rule in file for {SITE}"),
    (["import", "file", "--from", "x"], "[]", 2, "--from"),
    (["import", "file", "'bad"], "[]", 2, "'bad is no site; right ones: example.com"),
    (["import", "file"], json.dumps([dud("queryRemoval", ["a"], "")]), 1, "there is no rule in file"),
    (["import", "file"], "[\n{", 2, "file:2: invalid JSON"),
    (["import", "file"], "{}", 2, "file:1: this is no list of rules"),
    (["import", "file"], "[\n\n 5]", 2, "file:3: rule 1: it is no object"),
    (["import", "file"], '[\n{"order": 0}]', 2, 'it has no "processor"'),
    (["import", "file"], json.dumps([dud("nothing", [], SITE)]), 2, "there is no processor 'nothing'"),
    (["import", "file"], json.dumps([dud("queryRemoval", [5], SITE)]), 2, "no list of names"),
    (["import", "file"], json.dumps([dud("subpathRemoval", [True], SITE)]), 2, "no list of whole numbers"),
    (["import", "file"], json.dumps([dud("normalizer", ["x"], SITE)]), 2, "takes no args"),
    (["import", "file"], json.dumps([{**dud("queryRemoval", []), "urlPattern": []}]), 2, 'has no "include"'),
    (["import", "file"], "[" * 100_000, 2, "invalid JSON"),
    (["import", "file"], "[" + "1" * 5000 + "]", 2, "invalid JSON"),
    (["import", "file"], json.dumps([dud("queryRemoval", ["\ud800"], "a.test")]), 1, "there is no rule in file"),
    (["export"], "", 1, "no rules yet"),
    (["export", "--outptu", "x"], "", 2, "unknown option: --outptu"),
]  # fmt: skip


def test_mistakes_are_told_and_nothing_is_written(project: Project) -> None:
    for arguments, text, code, said in MISTAKES:
        project.write("file", text)
        project.refuses(["dedup"], (arguments, code, said))
    assert not (project.folder / "dedup-rules").exists()
    project.write("file", json.dumps([dud("queryRemoval", ["ref", "a[1]"], "")]))
    sites = ("127.0.0.1:80", "[::1]:8080", "bücher.example", "http://a_b.example/x")
    assert "Nothing was written (--dry-run)" in project.told("dedup", "import", "file", *sites, "--dry-run")
    save_rules(SITE, rule_toml('"q.sort" = { set = {}, remove = ["asc"] }'), directory=project.folder / "dedup-rules")
    project.refuses(
        ["dedup", "export"],
        ([], 1, "none of the rules can be written; --approximate"),
        (["missing.test"], 2, f"no rules that act for missing.test; there are for: {SITE}"),
        (["--output", "no/such/folder/x"], 2, "no/such/folder/x: there is no folder no/such/folder"),
    )
