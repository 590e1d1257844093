"""What a crawl tells of itself: closing lines, whose rules filter, what it has saved, a report beside the store, and no text or password that is not to be kept."""

import json
import re
import shutil
import sqlite3
import stat
import sys
import threading
import zlib
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from scrapy import FormRequest, Request
from scrapy.http import Response

from .conftest import Project, Serve
from .crawling import (
    STORE,
    SWAPPED,
    Links,
    Outcome,
    crawl,
    crawl_site,
    crawler_of,
    ignore,
    in_reactor,
    ledger,
    messages,
    rules_of,
    run,
    save_mask,
    save_rules,
    when_counted,
)
from .server import Answer, Asked, page, prose, redirect
from .waiting import PATIENCE, wait_until

PAGES = 24
LEARNED = ignore("q.sid", "active")


def shop(asked: Asked) -> Any:
    """Every page links to two others, under session ids of its own."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)))
    number = int(asked.query["id"])
    return page(prose(number), *(f"/p?id={(number + step) % PAGES}&sid={number + 1}" for step in (1, 2)))


# Closing lines


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        pytest.param(LEARNED, None, id="nothing known"),
        pytest.param(ignore("q.sid", "active", groups=12), None, id="too little known"),
        pytest.param(ignore("q.sid", "active", groups=60), 2, id="witness groups"),
        pytest.param(ignore("q.sid", "active", groups=10, samples=50), 2, id="spot checks of earlier crawls"),
        pytest.param(ignore("q.sid", "active", groups=2_000), 0, id="much known"),
    ],
)
@in_reactor
async def test_a_bound_is_given_where_it_informs(serve: Serve, caplog: Any, rule: str, bound: int | None) -> None:
    with caplog.at_level("INFO"):
        done = await crawl_site(serve, shop, rule, DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=1)
    (line,) = [line for line in messages(caplog, 20) if "spot check" in line and "filtered URLs were fetched" in line]
    assert " filtered URLs were fetched to check: all duplicates" in line
    assert ("at most" in line) is (bound is not None)
    if bound is not None:
        assert line.endswith(f"; of those not fetched at most {bound} may be other pages (95 %)")
        assert round(done.stat("avoided/lost_at_most")) == bound


@in_reactor
async def test_what_differed_is_said_with_its_bound(serve: Serve, caplog: Any) -> None:
    """``n`` is another page for each value, and the rule that says otherwise the user's own."""

    def site(asked: Asked) -> str:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&n={n}" for i in range(4) for n in range(1, 11)))
        return page(prose(f"{asked.query['id']} {asked.query['n']}"))

    with caplog.at_level("INFO"):
        done = await crawl_site(serve, site, ignore("q.n"), DEDUP_SAMPLE=0.4, CONCURRENT_REQUESTS=1)
    (line,) = [line for line in messages(caplog, 20) if "; of those not fetched at most " in line]
    assert " other page" in line
    assert "all duplicates" not in line
    assert done.stat("refuted/manual") == 1


