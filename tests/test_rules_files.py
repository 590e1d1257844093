"""Rule files are the user's: read, checked, and written so that all stays that is the user's, whatever happens meanwhile."""

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Observation, RuleBook, learn_rules, load_mask

from .conftest import Project
from .crawling import book_of, ignore, rule_toml, rules_of, save_rules, statuses
from .rules import deep_texts, rule_texts, texts, toml

SITE = "example.com"
RULES = Path("dedup-rules")


def learned(*names: str, **evidence: object) -> RuleBook:
    """A book of learned rules, each of which ignores a parameter."""
    return book_of(*(ignore(f"q.{name}", "active", **evidence) for name in names))


_evidence = st.fixed_dictionaries(
    {"groups": st.integers(1, 10**6)},
    optional={
        "samples": st.integers(0, 99),
        "upper95": st.floats(0, 1).map(lambda share: round(share, 4)),
        "learners": st.lists(texts, max_size=2),
        "examples": st.lists(st.tuples(texts, texts), max_size=2),
    },
).map(lambda fields: "[rule.evidence]\n" + "\n".join(f"{name} = {toml(value)}" for name, value in fields.items()))
_statuses = ["candidate", "active", "suspended", "manual", "off"]


@given(deep_texts, rule_texts(statuses=_statuses), st.lists(st.tuples(_evidence, texts), min_size=4, max_size=4))
def test_what_is_written_is_read_again_and_stays_byte_for_byte(
    deep: str, rules: list[str], more: list[tuple[str, str]]
) -> None:
    said = [
        rule.replace("\n[rule", f"\nnote = {toml(note)}\n[rule", 1) + f"\n{evidence}"
        for rule, (evidence, note) in zip(rules, more, strict=False)
    ]
    folder, written = save_rules(SITE, deep, *said, directory="by-hand").parent, Path("written")
    shutil.rmtree(written, ignore_errors=True)
    book = RuleBook.load(folder)
    book.save(written)
    assert RuleBook.load(written, missing_ok=True) == book
    for each in (folder, *([written] if book else [])):
        before = [path.read_bytes() for path in each.iterdir()]
        RuleBook.load(each).save(each)
        assert [path.read_bytes() for path in each.iterdir()] == before


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


def test_a_file_of_the_user_keeps_its_words_while_learned_rules_come_and_change() -> None:
    RULES.mkdir()
    path = RULES / f"{SITE}.toml"
    ref, page = (next(iter(learned(name))) for name in ("ref", "page"))
    before = HAND.replace("{id}", ref.id).replace("{off}", page.id).replace('status = "active"', 'status = "candidate"')
    path.write_text(before)
    learned("ref", "page", "sid", "zoom", "a", groups=40).save(RULES)
    text = path.read_text()
    kept = before.replace('status = "candidate"', 'status = "active"').replace("groups = 12 ", "groups = 40 ")
    assert set(kept.splitlines()) <= set(text.splitlines())
    assert statuses(SITE) == {
        "q.sid": "manual",
        "q.lang": "manual",
        "q.ref": "active",
        "q.page": "off",
    } | dict.fromkeys(["q.zoom", "q.a"], "active")
    assert [list(rule["ops"]) for rule in rules_of(SITE)].count(["q.page"]) == 1, "what is off is not learned back"
    learned("ref", "page", "sid", "zoom", "a", groups=40).save(RULES)
    assert path.read_text() == text


def test_a_suspended_rule_stays_so_and_an_edited_one_is_the_users(caplog: pytest.LogCaptureFixture) -> None:
    book = learned("a", "b", "c")
    book.save(RULES)
    path = RULES / f"{SITE}.toml"
    lines = path.read_text().replace('"q.b" = "ignore"', '"q.b" = "lower"')
    path.write_text(lines.replace('status = "active"', 'status = "suspended"', 1))
    with caplog.at_level("INFO"):
        found = {key: rule.status for rule in RuleBook.load(RULES) for key in rule.ops}
    assert "edited" in caplog.text
    assert found == {"q.a": "suspended", "q.b": "manual", "q.c": "active"}
    book.save(RULES)
    assert {key: value for rule in rules_of(SITE) for key, value in rule["ops"].items()} == {
        "q.a": "ignore",
        "q.b": "lower",
        "q.c": "ignore",
    }
    assert statuses(SITE) == found


