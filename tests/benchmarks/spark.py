"""Learning with Spark and on one machine, from the same records: records per second, of processors too, and equal rule files.

    python -m tests.benchmarks.spark [--records 16000] [--sites 2000] [--sizes 3] [--cores 2]

Records are made up, of as many sites, one of which has half of all. Spark runs in local mode with --cores workers; it learns a quarter of the records,
half of them and all (--sizes 3), so that the rates say whether it is linear. --records 3000000 is the full run. Needs pyspark and Java.
Each way runs in a process of its own; the seconds of processors are those of all that it starts, from the start.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

from ..spark_session import local_spark
from .command import Arguments, Command, option, parsed, scratch
from .crawling.serving import ROOT
from .imports import BEGAN, COPIES
from .scoring.checks import print_table


@dataclass(slots=True)
class Run:
    """What learning took, and the rule file of each site."""

    records: int
    seconds: float
    files: dict[str, str] = field(default_factory=dict)
    processor: float = 0.0
    """Seconds of processors: the same whatever else the machine does."""


def rows(records: int, sites: int) -> Iterator[tuple[str, str, float]]:
    """Yield (URL, digest, time): each page under two session ids; each second record is of one site, the others of all in turn."""
    for number in range(records):
        site, of_site = (0, number // 2) if number % 2 else (1 + number // 2 % (sites - 1), number // 2 // (sites - 1))
        page, copy = divmod(of_site, COPIES)
        sid = (number * 2654435761 + copy) % (1 << 64)
        yield f"http://site{site}.test/view?id={page}&sid={sid:016x}", f"{site:016x}{page:016x}", float(BEGAN + number)


def write(path: Path, records: int, sites: int) -> None:
    """Write the records as a file of Parquet, in groups that workers read in parallel."""
    import pyarrow
    from pyarrow import parquet

    columns = dict(zip(("url", "fingerprint", "time"), zip(*rows(records, sites), strict=True), strict=True))
    parquet.write_table(pyarrow.table(columns), path, row_group_size=max(1, records // 16))


def with_spark(path: Path, folder: Path, cores: int) -> Run:
    """Learn with Spark in local mode, in this process."""
    from scrapy_dedup.spark import learn

    with local_spark(
        folder, cores, spark__driver__memory="1g", spark__sql__shuffle__partitions=f"{8 * cores}"
    ) as session:
        observations = session.read.parquet(str(path))
        records = observations.count()
        start = perf_counter()
        found = learn(observations).collect()
        seconds = perf_counter() - start
    if faults := [row.problem for row in found if row.problem]:
        raise RuntimeError(f"{len(faults)} sites were not learned: {faults[0]}")
    return Run(records, seconds, {row.site: row.text for row in found if row.text})


def on_one_machine(path: Path, folder: Path) -> Run:
    """Learn as ``scrapy learn-rules --from`` does, in this process."""
    from scrapy_dedup.learning.alternation import learn_rules_and_masks
    from scrapy_dedup.learning.imported import ImportedEvidence
    from scrapy_dedup.learning.saving import save
    from scrapy_dedup.rules import RuleBook
    from scrapy_dedup.rules.files import path_of_site
    from scrapy_dedup.sources.reading import Reading

    reading = Reading([str(path)])
    start = perf_counter()
    with ImportedEvidence() as evidence:
        evidence.add_all(reading.observations())
        both = learn_rules_and_masks(evidence, known=RuleBook())
    seconds = perf_counter() - start
    save(both, folder / "rules")
    files = {site: path_of_site(folder / "rules", site).read_text() for site in both.learned.book.sites}
    return Run(reading.records, seconds, files)


def measure(how: str, path: Path, cores: int) -> Run:
    """Learn in a process of its own. Raises RuntimeError."""
    with scratch() as folder:
        command = [sys.executable, "-m", "tests.benchmarks.spark", "--cores", str(cores)]
        before = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, "--run", how, str(path), str(folder)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{how} failed:\n{done.stderr[-6000:]}")
        after = getrusage(RUSAGE_CHILDREN)
        run = Run(**json.loads((folder / "run.json").read_text()))
        run.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return run


def measured(args: Arguments) -> list[tuple[str, Run]]:
    """Learn records of growing numbers with Spark, and the last ones on one machine."""
    runs = []
    with scratch() as folder:
        for size in range(args.sizes):
            records = args.records >> (args.sizes - 1 - size)
            path = folder / f"{records}.parquet"
            write(path, records, max(2, min(args.sites, records // 8)))
            runs.append(("Spark", measure("spark", path, args.cores)))
        runs.append(("one machine", measure("one", path, args.cores)))
    return runs


def show(runs: list[tuple[str, Run]]) -> None:
    """Print a table of the runs, and how many files the last two of them agree on."""
    table = [
        (
            *(name, f"{run.records:,}", f"{run.seconds:.0f}", f"{run.records / run.seconds:,.0f}"),
            *(f"{run.processor:.0f}", f"{run.records / run.processor:,.0f}"),
        )
        for name, run in runs
    ]
    columns = ("learned by", "records", "seconds", "records/s", "processor s", "records/processor s")
    print_table("learning", columns, table)
    (_, last), (_, alone) = runs[-2:]
    same = sum(alone.files.get(site) == text for site, text in last.files.items())
    print(f"rule files that are the same byte for byte: {same:,} of {len(alone.files):,}")


OPTIONS = [
    option("--records", type=int, default=16_000),
    option("--sites", type=int, default=2_000),
    option("--sizes", type=int, default=3, help="how many sizes, each the double of the one before"),
    option("--cores", type=int, default=2, help="workers of Spark"),
]
main = Command(__doc__, OPTIONS, measure=measured, show=lambda _, runs: show(runs))


def learn_here(how: str, path: str, folder: str, cores: int) -> None:
    """Learn in this process, and leave what that took in a file."""
    one = with_spark(Path(path), Path(folder), cores) if how == "spark" else on_one_machine(Path(path), Path(folder))
    (Path(folder) / "run.json").write_text(json.dumps(asdict(one)))


if __name__ == "__main__":
    args = parsed(__doc__, [*OPTIONS, option("--run", nargs=3, help=argparse.SUPPRESS)], None)
    sys.exit(learn_here(*args.run, args.cores) if args.run else main())
