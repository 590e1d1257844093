"""``scrapy dedup ledger``, and what ``scrapy dedup explain`` has from it, after a real crawl."""

import json

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.commands.showing.shown_ledger import print_rules, print_table
from scrapy_dedup.rules import Ignore, Rule, Status
from scrapy_dedup.store.ledger_queries import LedgerFilter
from scrapy_dedup.store.store import Store

from .server import Asked, page, prose
from .store_rows import discarded

RULES = """\
format = "dedup-rules/1"
site = "{site}"

[[rule]]
id = "00000001"
status = "manual"
ops = {{ "q.sid" = "ignore" }}

[[rule]]
id = "00000002"
status = "manual"
match = {{ "path.0" = "print" }}
ops = {{ "path.0" = {{ set = {{ print = "view" }} }} }}
"""


def shop(asked: Asked) -> str | int:
    """A start page that links to ten pages, each under three session ids."""
    if asked.path == "/":
        return page(prose(0), *(f"/view?id={number}&sid={copy}" for number in range(10) for copy in range(3)))
    return page(prose(1 + int(asked.query["id"]))) if asked.path == "/view" else 404


@pytest.fixture
def crawled(project, serve):
    server = serve(shop)
    site = f"127.0.0.1:{server.port}"
    project.write(f"dedup-rules/{site.replace(':', '_')}.toml", RULES.format(site=site))
    quiet = ("-s", "DEDUP_LEARN=off", "-s", "DEDUP_SAMPLE=0", "-s", "DEDUP_STARTER=0", "-s", "DEDUP_EXTRA=0")
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", *quiet)
    assert done.returncode == 0, done.stderr
    assert server.downloads == 1 + 10, "nothing is lost, and the twenty others are saved"
    project.site = site
    project.url = server.url
    return project


def records(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_was_filtered_is_told(crawled):
    rows = records(crawled.scrapy("dedup", "ledger", "--json", fresh=True))
    assert {row["url"] for row in rows} >= {crawled.url(f"/view?id={number}&sid=2") for number in range(10)}
    assert len(rows) == 20
    for row in rows:
        assert (row["type"], row["site"], row["rule"], row["spider"]) == ("filtered", crawled.site, "00000001", "shop")
        assert row["taken_for"].partition("&sid=")[0] == row["url"].partition("&sid=")[0]
        assert row["state"] == "pending"
    assert [row["time"] for row in rows] == sorted((row["time"] for row in rows), reverse=True)
    done = crawled.scrapy("dedup", "ledger", "--limit", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "and 17 URLs more (--limit 0 shows all)"
    assert len(done.stdout.splitlines()) == 2 + 3 + 1
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())


def test_was_this_url_filtered(crawled):
    filtered, other = crawled.url("/view?id=3&sid=2"), crawled.url("/view?id=3&sid=9")
    done = crawled.scrapy("dedup", "ledger", "--url", filtered)
    assert done.returncode == 0, done.stderr
    for part in (filtered, "rule       00000001", "by the spider shop", "taken for  http", "became     filtered"):
        assert part in done.stdout
    done = crawled.scrapy("dedup", "ledger", "--url", other)
    assert (done.returncode, done.stdout) == (1, f"{other} was not filtered.\n")
    done = crawled.scrapy("dedup", "ledger", "--url", other, "--json")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize(
    ("args", "number"),
    [
        (["--containing", "id=4&"], 2),
        (["--containing", "id=4%"], 0),
        (["--rule", "00000001", "--limit", "0"], 20),
        (["--rule", "00000002"], 0),
        (["--spider", "shop", "--limit", "7"], 7),
        (["--since", "1h"], 20),
        (["--until", "2020-01-01"], 0),
        (["other.test"], 0),
    ],
)
def test_rows_are_chosen(crawled, args, number):
    done = crawled.scrapy("dedup", "ledger", "--json", *args)
    assert done.returncode == (0 if number else 1), done.stderr
    assert len(done.stdout.splitlines()) == number


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["other.test"], "Nothing was filtered of other.test; it was of: {site}"),
        (["--rule", "0000abcd"], "Nothing was filtered by a rule 0000abcd; it was by: 00000001"),
        (["--until", "2020-01-01"], "Nothing was filtered that is asked for."),
    ],
)
def test_what_the_ledger_has_is_named_where_it_has_not_what_is_asked_for(crawled, args, said):
    done = crawled.scrapy("dedup", "ledger", *args)
    assert (done.returncode, done.stdout) == (1, said.format(site=crawled.site) + "\n")


