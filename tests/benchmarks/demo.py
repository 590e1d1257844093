"""Whether what the demo shop saves is luck: the demo several times in a row, beside processes that keep the machine busy.

    python -m tests.benchmarks.demo [--runs 10] [--busy 2] [--json] [--check]

Each run is example_project/demo.py as ``make demo`` runs it, from nothing: a crawl by plain Scrapy, a first crawl that records and
learns, ``scrapy learn-rules``, and a last crawl with the rules. What is learned must hang on what was seen, and not on how fast the
machine was. A run that loses a page or an item ends with an error.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Final

from .command import Arguments, Command, Unusable, option
from .crawling.serving import ROOT
from .scoring.checks import Check, print_table

LEAST_SAVED: Final = 0.5
MOST_SPREAD: Final = 0.1
"""Aims: share of plain Scrapy's downloads that the last crawl saves in each run, and between the best and the worst of them."""

_crawl = re.compile(r"^\s*(plain Scrapy|first crawl, recording|last crawl, with rules)\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Run:
    """The downloads of the three crawls of a run."""

    plain: int
    first: int
    last: int

    @property
    def saved(self) -> float:
        """Share of plain Scrapy's downloads that the last crawl saved."""
        return 1 - self.last / self.plain


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep so many processors busy."""
    with ExitStack() as stack:
        for _ in range(number):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(loop.kill)
        yield


def run() -> Run:
    """Run the demo once. Raises Unusable where it fails."""
    command = [sys.executable, "example_project/demo.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    downloads = [int(number) for _, number in _crawl.findall(done.stdout)]
    if done.returncode or len(downloads) != 3:
        raise Unusable(f"the demo has failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return Run(*downloads)


def measure(args: Arguments) -> list[Run]:
    with busy(args.busy):
        return [run() for _ in range(args.runs)]


def spread(runs: Sequence[Run]) -> float:
    """How far what the last crawls save lies apart."""
    saved = [each.saved for each in runs]
    return max(saved) - min(saved)


def show(args: Arguments, runs: Sequence[Run]) -> None:
    title = f"The demo {args.runs} times, beside {args.busy} busy processes"
    rows = [(number, each.plain, each.first, each.last, each.saved) for number, each in enumerate(runs, 1)]
    columns = ("run", "plain Scrapy", "first crawl", "last crawl", "saved by the last")
    least = min(each.saved for each in runs)
    print_table(title, columns, rows, left=0, caption=f"saved: at least {least:.3f}, spread {spread(runs):.3f}")


def checks(args: Arguments, runs: Sequence[Run]) -> list[Check]:
    least = min(each.saved for each in runs)
    return [
        Check("saved by the last crawl of the worst run", least, least=LEAST_SAVED),
        Check("spread", spread(runs), most=MOST_SPREAD),
    ]


main = Command(
    __doc__,
    (
        option("--runs", type=int, default=10, help="how often the demo is run"),
        option("--busy", type=int, default=2, help="processes beside it that never rest"),
    ),
    measure,
    show,
    lambda args, runs: [asdict(each) for each in runs],
    checks,
)

if __name__ == "__main__":
    sys.exit(main())
