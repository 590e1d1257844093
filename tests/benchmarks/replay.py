"""Replay first crawls of recorded sites in simulated time: what they save, whatever the machine is busy with.

    python -m tests.benchmarks.replay FILE.jsonl.gz... [--rate N]... [--injected] [--json] [--check]

*cold* is the first crawl with the add-on as it is: its own schedule, its own learning process, its own taking over of rules. It
is breadth first, one request at a time, and gets its answers from the recording without any network (see
``crawling/replayed.py``). At a ``--rate`` of 20, say, 20 answers come in a second of simulated time, and rules are in use once
as many seconds have passed as the learning process has computed; at 0, at once. Several rates are replayed one after the other.

Beside it stand bounds: what a crawl would save that knows from the start which rules the cold crawl ends with (*warm*), and one in
which each of these rules acts once 3 or 10 contents have come under a second URL that it makes the same. These do not spot-check,
and kinds of aliases are not in them.

The saved share is that of ``recorded``: without what was downloaded to verify rules, and with it (*all in*). Lost are pages that
stock Scrapy reaches. ``--injected`` is that of ``recorded``, too, with a clock that goes by the downloads.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

from w3lib.url import canonicalize_url

from scrapy_dedup import RuleBook

from .command import FILES, INJECTED, KEEP, Arguments, Command, option, scratch
from .crawling.noise import KINDS
from .crawling.project import PLUGIN_SETTINGS, Project, Run
from .crawling.replayed import World, links_of, redirect_of
from .crawling.spiders import STATE_CHANGING, page_links
from .recorded import Bench, Crawl
from .recordings.recording import Recording
from .scoring.checks import Check, print_table
from .scoring.reachability import AfterDuplicates, as_rules_say, breadth_first

LEAST_OF_WARM = 0.85
"""Part of what the warm crawl saves that the cold one saves at least, in the median."""
WITNESSES = (3, 10)
SETTINGS: dict[str, Any] = {
    "SPIDER_MODULES": ["tests.benchmarks.crawling.replayed"],
    "CONCURRENT_REQUESTS": 1,
    "LOG_FILE": "crawl.log",
    "DEDUP_LEARN_TIMEOUT": 1800,  # by the clock of the machine
}


@dataclass
class Counts:
    """What a crawl asked for, as a server tells it (see ``crawling/server.py``)."""

    port: int
    asked: dict[str, int] = field(default_factory=dict)

    def take(self) -> dict[str, int]:
        """What was asked for since it was asked the last time."""
        asked, self.asked = self.asked, {}
        return asked


@dataclass(frozen=True, slots=True)
class Result:
    """The crawls of one recording at one rate."""

    name: str
    rate: float
    injected: bool
    crawls: tuple[Crawl, ...]
    rules: int

    def __getitem__(self, name: str) -> Crawl:
        return next(crawl for crawl in self.crawls if crawl.name == name)

    def saved(self, name: str) -> float | None:
        """The saved share of one of them."""
        return self[name].saved_share(self["plain"])

    @property
    def of_warm(self) -> float | None:
        """Part of what the warm crawl saves that the cold one saves; None where there is nothing to save."""
        cold, warm = self.saved("cold"), self.saved("warm")
        return cold / warm if cold is not None and warm else None


class Replay:
    """Replays one recording."""

    def __init__(self, recording: Recording, *, injected: bool = False) -> None:
        self._recording = recording
        self._injected = injected
        self._links = links_of(recording.answers, self._followed)
        self._next = dict(self._links)
        for url, answer in recording.answers.items():
            target = redirect_of(url, answer)
            if target is not None and urldefrag(target).url in recording.answers:
                self._next[url] = [urldefrag(target).url]

    def _followed(self, response: Any) -> list[str]:
        urls = dict.fromkeys(urldefrag(link.url).url for link in page_links(response))
        return [url for url in urls if url in self._recording.answers and not STATE_CHANGING.search(url)]

    def at(self, rate: float, folder: Path, planted: RuleBook | None = None) -> Result:
        """Crawl at a rate, in a new *folder*: plain, cold, and as the bounds do; *planted* rules are there from the start."""
        recording, counts = self._recording, Counts(self._recording.port)
        noisy = self._injected or recording.has_clock
        kinds = KINDS if self._injected else ()
        bench = Bench(recording, counts, folder / "bench", start_twice=noisy)  # type: ignore[arg-type]

        linked = {url for urls in self._next.values() for url in urls}
        again = linked & set(recording.start_urls) if noisy else frozenset[str]()

        def bound(name: str, key: Callable[[str], str], fetched: Callable[[str], Any] = lambda _: None) -> Crawl:
            found = breadth_first(recording.start_urls, self._next, key, fetched)
            counts.asked = {f"GET {url}": 1 + (url in again) for url in found}
            return bench.counted(name, Run(0.0, 0.0, ""), {})

        plain = {url: canonicalize_url(url) for url in recording.answers}.__getitem__
        crawls = [bound("plain", plain)]
        world = folder / "world.json"
        World(
            recording.start_urls,
            recording.answers,
            self._links,
            rate,
            kinds,
            has_clock=recording.has_clock,
            start_twice=noisy,
        ).save(world)
        project = Project(folder / "plugin", {**PLUGIN_SETTINGS, **SETTINGS})
        if planted is not None:
            planted.save(project.folder / "dedup-rules")
        run, stats = project.crawl("replayed", world=str(world))
        counts.asked = dict(Counter(json.loads((project.folder / "asked.json").read_text())))
        crawls.append(bench.counted("cold", run, stats))
        book = RuleBook.load(project.folder / "dedup-rules", missing_ok=True)
        crawls.append(bound("warm", as_rules_say(book, plain)))
        shown = {url: page.bag for url, page in recording.identities.items()}
        crawls += [
            bound(f"after {needed}", plain, AfterDuplicates(book, plain, shown, needed).fetched) for needed in WITNESSES
        ]
        return Result(recording.name, rate, self._injected, tuple(crawls), len(book))


def checks(results: Sequence[Result]) -> list[Check]:
    """The figures that ``--check`` looks at."""
    found = [Check(f"{each.name} at {each.rate:g}: pages lost", each["cold"].lost_count, most=0) for each in results]
    parts = sorted(part for each in results if (part := each.of_warm) is not None)
    if parts:
        found.append(Check("cold: part of what the warm crawl saves, median", parts[len(parts) // 2], LEAST_OF_WARM))
    return found


def as_json(result: Result) -> dict[str, Any]:
    """What was measured, as a JSON object."""
    cold = result["cold"]
    return {
        "name": result.name,
        "rate": result.rate,
        "injected": result.injected,
        "rules": result.rules,
        "saved": {crawl.name: result.saved(crawl.name) for crawl in result.crawls[1:]},
        "all_in": cold.saved_share(result["plain"], all_in=True),
        "lost": cold.lost_count,
        "learning_ms": 1000 * cold.stats["replay/learning_seconds"] / cold.downloads,
        "downloads": {crawl.name: crawl.downloads for crawl in result.crawls},
        "lost_pages": [page.url for page in cold.lost if not page.unreachable],
        "stats": cold.stats,
    }


def print_results(results: Sequence[Result]) -> None:
    """Print a line for each."""
    columns: tuple[str, ...] = (
        "site",
        "downloads a second",
        "plain",
        "cold",
        "lost",
        "learnings",
        "saved share",
        "all in",
    )
    columns += ("warm", "of warm", *(f"after {needed}" for needed in WITNESSES))
    rows: list[Sequence[object]] = []
    for each in results:
        plain, cold = each["plain"], each["cold"]
        rows.append(
            (
                *(each.name + (", noise" if each.injected else ""), f"{each.rate:g}" if each.rate else "at once"),
                *(plain.downloads, cold.downloads, cold.lost_count, cold.stats.get("dedup/learned/times", 0)),
                *(each.saved("cold"), cold.saved_share(plain, all_in=True), each.saved("warm"), each.of_warm),
                *(each.saved(f"after {needed}") for needed in WITNESSES),
            )
        )
    print_table("First crawls in simulated time", columns, rows, width=130)


def measured(args: Arguments) -> list[Result]:
    """Replay each recording at each rate."""
    results = []
    for path in args.files:
        with scratch(args.keep) as folder:
            replay = Replay(Recording.load(path), injected=args.injected)
            own = folder / path.name.split(".")[0]
            results += [replay.at(rate, own / f"{rate:g}") for rate in args.rate or [20.0]]
    return results


main = Command(
    __doc__,
    [
        FILES,
        option("--rate", type=float, action="append", help="downloads a second, such as 0, 5, 20, 100 (default 20)"),
        INJECTED,
        KEEP,
    ],
    measure=measured,
    show=lambda _, found: print_results(found),
    as_json=lambda _, found: list(map(as_json, found)),
    checks=lambda _, found: checks(found),
)

if __name__ == "__main__":
    sys.exit(main())
