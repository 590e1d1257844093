"""Figures of all benchmarks, frozen in a file, and compared with those of today.

    python -m tests.benchmarks.baseline --compare [--data DIR] [--only NAME...] [--today FILE]
    python -m tests.benchmarks.baseline --freeze [--data DIR] [--only NAME...] [--today FILE]

Runs the benchmarks of the table below, one after the other, and takes figures out of what each prints. ``--compare`` prints one
table of those that differ from ``baseline.json`` by more than their tolerance, and exits with 1 if one is worse or gone, or
a benchmark failed; ``--freeze`` writes them into that file, each benchmark's as it ends, and leaves the others there as they are.

``--only`` takes names of the table, or their beginnings up to a comma. What needs recorded sites, labelled sets, worlds or the
scripts of cases is left out unless ``--data`` names the folder that has them (``sites/``, ``data/urls/``, ``worlds/``,
``repro/cases/``); the sites in ``recorded_sites/`` beside this file need none. ``--today`` names a file that keeps what a run has
found: what is in it is not run again, so that a run that was interrupted goes on. Figures of time are those of one machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter
from typing import Any

from .baseline_table import Benchmark, Figures, benchmarks
from .crawling.serving import ROOT
from .scoring.checks import print_table

FILE = Path(__file__).with_suffix(".json")
LONGEST = 3600
"""Seconds after which a benchmark has failed."""

Entry = dict[str, Any]
"""What is kept of a benchmark: ``figures``, the last ``commit`` to the package, and what it took: ``seconds``, ``cpu``."""


class Failed(Exception):
    """Why there are no figures of a benchmark."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a figure may move before it is told: *amount*, or *share* of it. *better*: 1 where more is better, -1 where less."""

    better: int
    amount: float = 0.0
    share: float = 0.0

    def of(self, frozen: float) -> float:
        """The tolerance of a figure."""
        return max(self.amount, self.share * abs(frozen))

    def verdict(self, frozen: float | None, today: float | None) -> str:
        """What a figure is: "better", "worse", "new" or "gone"; nothing where it is within tolerance."""
        if frozen is None or today is None:
            return "new" if frozen is None else "gone"
        gain = (today - frozen) * self.better
        return "" if abs(gain) <= self.of(frozen) + 1e-9 else "better" if gain > 0 else "worse"


TOLERANCES: Mapping[str, Tolerance] = {
    "share": Tolerance(1, 0.02),
    "passed": Tolerance(1),
    "rules": Tolerance(1),
    "lost": Tolerance(-1),
    "wrong": Tolerance(-1),
    "shown": Tolerance(-1, 0.02),
    "downloads": Tolerance(-1, 2, 0.02),
    "downloads in real time": Tolerance(-1, 2, 0.4),  # when rules come depends on the machine
    "trips": Tolerance(-1, 0.1, 0.15),
    "time": Tolerance(-1, 0, 0.15),
    "bytes": Tolerance(-1, 0, 0.02),
}
"""By the kind of a figure, with which its name ends."""


def kind_of(figure: str) -> str:
    """The kind of a figure."""
    return figure.rpartition(": ")[2]


def run(benchmark: Benchmark) -> Figures:
    """Run a benchmark; return its figures. Raises Failed."""
    with tempfile.TemporaryDirectory(prefix="baseline-") as scratch:
        try:
            done = subprocess.run(
                [sys.executable, *benchmark.command],
                cwd=ROOT,
                env={**os.environ, "TMPDIR": scratch},
                stdout=subprocess.PIPE,
                text=True,
                timeout=LONGEST,
                check=False,
            )
            printed = json.loads(done.stdout) if "--json" in benchmark.command else done.stdout
            found = {name: round(float(value), 5) for name, value in benchmark.figures(printed).items()}
        except (subprocess.TimeoutExpired, ValueError, LookupError, TypeError) as error:
            raise Failed(f"{type(error).__name__}: {error}"[:300]) from error
    if not found:
        raise Failed(f"no figure in what was printed; exit code {done.returncode}")
    return found


