"""What the report says: sentences, URLs with what differs marked, diffs of pages, the URL tree, and how much it holds."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.content.versions import Version, packed_version
from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.report.collecting import report_of
from scrapy_dedup.report.data import Piece, Report, ReportSource, SitePart, TreeNode
from scrapy_dedup.report.differences import marked_urls, pieces_of, text_diff
from scrapy_dedup.report.filtered_urls import MOST_ROWS
from scrapy_dedup.report.json_lines import records_of
from scrapy_dedup.report.rendering import html_of
from scrapy_dedup.report.rule_cards import places_of
from scrapy_dedup.report.sentences import sentence_of
from scrapy_dedup.report.url_tree import TreeUrl, url_tree
from scrapy_dedup.rules import (
    Absent,
    AnyOrder,
    Evidence,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    OfClass,
    OneOf,
    Replace,
    Rule,
    RuleBook,
    Set,
    Status,
)
from scrapy_dedup.store.rows import CrawlRow, DiscardState
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls import ValueClass

from .store_rows import discarded, seen

SITE = "example.com"
DAY = 86_400.0


@pytest.mark.parametrize(
    ("match", "ops", "said"),
    [
        ({}, {"q.sid": Ignore(ValueClass("hex", 32, 32))}, "Everywhere, sid does not matter where it is hexadecimal digits (32 characters)."),
        ({"q.p": OneOf(["a", "b"])}, {"q.x": IgnoreValue()}, 'Where the URL has "a" or "b" as p, the value of x does not matter, only whether it is there.'),
        ({"q.p": Absent()}, {"q.x": Keep()}, "Where the URL has no p, x matters."),
        ({"path.0": Literal("a"), "path.1": Literal("b"), "path.len": Literal("2"), "ext": Literal("html")}, {"path.trail": Ignore()}, "On /a/b.html, a slash at the end does not matter."),
        ({"path.0": OfClass(ValueClass("int"))}, {"q.x": Lower()}, "Where the URL has a number as segment 1 of the path, upper and lower case of x do not matter."),
        ({"path.len": Literal("1")}, {"q.x": Set({"all": None, None: "1"})}, 'Where the URL has 1 segment, of x no value is taken for "1" and "all" is taken for no value.'),
        ({}, {"query": AnyOrder()}, "Everywhere, the order of the parameters does not matter."),
        ({"path.0": OneOf(["cat", "item"], optional=True)}, {"host.1": Ignore()}, 'Where the URL has "cat" or "item" as segment 1 of the path or no path at all, the subdomain does not matter.'),
        ({"q.p": Literal("a", optional=True)}, {"q.x": Ignore()}, "Where the URL has p=a or no p, x does not matter."),
        ({"path.1": Absent()}, {"q.x": Ignore()}, "Where the URL has no segment 2 of the path, x does not matter."),
        ({}, {"q.id": Replace("path.0")}, "Everywhere, id is made of segment 1 of the path."),
    ],
)  # fmt: skip
def test_sentences(match: Any, ops: Any, said: str) -> None:
    assert sentence_of(Rule(SITE, match, ops)) == said


def test_every_operation_is_said() -> None:
    """None falls back to the short form, which is for those who know it."""
    from typing import get_args

    from scrapy_dedup.rules.operations import Anchored, Declared, Nested, Operation, SetOfValues

    made = {
        "q.a": [Ignore(), IgnoreValue(), Set({"a": "b"}), Lower(first=True), SetOfValues(), Nested(), Keep(), Replace("q.b")],
        "path": [AnyOrder(["color-"], after=1)],
        "alias.q.a": [Anchored("p")],
        "alias.canonical": [Declared()],
    }  # fmt: skip
    assert {type(each) for some in made.values() for each in some} == set(get_args(Operation))
    for key, some in made.items():
        for operation in some:
            said = sentence_of(Rule(SITE, {}, {key: operation}))
            assert said.endswith(".")
            assert key not in said.replace("q.b", "")


def test_what_differs_in_urls_is_marked() -> None:
    one, two = marked_urls("http://a.test/p?id=1&sid=xy", "http://www.a.test/p?id=1")
    assert [piece.text for piece in one if piece.marked] == ["&sid=xy"]
    assert [piece.text for piece in two if piece.marked] == ["www."]
    assert "".join(piece.text for piece in two) == "http://www.a.test/p?id=1"


def page(*texts: str) -> Version:
    return Version(tuple((f"html/body/p.t{number}", "", text) for number, text in enumerate(texts)))


def test_texts_are_compared_without_what_is_transient() -> None:
    mask = Mask(site=SITE, paths=(TransientPath("html/body/p.t0", state="strip"),))
    one, two = page("noon", "one", "same"), page("midnight", "two", "same")
    urls = (f"http://{SITE}/a", f"http://{SITE}/b")
    diff = text_diff(one, two, urls, mask)
    assert [(line.sign, line.pieces) for line in diff] == [
        (" ", (Piece("noon | midnight", True),)),
        ("-", (Piece("one"),)),
        ("+", (Piece("two"),)),
        (" ", (Piece("same"),)),
    ]
    assert [line.sign for line in text_diff(one, two, urls, None)] == ["-", "-", "+", "+", " "]


def test_diffs_of_long_pages_are_short() -> None:
    long = [f"text {number}" for number in range(390)]
    urls = (f"http://{SITE}/a", f"http://{SITE}/b")
    diff = text_diff(page(*long, "x" * 5_000), page(*long, "y"), urls, None)
    assert [line.sign for line in diff] == ["…", " ", " ", "-", "+"]
    assert len(diff[3].pieces[0].text) < 400
    assert len(text_diff(page(*long), page(*(text.upper() for text in long)), urls, None)) < 70


def test_texts_with_marks_of_their_own_are_shown_as_they_are() -> None:
    assert pieces_of("⟦a⟧ b", None) == (Piece("⟦a⟧ b"),)
    assert "".join(piece.text for piece in pieces_of("⟦a⟧ b c", [(2, 3)])) == "⟦a⟧ b c"


def unknown(name: str, urls: Any) -> Any:
    return "unknown", f"{name} of {len(urls)}", ()


def labels(node: TreeNode) -> list[str]:
    return [node.label, *(label for child in node.children for label in labels(child))]


def test_the_tree_joins_and_collapses() -> None:
    names = [TreeUrl(f"http://a.test/wiki/{chr(97 + number)}", is_filtered=False) for number in range(20)]
    items = [TreeUrl(f"http://a.test/shop/item/{number}?sid={number}&x", number % 2 == 0) for number in range(50)]
    (host,) = url_tree([*names, *items, TreeUrl("http://[broken", False)], unknown)
    assert labels(host) == ["http://a.test", "/shop/item/*", "/wiki/*"]
    item = host.children[0]
    assert (item.urls, item.filtered, item.own) == (50, 25, 50)
    sid = next(each for each in item.parameters if each.name == "sid")
    assert (sid.urls, sid.values, sid.why) == (50, 50, "sid of 50")
    assert sid.examples == ("0", "1", "2")


def test_a_node_is_labelled_with_its_whole_path() -> None:
    urls = [f"http://a.test/p/{number}{end}" for number in range(5) for end in ("", f"/x{number}.html", "/about")]
    (host,) = url_tree([TreeUrl(url, is_filtered=False) for url in urls], unknown)
    assert labels(host) == ["http://a.test", "/p/*", "/p/*/about", "/p/*/x*.html"]


def test_hosts_are_told_apart_and_deep_paths_end() -> None:
    found = url_tree([TreeUrl(f"http://{host}.test/{'a/b/' * 40}", False) for host in ("a", "b")], unknown)
    assert [node.label for node in found] == ["http://a.test", "http://b.test"]
    assert all(len(label) < 100 for node in found for label in labels(node))


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


def html(text: str, clock: str = "noon") -> bytes:
    return packed_version(f"<html><body><h1>{text} and some more words of a page</h1><p class=clock>{clock}</p></body>")


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
    Mask(site=SITE, paths=(TransientPath("html/body/p.clock", state="strip"),)).save(rules / f"{SITE}.mask.toml")
    rows = []
    for number in range(6):
        for session in ("a", "b"):
            text = f"Title number {number} with a few words more"
            at = DAY + number + (session == "b")
            rows.append(seen(f"p?id={number}&sid={session}", text, time=at, version=html(text, session)))
    rows += [seen(f"q?ref={ref}", "the same page with a few words more", time=3 * DAY) for ref in "xy"]
    rows += [seen("gone", None, status=404), seen("old", None, status=301, redirect="http://example.com/new")]
    dropped = [discarded(f"p?id={n}&sid=c", rule=sid.id, taken_for=f"http://example.com/p?id={n}&sid=a", time=5 * DAY + n) for n in range(6)]  # fmt: skip
    dropped[0] = dropped[0]._replace(state=DiscardState.SAMPLED)
    crawls = [
        CrawlRow("", SITE, "shop", "one", DAY, 4 * DAY, "finished", pages=16, rules_before=["dead0000"], rules_after=[kept.id]),
        CrawlRow("", SITE, "shop", "two", 5 * DAY, 6 * DAY, "finished", pages=2, filtered=6, scheduled=1, avoided=5, avoided_bytes=500,
                 confirmed=1, rules_before=[kept.id, "dead0000"], rules_after=[kept.id, sid.id], learning_seconds=2.0),
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
    assert site.changes == ()
    assert "No crawl has noted yet" in html_of(report)


def test_urls_of_a_site_and_why_not_more(source: ReportSource) -> None:
    _, site = only_site(source)
    counts = site.counts
    assert (counts.urls, counts.new, counts.duplicates, counts.filtered, counts.checks, counts.others) == (
        16,
        7,
        7,
        5,
        1,
        2,
    )
    reasons = {reason.text: reason.urls for reason in site.reasons}
    assert reasons == {
        "duplicates fetched before their rule acted": 6,
        "duplicates by a candidate rule: too few witness groups so far": 1,
        "filtered, and fetched as a spot check": 1,
        "answers with status 404, which are no evidence": 1,
        "redirects, which are followed: the page they lead to counts": 1,
    }


def test_a_spot_check_counts_once(source: ReportSource) -> None:
    """Its page is recorded as that of any other URL is, and it stands in the ledger."""
    with Store.open(source.store) as store:
        text = "Title number 0 with a few words more"
        store.add([seen("p?id=0&sid=c", text, time=5 * DAY + 1)])
    report, site = only_site(source)
    reasons = {reason.text.partition(":")[0]: reason.urls for reason in site.reasons}
    assert reasons["filtered, and fetched as a spot check"] == 1
    assert "duplicates fetched although their rule acted" not in reasons
    assert reasons["duplicates fetched before their rule acted"] == 6
    chart = re.search(
        r'<figure class="chart">(?:(?!</figure>).)*URLs of each site.*?</figure>', html_of(report), re.DOTALL
    )
    assert chart is not None
    assert "spot-checked" not in chart[0]
    assert "color-3" not in chart[0]


def test_the_page_says_what_its_figures_count(source: ReportSource) -> None:
    text = html_of(report_of(source))
    assert "5 of 23 requests</strong> that Scrapy alone would have made were filtered and not fetched" in text
    assert ">fetched (without spot checks and extra requests)</text>" in text, "not cut off"
    assert "not among “not fetched”" in text
    assert "5 URLs filtered and not fetched, each counted once in however many crawls" in text


def test_a_page_that_each_crawl_fetches_once_is_told_from_one_that_is_fetched_twice(source: ReportSource) -> None:
    with Store.open(source.store) as store:
        text = "Title number 0 with a few words more"
        store.add([seen("p?id=0&sid=a", text, time=6 * DAY + 2), seen("p?id=1&sid=b", text, time=6 * DAY + 3)])
        crawl = CrawlRow("", SITE, "shop", "three", 6 * DAY + 1, 6 * DAY + 9, rules_before=["dead0000"])
        store.add([crawl, seen("p?id=2&sid=a", text, time=6 * DAY + 4), seen("p?id=2&sid=b", text, time=6 * DAY + 5)])
    _, site = only_site(source)
    reasons = {reason.text.partition(":")[0]: reason.urls for reason in site.reasons}
    assert reasons["duplicates of what an earlier crawl has fetched"] == 2
    assert reasons["duplicates fetched although their rule acted"] == 1


def test_rules_stand_in_order_with_what_has_changed(source: ReportSource) -> None:
    _, site = only_site(source)
    assert [rule.status for rule in site.rules] == ["suspended", "active", "manual"]
    sid = site.rules[1]
    assert sid.is_new
    assert sid.sentence == "Everywhere, sid does not matter."
    assert (sid.filtered, sid.since) == (6, 5 * DAY)
    assert sid.line
    assert sid.off == f'[[rule]]\nid = "{sid.id}"\nstatus = "off"'
    assert {(change.id, change.came, change.known) for change in site.changes} == {(sid.id, True, True), ("dead0000", False, False)}  # fmt: skip
    waits = {rule.sentence: rule.waits for rule in site.candidates}
    assert waits["Everywhere, ref does not matter."].startswith("more pages under two URLs: 3 witness groups")
    assert waits["Everywhere, tab does not matter."].endswith("30 witness groups for it, 9 groups against it")


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
    assert {reason.text: reason.urls for reason in site.reasons}[
        "fetched as a spot check, which showed another page"
    ] == 1
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
    assert {change.id: change.said for change in site.changes}["dead0000"] == "it is no longer there"
    with Store.open(source.store) as store:
        store.add([discarded("p?id=1&sid=e", rule="dead0000", taken_for="http://example.com/p?id=1&sid=a")])
    changes = {change.id: change.said for change in only_site(source)[1].changes}
    assert changes["dead0000"] == f"it is replaced by {sid}"
    assert said == {sid: "", "0badcafe": f"replaced by {sid}", "deadbeef": "no longer there"}


def test_evidence_is_of_real_pages(source: ReportSource) -> None:
    _, site = only_site(source)
    pairs = site.rules[1].pairs
    assert len(pairs) == 3
    assert pairs[0].said == "Their texts are equal, transient content apart."
    assert [piece.text for piece in pairs[0].one_pieces if piece.marked] == ["a"]
    assert [piece.text for line in pairs[0].diff for piece in line.pieces if piece.marked] == ["a | b"]


def test_parameters_are_told_apart(source: ReportSource) -> None:
    _, site = only_site(source)
    leaves = {node.label: node for host in site.tree for node in host.children}
    verdicts = {each.name: (each.verdict, each.rules) for each in leaves["/p"].parameters}
    assert verdicts["sid"] == ("irrelevant", (site.rules[1].id,))
    assert verdicts["id"] == ("relevant", (site.rules[2].id,))
    assert leaves["/q"].parameters[0].verdict == "unknown"
    assert "equal texts" in leaves["/q"].parameters[0].why


def test_a_parameter_is_compared_with_the_url_without_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        for number in range(2):
            text = f"page {number} with a few words more"
            store.add(
                [
                    seen(f"p/{number}", text),
                    seen(f"p/{number}?ref=a", text),
                    seen(f"p/{number}?new=a&ref=a", "new " + text),
                ]
            )
    _, site = only_site(ReportSource(str(tmp_path / "store.sqlite")))
    (leaf,) = site.tree[0].children
    whys = {each.name: each.why for each in leaf.parameters}
    assert whys["ref"] == "2 pairs of pages that differ in nothing else have equal texts; no rule acts"


def test_pages_that_differ_make_a_parameter_relevant(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        texts = [f"{word} " * 40 for word in ("alpha", "beta", "gamma", "delta")]
        store.add([seen(f"p?id={number}", text) for number, text in enumerate(texts)])
    _, site = only_site(ReportSource(str(tmp_path / "store.sqlite")))
    (parameter,) = site.tree[0].children[0].parameters if site.tree[0].children else site.tree[0].parameters
    assert (parameter.name, parameter.verdict) == ("id", "relevant")


def test_masks_are_drawn_over_pages(source: ReportSource) -> None:
    _, site = only_site(source)
    (masked,) = site.masks
    assert [text.act for text in masked.texts] == ["", "stripped"]
    assert masked.texts[1].pieces[0].marked
    assert masked.transient_words == 1


def test_json_lines_say_the_same(source: ReportSource) -> None:
    report, site = only_site(source)
    records = [json.loads(json.dumps(record)) for record in records_of(report)]
    kinds = [record["type"] for record in records]
    assert kinds == [
        *("report", "crawl", "crawl", "site", "rule", "rule", "rule", "candidate", "candidate", "mask"),
        *["filtered"] * 6,
        "health",
    ]
    assert records[0]["avoided"] == 5
    assert records[4]["sentence"] == site.rules[0].sentence
    assert records[-1]["tables"]["discard"] == 6


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
        store.add([seen(f"p?{evil}={evil}&id=9", evil, version=packed_version(f"<body><p class=clock>&lt;/script>{evil}</p><p>&lt;script>alert(1)&lt;/script></p></body>"))])  # fmt: skip
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
    for word in ("pygal.org", "kozea", "@import", "url(", '<link rel="stylesheet', " src=", "window.pygal"):
        assert word not in text, word
    assert "<svg" in text


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
