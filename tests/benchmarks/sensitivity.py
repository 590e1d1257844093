"""How much each number of the configuration matters: each is halved and doubled.

    python -m tests.benchmarks.sensitivity [--worlds DIR] [--labelled FILE...] [--only FIELD...]

A figure is the share of the duplicates that is removed from one kind of data: random small sites, made-up sites (quiet and with
noise), worlds, labelled sets (with 1 % of odd labels). Beside each stand the pages that are lost. A field that moves a
figure by more than a tenth of it is named, and so is one that moves nothing. The learned priors and the user's budget are shown
beside, and exempt.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from scrapy_dedup import learn_rules
from scrapy_dedup.learning.config import Config, using

from .fitting.known_sites import NOISE, KnownSite, add_arguments, labelled, made_up, small, worlds
from .scoring.score import Score, pooled, score
from .scoring.table import print_table

MOVED = 0.1
"""Share of a figure by which no field may move it."""
ODD = 0.01
MAX_LOSS = 0.001
BUDGET = "the user's budget"


@dataclass(frozen=True, slots=True)
class Figure:
    """What is removed from one kind of data, and lost of it."""

    removed: float
    lost: int

    def is_moved(self, base: "Figure") -> bool:
        """Whether it is another one than *base* by more than a tenth."""
        return abs(self.removed - base.removed) > MOVED * base.removed


Figures = Mapping[str, Figure]


def figures(data: Mapping[str, Sequence[KnownSite]], config: Config, max_loss: float = MAX_LOSS) -> Figures:
    """Return the figure of each kind of data, learned with a configuration."""
    with using(config):
        return {name: figure_of(_scored(site, max_loss) for site in sites) for name, sites in data.items()}


def _scored(site: KnownSite, max_loss: float) -> Score:
    book = learn_rules([known.observation for known in site.train], max_loss=max_loss)
    return score([book.canonical_key(url) for url, _ in site.test], [page for _, page in site.test])


def figure_of(found: Iterable[Score]) -> Figure:
    """Return what is removed from some sites, and lost of them."""
    whole = pooled(found)
    return Figure(whole.oracle_compression or 0.0, whole.lost)


def varied(config: Config, name: str, factor: float) -> Config | None:
    """Return a configuration with one field times a factor (shares at most 1); None where it stays as it is."""
    value = getattr(config, name)
    other = value * factor
    if isinstance(value, int):
        other = max(1, round(other))
    elif value < 1:
        other = min(other, 1.0)
    return None if other == value else replace(config, **{name: other})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, 1 where a field moves a figure by more than a tenth."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.sensitivity",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, 30, 1)
    parser.add_argument("--only", nargs="+", metavar="FIELD", choices=[field.name for field in fields(Config)])
    parser.add_argument("--sites", nargs="+", default=[], metavar="NAME", help="made-up sites, all by default (D2, T3)")
    args = parser.parse_args(argv)
    data = _data(args)
    rows: list[Sequence[object]] = []
    base = figures(data, Config())
    rows.append(("as it is", "", *map(_cell, base.values()), ""))
    moving = 0
    tried: list[tuple[str, Config, float]] = []
    for name, value in asdict(Config()).items():
        if args.only is None or name in args.only:
            for factor in (0.5, 2.0):
                config = varied(Config(), name, factor)
                if config is not None:
                    tried.append((f"{name} {value:g}", config, MAX_LOSS))
    tried += [(BUDGET, Config(), MAX_LOSS * factor) for factor in (0.5, 2.0) if args.only is None]
    for name, config, max_loss in tried:
        found = figures(data, config, max_loss)
        moved = [kind for kind, figure in found.items() if figure.is_moved(base[kind])]
        said = ", ".join(moved) if moved else "nothing" if found == base else ""
        moving += bool(moved) and name != BUDGET
        value = max_loss if name == BUDGET else getattr(config, name.split()[0])
        rows.append((name, f"{value:g}", *map(_cell, found.values()), said))
        print(
            f"{name} -> {value:g}: " + ", ".join(map(_cell, found.values())) + f" {said}", file=sys.stderr, flush=True
        )
    title = "Removed share of the duplicates, and pages lost, where a field is halved and doubled"
    print_table(title, ("field", "value", *data, "moves"), rows, width=170)
    return int(moving > 0)


def _data(args: argparse.Namespace) -> dict[str, list[KnownSite]]:
    seeds = range(args.seeds)
    data = {
        "small, quiet": list(small(range(args.small))),
        "small, noise": list(small(range(args.small), NOISE)),
        "made-up": [site for seed in seeds for site in made_up(seed, NOISE * (seed % 2), args.sites)],
        "worlds": [site for seed in seeds for site in worlds(args.worlds, seed)] if args.worlds else [],
        "labelled": [labelled(path, ODD) for path in [*args.labelled]],
    }
    return {name: sites for name, sites in data.items() if sites}


def _cell(figure: Figure) -> str:
    return f"{figure.removed:.3f} {figure.lost:>3}"


if __name__ == "__main__":
    sys.exit(main())
