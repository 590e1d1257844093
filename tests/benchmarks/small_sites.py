"""Random small sites: how many duplicates are removed, and how many pages are lost.

    python -m tests.benchmarks.small_sites [--seeds N] [--first N] [--noise SHARE] [--json]

The sites are those of ``tests/small_sites.py``: one parameter is noise in one section and the page in another. Rules are
learned from half of the items of each site and scored on the others; with ``--noise`` a share of the responses that are
learned from is an error, a cut body, or another version.
"""

import sys
from dataclasses import dataclass

from ..small_sites import learned
from .command import Command, option
from .scoring.checks import rate
from .scoring.score import Figures, Score, pooled, score

SEEDS = 300


@dataclass(frozen=True, slots=True)
class SmallSites:
    """The score of all sites together; ``sites_with_loss`` of ``sites`` lost a page."""

    sites: int
    sites_with_loss: int
    score: Score

    def figures(self) -> Figures:
        """Everything measured, for JSON."""
        score = self.score
        names = ("pages", "duplicates", "removed", "lost", "removed_share")
        return {"sites": self.sites, "sites_with_loss": self.sites_with_loss} | {n: getattr(score, n) for n in names}


def measure(seeds: range, noise: float) -> SmallSites:
    """Learn and score the sites of some seeds."""
    scores = []
    for seed in seeds:
        book, rows = learned(seed, noise)
        scores.append(score([book.canonical_key(url) for url, _ in rows], [page for _, page in rows]))
    return SmallSites(len(seeds), sum(each.lost > 0 for each in scores), pooled(scores))


def show(found: SmallSites) -> None:
    """Print a line."""
    all_ = found.score
    print(
        f"{found.sites} sites: {all_.removed} of {all_.duplicates} duplicates removed ({rate(all_.removed_share)}), "
        f"{all_.lost} of {all_.pages} pages lost on {found.sites_with_loss} sites"
    )


main = Command(
    __doc__,
    [
        option("--seeds", type=int, default=SEEDS, metavar="N", help=f"number of sites ({SEEDS})"),
        option("--first", type=int, default=0, metavar="N", help="the first seed"),
        option("--noise", type=float, default=0.0, metavar="SHARE"),
    ],
    measure=lambda args: measure(range(args.first, args.first + args.seeds), args.noise),
    show=lambda _, found: show(found),
    as_json=lambda _, found: found.figures(),
)

if __name__ == "__main__":
    sys.exit(main())
