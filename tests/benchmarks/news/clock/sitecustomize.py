"""The simulated clock of a process: Python imports this before anything else where its folder is on the path.

``time.time`` goes on as the machine's does, ``NEWS_CLOCK_SHIFT`` seconds away from it. So does the clock of the learning
process, which inherits the variable and finds this folder where the crawl found it. Each process that runs by this clock
writes a line into the file that ``NEWS_CLOCK_LOG`` names: what it runs, and the time that it was then.
(A ``sitecustomize`` in the folder of the standard library itself, as Debian has one, is found before this one by the
learning process. That process looks at a clock only if DEDUP_EVIDENCE_DAYS is set.)
"""

import os
import sys
import time


def _shift(seconds: float, log: str) -> None:
    machine = time.time
    time.time = lambda: machine() + seconds
    if log:
        words = sys.orig_argv[1:]
        name = "learning" if "scrapy_dedup.learning" in words else "scrapy" if "scrapy.cmdline" in words else "other"
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 (pathlib takes a while to import)
            file.write(f"{name} {time.time()}\n")


if "NEWS_CLOCK_SHIFT" in os.environ:
    _shift(float(os.environ["NEWS_CLOCK_SHIFT"]), os.environ.get("NEWS_CLOCK_LOG", ""))

if "BENCHMARK_WITHOUT" in os.environ:
    try:
        from tests.benchmarks.parts import without

        switched_off = without(os.environ["BENCHMARK_WITHOUT"])
        switched_off.__enter__()
    except BaseException as error:  # noqa: BLE001 (whatever it is, the process must not go on)
        # Python itself would go on, with the part in use.
        print(f"it could not be switched off: {error!r}", file=sys.stderr, flush=True)
        os._exit(3)