def test_times_and_ids_are_not_broken_on_a_narrow_terminal(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    row = discarded("/" + "long/" * 20, time=1.2e9, rule="0000abcd", scope="")
    with Store.open(str(tmp_path / "store.sqlite")) as store:
        store.add([row])
        print_table(store, LedgerFilter(), None)
    shown = capsys.readouterr().out
    assert "2008-01-10T21:20:00Z" in shown
    assert "0000abcd" in shown


def test_by_rule(crawled):
    (row,) = records(crawled.scrapy("dedup", "ledger", "--by-rule", "--json"))
    assert (row["type"], row["site"], row["rule"], row["urls"]) == ("rule", crawled.site, "00000001", 20)
    assert row["first"] <= row["last"]
    assert row["now"] == "manual"
    done = crawled.scrapy("dedup", "ledger", "--by-rule")
    assert "00000001    20" in done.stdout


def test_by_rule_a_rule_that_is_gone_is_marked(tmp_path, capsys):
    row = discarded("/p?sid=1", time=1.2e9, rule="0000abcd", scope="")
    rules = RuleBook([Rule(row.site, {}, {"q.sid": Ignore()}, Status.ACTIVE)])
    (new,) = rules.for_site(row.site)
    with Store.open(str(tmp_path / "store.sqlite")) as store:
        store.add([row._replace(taken_for=row.url.replace("sid=1", "sid=2"))])
        for book, said, now in (
            (RuleBook(), "no longer there", {"now": "gone", "replaced_by": []}),
            (rules, f"replaced by {new.id}", {"now": "gone", "replaced_by": [new.id]}),
        ):
            assert print_rules(store, LedgerFilter(), book, json=True)
            assert json.loads(capsys.readouterr().out).items() >= now.items()
            assert print_rules(store, LedgerFilter(), book, json=False)
            assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--since", "yesterday"], "'yesterday' is no time; right ones: 2025-11-25"),
        (["--since", "1h", "--until", "2h"], "--since is not before --until"),
        (["--limit", "-1"], "--limit is a number of rows"),
        (["--limit", "x"], "--limit: 'x' is no whole number; a right one: 20"),
        (["--url", "http://a.test/", "--by-rule"], "--url and --by-rule do not go together"),
        (["--by-rule", "--limit", "1"], "--limit and --by-rule do not go together"),
        (["--sice", "1h"], "--sice"),
    ],
)
def test_mistakes_are_told_in_a_line(project, args, said):
    done = project.scrapy("dedup", "ledger", *args)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert "scrapy dedup SUBCOMMAND" not in done.stderr, "how the subcommand is used is shown"


def test_without_a_store(project):
    done = project.scrapy("dedup", "ledger")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing is recorded" in done.stderr


def test_explain_asks_the_ledger_and_says_why_a_rule_does_nothing(crawled):
    filtered, fetched = crawled.url("/view?id=3&sid=2"), crawled.url("/view?id=3")
    done = crawled.scrapy("dedup", "explain", filtered)
    assert done.returncode == 0, done.stderr
    assert "\nfiltered\n" in done.stdout
    assert "did here  q.sid ignore" in done.stdout
    assert "sid=⟦" in done.stdout, "URLs as they were met, what differs between marks"
    assert 'rule 00000002 (manual) does not match: it asks for path.0 = "print", and path.0 is "view"' in done.stdout
    done = crawled.scrapy("dedup", "explain", fetched)
    assert "did here  nothing: the URL has no q.sid" in done.stdout
    assert "it was not filtered" in done.stdout
    one, other = records(crawled.scrapy("dedup", "explain", "--json", filtered, fetched))
    assert one["filtered"]["rule"] == "00000001"
    assert other["filtered"] is None
    assert one["key"] == other["key"] == other["url"]
    (rule,) = one["rules"]
    assert (rule["id"], rule["did"], rule["why_nothing"]) == ("00000001", ["q.sid"], [])
    assert all(len(pair) == 2 and pair[0] != pair[1] for pair in rule["examples"])
    assert rule["examples"]
    assert one["unmatched"] == {"00000002": "path.0"}
    assert other["rules"][0]["why_nothing"] == ["the URL has no q.sid"]
