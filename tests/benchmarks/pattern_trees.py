"""The pattern trees of sites: Table 2 of the paper, the number of nodes, the height and the time to build them.

    python -m tests.benchmarks.pattern_trees [FILE.jsonl.gz...] [--level L0..L4]... [--seeds N] [--share .2]
                                             [--least 100] [--sites] [--json]

FILEs are labelled URL sets (see ``tests.benchmarks.labelled``); ``--level`` are made-up sites, and all of L0 to L3 where
neither is given. As in the paper a fifth of a site's URLs is drawn, 100,000 at most; sites of which fewer than
``--least`` are drawn are left out. The time is that from URLs to a tree.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from time import perf_counter

from scrapy_dedup import Observation
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.url_table import encode
from scrapy_dedup.learning.methods.pattern_tree.tree import PatternTree, build_pattern_tree, view_of

from .labelled import read_rows
from .methods.compared import sites
from .scoring.table import print_table
from .sites.crawl import crawl
from .sites.levels import LEVELS, level_knobs, sites_of

SHARE = 0.2
MOST = 100_000
"""URLs of a site that the paper draws: a fifth of them, and at most so many."""
LEAST = 100
COLUMNS = {
    "nodes": "nodes of the tree",
    "height": "height of the tree",
    "seconds": "time (seconds)",
    "urls": "URLs it was built of",
}


@dataclass(frozen=True, slots=True)
class TreeOf:
    """One site: the URLs that were drawn, the nodes and the height (levels) of their tree, and the time for it."""

    site: str
    urls: int
    nodes: int
    height: int
    seconds: float


def measured(
    site: str,
    observations: Sequence[Observation],
    share: float = SHARE,
    least: int = LEAST,
) -> TreeOf | None:
    """Draw from the URLs of a site and build their tree; None where fewer than *least* are drawn."""
    found = clusters(observations)
    rows = [number for number, content in enumerate(found.content) if content >= 0]
    drawn = sorted(Random(0).sample(rows, min(max(1, round(share * len(rows))), MOST))) if rows else []
    if len(drawn) < least:
        return None
    urls, content = [found.urls[row] for row in drawn], [found.content[row] for row in drawn]
    start = perf_counter()
    tree = tree_of(urls, content)
    seconds = perf_counter() - start
    return (
        None
        if tree is None
        else TreeOf(site, len(urls), len(tree.nodes), 1 + max(node.depth for node in tree.nodes), seconds)
    )


def tree_of(urls: Sequence[str], content: Sequence[int]) -> PatternTree | None:
    """Return the pattern tree of URLs in normal form, without rules; None where no text is a URL with a host."""
    views = {url: (view, number) for url, number in zip(urls, content, strict=True) if (view := view_of(url))}
    if not views:
        return None
    table = encode(list(views), [view for view, _ in views.values()], [number for _, number in views.values()])
    return build_pattern_tree(table)


def of_files(paths: Sequence[Path]) -> Iterator[tuple[str, list[Observation]]]:
    """(name, observations) of each site of labelled URL sets."""
    for path in paths:
        rows = [row.observation() for row in read_rows(path)]
        for site, seen in sites(rows).items():
            if site:
                yield f"{path.name.partition('.')[0]}: {site}", seen


def of_levels(levels: Sequence[str], seeds: int) -> Iterator[tuple[str, list[Observation]]]:
    """(name, observations) of made-up sites."""
    for level in levels:
        for seed in range(seeds):
            for site in sites_of(level, seed, level_knobs(level)):
                yield f"{level}: {site.domain}", [row.observation() for row in crawl(site)]


def print_trees(found: Sequence[TreeOf], *, each: bool) -> None:
    """Print the paper's Table 2, and with *each* a row for each site before it."""
    if each:
        rows = [(one.site, *[_shown(name, getattr(one, name)) for name in COLUMNS]) for one in found]
        print_table("", ("site", *COLUMNS.values()), rows, width=120)
    rows = []
    for name, text in COLUMNS.items():
        values = [getattr(one, name) for one in found]
        rows.append((text, *[_shown(name, v) for v in (min(values), max(values), sum(values) / len(values))]))
    print_table(f"pattern trees of {len(found)} sites", ("", "min", "max", "average"), rows, width=120)


def _shown(name: str, value: float) -> str:
    return f"{value:.2f}" if name == "seconds" else f"{value:,.0f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.pattern_trees",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--level", action="append", choices=LEVELS, help="may be given again")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="seeds 0 to N - 1")
    parser.add_argument("--share", type=float, default=SHARE, help=f"of the URLs of a site that are drawn ({SHARE})")
    parser.add_argument(
        "--least", type=int, default=LEAST, metavar="N", help=f"URLs of a site that are drawn ({LEAST})"
    )
    parser.add_argument("--sites", action="store_true", help="a row for each site, too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    if not 0 < args.share <= 1:
        parser.error(f"--share is {args.share:g}: it must be above 0 and at most 1")
    levels = args.level or ([] if args.files else ["L0", "L1", "L2", "L3"])
    every = [*of_files(args.files), *of_levels(levels, args.seeds)]
    trees = (measured(name, seen, args.share, args.least) for name, seen in every)
    found = [tree for tree in trees if tree is not None]
    if args.json:
        print(json.dumps([asdict(tree) for tree in found], indent=2))
    elif found:
        print_trees(found, each=args.sites)
    else:
        print(f"no site of which {args.least} URLs are drawn: see --least", file=sys.stderr)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
