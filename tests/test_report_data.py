"""What the report says: rules, URLs with what differs marked, URL templates, filtered URLs, and how much it holds."""

import json
import re
from pathlib import Path

import pytest

from scrapy_dedup.report.collecting import report_of
from scrapy_dedup.report.data import Report, ReportSource, SitePart
from scrapy_dedup.report.filtered_urls import MOST_ROWS
from scrapy_dedup.report.rendering import html_of, records_of
from scrapy_dedup.report.rule_cards import places_of
from scrapy_dedup.report.url_pairs import marked_urls
from scrapy_dedup.report.url_templates import SiteUrl, url_templates
from scrapy_dedup.rules import Evidence, Ignore, Keep, Rule, RuleBook, Set, Status
from scrapy_dedup.store.rows import CrawlRow, DiscardState
from scrapy_dedup.store.store import Store

from .store_rows import discarded, seen

SITE = "example.com"
DAY = 86_400.0


def test_what_differs_in_urls_is_marked() -> None:
    one, two = marked_urls("http://a.test/p?id=1&sid=xy", "http://www.a.test/p?id=1")
    assert [piece.text for piece in one if piece.marked] == ["&sid=xy"]
    assert [piece.text for piece in two if piece.marked] == ["www."]
    assert "".join(piece.text for piece in two) == "http://www.a.test/p?id=1"


def test_rare_parts_of_paths_are_one_template() -> None:
    names = [SiteUrl(f"http://a.test/wiki/{chr(97 + number)}", is_filtered=False) for number in range(20)]
    items = [SiteUrl(f"http://a.test/shop/item/{number}?sid={number}&x", number % 2 == 0) for number in range(50)]
    book = RuleBook([Rule("a.test", {}, {"q.x": Set({None: ""})}, Status.MANUAL)])
    found = url_templates([*names, *items, SiteUrl("http://[broken", is_filtered=False)], book)
    assert [template.label for template in found] == ["http://a.test/shop/item/*", "http://a.test/wiki/*"]
    assert (found[0].urls, found[0].filtered) == (50, 25)
    sid = next(each for each in found[0].parameters if each.name == "sid")
    assert (sid.values, sid.examples, sid.does) == (50, ("0", "1", "2"), "")


def test_hosts_are_told_apart_and_deep_paths_end() -> None:
    urls = [SiteUrl(f"http://{host}.test/{'a/b/' * 40}", is_filtered=False) for host in ("a", "b")]
    found = url_templates(urls, RuleBook())
    assert [template.label for template in found] == [f"http://{host}.test{'/a/b' * 3}/…" for host in ("a", "b")]


def test_the_line_of_a_rule(tmp_path: Path) -> None:
    rules = [Rule(SITE, {}, {f"q.{name}": Ignore()}, Status.MANUAL) for name in "abc"]
    RuleBook(rules).save(tmp_path)
    places = places_of([tmp_path / "none", tmp_path], SITE)
    for rule in rules:
        place = places[rule.id]
        assert place.line is not None
        lines = Path(place.file).read_text(encoding="utf-8").splitlines()
        assert lines[place.line - 1] == "[[rule]]"
        assert lines[place.line] == f'id = "{rule.id}"'


# The report of a store


@pytest.fixture
def source(tmp_path: Path) -> ReportSource:
    """Pages under session ids, a parameter that tells pages apart, a rule of each status, and two crawls."""
    sid = Rule(SITE, {}, {"q.sid": Ignore()}, Status.ACTIVE, Evidence(groups=12, learners=("blame",)))
    kept = Rule(SITE, {}, {"q.id": Keep()}, Status.MANUAL)
    suspended = Rule(SITE, {}, {"q.view": Ignore()}, Status.SUSPENDED, Evidence(groups=9, samples=3, refuted=1))
    candidate = Rule(SITE, {}, {"q.ref": Ignore()}, Status.CANDIDATE, Evidence(groups=3))
    against = Rule(SITE, {}, {"q.tab": Ignore()}, Status.CANDIDATE, Evidence(groups=30, counterexamples=9))
    rules = tmp_path / "rules"
    RuleBook([sid, kept, suspended, candidate, against]).save(rules)
    rows = []
    for number in range(6):
        for session in ("a", "b"):
            text = f"Title number {number} with a few words more"
            at = DAY + number + (session == "b")
            rows.append(seen(f"p?id={number}&sid={session}", text, time=at))
    rows += [seen(f"q?ref={ref}", "the same page with a few words more", time=3 * DAY) for ref in "xy"]
    rows += [seen("gone", None, status=404), seen("old", None, status=301, redirect="http://example.com/new")]
    dropped = [discarded(f"p?id={n}&sid=c", rule=sid.id, taken_for=f"http://example.com/p?id={n}&sid=a", time=5 * DAY + n) for n in range(6)]  # fmt: skip
    dropped[0] = dropped[0]._replace(state=DiscardState.SAMPLED)
    crawls = [
        CrawlRow("", SITE, "shop", "one", DAY, 4 * DAY, "finished", pages=16),
        CrawlRow("", SITE, "shop", "two", 5 * DAY, 6 * DAY, "finished", pages=2, filtered=6, scheduled=1, avoided=5, avoided_bytes=500,
                 confirmed=1, learning_seconds=2.0),
    ]  # fmt: skip
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add([*rows, *dropped, *crawls])
    return ReportSource(str(tmp_path / "store.sqlite"), "", (rules,))


