"""A fleet with scrapy-redis: what 1, 2 and 4 workers download, with and without the plug-in, and what that costs Redis.

    python -m tests.benchmarks.fleet [--workers N...] [--seconds N] [--pages N] [--json] [--check]

Crawls the site of tests/benchmarks/sites/families.py, whose pages carry a clock, a counter, a token and teasers, with a
real Redis server: plain scrapy-redis, then with the plug-in, which knows nothing of the site (cold), then once more with
what it has learned (warm). Workers are ``scrapy crawl`` processes in one project. Plain crawls are ended after 480
downloads by all workers together, since the site's never end. All is counted at the server of the site and by Redis:

- *round trips* are reads of Redis from its clients, without the benchmark's own; they are told per request that the
  spiders have asked for, duplicates among them;
- *bytes* are those of the keys of the plug-in by the canonical keys that it knows, *filter* those of the filter of
  scrapy-redis by the URLs in it, at the end.

What Redis needs per page as a job grows is told by itself: a worker without a crawl takes and fetches ``--pages`` pages.
"""

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import redis
from scrapy.settings import BaseSettings

from scrapy_dedup.crawl.fleet.shared_lines import taken_line
from scrapy_dedup.crawl.fleet.shared_log import NOTHING, SharedLog
from scrapy_dedup.crawl.identity.identities import slot_of
from scrapy_dedup.crawl.seen.journal_lines import JournalPage

from ..servers import RedisServer
from .command import Arguments, Command, option, scratch
from .crawling.project import PLUGIN_SETTINGS, Project
from .fleet_parts import ASKED
from .live import SECONDS
from .scoring.checks import Check, print_table
from .sites.families import PAGES, FamilySite

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
PLAIN, COLD, WARM = "plain", "cold", "warm"
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


def crawled(workers: int, name: str, project: Project, site: FamilySite, server: RedisServer) -> Crawled:
    """Crawl with so many workers at once."""
    shared, urls = "families:requests:dedup:", "families:dupefilter"
    start = f"http://127.0.0.1:{site.port}/"
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
        reads = client.info("stats")["total_reads_processed"]

        def work(number: int) -> tuple[str, dict[str, Any]]:
            stats = project.folder / f"stats-{number}.json"
            done = project.scrapy("crawl", "families", "-a", f"start={start}", "-a", f"stats_file={stats}")
            return done.output, json.loads(stats.read_text())

        began = perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(work, range(workers)))
        seconds = perf_counter() - began
        reads = client.info("stats")["total_reads_processed"] - reads - 1
        served = site.served()
        asked = sum(stats[ASKED] for _, stats in done)
        used = sum(client.memory_usage(key, samples=0) for key in client.scan_iter(f"{shared}*"))
        version = int(client.hget(f"{shared}meta", "version") or 0)
        taken = sum(client.scard(key) for key in client.scan_iter(f"{shared}slots:{version}:*"))
        return Crawled(
            workers,
            name,
            len(served.targets),
            served.distinct,
            0 if name == PLAIN else PAGES - served.distinct,
            asked,
            reads / asked,
            used / taken if taken else 0.0,
            (client.memory_usage(urls, samples=0) or 0) / client.scard(urls),
            seconds,
            "".join(output for output, _ in done),
        )


def run(numbers: Sequence[int], seconds: float, folder: Path) -> list[Crawled]:
    """All crawls, one after the other."""
    found = []
    (folder / "redis").mkdir()
    with RedisServer(folder / "redis") as server:
        settings = {"REDIS_URL": server.url, **SETTINGS}
        for workers in numbers:
            with FamilySite(seconds) as site:  # rules are of its port
                ending = {"CLOSESPIDER_PAGECOUNT": MOST_DOWNLOADS // workers}
                plain = Project(folder / f"plain-{workers}", {**settings, **ending})
                ours = Project(folder / f"ours-{workers}", {**settings, **PLUGIN_SETTINGS})
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
    of = {(each.workers, each.name): each for each in found}
    made = [Check("bytes per page as a job grows", per_page, most=MOST_BYTES)]
    for (workers, name), each in of.items():
        if name == PLAIN:
            continue
        what = f"{workers} workers, {name}"
        one = of.get((1, name))
        made.append(Check(f"{what}: pages lost", each.lost, most=0))
        more = each.trips - of[workers, PLAIN].trips
        made.append(Check(f"{what}: round trips more per request", more, most=MOST_TRIPS))
        if one is not None and workers > 1:
            share = each.downloads / one.downloads
            made.append(Check(f"{what}: downloads by those of one", share, most=MOST_MORE))
    return made


def measured(args: Arguments) -> tuple[list[Crawled], tuple[float, float]]:
    """Crawl with each number of workers, and let a job grow."""
    with scratch() as folder:
        found = run(args.workers, args.seconds, folder)
        (folder / "grown").mkdir()
        return found, grown(args.pages, folder / "grown")


def show(args: Arguments, found: Sequence[Crawled], per_page: tuple[float, float]) -> None:
    """Print a table of the crawls, what their workers have said, and what a job takes that grows."""
    rows = [
        (
            *(each.workers, each.name, each.downloads, each.distinct, each.lost, each.asked),
            *(f"{each.trips:.2f}", f"{each.bytes:.0f}", f"{each.filter_bytes:.0f}", f"{each.seconds:.0f}"),
        )
        for each in found
    ]
    columns = ("workers", "crawl", "downloads", "pages", "lost", "asked", "trips", "bytes", "filter", "seconds")
    print_table("A site crawled by a fleet with scrapy-redis", columns, rows)
    for each in found:
        if each.said.strip():
            print(f"{each.workers} workers, {each.name}: {each.said.strip()[-1500:]}")
    ours, theirs = per_page
    print(f"A job of {args.pages:,} pages: {ours:.0f} bytes per page, the filter of scrapy-redis {theirs:.0f}")


main = Command(
    __doc__,
    [
        option("--workers", type=int, nargs="+", default=WORKERS, help="numbers of workers (1 2 4)"),
        option("--seconds", type=float, default=SECONDS, help=f"before the site answers ({SECONDS})"),
        option("--pages", type=int, default=GROWN, help=f"of the job whose memory is measured ({GROWN})"),
    ],
    measure=measured,
    show=lambda args, found: show(args, *found),
    as_json=lambda _, found: {"crawls": [asdict(each) for each in found[0]], "grown": found[1]},
    checks=lambda _, found: checks(found[0], found[1][0]),
)

if __name__ == "__main__":
    sys.exit(main())
