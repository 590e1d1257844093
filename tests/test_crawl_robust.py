"""The crawl goes on, whatever happens to the plug-in: one clear warning, one stat."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import scrapy

from .conftest import Project, Serve
from .crawling import STORE, Links, crawl_site, ignore, in_reactor, messages, observed
from .server import Asked, page, prose, redirect
from .waiting import PATIENCE

PAGES, COPIES = 5, 3
SID = ignore("q.sid")
EVERY = dict.fromkeys(("/", *(f"/p?id={i}&sid={j}" for i in range(PAGES) for j in range(COPIES))), 1)


def shop(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={j}" for i in range(PAGES) for j in range(COPIES)))
    return page(prose(asked.query["id"]))


def corrupt(path: Path) -> None:
    path.write_bytes(b"not a database" * 100)


def another_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")


def not_a_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("a file")


@pytest.mark.parametrize("spoil", [corrupt, another_database, not_a_folder])
@in_reactor
async def test_a_store_that_cannot_be_used(serve: Serve, caplog: pytest.LogCaptureFixture, spoil: Any) -> None:
    """What cannot stand in the ledger is not filtered."""
    Path("kept").mkdir()
    spoil(Path("kept/store.sqlite"))
    learn = "close" if spoil is corrupt else "off"
    done = await crawl_site(serve, shop, SID, DEDUP_STORE="kept/store.sqlite", DEDUP_LEARN=learn)
    assert done.fetched == EVERY
    assert done.stat("ledger/prevented") == (COPIES - 1) * PAGES
    assert done.stat("store/written") == 0
    assert done.stat("store/dropped") >= len(EVERY)
    warning, lost = messages(caplog)
    assert f" {done.stat('store/dropped')} of the rows" in lost
    assert warning.startswith("The crawl goes on, but what it sees is not recorded: store ")


@in_reactor
async def test_a_store_that_breaks_in_mid_crawl(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """What was filtered before that was noticed is fetched after all."""

    class Breaks(Links):
        def parse(self, response: Any) -> Any:
            if response.url.endswith("/"):
                STORE.parent.rename("elsewhere")
                STORE.parent.touch()
            yield from super().parse(response)

    done = await crawl_site(serve, shop, SID, spider=Breaks)
    assert done.fetched == EVERY
    assert done.stat("ledger/prevented") == (COPIES - 1) * PAGES
    warning, _ = messages(caplog)
    assert "not recorded: store" in warning


@in_reactor
async def test_a_job_whose_file_cannot_be_written(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """Redirects within a page, substitutes and filtering do without."""
    Path("job/dedup.seen").mkdir(parents=True)

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", "/c?sid=1", "/c?sid=2", "/d?sid=1", "/d?sid=2")
        if asked.path == "/c" and asked.query:
            return redirect("/c")
        return 404 if asked.target == "/d?sid=1" else page(prose(asked.path))

    done = await crawl_site(serve, site, SID, JOBDIR="job", CONCURRENT_REQUESTS=1)
    assert done.urls == ["/", "/c", "/d?sid=2"]
    assert done.fetched.total() == 5
    assert done.stat("errors/journal") == 1
    (warning,) = messages(caplog)
    assert warning.startswith("The journal of pages cannot be used; the crawl goes on (told once): ")


class Broken(list[str]):
    def __contains__(self, flag: object) -> bool:
        raise RuntimeError("of no kind that one expects")


class Spoils:
    """A downloader middleware after which nobody can tell whether a response was cached."""

    def process_response(self, request: scrapy.Request, response: Any, spider: Any = None) -> Any:
        response.flags = Broken()
        return response


@in_reactor
async def test_faults_of_our_own(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """Told once with a traceback, counted, and the URL is treated as any other."""
    spoilt = {"DOWNLOADER_MIDDLEWARES": {Spoils: 1}}
    stock = await crawl_site(serve, shop, ADDONS={}, **spoilt)
    done = await stock.again(**spoilt)
    assert done.fetched == stock.fetched == EVERY
    assert done.urls == stock.urls
    assert done.stat("errors/page") == len(EVERY)
    (told,) = [record for record in caplog.records if "told once" in record.getMessage()]
    assert (told.levelname, bool(told.exc_info)) == ("ERROR", True)
    assert done.stats["finish_reason"] == "finished"


SCRIPT = """\
import scrapy, sys, json
from scrapy.crawler import {process}

