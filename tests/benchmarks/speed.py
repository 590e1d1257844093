"""Time and memory: canonical keys, learning, and what the add-on costs a crawl.

    python -m tests.benchmarks.speed [--quick] [--quiet] [--json] [--check] [--only keys|learning|learning-scale|crawl]

Every figure that is a ratio comes from two measurements in the same run. ``--quick`` (under three
minutes) uses fewer URLs, pages and pairs; its learning part takes 20,000 URLs instead of 100,000.
``--largest 3000000`` adds a size to those of learning-scale.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .command import QUIET, Arguments, Command, flag, option
from .scoring.checks import Check, print_table, rate
from .timing import crawl as crawls
from .timing import keys as key_times
from .timing import learning as costs
from .timing.learning import slope

MOST_KEY_RATIO = 0.5
MOST_SECONDS_PER_URL = 300 / 100_000
MOST_MB = 1000
MOST_TIMES_PARSING = 20
MOST_SLOPE = 1.05
MOST_BYTES_PER_URL = 1024
SCALES = (10_000, 100_000, 1_000_000)
KEYS = 150
"""Query keys of the one large site."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one part has found: figures, checks, and a table."""

    figures: Sequence[Any]
    checks: Iterable[Check]
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def keys(args: Arguments) -> Part:
    """Canonical keys."""
    found = key_times.measure(quick=args.quick)
    mixes = [row for row in found if row.what.startswith("mix")]
    return Part(
        found,
        [
            *(Check(f"canonical_key / canonicalize_url, {row.what}", row.ratio, most=MOST_KEY_RATIO) for row in mixes),
            Check("rules of the site that the keys were timed with", mixes[-1].rules, 1),
        ],
        "canonical_key against w3lib.canonicalize_url, each URL seen once",
        ("URLs", "rules", "key us", "w3lib us", "ratio (median)", "least", "most"),
        [
            (
                *(row.what, row.rules),
                *(rate(time, 2) for time in (row.key_us, row.w3lib_us, row.ratio, row.least_ratio, row.most_ratio)),
            )
            for row in found
        ],
    )


def learning(args: Arguments) -> Part:
    """Learning from one large site."""
    found = [costs.measure(size, KEYS) for size in ((20_000,) if args.quick else (10_000, 100_000))]
    largest = found[-1]
    most = MOST_SECONDS_PER_URL * largest.urls
    return _learned(
        "learning from one site",
        found,
        Check(f"seconds to learn {largest.urls} URLs", largest.seconds, most=most),
        Check(f"MB to learn {largest.urls} URLs", largest.peak_mb, most=MOST_MB),
    )


def learning_scale(args: Arguments) -> Part:
    """How learning grows with the URLs of a site."""
    sizes = {size // 10 if args.quick else size for size in SCALES} | ({args.largest} if args.largest else set())
    found = [costs.measure(size) for size in sorted(sizes)]
    grows = slope([(cost.urls, cost.cpu_seconds) for cost in found])
    return _learned(
        f"learning from an ordinary site; log-log slope {rate(grows)}",
        found,
        *(
            Check(f"learning / parsing, {cost.urls} URLs", cost.times_parsing, most=MOST_TIMES_PARSING)
            for cost in found
        ),
        Check("log-log slope of learning", grows, most=MOST_SLOPE),
        *(Check(f"bytes per URL, {cost.urls} URLs", cost.bytes_per_url, most=MOST_BYTES_PER_URL) for cost in found[1:]),
    )


def _learned(title: str, found: Sequence[costs.LearningCost], *checks: Check) -> Part:
    columns = ("URLs", "query keys", "pages", "seconds", "CPU s", "CPU us/URL", "x parsing", "MB before", "MB peak")
    rows = [
        (
            *(cost.urls, cost.keys, cost.pages, f"{cost.seconds:.1f}", f"{cost.cpu_seconds:.1f}"),
            *(f"{cost.cpu_seconds / cost.urls * 1e6:.0f}", f"{cost.times_parsing:.1f}"),
            *(f"{cost.before_mb:.0f}", f"{cost.peak_mb:.0f}"),
            *(f"{cost.bytes_per_url:.0f}", f"{cost.observation_bytes:.0f}"),
            *(cost.rules, cost.oracle_compression, cost.lost),
        )
        for cost in found
    ]
    columns += ("bytes/URL", "of observations", "rules", "oracle-norm.", "lost")
    return Part(found, checks, title, columns, rows)


def crawl(args: Arguments) -> Part:
    """Crawl overhead."""
    found = crawls.measure(quick=args.quick, quiet=args.quiet)
    columns = ("crawl", "add-on", "aim", "stock ms", "add-on ms", "ratio (median)", "least", "most", "of minima")
    return Part(
        found,
        [
            Check(f"CPU ratio, {row.kind.name}", row.ratio, most=row.kind.most_ratio)
            for row in found
            if row.variant == "no rules" and row.kind.most_ratio
        ],
        "CPU per response of the process tree, with the add-on against without it, no duplicates",
        (*columns, "pairs", "start-up ms"),
        [
            (
                *(row.kind.name, row.variant, f"<= {row.kind.most_ratio:.2f}" if row.kind.most_ratio else "-"),
                *(f"{row.stock_ms:.2f}", f"{row.plugin_ms:.2f}"),
                *(row.ratio, row.least_ratio, row.most_ratio, row.minima_ratio, row.pairs, f"+{row.start_up_ms:.0f}"),
            )
            for row in found
        ],
    )


PARTS: Mapping[str, Callable[[Arguments], Part]] = {
    "keys": keys,
    "learning": learning,
    "learning-scale": learning_scale,
    "crawl": crawl,
}


def show(_: Arguments, found: Mapping[str, Part]) -> None:
    """Print a table for each part."""
    for part in found.values():
        print_table(part.title, part.columns, part.rows)


main = Command(
    __doc__,
    [
        option("--only", choices=PARTS, action="append", help="this part (may be repeated)"),
        flag("--quick", "fewer repetitions, under three minutes"),
        QUIET,
        option("--largest", type=int, metavar="URLS", help="one more size for learning-scale"),
    ],
    measure=lambda args: {name: part(args) for name, part in PARTS.items() if name in (args.only or PARTS)},
    show=show,
    as_json=lambda _, found: {name: [asdict(row) for row in part.figures] for name, part in found.items()},
    checks=lambda _, found: [check for part in found.values() for check in part.checks],
)

if __name__ == "__main__":
    sys.exit(main())
