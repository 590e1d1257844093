"""Rule files: read and written, edited by hand, faulty, locked."""

import errno
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from scrapy_dedup.masks.files.mask_files import check_masks
from scrapy_dedup.rules import (
    Absent,
    AnyOrder,
    Evidence,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    Nested,
    OfClass,
    OneOf,
    Replace,
    Rule,
    RuleBook,
    RuleFileError,
    RuleWriteError,
    Set,
    SetOfValues,
    SiteRules,
    Status,
    check,
    load_file,
    path_of_site,
    save_site,
    update_site,
)
from scrapy_dedup.rules.reading import read_rules
from scrapy_dedup.rules.writing import written_rules
from scrapy_dedup.urls import DeepSplit, ValueClass

from .rules import any_rules, deep_tokens
from .work import work_of

SITE = "example.com"


def by_id(rules: SiteRules) -> list[Rule]:
    return sorted(rules.rules, key=lambda rule: rule.id)


def rule(name: str, **more: object) -> Rule:
    return Rule(SITE, {}, {f"q.{name}": Ignore()}, **more)  # type: ignore[arg-type]


@given(any_rules(SITE), deep_tokens)
def test_read_and_written_is_the_same_rules(rules: list[Rule], deep: dict[str, DeepSplit]) -> None:
    site = SiteRules(SITE, tuple(rules), deep)
    text = written_rules(site)
    found, errors = read_rules(text, Path("x"))
    assert not errors
    assert found is not None
    assert by_id(found) == by_id(site)
    assert found.deep == site.deep
    assert written_rules(found, text) == text


@given(any_rules(SITE), any_rules(SITE), deep_tokens, deep_tokens)
def test_edited_says_what_it_should(
    before: list[Rule], after: list[Rule], deep: dict[str, DeepSplit], new_deep: dict[str, DeepSplit]
) -> None:
    old = written_rules(SiteRules(SITE, tuple(before), deep))
    common = [replace(one, evidence=None, status=Status.OFF) for one in before[::2]]
    new = {one.id: one for one in [*common, *after]}
    site = SiteRules(SITE, tuple(new.values()), new_deep)
    found, errors = read_rules(written_rules(site, old), Path("x"))
    assert not errors
    assert found is not None
    assert by_id(found) == by_id(site)
    assert found.deep == site.deep


def test_all_forms(tmp_path: Path) -> None:
    rules = SiteRules(
        SITE,
        (
            Rule(
                SITE,
                {
                    "path.0": Literal("a"),
                    "path.1": Literal("b", optional=True),
                    "path.2": OneOf(["x", "y"]),
                    "q.sid": OfClass(ValueClass("hex", 32, 32), optional=True),
                    "q.n": OfClass(ValueClass("int")),
                    "ext": Absent(),
                },
                {
                    "q.a": Ignore(),
                    "q.b": Ignore(["1", "2"]),
                    "q.c": Ignore(ValueClass("int", 1, 3)),
                    "q.d": Ignore(cut=True),
                    "q.e": IgnoreValue(),
                    "q.f": IgnoreValue(["1"]),
                    "q.g": Set({"show": "", "home": None, None: "1"}),
                    "q.h": Lower(),
                    "q.i": SetOfValues(),
                    "q.list": SetOfValues(","),
                    "q.j": Nested(),
                    "q.k": Keep(),
                    "q.nested": Nested(
                        {"example.org": {"q.sid": Ignore(["1"]), "q.n": Ignore()}, "b.de": {"q.x": Ignore()}}
                    ),
                    "q.l": Replace("path.1", "p-", ".html", "lower"),
                    "q.m": Replace(["path.1", "q.n"], "p-", "", "number", ":"),
                    "q.utm_*": Ignore(),
                    "path.0": Ignore(["a"], cut=True),
                    "path": AnyOrder(["color-", "size/"], after=1),
                    "query": AnyOrder(),
                    "bare": Ignore(ValueClass("int", 9, 12)),
                },
                note='said "so"\n',
                evidence=Evidence(("difference-sets",), 12, 1, 30, 40, 20, 0.01, (("http://a/?x=…", "http://a/"),)),
            ),
        ),
        {"q.id": DeepSplit(":", "first", optional=True), "q.topic": DeepSplit(".", "first")},
    )
    path = save_site(tmp_path, rules)
    assert load_file(path) == rules
    assert path.read_text("utf-8").startswith(
        """\
format = "dedup-rules/1"
site = "example.com"

[deep]
"q.id" = { delimiter = ":", side = "first", optional = true }
"q.topic" = { delimiter = ".", side = "first" }

[[rule]]
"""
    )
    assert '"q.sid" = { class = "hex", length = [32, 32], optional = true }\n' in path.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [path]


