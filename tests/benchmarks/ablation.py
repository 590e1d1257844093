"""What each step of learning is needed for: each is left out by itself, and all sites are learned without it.

    python -m tests.benchmarks.ablation [--worlds DIR] [--labelled FILE...] [--only STEP...]

A figure is the removed share of the duplicates of one kind of data, and the pages lost, as in :mod:`.sensitivity`. The kinds are
tried in turn, up to the first whose figure moves; a step without which none moves is not needed by them. A second crawl learns
beside the rules of a first one, from what these let through.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from scrapy_dedup import learn_rules
from scrapy_dedup.learning.decision.divisions import by_sections
from scrapy_dedup.learning.lifetime.incumbents import Settled

from .fitting.known_sites import NOISE, KnownSite, add_arguments, labelled, made_up, recorded, small, worlds
from .scoring.score import Score, score
from .scoring.table import print_table
from .sensitivity import MAX_LOSS, ODD, Figure, figure_of

LEARNING = "scrapy_dedup.learning"
NONE = "as it is"
SECOND = "small, second crawl"

Replacement = tuple[str, Callable[..., Any]]
"""A function, as module of :mod:`scrapy_dedup.learning` and name, and what takes its place."""


def _first(found: Any, *_: Any, **__: Any) -> Any:
    return found


def _empty(*_: Any, **__: Any) -> list[Any]:
    return []


def _of_nothing(*_: Any, **__: Any) -> dict[Any, Any]:
    return {}


def _no_rows(rows: Sequence[Any], *_: Any) -> Any:
    return np.zeros(len(rows), dtype=np.bool_)


STEPS: Mapping[str, Sequence[Replacement]] = {
    "constant pages": [("search.constant_pages.constant_pages", lambda frame, _: ([], _no_rows(frame)))],
    "guards": [("search.guards.best_guard", lambda *_, **__: None)],
    "linked directories": [
        ("search.linked_directories.linked_directories", _empty),
        ("search.linked_directories.in_linked_directories", _no_rows),
    ],
    "nested URLs": [("search.nested_urls.nested_urls", _empty)],
    "forms of URLs": [("learners.replacing.proposals", _empty)],
    "orders of keys": [("search.orders.any_orders", _empty)],
    "names of facets": [("search.orders.kept_names", _empty)],
    "values": [("search.recoding.recode", _empty)],
    "values: shapes": [("search.shapes.values_alike", _empty)],
    "values: sets": [("search.value_sets.sets_of_values", _empty)],
    "class guards": [("decision.class_guards.with_open_lengths", _first)],
    "first letters": [("decision.first_letters.first_letter_unless_tested", _first)],
    "numbers of any size": [("decision.named_values.of_any_number", _first)],
    "strata": [("decision.strata.narrowed", _first)],
    "divisions by keys": [("decision.divisions.divisions_of", lambda table: [by_sections(table)])],
    "validation": [("decision.validation.validated", _first)],
    "budget": [("decision.validation.within_budget", _first)],
    "families of names": [("learners.affixes.wider_families", _empty)],
    "spellings": [("learners.casing.wider_spellings", _empty)],
    "soft errors": [("data.soft_errors.soft_errors", _no_rows)],
    "tokens of values": [("site_evidence.deep_splits", _of_nothing)],
    "tokens: by pages": [("data.value_tokens.significant_splits", _of_nothing)],
    "tokens: lists": [("data.value_tokens.lists_of_values", _of_nothing)],
    "opinions": [("opinions.said.said_of", _of_nothing)],
    "other sites": [("opinions.other_sites.priors_by_site", _of_nothing)],
    "incumbents": [
        (
            "lifetime.incumbents.with_incumbents",
            lambda fresh, _before, _sample, deep, *_, **__: Settled(list(fresh), deep),
        )
    ],
}


@contextmanager
def without(step: str) -> Iterator[None]:
    """Leave a step out, wherever its functions were imported to."""
    undo: list[tuple[Any, str, Any]] = []
    for path, other in STEPS.get(step, ()):
        module, name = path.rsplit(".", 1)
        function = getattr(import_module(f"{LEARNING}.{module}"), name)
        for place in [each for key, each in sys.modules.items() if key.startswith("scrapy_dedup")]:
            undo += [(place, key, function) for key, value in vars(place).items() if value is function]
        for place, key, _ in undo:
            if getattr(place, key) is function:
                setattr(place, key, other)
    try:
        yield
    finally:
        for place, key, function in undo:
            setattr(place, key, function)


def figure(sites: Sequence[KnownSite], step: str = NONE, *, second: bool = False) -> Figure:
    """Return the figure of one kind of data, learned without a step; of a second crawl if asked."""
    with without(step):
        return figure_of(_scored(site, second=second) for site in sites)


def _scored(site: KnownSite, *, second: bool) -> Score:
    seen = [known.observation for known in site.train]
    if second:
        half = len(seen) // 2
        book = learn_rules(seen[:half], max_loss=MAX_LOSS)
        fetched = {book.canonical_key(each.url): each for each in reversed(seen[half:])}
        book = learn_rules(fetched.values(), max_loss=MAX_LOSS, known=book)
    else:
        book = learn_rules(seen, max_loss=MAX_LOSS)
    return score([book.canonical_key(url) for url, _ in site.test], [page for _, page in site.test])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, 0."""
    every = list(STEPS)
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, 24, 1)
    parser.add_argument("--only", nargs="+", metavar="STEP", choices=every, default=every)
    args = parser.parse_args(argv)
    data = {name: sites for name, sites in _data(args).items() if sites}
    base = {name: figure(sites, second=name == SECOND) for name, sites in data.items()}
    rows: list[Sequence[object]] = []
    for name, known in base.items():
        rows.append((NONE, name, f"{known.removed:.4f}", known.lost))
    for step in args.only:
        row = (step, "none", "", "")
        for name, sites in data.items():
            found = figure(sites, step, second=name == SECOND)
            if found != base[name]:
                row = (step, name, f"{found.removed - base[name].removed:+.4f}", f"{found.lost - base[name].lost:+d}")
                break
        print(*row, file=sys.stderr, flush=True)
        rows.append(row)
    columns = ("without", "first figure that moves", "removed", "lost")
    print_table("What each step of learning is needed for", columns, rows, left=2, width=120)
    return 0


def _data(args: argparse.Namespace) -> dict[str, list[KnownSite]]:
    quiet, seeds = list(small(range(args.small))), range(args.seeds)
    return {
        "made-up": [site for seed in seeds for site in made_up(seed)],
        "small, quiet": quiet,
        "small, noise": list(small(range(args.small), NOISE)),
        "labelled": [labelled(path, ODD) for path in args.labelled],
        SECOND: quiet,
        "worlds": [site for seed in seeds for site in worlds(args.worlds, seed)] if args.worlds else [],
        "worlds, odd": [site for seed in seeds for site in worlds(args.worlds, seed, ODD)] if args.worlds else [],
        "recorded": [_whole(recorded(path)) for path in args.recorded],
    }


def _whole(site: KnownSite) -> KnownSite:
    """Return a site that is learned and scored as a whole: half of a directory is no directory."""
    known = site.everything()
    return replace(site, train=known, test=[(each.observation.url, each.page) for each in known])


if __name__ == "__main__":
    sys.exit(main())
