"""``scrapy dedup report``: rules with their evidence, URLs with what differs marked, what was filtered and what that saved, all of it true and all of it text."""

import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook

from .conftest import Project
from .crawling import ignore, rule_toml, save_rules
from .store_rows import State, crawl_row, discarded, record, seen

DAY = 86_400.0
SITE = "example.com"
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
STORE = ("-s", "DEDUP_STORE=store.sqlite")


@pytest.fixture
def ids(project: Project) -> dict[str, str]:
    """Pages under session ids, a rule of each status, two crawls and what they filtered; the ids of the rules by what they do."""
    folder = project.folder / "dedup-rules"
    save_rules(
        SITE,
        ignore("q.sid", "active", groups=12, learners=["blame"]),
        rule_toml('"q.id" = "keep"'),
        ignore("q.view", "suspended", groups=9, samples=3, refuted=1),
        ignore("q.ref", "candidate", groups=3),
        ignore("q.tab", "candidate", groups=30, counterexamples=9),
        directory=folder,
    )
    found = {key: rule.id for rule in RuleBook.load(folder) for key in rule.ops}
    pages = [
        seen(
            f"p?id={number}&sid={sid}", f"Title number {number} with a few words more", time=DAY + number + (sid == "b")
        )
        for number in range(6)
        for sid in "ab"
    ]
    pages += [seen(f"q?ref={ref}", "the same page with a few words more", time=3 * DAY) for ref in "xy"]
    pages += [seen("gone", None, status=404), seen("old", None, status=301, redirect="http://example.com/new")]
    pages += [seen(f"wiki/{chr(97 + number)}", f"wiki {number} and more words", time=3 * DAY) for number in range(20)]
    ledger = [
        discarded(
            f"p?id={n}&sid=c", rule=found["q.sid"], taken_for=f"http://example.com/p?id={n}&sid=a", time=5 * DAY + n
        )
        for n in range(6)
    ]
    ledger[0] = ledger[0]._replace(state=State.SAMPLED)
    crawls = [
        crawl_row("one", began=DAY, time=4 * DAY, pages=16),
        crawl_row("two", began=5 * DAY, time=6 * DAY, pages=2, filtered=6, scheduled=1, avoided=5, avoided_bytes=500, confirmed=1),
    ]  # fmt: skip
    record(project.folder / "store.sqlite", *pages, *ledger, *crawls)
    return found


def reported(project: Project, *args: str) -> tuple[dict[str, list[dict[str, Any]]], str]:
    """What the report says, as lines of JSON by type, and as a page."""
    lines = project.told("dedup", "report", "--json", *STORE, *args)
    records: dict[str, list[dict[str, Any]]] = {}
    for each in map(json.loads, lines.splitlines()):
        records.setdefault(each["type"], []).append(each)
    project.told("dedup", "report", "-o", "report.html", *STORE, *args)
    return records, (project.folder / "report.html").read_text(encoding="utf-8")


def test_what_the_report_says(project: Project, ids: dict[str, str]) -> None:
    records, text = reported(project)
    (head,), (site,), sid = records["report"], records["site"], ids["q.sid"]
    assert (head["avoided"], head["requests"], head["share"]) == (5, 23, round(5 / 23, 4))
    assert (head["confirmed"], head["differing"], head["suspended"], head["ledger_rows"]) == (1, 0, 1, 6)
    assert [(each["pages"], each["ended"][:10]) for each in records["crawl"]] == [(16, "1970-01-05"), (2, "1970-01-07")]
    counts = site["counts"]
    assert (counts["urls"], counts["new"], counts["duplicates"], counts["others"]) == (36, 27, 7, 2)
    assert (counts["filtered"], counts["checks"]) == (5, 1)
    rules = records["rule"]
    assert [rule["status"] for rule in rules] == ["suspended", "active", "manual", "candidate", "candidate"]
    one = rules[1]
    assert (one["says"], one["filtered"]) == ("q.sid ignore, everywhere", 6)
    assert f'[[rule]]\nid = "{sid}"\nstatus = "off"' in unescape(text), "how to switch it off"
    lines = Path(project.folder, one["file"]).read_text(encoding="utf-8").splitlines()
    assert (lines[one["line"] - 1], '"q.sid"' in "".join(lines[one["line"] : one["line"] + 9])) == ("[[rule]]", True)
    waits = {rule["says"]: rule["waits"] for rule in rules}
    assert waits["q.ref ignore, everywhere"].startswith("more pages under two URLs: 3 witness groups")
    assert waits["q.tab ignore, everywhere"].endswith("30 witness groups for it, 9 groups against it")
    assert len(one["pairs"]) == 3
    marked = [[piece["text"] for piece in one["pairs"][0][each] if piece["marked"]] for each in ("one", "two")]
    assert marked == [["a"], ["b"]]
    templates = {each["label"]: each for each in site["templates"]}
    assert {"http://example.com/p", "http://example.com/q", "http://example.com/wiki/*"} <= set(templates)
    does = {each["name"]: (each["does"], each["rules"]) for each in templates["http://example.com/p"]["parameters"]}
    assert does == {"sid": ("ignored", [sid]), "id": ("kept", [ids["q.id"]])}
    assert templates["http://example.com/q"]["parameters"][0]["does"] == ""
    assert {row["rule_now"] for row in records["filtered"]} == {""}
    for part in (
        "5 of 23 requests</strong> that Scrapy alone would have made were filtered and not fetched",
        "not among “not fetched”",
        "5 URLs filtered and not fetched, each counted once in however many crawls",
        "no rule",
    ):
        assert part in text
    for part in ("Spot checks that were other pages", "@import", "url(", '<link rel="stylesheet', " src="):
        assert part not in text, "it needs nothing else"

    with closing(sqlite3.connect(project.folder / "store.sqlite")) as connection, connection:
        connection.execute("DELETE FROM crawl")
    records, text = reported(project)
    assert "crawl" not in records
    assert (records["report"][0]["avoided"], records["site"][0]["savings"]["avoided"]) == (5, 0)
    assert "No crawl has noted yet" in text


