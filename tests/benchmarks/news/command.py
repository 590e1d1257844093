"""The live benchmark of transient content: a news site that is crawled on some days, and what its items hold at last.

    python -m tests.benchmarks.news [--days 5] [--seeds N] [--first-seed N] [--crawls-a-day 1] [--json] [--check] [--keep DIR]
        [--set NAME=VALUE]...

Each seed is a site of about a hundred pages with words, wording and markup of its own, served on 127.0.0.1 by a
process whose clock is a simulated one. Scrapy crawls it on so many days with the default settings and
DEDUP_CONTENT_FIELDS, and follows all links, so that the front page is fetched twice in each crawl. Items hold each page as text and
as HTML, whole and in parts. The server notes every passing and every lasting text that it renders; what is counted are
items that still show one that passes, and lasting ones that are missing. The first crawl knows nothing of the site:
its figures are shown and do not count.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..command import KEEP, Arguments, Command, Unusable, option, scratch
from ..scoring.checks import Check, print_table
from .crawling import Crawl, crawls_of
from .passing import PAGES
from .scores import KINDS, Score, score

MOST_SHOWN = 0.02
"""Aim: the share of the items of the last crawl that may show a passing part."""


@dataclass(frozen=True, slots=True)
class Result:
    """A crawl of a site with its score."""

    seed: int
    day: int
    crawl: int
    requests: int
    errors: int
    score: Score


def result_of(seed: int, day: int, number: int, crawl: Crawl) -> Result:
    """The figures of a crawl. Raises RuntimeError where there is nothing to measure."""
    found = score(crawl)
    for kind in KINDS:
        if not found.items or found.served[kind] < found.items or not found.values:
            raise RuntimeError(
                f"seed {seed}: {found.served[kind]} of {found.items} items were served with passing parts"
            )
    errors = sum(
        value for name, value in crawl.stats.items() if name.startswith("dedup/errors") or name == "log_count/ERROR"
    )
    return Result(seed, day, number, len(crawl.ledger), errors, found)


def run(
    seeds: Sequence[int], days: int, a_day: int, folder: Path, given: Mapping[str, str] | None = None
) -> list[Result]:
    """Crawl the sites of seeds, one after the other, in projects under *folder*, with settings *given*."""
    found = []
    for seed in seeds:
        crawls = crawls_of(seed, days, a_day, folder / f"seed-{seed}", given)
        found += [result_of(seed, 1 + number // a_day, number + 1, crawl) for number, crawl in enumerate(crawls)]
    return found


def last_of(results: Sequence[Result]) -> list[Result]:
    """The last crawl of each seed."""
    return list({each.seed: each for each in results}.values())


def checks(results: Sequence[Result]) -> list[Check]:
    """The figures that ``--check`` looks at."""
    found = []
    for last in last_of(results):
        counted = [each for each in results if each.seed == last.seed and each.crawl > 1]
        name = f"seed {last.seed}"
        found += [
            Check(
                f"{name}: items of the last crawl that show a passing part, {kind}",
                last.score.share(kind),
                most=MOST_SHOWN,
            )
            for kind in KINDS
        ]
        found.append(Check(f"{name}: lasting values missing", sum(each.score.lost for each in counted), most=0))
        found.append(Check(f"{name}: faults", sum(each.errors for each in counted), most=0))
    return found


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def print_days(results: Sequence[Result]) -> None:
    """Print the figures of the last crawl of each day."""
    rows: list[Sequence[object]] = []
    shown = {(each.seed, each.day): each for each in results}.values()
    served = sum((each.score for each in results), Score())
    rates = [_percent(served.served[kind], served.items) for kind in KINDS]
    rows.append(("as served, without the plug-in", "all", "", "", served.items, *rates, 0, served.values))
    for each in shown:
        counts = each.score
        rates = [_percent(counts.shown[kind], counts.items) for kind in KINDS]
        row = (each.day, each.crawl, each.requests, counts.items, *rates, counts.lost, counts.values)
        rows.append((f"seed {each.seed}" + (", not counted" if each.crawl == 1 else ""), *row))
    columns = ("site", "day", "crawl", "requests", "items", "text", "html", "missing", "of")
    print_table("Items that show any passing part, and lasting values that are missing", columns, rows)


def print_parts(results: Sequence[Result]) -> None:
    """Print each part with what is wrong with it."""
    last = sum((each.score for each in last_of(results)), Score())
    counted = sum((each.score for each in results if each.crawl > 1), Score())
    shown: list[Sequence[object]] = []
    rows = [(part, "go", last.passing, counted.passing) for part in PAGES if part in counted.pages]
    lasting = sorted({part for part, _ in counted.lasting})
    rows += [(part, "stay", last.lasting, counted.lasting) for part in lasting]
    for part, must, *counts in rows:
        cells = [of.get((part, kind)) for of in counts for kind in KINDS]
        pages = counted.pages[part]
        where = "all" if len(pages) == 7 else ", ".join(sorted(pages))
        shown.append((part, where, must, *[cell and f"{cell[0]}/{cell[1]}" for cell in cells]))
    title = "Each part: items that still show it, or values that are missing, of those that were served with it"
    print_table(title, ("part", "pages", "must", "last text", "last html", "all text", "all html"), shown, left=3)
    for example in counted.missing[:10]:
        print(f"missing: {example[:110]}")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("NAME=VALUE is wanted")
    return name, value


def measured(args: Arguments) -> list[Result]:
    """Crawl the sites that are asked for."""
    if args.days * args.crawls_a_day < 2:
        raise Unusable("the first crawl does not count: two are needed")
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    with scratch(args.keep) as folder:
        return run(seeds, args.days, args.crawls_a_day, folder, dict(args.given))


def show(results: Sequence[Result]) -> None:
    """Print the tables of days and of parts."""
    print_days(results)
    print_parts(results)


main = Command(
    __doc__,
    [
        option("--days", type=int, default=5, help="simulated days (5)"),
        option("--seeds", type=int, default=1, help="sites (1)"),
        option("--first-seed", type=int, default=0, help="the seed of the first site (0)"),
        option("--crawls-a-day", type=int, default=1, help="on each day (1)"),
        option(
            "--set", type=_setting, action="append", default=[], dest="given", metavar="NAME=VALUE", help="a setting"
        ),
        KEEP,
    ],
    measure=measured,
    show=lambda _, found: show(found),
    as_json=lambda _, found: [
        {"seed": each.seed, "day": each.day, "crawl": each.crawl, "requests": each.requests, **each.score.row()}
        for each in found
    ],
    checks=lambda _, found: checks(found),
)

if __name__ == "__main__":
    sys.exit(main())