HAND = """\
# Rules of the shop, reviewed by Ann.
format = "dedup-rules/1"
site = "example.com"   # the live one

# Ours: before all others, and in this order.
[[rule]]
id = "sessions"
status = "manual"
ops = { "q.sid" = 'ignore' }     # not a word more

# The language is the page.
[[rule]]
[rule.ops]
"q.lang" = "keep"

# learned, and looked at in May
[[rule]]
id = "{id}"
status = "active"
note = "fine"
[rule.ops]
"q.ref" = "ignore"  # only from mails
[rule.evidence]
groups = 12    # few
# end of the learned ones

[[rule]]
id = "{off}"
status = "off"   # it lost us the archive
[rule.ops]
"q.page" = "ignore"
"""


def hand_written(tmp_path: Path) -> Path:
    path = tmp_path / "example.com.toml"
    path.write_text(HAND.replace("{id}", rule("ref").id).replace("{off}", rule("page").id))
    return path


def test_evidence_of_a_state_that_changes_is_written(tmp_path: Path) -> None:
    path = hand_written(tmp_path)
    path.write_text(path.read_text().replace('status = "active"', 'status = "candidate"'))
    ref = rule("ref", evidence=Evidence(groups=40, learners=("difference-sets",)))
    update_site(tmp_path, SITE, [ref])
    text = path.read_text()
    assert 'status = "active"' in text
    assert "groups = 40    # few" in text


def test_learned_rules_that_are_gone_leave_and_the_users_stay(tmp_path: Path) -> None:
    path = hand_written(tmp_path)
    update_site(tmp_path, SITE, [], gone=[rule("ref").id, "sessions", rule("page").id])
    text = path.read_text()
    assert "q.ref" not in text
    assert "# Ours: before all others" in text
    assert [one.status for one in load_file(path).rules] == [Status.MANUAL, Status.MANUAL, Status.OFF]


def test_new_rules_stand_in_order(tmp_path: Path) -> None:
    save_site(tmp_path, SiteRules(SITE, (rule("b"), rule("d"))))
    update_site(tmp_path, SITE, [rule("d"), rule("c"), rule("a"), rule("b"), rule("e")])
    found = load_file(tmp_path / "example.com.toml")
    assert [next(iter(one.ops)) for one in found.rules] == ["q.a", "q.b", "q.c", "q.d", "q.e"]


