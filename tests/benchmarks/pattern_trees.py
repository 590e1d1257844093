"""The pattern trees of sites: Table 2 of the paper, the number of nodes, the height and the time to build them.

    python -m tests.benchmarks.pattern_trees [FILE.jsonl.gz...] [--level L0..L4]... [--share .2] [--least 100] [--json]

FILEs are labelled URL sets (see ``tests.benchmarks.labelled``); ``--level`` are made-up sites, and all of L0 to L3 where
neither is given. As in the paper a fifth of a site's URLs is drawn, 100,000 at most; sites of which fewer than
``--least`` are drawn are left out. The time is that from URLs to a tree.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from scrapy_dedup import Observation
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.url_table import encode
from scrapy_dedup.learning.methods.pattern_tree.tree import build_pattern_tree, view_of

from .command import Arguments, Command, Unusable, option
from .labelled import read_rows
from .methods.compared import sites
from .scoring.checks import print_table
from .sites.crawl import MOST_TRAINING, PAPER_SHARE, crawl
from .sites.levels import LEVELS, sites_of

LEAST = 100
COLUMNS = {
    "nodes": "nodes of the tree",
    "height": "height of the tree",
    "seconds": "time (seconds)",
    "urls": "URLs it was built of",
}


def tree_of(site: str, observations: Sequence[Observation], share: float, least: int) -> dict[str, Any] | None:
    """Draw from the URLs of a site and build their tree; return what is told of it, None where fewer than *least* are drawn."""
    found = clusters(observations)
    rows = [number for number, content in enumerate(found.content) if content >= 0]
    drawn = sorted(Random(0).sample(rows, min(max(1, round(share * len(rows))), MOST_TRAINING))) if rows else []
    start = perf_counter()
    views = {found.urls[row]: (view, found.content[row]) for row in drawn if (view := view_of(found.urls[row]))}
    if len(drawn) < least or not views:
        return None
    table = encode(list(views), [view for view, _ in views.values()], [number for _, number in views.values()])
    nodes = build_pattern_tree(table).nodes
    seconds = perf_counter() - start
    height = 1 + max(node.depth for node in nodes)
    return {"site": site, "urls": len(drawn), "nodes": len(nodes), "height": height, "seconds": seconds}


def observed(files: Sequence[Path], levels: Sequence[str]) -> Iterator[tuple[str, list[Observation]]]:
    """(name, observations) of each site of labelled URL sets and of made-up sites."""
    for path in files:
        for site, seen in sites([row.observation() for row in read_rows(path)]).items():
            if site:
                yield f"{path.name.partition('.')[0]}: {site}", seen
    for level in levels:
        for made in sites_of(level, 0):
            yield f"{level}: {made.domain}", [row.observation() for row in crawl(made)]


def measured(args: Arguments) -> list[dict[str, Any]]:
    """Build the trees."""
    levels = args.level or ([] if args.files else ["L0", "L1", "L2", "L3"])
    every = (tree_of(name, seen, args.share, args.least) for name, seen in observed(args.files, levels))
    if not (found := [tree for tree in every if tree is not None]):
        raise Unusable(f"no site of which {args.least} URLs are drawn: see --least")
    return found


def show(found: Sequence[dict[str, Any]]) -> None:
    """Print the paper's Table 2."""
    rows = []
    for name, text in COLUMNS.items():
        values = [one[name] for one in found]
        shown = "{:.2f}" if name == "seconds" else "{:,.0f}"
        rows.append((text, *map(shown.format, (min(values), max(values), sum(values) / len(values)))))
    print_table(f"pattern trees of {len(found)} sites", ("", "min", "max", "average"), rows, width=120)


main = Command(
    __doc__,
    [
        option("files", nargs="*", type=Path, metavar="FILE"),
        option("--level", action="append", choices=LEVELS, help="may be given again"),
        option(
            "--share", type=float, default=PAPER_SHARE, help=f"of the URLs of a site that are drawn ({PAPER_SHARE})"
        ),
        option("--least", type=int, default=LEAST, metavar="N", help=f"URLs of a site that are drawn ({LEAST})"),
    ],
    measure=measured,
    show=lambda _, found: show(found),
    as_json=lambda _, found: found,
)

if __name__ == "__main__":
    sys.exit(main())
