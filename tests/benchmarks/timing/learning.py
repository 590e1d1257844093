"""Learning from one site, in a process of its own so that its memory can be told.

``python -m tests.benchmarks.timing.learning URLS KEYS`` prints one JSON object: of a site with so many query keys, or with 0 of an ordinary one.
"""

import gc
import json
import math
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from urllib.parse import parse_qsl, urlsplit

from ..crawling.serving import ROOT


@dataclass(frozen=True, slots=True)
class LearningCost:
    """What learning from one site took."""

    urls: int
    keys: int
    """Distinct query keys."""
    pages: int
    seconds: float
    cpu_seconds: float
    parse_seconds: float
    """CPU seconds of urlsplit and parse_qsl of the same URLs, in the same process."""
    before_mb: float
    """Peak memory of the process, with all URLs made."""
    observed_mb: float
    """The same with the observations."""
    peak_mb: float
    rules: int
    oracle_compression: float | None
    lost: int

    @property
    def times_parsing(self) -> float:
        """Learning time / parsing time, both of the CPU: other processes take nothing from it."""
        return self.cpu_seconds / self.parse_seconds

    @property
    def bytes_per_url(self) -> float:
        """Peak memory of learning and the observations, less what was there before."""
        return (self.peak_mb - self.before_mb) * 1e6 / self.urls

    @property
    def observation_bytes(self) -> float:
        """Memory of an observation, its URL apart."""
        return (self.observed_mb - self.before_mb) * 1e6 / self.urls


def peak_mb() -> float:
    """Peak resident memory of this process so far, in MB (ru_maxrss is in kB, on macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def measure(urls: int, keys: int = 0, *, timeout: float = 7200) -> LearningCost:
    """Learn in a child process; RuntimeError when it fails or takes more than ``timeout`` seconds."""
    command = [sys.executable, "-m", "tests.benchmarks.timing.learning", str(urls), str(keys)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=True)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"learning failed:\n{error.stderr[-4000:]}") from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"learning from {urls} URLs took more than {timeout} s") from error
    return LearningCost(**json.loads(done.stdout))


def learn(urls: int, keys: int = 0) -> LearningCost:
    """Make the site, learn it in this process, and score the rules on the same URLs."""
    from scrapy_dedup import Observation, learn_rules

    from ..scoring.score import score
    from ..sites.many_keys import large_site, ordinary_site

    # All that is imported when it is first needed, and is no memory of the URLs.
    learn_rules([Observation(url, content) for url, content in ordinary_site(500, seed=1)])
    rows = [(seen.url, seen.fingerprint) for seen in large_site(urls, keys)] if keys else list(ordinary_site(urls))
    names = set()
    start = process_time()
    for url, _ in rows:
        names.update(name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True))
    parse_seconds = process_time() - start
    gc.collect()
    before_mb = peak_mb()
    observations = [Observation(url, content) for url, content in rows]
    observed_mb = peak_mb()
    start, cpu_start = perf_counter(), process_time()
    book = learn_rules(observations)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    after_mb = peak_mb()
    scores = score([book.canonical_key(url) for url, _ in rows], [content for _, content in rows])
    return LearningCost(
        urls=urls,
        keys=len(names),
        pages=scores.pages,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        parse_seconds=parse_seconds,
        before_mb=before_mb,
        observed_mb=observed_mb,
        peak_mb=after_mb,
        rules=len(book),
        oracle_compression=scores.oracle_compression,
        lost=scores.lost,
    )


if __name__ == "__main__":
    print(json.dumps(asdict(learn(*map(int, sys.argv[1:])))))


def slope(costs: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of log(seconds) over log(size), by least squares; None for a single size.

    1 is linear: ten times the size takes ten times as long.
    """
    if len(costs) < 2:
        return None
    points = [(math.log(size), math.log(max(seconds, 1e-9))) for size, seconds in costs]
    x, y = (sum(values) / len(values) for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