def only_site(source: ReportSource) -> tuple[Report, SitePart]:
    report = report_of(source, now=7 * DAY)
    (site,) = report.sites
    return report, site


def test_the_header_counts_all_crawls(source: ReportSource) -> None:
    report, _ = only_site(source)
    assert (report.savings.avoided, report.savings.requests, report.savings.share) == (5, 23, 5 / 23)
    assert (report.savings.confirmed, report.savings.differing, report.suspended) == (1, 0, 1)
    assert [(crawl.ended, crawl.savings.pages) for crawl in report.crawls] == [(4 * DAY, 16), (6 * DAY, 2)]


def test_without_notes_of_crawls_the_ledger_tells(source: ReportSource) -> None:
    import sqlite3

    connection = sqlite3.connect(source.store)
    connection.execute("DELETE FROM crawl")
    connection.commit()
    connection.close()
    report, site = only_site(source)
    assert report.crawls == ()
    assert report.savings.avoided == 5
    assert site.savings.avoided == 0
    assert "No crawl has noted yet" in html_of(report)


def test_urls_of_a_site_are_counted(source: ReportSource) -> None:
    _, site = only_site(source)
    counts = site.counts
    assert (counts.urls, counts.new, counts.duplicates, counts.others) == (16, 7, 7, 2)
    assert (counts.filtered, counts.checks) == (5, 1)


def test_the_page_says_what_its_figures_count(source: ReportSource) -> None:
    text = html_of(report_of(source))
    assert "5 of 23 requests</strong> that Scrapy alone would have made were filtered and not fetched" in text
    assert "not among “not fetched”" in text
    assert "5 URLs filtered and not fetched, each counted once in however many crawls" in text


def test_rules_stand_in_order(source: ReportSource) -> None:
    _, site = only_site(source)
    assert [rule.status for rule in site.rules] == ["suspended", "active", "manual", "candidate", "candidate"]
    sid = site.rules[1]
    assert sid.says == "q.sid ignore, everywhere"
    assert sid.filtered == 6
    assert sid.line
    assert sid.off == f'[[rule]]\nid = "{sid.id}"\nstatus = "off"'
    waits = {rule.says: rule.waits for rule in site.rules}
    assert waits["q.ref ignore, everywhere"].startswith("more pages under two URLs: 3 witness groups")
    assert waits["q.tab ignore, everywhere"].endswith("30 witness groups for it, 9 groups against it")


def test_spot_checks_that_differ_are_shown(source: ReportSource) -> None:
    _, site = only_site(source)
    sid, kept = site.rules[1].id, site.rules[2].id
    assert "Spot checks that were other pages" not in html_of(report_of(source))
    with Store.open(source.store) as store:
        row = discarded(
            "p?id=7&sid=d", rule=sid, taken_for="http://example.com/p?id=7", state=DiscardState.DIFFERING, time=DAY
        )
        store.add(
            [
                row._replace(meta={"dedup_rules": [sid, kept, "deadbeef"]}),
                seen("p?id=7&sid=d", "another page of more words"),
            ]
        )
    report, site = only_site(source)
    assert [row.url for row in site.differing] == ["http://example.com/p?id=7&sid=d"]
    said = re.sub("<[^>]*>", "", html_of(report))
    assert (
        "http://example.com/p?id=7&amp;sid=d is not the same page as http://example.com/p?id=7, "
        f"which it was taken for by rule {sid} and {kept} and deadbeef."
    ) in said
    (record,) = [one for one in records_of(report) if one["type"] == "filtered" and one["url"].endswith("sid=d")]
    assert record["state"] == "differing"


