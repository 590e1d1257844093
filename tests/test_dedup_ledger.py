"""``scrapy dedup ledger``: nothing is lost silently, each filtered URL can be looked up with its rule and the page it was taken for."""

import json
from typing import Any

from .conftest import Project, Serve
from .crawling import ignore, rule_toml, save_rules
from .server import Asked, page, prose
from .store_rows import discarded, record

QUIET = ("-s", "DEDUP_LEARN=off", "-s", "DEDUP_SAMPLE=0", "-s", "DEDUP_STARTER=0", "-s", "DEDUP_EXTRA=0")
#: Which rows are asked for, and how many there are.
CHOSEN = [
    (["--containing", "id=4&"], 2),
    (["--containing", "id=4%"], 0),
    (["--rule", "00000001", "--limit", "0"], 20),
    (["--spider", "shop", "--limit", "7"], 7),
    (["--since", "1h"], 20),
    (["--until", "2020-01-01"], 0),
]
#: What is asked for and is not there, and what is said of it.
NOTHING = [
    (["other.test"], "Nothing was filtered of other.test; it was of: {site}"),
    (["--rule", "0000abcd"], "Nothing was filtered by a rule 0000abcd; it was by: 00000001"),
    (["--until", "2020-01-01"], "Nothing was filtered that is asked for."),
]
MISTAKES = [
    (["--since", "yesterday"], "'yesterday' is no time; right ones: 2025-11-25"),
    (["--since", "1h", "--until", "2h"], "--since is not before --until"),
    (["--limit", "-1"], "--limit is a number of rows"),
    (["--limit", "x"], "--limit: 'x' is no whole number; a right one: 20"),
    (["--url", "http://a.test/", "--by-rule"], "--url and --by-rule do not go together"),
    (["--by-rule", "--limit", "1"], "--limit and --by-rule do not go together"),
    (["--sice", "1h"], "--sice"),
]


def shop(asked: Asked) -> str | int:
    """A start page that links to ten pages, each under three session ids."""
    if asked.path == "/":
        return page(prose(0), *(f"/view?id={number}&sid={copy}" for number in range(10) for copy in range(3)))
    return page(prose(1 + int(asked.query["id"]))) if asked.path == "/view" else 404


def test_what_a_crawl_has_filtered(project: Project, serve: Serve) -> None:
    server = serve(shop)
    first = rule_toml('"q.sid" = "ignore"').replace("status", 'id = "00000001"\nstatus')
    second = rule_toml('"path.0" = { set = { print = "view" } }', match=['"path.0" = "print"'])
    second = second.replace("status", 'id = "00000002"\nstatus')
    save_rules(server.site, first, second, directory=project.folder / "dedup-rules")
    project.told("crawl", "shop", "-a", f"start={server.url('/')}", *QUIET)
    assert server.downloads == 1 + 10, "nothing is lost, and the twenty others are saved"

    def lines(*args: str) -> list[dict[str, Any]]:
        done = project.scrapy("dedup", *args, "--json")
        assert (done.returncode, "Traceback" in done.stderr) == (0 if done.stdout else 1, False), done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    rows = lines("ledger")
    assert len(rows) == 20
    assert {row["url"] for row in rows} >= {server.url(f"/view?id={number}&sid=2") for number in range(10)}
    for row in rows:
        said = tuple(row[name] for name in ("type", "site", "rule", "spider", "state"))
        assert said == ("filtered", server.site, "00000001", "shop", "pending")
        assert row["taken_for"].partition("&sid=")[0] == row["url"].partition("&sid=")[0]
    assert [row["time"] for row in rows] == sorted((row["time"] for row in rows), reverse=True)
    for args, number in CHOSEN:
        assert len(lines("ledger", *args)) == number, args
    shown = project.told("dedup", "ledger", "--limit", "3").splitlines()
    assert (len(shown), shown[-1]) == (2 + 3 + 1, "and 17 URLs more (--limit 0 shows all)")
    assert not any(line.endswith(" ") for line in shown)
    (by_rule,) = lines("ledger", "--by-rule")
    assert tuple(by_rule[name] for name in ("type", "site", "rule", "urls", "now")) == (
        "rule",
        server.site,
        "00000001",
        20,
        "manual",
    )
    assert by_rule["first"] <= by_rule["last"]
    assert "00000001    20" in project.told("dedup", "ledger", "--by-rule")

    filtered, fetched, other = map(server.url, ("/view?id=3&sid=2", "/view?id=3", "/view?id=3&sid=9"))
    told = project.told("dedup", "ledger", "--url", filtered)
    for part in (filtered, "rule       00000001", "by the spider shop", "taken for  http", "became     filtered"):
        assert part in told
    for args, nothing in [*NOTHING, (["--url", other], f"{other} was not filtered.")]:
        done = project.scrapy("dedup", "ledger", *args)
        assert (done.returncode, done.stdout) == (1, nothing.format(site=server.site) + "\n")
    assert lines("ledger", "--url", other) == []

    told = project.scrapy("dedup", "explain", filtered).stdout
    for part in (
        "\nfiltered\n",
        "did here  q.sid ignore",
        "sid=⟦",  # URLs as they were met, what differs between marks
        'rule 00000002 (manual) does not match: it asks for path.0 = "print", and path.0 is "view"',
    ):
        assert part in told
    told = project.scrapy("dedup", "explain", fetched).stdout
    assert "did here  nothing: the URL has no q.sid" in told
    assert "it was not filtered" in told
    one, two = lines("explain", filtered, fetched)
    assert (one["filtered"]["rule"], two["filtered"]) == ("00000001", None)
    assert one["key"] == two["key"] == two["url"]
    (rule,) = one["rules"]
    assert (rule["id"], rule["did"], rule["why_nothing"]) == ("00000001", ["q.sid"], [])
    assert rule["examples"]
    assert all(len(pair) == 2 and pair[0] != pair[1] for pair in rule["examples"])
    assert (one["unmatched"], two["rules"][0]["why_nothing"]) == ({"00000002": "path.0"}, ["the URL has no q.sid"])


def test_a_rule_that_is_gone_is_marked_and_what_it_has_filtered_is_shown_whole(project: Project) -> None:
    """Times and ids are not broken, however narrow the terminal."""
    row = discarded("p?sid=1&" + "long/" * 20, time=1.2e9, rule="0000abcd")
    record(project.folder / "store.sqlite", row._replace(taken_for=row.url.replace("sid=1", "sid=2")))
    command = ("dedup", "ledger", "-s", "DEDUP_STORE=store.sqlite")
    for rules, said, now in (([], "no longer there", []), ([ignore("q.sid")], "replaced by {}", ["{}"])):
        save_rules(row.site, *rules, directory=project.folder / "dedup-rules")
        listed = json.loads(
            project.scrapy("dedup", "explain", "--json", row.url, "-s", "DEDUP_STORE=store.sqlite").stdout
        )
        new = [rule["id"] for rule in listed["rules"]]
        found = json.loads(project.scrapy(*command, "--by-rule", "--json").stdout)
        assert (found["now"], found["replaced_by"]) == ("gone", [each.format(*new) for each in now])
        assert said.format(*new) in project.scrapy(*command, "--by-rule").stdout
    shown = project.on_a_terminal(*command, columns=80)
    assert "2008-01-10T21:20:00Z" in shown
    assert "0000abcd" in shown


def test_mistakes_are_told_in_a_line(project: Project) -> None:
    project.refuses(["dedup", "ledger"], *((args, 2, said) for args, said in MISTAKES), ([], 1, "nothing is recorded"))
