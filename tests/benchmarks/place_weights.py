"""Fit the weights of the score of a place to made-up sites whose parts are of a known nature.

    python -m tests.benchmarks.place_weights [--sites N] [--first-seed N] [--json] [--check] [--write]

A mask is learned of each site, and what is scored is recorded. Printed are the shares of transient parts that are found, and of content
that is wrongly taken: by weights that were fitted to all sites, to other sites, and to parts of other natures; and by those of the
package's file. ``--write`` writes that file, with ``--check`` only where no figure is missed.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from scrapy_dedup.masks.learning.judging import score
from scrapy_dedup.masks.learning.judging.score import LEFT_OUT, STRIPPED, WEIGHTS_FILE, shipped

from .fitting.places import FOLDS, Flags, Known, Numbers, Weights, fitted, left_out, rows_of, scores
from .places.site import PARTS, PlacedSite
from .scoring.checks import Check, report
from .scoring.table import print_table

SITES = 500
DIGITS = 2
THRESHOLDS = (0.5, LEFT_OUT, STRIPPED, 0.95)
LEAST_FOUND, MOST_WRONG = 0.66, 0.001
ALL, SITES_OUT, NATURE_OUT, SHIPPED = "all sites", "other sites", "other natures", "as shipped"
"""What the weights were fitted to."""
EVERY_SITE, CONTROLLED = "all", "two or more control fetches"


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of transient parts that are found, and of content that is wrongly taken, from a probability on."""

    found: float
    wrong: float

    @classmethod
    def of(cls, known: Known, sure: Numbers, chosen: Flags, least: float) -> "Shares":
        """Return the shares of some rows; 0 of none."""
        taken = sure >= least
        return cls(_share(taken[chosen & known.transient]), _share(taken[chosen & ~known.transient]))

    def __str__(self) -> str:
        return f"{_written(self.found)} / {_written(self.wrong, 4)}"


@dataclass(frozen=True)
class Fit:
    """Weights, and the probability of each row by weights that were fitted to this or that."""

    known: Known
    weights: Weights
    sure: Mapping[str, Numbers]

    @classmethod
    def of(cls, known: Known) -> "Fit":
        """Return the fit to what is known."""
        weights = fitted(known)
        sure = {
            ALL: scores(known, weights),
            SITES_OUT: left_out(known, [row.site % FOLDS for row in known.rows]),
            NATURE_OUT: left_out(known, [row.nature for row in known.rows]),
            SHIPPED: scores(known, shipped()),
        }
        return cls(known, weights, sure)

    @property
    def counts(self) -> dict[str, int]:
        """How many sites, parts of sites, places and rows it rests on."""
        rows = self.known.rows
        return {
            "sites": len({row.site for row in rows}),
            "parts": len({(row.site, row.nature) for row in rows}),
            "places": len({(row.site, row.place) for row in rows}),
            "rows": len(rows),
        }

    def summary(self) -> dict[str, dict[str, dict[float, Shares]]]:
        """Return the shares by the sites that are counted, by what was fitted to, and by the probability."""
        chosen = {EVERY_SITE: np.ones_like(self.known.controlled), CONTROLLED: self.known.controlled}
        return {
            some: {
                name: {least: Shares.of(self.known, sure, rows, least) for least in THRESHOLDS}
                for name, sure in self.sure.items()
            }
            for some, rows in chosen.items()
        }

    def checks(self) -> list[Check]:
        """Return the figures that ``--check`` looks at."""
        found = self.summary()[EVERY_SITE][NATURE_OUT][STRIPPED]
        return [
            Check("transient parts found, fitted to other natures", found.found, least=LEAST_FOUND),
            Check("content wrongly taken, fitted to other natures", found.wrong, most=MOST_WRONG),
        ]

    def by_nature(self) -> list[dict[str, Any]]:
        """Return, of each nature, how many rows are stripped, and how many left out, by what was fitted to."""
        found = []
        for part in PARTS:
            rows = self.known.of_nature(part.name)
            if rows.any():
                taken = {
                    name: [_share(sure[rows] >= least) for least in (STRIPPED, LEFT_OUT)]
                    for name, sure in self.sure.items()
                }
                found.append(
                    {"nature": part.name, "transient": part.transient, "rows": int(rows.sum()), "taken": taken}
                )
        return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.place_weights",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sites", type=int, default=SITES, metavar="N", help=f"number of sites ({SITES})")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="seed of the first site (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    parser.add_argument("--write", action="store_true", help="write the package's file")
    args = parser.parse_args(argv)
    seeds = range(args.first_seed, args.first_seed + args.sites)
    known = Known([row for seed in seeds for row in rows_of(PlacedSite(seed))])
    if not known.transient.any() or known.transient.all():
        parser.error("these sites do not have both transient parts and content")
    fit = Fit.of(known)
    if args.json:
        print(json.dumps(as_json(fit), indent=2))
    else:
        _print(fit)
    code = report(fit.checks()) if args.check else 0
    if args.write and not code:
        target = Path(str(files(score.__package__).joinpath(WEIGHTS_FILE)))
        target.write_text(text_of(fit, seeds), "utf-8")
        print(f"wrote {target.name}", file=sys.stderr)
    return code


