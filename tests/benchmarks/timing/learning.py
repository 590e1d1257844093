"""Learning from one large site, in a process of its own so that its memory can be told.

``python -m tests.benchmarks.timing.learning URLS KEYS`` prints one JSON object.
"""

import json
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from time import perf_counter, process_time
from urllib.parse import parse_qsl, urlsplit

from ..crawling.server import ROOT


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
    """urlsplit and parse_qsl of the same URLs, in the same process."""
    before_mb: float
    """Peak memory of the process with all observations made, before learning."""
    peak_mb: float
    rules: int
    oracle_compression: float | None
    lost: int

    @property
    def times_parsing(self) -> float:
        """Learning time / parsing time."""
        return self.seconds / self.parse_seconds


def peak_mb() -> float:
    """Peak resident memory of this process so far, in MB (ru_maxrss is in kB, on macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def measure(*, urls: int, keys: int = 150, timeout: float = 1200) -> LearningCost:
    """Learn in a child process; RuntimeError when it fails or takes more than ``timeout`` seconds."""
    command = [sys.executable, "-m", "tests.benchmarks.timing.learning", str(urls), str(keys)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=True)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"learning failed:\n{error.stderr[-4000:]}") from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"learning from {urls} URLs took more than {timeout} s") from error
    return LearningCost(**json.loads(done.stdout))


def learn(urls: int, keys: int) -> LearningCost:
    """Make the site, learn it in this process, and score the rules on the same URLs."""
    from scrapy_dedup import learn_rules

    from ..scoring.score import score
    from ..sites.many_keys import large_site

    observations = list(large_site(urls, keys))
    names = set()
    start = perf_counter()
    for seen in observations:
        names.update(parse_qsl(urlsplit(seen.url).query, keep_blank_values=True))
    parse_seconds = perf_counter() - start
    query_keys = len({name for name, _ in names})
    del names
    before_mb = peak_mb()
    start, cpu_start = perf_counter(), process_time()
    book = learn_rules(observations)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    after_mb = peak_mb()
    scores = score([book.canonical_key(seen.url) for seen in observations], [seen.fingerprint for seen in observations])
    return LearningCost(
        urls=urls,
        keys=query_keys,
        pages=scores.pages,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        parse_seconds=parse_seconds,
        before_mb=before_mb,
        peak_mb=after_mb,
        rules=len(book),
        oracle_compression=scores.oracle_compression,
        lost=scores.lost,
    )


if __name__ == "__main__":
    print(json.dumps(asdict(learn(int(sys.argv[1]), int(sys.argv[2])))))
