"""Whether what the judge expects comes true: predicted and observed losses, both ways.

    python -m tests.benchmarks.calibration [--check] [--worlds DIR] [--labelled FILE...] [--recorded FILE...]

Every proposal in every stratum of sites whose pages are known (see ``strata_of_sites``) is judged on one half of its groups,
with priors that were fitted to the other sites; the other half tells how many of the requests that it would filter lose a
page. In ten bins of the predicted share the observed one is compared with it. A bin fails only where the one-sided 95 % bound
of the observed share, sites being drawn (and with each all its rules), excludes 1.5 times the prediction or two thirds of
it: too bold or too careful. And the log loss must beat the base rate of the kind of values, which is taken from the other sites,
too. Labels of real sites hold odd responses; so of these the prediction is that of a difference, by a page or by the error rate.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from scrapy_dedup.learning.evidence.splits import Split
from scrapy_dedup.learning.evidence.value_kinds import KindPrior, ValueKind
from scrapy_dedup.learning.evidence.witnesses import EQUALS, RATES, SHARES

from .fitting.priors import Known, Priors, left_out
from .fitting.strata_of_sites import BY_VALUES, Judged, add_arguments, chosen, judged_proposals
from .scoring.checks import Check, print_table, report

EDGES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75)
"""Between the bins of predicted loss."""
FACTOR = 1.5
BOUND = NormalDist().inv_cdf(0.95)
MOST_REQUESTS = 20
"""Filtered requests that count, of a stratum and of all strata of a key on a site: they are one finding, whatever their number."""
LEAST = 1e-4
"""Predictions are not taken to be surer than that in the log loss."""
SMALL, SEEDS = 80, 2
LOST = np.repeat(SHARES, len(EQUALS)) * (1 - np.tile(EQUALS, len(SHARES)))
"""Share of the filtered requests that lose a page, in each state."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A stratum of a proposal: the share of filtered requests that is predicted to lose a page, and that did."""

    site: str
    rule: str
    kind: ValueKind
    predicted: float
    observed: float
    weight: float
    """Requests that count."""

    @property
    def finding(self) -> tuple[str, str]:
        """What all strata of a proposal have in common, by sections and by values."""
        return self.site, self.rule.removesuffix(BY_VALUES)


@dataclass(frozen=True, slots=True)
class Bin:
    """The cells of one bin; ``low`` and ``high`` are the bounds of the observed share."""

    cells: int
    rules: int
    sites: int
    predicted: float
    observed: float
    low: float
    high: float

    @property
    def fault(self) -> str:
        """What is wrong with the predictions: nothing, too bold, or too careful."""
        if self.low > FACTOR * self.predicted:
            return "too bold"
        return "too careful" if self.high < self.predicted / FACTOR else ""


def cells_of(found: Iterable[Judged], priors: Mapping[str, Priors]) -> list[Cell]:
    """Return the strata of proposals of which anything was held out; *priors* are those of each site."""
    cells = [cell for one in found for cell in _cells(one, priors[one.site][one.kind])]
    of_finding: defaultdict[tuple[str, str], float] = defaultdict(float)
    for cell in cells:
        of_finding[cell.finding] += cell.weight
    return [replace(cell, weight=cell.weight * min(1.0, MOST_REQUESTS / of_finding[cell.finding])) for cell in cells]


def _cells(one: Judged, believed: KindPrior) -> list[Cell]:
    strata = max(one.strata, *(held.stratum + 1 for held in one.held_out), 1) if one.held_out else one.strata
    prior = believed.prior.given(one.said) if one.said else believed.prior
    split = Split.of(one.judge, replace(one.seen, prior=prior), one.of_seen, strata, believed.unlike)
    found = []
    for held in one.held_out:
        posterior = split.strata[held.stratum]
        lost = float(posterior.states @ LOST)
        if not one.generated:
            odd = float(posterior.rates @ RATES) * (held.filtered + held.groups) / held.filtered
            lost += (1 - lost) * min(odd, 1.0)
        weight = float(min(held.filtered, MOST_REQUESTS))
        found.append(Cell(one.site, one.rule, one.kind, lost, held.lost / held.filtered, weight))
    return found


def bins_of(cells: Sequence[Cell]) -> list[Bin]:
    """Return the bins that any cells are in, those of least predicted loss first."""
    by_bin: defaultdict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_bin[int(np.searchsorted(EDGES, cell.predicted, side="right"))].append(cell)
    return [_bin(by_bin[number]) for number in sorted(by_bin)]


def _bin(cells: Sequence[Cell]) -> Bin:
    weight = np.array([cell.weight for cell in cells])
    observed = np.array([cell.observed for cell in cells])
    predicted = float(np.average([cell.predicted for cell in cells], weights=weight))
    share = float(np.average(observed, weights=weight))
    sites = sorted({cell.site for cell in cells})
    of = np.searchsorted(sites, [cell.site for cell in cells])
    low, high = _bounds(share, np.bincount(of, weight), np.bincount(of, weight * (observed - share)))
    return Bin(len(cells), len({(cell.site, cell.rule) for cell in cells}), len(sites), predicted, share, low, high)