def test_an_edited_rule_is_manual(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = save_site(tmp_path, SiteRules(SITE, (rule("ref"),)))
    path.write_text(path.read_text().replace('"q.ref" = "ignore"', '"q.ref" = "lower"'))
    with caplog.at_level("INFO"):
        [found] = load_file(path).rules
    assert found.status is Status.MANUAL
    assert "edited" in caplog.text
    update_site(tmp_path, SITE, [rule("ref")])
    assert [(one.ops, one.status) for one in load_file(path).rules] == [({"q.ref": Lower()}, Status.MANUAL)]
    assert 'status = "manual"' in path.read_text()


def test_suspended_stays_so(tmp_path: Path) -> None:
    save_site(tmp_path, SiteRules(SITE, (rule("a", status=Status.SUSPENDED), rule("b", status=Status.CANDIDATE))))
    found = update_site(tmp_path, SITE, [rule("a"), rule("b")])
    assert {one.ops.keys().__iter__().__next__(): one.status for one in found.rules} == {
        "q.a": Status.SUSPENDED,
        "q.b": Status.ACTIVE,
    }
    gone = [rule("b").id]
    assert [one.status for one in update_site(tmp_path, SITE, [], gone=gone).rules] == [Status.SUSPENDED]


def test_a_book_is_saved_and_loaded(tmp_path: Path) -> None:
    book = RuleBook(
        [rule("a"), Rule("127.0.0.1:8104", {}, {"q.b": Ignore()})], {"deep.example": {"q.t": DeepSplit("-")}}
    )
    book.save(tmp_path / "new" / "rules")
    assert sorted(path.name for path in (tmp_path / "new" / "rules").iterdir()) == [
        "127.0.0.1_8104.toml",
        "deep.example.toml",
        "example.com.toml",
    ]
    assert RuleBook.load(tmp_path / "new" / "rules") == book
    assert check(tmp_path / "new" / "rules") == check(tmp_path / "missing") == []


def test_several_directories(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    save_site(one, SiteRules(SITE, (rule("a"), rule("b", note="first"))))
    save_site(two, SiteRules(SITE, (rule("a", status=Status.OFF), rule("b", note="second"), rule("c"))))
    book = RuleBook.load(one, two)
    assert {next(iter(found.ops)): (found.status.value, found.note) for found in book} == {
        "q.a": ("off", ""),
        "q.b": ("active", "first"),
        "q.c": ("active", ""),
    }


def test_file_names(tmp_path: Path) -> None:
    assert path_of_site(tmp_path, "127.0.0.1:8104") == tmp_path / "127.0.0.1_8104.toml"
    assert path_of_site(tmp_path, "[::1]:80") == tmp_path / "___1__80.toml"
    assert path_of_site(tmp_path, "../etc") == tmp_path / "_etc.toml"
    assert len(path_of_site(tmp_path, "a" * 300).name) < 110


def test_sites_with_one_file_name(tmp_path: Path) -> None:
    a, b = Rule("h:80", {}, {"q.a": Ignore()}), Rule("h_80", {}, {"q.b": Ignore()})
    RuleBook([a, b]).save(tmp_path)
    RuleBook([a, b]).save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert list(RuleBook.load(tmp_path)) == [a, b]


HEAD = 'format = "dedup-rules/1"\nsite = "example.com"\n'


@pytest.mark.parametrize(
    ("text", "line", "problem", "remedy"),
    [
        ('site = "example.com"\n', 1, "format is missing", 'format = "dedup-rules/1"'),
        ('format = "dedup-rules/9"\nsite = "example.com"\n', 1, "dedup-rules/9", "dedup-rules/1"),
        ('format = "dedup-rules/1"\n', 1, "site is missing", "example.com"),
        ('format = "dedup-rules/1"\nsite = 7\n', 2, "site is 7", "in quotes"),
        ('format = "dedup-rules/1"\nsite = "other.com"\n', 2, "named example.com.toml", "other.com.toml"),
        ('format = "dedup-rules/1"\nsite = "http://www.Example.com/"\n', 2, "without scheme", 'site = "example.com"'),
        (HEAD + "x = \n", 3, "invalid TOML", "correct the line"),
        (HEAD + 'x = "y\n', 3, "invalid TOML: a string is not closed", "correct the line"),
        (HEAD + 'rules = "x"\n', 3, 'no key "rules"', "did you mean rule?"),
        (HEAD + "[rule]\nid = '1'\n", 3, "rule is no list", "[[rule]]"),
        (HEAD + '[[rule]]\nid = "1"\n', 3, "does nothing", "[rule.ops]"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = "drop"\n', 5, '"drop" is no operation', '"ignore"'),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = 1\n', 5, "1 is no operation", '"ignore"'),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { ignore = 1 }\n', 5, "ignore is no list of strings", "write ignore"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { ignore = [1] }\n', 5, "ignore is no list of strings", "write ignore"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { ignore = [], x = 1 }\n', 5, "x does not belong", "ignore"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { set = { a = 1 } }\n', 5, "set a is 1", "string"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { set = 1 }\n', 5, "set is 1", "table"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { replace = "q.b", transform = "up" }\n', 5, "transform", "lower"),
        (HEAD + '[[rule]]\n[rule.ops]\n"sid" = "ignore"\n', 5, 'no URL has the key "sid"', "q.NAME"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = "ignore"\n[rule.match]\n"pth.0" = "a"\n', 7, "pth.0", "path.0"),
        (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = "ignore"\n[rule.match]\n"q.a" = 7\n', 7, "7 is no condition", "absent"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { class = "hx" }\n', 5, 'class is "hx"', "hex"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { class = "hex", length = 3 }\n', 5, "length is 3", "[32, 32]"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { class = "hex", length = [3, 2] }\n', 5, "length", "least"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { is = 3 }\n', 5, '"is" is 3', "string"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { in = "3" }\n', 5, "in is no list", "write in"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { absent = false }\n', 5, "absent = false", "any"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = { optional = 1, is = "" }\n', 5, "optional is 1", "true or false"),
        (HEAD + '[[rule]]\n[rule.match]\n"q.a" = {}\n', 5, "no condition", "class"),
        (HEAD + '[[rule]]\nstatus = "on"\nops = {}\n', 4, "status is 'on'", "active"),
        (HEAD + "[[rule]]\nid = 7\nops = {}\n", 4, "id is 7", "string"),
        (HEAD + "[[rule]]\nops = 7\n", 4, "ops is no table", "[rule.ops]"),
        (HEAD + "[[rule]]\nopps = {}\n", 4, 'no key "opps"', "did you mean ops?"),
        (HEAD + "[[rule]]\nops = {}\nevidence = 1\n", 5, "evidence is no table", "[rule.evidence]"),
        (HEAD + "[[rule]]\nops = {}\n[rule.evidence]\ngroups = 'x'\n", 6, "groups is 'x'", "number"),
        (HEAD + "[[rule]]\nops = {}\n[rule.evidence]\nexamples = ['x']\n", 6, "examples", "[]"),
        (HEAD + "[[rule]]\nops = {}\n[rule.evidence]\nlearners = 'x'\n", 6, "learners", "write learners = "),
        (HEAD + "[[rule]]\nops = {}\n[rule.evidence]\nupper95 = 'x'\n", 6, "upper95", "0 and 1"),
        (
            HEAD + "[[rule]]\nid = 'a'\nops = {}\n[[rule]]\nid = 'a'\nops = {}\n",
            7,
            "second rule has the id a",
            "another",
        ),
        (HEAD + "[deep]\n'q.a' = 1\n", 4, "no deep token", "delimiter"),
        (HEAD + "[deep]\n'q.a' = { delimiter = '' }\n", 4, "empty", "delimiter"),
        (HEAD + "[deep]\n'a' = { delimiter = '-' }\n", 4, 'the key "a"', "q.NAME"),
        (HEAD + "deep = 1\n", 3, "deep is no table", "[deep]"),
    ],
)
def test_faulty_files(tmp_path: Path, text: str, line: int, problem: str, remedy: str) -> None:
    path = tmp_path / "example.com.toml"
    path.write_text(text)
    with pytest.raises(RuleFileError) as caught:
        RuleBook.load(tmp_path)
    error = caught.value
    assert (error.path, error.line) == (path, line)
    assert problem in error.problem
    assert remedy in error.remedy
    assert str(error) == f"{path}:{line}: {error.problem}; {error.remedy}"
    assert [str(one) for one in check(tmp_path)][:1] == [str(error)]
    with pytest.raises(RuleFileError):
        update_site(tmp_path, SITE, [rule("a")])
    assert path.read_text() == text


def test_every_fault_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[[rule]]\nops = 1\nstatus = 'x'\n")
    (tmp_path / "b.toml").write_bytes(b'format = "dedup-rules/1"\nsite = "b"\n# \xff\n')
    found = [(error.path.name, error.line) for error in check(tmp_path)]
    assert found == [("a.toml", 1), ("a.toml", 1), ("a.toml", 2), ("a.toml", 3), ("b.toml", 3)]


def test_a_missing_directory(tmp_path: Path) -> None:
    save_site(tmp_path / "rules", SiteRules(SITE, (rule("a"),)))
    with pytest.raises(RuleFileError, match=r"missing: there is no such directory; name .* missing_ok=True") as caught:
        RuleBook.load(tmp_path / "rules", tmp_path / "missing")
    assert caught.value.path == tmp_path / "missing"
    assert list(RuleBook.load(tmp_path / "rules", tmp_path / "missing", missing_ok=True)) == [rule("a")]
    assert len(RuleBook.load(tmp_path / "missing", missing_ok=True)) == 0


def test_no_directory_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuleFileError, match="this is no directory"):
        RuleBook.load(tmp_path / "file")
    assert len(check(tmp_path / "file")) == 1
    with pytest.raises(RuleFileError, match="no such file"):
        load_file(tmp_path / "x.toml")


def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuleWriteError, match=r"cannot be written.*DEDUP_DIR") as caught:
        save_site(tmp_path / "file", SiteRules(SITE, (rule("a"),)))
    assert isinstance(caught.value, OSError)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = save_site(tmp_path, SiteRules(SITE, (rule("a"),)))
    before = path.read_text()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RuleWriteError, match="No space left"):
        save_site(tmp_path, SiteRules(SITE, (rule("b"),)))
    assert path.read_text() == before
    assert sorted(found.name for found in tmp_path.iterdir()) == ["example.com.toml", "file"]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="to root nothing is read-only")
