"""Crawl a recorded site plain, cold and warm, and count at the server.

    python -m tests.benchmarks.recorded FILE.jsonl.gz... [--injected] [--close] [--json] [--check]

*plain* is stock Scrapy, *cold* the first crawl with the add-on (no store, no rules), *warm* the
crawl after ``scrapy learn-rules`` has learned from what the cold crawl recorded. All three are real
processes: ``scrapy crawl`` and ``scrapy learn-rules`` in a throw-away project whose settings hold
the one line that the README names.

The world is closed: a link to a URL that the recording lacks is skipped in every variant alike. The
crawl is breadth first and sends one request at a time, so that it always takes the same course (the
server is on loopback, where more requests at once would save hardly any time).

Downloads are what the server answered with status 200. A page is what it shows: its bag of words,
less the clock. *Distinct by text* also minds the order of the words, so the sort orders of one list
count as several pages there, which is why the saved share and the lost pages go by the bag of words:

    saved share = 1 - (downloads - distinct pages) / (plain downloads - plain distinct pages)

so a page that is lost is never credited as saved. What the crawl downloads to verify its rules (samples of
what it discards, revisits) is counted as downloads; the saved share is given without it, which is
what the rules save, and with it.

``--injected`` adds a clock, a visitor counter, a token, a duration and rotating teasers to each HTML page, anew at each
response; which page one is, is told by the recorded body. ``--close`` has answers end with the connection, without
Content-Length. Where pages differ from response to response, and be it by the site's own clock, the start page is
fetched past the dupe filter, as in ordinary crawls: where a page links to it, it is fetched twice.

``--labels FILE`` has the pages told apart by other labels: those of a crawl without cookies, say. URLs that
they lack are not counted.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .command import FILES, INJECTED, KEEP, LABELS, Arguments, Command, flag, scratch
from .crawling.noise import KINDS
from .crawling.project import PLUGIN_SETTINGS, Project, Run
from .crawling.server import Server
from .methods import peers
from .recordings.recording import Recording
from .scoring.checks import Check, print_table
from .scoring.reachability import ClosedWorld
from .scoring.score import Score

LEAST_SAVED = {"wordpress": 0.55, "dokuwiki": 0.95, "apache-docs": 0.82, "oscar-nocookies": 0.85, "cgit": 0.5}
"""Saved share of the warm crawl that ``--check`` asks for, by the stem of the file or of its labels."""
LEAST_COLD = 0.5
"""Part of that which the cold crawl saves at least, since it learns while it runs."""
INJECTED_LESS = 0.15
"""How much less of the removable downloads may be saved where noise is injected."""
PEER = "duplicate-url-discarder"


@dataclass(frozen=True, slots=True)
class Lost:
    """A page that the plain crawl reached and another did not."""

    url: str
    urls: int
    """Recorded URLs that show it."""
    unreachable: bool
    """Out of reach in the closed world (see ``scoring/reachability.py``), so not the rules' fault."""
    linkers: tuple[str, ...]
    """Some pages that link to it."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one crawl asked the server for, and what it reached."""

    name: str
    requests: int
    downloads: int
    text: int
    bag: int
    lost: tuple[Lost, ...]
    seconds: float
    cpu_seconds: float
    stats: dict[str, Any] = field(repr=False)

    @property
    def lost_count(self) -> int:
        """Pages lost, without those that the closed world hides."""
        return sum(not page.unreachable for page in self.lost)

    @property
    def verifying(self) -> int:
        """Downloads that verified rules: samples, revisits."""
        names = ("dedup/samples", "dedup/revisits")
        return sum(self.stats.get(name, 0) for name in names)

    def saved_share(self, plain: "Crawl", by: str = "bag", *, all_in: bool = False) -> float | None:
        """Share of the removable downloads that were saved; ``by`` is "bag" or "text".

        What verified rules is no loss of theirs, unless *all_in*.
        """
        kept = self.downloads - (0 if all_in else self.verifying)
        return Score(plain.downloads, getattr(plain, by), kept, getattr(self, by)).removed_share


