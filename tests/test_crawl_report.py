"""The report that a crawl leaves, and ``scrapy dedup report``: real processes, and a real server."""

import json
import re
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.crawl.report import report_file
from scrapy_dedup.rules import Ignore, RuleBook

from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, messages, rule
from .server import Asked, page, prose
from .waiting import wait_until

PAGES = 12


def shop(asked: Asked) -> Any:
    """Every page links to two others, under session ids of its own."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)))
    number = int(asked.query["id"])
    return page(prose(number), *(f"/p?id={(number + step) % PAGES}&sid={number + 1}" for step in (1, 2)))


def crawled(project: Project, serve: Serve, *options: str) -> tuple[str, str]:
    """Crawl the shop with a rule of the user; return its site and what the crawl said."""
    server = serve(shop)
    site = f"127.0.0.1:{server.port}"
    RuleBook([rule(site, {"q.sid": Ignore()})]).save(project.folder / "dedup-rules")
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", *options)
    assert done.returncode == 0, done.stderr
    return site, done.stderr


def test_a_crawl_leaves_a_report_beside_its_store(project: Project, serve: Serve) -> None:
    site, said = crawled(project, serve, "-s", "DEDUP_REPORT=None")
    path = project.folder / ".scrapy" / "dedup" / "report.html"
    text = path.read_text(encoding="utf-8")
    assert f"the report is in {path}" in said
    assert "ERROR" not in said
    assert site in text
    assert "q.sid ignore, everywhere" in text
    assert re.search(r"<strong>\d+ of \d+ requests</strong> that Scrapy alone would have made were filtered", text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == ["report.html", "store.sqlite"]


def test_it_is_written_where_the_setting_says_or_not_at_all(project: Project, serve: Serve) -> None:
    crawled(project, serve, "-s", "DEDUP_REPORT=reports/crawl.html")
    assert (project.folder / "reports" / "crawl.html").exists()
    for option in ("DEDUP_REPORT=", "DEDUP_MODE=observe"):
        crawled(project, serve, "-s", option, *(("-s", "DEDUP_REPORT=None") if "MODE" in option else ()))
        assert not list(project.folder.glob(".scrapy/dedup/*.html")), option


def test_a_report_that_cannot_be_written_is_told_of(project: Project, serve: Serve) -> None:
    project.write("taken", "a file, not a folder")
    _, said = crawled(project, serve, "-s", "DEDUP_REPORT=taken/report.html")
    assert "the report was not written" in said
    assert "finished" in said
    assert "Traceback" not in said


PROBE = """\
import sys
from scrapy.cmdline import execute
from scrapy_dedup.crawl.report import report_file
report_file._LONGEST = 600
try:
    execute(["scrapy", "crawl", "shop", "-a", "start=" + sys.argv[1], "-s", "DEDUP_REPORT=None"])
finally:
    print("imported", sorted({name.partition(".")[0] for name in sys.modules} & {"jinja2"}))
"""


def test_a_crawl_does_not_import_what_renders(project: Project, serve: Serve) -> None:
    project.write("probe.py", PROBE)
    done = project.python("probe.py", serve(shop).url("/"))
    assert "imported []" in done.stdout, done.stderr
    assert (project.folder / ".scrapy" / "dedup" / "report.html").exists()


@in_reactor
async def test_the_crawl_does_not_wait(serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """The process that writes it begins when the crawl has closed."""
    import sys

    code = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(.01)\nraise SystemExit('no ink')"
    monkeypatch.setattr(report_file, "command_of", lambda *_: [sys.executable, "-c", code])
    done = await crawl(Links, serve(shop).url("/"), DEDUP_REPORT="r.html")
    assert done.stats["finish_reason"] == "finished"
    assert "dedup/errors/report" not in done.stats
    Path("go").touch()
    # It is counted before it is told.
    wait_until(lambda: any("no ink" in line for line in messages(caplog)))
    assert done.stats["dedup/errors/report"] == 1


@in_reactor
async def test_nobody_waits_for_a_report_that_takes_long(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    import sys

    monkeypatch.setattr(report_file, "command_of", lambda *_: [sys.executable, "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(report_file, "_LONGEST", 0.1)
    done = await crawl(Links, serve(shop).url("/"), DEDUP_REPORT="r.html")
    (thread,) = [each for each in threading.enumerate() if each.name == "dedup-report"] or [threading.Thread()]
    wait_until(lambda: not thread.is_alive())
    assert done.stats["finish_reason"] == "finished"
    assert done.stats["dedup/errors/report"] == 1
    (told,) = [record for record in caplog.records if "report" in record.getMessage() and record.levelname == "WARNING"]
    assert told.exc_info is None
    said = "the report was not written: it took longer than 0.1 s; scrapy dedup report writes it"
    assert told.getMessage() == f"scrapy-dedup: {said}"


def test_the_command_writes_it(project: Project, serve: Serve) -> None:
    site, _ = crawled(project, serve)
    done = project.scrapy("dedup", "report", "-o", "out.html", fresh=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.fullmatch(r"\d+ of \d+ requests were filtered and not fetched. The report is in out.html.\n", done.stdout)
    assert site in (project.folder / "out.html").read_text(encoding="utf-8")
    by_site = project.scrapy("dedup", "report", site, "-o", "site.html")
    assert by_site.returncode == 0, by_site.stderr
    in_place = project.scrapy("dedup", "report", "-s", "DEDUP_REPORT=None")
    assert str(project.folder / ".scrapy" / "dedup" / "report.html") in in_place.stdout


def test_the_command_prints_json(project: Project, serve: Serve) -> None:
    site, _ = crawled(project, serve)
    done = project.scrapy("dedup", "report", "--json")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = {record["type"] for record in records}
    assert kinds == {"report", "crawl", "site", "rule", "filtered"}
    head = records[0]
    assert head["avoided"] == sum(record.get("state") == "pending" for record in records) > 0
    assert next(record for record in records if record["type"] == "site")["site"] == site
    written = project.scrapy("dedup", "report", "--json", "-o", "out.jsonl")
    assert written.stdout == ""
    lines = (project.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(records)


def test_mistakes_are_one_line(project: Project, serve: Serve) -> None:
    nothing = project.scrapy("dedup", "report")
    assert (nothing.returncode, nothing.stderr.count("\n")) == (1, 1)
    assert "nothing is recorded" in nothing.stderr
    crawled(project, serve)
    for args, said in (
        (("other.test",), "nothing is recorded of other.test"),
        (("--json", "--open"), "--json and --open do not go together"),
        (("-s", "DEDUP_REPORT=shop"), "it is a directory"),
        (("-o", "shop"), "shop is a directory; -o takes a file"),
        (("-o", "none/x.html"), "none/x.html: there is no folder none; make it first"),
        (("--json", "-o", "none/x.html"), "none/x.html: there is no folder none; make it first"),
    ):
        done = project.scrapy("dedup", "report", *args)
        assert done.returncode == 2, (args, done.stderr)
        assert said in done.stderr
        assert "Traceback" not in done.stderr