def _bounds(share: float, weight: "np.ndarray", off: "np.ndarray") -> tuple[float, float]:
    """Return the one-sided bounds of a share (Wilson), for as many independent requests as the clusters are worth.

    *weight* is that of each cluster, *off* by how much what was lost in it exceeds the share.
    """
    clusters = float(weight.sum() ** 2 / (weight**2).sum())  # Kish
    variance = float((off**2).sum() / weight.sum() ** 2) * len(weight) / max(len(weight) - 1, 1)
    requests = clusters
    if 0 < share < 1 and variance > 0 and len(weight) > 1:
        requests = min(max(share * (1 - share) / variance, 1.0), float(weight.sum()))
    square = BOUND**2 / requests
    middle = (share + square / 2) / (1 + square)
    half = BOUND / (1 + square) * float(np.sqrt(share * (1 - share) / requests + square / (4 * requests)))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class LogLoss:
    """Mean log loss of a filtered request: of the predictions, and of the base rate of each kind of values."""

    predicted: float
    base: float


def log_loss(cells: Sequence[Cell]) -> LogLoss:
    """Return the log loss of cells; the base rate of a site's cells is that of the other sites, by kind of values."""
    weights: defaultdict[tuple[str, ValueKind], float] = defaultdict(float)
    lost: defaultdict[tuple[str, ValueKind], float] = defaultdict(float)
    for cell in cells:
        for site in (cell.site, ""):
            weights[site, cell.kind] += cell.weight
            lost[site, cell.kind] += cell.weight * cell.observed
    predicted = base = 0.0
    for cell in cells:
        others = weights["", cell.kind] - weights[cell.site, cell.kind]
        rate = (lost["", cell.kind] - lost[cell.site, cell.kind] + 0.5) / (others + 1)
        predicted += cell.weight * _loss(cell.predicted, cell.observed)
        base += cell.weight * _loss(rate, cell.observed)
    total = sum(cell.weight for cell in cells)
    return LogLoss(predicted / total, base / total)


def _loss(share: float, observed: float) -> float:
    share = min(max(share, LEAST), 1 - LEAST)
    return float(-observed * np.log(share) - (1 - observed) * np.log1p(-share))


def checks(bins: Sequence[Bin], loss: LogLoss) -> list[Check]:
    """Return the figures that ``--check`` looks at."""
    found = [Check("log loss less that of the base rate", loss.predicted - loss.base, most=0.0)]
    for each in bins:
        name = f"observed loss where {each.predicted:.4f} is predicted"
        found += [
            Check(f"{name}, lower bound", each.low, most=FACTOR * each.predicted),
            Check(f"{name}, upper bound", each.high, least=each.predicted / FACTOR),
        ]
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, SMALL, SEEDS)
    parser.add_argument("--check", action="store_true", help="exit non-zero where a bin fails, or the log loss")
    parser.add_argument("--by", choices=("kind", "data"), help="tables of each kind of values, or of data, too")
    args = parser.parse_args(argv)
    found = [one for site in chosen(args) for one in judged_proposals(site)]
    if not any(one.held_out for one in found):
        parser.error("there is no proposal in these sites")
    known = Known.of(found)
    fallback = left_out(known)
    names = {one.site for one in found}
    own = _of_all(names, fallback)
    cells = cells_of(found, own)
    bins, loss = bins_of(cells), log_loss(cells)
    _print("Priors learned from the other sites", bins, loss)
    real = _of_all(names, left_out(known, generated=False))
    without = cells_of(found, real)
    _print("Priors learned from other real sites: no generated data", bins_of(without), log_loss(without))
    if args.by:
        for part in sorted({_part(one, args.by) for one in found}):
            some = cells_of([one for one in found if _part(one, args.by) == part], own)
            if some:
                _print(f"Of them: {part}", bins_of(some), log_loss(some))
    return report(checks(bins, loss)) if args.check else 0


def _of_all(names: Iterable[str], priors: Mapping[str, Priors]) -> dict[str, Priors]:
    """Return the priors of all sites: of one of which nothing is known, those of any."""
    some = next(iter(priors.values()))
    return {name: priors.get(name, some) for name in names}


def _part(one: Judged, by: str) -> str:
    return one.kind.value if by == "kind" else one.data


def _print(title: str, bins: Sequence[Bin], loss: LogLoss) -> None:
    rows = [
        (
            *(each.cells, each.rules, each.sites),
            *(f"{figure:.4f}" for figure in (each.predicted, each.observed, each.low, each.high)),
            each.fault,
        )
        for each in bins
    ]
    columns = ("strata", "rules", "sites", "predicted", "observed", "95 % low", "95 % high", "")
    print_table(title, columns, rows, left=0, width=110)
    print(f"log loss {loss.predicted:.4f}, of the base rate of the kind of values {loss.base:.4f}")


if __name__ == "__main__":
    sys.exit(main())
