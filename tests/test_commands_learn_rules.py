"""``scrapy learn-rules``: it tells what it learns from crawls and files, writes that alone, and a mistake is one line."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import Observation

from .conftest import Project, Serve
from .crawling import rules_of
from .server import Asked, page, prose

SITE = "shop.test"
CRAWL = ("-s", "DEDUP_LEARN=off")
FROM = ("learn-rules", "--from", "seen.jsonl")


def observations(pages: int = 30, url: str = f"http://{SITE}/view?id={{n}}&sid={{sid}}") -> list[Observation]:
    """Each page under two session ids."""
    return [
        Observation(url.format(n=n, sid=f"{n * 7919 + copy * 104729:032x}"), f"text{n}", words=200)
        for n in range(pages)
        for copy in range(2)
    ]


def write_rows(path: Path, rows: Iterable[Observation]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"url": row.url, "fingerprint": row.fingerprint, "words": row.words}) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")


def complaints(stderr: str) -> list[str]:
    """What a command said on standard error, but that it is at work."""
    return [line for line in stderr.splitlines() if not line.startswith("learning from ")]


def learned(project: Project, *args: str, **kwargs: Any) -> str:
    done = project.scrapy(*(args or FROM), **kwargs)
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    return done.stdout


def shop(asked: Asked) -> str | int:
    """A shop of 30 pages whose links each carry a new session id."""
    number = int(asked.query.get("id", "0"))
    links = [f"/?id={(number * 3 + step) % 30}&sid={number * 50 + step:016x}" for step in range(1, 5)]
    return page(prose(number), *links) if asked.path == "/" else 404


def test_learning_from_a_file(project: Project) -> None:
    """A run that only shows, one that tells what changes and writes, one that finds the same, and one that is read by programs."""
    write_rows(project.folder / "seen.jsonl", observations())
    file = project.folder / "dedup-rules" / f"{SITE}.toml"
    told = learned(project, *FROM, "--dry-run")
    for part in (f"{SITE}: +1 rule\n", "q.sid", "100%", "No file was written"):
        assert part in told
    assert not file.parent.exists()
    told = learned(project, *FROM, "--diff")
    assert f"{SITE}: +1 rule\n  + " in told
    assert "q.sid ignore" in told
    assert [list(rule["ops"]) for rule in rules_of(SITE, file.parent)] == [["q.sid"]]
    file.write_text("# mine\n" + file.read_text())
    before = file.read_text()
    told = learned(project, *FROM, "--diff")
    assert f"{SITE}: 1 rule unchanged\n" in told
    assert "q.sid" not in told
    told = learned(project)
    assert not any(line.endswith(" ") for line in told.splitlines())
    assert any(len(line) > 80 for line in told.splitlines()), "no line is broken where nobody looks"
    assert file.read_text() == before
    assert project.scrapy("dedup", "check").returncode == 0
    file.unlink()
    site, rule = map(json.loads, learned(project, *FROM, "--json").splitlines())
    assert (site["type"], site["site"], site["urls"], site["pages"], site["duplicates"]) == ("site", SITE, 60, 30, 30)
    assert (site["would_skip"], site["changes"]["added"]) == (30, [rule["id"]])
    assert (rule["type"], rule["site"], rule["status"], list(rule["ops"])) == ("rule", SITE, "active", ["q.sid"])
    assert rule["evidence"]["groups"] > 0


def test_sites_and_settings_say_what_is_learned_and_where_it_goes(project: Project) -> None:
    write_rows(project.folder / "seen.jsonl", [*observations(), Observation("http://other.test/", "x")])
    for name in (SITE, f"www.{SITE}", f"http://{SITE}/view?id=1"):
        told = learned(project, *FROM, "--dry-run", name)
        assert SITE in told
        assert "other.test" not in told
    spider = project.folder / "shop/spiders/shop.py"
    spider.write_text(
        spider.read_text().replace("    name =", '    custom_settings = {"DEDUP_DIR": "own"}\n    name =')
    )
    learned(project, *FROM, "--spider", "shop")
    assert rules_of(SITE, project.folder / "own")
    project.folder = project.folder.parent / "elsewhere"  # outside a project
    write_rows(project.folder / "seen.jsonl", observations())
    learned(project)
    assert rules_of(SITE, project.folder / "dedup-rules")


def test_nothing_to_learn_is_said(project: Project) -> None:
    seen = project.folder / "seen.jsonl"
    write_rows(seen, [Observation(url, "one page") for url in ("no url", "http://", "mailto:a@b", "?", "#")])
    done = project.scrapy(*FROM)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "learn-rules: nothing to learn: no URL of what was observed belongs to a site\n"
    write_rows(seen, [Observation("http://alone.test/", "one page")])
    told = learned(project)
    assert "nothing to learn: no two URLs led to the same page" in told
    assert "There are no rules to write." in told
    done = project.scrapy("learn-rules")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    for part in ("nothing is recorded", "store.sqlite", "scrapy crawl", "ADDONS"):
        assert part in done.stderr
    assert not (project.folder / ".scrapy/dedup").exists()
    assert not (project.folder / "dedup-rules").exists()


@pytest.mark.parametrize("reactor", [True, pytest.param(False, marks=pytest.mark.reactorless)])
def test_crawl_learn_crawl_forget(project: Project, serve: Serve, reactor: bool) -> None:
    server = serve(shop)
    crawl = ("crawl", "shop", "-a", f"start={server.url('/?id=0')}", "-s", f"TWISTED_REACTOR_ENABLED={reactor}", *CRAWL)
    every = {str(number) for number in range(30)}
    project.told(*crawl)
    first = server.downloads
    assert first > 30
    assert "q.sid" in learned(project, "learn-rules")
    assert {asked.query["id"] for asked in server.asked} == every
    server.reset()
    project.told(*crawl)
    assert server.downloads < first
    assert {asked.query["id"] for asked in server.asked} == every
    if not reactor:
        return
    project.scrapy(
        *crawl, "-s", "DEDUP_SCOPE=members", "-s", "DEDUP_STORE=members.sqlite", "-s", "CLOSESPIDER_PAGECOUNT=1"
    )
    members = ["-s", "DEDUP_STORE=members.sqlite"]
    project.refuses(["learn-rules"], (members, 1, "'members'"))
    project.told("learn-rules", *members, "-s", "DEDUP_SCOPE=members")

    project.write(".scrapy/dedup/report.html", "written before")
    forget = ("dedup", "forget")
    project.refuses(forget, (["missing.test"], 2, server.site))
    told = project.told(*forget, server.site, "-s", "DEDUP_REPORT=None")
    for part in (
        server.site,
        "with the ledger of its filtered URLs",
        str(project.folder / ".scrapy/dedup/report.html"),
    ):
        assert part in told
    project.refuses(["learn-rules"], ([], 1, "nothing is recorded"))
    project.refuses(forget, ([server.site], 1, ""))


def test_mistakes_are_told_in_a_line(project: Project) -> None:
    write_rows(project.folder / "seen.jsonl", observations())
    project.write("bad.jsonl", '{"url": "http://a.test/"}\n{"url": 1}\n')
    project.write("notes.txt", "This is no database, but a text of some length. " * 40)
    text = f'format = "dedup-rules/1"\nsite = "{SITE}"\nrule = 3\n'
    file = project.write(f"faulty/{SITE}.toml", text)
    project.refuses(
        ["learn-rules"],
        (["--dryrun"], 2, "--dryrun"),
        (["--from"], 2, "--from"),
        (["--from", "missing.jsonl"], 2, "missing.jsonl"),
        (["--from", "bad.jsonl"], 2, "bad.jsonl, line 1"),
        (["--from", "bad.jsonl", "--probe", "3"], 2, "--from and --probe"),
        (["--probe", "0"], 2, "--probe"),
        (["--probe", "many"], 2, "--probe"),
        (["--method", "list", "--json"], 2, "--method list and --json do not go together"),
        (["-s", "DEDUP_MODE=fast"], 2, "DEDUP_MODE"),
        (["-s", "DEDUP_STORE=notes.txt"], 2, "notes.txt"),
        (["--spider", "shpo"], 2, "'shpo'"),
        (["--from", "seen.jsonl", "missing.test"], 1, "missing.test"),
        (["--from", "seen.jsonl", "-s", "DEDUP_DIR=notes.txt/rules"], 2, "notes.txt"),
        (["--from", "seen.jsonl", "-s", "DEDUP_DIR=faulty"], 2, f"{file.name}:3"),
    )
    assert file.read_text() == text
    assert not (project.folder / "dedup-rules").exists()


def test_listed_by_scrapy_whose_commands_stay_quick(project: Project) -> None:
    """Scrapy imports the commands of all plug-ins, whatever it is asked to do."""
    told = project.told("-h")
    assert "learn-rules" in told
    assert "Show, check, explain" in told
    told = project.told("learn-rules", "-h")
    for option in ("--dry-run", "--from", "--spider", "--diff", "--json", "Exit codes"):
        assert option in told
    heavy = "numpy", "sqlalchemy", "rich", "scrapy_dedup.rules", "scrapy_dedup.learning"
    probe = f"import sys, scrapy_dedup.commands; print([name for name in {heavy} if name in sys.modules])"
    assert project.python("-c", probe).stdout.strip() == "[]"


def test_commands_in_interpreters_of_their_own(project: Project) -> None:
    """As a user starts them: each imports what it needs."""
    write_rows(project.folder / "seen.jsonl", observations())
    for args, said in (
        ((*FROM, "--diff"), "q.sid"),
        (("dedup", "check"), "1 rule for 1 site"),
        (("dedup", "explain", f"http://{SITE}/view?id=1&sid=2"), "q.sid"),
        (("dedup", "export", "--approximate"), "sid"),
    ):
        done = project.python("-m", "scrapy", *args)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout, args


def test_what_is_shown_depends_on_where_it_is_shown(project: Project) -> None:
    """On a terminal what is done is shown; where the output is ASCII tables have lines of it."""
    write_rows(project.folder / "seen.jsonl", observations(url="http://shop.test/é/{n}?sid={sid}"))
    shown = project.on_a_terminal(*FROM, "--dry-run", columns=160)
    assert "learning from seen.jsonl" in shown
    assert "learning shop.test" in shown
    done = project.scrapy(*FROM, encoding="ascii")
    assert (done.stdout + done.stderr).isascii()
    assert "learning shop.test" not in done.stderr
    for part in ("-------", "shop.test: +1 rule\n", "q.sid ignore"):
        assert part in done.stdout
