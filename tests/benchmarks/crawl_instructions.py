"""What the add-on costs a crawl in machine instructions: the same figure on a busy machine as on a quiet one.

    python -m tests.benchmarks.crawl_instructions [--check]

As the crawls of :mod:`.timing.crawl`, but counted by valgrind's cachegrind (which must be installed)
instead of timed; what a crawl costs whatever its length is taken off by crawling a quarter of it too.
It sees neither caches nor waiting, so it goes beside the times and does not replace them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

from .crawling.project import Project
from .crawling.server import ROOT, Server
from .recordings.recording import write_recording
from .scoring.checks import Check, report
from .scoring.table import print_table
from .sites.many_keys import word
from .timing.crawl import HARDER, KINDS, NOT_LEARNING, CrawlBench, item_url, recorded_pages

PAGES = 120
_COUNT = re.compile(r"I\s+refs:\s+([\d,]+)")


def instructions(project: Project, plan: Path) -> int:
    """Instructions of one crawl, all threads."""
    shutil.rmtree(project.folder / ".scrapy", ignore_errors=True)
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", sys.executable]
    options = ["-m", "scrapy.cmdline", "crawl", "speed", "-a", f"plan={plan}", "-a", "stats_file=stats.json"]
    done = subprocess.run(
        [*command, *options],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=1200,
        check=True,
    )
    found = _COUNT.search(done.stderr)
    if found is None:
        raise RuntimeError(f"valgrind counted nothing:\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def main() -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    args = parser.parse_args()
    if shutil.which("valgrind") is None:
        parser.exit(2, "valgrind is not installed\n")
    rows = []
    checks = []
    for kind in (*KINDS[:2], HARDER[0]):
        kind = replace(kind, pages=PAGES)
        with tempfile.TemporaryDirectory(prefix="instructions-") as scratch:
            folder = Path(scratch)
            path = folder / f"{word(Random(4))}.jsonl.gz"
            write_recording(path, recorded_pages(kind))
            with Server(path) as server:
                bench = CrawlBench(kind, folder, server)
                whole = bench.write_plan("whole", kind.callback, [item_url(i) for i in range(PAGES)])
                quarter = bench.write_plan("quarter", kind.callback, [item_url(i) for i in range(PAGES // 4)])
                counts = []
                for name, settings in (("stock", {}), ("plugin", NOT_LEARNING)):
                    project = bench.project(name, {**settings, "DOWNLOAD_TIMEOUT": 600})
                    project.crawl("speed", plan=str(quarter))  # compiles the modules
                    more = instructions(project, whole) - instructions(project, quarter)
                    counts.append(more / (PAGES - PAGES // 4) / 1e6)
        stock, plugin = counts
        aim = f"<= {kind.most_ratio:.2f}" if kind.most_ratio else "-"
        rows.append((kind.name, f"{stock:.2f}", f"{plugin:.2f}", plugin / stock, aim))
        if kind.most_ratio:
            checks.append(Check(f"instructions ratio, {kind.name}", plugin / stock, most=kind.most_ratio))
    columns = ("crawl", "stock", "add-on", "ratio", "aim")
    print_table("millions of instructions per response, without duplicates", columns, rows)
    return report(checks) if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