def test_rules_that_are_gone_are_marked(source: ReportSource) -> None:
    with Store.open(source.store) as store:
        replaced = [
            discarded(f"p?id={n}&sid=d", rule="0badcafe", taken_for=f"http://example.com/p?id={n}&sid=a")
            for n in range(3)
        ]
        store.add([*replaced, discarded("z?colour=a", rule="deadbeef", taken_for="http://example.com/z")])
    report, site = only_site(source)
    sid = site.rules[1].id
    assert report.ledger.successors == {(SITE, "0badcafe"): (sid,), (SITE, "deadbeef"): ()}
    data = json.loads(re.findall(r'id="ledger-data">(.*?)</script>', html_of(report))[0])
    assert data["gone"] == {f"{SITE} 0badcafe": f"replaced by {sid}", f"{SITE} deadbeef": "no longer there"}
    said = {record["rule"]: record["rule_now"] for record in records_of(report) if record["type"] == "filtered"}
    assert said == {sid: "", "0badcafe": f"replaced by {sid}", "deadbeef": "no longer there"}


def test_evidence_is_of_real_pages(source: ReportSource) -> None:
    _, site = only_site(source)
    pairs = site.rules[1].pairs
    assert len(pairs) == 3
    assert [piece.text for piece in pairs[0].one if piece.marked] == ["a"]
    assert [piece.text for piece in pairs[0].two if piece.marked] == ["b"]


def test_parameters_are_told_apart(source: ReportSource) -> None:
    _, site = only_site(source)
    templates = {template.label: template for template in site.templates}
    done = {each.name: (each.does, each.rules) for each in templates["http://example.com/p"].parameters}
    assert done == {"sid": ("ignored", (site.rules[1].id,)), "id": ("kept", (site.rules[2].id,))}
    assert templates["http://example.com/q"].parameters[0].does == ""
    assert "no rule" in html_of(report_of(source))


def test_json_lines_say_the_same(source: ReportSource) -> None:
    report, site = only_site(source)
    records = [json.loads(json.dumps(record)) for record in records_of(report)]
    kinds = [record["type"] for record in records]
    assert kinds == [
        *("report", "crawl", "crawl", "site"),
        *["rule"] * 5,
        *["filtered"] * 6,
    ]
    assert records[0]["avoided"] == 5
    assert records[4]["says"] == site.rules[0].says
    assert records[0]["ledger_rows"] == 6


def test_sites_can_be_named_and_scopes_are_apart(source: ReportSource) -> None:
    with Store.open(source.store) as store:
        store.add([seen("x", site="other.test", url="http://other.test/x"), seen("y", scope="else")])
    assert [site.site for site in report_of(source).sites] == [SITE, "other.test"]
    from dataclasses import replace

    assert [site.site for site in report_of(replace(source, sites=("other.test",))).sites] == ["other.test"]
    scoped = report_of(replace(source, scope="else", directories=()))
    assert (scoped.ledger.total, scoped.crawls, scoped.savings.pages) == (0, (), 1)


def test_what_sites_write_is_text(source: ReportSource) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    with Store.open(source.store) as store:
        store.add([seen(f"p?{evil}={evil}&id=9", evil)])
        store.add(
            [
                discarded(
                    f"x?{evil}", taken_for="javascript:alert(1)", spider=evil, time=9 * DAY, url=f"javascript:{evil}"
                )
            ]
        )
    text = html_of(report_of(source))
    assert "<script>alert" not in text
    assert "<img" not in text
    assert 'href="javascript' not in text
    assert text.count("<script") == text.count("</script>") == 2


def test_the_page_needs_nothing_else(source: ReportSource) -> None:
    text = html_of(report_of(source))
    for word in ("@import", "url(", '<link rel="stylesheet', " src="):
        assert word not in text, word


def test_of_many_rows_the_latest_are_shown(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        url = "http://example.com/some/path/of/the/site/page?id={}&sid=0123456789abcdef0123456789abcdef"
        store.add(discarded("", url=url.format(n), taken_for=url.format(n % 900), time=n, job=str(n % 3)) for n in range(30_000))  # fmt: skip
        store.add(seen("", f"a page {n}", url=url.format(n)) for n in range(900))
    report = report_of(ReportSource(str(tmp_path / "store.sqlite")))
    text = html_of(report)
    assert len(report.ledger.rows) == MOST_ROWS
    assert report.ledger.total == 30_000
    assert report.ledger.rows[0].time == 29_999
    assert "The latest 20,000 of 30,000 rows" in text
    assert len(text) < 10_000_000


def test_long_urls_leave_room(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add(discarded(f"{n}?{'x' * 8_000}", time=n) for n in range(2_000))
    report = report_of(ReportSource(str(tmp_path / "store.sqlite")))
    assert 0 < len(report.ledger.rows) < 2_000 == report.ledger.total
    assert len(html_of(report)) < 10_000_000
