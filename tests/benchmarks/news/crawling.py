"""The crawls of a news site on simulated days: a server and a Scrapy process that run by one clock."""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

from ..crawling.project import PLUGIN_SETTINGS, Project
from .scores import Crawl, served_of
from .server import NewsServer
from .site import NewsSite
from .spider import CONTENT_FIELDS
from .world import DAY

CLOCK: Final = Path(__file__).resolve().parent / "clock"
STORE: Final = "store.sqlite"
EVER: Final = 1e12
HOUR: Final = 3600.0
FIRST: Final = 9 * HOUR
"""Time of day of the first crawl of each day."""
LATE: Final = 600.0
"""Seconds by which a crawl may begin later than it is to."""
LONGEST: Final = 600.0
"""Seconds that a crawl may take."""


def crawls_of(
    seed: int, days: int, a_day: int, folder: Path, given: Mapping[str, Any] | None = None
) -> Iterator[Crawl]:
    """Crawl the site of a seed so many times on so many days, with a project in *folder*, a new one, and settings *given*."""
    site = NewsSite(seed)
    settings = {
        **PLUGIN_SETTINGS,
        "DEDUP_CONTENT_FIELDS": CONTENT_FIELDS,
        "DEDUP_STORE": str(folder.resolve() / STORE),
        "DEDUP_DIR": str(folder.resolve() / "rules"),
        "SPIDER_MODULES": ["tests.benchmarks.news.spider"],
        "FEEDS": {"items-%(crawl)s.jsonl": {"format": "jsonlines"}},
        "LOG_LEVEL": "WARNING",
        **(given or {}),
    }
    project = Project(folder, settings)
    with NewsServer(seed) as server:
        for number in range(days * a_day):
            day, turn = divmod(number, a_day)
            late = Random(f"{seed} crawl {number}").uniform(0, LATE)
            began = site.world.start + day * DAY + FIRST + turn * DAY / a_day + late
            yield _crawled(project, server, {"main": site.main, "crawl": str(number + 1)}, began)


def _crawled(project: Project, server: NewsServer, arguments: dict[str, str], began: float) -> Crawl:
    """The crawl that begins at a simulated time; *arguments* are those of the spider."""
    number = arguments["crawl"]
    ledger, exported = (project.folder / f"{name}-{number}.jsonl" for name in ("ledger", "items"))
    clocks = project.folder / f"clocks-{number}.txt"
    shift = began - time.time()
    server.go_to(shift, ledger)
    project.environment = {
        "PYTHONPATH": str(CLOCK),
        "NEWS_CLOCK_SHIFT": repr(shift),
        "NEWS_CLOCK_LOG": str(clocks.resolve()),
    }
    start = f"http://127.0.0.1:{server.port}/"
    run, stats = project.crawl("news", start=start, **arguments)
    (project.folder / f"log-{number}.txt").write_text(run.output, encoding="utf-8")
    _by_one_clock(project.folder / STORE, clocks, began)
    served = [served_of(row) for row in _rows(ledger)]
    return Crawl(began, list(_rows(exported)), {each.number: each for each in served}, stats, run.seconds)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _by_one_clock(store: Path, clocks: Path, began: float) -> None:
    """Raise RuntimeError unless the crawl, its learning and what it wrote into the store are of the simulated day."""
    ran = [line.split() for line in clocks.read_text(encoding="utf-8").splitlines()]
    wrong = [line for line in ran if not began <= float(line[1]) <= began + LONGEST]
    if wrong or not any(name == "scrapy" for name, _ in ran):
        raise RuntimeError(f"processes that did not run by the simulated clock: {wrong or 'scrapy'}")
    found, later = recorded_between(store, began, began + LONGEST), recorded_between(store, began + LONGEST, EVER)
    if not found or later:
        raise RuntimeError(f"{found} responses in the store are of the simulated day, {later} of a later one")


def recorded_between(store: Path, since: float, until: float) -> int:
    """The responses in a store that were recorded in that time."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        asked = "SELECT count(*) FROM observation WHERE time >= ? AND time < ?"
        (count,) = database.execute(asked, (since, until)).fetchone()
    return int(count)
