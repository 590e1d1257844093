"""How learning grows with the site: time and memory per URL, each size in a process of its own.

``python -m tests.benchmarks.timing.scale URLS`` prints one JSON object.
"""

import gc
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from urllib.parse import parse_qsl, urlsplit

from ..crawling.server import ROOT
from ..sites.ordinary import ordinary_site
from .learning import peak_mb


@dataclass(frozen=True, slots=True)
class Scale:
    """What learning from a site of so many URLs took."""

    urls: int
    pages: int
    seconds: float
    cpu_seconds: float
    parse_seconds: float
    """CPU seconds of urlsplit and parse_qsl of the same URLs, in the same process."""
    observations_bytes: float
    """Memory of the observations, their URLs apart, in bytes per URL."""
    bytes_per_url: float
    """Peak memory of learning and the observations, less what was there before, in bytes per URL."""
    rules: int
    oracle_compression: float | None
    lost: int

    @property
    def times_parsing(self) -> float:
        """Learning time / parsing time, both of the CPU: other processes take nothing from it."""
        return self.cpu_seconds / self.parse_seconds


def slope(costs: Sequence[Scale]) -> float | None:
    """Return the slope of log(CPU seconds) over log(URLs), by least squares; None for a single size.

    1 is linear: ten times the URLs take ten times as long.
    """
    if len(costs) < 2:
        return None
    xs = [math.log(cost.urls) for cost in costs]
    ys = [math.log(cost.cpu_seconds) for cost in costs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def measure(urls: int, *, timeout: float = 7200) -> Scale:
    """Learn in a child process; RuntimeError when it fails or takes more than ``timeout`` seconds."""
    command = [sys.executable, "-m", "tests.benchmarks.timing.scale", str(urls)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=True)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"learning failed:\n{error.stderr[-4000:]}") from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"learning from {urls} URLs took more than {timeout} s") from error
    return Scale(**json.loads(done.stdout))


def learn(urls: int) -> Scale:
    """Make the site, learn it in this process, and score the rules on the same URLs."""
    from scrapy_dedup import Observation, learn_rules

    from ..scoring.score import score

    # All that is imported when it is first needed, and is no memory of the URLs.
    learn_rules([Observation(url, content) for url, content in ordinary_site(500, seed=1)])
    rows = list(ordinary_site(urls))
    start = process_time()
    for url, _ in rows:
        parse_qsl(urlsplit(url).query, keep_blank_values=True)
    parse_seconds = process_time() - start
    gc.collect()
    before_mb = peak_mb()
    observations = [Observation(url, content) for url, content in rows]
    with_observations_mb = peak_mb()
    start, cpu_start = perf_counter(), process_time()
    book = learn_rules(observations)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    after_mb = peak_mb()
    scores = score([book.canonical_key(url) for url, _ in rows], [content for _, content in rows])
    return Scale(
        urls=urls,
        pages=scores.pages,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        parse_seconds=parse_seconds,
        observations_bytes=(with_observations_mb - before_mb) * 1e6 / urls,
        bytes_per_url=(after_mb - before_mb) * 1e6 / urls,
        rules=len(book),
        oracle_compression=scores.oracle_compression,
        lost=scores.lost,
    )


if __name__ == "__main__":
    print(json.dumps(asdict(learn(int(sys.argv[1])))))