def test_ids_say_what_a_rule_does() -> None:
    """So that the same rule has the same name in each file, whatever its status and the order of its lines."""
    one, two = (
        next(iter(book_of(rule_toml('"q.c" = "ignore"', match=match, status=status))))
        for match, status in (
            (['"q.a" = "1"', '"q.b" = { absent = true }'], "active"),
            (['"q.b" = { absent = true }', '"q.a" = "1"'], "off"),
        )
    )
    assert one.id == two.id == "90e94689"
    assert len({one.id, *(rule.id for rule in learned("a", "b"))}) == 3


def test_several_directories() -> None:
    save_rules(SITE, ignore("q.a", "active"), ignore("q.b", "active"), directory="one")
    save_rules(SITE, ignore("q.a", "off"), ignore("q.b", "suspended"), ignore("q.c", "active"), directory="two")
    for order in (("one", "two"), ("two", "one")):
        found = {key: str(rule.status) for rule in RuleBook.load(*order) for key in rule.ops}
        assert found == {"q.a": "off", "q.b": "suspended", "q.c": "active"}
    with pytest.raises(ValueError, match=r"missing: there is no such directory; name .* missing_ok=True"):
        RuleBook.load("one", "missing")
    assert len(RuleBook.load("one", "missing", missing_ok=True)) == 2
    assert len(RuleBook.load("missing", missing_ok=True)) == 0
    Path("file").touch()
    with pytest.raises(ValueError, match="this is no directory"):
        RuleBook.load("file")


def pages_of(host: str, form: str = "?id={n}&sid={sid}") -> list[Observation]:
    """Ten pages of a host, each under two session ids, which begin with ``5ec2e7``."""
    return [
        Observation(
            f"http://me:hunter2@{host}/p/" + form.format(n=n, sid=f"5ec2e7{n * 7919 + copy:026x}"),
            f"{host} {n}",
            words=90,
        )
        for n in range(10)
        for copy in range(2)
    ]


def test_files_have_names_that_every_system_takes_and_hold_no_secrets() -> None:
    """None is a mask file, or a device of Windows, or that of a site whose name looks the same; examples are cut."""
    forms = {
        "in.query": "?id={n}&sid={sid}",
        "in.matrix": "{n};sid={sid}",
        "in.path": "{n}/{sid}/x",
        "in.url": "{n}?u=http%3A%2F%2Fz.test%2F%3Fsid%3D{sid}",
    }
    odd = ("127.0.0.1:8104", "[::1]:8080", "shop.mask", "con", "nul", "com1", "aux.mask", "shop_mask")
    seen = [
        *(each for host in odd for each in pages_of(host)),
        *(each for host, form in forms.items() for each in pages_of(host, form)),
    ]
    book = learn_rules(seen)
    book.save(RULES)
    assert RuleBook.load(RULES) == book
    assert {*odd, *forms} == set(book.sites)
    names = {path.name for path in RULES.iterdir()}
    assert len(names) == len(book.sites)
    assert names >= {"127.0.0.1_8104.toml", "___1__8080.toml"}
    assert not any(name.endswith(".mask.toml") for name in names)
    assert not {name.split(".")[0].lower() for name in names} & {"con", "nul", "com1", "aux"}
    for path in RULES.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "examples = [" in text
        assert "hunter2" not in text
        assert "5ec2e700" not in text


HEAD = 'format = "dedup-rules/1"\nsite = "example.com"\n'
RULE = HEAD + "[[rule]]\n[rule.ops]\n"
EVIDENCE = RULE + '"q.a" = "ignore"\n[rule.evidence]\n'


