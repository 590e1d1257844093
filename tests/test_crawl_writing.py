"""What is written, and what is not: by commands that look at pages, in mode observe, by crawls of a few pages."""

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook

from .conftest import Project, Serve
from .crawling import STORE, Links, crawl, ignore, in_reactor, observed, save_rules
from .server import Asked, page, prose
from .waiting import PATIENCE

ROOT = Path(__file__).parents[1]
BY_HAND = """
ADDONS = {}
DUPEFILTER_CLASS = "scrapy_dedup.crawl.DupeFilter"
DOWNLOADER_MIDDLEWARES = {
    "scrapy_dedup.crawl.SampleGate": 9,
    "scrapy_dedup.crawl.Gate": 10,
    "scrapy_dedup.crawl.RedirectRecorder": 605,
}
SPIDER_MIDDLEWARES = {
    "scrapy_dedup.crawl.PageMiddleware": 40,
    "scrapy_dedup.crawl.ArrivalMiddleware": 1_000_000,
}
ITEM_PIPELINES = {"scrapy_dedup.crawl.TransientPipeline": 50}
"""


def written(project: Project) -> dict[str, bytes]:
    """The files of a project, less what Python leaves there."""
    return {
        str(path.relative_to(project.folder)): path.read_bytes()
        for path in sorted(project.folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def settings_of(project: Project, more: str) -> None:
    settings = project.folder / "shop/settings.py"
    settings.write_text(settings.read_text() + more)


def copies(asked: Asked, pages: int = 20) -> Any:
    """Pages, each under three session ids."""
    if asked.path == "/":
        return page(
            prose("start"), *(f"/p?id={number}&sid=s{number}x{copy}" for number in range(pages) for copy in range(3))
        )
    return page(prose(asked.query["id"]), "/")


def few(asked: Asked) -> Any:
    """Seven pages."""
    return page(prose(asked.path), *(f"/{number}" for number in range(6)))


ONE, OTHER = "{url}p?id=1&sid=s1x1", "{url}p?id=1&sid=s1x2"
LOOKING = {
    "fetch": (["fetch", "--nolog", ONE], 1),
    "fetch by a spider": (["fetch", "--spider", "shop", ONE], 1),
    "view": (["view", ONE], 1),
    "shell": (["shell", ONE, "-c", f"(fetch('{OTHER}'), response.url)"], 2),
    "parse": (["parse", "--spider", "shop", "--depth", "2", "--pipelines", "{url}"], 1 + 4 * 3),
    "check": (["check", "shop"], 1),
}


@pytest.mark.parametrize(
    ("components", "names"),
    [pytest.param("", LOOKING, id="add-on"), pytest.param(BY_HAND, ["shell", "parse"], id="by hand")],
)
def test_commands_that_look_at_pages(
    project: Project, serve: Serve, monkeypatch: pytest.MonkeyPatch, components: str, names: Iterable[str]
) -> None:
    """They fetch all they are asked for, whatever rules say, and write nothing."""
    server = serve(partial(copies, pages=4))
    url = server.url("/")
    monkeypatch.setenv("BROWSER", "true %s")
    settings_of(project, components + "DEDUP_REVISITS = 2\n")
    spider = project.folder / "shop/spiders/shop.py"
    parse = "    def parse(self, response):\n"
    spider.write_text(spider.read_text().replace(parse, f'{parse}        """@url {url}"""\n'))
    save_rules(server.site, ignore("q.sid"), directory=project.folder / "dedup-rules")
    before = written(project)
    for name in names:
        command, fetched = LOOKING[name]
        server.reset()
        done = project.scrapy(*(part.format(url=url) for part in command))
        assert done.returncode == 0, done.stderr
        assert len(server.hits) == fetched, name
        # Warnings name files, and a clone is called scrapy-dedup.
        assert "dedup/" not in done.stderr.replace(str(ROOT), "").replace(sys.prefix, ""), name
        assert written(project) == before, name
        assert not (project.folder / STORE.parent).exists(), name


SCRIPT = """
import sys
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

process = CrawlerProcess(get_project_settings())
process.crawl("shop", start=sys.argv[1])
process.start()
"""


@pytest.mark.parametrize("learn", ["live", "close"])
def test_a_crawl_of_a_few_pages_starts_no_learning(project: Project, serve: Serve, learn: str) -> None:
    """A script crawls as the command does."""
    settings_of(project, f"DEDUP_LEARN = {learn!r}\n")
    project.write("script.py", SCRIPT)
    before = written(project)
    url = serve(few).url("/")
    done = project.module("script", url) if learn == "live" else project.scrapy("crawl", "shop", "-a", f"start={url}")
    assert "'dedup/recorded': 7" in done.stderr, done.stderr
    assert "dedup/learned" not in done.stderr
    assert written(project).keys() - before.keys() == {str(STORE)}


def test_observing_writes_the_store_alone(project: Project, serve: Serve) -> None:
    """What is in DEDUP_DIR stays as it is; learn-rules learns from what was recorded."""
    server = serve(copies)
    start = ("crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_MODE=observe", "-s")
    rules = project.folder / "dedup-rules"
    before = written(project)
    done = project.scrapy(*start, "DEDUP_LEARN=close")
    assert "'dedup/recorded': 62" in done.stderr, done.stderr
    assert written(project).keys() - before.keys() == {str(STORE)}
    save_rules("other.test", ignore("q.a"), directory=rules)
    save_rules(server.site, ignore("q.unknown"), directory=rules)
    kept = {name: data for name, data in written(project).items() if name != str(STORE)}
    project.told(*start, "DEDUP_LEARN=live")
    assert {name: data for name, data in written(project).items() if name != str(STORE)} == kept
    project.told("learn-rules")
    one, other = (server.url(f"/p?id=1&sid=s{each}") for each in ("9x1", "8x0"))
    assert RuleBook.load(rules).equivalent(one, other)


@in_reactor
async def test_crawls_of_a_few_pages_are_learned_from_together(serve: Serve) -> None:
    """A spider of seven pages that change each time learns when what is recorded has grown by half."""
    visits = iter(range(1_000))

    def changing(asked: Asked) -> Any:
        return few(asked).replace("</body>", f"<p>visit {next(visits)}</p></body>")

    server = serve(changing)
    learned = []
    for day in range(1, 6):
        done = await crawl(Links, server.url("/"), DEDUP_LEARN="close")
        assert len(done.items) == 7
        if "dedup/learned/times" in done.stats:
            learned.append(day)
    assert learned == [3, 5]


@in_reactor
async def test_a_few_pages_bring_the_last_group_that_a_rule_needs(serve: Serve) -> None:
    """The store holds pages enough, and two of them under two URLs: that of a third one is learned from at once."""

    def shop(asked: Asked) -> Any:
        links = [f"/p?id={number}" for number in range(30)]
        links += [f"/p?id={number}&sid=a7f3s{number}x{copy}" for number in range(2) for copy in range(2)]
        if asked.path == "/":
            return page(prose("start"), *links)
        if asked.path == "/third":
            return page(prose("third"), "/p?id=2&sid=a7f3s2x0", "/p?id=2&sid=a7f3s2x1")
        return page(prose(asked.query["id"]))

    server = serve(shop)
    await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    one, other = server.url("/p?id=1&sid=a7f3s2x1"), server.url("/p?id=1&sid=a7f3s1x0")
    assert not RuleBook.load("dedup-rules", missing_ok=True).equivalent(one, other)
    again = await crawl(Links, server.url("/p?id=3"), DEDUP_LEARN="close")
    assert "dedup/learned/times" not in again.stats, "it is known"
    done = await crawl(Links, server.url("/third"), DEDUP_LEARN="close")
    assert len(done.items) == 3
    assert RuleBook.load("dedup-rules", missing_ok=True).equivalent(one, other)
    assert [path.name for path in STORE.parent.iterdir()] == [STORE.name], "one file"


READER = """\
import sqlite3, sys
connection = sqlite3.connect("file:.scrapy/dedup/store.sqlite?mode=ro", uri=True)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM observation").fetchone()
sys.stdin.buffer.read()
"""


@pytest.mark.own_interpreter
def test_a_store_is_one_file_also_where_learning_is_out_of_time(project: Project, serve: Serve) -> None:
    """The process that learns is killed while it reads."""
    project.write("reader.py", READER)
    project.write("reader.sh", f"#!/bin/sh\nexec {sys.executable} reader.py\n").chmod(0o755)
    settings_of(project, "import sys\nsys.executable = './reader.sh'\nDEDUP_LEARN_TIMEOUT = 1\n")
    url = serve(copies).url("/")
    for command, told in (
        (["crawl", "shop", "-a", f"start={url}", "-s", "DEDUP_LEARN=close"], "dedup/learned/failed"),
        (["learn-rules", "--dry-run"], ""),
        (["dedup", "explain", f"{url}p?id=1&sid=s1x1"], ""),
    ):
        done = project.scrapy(*command)
        assert (done.returncode, told in done.stderr) == (0, True), done.stderr
        assert [path.name for path in (project.folder / STORE.parent).iterdir()] == [STORE.name], command
    assert len(observed(store=project.folder / STORE)) == 61


BESIDE = """\
import scrapy


class Shop(scrapy.Spider):
    name = "shop"
    start_urls = [{url!r}]
    custom_settings = {{"ADDONS": {{"scrapy_dedup.Addon": 600}}, "TELNETCONSOLE_ENABLED": False}}
    custom_settings |= {{"DEDUP_LEARN": "close", "DEDUP_LEARN_TIMEOUT": {seconds}, "CONCURRENT_ITEMS": 16}}

    def parse(self, response):
        yield from response.follow_all(css="a")
"""
RUN = """\
import sys
from scrapy.cmdline import execute
import queue, typing, json, sqlite3
sys.path.insert(0, {backports!r})
execute(["scrapy", "runspider", "spider.py"])
"""
NAMES = "queue", "typing", "json"


def test_modules_that_are_named_as_those_of_the_standard_library(tmp_path: Path, serve: Serve) -> None:
    """Beside the spider, and where the script looks for modules before it looks into the standard library."""
    project, other = Project(tmp_path / "spiders"), Project(tmp_path / "scripts")
    project.write("spider.py", BESIDE.format(url=serve(copies).url("/"), seconds=PATIENCE))
    wrong = [project.folder / f"{name}.py" for name in (*NAMES, "sqlite3", "numpy")]
    for path in [*wrong, *(other.folder / "backports" / f"{name}.py" for name in NAMES)]:
        other.write(str(path), 'open("imported", "w").close()\nraise ImportError("the wrong one")\n')
    script = other.write("run.py", RUN.format(backports=str(other.folder / "backports")))
    done = project.python(str(script))
    assert "'dedup/learned/rules': 1" in done.stderr, done.stderr
    # The report is made by a further process, too; on a busy machine it may take longer than a user would wait.
    warned = [line for line in done.stderr.splitlines() if " WARNING: " in line and "took longer than" not in line]
    assert not warned
    assert not (project.folder / "imported").exists()
    assert list((project.folder / "dedup-rules").glob("*.toml"))
