"""How long the plug-in holds up the event loop of a crawl that learns while it runs.

    python -m tests.benchmarks.blocking [--pages N] [--seen N] [--quiet] [--json] [--check]

A crawl in this process of a site on loopback, with pages of 2, 50 and 200 kB that are each linked under three session
ids and, unless they are to be quiet, carry a clock, a counter, a token and rotating teasers. As in a longer crawl of the
same site, 20,000 pages are known to be fetched from the start, which all move to other keys when rules change. Each way
from Scrapy into the plug-in is timed, and each step of its coroutines: everything that is done at one stretch. Time is
that of the clock, and that of the processor, which other processes and threads do not add to; collections of garbage,
which fall on whoever makes objects at that moment, are left out and told by themselves.

What reads a response's own body (recording it, looking for aliases in it) is told apart: it is as long as the body.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
import tempfile
import types
from array import array
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from random import Random
from time import perf_counter, thread_time
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import HtmlResponse, Response

from .crawling.noise import Noise, usual
from .crawling.project import COMMON_SETTINGS, PLUGIN_SETTINGS
from .crawling.server import ServerProcess
from .scoring.checks import Check, report
from .scoring.table import print_table

PAGES = 1_500
SEEN = 20_000
COPIES = 3
LINKS = 20
MOST_MS = 10.0


# The site: python -m tests.benchmarks.blocking --serve


def page_of(number: int, pages: int) -> bytes:
    """A page of 2, 50 or 200 kB, whose links lead to others, each under a session id."""
    random = Random(number)
    size = (2_000, 2_000, 50_000, 200_000)[number % 4 if number % 40 < 8 else number % 2]
    links = "".join(
        f'<a href="/p?id={random.randrange(pages)}&amp;sid={random.randrange(COPIES):032x}">link</a>'
        for _ in range(LINKS)
    )
    words = " ".join(f"w{number}x{i}" for i in range(size // 9))
    return f"<html><head><title>{number}</title></head><body>{links}<p id=a{number}>{words}</p></body></html>".encode()


async def serve(pages: int, noise: Noise) -> None:
    """Answer until standard input closes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                target = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
                number = int(target.partition("id=")[2].partition("&")[0] or 0)
                body = noise.on(page_of(number, pages), target)
                head = (
                    f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


# The crawl


class Everything(Spider):
    """Follows all links."""

    name = "everything"

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Follow the links."""
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a")


class Stretches:
    """Stretches of work of one name, in milliseconds, less collections of garbage.

    They are no objects, or the collections of garbage that are timed would look at them.
    """

    def __init__(self) -> None:
        self.wall = array("d")
        self.cpu = array("d")

    def add(self, wall: float, cpu: float) -> None:
        """Add one, in seconds."""
        self.wall.append(wall * 1e3)
        self.cpu.append(cpu * 1e3)


class Watch:
    """Times stretches of work by name."""

    def __init__(self) -> None:
        self.stretches: defaultdict[str, Stretches] = defaultdict(Stretches)
        #: Those that read a body.
        self.reading: set[str] = set()
        self._collected = [0.0, 0.0]
        self._since = (0.0, 0.0)
        gc.callbacks.append(self._collecting)

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._since = perf_counter(), thread_time()
        else:
            self._collected[0] += perf_counter() - self._since[0]
            self._collected[1] += thread_time() - self._since[1]
            self.stretches["(collections of garbage)"].add(
                perf_counter() - self._since[0], thread_time() - self._since[1]
            )

    @contextmanager
    def stretch(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        collected = tuple(self._collected)
        wall, cpu = perf_counter(), thread_time()
        try:
            yield
        finally:
            wall, cpu = perf_counter() - wall, thread_time() - cpu
            wall -= self._collected[0] - collected[0]
            cpu -= self._collected[1] - collected[1]
            self.stretches[name].add(wall, cpu)

    def method(self, owner: Any, name: str, *, reads: bool = False) -> None:
        """Time all calls of a method."""
        wrapped = getattr(owner, name)
        label = f"{owner.__name__}.{name}"
        if reads:
            self.reading.add(label)

        @wraps(wrapped)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.stretch(label):
                return wrapped(*args, **kwargs)

        setattr(owner, name, timed)

    def coroutine(self, owner: Any, name: str) -> None:
        """Time all steps of the coroutines that a method makes."""
        wrapped: Callable[..., Coroutine[Any, Any, Any]] = getattr(owner, name)
        label = f"{owner.__name__}.{name}"

        @types.coroutine
        def steps(coroutine: Coroutine[Any, Any, Any]) -> Any:
            act: Callable[[], Any] = lambda: coroutine.send(None)
            while True:
                try:
                    with self.stretch(label):
                        awaited = act()
                except StopIteration as end:
                    return end.value
                try:
                    value = yield awaited
                except BaseException as error:  # noqa: BLE001 (it is the coroutine's)
                    act = lambda error=error: coroutine.throw(error)
                else:
                    act = lambda value=value: coroutine.send(value)

        @wraps(wrapped)
        async def timed(*args: Any, **kwargs: Any) -> Any:
            return await steps(wrapped(*args, **kwargs))

        setattr(owner, name, timed)


def watched() -> Watch:
    """Wrap all ways into the plug-in."""
    from scrapy_dedup.crawl.decide import dupefilter, gate, known_aliases
    from scrapy_dedup.crawl.identity import request_fingerprints
    from scrapy_dedup.crawl.learn import live, rule_reload
    from scrapy_dedup.crawl.observe import pages, recorder
    from scrapy_dedup.crawl.own_requests import idle_work, starter
    from scrapy_dedup.crawl.report import closing
    from scrapy_dedup.crawl.seen import replay_schedule
    from scrapy_dedup.crawl.verify import spot_check_judge

    watch = Watch()
    watch.method(dupefilter.DupeFilter, "request_seen")
    watch.method(request_fingerprints.RememberedFingerprints, "fingerprint")
    watch.method(gate.Gate, "process_request")
    watch.method(gate.Gate, "process_exception")
    watch.method(recorder.RedirectRecorder, "process_response")
    watch.method(pages.PageMiddleware, "process_spider_input", reads=True)
    watch.method(pages.PageMiddleware, "_searched", reads=True)
    watch.method(known_aliases.PageLook, "request", reads=True)
    watch.method(pages.PageMiddleware, "_end")
    watch.method(pages.ArrivalMiddleware, "process_spider_input")
    watch.method(replay_schedule.ReplaySchedule, "before_idle")
    watch.method(live.Learning, "_begin")
    watch.coroutine(live.Learning, "_learn_and_use")
    watch.coroutine(replay_schedule.ReplaySchedule, "_look_into_ledger")
    watch.coroutine(spot_check_judge.SpotCheckJudge, "is_duplicate")
    watch.coroutine(idle_work.IdleWork, "_work")
    watch.coroutine(starter.StarterRefetches, "_work")
    watch.coroutine(closing.CrawlClose, "close")
    watch.method(rule_reload.RuleReload, "_use")
    return watch


def known_from_the_start(crawler: Crawler, site: str, number: int) -> None:
    """Let *number* pages of the site be fetched already."""
    from scrapy_dedup.crawl.composition import CrawlComponents

    shared = CrawlComponents.of(crawler)
    for i in range(number):
        url = f"{site}/p?id={1_000_000 + i // COPIES}&sid={i % COPIES:032x}"
        identity = shared.identities.of(Request(url))
        assert identity is not None
        shared.claims.claim(Request(url), identity)
        shared.seen.fetched(identity.slot)


@dataclass(frozen=True, slots=True)
class Row:
    """All stretches of one name, in milliseconds."""

    name: str
    reads: bool
    number: int
    p50: float
    p99: float
    most: float
    most_cpu: float


def rows_of(watch: Watch) -> list[Row]:
    """The table, the longest first."""
    rows = []
    for name, stretches in watch.stretches.items():
        wall = sorted(stretches.wall)
        rows.append(
            Row(
                name,
                name in watch.reading,
                len(wall),
                wall[len(wall) // 2],
                wall[min(len(wall) - 1, len(wall) * 99 // 100)],
                wall[-1],
                max(stretches.cpu),
            )
        )
    return sorted(rows, key=lambda row: (row.reads, -row.most))


def run(pages: int, seen: int, *, quiet: bool = False) -> tuple[list[Row], dict[str, Any]]:
    """Crawl; return what was timed, and the stats."""
    watch = watched()
    options = ["--serve", "--pages", str(pages), *(["--quiet"] if quiet else [])]
    with ServerProcess("tests.benchmarks.blocking", *options) as server:
        settings = {**COMMON_SETTINGS, **PLUGIN_SETTINGS, "LOG_LEVEL": "WARNING", "DEDUP_LEARN": "live"}
        process = AsyncCrawlerProcess({**settings, "CONCURRENT_REQUESTS_PER_DOMAIN": 16})
        site = f"http://127.0.0.1:{server.port}"
        crawler = process.create_crawler(Everything)

        def opened() -> None:
            known_from_the_start(crawler, site, seen)

        crawler.signals.connect(opened, signals.spider_opened)
        process.crawl(crawler, f"{site}/p?id=0")
        process.start()
        assert crawler.stats is not None
        return rows_of(watch), dict(crawler.stats.get_stats())


def checks(rows: list[Row], stats: dict[str, Any]) -> list[Check]:
    """The figures that ``--check`` looks at."""
    found = [Check("swaps of rules", stats.get("dedup/learned/swaps", 0), least=1)]
    faults = sum(value for name, value in stats.items() if name.startswith("dedup/errors"))
    found.append(Check("faults", faults, most=0))
    for row in rows:
        if not row.reads and not row.name.startswith("("):
            found.append(Check(f"{row.name}: longest stretch, ms of the processor", row.most_cpu, most=MOST_MS))
            if row.number >= 1_000:
                found.append(Check(f"{row.name}: p99, ms", row.p99, most=MOST_MS))
    return found


def main() -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.blocking",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pages", type=int, default=PAGES, help="pages of the site")
    parser.add_argument("--seen", type=int, default=SEEN, help="pages that are known from the start")
    parser.add_argument("--quiet", action="store_true", help="pages without clock, counter, token and teasers")
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        asyncio.run(serve(args.pages, usual(quiet=args.quiet)))
        return 0
    with tempfile.TemporaryDirectory(prefix="blocking-") as scratch:
        before = Path.cwd()
        os.chdir(scratch)
        try:
            rows, stats = run(args.pages, args.seen, quiet=args.quiet)
        finally:
            os.chdir(before)
    if args.json:
        told = {name: value for name, value in stats.items() if name.startswith("dedup/") and "/rule/" not in name}
        names = Row.__slots__
        print(json.dumps({"rows": [{name: getattr(row, name) for name in names} for row in rows], "stats": told}))
        return report(checks(rows, stats)) if args.check else 0
    title = (
        f"milliseconds at one stretch; {stats.get('dedup/learned/swaps', 0)} swaps of rules, "
        f"{stats.get('downloader/response_count', 0)} responses"
    )
    shown = [
        (row.name + (" (reads the body)" if row.reads else ""), row.number, row.p50, row.p99, row.most, row.most_cpu)
        for row in rows
    ]
    print_table(title, ("", "times", "p50", "p99", "longest", "longest, processor"), shown, width=130)
    return report(checks(rows, stats)) if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