#: The text of a file, the line of its fault, what is wrong, and what would be right.
FAULTS = [
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
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = "ingore"\n', 5, "is no operation", "did you mean ignore?"),
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = "ignor-value"\n', 5, "is no operation", "did you mean ignore-value?"),
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { replce = "path.1" }\n', 5, "is no operation", "did you mean replace?"),
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { sett = { "a" = "b" } }\n', 5, "is no operation", "did you mean set?"),
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
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a[1]" = "ignore"\n', 5, "one repeat", 'write "q.a", or "q.a%5B1%5D"'),
    (HEAD + '[[rule]]\n[rule.ops]\n"path" = "ignore"\n', 5, "about the order", ""),
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = "any-order"\n', 5, "in no order", ""),
    (HEAD + '[[rule]]\n[rule.ops]\n"query" = { any-order = ["a-"] }\n', 5, "", 'write "query" = "any-order"'),
    (HEAD + '[[rule]]\n[rule.ops]\n"path" = { any-order = ["a/b"] }\n', 5, "begins no segment", ""),
    (
        HEAD + '[[rule]]\n[rule.ops]\n"path" = { any-order = [], after = -1 }\n',
        5,
        "after is -1",
        "number of segments",
    ),
    (HEAD + '[[rule]]\n[rule.ops]\n"bare" = "lower"\n', 5, "can be ignored or kept", ""),
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { replace = [] }\n', 5, "replace is []", "list of keys"),
    (HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { nested = ["q.sid"] }\n', 5, "", "table by site"),
    (
        HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { nested = { "a.org" = { "q.b" = "lower" } } }\n',
        5,
        "only be ignored",
        "table by site",
    ),
    (
        HEAD + '[[rule]]\n[rule.ops]\n"q.a" = { nested = { "a.org" = { "path.0" = "ignore" } } }\n',
        5,
        "no query parameter",
        "",
    ),
    (RULE + '"q.a" = ' + "[" * 1000 + "]" * 1000, 5, "in one another", ""),
    (RULE + '"q.a" = ' + "[\n" * 1000 + "]\n" * 1000, 37, "in one another", ""),
    (RULE + '"q.a" = ' + "{ a = " * 1000 + "1" + "}" * 1000, 5, "in one another", ""),
    (HEAD + "x." * 20_000 + "x = 1", 3, "in one another", ""),
    (HEAD + '"x" . ' * 20_000 + "x = 1", 3, "in one another", ""),
    (RULE + '"q.a" = { replace = [' + '"q.a", ' * 10 + "] }", 5, "shows itself 10 times", ""),
    (RULE + '"q.a" = { replace = "q.b", prefix = "' + "x" * 1_000_000 + '" }', 5, "8,192 characters", ""),
    (RULE + '"path.' + "9" * 5000 + '" = "ignore"', 5, "no URL has the key", ""),
    (HEAD + '"a\\nb" = 1', None, 'no key "a\\nb"', ""),
    (HEAD + "k" * 100_000 + " = 1", 3, "no key", ""),
    (EVIDENCE + "groups = -5", 7, "groups is -5", ""),
    (EVIDENCE + "groups = " + "9" * 4000, 7, "a hundred digits or more", ""),
    (EVIDENCE + "groups = 0x" + "f" * 9000, 7, "a hundred digits or more", ""),
    (EVIDENCE + "groups = " + "9" * 30, 7, "groups is 999", ""),
    (EVIDENCE + "upper95 = " + "9" * 30, 7, "upper95 is 999", ""),
]


@pytest.mark.parametrize(("text", "line", "problem", "remedy"), FAULTS, ids=range(len(FAULTS)))
def test_faulty_files(text: str, line: int | None, problem: str, remedy: str) -> None:
    path = RULES / "example.com.toml"
    RULES.mkdir()
    path.write_text(text)
    with pytest.raises(ValueError, match=r"example\.com\.toml") as caught:
        RuleBook.load(RULES)
    error: Any = caught.value
    assert (error.path, error.line) == (path, line)
    assert problem in error.problem
    assert remedy in error.remedy
    assert str(error) == f"{path}{'' if line is None else f':{line}'}: {error.problem}; {error.remedy}"
    assert len(str(error)) < 1_500
    assert "\n" not in str(error)
    with pytest.raises(ValueError, match=r"example\.com\.toml"):
        learned("a").save(RULES)
    assert path.read_text() == text


def test_every_fault_is_found_at_once(project: Project) -> None:
    project.write("dedup-rules/a.toml", "[[rule]]\nops = 1\nstatus = 'x'\n")
    path = project.write("dedup-rules/b.toml", "")
    path.write_bytes(b'format = "dedup-rules/1"\nsite = "b"\n# \xff\n')
    project.write("dedup-rules/c.toml", HEAD.replace(SITE, "c") + "".join(f"k{n} = 1\n" for n in range(40)))
    mask = 'format = "dedup-mask/3"\nsite = "d"\n[[place]]\ncsss = "p::text"\n'
    project.write("dedup-rules/d.mask.toml", mask)
    done = project.scrapy("dedup", "check", "--json")
    faults = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    found = [(Path(fault["file"]).name, fault["line"]) for fault in faults]
    assert found[:5] == [("a.toml", 1), ("a.toml", 1), ("a.toml", 2), ("a.toml", 3), ("b.toml", 3)]
    assert found[5:] == [*(("c.toml", line) for line in range(3, 43)), ("d.mask.toml", 4)]
    assert all(fault["problem"] and fault["remedy"] for fault in faults)


def test_what_looks_like_too_much_and_is_not() -> None:
    """Brackets and dots in texts, and rules without end."""
    note = "[[[{{{" * 20 + "a.b" * 50
    said = [f'[[rule]]\nnote = "{note}"  # {note}\n[rule.ops]\n"q.a{n}" = "ignore"\n' for n in range(40)]
    assert len(book_of(*said, f'[[rule]]\nnote = """\n{note}\n"""\n[rule.ops]\n"q.z" = "ignore"\n')) == 41


def test_what_cannot_be_written_leaves_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").touch()
    with pytest.raises(OSError, match=r"cannot be written.*DEDUP_DIR"):
        learned("a").save("file")
    learned("a").save(RULES)
    before = (RULES / f"{SITE}.toml").read_text()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        learned("b").save(RULES)
    assert [path.read_text() for path in RULES.iterdir()] == [before]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_mode_links_and_marks() -> None:
    path = save_rules(SITE, ignore("q.a"), directory="real").absolute()
    path.chmod(0o640)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    RULES.mkdir()
    (RULES / path.name).symlink_to(path)
    learned("b").save(RULES)
    assert (RULES / path.name).is_symlink()
    assert {key for rule in RuleBook.load("real") for key in rule.ops} == {"q.a", "q.b"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", ["example.com.toml", "example.com.mask.toml"])
def test_what_is_no_file_is_not_read(name: str) -> None:
    RULES.mkdir()
    path = RULES / name
    for make in (partial(os.mkfifo, path), partial(path.symlink_to, "/dev/zero"), partial(path.mkdir)):
        make()
        with pytest.raises(ValueError, match="this is no regular file"):
            load_mask(path) if "mask" in name else RuleBook.load(RULES)
        path.rmdir() if path.is_dir() else path.unlink()
    path.symlink_to(path.name)
    with pytest.raises(ValueError, match=name):
        load_mask(path) if "mask" in name else RuleBook.load(RULES)


_SAVER = """
import sys
from scrapy_dedup import RuleBook
books = [RuleBook.load(f"{sys.argv[1]}{turn}") for turn in range(9)]
print("ready", flush=True)
sys.stdin.readline()
for book in books:
    book.save("dedup-rules")
"""


def test_two_processes_leave_a_whole_file() -> None:
    for name, turn in product("ab", range(9)):
        save_rules(
            SITE, *(ignore(f"q.{name}{turn}x{n}", "active", groups=9) for n in range(3)), directory=f"{name}{turn}"
        )
    save_rules(SITE, ignore("q.c"))
    command = [sys.executable, "-c", _SAVER]
    savers = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for name in "ab"
    ]
    assert [saver.stdout and saver.stdout.readline() for saver in savers] == ["ready\n"] * 2
    for saver in savers:
        assert saver.stdin is not None
        saver.stdin.write("\n")
        saver.stdin.flush()
    while any(saver.poll() is None for saver in savers):
        RuleBook.load(RULES)  # whole at any moment
    assert [saver.communicate()[0] or saver.returncode for saver in savers] == [0, 0]
    assert Counter(key[2] for key in statuses(SITE)) == {"a": 27, "b": 27, "c": 1}, (
        "no update of one is lost to another"
    )
    assert [path.name for path in RULES.iterdir()] == ["example.com.toml"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner")
def test_a_lock_folder_of_others_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Who makes the folder first may put links to the user's files into it, which would be emptied."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folder, precious = tmp_path / "tmp" / f"scrapy-dedup-{os.getuid()}", tmp_path / "diary"
    precious.write_text("precious")
    folder.parent.mkdir()
    learned("a").save(RULES)
    (lock,) = folder.glob("*.lock")
    lock.unlink()
    lock.symlink_to(precious)
    for mode, owner in ((0o777, os.getuid()), *([(0o700, 54_321)] if os.getuid() == 0 else [])):
        folder.chmod(mode)
        os.chown(folder, owner, -1)
        with pytest.raises(OSError, match=r"belongs to others.*set TMPDIR"):
            learned("b").save(RULES)
    assert precious.read_text() == "precious"
    lock.unlink()
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="belongs to others"):
        learned("b").save(RULES)
    folder.unlink()
    learned("b").save(RULES)
    assert set(statuses(SITE)) == {"q.a", "q.b"}
