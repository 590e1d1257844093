"""``scrapy dedup export`` and ``scrapy dedup import`` as their user meets them."""

import json
import sys

import pytest

from scrapy_dedup.rules import Ignore, Literal, Rule, RuleBook, Set, Status
from scrapy_dedup.urls import ValueClass

SITE = "shop.test"


@pytest.fixture
def rules(project):
    """Rules of two sites in the project."""
    book = RuleBook(
        [
            Rule(SITE, {}, {"q.sid": Ignore()}),
            Rule(SITE, {"path.0": Literal("view")}, {"q.ref": Ignore(only=ValueClass("int", 1, 8))}),
            Rule(SITE, {}, {"q.sort": Set({"asc": None})}, Status.MANUAL),
            Rule("other.test", {}, {"q.utm_source": Ignore()}),
        ]
    )
    book.save(project.folder / "dedup-rules")
    return book


def test_url_discarder(project, rules):
    done = project.scrapy("dedup", "export", "--format", "url-discarder", fresh=True)
    assert done.returncode == 0, done.stderr
    forms = json.loads(done.stdout)
    assert [(form["args"], form["urlPattern"]) for form in forms] == [
        (["utm_source"], {"include": ["other.test"]}),
        (["sid"], {"include": [SITE]}),
    ]
    told = done.stderr.splitlines()
    assert len(told) == 2
    assert all(line.startswith(f"{SITE}: rule ") for line in told)
    assert any("q.ref" in line for line in told)
    assert any("q.sort" in line for line in told)


def test_approximate_says_what_becomes_wider(project, rules):
    done = project.scrapy("dedup", "export", SITE, "--format", "clean-param", "--approximate")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Clean-param: sid\nClean-param: ref /view\n"
    assert "written wider than it is: also where q.ref is not int1-8" in done.stderr


def test_output_file(project, rules):
    done = project.scrapy(
        "dedup", "export", f"http://www.{SITE}/x", "--format", "no-vary-search", "--output", "_headers"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert (project.folder / "_headers").read_text() == '/*\n  No-Vary-Search: params=("sid")\n'


def test_python_module(project, rules):
    done = project.scrapy("dedup", "export", "--format", "python", "--output", "dedup_keys.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    urls = [f"http://{SITE}/view?ref=12&sid=9&sort=asc&id=1", "http://other.test/?utm_source=x", "http://new.test/?b&a"]
    code = f"from dedup_keys import canonical_key\nfor url in {urls!r}: print(canonical_key(url))"
    shown = project.python("-c", code)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.split() == [rules.canonical_key(url) for url in urls]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--format", "toml"], 2, "--format is one of url-discarder, no-vary-search, clean-param, python"),
        ([], 2, "--format is one of"),
        (["--format", "clean-param"], 2, f"is of one site: name one of other.test, {SITE}"),
        (["missing.test", "--format", "python"], 2, "no rules that act for missing.test; there are for: other.test"),
        (
            ["--format", "python", "--output", "no/such/folder/x"],
            2,
            "no/such/folder/x: there is no folder no/such/folder",
        ),
        (["--format", "python", "--outptu", "x"], 2, "unknown option: --outptu"),
    ],
)
def test_mistakes(project, rules, args, code, said):
    done = project.scrapy("dedup", "export", *args)
    assert done.returncode == code
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_rules_are_imported_for_sites_only(project):
    project.write("robots.txt", "Clean-param: ref\n")
    done = project.scrapy("dedup", "import", "robots.txt", "'bad", "--format", "clean-param")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'bad is no site; right ones: example.com" in done.stderr
    assert not (project.folder / "dedup-rules").exists()
    for site in ("127.0.0.1:80", "[::1]:8080", "bücher.example", "http://a_b.example/x"):
        done = project.scrapy("dedup", "import", "robots.txt", site, "--format", "clean-param", "--dry-run")
        assert done.returncode == 0, (site, done.stderr)


def test_nothing_to_write(project):
    done = project.scrapy("dedup", "export", "--format", "python")
    assert done.returncode == 1
    assert "no rules yet" in done.stderr
    RuleBook([Rule(SITE, {}, {"q.sort": Set({"asc": None})})]).save(project.folder / "dedup-rules")
    done = project.scrapy("dedup", "export", SITE, "--format", "clean-param")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "none of the rules can be written as clean-param; --approximate" in done.stderr


def test_import_adds_manual_rules(project, rules):
    project.write("robots.txt", "User-agent: *\nDisallow: /cart\nClean-param: ref&sid\nClean-param: s /forum*/x\n")
    done = project.scrapy("dedup", "import", "robots.txt", SITE, "--format", "clean-param")
    assert done.returncode == 0, done.stderr
    assert f"{SITE}: q.ref ignore, q.sid ignore, everywhere" in done.stdout
    assert "1 rule of robots.txt" in done.stdout
    assert "robots.txt, line 4: not read" in done.stderr
    book = RuleBook.load(project.folder / "dedup-rules")
    manual = [rule for rule in book.for_site(SITE) if rule.status is Status.MANUAL]
    assert {tuple(rule.ops) for rule in manual} == {("q.sort",), ("q.ref", "q.sid")}
    assert len(book) == len(rules) + 1
    assert project.scrapy("dedup", "check").returncode == 0


def test_import_without_writing(project):
    rule = {"order": 0, "processor": "queryRemoval", "args": ["sid"], "urlPattern": {"include": [SITE]}}
    project.write("rules.json", json.dumps([rule]))
    done = project.scrapy("dedup", "import", "rules.json", "--format", "url-discarder", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "q.sid ignore" in done.stdout
    assert not (project.folder / "dedup-rules").exists()


@pytest.mark.parametrize(
    ("text", "args", "code", "said"),
    [
        ("Clean-param: a b", ["--format", "clean-param", SITE], 2, "file:1: the path 'b' does not begin with /; write"),
        ("Clean-param: a", ["--format", "clean-param"], 2, "name the site"),
        ("Clean-param: a", [SITE], 2, "--format is one of url-discarder, no-vary-search, clean-param"),
        ("Disallow: /", ["--format", "clean-param", SITE], 1, f"there is no rule in file for {SITE}"),
        ("[", ["--format", "url-discarder"], 2, "file:1: invalid JSON"),
        ("[]", ["--format", "url-discarder", "--from", "x"], 2, "--from"),
    ],
)
def test_import_mistakes(project, text, args, code, said):
    project.write("file", text)
    done = project.scrapy("dedup", "import", "file", *args)
    assert done.returncode == code
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert not (project.folder / "dedup-rules").exists()


def test_what_is_exported_is_imported_again(project, rules):
    done = project.scrapy("dedup", "export", "--format", "url-discarder", "--output", "rules.json")
    assert done.returncode == 0, done.stderr
    args = ("rules.json", "--format", "url-discarder", "-s", "DEDUP_DIR=again")
    done = project.scrapy("dedup", "import", *args)
    assert done.returncode == 0, done.stderr
    again = RuleBook.load(project.folder / "again")
    assert {(rule.site, *rule.ops) for rule in again} == {(SITE, "q.sid"), ("other.test", "q.utm_source")}


def test_command_imports_little(project):
    """Scrapy imports every command for each one that runs."""
    code = "import sys, scrapy_dedup.commands; print([m for m in sys.modules if m.startswith('scrapy_dedup.rules')])"
    done = project.python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]", sys.version
