"""A fleet with scrapy-redis: what 1, 2 and 4 workers download, with and without the plug-in, and what that costs Redis.

    python -m tests.benchmarks.fleet [--workers N...] [--seconds N] [--pages N] [--json] [--check]
    python -m tests.benchmarks.fleet --data DIR [--only NAME...] [--workers N...] [--json] [--check]

Crawls the site of tests/benchmarks/sites/families.py, whose pages carry a clock, a counter, a token and teasers, with a
real Redis server: plain scrapy-redis, then with the plug-in, which knows nothing of the site (cold), then once more with
what it has learned (warm). Workers are ``scrapy crawl`` processes in one project. Plain crawls are ended after 480
downloads by all workers together, since the site's never end. All is counted at the server of the site and by Redis:

- *round trips* are reads of Redis from its clients, without the benchmark's own; they are told per request that the
  spiders have asked for, duplicates among them;
- *bytes* are those of the keys of the plug-in by the canonical keys that it knows, *filter* those of the filter of
  scrapy-redis by the URLs in it, at the end.

With ``--data`` it is the recorded sites below a folder that are crawled, all or those of ``--only``, with one request at once by each worker,
plain to the end. A page is told by its words, and lost if the plain crawl by as many workers has found it and it can be reached in what is recorded.

What Redis needs per page as a job grows is told by itself: a worker without a crawl takes and fetches ``--pages`` pages.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import redis
from scrapy.settings import BaseSettings

from scrapy_dedup.crawl.fleet.shared_lines import taken_line
from scrapy_dedup.crawl.fleet.shared_log import NOTHING, SharedLog
from scrapy_dedup.crawl.identity.identities import slot_of
from scrapy_dedup.crawl.seen.journal_lines import JournalPage

from ..servers import RedisServer
from .crawling.project import PLUGIN_SETTINGS, Project
from .fleet_parts import ASKED
from .fleet_sites import PLAIN, FleetSite, MadeUpSite, made_up, recorded, recordings_in
from .live import SECONDS
from .scoring.checks import Check, report
from .scoring.table import print_table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

WORKERS = (1, 2, 4)
MOST_DOWNLOADS = 480
"""Of a plain crawl, by all its workers: about as many as the plug-in needs on its first crawl."""
GROWN = 200_000
"""Pages of the job whose memory is measured by itself."""
MOST_MORE = 1.15
"""Aim: downloads of a fleet by those of one worker, at most."""
MOST_TRIPS = 1.0
"""Aim: round trips per request more than scrapy-redis makes, at most."""
MOST_BYTES = 120
COLD, WARM = "cold", "warm"
SETTINGS: dict[str, Any] = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER_PERSIST": True,
    "SCHEDULER_IDLE_BEFORE_CLOSE": 3,
    "EXTENSIONS": {"tests.benchmarks.fleet_parts.CountsRequests": 0},
    "LOG_LEVEL": "ERROR",
}


@dataclass(frozen=True, slots=True)
class Crawled:
    """One crawl by all its workers."""

    site: str
    workers: int
    name: str
    downloads: int
    distinct: int
    lost: int
    asked: int
    trips: float
    """Per request that was asked for."""
    bytes: float
    """Of the plug-in, per page that it knows: what it takes for one."""
    filter_bytes: float
    """Of the filter of scrapy-redis, per URL in it."""
    seconds: float
    said: str
    """Errors of the workers."""


def crawled(workers: int, name: str, project: Project, site: FleetSite, server: RedisServer) -> Crawled:
    """Crawl with so many workers at once."""
    shared, urls = f"{site.spider}:requests:dedup:", f"{site.spider}:dupefilter"
    given = [word for argument, value in site.arguments.items() for word in ("-a", f"{argument}={value}")]
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
        reads = client.info("stats")["total_reads_processed"]

        def work(number: int) -> tuple[str, dict[str, Any]]:
            stats = project.folder / f"stats-{number}.json"
            done = project.scrapy("crawl", site.spider, *given, "-a", f"stats_file={stats}")
            return done.output, json.loads(stats.read_text())

        start = perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(work, range(workers)))
        seconds = perf_counter() - start
        reads = client.info("stats")["total_reads_processed"] - reads - 1
        counted = site.counted(name)
        asked = sum(stats[ASKED] for _, stats in done)
        used = sum(client.memory_usage(key, samples=0) for key in client.scan_iter(f"{shared}*"))
        version = int(client.hget(f"{shared}meta", "version") or 0)
        taken = sum(client.scard(key) for key in client.scan_iter(f"{shared}slots:{version}:*"))
        return Crawled(
            site.name,
            workers,
            name,
            counted.downloads,
            counted.distinct,
            counted.lost,
            asked,
            reads / asked,
            used / taken if taken else 0.0,
            (client.memory_usage(urls, samples=0) or 0) / client.scard(urls),
            seconds,
            "".join(output for output, _ in done),
        )


def run(
    numbers: Sequence[int], folder: Path, sites: "Mapping[str, Callable[[Path], AbstractContextManager[FleetSite]]]"
) -> list[Crawled]:
    """All crawls, one after the other; *sites* by their names, as what serves them with a folder for projects."""
    found = []
    (folder / "redis").mkdir()
    with RedisServer(folder / "redis") as server:
        settings = {"REDIS_URL": server.url, **SETTINGS}
        for (of, serve), workers in product(sites.items(), numbers):
            with serve(folder / f"{of}-{workers}") as site:  # rules are of its port
                plain = site.project(PLAIN, settings, workers)
                ours = site.project("ours", {**settings, **PLUGIN_SETTINGS}, workers)
                for name, project in ((PLAIN, plain), (COLD, ours), (WARM, ours)):
                    found.append(crawled(workers, name, project, site, server))
                    print(f"{found[-1]}"[:400], file=sys.stderr, flush=True)
    return found


def grown(pages: int, folder: Path) -> tuple[float, float]:
    """Bytes that Redis needs per page of a job of so many pages: of the plug-in, and of the filter of scrapy-redis."""
    with RedisServer(folder) as server, redis.Redis.from_url(server.url) as client:
        log = SharedLog(BaseSettings({"REDIS_URL": server.url}), "grown")
        log.join("job", "digest")
        last = NOTHING
        lines: list[str] = []
        for number in range(pages):
            url = f"https://www.forum.example/viewtopic.php?f={number % 37}&t={number // 5}&start={number % 5 * 20}"
            page = JournalPage(slot_of("parse", url.encode()), url, "parse")
            last = log.exchange(last, 1, lines, (), (page.slot, taken_line(page))).last
            lines = [f"={page.slot:x}+"]
            client.sadd("filter", slot_of("filter", url.encode()).to_bytes(8, "big").hex() * 2 + "01234567")
            if number % 200 == 0:
                log.pack()
        while log.pack():
            pass
        used = sum(client.memory_usage(key, samples=0) for key in client.scan_iter(f"{log.prefix}*"))
        beside = client.memory_usage("filter", samples=0)
        log.close()
    return used / pages, beside / pages


def checks(found: Sequence[Crawled], per_page: float) -> list[Check]:
    """The figures that ``--check`` looks at."""
    of = {(each.site, each.workers, each.name): each for each in found}
    made = [Check("bytes per page as a job grows", per_page, most=MOST_BYTES)]
    for (site, workers, name), each in of.items():
        if name == PLAIN:
            continue
        what = f"{site}, {workers} workers, {name}"
        one = of.get((site, 1, name))
        made.append(Check(f"{what}: pages lost", each.lost, most=0))
        more = each.trips - of[site, workers, PLAIN].trips
        made.append(Check(f"{what}: round trips more per request", more, most=MOST_TRIPS))
        if one is not None and workers > 1:
            share = each.downloads / one.downloads
            made.append(Check(f"{what}: downloads by those of one", share, most=MOST_MORE))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, check; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.fleet",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS, help="numbers of workers (1 2 4)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"before the made-up site answers ({SECONDS})")
    parser.add_argument("--data", type=Path, metavar="DIR", help="recorded sites instead of the made-up one")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="of the recorded sites")
    parser.add_argument("--pages", type=int, default=GROWN, help=f"of the job whose memory is measured ({GROWN})")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    options = parser.parse_args(arguments)
    sites: dict[str, Callable[[Path], AbstractContextManager[FleetSite]]] = {
        MadeUpSite.name: partial(made_up, options.seconds, MOST_DOWNLOADS)
    }
    if options.data is not None:
        paths = recordings_in(options.data, options.only)
        sites = {path.name.split(".")[0]: partial(recorded, path) for path in paths}
        if not sites:
            parser.error(f"there is no such recorded site in {options.data}")
    with tempfile.TemporaryDirectory(prefix="fleet-") as scratch:
        folder = Path(scratch)
        found = run(options.workers, folder, sites)
        (folder / "grown").mkdir()
        per_page, beside = grown(options.pages, folder / "grown")
    if options.json:
        print(json.dumps({"crawls": [asdict(each) for each in found], "grown": [per_page, beside]}, indent=1))
    else:
        print_all(found)
        print(
            f"A job of {options.pages:,} pages: {per_page:.0f} bytes per page, the filter of scrapy-redis {beside:.0f}"
        )
    return report(checks(found, per_page)) if options.check else 0


def print_all(found: Sequence[Crawled]) -> None:
    """Print a table of the crawls, and what their workers have said."""
    rows = [
        (
            *(each.site, each.workers, each.name, each.downloads, each.distinct, each.lost, each.asked),
            *(f"{each.trips:.2f}", f"{each.bytes:.0f}", f"{each.filter_bytes:.0f}", f"{each.seconds:.0f}"),
        )
        for each in found
    ]
    columns = ("site", "workers", "crawl", "downloads", "pages", "lost", "asked", "trips", "bytes", "filter", "seconds")
    print_table("Sites crawled by a fleet with scrapy-redis", columns, rows)
    for each in found:
        if each.said.strip():
            print(f"{each.site}, {each.workers} workers, {each.name}: {each.said.strip()[-1500:]}")


if __name__ == "__main__":
    sys.exit(main())