def entry(benchmark: Benchmark) -> Entry:
    """Run a benchmark; return what is kept of it. Raises Failed."""
    start, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    figures = run(benchmark)
    after = getrusage(RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    log = ("git", "log", "-1", "--format=%h", "--", "scrapy_dedup")
    commit = subprocess.run(log, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    return {"commit": commit, "seconds": round(perf_counter() - start), "cpu": round(cpu), "figures": figures}


def read(path: Path | None) -> dict[str, Entry]:
    """What a file keeps; nothing where there is none."""
    return json.loads(path.read_text("utf-8")) if path is not None and path.exists() else {}


def write(path: Path, entries: Mapping[str, Entry], order: Iterable[str]) -> None:
    """Write entries in the *order* of the table; what that lacks comes last."""
    kept = {name: entries[name] for name in dict.fromkeys((*order, *entries)) if name in entries}
    path.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


def differences(frozen: Figures, today: Figures) -> Iterator[tuple[str, float | None, float | None, str]]:
    """Each figure with its value in the file and today's, and what it is (:meth:`Tolerance.verdict`)."""
    for figure in dict.fromkeys((*frozen, *today)):
        before, now = frozen.get(figure), today.get(figure)
        yield figure, before, now, TOLERANCES[kind_of(figure)].verdict(before, now)


def compare(
    frozen: Mapping[str, Entry], today: Mapping[str, Entry], left_out: Sequence[str], failed: Sequence[str]
) -> int:
    """Print what differs by more than its tolerance, and how many figures there are; return the exit code."""
    rows: list[Sequence[object]] = []
    counts: Counter[str] = Counter()
    for name, found in today.items():
        for figure, before, now, verdict in differences(frozen.get(name, {}).get("figures", {}), found["figures"]):
            counts[verdict] += 1
            if verdict:
                change = f"{now - before:+.4g}" if before is not None and now is not None else ""
                values = ("-" if each is None else f"{each:.5g}" for each in (before, now))
                tolerance = "" if before is None else f"{TOLERANCES[kind_of(figure)].of(before):.3g}"
                rows.append((f"{name}; {figure}", *values, change, tolerance, verdict))
    columns = ("figure", "frozen", "today", "difference", "tolerance", "")
    if rows:
        print_table("Figures that differ by more than their tolerance", columns, rows, width=150)
    told = [f"{counts[verdict]} {verdict}" for verdict in ("better", "worse", "new", "gone") if counts[verdict]]
    said = [f"{counts.total()} figures of {len(today)} benchmarks compared", f"{counts['']} within tolerance", *told]
    said += [
        f"{what}: {'; '.join(names)}"
        for what, names in (("left out for lack of data", left_out), ("failed", failed))
        if names
    ]
    print(", ".join(said))
    return int(bool(counts["worse"] or counts["gone"] or failed))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and compare or freeze; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.baseline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--compare", action="store_true", help="print which figures differ from those of the file")
    what.add_argument("--freeze", action="store_true", help="write today's figures into the file")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where recorded sites, labelled sets, worlds and cases are"
    )
    parser.add_argument(
        "--only", nargs="+", action="extend", metavar="NAME", help="benchmarks, or beginnings of their names"
    )
    parser.add_argument(
        "--today", type=Path, metavar="FILE", help="keeps what is found; what is in it is not run again"
    )
    options = parser.parse_args(arguments)
    frozen, today = read(FILE), read(options.today)
    table = benchmarks(options.data.resolve() if options.data is not None else None)

    def is_asked(name: str) -> bool:
        return not options.only or any(f"{name},".startswith(f"{each},") for each in options.only)

    asked = [name for name in table if is_asked(name)]
    left_out = [name for name in frozen if name not in table and is_asked(name)]
    if not asked and not left_out:
        parser.error(f"no such benchmark; there are: {'; '.join(table)}")
    failed = []
    for name in asked:
        if name not in today:
            try:
                today[name] = entry(table[name])
            except Failed as error:
                failed.append(name)
                print(f"{name} failed: {error}", file=sys.stderr, flush=True)
                continue
            print(f"{name}: {today[name]['seconds']} s, {today[name]['cpu']} s of CPU", file=sys.stderr, flush=True)
            if options.today is not None:
                write(options.today, today, table)
        if options.freeze:
            frozen[name] = today[name]
            write(FILE, frozen, table)
    if options.freeze:
        print(f"{len(asked) - len(failed)} benchmarks frozen" + (f", failed: {'; '.join(failed)}" if failed else ""))
        return int(bool(failed))
    return compare(frozen, {name: today[name] for name in asked if name in today}, left_out, failed)


if __name__ == "__main__":
    sys.exit(main())
