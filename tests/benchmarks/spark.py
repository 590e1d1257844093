"""Learning with Spark and on one machine, from the same records: records per second, time of each stage, memory, and equal rule files.

    python -m tests.benchmarks.spark [--records 16000] [--sites 2000] [--sizes 3] [--cores 2]

Records are made up, of as many sites, one of which has half of all. Spark runs in local mode with --cores workers; it learns a quarter of the records,
half of them and all (--sizes 3), so that the rates say whether it is linear. --records 3000000 is the full run. Needs pyspark and Java.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from ..spark_session import local_spark
from .crawling.server import ROOT
from .imports import BEGAN, COPIES
from .scoring.table import print_table

#: Files of the records.
FILES = 16


@dataclass(slots=True)
class Run:
    """What learning took; stages and memory by name."""

    records: int
    seconds: float
    stages: dict[str, float] = field(default_factory=dict)
    longest: dict[str, float] = field(default_factory=dict)
    """Seconds of the longest task of each stage."""
    memory: dict[str, float] = field(default_factory=dict)
    """Peak memory in MB of each process."""
    processor: float = 0.0
    """Seconds of processors: the same whatever else the machine does."""
    rules: int = 0
    files: dict[str, str] = field(default_factory=dict)


def rows(records: int, sites: int) -> Iterator[tuple[str, str, float]]:
    """Yield (URL, digest, time): each page under two session ids; each second record is of one site, the others of all in turn."""
    for number in range(records):
        site, of_site = (0, number // 2) if number % 2 else (1 + number // 2 % (sites - 1), number // 2 // (sites - 1))
        page, copy = divmod(of_site, COPIES)
        sid = (number * 2654435761 + copy) % (1 << 64)
        yield f"http://site{site}.test/view?id={page}&sid={sid:016x}", f"{site:016x}{page:016x}", float(BEGAN + number)


def write(folder: Path, records: int, sites: int) -> None:
    """Write the records as files of Parquet."""
    import pyarrow
    from pyarrow import parquet

    made = rows(records, sites)
    folder.mkdir()
    for number in range(FILES):
        some = [
            row for _, row in zip(range(records * number // FILES, records * (number + 1) // FILES), made, strict=False)
        ]
        names = ("url", "fingerprint", "time")
        table = pyarrow.table(
            dict(zip(names, zip(*some, strict=True), strict=True)) if some else dict.fromkeys(names, ())
        )
        parquet.write_table(table, folder / f"{number:02}.parquet")


class Watched:
    """Peak memory of the processes that this one starts, and what they take of processors, looked at several times a second."""

    def __init__(self) -> None:
        self._peaks: dict[tuple[str, int], float] = {}
        self._ticks: dict[int, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Look for the last time."""
        self._look()
        self._done.set()
        self._thread.join()

    @property
    def memory(self) -> dict[str, float]:
        """Peak memory in MB by process, the largest first."""
        named = sorted(self._peaks.items(), key=lambda each: -each[1])
        return {f"{kind} {pid}": mb for (kind, pid), mb in named}

    @property
    def processor(self) -> float:
        """Seconds of processors, of all of them together."""
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            self._look()

    def _look(self) -> None:
        for pid in _descendants(os.getpid()):
            folder = Path(f"/proc/{pid}")
            try:
                kind = {"java": "JVM", "bash": "shell"}.get((folder / "comm").read_text().strip(), "Python worker")
                mb = int((folder / "status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
                spent = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
            except (OSError, IndexError):
                continue
            if kind == "shell":  # Java is started by one, as which it is seen at first
                continue
            self._peaks[kind, pid] = max(mb, self._peaks.get((kind, pid), 0.0))
            self._ticks[pid] = sum(map(int, spent))


def _descendants(pid: int) -> list[int]:
    parents = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found, new = [], [pid]
    while new:
        new = [each for each, parent in parents.items() if parent in new]
        found += new
    return found


def with_spark(folder: Path, scratch: Path, cores: int) -> Run:
    """Learn with Spark in local mode, in this process."""
    from scrapy_dedup.spark import learn

    events = scratch / "events"
    events.mkdir()
    options = {
        "spark__driver__memory": "1g",
        "spark__eventLog__compress": "false",
        "spark__eventLog__dir": events.as_uri(),
        "spark__eventLog__enabled": "true",
        "spark__eventLog__rolling__enabled": "false",
        "spark__sql__shuffle__partitions": str(8 * cores),
    }
    watched = Watched()
    with local_spark(scratch, cores, **options) as session:
        observations = session.read.parquet(str(folder))
        records = observations.count()
        start = perf_counter()
        learned = learn(observations)
        session.sparkContext.setJobDescription("learn")
        found = learned.collect()
        seconds = perf_counter() - start
        watched.end()
    if faults := [row.problem for row in found if row.problem]:
        raise RuntimeError(f"{len(faults)} sites were not learned: {faults[0]}")
    run = Run(records, seconds, rules=sum(row.rules for row in found))
    run.files = {row.site: row.text for row in found if row.text}
    run.memory, run.processor = watched.memory, watched.processor
    run.stages, run.longest = _times(events)
    return run


def _times(events: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds of each step of learning, and of its longest task, from Spark's log of events."""
    steps: dict[int, str] = {}
    times: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    longest: defaultdict[str, float] = defaultdict(float)
    for path in events.iterdir():
        for line in path.read_text().splitlines():
            event: dict[str, Any] = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                step = (event.get("Properties") or {}).get("spark.job.description")
                steps.update(dict.fromkeys(event["Stage IDs"], step or "count"))
            elif event["Event"] == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                times[steps[info["Stage ID"]]].append((info["Submission Time"] / 1e3, info["Completion Time"] / 1e3))
            elif event["Event"] == "SparkListenerTaskEnd":
                info = event["Task Info"]
                step = steps[event["Stage ID"]]
                longest[step] = max(longest[step], (info["Finish Time"] - info["Launch Time"]) / 1e3)
    spent = {step: sum(end - begin for begin, end in some) for step, some in times.items() if step != "count"}
    return spent, dict(longest)


def on_one_machine(folder: Path, scratch: Path) -> Run:
    """Learn as ``scrapy learn-rules --from`` does, in this process."""
    from scrapy_dedup.learning.alternation import learn_rules_and_masks
    from scrapy_dedup.learning.imported import ImportedEvidence
    from scrapy_dedup.learning.saving import save
    from scrapy_dedup.rules import RuleBook
    from scrapy_dedup.rules.files import path_of_site
    from scrapy_dedup.sources.reading import Reading

    from .imports import _peak_mb

    reading = Reading([str(folder)])
    start = perf_counter()
    with ImportedEvidence() as evidence:
        evidence.add_all(reading.observations())
        middle = perf_counter()
        both = learn_rules_and_masks(evidence, known=RuleBook())
    end, spent = perf_counter(), process_time()
    save(both, scratch / "rules")
    book = both.learned.book
    run = Run(reading.records, end - start, {"read": middle - start, "learn": end - middle})
    run.rules = sum(rule.status.acts for rule in book)
    run.memory, run.processor = {"process": _peak_mb()}, spent
    run.files = {site: path_of_site(scratch / "rules", site).read_text() for site in book.sites}
    return run


def measure(how: str, folder: Path, cores: int) -> Run:
    """Learn in a process of its own. Raises RuntimeError."""
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "run.json"
        command = [sys.executable, "-m", "tests.benchmarks.spark", "--cores", str(cores)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        done = subprocess.run(
            [*command, "--run", how, str(folder), scratch],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{how} failed:\n{done.stderr[-6000:]}")
        return Run(**json.loads(out.read_text()))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.spark",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--records", type=int, default=16_000)
    parser.add_argument("--sites", type=int, default=2_000)
    parser.add_argument("--sizes", type=int, default=3, help="how many sizes, each the double of the one before")
    parser.add_argument("--cores", type=int, default=2, help="workers of Spark")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.run:
        how, folder, scratch = args.run
        if how == "spark":
            run = with_spark(Path(folder), Path(scratch), args.cores)
        else:
            run = on_one_machine(Path(folder), Path(scratch))
        (Path(scratch) / "run.json").write_text(json.dumps(asdict(run)))
        return 0
    runs = []
    with TemporaryDirectory() as made:
        for size in range(args.sizes):
            records = args.records >> (args.sizes - 1 - size)
            folder = Path(made) / str(records)
            write(folder, records, max(2, min(args.sites, records // 8)))
            runs.append(("Spark", measure("spark", folder, args.cores)))
            _tell(*runs[-1])
        runs.append(("one machine", measure("one", folder, args.cores)))
        _tell(*runs[-1])
    _print(runs)
    return 0


def _tell(name: str, run: Run) -> None:
    """Tell on standard error what is done: the full run takes long."""
    kept = {key: value for key, value in asdict(run).items() if key != "files"}
    print(f"{name}: {json.dumps(kept)}", file=sys.stderr, flush=True)


def _print(runs: Sequence[tuple[str, Run]]) -> None:
    table = []
    for name, run in runs:
        jvm = max((mb for kind, mb in run.memory.items() if kind.startswith("JVM")), default=None)
        worker = max(mb for kind, mb in run.memory.items() if not kind.startswith("JVM"))
        rates = [f"{run.records / run.seconds:,.0f}", f"{run.processor:.0f}", f"{run.records / run.processor:,.0f}"]
        memory = [f"{worker:.0f}", "-" if jvm is None else f"{jvm:.0f}"]
        table.append((name, f"{run.records:,}", f"{run.seconds:.0f}", *rates, *memory, run.rules))
    columns = (
        "learned by",
        "records",
        "seconds",
        "records/s",
        "processor s",
        "records/processor s",
        "MB worker",
        "MB JVM",
        "rules",
    )
    print_table("learning", columns, table)
    steps = [
        (name, f"{run.records:,}", step, f"{seconds:.0f}", f"{run.longest[step]:.0f}" if step in run.longest else "-")
        for name, run in runs
        for step, seconds in run.stages.items()
    ]
    print_table("steps", ("learned by", "records", "step", "seconds", "longest task"), steps)
    last, alone = runs[-2][1], runs[-1][1]
    workers = [f"{name.rpartition(' ')[0]} {mb:.0f}" for name, mb in last.memory.items()]
    print(f"MB of each process of Spark, {last.records:,} records: {', '.join(workers)}")
    same = sum(alone.files.get(site) == text for site, text in last.files.items())
    print(f"rule files that are the same byte for byte: {same:,} of {len(alone.files):,}")


if __name__ == "__main__":
    sys.exit(main())
