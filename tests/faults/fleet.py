"""kill -9 of workers of a fleet, of its Redis and of its PostgreSQL: no page is lost that scrapy-redis alone, killed at the same moments, finds.

    python -m tests.faults.fleet [--runs N] [--first N] [--verbose]

A run is a crawl by two or three workers with scrapy-redis, some of which are killed, or a server is: Redis, with what it
has written to disk or with nothing, or the PostgreSQL server that has the store. A worker that is killed may be replaced at
once, Redis always is; PostgreSQL is started again at once, or when the workers have ended. Then one worker more goes on with
what is left in the queue. All that is done with the plug-in and without, with the kills after the same numbers of requests,
but that a plain crawl has no store. The number of the run decides everything that is left to chance, also whether the store is a file. What is found is what all workers gave to their callbacks. Where plain scrapy-redis does not find all
pages, the plug-in must find as many, and otherwise all of them. Runs whose store is in PostgreSQL are left out where that is not
installed. Exit code: 1 if a page was lost.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from scrapy_dedup import RuleBook

from ..benchmarks.crawling.serving import ROOT
from ..servers import PostgreSQLServer, RedisServer, postgresql_programs, redis_program
from .command import CrawlFailed, Found, LeftOut, do_runs
from .crawl import PAGES as FOUND
from .kill import KNOWN, SETTINGS, known_rules
from .site import FaultySite

RUNS = 30
_TIMEOUT = 300
"""Seconds for a crawl, which takes some twenty."""
REDIS, POSTGRESQL = -1, -2
"""Among what is killed; the others are the numbers of workers."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is done: *kills* are who is killed, and after how many requests; *replaced*: whether a worker takes its place.

    *server*: the store is in PostgreSQL; *late*: where PostgreSQL is
    killed it is away until the workers have ended.
    """

    number: int
    workers: int
    concurrent: int
    known: str
    persists: bool
    kills: tuple[tuple[int, int], ...]
    replaced: bool
    server: bool
    late: bool

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
        concurrent, replaced = chance.choice((1, 4, 8)), chance.random() < 0.5
        # Every fifth run kills PostgreSQL, beside all else.
        kills += [(POSTGRESQL, chance.randint(2, most))] if number % 5 == 4 else []
        return cls(
            number=number,
            workers=workers,
            concurrent=concurrent,
            known=known,
            persists=number % 6 == 2,
            kills=tuple(kills),
            replaced=replaced,
            server=number % 5 == 4 or number // 2 % 2 == 1,
            late=chance.random() < 0.5,
        )

    def __str__(self) -> str:
        names = {
            REDIS: f"Redis, that has kept {'all' if self.persists else 'nothing'},",
            POSTGRESQL: f"PostgreSQL, away {'until the workers have ended' if self.late else 'for a moment'},",
        }
        kills = (f"{names.get(who, f'worker {who}')} at request {moment}" for who, moment in self.kills)
        store = "PostgreSQL" if self.server else "a file"
        return (
            f"{self.workers} workers, {self.concurrent} at once, {self.known} known, store in {store}, "
            f"killed: {' and '.join(kills)}"
        )


class _Fleet:
    """The processes of one crawl, with the plug-in where it has a *store*."""

    def __init__(
        self, site: FaultySite, run: Run, folder: Path, store: str = "", database: PostgreSQLServer | None = None
    ) -> None:
        self._site = site
        self._run = run
        self._folder = folder
        self._store = store
        self._database = database
        self._end = time.monotonic() + _TIMEOUT
        self._kills = 0

    def crawl(self) -> Found:
        """Do the run. Raises CrawlFailed."""
        (self._folder / "redis").mkdir(parents=True)
        self._site.visit(0)
        with RedisServer(self._folder / "redis", persists=self._run.persists) as redis:
            self._settings = self._made_settings(redis)
            victims = dict(self._run.kills)
            if REDIS in victims:
                self._site.kill(redis.pid, victims[REDIS])
            if POSTGRESQL in victims and self._database is not None:
                self._site.fail(self._database.pid, victims[POSTGRESQL])
            workers: list[subprocess.Popen[bytes]] = []
            last: list[subprocess.Popen[bytes]] = []
            for number in range(self._run.workers):
                workers.append(self._worker())
                if number in victims:
                    self._site.kill(workers[-1].pid, victims[number])
            try:
                self._watch(workers, redis, late=self._run.late)
                self._start_again(self._database)
                last = [self._worker()]
                self._watch(last, redis)
            finally:
                for each in (*workers, *last):
                    each.kill()
                    each.wait()
        pages = (self._folder / FOUND).read_text().splitlines() if (self._folder / FOUND).exists() else []
        return Found(frozenset(pages), (self._site.asked(),), self._kills, self._faults())

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
        if self._store:
            rules = self._folder / "dedup-rules"
            known = RuleBook(known_rules(self._run.known, f"127.0.0.1:{self._site.port}"))
            known.save(rules)
            settings |= {
                "ADDONS": {"scrapy_dedup.Addon": 600},
                "DEDUP_REPORT": "",
                "DEDUP_FLEET": 3,
                "DEDUP_LEARN": "live" if self._run.known == KNOWN[0] else "off",
                "DEDUP_DIR": str(rules),
                "DEDUP_STORE": self._store,
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

    def _watch(self, workers: "list[subprocess.Popen[bytes]]", redis: RedisServer, *, late: bool = False) -> None:
        """Wait until all have ended; start again what was killed, but that PostgreSQL may be started *late*, by others."""
        left = list(workers)
        while left:
            self._start_again(redis)
            if not late:
                self._start_again(self._database)
            for each in list(left):
                if each.poll() is None:
                    continue
                left.remove(each)
                if each.returncode < 0:
                    self._kills += 1
                    if self._run.replaced:
                        workers.append(self._worker())
                        left.append(workers[-1])
            if time.monotonic() > self._end:
                raise CrawlFailed(f"it did not end within {_TIMEOUT} s:\n{self._log()[-4000:]}")
            time.sleep(0.02)  # processes end when they do

    def _start_again(self, server: RedisServer | PostgreSQLServer | None) -> None:
        if server is not None and server.has_ended():
            self._kills += 1
            server.start()

    def _log(self) -> str:
        return (self._folder / "log").read_text()

    def _faults(self) -> str:
        """The faults of the plug-in that the log tells of, without what scrapy-redis says where Redis is away."""
        lines = self._log().splitlines()
        return "\n".join(line for line in lines if "scrapy_dedup" in line and ("ERROR" in line or "CRITICAL" in line))


def compared(site: FaultySite, run: Run, folder: Path, database: PostgreSQLServer | None) -> tuple[Found, Found]:
    """What scrapy-redis finds by itself, and what is found with the plug-in. Raises CrawlFailed, LeftOut."""
    if run.server and database is None:
        raise LeftOut("PostgreSQL or its client is not installed")
    plain = _Fleet(site, run, folder / "plain").crawl()
    if run.server and database is not None:
        return plain, _Fleet(site, run, folder / "ours", database.new_database(), database).crawl()
    return plain, _Fleet(site, run, folder / "ours", str(folder / "ours/store.sqlite")).crawl()


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the runs; print what was lost and a summary; return the exit code."""
    if redis_program() is None or find_spec("scrapy_redis") is None:
        print("Redis or scrapy-redis is not installed: no fleet is crawled")
        return 0
    with ExitStack() as held:
        database = None
        if postgresql_programs() is not None and find_spec("psycopg") is not None:
            place = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
            database = held.enter_context(PostgreSQLServer(place))
        done = partial(compared, database=database)
        return do_runs("fleet", __doc__, Run.of, done, arguments, most=RUNS, alone="plain scrapy-redis")


if __name__ == "__main__":
    sys.exit(main())
