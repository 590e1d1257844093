"""kill -9 in the middle of a crawl, and again: no page is lost that plain Scrapy finds.

    python -m tests.faults.kill [--runs N] [--first N] [--verbose]

A run is a crawl that is killed once or twice and then goes on to its end, with the plug-in and without, each in a
folder of its own. The server that is crawled sends the kill when it has seen a number of requests, so the moment does
not depend on any clock. The number of the run decides everything that is left to chance: whether there is a job
directory, how many requests are made at once, what is known beforehand (nothing; a rule that is right; a rule that is
wrong beside it), whether session ids are others after the kill, and the moments.

With a job directory, what a run finds is what all its crawls together gave to the callback; without, what the
last one gave, which began anew. Scrapy loses the queue of a job that is killed, and with it pages whose URLs it
remembers to have seen; where that has cost plain Scrapy pages, the plug-in must find as many as plain Scrapy does, and
otherwise all of them. Exit code: 1 if a page was lost.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Ignore, Rule, Status

from ..benchmarks.crawling.serving import ROOT
from .command import CrawlFailed, Found, do_runs
from .crawl import PAGES as FOUND
from .site import FaultySite

RUNS = 50
_TIMEOUT = 180
"""Seconds for a crawl, which takes two or three."""
KNOWN = ("nothing", "a right rule", "a wrong rule, too")
SETTINGS: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "ROBOTSTXT_OBEY": False,
}


@dataclass(frozen=True, slots=True)
class Run:
    """What is done: *moments* are the numbers of requests at which the crawls before the last are killed."""

    number: int
    job: bool
    renewed: bool
    known: str
    concurrent: int
    moments: tuple[int, ...]

    @classmethod
    def of(cls, number: int) -> "Run":
        """The run of that number: always the same."""
        chance = Random(number)
        known = KNOWN[number // 2 % len(KNOWN)]
        most = 60 if known == "a right rule" else 160
        return cls(
            number=number,
            job=number % 2 == 0,
            renewed=chance.random() < 0.5,
            known=known,
            concurrent=chance.choice((1, 4, 8, 16)),
            moments=tuple(chance.randint(2, most) for _ in range(chance.choice((1, 1, 2)))),
        )

    def __str__(self) -> str:
        job = "a job" if self.job else "no job"
        ids = "new" if self.renewed else "old"
        moments = " and ".join(map(str, self.moments))
        return f"{job}, {self.concurrent} at once, {self.known} known, {ids} session ids, killed at request {moments}"


def crawled(site: FaultySite, run: Run, folder: Path, *, plugin: bool) -> Found:
    """Do a run. Raises CrawlFailed."""
    folder.mkdir()
    settings = {**SETTINGS, "CONCURRENT_REQUESTS": run.concurrent, "CONCURRENT_REQUESTS_PER_DOMAIN": run.concurrent}
    if run.job:
        settings["JOBDIR"] = "job"
    if plugin:
        settings["ADDONS"] = {"scrapy_dedup.Addon": 600}
        settings["DEDUP_REPORT"] = ""
        RuleBook(known_rules(run.known, f"127.0.0.1:{site.port}")).save(folder / "dedup-rules")
    requests, kills = [], 0
    for visit, moment in enumerate((*run.moments, None)):
        if not run.job:
            (folder / FOUND).unlink(missing_ok=True)
        site.visit(visit if run.renewed else 0)
        kills += _crawl(site, folder, settings, moment)
        requests.append(site.asked())
    pages = frozenset((folder / FOUND).read_text().splitlines())
    return Found(pages, tuple(requests), kills, (folder / "log").read_text() if plugin else "")


def _crawl(site: FaultySite, folder: Path, settings: dict[str, Any], moment: int | None) -> bool:
    """Crawl once; return whether it was killed."""
    log = folder / "log"
    with log.open("a") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.crawl", f"http://127.0.0.1:{site.port}/", json.dumps(settings)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=file,
            stderr=file,
        )
        if moment is not None:
            site.kill(process.pid, moment)
        try:
            code = process.wait(_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            raise CrawlFailed(f"it did not end within {_TIMEOUT} s:\n{_tail(log)}") from error
    if code < 0 and moment is not None:
        return True
    if code:
        raise CrawlFailed(f"it ended with code {code}:\n{_tail(log)}")
    return False


def _tail(log: Path) -> str:
    return log.read_text()[-4000:]


def known_rules(known: str, site: str) -> list[Rule]:
    """The rules that a run begins with, as if they had been learned."""
    keys = {KNOWN[0]: (), KNOWN[1]: ("sid",), KNOWN[2]: ("sid", "page")}[known]
    return [Rule(site, {}, {f"q.{key}": Ignore()}, Status.ACTIVE) for key in keys]


def compared(site: FaultySite, run: Run, folder: Path) -> tuple[Found, Found]:
    """What plain Scrapy finds, and what is found with the plug-in. Raises CrawlFailed."""
    folder.mkdir()
    plain = crawled(site, run, folder / "plain", plugin=False)
    return plain, crawled(site, run, folder / "ours", plugin=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the runs; print what was lost and a summary; return the exit code."""
    return do_runs("kill", __doc__, Run.of, compared, arguments, most=RUNS, alone="plain Scrapy")


if __name__ == "__main__":
    sys.exit(main())