def as_json(fit: Fit) -> dict[str, Any]:
    """Return what the tables show."""
    summary = {
        some: {
            name: {f"{least:g}": {"found": each.found, "wrong": each.wrong} for least, each in shares.items()}
            for name, shares in by_fit.items()
        }
        for some, by_fit in fit.summary().items()
    }
    return {
        **fit.counts,
        "weights": dict(fit.weights),
        "shipped": dict(shipped()),
        "natures": fit.by_nature(),
        "summary": summary,
    }


def text_of(fit: Fit, seeds: range) -> str:
    """Return the package's file of weights."""
    command = f"python -m tests.benchmarks.place_weights --sites {len(seeds)} --first-seed {seeds.start} --write"
    lines = [
        "# Weights of the score of a place: of its features (features.py), in the logarithm of the odds that it is transient.",
        "# Fitted to made-up sites whose parts are of a known nature, each nature weighed alike (see docs/benchmarks.md).",
        "# Reviewed; do not edit figures one by one.",
        "",
        "[weights]",
        *(f"{name} = {round(weight, DIGITS)}" for name, weight in fit.weights.items()),
        "",
        "[fitted]",
        f'by = "{command}"',
        *(f"{name} = {number}" for name, number in fit.counts.items()),
        "",
    ]
    summary = fit.summary()[EVERY_SITE]
    for name, title in ((ALL, "to_all"), (SITES_OUT, "to_other_sites"), (NATURE_OUT, "to_other_natures")):
        lines += [f"# Shares of transient parts that are found, and of content wrongly taken, if fitted to {name}."]
        lines += [f"[fitted.{title}]"]
        for at, least in (("stripped", STRIPPED), ("left_out", LEFT_OUT)):
            each = summary[name][least]
            lines += [f"{at} = {{ found = {each.found:.4f}, wrong = {each.wrong:.4f} }}"]
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def _print(fit: Fit) -> None:
    counts = ", ".join(f"{number} {name}" for name, number in fit.counts.items())
    print(counts)
    rows: list[Sequence[object] | None] = []
    for is_transient in (True, False):
        for one in fit.by_nature():
            if one["transient"] is is_transient:
                taken = (" / ".join(map(_written, each)) for each in one["taken"].values())
                rows.append((one["nature"], one["rows"], *taken))
        rows.append(None)
    title = "Share taken out of items / left out of comparisons, by what was fitted to"
    print_table(title, ("nature", "rows", *fit.sure), rows, width=130)
    for some, by_fit in fit.summary().items():
        shares = [(name, *map(str, of.values())) for name, of in by_fit.items()]
        columns = ("fitted to", *(f"at {least:g}" for least in THRESHOLDS))
        title = f"Transient parts found / content wrongly taken, sites: {some}"
        print_table(title, columns, shares, left=len(columns), width=130)
    weights = [(name, f"{weight:.2f}", f"{shipped().get(name, 0.0):.2f}") for name, weight in fit.weights.items()]
    print_table("Weights", ("feature", ALL, SHIPPED), weights)


def _share(flags: Flags) -> float:
    return float(flags.mean()) if flags.size else 0.0


def _written(share: float, digits: int = 3) -> str:
    return f"{share:.{digits}f}".removeprefix("0") if share < 1 else "1"


if __name__ == "__main__":
    sys.exit(main())
