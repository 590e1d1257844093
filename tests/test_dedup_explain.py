"""``scrapy dedup explain`` as its user meets it: real processes in temporary folders."""

import json

import pytest

from scrapy_dedup.rules import Ignore, Rule

RULES = """\
format = "dedup-rules/1"
site = "shop.test"

[[rule]]
id = "00000001"
status = "manual"
note = "new for each link"
ops = { "q.sid" = "ignore" }

[[rule]]
id = "00000002"
status = "manual"
match = { "path.0" = "list" }
ops = { "q.page" = { ignore = ["1"] } }
"""
URL = "http://shop.test/list?page=1&sid=5f0c"


@pytest.fixture
def ruled(project):
    project.write("dedup-rules/shop.test.toml", RULES)
    return project


def test_explains(ruled):
    done = ruled.scrapy("dedup", "explain", URL, fresh=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for part in (
        "shop.test",
        "q.sid",
        "5f0c",
        "path.0",
        "list",
        "http://shop.test/list\n",
        "manual",
        "new for each link",
    ):
        assert part in done.stdout, part
    assert 'q.page ignore "1"' in done.stdout
    assert "00000002" in done.stdout


def test_no_rule_matches(ruled):
    done = ruled.scrapy("dedup", "explain", "http://other.test/?b=1&a=2", "not a url")
    assert done.returncode == 0, done.stderr
    assert "http://other.test/?a=2&b=1" in done.stdout
    assert done.stdout.count("no rule matches") == 2


@pytest.mark.parametrize(
    ("status", "why"),
    [("off", "you switched it off"), ("suspended", "it was refuted"), ("candidate", "too little evidence")],
)
def test_a_rule_that_matches_and_does_not_act_is_told(project, status, why):
    known = Rule("shop.test", {}, {"q.sid": Ignore()}).id
    rules = RULES.replace("00000001", known).replace('status = "manual"\nnote', f'status = "{status}"\nnote')
    project.write("dedup-rules/shop.test.toml", rules)
    for url, said in ((URL, "rule 00000002 (manual)"), ("http://shop.test/?sid=1", "no rule that matches acts: ")):
        done = project.scrapy("dedup", "explain", url)
        assert f"rule {known} is {status} ({why}), and would do: q.sid ignore\n" in done.stdout
        assert said in done.stdout
        assert "no rule matches" not in done.stdout
    shown = json.loads(project.scrapy("dedup", "explain", "--json", URL).stdout)
    assert (shown["inactive"], [rule["id"] for rule in shown["rules"]]) == ({known: status}, ["00000002"])


def test_a_rule_that_does_not_act_and_does_not_match_is_not_told(project):
    project.write("dedup-rules/shop.test.toml", RULES.replace("manual", "off"))
    shown = project.scrapy("dedup", "explain", "http://shop.test/other").stdout
    assert "rule 00000001 is off (you switched it off)" in shown
    assert "00000002" not in shown


@pytest.mark.parametrize(
    ("operation", "meant"),
    [
        ('"ingore"', "ignore"),
        ('"ignor-value"', "ignore-value"),
        ('{ replce = "path.1" }', "replace"),
        ('{ sett = { "a" = "b" } }', "set"),
    ],
)
def test_what_a_misspelt_operation_means(project, operation, meant):
    project.write("dedup-rules/shop.test.toml", RULES.replace('"q.sid" = "ignore"', f'"q.sid" = {operation}'))
    done = project.scrapy("dedup", "check")
    assert done.returncode == 1
    assert f"is no operation; did you mean {meant}?" in done.stderr.replace("\n", " ")
    project.write("dedup-rules/shop.test.toml", RULES.replace('"q.sid" = "ignore"', '"q.sid" = "xyz"'))
    assert "an operation is" in project.scrapy("dedup", "check").stderr


def test_where_a_site_has_no_rules_it_is_said_who_tells_why(ruled):
    done = ruled.scrapy("dedup", "explain", "http://other.test/?b=1")
    assert "there are no rules of the site: scrapy learn-rules other.test says why\n" in done.stdout
    done = ruled.scrapy("dedup", "explain", "http://shop.test/?b=1")
    assert "there are no rules of the site" not in done.stdout


def test_until_when_the_counts_of_a_file_go(project):
    evidence = '[rule.evidence]\ngroups = 13\nuntil = "2026-11-25T09:45:44Z"\n'
    text = RULES.replace('ops = { "q.sid" = "ignore" }\n', 'ops = { "q.sid" = "ignore" }\n' + evidence)
    project.write("dedup-rules/shop.test.toml", text)
    done = project.scrapy("dedup", "explain", URL)
    assert "; groups and pages as of its file, until 2026-11-25T09:45:44Z\n" in done.stdout


def test_misspelt_settings_are_told(ruled):
    done = ruled.scrapy("dedup", "explain", URL, "-s", "DEDUP_STOR=1")
    assert done.returncode == 2
    assert done.stderr == "dedup explain: DEDUP_STOR is '1': scrapy-dedup has no such setting. Is DEDUP_STORE meant?\n"
    done = ruled.scrapy("dedup", "explain", URL, "-s", "DEDUP_OTHERS=1")
    assert done.returncode == 0
    assert done.stderr == "WARNING: DEDUP_OTHERS is no setting of scrapy-dedup\n"


def test_keys_only_line_by_line(ruled):
    ruled.write("urls.txt", f"{URL}\n\nhttp://shop.test/list?page=2\nnot a url\n")
    done = ruled.scrapy("dedup", "explain", "--keys-only", "--from", "urls.txt")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "http://shop.test/list\n\nhttp://shop.test/list?page=2\nnot%20a%20url\n"


@pytest.mark.parametrize("args", [["-"], ["--from", "-"]])
def test_keys_only_from_standard_input(ruled, args):
    many = "".join(f"http://shop.test/list?page={number}&sid={number}\n" for number in range(2_000))
    done = ruled.scrapy("dedup", "explain", "--keys-only", *args, stdin=many)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 2_000
    assert lines[:3] == ["http://shop.test/list?page=0", "http://shop.test/list", "http://shop.test/list?page=2"]


def test_outside_a_project(ruled, tmp_path):
    ruled.folder = tmp_path
    done = ruled.scrapy("dedup", "explain", "--keys-only", URL)
    assert (done.returncode, done.stdout) == (0, "http://shop.test/list?page=1&sid=5f0c\n")
    done = ruled.scrapy("dedup", "explain", "--keys-only", URL, "-s", "DEDUP_RULES=project/dedup-rules")
    assert (done.returncode, done.stdout) == (0, "http://shop.test/list\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "no URL"),
        (["--key-only", URL], "--key-only"),
        (["--from", "missing.txt"], "missing.txt"),
        (["--spider", "nobody", URL], "'nobody'"),
        (["-s", "DEDUP_MODE=fast", URL], "DEDUP_MODE"),
    ],
)
def test_mistakes_are_told_in_a_line(ruled, args, said):
    done = ruled.scrapy("dedup", "explain", *args)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_faulty_rule_file(ruled):
    ruled.write("dedup-rules/bad.test.toml", 'format = "dedup-rules/1"\nsite = "bad.test"\n[[rule]\n')
    done = ruled.scrapy("dedup", "explain", URL)
    assert done.returncode == 2
    assert "bad.test.toml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("evidence", "said", "unsaid"),
    [
        ("groups = 1, upper95 = 0.95", "1 witness group for it, 0 against it", "at most"),
        ("groups = 12, samples = 2", "; 2 spot checks: all duplicates", "at most"),
        ("groups = 58, samples = 2", "; at most 4.9% of what it filters are other pages (95 %)", "pages lost"),
        ("groups = 12, samples = 3, refuted = 1", "; 3 spot checks: 2 duplicates, 1 other page; at most ", "all dupl"),
    ],
)
def test_a_bound_is_given_where_it_informs(project, evidence, said, unsaid):
    rule = '[[rule]]\nid = "00000003"\nstatus = "active"\nops = { "q.sid" = "ignore" }\n'
    project.write("dedup-rules/shop.test.toml", RULES.partition("[[rule]]")[0] + f"{rule}evidence = {{ {evidence} }}\n")
    told = project.scrapy("dedup", "explain", URL).stdout
    assert said in told
    assert unsaid not in told