def test_a_read_only_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RuleWriteError, match="Permission denied"):
            save_site(tmp_path, SiteRules(SITE, (rule("a"),)))
    finally:
        tmp_path.chmod(0o700)


def test_mode_links_and_marks(tmp_path: Path) -> None:
    real = tmp_path / "real"
    path = save_site(real, SiteRules(SITE, (rule("a"),)))
    path.chmod(0o640)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "example.com.toml").symlink_to(path)
    save_site(folder, SiteRules(SITE, (rule("b"),)))
    assert (folder / "example.com.toml").is_symlink()
    assert list(RuleBook.load(real)) == [rule("b")]
    assert path.stat().st_mode & 0o777 == 0o640


_SAVER = """
import sys
from scrapy_dedup.rules import Ignore, Rule, update_site
directory, name = sys.argv[1:]
rules = [Rule("example.com", {}, {f"q.{name}{n}": Ignore()}) for n in range(30)]
print("ready", flush=True)
sys.stdin.readline()
for turn in range(12):
    update_site(directory, "example.com", rules[turn:], gone=[rule.id for rule in rules[:turn]])
"""


def test_two_processes_leave_a_whole_file(tmp_path: Path) -> None:
    savers = [
        subprocess.Popen(
            [sys.executable, "-c", _SAVER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]
    for saver in savers:
        assert saver.stdout is not None
        assert saver.stdout.readline() == "ready\n"
    for saver in savers:
        assert saver.stdin is not None
        saver.stdin.write("\n")
        saver.stdin.flush()
    while any(saver.poll() is None for saver in savers):
        RuleBook.load(tmp_path)  # whole at any moment
    assert [saver.returncode for saver in savers] == [0, 0, 0]
    for saver in savers:
        saver.communicate()
    names = Counter(next(iter(found.ops))[2] for found in RuleBook.load(tmp_path))
    assert names == {"a": 19, "b": 19, "c": 19}, "no update of one is lost to another"
    assert [path.name for path in tmp_path.iterdir()] == ["example.com.toml"]


RULE = HEAD + "[[rule]]\n[rule.ops]\n"
EVIDENCE = RULE + '"q.a" = "ignore"\n[rule.evidence]\n'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (RULE + '"q.a" = ' + "[" * 1000 + "]" * 1000, 5, "in one another"),
        (RULE + '"q.a" = ' + "[\n" * 1000 + "]\n" * 1000, 37, "in one another"),
        (RULE + '"q.a" = ' + "{ a = " * 1000 + "1" + "}" * 1000, 5, "in one another"),
        (HEAD + "x." * 20_000 + "x = 1", 3, "in one another"),
        (HEAD + '"x" . ' * 20_000 + "x = 1", 3, "in one another"),
        (RULE + '"q.a" = { replace = [' + '"q.a", ' * 10 + "] }", 5, "shows itself 10 times"),
        (RULE + '"q.a" = { replace = "q.b", prefix = "' + "x" * 1_000_000 + '" }', 5, "8,192 characters"),
        (RULE + '"path.' + "9" * 5000 + '" = "ignore"', 5, "no URL has the key"),
        (HEAD + '"a\\nb" = 1', None, 'no key "a\\nb"'),
        (HEAD + "k" * 100_000 + " = 1", 3, "no key"),
        (EVIDENCE + "groups = -5", 7, "groups is -5"),
        (EVIDENCE + "groups = " + "9" * 4000, 7, "a hundred digits or more"),
        (EVIDENCE + "groups = 0x" + "f" * 9000, 7, "a hundred digits or more"),
        (EVIDENCE + "groups = " + "9" * 30, 7, "groups is 999"),
        (EVIDENCE + "upper95 = " + "9" * 30, 7, "upper95 is 999"),
    ],
    ids=range(15),
)
def test_files_that_stop_their_readers(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    (tmp_path / "example.com.toml").write_text(text + "\n")
    (fault,) = check(tmp_path)
    assert (fault.line, "\n" in str(fault)) == (line, False)
    assert problem in fault.problem
    assert len(str(fault)) < 1_500
    with pytest.raises(RuleFileError):
        RuleBook.load(tmp_path)


def test_deep_and_long_enough(tmp_path: Path) -> None:
    """What a rule says may look like too much, and is not: brackets and dots in texts, and rules without end."""
    note = "[[[{{{" * 20 + "a.b" * 50
    said = "".join(f'[[rule]]\nnote = "{note}"  # {note}\n[rule.ops]\n"q.a{n}" = "ignore"\n' for n in range(40))
    long = f'note = """\n{note}\n"""\n[rule.ops]\n"q.z" = "ignore"\n'
    (tmp_path / "example.com.toml").write_text(HEAD + said + "[[rule]]\n" + long)
    assert check(tmp_path) == []
    assert len(RuleBook.load(tmp_path)) == 41


def test_the_work_on_faults_grows_with_their_number(tmp_path: Path) -> None:
    work = []
    for number in (100, 200, 400):
        (tmp_path / "example.com.toml").write_text(HEAD + "".join(f"k{n} = 1\n" for n in range(number)))
        assert [fault.line for fault in check(tmp_path)] == list(range(3, number + 3))
        work.append(work_of(lambda: check(tmp_path), "scrapy_dedup"))
    assert work[2] < 2.5 * work[1] < 6.25 * work[0]


def test_the_length_of_a_key_has_a_bound() -> None:
    """Two keys that are shown in each other grow tenfold with each step; a guard lets one be shown in itself."""
    circle = RuleBook([Rule(SITE, {}, {"q.a": Replace(["q.b"] * 10), "q.b": Replace(["q.a"] * 10)})])
    for value in ("12345", "x" * 5_000):
        key = circle.canonical_key(f"http://{SITE}/?a={value}&b=67")
        assert len(key) < 100_000
        assert circle.canonical_key(key) == key
    guarded = Rule(SITE, {"path.0": OfClass(ValueClass("int"))}, {"path.0": Replace("path.0", prefix="v")})
    assert RuleBook([guarded]).canonical_key(f"http://{SITE}/7") == f"http://{SITE}/v7"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["example.com.toml", "example.com.mask.toml"])
