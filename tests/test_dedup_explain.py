"""``scrapy dedup explain`` and ``check``: why a URL has its key, and what is wrong with a file, in words."""

import json
from pathlib import Path

import pytest

from .conftest import Project
from .crawling import book_of, ignore, save_rules

URL = "http://shop.test/list?page=1&sid=5f0c"
SID = '[[rule]]\nid = "{id}"\nstatus = "{status}"\nnote = "new for each link"\nops = {{ "q.sid" = "ignore" }}'
PAGE = '[[rule]]\nid = "00000002"\nmatch = { "path.0" = "list" }\nops = { "q.page" = { ignore = ["1"] } }'


def ruled(project: Project, *rules: str) -> Path:
    return save_rules("shop.test", *rules, directory=project.folder / "dedup-rules")


def explained(project: Project, *args: str) -> str:
    return project.told("dedup", "explain", *args)


def test_explains(project: Project) -> None:
    ruled(project, SID.format(id="00000001", status="manual"), PAGE)
    done = project.scrapy("dedup", "explain", URL)
    assert (done.returncode, done.stderr) == (0, "")
    parts = ("shop.test", "q.sid", "5f0c", "path.0", "list", "http://shop.test/list\n", "manual", "new for each link")
    for part in (*parts, 'q.page ignore "1"', "00000002"):
        assert part in done.stdout, part
    told = explained(project, "http://other.test/?b=1&a=2", "not a url")
    assert "http://other.test/?a=2&b=1" in told
    assert told.count("no rule matches") == 2
    assert "there are no rules of the site: scrapy learn-rules other.test says why\n" in told
    assert "there are no rules of the site" not in explained(project, "http://shop.test/?b=1")
    done = project.scrapy("dedup", "explain", URL, "-s", "DEDUP_STOR=1")
    assert done.returncode == 2
    assert done.stderr == "dedup explain: DEDUP_STOR is '1': scrapy-dedup has no such setting. Is DEDUP_STORE meant?\n"
    done = project.scrapy("dedup", "explain", URL, "-s", "DEDUP_OTHERS=1")
    assert (done.returncode, done.stderr) == (0, "WARNING: DEDUP_OTHERS is no setting of scrapy-dedup\n")


@pytest.mark.parametrize(
    ("status", "why"),
    [("off", "you switched it off"), ("suspended", "it was refuted"), ("candidate", "too little evidence")],
)
def test_a_rule_that_matches_and_does_not_act_is_told(project: Project, status: str, why: str) -> None:
    (known,) = (rule.id for rule in book_of(ignore("q.sid"), site="shop.test"))
    ruled(project, SID.format(id=known, status=status), PAGE)
    told = explained(project, URL)
    assert f"rule {known} is {status} ({why}), and would do: q.sid ignore\n" in told
    assert "rule 00000002 (manual)" in told
    told = explained(project, "http://shop.test/?sid=1")
    assert "no rule that matches acts: " in told
    assert "no rule matches" not in told
    shown = json.loads(explained(project, "--json", URL))
    assert (shown["inactive"], [rule["id"] for rule in shown["rules"]]) == ({known: status}, ["00000002"])
    ruled(project, SID.format(id=known, status=status), PAGE.replace("match", 'status = "off"\nmatch'))
    assert "00000002" not in explained(project, "http://shop.test/other"), "it does not match"


@pytest.mark.parametrize(
    ("evidence", "said", "unsaid"),
    [
        ("groups = 1, upper95 = 0.95", "1 witness group for it, 0 against it", "at most"),
        ("groups = 12, samples = 2", "; 2 spot checks: all duplicates", "at most"),
        ("groups = 58, samples = 2", "; at most 4.9% of what it filters are other pages (95 %)", "pages lost"),
        ("groups = 12, samples = 3, refuted = 1", "; 3 spot checks: 2 duplicates, 1 other page; at most ", "all dupl"),
        (
            'groups = 13, until = "2026-11-25T09:45:44Z"',
            "; groups and pages as of its file, until 2026-11-25T09:45:44Z\n",
            "at most",
        ),
    ],
)
def test_a_bound_is_given_where_it_informs(project: Project, evidence: str, said: str, unsaid: str) -> None:
    ruled(project, SID.format(id="00000003", status="active") + f"\nevidence = {{ {evidence} }}\n")
    told = explained(project, URL)
    assert said in told
    assert unsaid not in told


def test_keys_only_line_by_line(project: Project) -> None:
    ruled(project, SID.format(id="00000001", status="manual"), PAGE)
    project.write("urls.txt", f"{URL}\n\nhttp://shop.test/list?page=2\nnot a url\n")
    told = explained(project, "--keys-only", "--from", "urls.txt")
    assert told == "http://shop.test/list\n\nhttp://shop.test/list?page=2\nnot%20a%20url\n"
    many = "".join(f"http://shop.test/list?page={number}&sid={number}\n" for number in range(2_000))
    for args in (["-"], ["--from", "-"]):
        lines = project.scrapy("dedup", "explain", "--keys-only", *args, stdin=many).stdout.splitlines()
        assert len(lines) == 2_000
        assert lines[:3] == ["http://shop.test/list?page=0", "http://shop.test/list", "http://shop.test/list?page=2"]
    project.folder = project.folder.parent  # outside a project
    assert explained(project, "--keys-only", URL) == "http://shop.test/list?page=1&sid=5f0c\n"
    assert explained(project, "--keys-only", URL, "-s", "DEDUP_RULES=project/dedup-rules") == "http://shop.test/list\n"


def test_mistakes_are_told_in_a_line(project: Project) -> None:
    project.refuses(
        ["dedup", "explain"],
        ([], 2, "no URL"),
        (["--key-only", URL], 2, "--key-only"),
        (["--from", "missing.txt"], 2, "missing.txt"),
        (["--spider", "nobody", URL], 2, "'nobody'"),
        (["-s", "DEDUP_MODE=fast", URL], 2, "DEDUP_MODE"),
    )
    project.write("dedup-rules/bad.test.toml", 'format = "dedup-rules/1"\nsite = "bad.test"\n[[rule]\n')
    project.refuses(["dedup", "explain"], ([URL], 2, "bad.test.toml:3"))
