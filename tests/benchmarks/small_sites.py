"""Random small sites: how many duplicates are removed, and how many pages are lost.

    python -m tests.benchmarks.small_sites [--seeds N] [--first N] [--noise SHARE] [--json]

The sites are those of ``tests/small_sites.py``: one parameter is noise in one section and the page in another. Rules are
learned from half of the items of each site and scored on the others; with ``--noise`` a share of the responses that are
learned from is an error, a cut body, or another version.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ..small_sites import learned, lost_pages

SEEDS = 300


@dataclass(frozen=True, slots=True)
class SmallSites:
    """What was removed and lost on all sites together; ``sites_with_loss`` of ``sites`` lost a page."""

    sites: int
    pages: int
    duplicates: int
    removed: int
    lost: int
    sites_with_loss: int

    @property
    def removed_share(self) -> float:
        """Removed duplicates / duplicates."""
        return self.removed / self.duplicates


def measure(seeds: range, noise: float) -> SmallSites:
    """Learn and score the sites of some seeds."""
    pages = duplicates = removed = lost = sites_with_loss = 0
    for seed in seeds:
        book, rows = learned(seed, noise)
        distinct = len({page for _, page in rows})
        gone = len(lost_pages(book, rows))
        keys = len({book.canonical_key(url) for url, _ in rows})
        pages += distinct
        duplicates += len(rows) - distinct
        removed += len(rows) - keys - gone
        lost += gone
        sites_with_loss += gone > 0
    return SmallSites(len(seeds), pages, duplicates, removed, lost, sites_with_loss)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.small_sites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"number of sites ({SEEDS})")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first seed")
    parser.add_argument("--noise", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    found = measure(range(options.first, options.first + options.seeds), options.noise)
    if options.json:
        print(json.dumps(asdict(found) | {"removed_share": found.removed_share}))
    else:
        print(
            f"{found.sites} sites: {found.removed} of {found.duplicates} duplicates removed ({found.removed_share:.3f}), "
            f"{found.lost} of {found.pages} pages lost on {found.sites_with_loss} sites"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