class S(scrapy.Spider):
    name = "script"
    start_urls = [sys.argv[1]]

    async def parse(self, response):
        yield {{"url": response.url, "key": response.meta["dedup_key"]}}
        for request in response.follow_all(css="a"):
            yield request

process = {process}({{
    "ADDONS": {{"scrapy_dedup.Addon": 600}},
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "FEEDS": {{"items.json": {{"format": "json"}}}},
    "CONCURRENT_ITEMS": 16,
    "LOG_LEVEL": "INFO",
    **{settings!r},
}})
crawler = process.create_crawler(S)
process.crawl(crawler)
process.start()
print(json.dumps({{name: value for name, value in crawler.stats.get_stats().items() if isinstance(value, (int, str))}}))
"""
EPOLL = {"TWISTED_REACTOR": "twisted.internet.epollreactor.EPollReactor"}


@pytest.mark.parametrize(
    ("process", "settings"),
    [
        pytest.param(
            "CrawlerProcess",
            EPOLL,
            id="epoll",
            marks=pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no epoll here"),
        ),
        pytest.param(
            "AsyncCrawlerProcess",
            {"TWISTED_REACTOR_ENABLED": False, "DEDUP_REPORT": ""},
            id="reactorless",
            marks=pytest.mark.reactorless,
        ),
    ],
)
def test_a_script_without_a_main_guard(serve: Serve, process: str, settings: dict[str, Any]) -> None:
    """It learns in another process at its close, and that does not run the script again."""
    text = SCRIPT.replace("async def parse", "def parse") if settings is EPOLL else SCRIPT
    Path("script.py").write_text(text.format(process=process, settings=settings))
    server = serve(lambda asked: page(prose(asked.path), *(f"/p{i}" for i in range(21) if asked.path == "/")))
    done = run(["script.py", server.url("/")])
    stats = json.loads(done.stdout)
    assert "Traceback" not in done.stderr, done.stderr
    assert stats["finish_reason"] == "finished"
    assert stats["dedup/recorded"] == server.downloads == len(json.loads(Path("items.json").read_text())) == 22
    assert "dedup/learned/failed" not in stats
    assert stats["dedup/learned/times"] == 1
    assert len(observed()) == 22


def run(arguments: list[str], **kwargs: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error::DeprecationWarning:scrapy", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True, **kwargs)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="limits of processes are POSIX's")
def test_a_full_disk(project: Project, serve: Serve) -> None:
    """No file of the crawl may become larger than 64 kB: for SQLite that is a full disk."""
    import resource

    server = serve(lambda asked: page(prose(asked.target, 300), *(f"/p{i}" for i in range(80) if asked.path == "/")))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    command = ["-m", "scrapy", "crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_LEARN=off"]
    done = run(command, cwd=project.folder, preexec_fn=limited)
    for stat in ("'item_scraped_count': 81", "'finish_reason': 'finished'", "'dedup/store/dropped'"):
        assert stat in done.stderr
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line and "dedup" in line]
    assert [line for line in warnings if "The crawl goes on, but what it sees is not recorded" in line]
    assert len(warnings) <= 2
    assert "Traceback" not in done.stderr


def test_the_shell_is_left_alone(project: Project, serve: Serve) -> None:
    server = serve({"*": page("x")})
    done = project.scrapy("shell", server.url("/a"), "-c", "[key for key in response.meta if 'dedup' in key]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
