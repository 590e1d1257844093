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
    done = project.scrapy("dedup", "export", fresh=True)
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
    done = project.scrapy("dedup", "export", f"http://www.{SITE}/x", "--approximate", "--output", "rules.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    forms = json.loads((project.folder / "rules.json").read_text())
    assert [form["args"] for form in forms] == [["sid"], ["ref"]]
    assert "written wider than it is: also where q.ref is not int1-8" in done.stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["missing.test"], 2, "no rules that act for missing.test; there are for: other.test"),
        (["--output", "no/such/folder/x"], 2, "no/such/folder/x: there is no folder no/such/folder"),
        (["--outptu", "x"], 2, "unknown option: --outptu"),
    ],
)
def test_mistakes(project, rules, args, code, said):
    done = project.scrapy("dedup", "export", *args)
    assert done.returncode == code
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def written(project, *parameters):
    """A file of rules for all sites, which drop these parameters."""
    rule = {"order": 0, "processor": "queryRemoval", "args": parameters, "urlPattern": {"include": [""]}}
    project.write("rules.json", json.dumps([rule]))


def test_rules_are_imported_for_sites_only(project):
    written(project, "ref")
    done = project.scrapy("dedup", "import", "rules.json", "'bad")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'bad is no site; right ones: example.com" in done.stderr
    assert not (project.folder / "dedup-rules").exists()
    for site in ("127.0.0.1:80", "[::1]:8080", "bücher.example", "http://a_b.example/x"):
        done = project.scrapy("dedup", "import", "rules.json", site, "--dry-run")
        assert done.returncode == 0, (site, done.stderr)


def test_nothing_to_write(project):
    done = project.scrapy("dedup", "export")
    assert done.returncode == 1
    assert "no rules yet" in done.stderr
    RuleBook([Rule(SITE, {}, {"q.sort": Set({"asc": None})})]).save(project.folder / "dedup-rules")
    done = project.scrapy("dedup", "export", SITE)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "none of the rules can be written; --approximate" in done.stderr


def test_import_adds_manual_rules(project, rules):
    RuleBook([*rules, Rule(SITE, {}, {"q.b": Ignore()}, Status.OFF)]).save(project.folder / "dedup-rules")
    several = [
        {"order": 0, "processor": "queryRemoval", "args": args, "urlPattern": {"include": [pattern]}}
        for args, pattern in ((["ref", "sid"], SITE), (["s"], f"{SITE}/forum*/x"), (["b"], SITE))
    ]
    project.write("rules.json", json.dumps(several, indent=0))
    for _ in range(2):
        done = project.scrapy("dedup", "import", "rules.json", SITE)
        assert done.returncode == 0, done.stderr
        assert f"{SITE}: q.ref ignore, q.sid ignore, everywhere" in done.stdout
        assert "1 rule of rules.json" in done.stdout
        assert "not read: no predicate is about a part of a segment (forum*)" in done.stderr
        assert "left off, as it is in the rule file" in done.stderr
    book = RuleBook.load(project.folder / "dedup-rules")
    manual = [rule for rule in book.for_site(SITE) if rule.status is Status.MANUAL]
    assert {tuple(rule.ops) for rule in manual} == {("q.sort",), ("q.ref", "q.sid")}
    assert len(book) == len(rules) + 2
    assert project.scrapy("dedup", "check").returncode == 0


def test_import_without_writing(project):
    rule = {"order": 0, "processor": "queryRemoval", "args": ["sid"], "urlPattern": {"include": [SITE]}}
    project.write("rules.json", json.dumps([rule]))
    done = project.scrapy("dedup", "import", "rules.json", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "q.sid ignore" in done.stdout
    assert not (project.folder / "dedup-rules").exists()


@pytest.mark.parametrize(
    ("text", "args", "code", "said"),
    [
        ("[]", [SITE], 1, f"there is no rule in file for {SITE}"),
        ("[", [], 2, "file:1: invalid JSON"),
        ("[]", ["--from", "x"], 2, "--from"),
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
    done = project.scrapy("dedup", "export", "--output", "rules.json")
    assert done.returncode == 0, done.stderr
    args = ("rules.json", "-s", "DEDUP_DIR=again")
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
