"""Time and memory: canonical keys, learning, and what the add-on costs a crawl.

    python -m tests.benchmarks.speed [--quick] [--quiet] [--json] [--check] [--only keys|learning|learning-scale|crawl|store]

Every figure that is a ratio comes from two measurements in the same run. ``--quick`` (under three
minutes) uses fewer URLs, pages and pairs; its learning part takes 20,000 URLs instead of 100,000.
``--largest 3000000`` adds a size to those of learning-scale.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from .scoring.checks import Check, report
from .scoring.table import print_table, rate
from .timing import crawl as speed_crawl
from .timing import keys as speed_keys
from .timing import learning as speed_learning
from .timing import scale as speed_scale
from .timing import stores as speed_stores

MOST_KEY_RATIO = 0.5
MOST_SECONDS_PER_URL = 300 / 100_000
MOST_MB = 1000
MOST_TIMES_PARSING = 20
MOST_SLOPE = 1.05
MOST_BYTES_PER_URL = 1024
SCALES = (10_000, 100_000, 1_000_000)
MOST_OF_FILE = 1.10
PARTS = ("keys", "learning", "learning-scale", "crawl", "store")


Rows = tuple[str, tuple[str, ...], list[Sequence[object]]]
"""Title, columns and rows of a table."""


def keys(*, quick: bool) -> tuple[list[speed_keys.KeyTimes], list[Check], Rows]:
    """Canonical keys: figures, checks, table."""
    found = speed_keys.measure(quick=quick)
    rows: list[Sequence[object]] = []
    for row in found:
        times = (f"{value:.2f}" for value in (row.key_us, row.w3lib_us, row.ratio, row.least_ratio, row.most_ratio))
        rows.append((row.what, row.rules, *times, rate(row.discarder_us, 2)))
    title = "canonical_key against w3lib.canonicalize_url and duplicate-url-discarder, each URL seen once"
    columns = ("URLs", "rules", "key us", "w3lib us", "ratio (median)", "least", "most", "discarder us")
    mixes = [row for row in found if row.what.startswith("mix")]
    checks = [Check(f"canonical_key / canonicalize_url, {row.what}", row.ratio, most=MOST_KEY_RATIO) for row in mixes]
    checks.append(Check("rules of the site that the keys were timed with", mixes[-1].rules, 1))
    return found, checks, (title, columns, rows)


def learning(*, quick: bool) -> tuple[list[speed_learning.LearningCost], list[Check], Rows]:
    """Learning from one large site: figures, checks, table."""
    sizes = (20_000,) if quick else (10_000, 100_000)
    found = [speed_learning.measure(urls=size) for size in sizes]
    rows: list[Sequence[object]] = [
        (
            *(cost.urls, cost.keys, cost.pages, f"{cost.seconds:.1f}", f"{cost.cpu_seconds:.1f}"),
            *(f"{cost.seconds / cost.urls * 1e6:.0f}", f"{cost.times_parsing:.0f}"),
            *(f"{cost.before_mb:.0f}", f"{cost.peak_mb:.0f}", cost.rules, cost.oracle_compression, cost.lost),
        )
        for cost in found
    ]
    columns = ("URLs", "query keys", "pages", "seconds", "CPU s", "us/URL", "x parsing", "MB before", "MB peak")
    columns += ("rules", "oracle-norm.", "lost")
    largest = found[-1]
    checks = [
        Check(
            f"seconds to learn {largest.urls} URLs",
            largest.seconds,
            most=MOST_SECONDS_PER_URL * largest.urls,
        ),
        Check(f"MB to learn {largest.urls} URLs", largest.peak_mb, most=MOST_MB),
    ]
    return found, checks, ("learning from one site", columns, rows)


def learning_scale(*, quick: bool, largest: int | None = None) -> tuple[list[speed_scale.Scale], list[Check], Rows]:
    """How learning grows with the URLs of a site: figures, checks, table."""
    sizes = sorted({size // 10 if quick else size for size in SCALES} | ({largest} if largest else set()))
    found = [speed_scale.measure(size) for size in sizes]
    slope = speed_scale.slope(found)
    rows: list[Sequence[object]] = [
        (
            *(cost.urls, cost.pages, f"{cost.seconds:.1f}", f"{cost.cpu_seconds:.1f}"),
            *(f"{cost.cpu_seconds / cost.urls * 1e6:.0f}", f"{cost.times_parsing:.1f}"),
            *(f"{cost.bytes_per_url:.0f}", f"{cost.observations_bytes:.0f}"),
            *(cost.rules, cost.oracle_compression, cost.lost),
        )
        for cost in found
    ]
    title = f"learning from an ordinary site; log-log slope {rate(slope)}"
    columns = ("URLs", "pages", "seconds", "CPU s", "CPU us/URL", "x parsing", "bytes/URL", "of observations")
    columns += ("rules", "oracle-norm.", "lost")
    checks = [
        Check(f"learning / parsing, {cost.urls} URLs", cost.times_parsing, most=MOST_TIMES_PARSING) for cost in found
    ]
    checks.append(Check("log-log slope of learning", slope, most=MOST_SLOPE))
    checks += [
        Check(f"bytes per URL, {cost.urls} URLs", cost.bytes_per_url, most=MOST_BYTES_PER_URL) for cost in found[1:]
    ]
    return found, checks, (title, columns, rows)


def crawl(*, quick: bool, quiet: bool = False) -> tuple[list[speed_crawl.Overhead], list[Check], Rows]:
    """Crawl overhead: figures, checks, table."""
    found = speed_crawl.measure(quick=quick, quiet=quiet)
    rows: list[Sequence[object]] = [
        (
            *(row.kind.name, row.variant, f"<= {row.kind.most_ratio:.2f}" if row.kind.most_ratio else "-"),
            *(f"{row.stock_ms:.2f}", f"{row.plugin_ms:.2f}"),
            *(row.ratio, row.least_ratio, row.most_ratio, row.minima_ratio, row.pairs, f"+{row.start_up_ms:.0f}"),
        )
        for row in found
    ]
    title = "CPU per response of the process tree, with the add-on against without it, no duplicates"
    columns = ("crawl", "add-on", "aim", "stock ms", "add-on ms", "ratio (median)", "least", "most", "of minima")
    columns += ("pairs", "start-up ms")
    checks = [
        Check(f"CPU ratio, {row.kind.name}", row.ratio, most=row.kind.most_ratio)
        for row in found
        if row.variant == "no rules" and row.kind.most_ratio
    ]
    return found, checks, (title, columns, rows)


def store(*, quick: bool, quiet: bool = False) -> tuple[list[speed_crawl.Overhead], list[Check], Rows]:
    """Crawls with a store on a PostgreSQL server, against those with a file: figures, checks, table."""
    found = speed_stores.measure(quick=quick, quiet=quiet)
    rows: list[Sequence[object]] = [
        (
            *(row.kind.name, f"<= {MOST_OF_FILE:.2f}", f"{row.stock_ms:.2f}", f"{row.plugin_ms:.2f}"),
            *(row.ratio, row.least_ratio, row.most_ratio, row.minima_ratio, row.pairs, f"{row.start_up_ms:+.0f}"),
        )
        for row in found
    ]
    title = "CPU per response of the process tree, with the store on a PostgreSQL server against one in a file"
    if not found:
        title += ": PostgreSQL is not installed"
    columns = ("crawl", "aim", "SQLite ms", "PostgreSQL ms", "ratio (median)", "least", "most", "of minima")
    columns += ("pairs", "start-up ms")
    checks = [Check(f"CPU ratio PostgreSQL / SQLite, {row.kind.name}", row.ratio, most=MOST_OF_FILE) for row in found]
    return found, checks, (title, columns, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="this part (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, under three minutes")
    parser.add_argument("--quiet", action="store_true", help="crawled pages without clock, counter, token and teasers")
    parser.add_argument("--largest", type=int, metavar="URLS", help="one more size for learning-scale")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    args = parser.parse_args(argv)
    wanted = args.only or PARTS
    figures, checks = {}, []
    scale = partial(learning_scale, largest=args.largest)
    parts: dict[str, Callable[..., tuple[Any, list[Check], Rows]]] = {
        "keys": keys,
        "learning": learning,
        "learning-scale": scale,
        "crawl": partial(crawl, quiet=args.quiet),
        "store": partial(store, quiet=args.quiet),
    }
    for name, part in parts.items():
        if name not in wanted:
            continue
        found, part_checks, (title, columns, rows) = part(quick=args.quick)
        figures[name] = [asdict(row) for row in found]
        checks += part_checks
        if not args.json:
            print_table(title, columns, rows)
    if args.json:
        print(json.dumps(figures, indent=2))
    return report(checks) if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