def test_what_is_no_file_is_not_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for make in (lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), path.mkdir):
        make()
        faults = check(tmp_path) + check_masks(tmp_path)
        assert [fault.problem for fault in faults] == ["this is no regular file"]
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_link_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "example.com.toml"
    path.symlink_to(path.name)
    (fault,) = check(tmp_path)
    with pytest.raises(RuleFileError, match=re.escape(fault.problem)):
        update_site(tmp_path, SITE, [rule("a")])


@pytest.mark.parametrize("site", ["shop.mask", "con", "nul.example.com", "COM1", "aux.mask"])
def test_sites_whose_names_are_others(tmp_path: Path, site: str) -> None:
    """Their rules stand in no mask file, and in no device of Windows; a site of the name that is taken has its own file."""
    other = path_of_site(tmp_path, site).name.removesuffix(".toml")
    rules = [Rule(each, {}, {"q.a": Ignore()}) for each in (site, other)]
    RuleBook(rules).save(tmp_path)
    names = [path.name for path in tmp_path.iterdir()]
    assert len(names) == 2
    assert not any(
        name.endswith(".mask.toml") or name.split(".")[0].lower() in {"con", "nul", "com1", "aux"} for name in names
    )
    assert check(tmp_path) + check_masks(tmp_path) == []
    assert set(RuleBook.load(tmp_path)) == set(rules)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner")
def test_a_lock_folder_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes the folder first may put links to the user's files into it, which would be emptied."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folder = tmp_path / "tmp" / f"scrapy-dedup-{os.getuid()}"
    precious = tmp_path / "diary"
    precious.write_text("precious")
    folder.parent.mkdir()
    update_site(tmp_path / "rules", SITE, [rule("a")])
    (lock,) = folder.glob("*.lock")
    lock.unlink()
    lock.symlink_to(precious)
    for mode, owner in ((0o777, os.getuid()), (0o700, 54_321)):
        folder.chmod(mode)
        if owner != os.getuid():
            if os.getuid():
                continue
            os.chown(folder, owner, -1)
        with pytest.raises(RuleWriteError, match=r"belongs to others.*set TMPDIR"):
            update_site(tmp_path / "rules", SITE, [rule("b")])
    assert precious.read_text() == "precious"
    lock.unlink()
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RuleWriteError, match="belongs to others"):
        update_site(tmp_path / "rules", SITE, [rule("b")])
    folder.unlink()
    assert {each.id for each in update_site(tmp_path / "rules", SITE, [rule("b")]).rules} == {
        rule("a").id,
        rule("b").id,
    }