def test_what_was_not_the_same_rules_that_are_gone_and_what_sites_write(project: Project, ids: dict[str, str]) -> None:
    sid, kept = ids["q.sid"], ids["q.id"]
    taken = "http://example.com/p?id=7"
    differing = discarded("p?id=7&sid=d", rule=sid, taken_for=taken, state=State.DIFFERING, time=DAY)
    evil = discarded(
        "", rule="deadbeef", taken_for="javascript:alert(1)", spider=EVIL, time=9 * DAY, url=f"javascript:{EVIL}"
    )
    record(
        project.folder / "store.sqlite",
        differing._replace(meta={"dedup_rules": [sid, kept, "deadbeef"]}),
        seen("p?id=7&sid=d", "another page of more words"),
        discarded("p?id=1&sid=e", rule="0badcafe", taken_for="http://example.com/p?id=1&sid=a"),
        discarded("z?colour=a", rule="deadbeef", taken_for="http://example.com/z"),
        evil,
        seen(f"p?{EVIL}={EVIL}&id=9", EVIL),
        seen("x", site="other.test", url="http://other.test/x"),
        seen("y", scope="else"),
    )
    records, text = reported(project)
    said = re.sub("<[^>]*>", "", text)
    assert (
        "http://example.com/p?id=7&amp;sid=d is not the same page as http://example.com/p?id=7, "
        f"which it was taken for by rule {sid} and {kept} and deadbeef."
    ) in said
    rows = {row["url"].partition("?")[2]: row for row in records["filtered"]}
    assert rows["id=7&sid=d"]["state"] == "differing"
    now = {row["rule"]: row["rule_now"] for row in records["filtered"]}
    assert now == {sid: "", "0badcafe": f"replaced by {sid}", "deadbeef": "no longer there"}
    data = json.loads(re.findall(r'id="ledger-data">(.*?)</script>', text)[0])
    assert data["gone"] == {f"{SITE} 0badcafe": f"replaced by {sid}", f"{SITE} deadbeef": "no longer there"}
    for part in ("<script>alert", "<img", 'href="javascript'):
        assert part not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert [each["site"] for each in records["site"]] == [SITE, "other.test"]
    assert [each["site"] for each in reported(project, "other.test")[0]["site"]] == ["other.test"]
    records, _ = reported(project, "-s", "DEDUP_SCOPE=else")
    assert (records["report"][0]["ledger_rows"], records["report"][0]["pages"]) == (0, 1)


def test_a_page_that_a_browser_can_open(project: Project) -> None:
    """Of many rows the latest are shown, and long URLs leave room."""
    url = "http://example.com/some/path/of/the/site/page?id={}&sid=0123456789abcdef0123456789abcdef"
    rows = [discarded("", url=url.format(n), taken_for=url.format(n % 900), time=n) for n in range(20_500)]
    record(project.folder / "store.sqlite", *rows, *(seen("", f"a page {n}", url=url.format(n)) for n in range(900)))
    project.told("dedup", "report", "-o", "report.html", *STORE)
    text = (project.folder / "report.html").read_text(encoding="utf-8")
    assert "The latest 20,000 of 20,500 rows" in text
    assert len(text) < 10_000_000
    record(project.folder / "long.sqlite", *(discarded(f"{n}?{'x' * 8_000}", time=n) for n in range(1_500)), seen("a"))
    project.told("dedup", "report", "-o", "report.html", "-s", "DEDUP_STORE=long.sqlite")
    text = (project.folder / "report.html").read_text(encoding="utf-8")
    shown = re.search(r"The latest ([\d,]+) of 1,500 rows", text)
    assert shown
    assert 0 < int(shown[1].replace(",", "")) < 1_500
    assert len(text) < 10_000_000
