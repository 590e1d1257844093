"""All methods on made-up sites whose truth is known.

    python -m tests.benchmarks.synthetic [--level L0..L4]... [--seeds N] [--methods a,b] [--json] [--check]

A level is one site or many (see ``tests/benchmarks/sites/levels.py``). Methods learn from a part of the
crawl's pages and are scored on pages that they never saw. ``--train .2`` learns from a fifth, and from
100,000 URLs at most, as the pattern-tree paper does; ``--train 1`` from the whole crawl, and scores on
it. ``--noise .03`` and ``--clusters .8`` spoil what is learned from, never what is scored; ``--check`` then compares
with the same sites unspoiled.
``--show`` says what each method failed at, and how much it had to learn from.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from .command import Arguments, Command, comma_separated, flag, option
from .methods.compared import Learn, asked_for, pipeline
from .scoring.checks import Check, print_table, rate
from .scoring.score import Score, averages, mean
from .scoring.score import pooled as pooled_scores
from .scoring.trials import PARTS, TRUTH, UNSEEN, WHOLE, Grade, Marks, Training, Trial, trials
from .sites.levels import LEVELS, TRAINING, level_knobs, sites_of
from .sites.model import Knobs

PIPELINE = "pipeline"
LEAST_COMPRESSION = 0.90
"""Oracle-normalised compression on unseen pages that ``--check`` asks of the pipeline, micro average of
the levels L0 to L3."""
PAPER = ("pattern tree, graph", "pattern tree, naive", "fan-out 5", "fan-out 10")
"""The published methods in the order of their compression, as the pattern-tree paper has it."""
MOST_LOST_RATE = 0.001
"""Pages that ``--check`` lets the pipeline lose, of all, beyond those that the rules of truth lose (T8:
Scrapy's canonical form is below all rules); at L4, whose content is noisy, three times as many."""
OF_CLEAN = 0.90
"""What ``--check`` asks of a spoiled site, as a share of what is compressed of the same site unspoiled: up to a noise of
:data:`MOST_NOISE`, and down to as many duplicates found as :data:`LEAST_FOUND`. Beyond, only the losses are asked."""
MOST_NOISE = 0.03
LEAST_FOUND = 0.8
SHARES, NUMBERS = ("noise", "clusters", "missing", "again", "ratio", "rare", "singles"), ("pages", "junk", "mega")
"""The knobs that options set."""
PASSED = (("phenomena", "passed"), ("traps", "passed"), ("rules", "recovered"))


def run(
    level: str,
    seed: int,
    *,
    methods: dict[str, Learn],
    knobs: Knobs,
    training: Training,
    part: str,
    only: Sequence[str],
) -> list[Trial]:
    """Every method on every site of a level."""
    share = training.share if training.share is not None else TRAINING.get(level)
    given = replace(training, share=share)
    return [
        trial
        for site in sites_of(level, seed, level_knobs(level, knobs), only)
        for trial in trials(level, site, methods, given, part)
    ]


def pooled(found: Sequence[Trial], part: str | None = None) -> Score:
    """The counts of several trials, added up."""
    return pooled_scores(trial.scores[part or trial.part] for trial in found)


def total(values: Sequence[int | None]) -> int | None:
    """The sum of counts, None where there are none."""
    present = [value for value in values if value is not None]
    return sum(present) if present else None


def summary(found: Sequence[Trial]) -> dict[str, Any]:
    """All figures of one method over several sites: micro over the URLs, macro over the sites."""
    marks = Marks.of(grade for trial in found for grade in trial.grades)
    return {
        **averages(trial.headline for trial in found),
        "parts": {name: pooled(found, name).figures() for name in PARTS},
        "marks": asdict(marks) | dict(marks.shares()),
        "rules": {name: total([getattr(trial, name) for trial in found]) for name in ("raw", "qualified", "deployed")},
        "learned_urls": sum(trial.learned_urls for trial in found),
        "errors": sum(trial.errors for trial in found),
    }


def by_method(found: Sequence[Trial], level: str) -> dict[str, list[Trial]]:
    """The trials of a level, by method, in order."""
    groups: dict[str, list[Trial]] = {}
    for trial in found:
        if trial.level == level:
            groups.setdefault(trial.method, []).append(trial)
    return groups


def as_json(found: Sequence[Trial], levels: Sequence[str], notes: Sequence[str]) -> dict[str, Any]:
    """Everything measured, as one JSON object."""
    return {
        "levels": {
            level: {method: summary(trials) for method, trials in by_method(found, level).items()} for level in levels
        },
        "trials": [
            {
                "level": trial.level,
                "seed": trial.seed,
                "site": trial.site,
                "method": trial.method,
                "scores": {name: scores.figures() for name, scores in trial.scores.items()},
                "failed": [grade.endpoint for grade in trial.grades if not grade.passed],
                "endpoints": {
                    grade.endpoint: {
                        "merged": grade.share,
                        "wrong": grade.wrong,
                        "lost": grade.lost,
                        "passed": grade.passed,
                        "oracle_compression": grade.scores.oracle_compression,
                    }
                    for grade in trial.grades
                },
            }
            for trial in found
        ],
        "left_out": list(notes),
    }


def print_level(found: Sequence[Trial], level: str, part: str) -> None:
    """Print the table of one level."""
    columns = ("method", "oracle-norm.", "macro", "compr.", "dup-red.", "fpr", "lost", "avoidable", "lost rate", "hard")
    columns += ("D passed", "T passed", "rules", "raw/qual./depl.", "errors")
    rows: list[Sequence[object]] = []
    for method, of_method in by_method(found, level).items():
        row = summary(of_method)
        micro, marks, rules = row["micro"], row["marks"], row["rules"]
        counted = [rules[name] for name in ("raw", "qualified", "deployed")]
        rows.append(
            (
                *(method, micro["oracle_compression"], row["macro"]["oracle_compression"], micro["compression"]),
                *(micro["dup_reduction"], rate(micro["false_positive_rate"], 4), micro["lost"], marks["lost_beyond"]),
                *(rate(micro["lost_rate"], 4), marks["hard_lost"]),
                *(f"{marks[f'{name}_{passed}']}/{marks[name]}" for name, passed in PASSED),
                *("/".join("-" if count is None else str(count) for count in counted), row["errors"]),
            )
        )
    first = next(trial for trial in found if trial.level == level)
    scores = pooled([trial for trial in found if trial.level == level and trial.method == first.method])
    caption = f"{scores.urls} URLs of {scores.pages} pages scored"
    print_table(f"{level}, scored on {part} pages", columns, rows, caption=caption, width=200)


def print_failures(found: Sequence[Trial], level: str, examples: int) -> None:
    """Print, for each method, the phenomena and traps that it did not pass."""
    for method, of_method in by_method(found, level).items():
        failed: dict[str, list[Grade]] = {}
        for trial in of_method:
            for grade in trial.grades:
                if not grade.passed:
                    failed.setdefault(grade.endpoint, []).append(grade)
        print(f"{level} {method}: {len(failed)} not passed")
        for name in sorted(failed, key=lambda name: (name[0], int(name[1:]))):
            some = failed[name]
            merged = mean(grade.share for grade in some)
            wrong, lost = sum(grade.wrong for grade in some), sum(grade.lost for grade in some)
            shown = [trial.evidence[name] for trial in of_method if name in trial.evidence]
            pages, spoiled = (sum(counts) for counts in zip(*shown, strict=True)) if shown else (0, 0)
            learned = f"learned from {pages} pages under several URLs, {spoiled} of them spoiled"
            print(f"  {name:4} merged {rate(merged)} wrong {wrong} lost {lost}, {learned}")
        for trial in of_method:
            for url, stand_in, key in trial.lost[:examples]:
                print(f"  lost   {url[:200]}\n  taken  {stand_in[:200]}\n  key    {key[:200]}")
            step = max(len(trial.missed) // max(examples, 1), 1)
            for url, twin in trial.missed[::step][:examples]:
                print(f"  again  {url[:200]}\n  after  {twin[:200]}")


def checks(
    found: Sequence[Trial], levels: Sequence[str], knobs: Knobs, clean: Sequence[Trial] | None = None
) -> list[Check]:
    """What ``--check`` asks of the pipeline; *clean* is what it did on the same sites where nothing was spoiled."""
    wanted = []
    for level in levels:
        of_pipeline = by_method(found, level).get(PIPELINE, [])
        if not of_pipeline:
            continue
        row = summary(of_pipeline)
        scores, marks = pooled(of_pipeline), row["marks"]
        noisy = level == "L4"
        if not noisy:
            name = f"{level} oracle-normalised compression"
            if clean is None:
                wanted.append(Check(name, scores.oracle_compression, least=LEAST_COMPRESSION))
            elif knobs.noise <= MOST_NOISE and knobs.clusters >= LEAST_FOUND:
                unspoiled = pooled(by_method(clean, level)[PIPELINE]).oracle_compression or 1.0
                share = (scores.oracle_compression or 0.0) / unspoiled
                wanted.append(Check(f"{name}, of that of clean sites", share, least=OF_CLEAN))
            wanted.append(Check(f"{level} pages lost on hard traps", marks["hard_lost"], most=0))
        most = 3 * MOST_LOST_RATE if noisy else MOST_LOST_RATE
        wanted.append(Check(f"{level} lost-page rate", marks["lost_beyond"] / max(scores.pages, 1), most=most))
        wanted.append(Check(f"{level} exceptions", row["errors"], most=0))
        wanted += compared(found, level)
    return wanted


def compared(found: Sequence[Trial], level: str) -> list[Check]:
    """That the published methods stand in their order."""
    rows = {name: summary(trials) for name, trials in by_method(found, level).items()}
    wanted = []
    # On few phenomena the order is a matter of chance.
    published = [name for name in PAPER if name in rows] if level in ("L2", "L3") else []
    for one, other in pairwise(published):
        compression = rows[one]["micro"]["compression"] - rows[other]["micro"]["compression"]
        wanted.append(Check(f"{level} compression, {one} less {other}", compression, least=0))
    return wanted


@dataclass(frozen=True, slots=True)
class Found:
    """All trials, notes on what is left out, the knobs, and the part that is scored; *clean*: the trials of the sites unspoiled."""

    trials: list[Trial]
    notes: Sequence[str]
    knobs: Knobs
    part: str
    clean: list[Trial] | None


def measured(args: Arguments) -> Found:
    """Measure the methods on the levels that are asked for."""
    knobs = Knobs(**{name: value for name in (*SHARES, *NUMBERS) if (value := getattr(args, name)) is not None})
    part = args.part or (WHOLE if args.train == 1 else UNSEEN)
    methods, notes = asked_for(args.methods, {TRUTH: pipeline})

    def trials_of(levels: Sequence[str], methods: dict[str, Learn], knobs: Knobs) -> list[Trial]:
        given = {"knobs": knobs, "training": Training(args.train, args.by_url), "part": part, "only": args.only}
        runs = (run(level, seed, methods=methods, **given) for level in levels for seed in range(args.seeds))
        return [trial for found in runs for trial in found]

    clean = None
    if args.check and (knobs.noise or knobs.clusters < 1):
        unspoiled = replace(knobs, noise=0.0, clusters=1.0)
        levels = [level for level in args.level or ["L3"] if level != "L4"]  # which is noisy in any case
        clean = trials_of(levels, {PIPELINE: pipeline}, unspoiled)
    return Found(trials_of(args.level or ["L3"], methods, knobs), notes, knobs, part, clean)


def show(args: Arguments, found: Found) -> None:
    """Print the table of each level, what failed if that is asked for, and what was left out."""
    for level in args.level or ["L3"]:
        print_level(found.trials, level, found.part)
        if args.show is not None:
            print_failures(found.trials, level, args.show)
    for note in found.notes:
        print(f"left out  {note}")


main = Command(
    __doc__,
    [
        option("--level", action="append", choices=LEVELS, help="may be given again; L3 if none is"),
        option("--seeds", type=int, default=1, metavar="N", help="seeds 0 to N - 1"),
        option("--methods", default="all", metavar="A,B", help="some of the methods"),
        option("--only", type=comma_separated, default=(), metavar="D4,T1", help="a site for each of these"),
        option("--train", type=float, metavar="SHARE", help="share of the rows that is learned from"),
        flag("--by-url", "the share is one of URLs, not of pages"),
        option("--part", choices=PARTS, help="what is scored: unseen (with --train 1: whole)"),
        *(option(f"--{name}", type=float, metavar="SHARE") for name in SHARES),
        *(option(f"--{name}", type=int, metavar="N") for name in NUMBERS),
        option("--show", type=int, metavar="N", help="what failed, with N examples a site"),
    ],
    measure=measured,
    show=show,
    as_json=lambda args, found: as_json(found.trials, args.level or ["L3"], found.notes),
    checks=lambda args, found: checks(found.trials, args.level or ["L3"], found.knobs, found.clean),
)

if __name__ == "__main__":
    sys.exit(main())