@in_reactor
async def test_what_was_no_evidence_is_said_in_one_line(serve: Serve, caplog: Any) -> None:
    site = {
        "/": page(prose("start"), "/gone?a=1", "/gone?a=2", "/moved", "/short", "/long"),
        "/gone": 404,
        "/moved": redirect("/long?x=1"),
        "/short": "two words",
        "/long": page(prose("long")),
        "/form": page(prose("form")),
        "/clean": page(prose("clean")),
    }

    class Forms(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if response.url.endswith("/long"):
                yield FormRequest(response.urljoin("/form"), formdata={"q": "1"})

    with caplog.at_level("INFO"):
        done = await crawl_site(serve, site, spider=Forms, CONCURRENT_REQUESTS=1)
        assert [line for line in messages(caplog, 20) if "evidence" in line] == [
            "scrapy-dedup: not used as evidence: 2 answers other than 200, 1 with hardly any text, 1 answer to a request that is no plain GET, 1 redirect"
        ]
        counts = {"status": 2, "redirect": 1, "method": 1, "hardly_any_text": 1}
        assert {name: done.stat(f"not_evidence/{name}") for name in counts} == counts
        caplog.clear()
        await done.again(start=["/clean"])
    assert not [line for line in messages(caplog, 20) if "evidence" in line]
    assert "1 response recorded, 0 URLs filtered as duplicates" in messages(caplog, 20)[-1]


@in_reactor
async def test_what_passes_on_pages_makes_no_other_pages(serve: Serve, caplog: Any) -> None:
    """Two pages show another time in each response. As long as nothing is known of that nobody can tell, and nobody is alarmed."""
    ticks = count()

    def site(asked: Asked) -> Any:
        clock = asked.query.get("id") in ("3", "17")
        return shop(asked).replace(
            "</body>", f"<p class=clock>{next(ticks)} o clock</p></body>" if clock else "</body>"
        )

    caplog.set_level("INFO")
    done = await crawl_site(serve, site, LEARNED, DEDUP_SAMPLE=1, CONCURRENT_REQUESTS=1)
    assert done.stat("samples/undecided") >= 2
    save_mask(done.server.site, {"body > p.clock::text": "{…}"})
    masked = await done.again(DEDUP_SAMPLE=1, CONCURRENT_REQUESTS=1)
    assert masked.stat("samples/undecided") == 0
    assert masked.stat("samples/confirmed") == masked.stat("samples") > 2
    assert done.stat("samples/differing") + masked.stat("samples/differing") == 0
    assert not [text for text in messages(caplog, 20) if re.search("is not the same page|other page|suspended", text)]
    assert not ledger("differing")


# Whose rules filter


class First(Links):
    name = "first"


class Second(Links):
    name = "second"


class Third(Links):
    name = "third"


def sourced(asked: Asked) -> Any:
    """Pages, each under three referrers."""
    if asked.path == "/":
        return page(prose("start"), *(f"/p?id={i}&ref=s{i}x{j}" for i in range(PAGES) for j in range(3)))
    return page(prose(asked.query["id"]))


@in_reactor
async def test_a_spider_is_told_whose_rules_filter_its_requests(serve: Serve, caplog: Any) -> None:
    """Once in a crawl, and in the next crawl not again, since it has seen the site itself by then."""
    first = await crawl_site(serve, sourced, spider=First, DEDUP_LEARN="close")
    (learned,) = rules_of(first.server.site)

    async def warned(spider: type[Links], *rules: str, **settings: Any) -> list[str]:
        """What a crawl that filters requests warns of."""
        caplog.clear()
        done = await first.again(*rules, spider=spider, **settings)
        assert done.stat("discarded/urls") == 2 * PAGES
        return messages(caplog)

    assert await warned(First) == [], "it is its own rule"
    (told,) = await warned(Second)
    assert told.startswith(
        f"Requests of the spider second are filtered by rule {learned['id']} of {first.server.site}, "
        "which was learned from what the spider first saw."
    )
    assert "DEDUP_SCOPE keeps what spiders learn apart" in told
    assert await warned(Second) == []
    (told,) = await warned(Third)
    assert "what the spiders first and second saw" in told
    save_rules(first.server.site, ignore("q.ref", "active"), directory="dedup-rules/own")
    assert await warned(Second, DEDUP_SCOPE="own") == [], "spiders of other scopes have taught nothing"
    shutil.rmtree(STORE.parent)
    await first.again(spider=First, DEDUP_MODE="observe")
    Path("dedup-rules").rename("package")
    assert await warned(Second, DEDUP_RULES=["package"]) == [], "it comes with a package"
    assert await warned(Third, ignore("q.ref")) == [], "it is manual"
    shutil.rmtree(STORE.parent)
    assert await warned(Third, ignore("q.ref", "active")) == [], "there is no store that could tell"


@in_reactor
async def test_rules_that_a_spider_learns_while_it_crawls_are_its_own(serve: Serve, caplog: Any) -> None:
    """Another one has seen a few pages before, of which nothing was learned."""
    used, answered = threading.Event(), count()

    def site(asked: Asked) -> Any:
        if next(answered) >= 2 * PAGES:  # enough to learn from; the others are answered when rules are in use
            used.wait(PATIENCE)
        return sourced(asked)

    server = serve(site)
    await crawl(First, server.url("/"), CLOSESPIDER_PAGECOUNT=5)
    crawler = crawler_of(Second, DEDUP_LEARN="live", CONCURRENT_REQUESTS=1)
    when_counted(crawler, SWAPPED, used.set)
    done = await run(crawler, server.url("/"))
    assert done.stat("discarded/urls") > 0
    assert messages(caplog) == []


# What is saved


class Slow:
    """Says of each response that it took a hundred seconds, as where all are under way at once."""

    def process_response(self, request: Request, response: Response) -> Response:
        request.meta["download_latency"] = 100.0
        return response


def crawled(project: Project, serve: Serve, *options: str) -> tuple[str, str]:
    """Crawl the shop with a rule of the user; return its site and what the crawl said."""
    server = serve(shop)
    save_rules(server.site, ignore("q.sid"), directory=project.folder / "dedup-rules")
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_LEARN=off", *options)
    assert done.returncode == 0, done.stderr
    return server.site, done.stderr


@in_reactor
async def test_what_crawls_have_saved_is_told_by_each(
    serve: Serve, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for several responses at once counts once."""
    monkeypatch.chdir(project.folder)
    slow: dict[str, Any] = {"DOWNLOADER_MIDDLEWARES": {Slow: 999}}
    done: list[Outcome] = [await crawl_site(serve, shop)]
    done += [await done[0].again(ignore("q.sid"), **slow), await done[0].again(DEDUP_SAMPLE=1)]
    said = project.scrapy("dedup", "report", "--json").stdout
    records = [json.loads(line) for line in said.splitlines()]
    assert {record["type"] for record in records} == {"report", "crawl", "site", "rule", "filtered"}
    found = [record for record in records if record["type"] == "crawl"]
    assert {(each["spider"], each["reason"], *each["sites"]) for each in found} == {
        ("links", "finished", done[0].server.site)
    }
    told = sorted((each["avoided"], each["avoided_bytes"], each["confirmed"]) for each in found)
    assert told == sorted(
        tuple(each.stat(name) for name in ("avoided", "avoided/bytes", "samples/confirmed")) for each in done
    )
    assert (done[1].stat("avoided"), done[2].stat("samples/confirmed") > 0) == (2 * PAGES, True)
    assert done[1].stat("avoided/seconds") < 100
    assert len({each["job"] for each in found}) == 3
    assert next(record for record in records if record["type"] == "site")["site"] == done[0].server.site
    assert project.scrapy("dedup", "report", "--json", "-o", "out.jsonl").stdout == ""
    assert len((project.folder / "out.jsonl").read_text().splitlines()) == len(records)


def test_a_crawl_leaves_a_report_and_the_command_writes_it(project: Project, serve: Serve) -> None:
    nothing = project.scrapy("dedup", "report")
    assert (nothing.returncode, nothing.stderr.count("\n")) == (1, 1)
    assert "nothing is recorded" in nothing.stderr
    site, said = crawled(project, serve, "-s", "DEDUP_REPORT=None")
    path = project.folder / ".scrapy" / "dedup" / "report.html"
    text = path.read_text(encoding="utf-8")
    assert f"the report is in {path}" in said
    assert "ERROR" not in said
    assert "q.sid ignore, everywhere" in text
    assert re.search(r"<strong>\d+ of \d+ requests</strong> that Scrapy alone would have made were filtered", text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == ["report.html", "store.sqlite"]
    done = project.scrapy("dedup", "report", site, "-o", "out.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"\d+ of \d+ requests were filtered and not fetched. The report is in out.html.\n", done.stdout)
    assert site in (project.folder / "out.html").read_text(encoding="utf-8")
    assert str(path) in project.scrapy("dedup", "report", "-s", "DEDUP_REPORT=None").stdout
    for args, problem in (
        (("other.test",), "nothing is recorded of other.test"),
        (("--json", "--open"), "--json and --open do not go together"),
        (("-s", "DEDUP_REPORT=shop"), "it is a directory"),
        (("-o", "shop"), "shop is a directory; -o takes a file"),
        (("-o", "none/x.html"), "none/x.html: there is no folder none; make it first"),
        (("--json", "-o", "none/x.html"), "none/x.html: there is no folder none; make it first"),
    ):
        done = project.scrapy("dedup", "report", *args)
        assert done.returncode == 2, (args, done.stderr)
        assert problem in done.stderr
        assert "Traceback" not in done.stderr


def test_where_a_crawl_writes_its_report(project: Project, serve: Serve) -> None:
    crawled(project, serve, "-s", "DEDUP_REPORT=reports/crawl.html")
    assert (project.folder / "reports" / "crawl.html").exists()
    for options in (["-s", "DEDUP_REPORT="], ["-s", "DEDUP_MODE=observe", "-s", "DEDUP_REPORT=None"]):
        crawled(project, serve, *options)
        assert not list(project.folder.glob(".scrapy/dedup/*.html")), options
    project.write("taken", "a file, not a folder")
    _, said = crawled(project, serve, "-s", "DEDUP_REPORT=taken/report.html")
    assert "the report was not written" in said
    assert "finished" in said
    assert "Traceback" not in said


@pytest.mark.own_interpreter
@in_reactor
async def test_the_crawl_does_not_wait_for_the_report(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """A process of its own writes it when the crawl has closed; what goes wrong there is one line."""
    real, script = sys.executable, Path("python.sh").resolve()
    script.write_text("#!/bin/sh\nwhile [ ! -e go ]; do sleep .01; done\necho 'no ink' >&2; exit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))
    done = await crawl_site(serve, shop, DEDUP_REPORT="r.html")
    assert done.stats["finish_reason"] == "finished"
    assert not done.faults()
    Path("go").touch()
    wait_until(lambda: messages(caplog))  # it is counted before it is told
    assert messages(caplog) == ["scrapy-dedup: the report was not written: no ink; scrapy dedup report writes it"]
    assert done.stat("errors/report") == 1
    monkeypatch.setattr("sys.executable", real)
    with caplog.at_level("INFO"):
        await done.again(DEDUP_REPORT="r.html")
        wait_until(lambda: any("the report is in" in each for each in messages(caplog, 20)))
    assert done.server.site in Path("r.html").read_text(encoding="utf-8")


# What is kept


def readable() -> bytes:
    """All that the files of the store hold, and what is packed in it."""
    found = [path.read_bytes() for path in sorted(STORE.parent.iterdir())]
    with closing(sqlite3.connect(STORE)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    for value in (value for row in rows for value in row if isinstance(value, bytes)):
        for start in range(4):  # what is packed has a number in front
            try:
                found.append(zlib.decompress(value[start:]))
            except zlib.error:
                continue
    return b"\n".join(found)


@pytest.mark.parametrize("kept", [True, False])
@in_reactor
async def test_texts_are_kept_where_they_are_wanted_and_passwords_nowhere(serve: Serve, kept: bool) -> None:
    """Spot checks, refetches and a mask ask for versions, too. A site writes user names and passwords in addresses of its links and images, and in headers."""
    there = "//someone:S3CRET@shop.test"

    def site(asked: Asked) -> Any:
        links = [f"/p?id={i}&sid=s{i}x{j}" for i in range(PAGES) for j in range(2)] if asked.path == "/" else []
        words = " ".join(f"readable{asked.query.get('id')}x{number}" for number in range(30))
        shown = page(words, f"http:{there}/a", *links, title="Secret title", canonical=f"http:{there}{asked.path}")
        shown = shown.replace("<p>", f'<img src="http:{there}/i.png"><input value="ftp:{there}/"><p>')
        headers = {"Content-Location": f"http:{there}/c", "Link": f'<http:{there}/d>; rel="canonical"'}
        return Answer(shown, headers=headers)

    server = serve(site)
    save_rules(server.site, LEARNED)
    save_mask(server.site, {"body > p::text": "{…}"})
    settings: dict[str, Any] = {"DEDUP_SAMPLE": 0.5, "DEDUP_REVISITS": 3, "DEDUP_LEARN": "close", "DNS_TIMEOUT": 1}
    done = await crawl(Links, server.url("/"), DEDUP_STORE_TEXTS=kept, **settings)
    assert done.stat("samples") > 3
    assert done.stat("revisits/recorded") > 0
    found = readable()
    assert b"/p?id=1&sid=" in found, "URLs are there"
    assert b"//shop.test/c" in found, "and headers"
    for text in (b"readable1x2", b"readable11x29", b"Secret title", b"//shop.test/i.png"):
        assert (text in found) is kept
    assert b"S3CRET" not in found
    assert all(file.stat().st_mode & 0o077 == 0 for file in STORE.parent.iterdir())