@dataclass(frozen=True, slots=True)
class Result:
    """All crawls of one recording."""

    name: str
    crawls: tuple[Crawl, ...]
    rules: int
    learn_seconds: float
    learn_output: str = field(repr=False)

    def __getitem__(self, name: str) -> Crawl:
        return next(crawl for crawl in self.crawls if crawl.name == name)


class Bench:
    """Crawls one served recording in projects of a folder."""

    def __init__(self, recording: Recording, server: Server, folder: Path, *, start_twice: bool = False) -> None:
        self._recording = recording
        self._server = server
        self._folder = folder
        self._reached: dict[str, set[str]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        world = folder / "world.json"
        #: What the spider takes.
        self.arguments = {"world": str(world), **({"start_twice": "yes"} if start_twice else {})}
        moved = [
            [recording.moved(url, recording.port, server.port) for url in urls]
            for urls in (recording.start_urls, recording.answers)
        ]
        world.write_text(json.dumps({"start": moved[0], "urls": moved[1]}))

    def project(self, name: str, settings: dict[str, Any]) -> Project:
        """A new project; one request at a time, so that the crawl's course is fixed."""
        return Project(
            self._folder / name,
            {"CONCURRENT_REQUESTS": 1, "LOG_FILE": "crawl.log", **settings},
        )

    def crawl(self, name: str, project: Project) -> Crawl:
        """Run one crawl and read off the server what it did."""
        self._server.take()
        return self.counted(name, *project.crawl("recorded", **self.arguments))

    def counted(self, name: str, run: Run, stats: dict[str, Any]) -> Crawl:
        """Read off the server what a crawl has done since the last one; the first one is plain."""
        counts = self._server.take()
        asked = {what.split(" ", 1)[1]: n for what, n in counts.items() if what.startswith("GET ")}
        identities = self._recording.identities
        pages = {url: n for url, n in asked.items() if url in identities}
        self._reached[name] = set(pages)
        return Crawl(
            name=name,
            requests=sum(counts.values()),
            downloads=sum(pages.values()),
            text=len({identities[url].text for url in pages}),
            bag=len({identities[url].bag for url in pages}),
            lost=tuple(self._lost(set(asked), pages)),
            seconds=run.seconds,
            cpu_seconds=run.cpu_seconds,
            stats=stats,
        )

    def _lost(self, asked: set[str], pages: dict[str, int]) -> list[Lost]:
        """Pages of the plain crawl that these downloads lack."""
        identities = self._recording.identities
        shown = {identities[url].bag for url in pages}
        lost: defaultdict[str, list[str]] = defaultdict(list)
        for url in self._reached["plain"]:
            if identities[url].bag not in shown:
                lost[identities[url].bag].append(url)
        if not lost:
            return []
        groups = sorted(sorted(urls) for urls in lost.values())
        world = ClosedWorld(self._recording, asked)
        return [
            Lost(urls[0], len(urls), unreachable, tuple(sorted(world.linkers(urls[0]))[:5]))
            for urls, unreachable in zip(groups, world.unreachable(groups), strict=True)
        ]


def run(
    path: Path,
    folder: Path,
    *,
    peer: bool = False,
    any_port: bool = False,
    labels: Path | None = None,
    noise: Sequence[str] = (),
    close: bool = False,
) -> Result:
    """Crawl the recording ``path`` in projects under ``folder``, plain first."""
    from scrapy_dedup import RuleBook

    recording = Recording.load(path, labels)
    with Server(path, 0 if any_port else recording.port, noise=noise, close=close) as server:
        bench = Bench(recording, server, folder, start_twice=bool(noise) or recording.has_clock)
        crawls = [bench.crawl("plain", bench.project("plain", {}))]
        project = bench.project("plugin", PLUGIN_SETTINGS)
        crawls.append(bench.crawl("cold", project))
        learned = project.scrapy("learn-rules")
        book = RuleBook.load(project.folder / "dedup-rules", missing_ok=True)
        crawls.append(bench.crawl("warm", project))
        if peer and peers.has_duplicate_url_discarder():
            settings = peers.duplicate_url_discarder_settings()
            crawls.append(bench.crawl(PEER, bench.project("peer", settings)))
    return Result(recording.name, tuple(crawls), len(book), learned.seconds, learned.output)


def checks(result: Result, *, injected: bool = False) -> list[Check]:
    """The figures that ``--check`` looks at."""
    warm = result["warm"]
    found = [
        Check(f"{result.name} {crawl.name}: pages lost", crawl.lost_count, most=0) for crawl in (result["cold"], warm)
    ]
    if (least := LEAST_SAVED.get(result.name)) is not None:
        least -= INJECTED_LESS if injected else 0.0
        share = warm.saved_share(result["plain"])
        found.append(Check(f"{result.name} warm: saved share", share, least))
        cold = result["cold"].saved_share(result["plain"])
        part = cold / share if cold is not None and share else None
        found.append(Check(f"{result.name} cold: part of what the warm crawl saves", part, LEAST_COLD))
    return found


def as_json(result: Result) -> dict[str, Any]:
    """Everything measured, as one JSON object."""
    plain = result["plain"]
    return {
        "name": result.name,
        "rules": result.rules,
        "learn_seconds": result.learn_seconds,
        "learn_output": result.learn_output,
        "crawls": [
            {
                **asdict(crawl),
                "lost_count": crawl.lost_count,
                "verifying": crawl.verifying,
                "saved_share": crawl.saved_share(plain),
                "saved_share_all_in": crawl.saved_share(plain, all_in=True),
                "saved_share_by_text": crawl.saved_share(plain, "text"),
            }
            for crawl in result.crawls
        ],
    }


def print_result(result: Result) -> None:
    """Print the crawls as a table, and each lost page with what was found out about it."""
    plain = result["plain"]
    columns = ("crawl", "requests", "downloads", "to verify", "distinct by text", "by bag", "lost", "out of reach")
    columns += ("saved share", "all in", "seconds", "of learning", "CPU s", "errors")
    rows: list[Sequence[object]] = []
    for crawl in result.crawls:
        shares = ("-", "-") if crawl is plain else [crawl.saved_share(plain, all_in=all_in) for all_in in (False, True)]
        seconds = (crawl.seconds, crawl.stats.get("dedup/learned/seconds", 0.0), crawl.cpu_seconds)
        rows.append(
            (
                *(crawl.name, crawl.requests, crawl.downloads, crawl.verifying, crawl.text, crawl.bag),
                *(crawl.lost_count, len(crawl.lost) - crawl.lost_count, *shares),
                *(*map("{:.1f}".format, seconds), crawl.stats.get("log_count/ERROR", 0)),
            )
        )
    title = f"{result.name}: {plain.downloads - plain.bag} of {plain.downloads} downloads are "
    title += f"removable (by bag of words; {plain.downloads - plain.text} by text)"
    print_table(title, columns, rows, width=130)
    print(f"{result.rules} rules; learn-rules took {result.learn_seconds:.1f} s")
    for crawl in result.crawls:
        for page in crawl.lost:
            what = "out of reach (closed world)" if page.unreachable else "LOST"
            print(f"{crawl.name}: {what} {page.url}")


def measured(args: Arguments) -> list[Result]:
    """Crawl each recording, and print what was found of it."""
    results = []
    for path in args.files:
        with scratch(args.keep) as folder:
            own = folder / path.name.split(".")[0]
            noise = KINDS if args.injected else ()
            result = run(
                path, own, peer=args.peers, any_port=args.any_port, labels=args.labels, noise=noise, close=args.close
            )
        results.append(result)
        if not args.json:
            print_result(result)
    return results


main = Command(
    __doc__,
    [
        FILES,
        INJECTED,
        flag("--close", "answers without Content-Length"),
        flag("--peers", f"{PEER} beside it, where that is installed"),
        LABELS,
        flag("--any-port", "not the recorded port"),
        KEEP,
    ],
    measure=measured,
    show=lambda *_: None,
    as_json=lambda _, found: list(map(as_json, found)),
    checks=lambda args, found: [check for result in found for check in checks(result, injected=args.injected)],
)

if __name__ == "__main__":
    sys.exit(main())
