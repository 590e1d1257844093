"""kill -9 of workers of a fleet, and of its Redis: no page is lost that scrapy-redis alone, killed at the same moments, finds.

    python -m tests.faults.fleet [--runs N] [--first N] [--verbose]

A run is a crawl by two or three workers with scrapy-redis, some of which are killed, or the Redis server is: with what it
has written to disk, or with nothing. A worker that is killed may be replaced at once, Redis always is. When all have
ended, one worker more goes on with what is left in the queue. All that is done with the plug-in and without, with the kills
after the same numbers of requests. The number of the run decides everything that is left to chance. What is found is what
all workers gave to their callbacks. Where plain scrapy-redis does not find all pages, the plug-in must find as many, and
otherwise all of them. Exit code: 1 if a page was lost.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from scrapy_dedup import RuleBook

from ..benchmarks.crawling.server import ROOT
from ..servers import RedisServer
from .crawl import PAGES as FOUND
from .kill import KNOWN, SETTINGS, CrawlFailed, Found, known_rules, pages_lost
from .site import PAGES, FaultySite

RUNS = 30
_TIMEOUT = 300
"""Seconds for a crawl, which takes some twenty."""
REDIS = -1
"""Among what is killed; the others are the numbers of workers."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is done: *kills* are who is killed, and after how many requests; *replaced*: whether a worker takes its place."""

    number: int
    workers: int
    concurrent: int
    known: str
    persists: bool
    kills: tuple[tuple[int, int], ...]
    replaced: bool

    @classmethod
    def of(cls, number: int) -> "Run":
        """The run of that number: always the same."""
        chance = Random(number)
        known = KNOWN[1 + number % 2] if number % 6 else KNOWN[0]
        most = 60 if known == "a right rule" else 120
        workers = chance.choice((2, 3))
        # Every third run kills Redis, every sixth Redis that has kept nothing.
        kills = [(REDIS, chance.randint(5, most))] if number % 3 == 2 else []
        victims = chance.sample(
            range(workers), 0 if kills and chance.random() < 0.5 else chance.choice((1, 1, workers))
        )
        kills += [(victim, chance.randint(2, most)) for victim in victims]
        return cls(
            number, workers, chance.choice((1, 4, 8)), known, number % 6 == 2, tuple(kills), chance.random() < 0.5
        )

    def __str__(self) -> str:
        kept = "that has kept all" if self.persists else "that has kept nothing"
        who = (f"Redis, {kept}," if victim == REDIS else f"worker {victim}" for victim, _ in self.kills)
        kills = " and ".join(f"{name} at request {moment}" for name, (_, moment) in zip(who, self.kills, strict=True))
        return f"{self.workers} workers, {self.concurrent} at once, {self.known} known, killed: {kills}"


class _Fleet:
    """The processes of one crawl."""

    def __init__(self, site: FaultySite, run: Run, folder: Path, *, plugin: bool) -> None:
        self._site = site
        self._run = run
        self._folder = folder
        self._plugin = plugin
        self._end = time.monotonic() + _TIMEOUT
        self.kills = 0

    def crawl(self) -> Found:
        """Do the run. Raises CrawlFailed."""
        (self._folder / "redis").mkdir(parents=True)
        self._site.visit(0)
        with RedisServer(self._folder / "redis", persists=self._run.persists) as redis:
            self._settings = self._made_settings(redis)
            victims = dict(self._run.kills)
            if REDIS in victims:
                self._site.kill(redis.pid, victims[REDIS])
            workers = []
            for number in range(self._run.workers):
                workers.append(self._worker())
                if number in victims:
                    self._site.kill(workers[-1].pid, victims[number])
            try:
                self._watch(workers, redis)
                last = [self._worker()]
                workers += last
                self._watch(last, redis)
            finally:
                for each in workers:
                    each.kill()
                    each.wait()
        pages = (self._folder / FOUND).read_text().splitlines() if (self._folder / FOUND).exists() else []
        return Found(frozenset(pages), (self._site.asked(),), self.kills)

    def _made_settings(self, redis: RedisServer) -> dict[str, Any]:
        settings = {
            **SETTINGS,
            "CONCURRENT_REQUESTS": self._run.concurrent,
            "CONCURRENT_REQUESTS_PER_DOMAIN": self._run.concurrent,
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": redis.url,
        }
        if self._plugin:
            rules = self._folder / "dedup-rules"
            RuleBook(known_rules(self._run.known, f"127.0.0.1:{self._site.port}")).save(rules)
            settings |= {
                "ADDONS": {"scrapy_dedup.Addon": 600},
                "DEDUP_REPORT": "",
                "DEDUP_FLEET": 3,
                "DEDUP_LEARN": "live" if self._run.known == KNOWN[0] else "off",
                "DEDUP_DIR": str(rules),
                "DEDUP_STORE": str(self._folder / "store.sqlite"),
            }
        return settings

    def _worker(self) -> "subprocess.Popen[bytes]":
        with (self._folder / "log").open("a") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.faults.crawl",
                    f"http://127.0.0.1:{self._site.port}/",
                    json.dumps(self._settings),
                ],
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
            )

    def _watch(self, workers: "list[subprocess.Popen[bytes]]", redis: RedisServer) -> None:
        """Wait until all have ended; start again what was killed."""
        left = list(workers)
        while left:
            if redis.has_ended():
                self.kills += 1
                redis.start()
            for each in list(left):
                if each.poll() is None:
                    continue
                left.remove(each)
                if each.returncode < 0:
                    self.kills += 1
                    if self._run.replaced:
                        workers.append(self._worker())
                        left.append(workers[-1])
            if time.monotonic() > self._end:
                raise CrawlFailed(f"it did not end within {_TIMEOUT} s:\n{self.log()[-4000:]}")
            time.sleep(0.02)  # processes end when they do

    def log(self) -> str:
        """What the workers have said, without what scrapy-redis says where Redis is away."""
        return (self._folder / "log").read_text()


def faults_in(log: str) -> str:
    """The faults of the plug-in that a log tells of, other than that Redis does not answer."""
    lines = [line for line in log.splitlines() if "scrapy_dedup" in line and ("ERROR" in line or "CRITICAL" in line)]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the runs; print what was lost and a summary; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults.fleet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"how many ({RUNS})")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one (0)")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    options = parser.parse_args(arguments)
    bad = kills = requests = plain_requests = 0
    with FaultySite() as site, tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        for number in range(options.first, options.first + options.runs):
            run = Run.of(number)
            fleets = [
                _Fleet(site, run, Path(scratch) / f"{number}-{name}", plugin=name == "ours")
                for name in ("plain", "ours")
            ]
            try:
                plain, ours = (fleet.crawl() for fleet in fleets)
            except CrawlFailed as error:
                bad += 1
                print(f"run {number} FAILED ({run}): {error}", flush=True)
                continue
            lost, errors = pages_lost(plain, ours), faults_in(fleets[1].log())
            kills += ours.kills
            requests += sum(ours.requests)
            plain_requests += sum(plain.requests)
            if lost or errors:
                bad += 1
                print(f"run {number} LOST {len(lost)} pages ({run}): {sorted(lost)[:5]} {errors[-2000:]}", flush=True)
            if options.verbose:
                print(
                    f"run {number}: {run}: {len(ours.pages)} of {len(PAGES)} pages, plain {len(plain.pages)}; "
                    f"requests {sum(ours.requests)}, plain {sum(plain.requests)}",
                    flush=True,
                )
    print(
        f"{options.runs} runs, {kills} kills: {bad or 'none'} with a loss; "
        f"{requests} requests, plain scrapy-redis {plain_requests}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
