"""The measures of the pattern tree's paper: equations 1 to 3, and its split of a data set (gap 26)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scrapy_dedup.learning.methods.pattern_tree.filtering import false_positives
from scrapy_dedup.learning.methods.pattern_tree.modes import Options

__all__ = ["Measures", "compression_rate", "dup_reduction_rate", "measures", "training_split"]

MAX_TRAINING = 100_000
TRAINING_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Measures:
    """Equations 1, 2 and 3, and the share of pages that no form of their own is left for."""

    compression: float
    dup_reduction: float
    fpr: float
    lost: float


def compression_rate(before: int, after: int) -> float:
    """Return equation 1: 1 - URLs after / URLs before.

    >>> compression_rate(10, 4)
    0.6
    """
    return 1 - after / before if before else 0.0


def dup_reduction_rate(before: int, after: int, clusters_before: int, clusters_after: int) -> float:
    """Return equation 2: by how much the duplicate rate became less; 0 where there was no duplicate.

    The duplicate rate is 1 - clusters / URLs.

    >>> dup_reduction_rate(10, 5, 4, 4) # duplicate rate .6 -> .2
    0.6666666666666667
    """
    rate_before = 1 - clusters_before / before if before else 0.0
    rate_after = 1 - clusters_after / after if after else 0.0
    return 1 - rate_after / rate_before if rate_before else 0.0


def measures(urls: Sequence[str], content: Sequence[int], canonical: Callable[[str], str]) -> Measures:
    """Return what a canonical function does to URLs with known pages.

    The first URL of a form stands for it: pages that stand for no form are lost.
    """
    numbers: dict[str, int] = {}
    forms = np.array([numbers.setdefault(canonical(url), len(numbers)) for url in urls], dtype=np.uint64)
    _, first = np.unique(forms, return_index=True)
    left = len({content[i] for i in first.tolist()})
    pages = len(set(content))
    return Measures(
        compression=compression_rate(len(urls), len(numbers)),
        dup_reduction=dup_reduction_rate(len(urls), len(numbers), pages, left),
        fpr=false_positives(forms, np.asarray(content, dtype=np.int32)).rate if len(urls) else 0.0,
        lost=1 - left / pages if pages else 0.0,
    )


def training_split(content: Sequence[int], options: Options, seed: int = 0) -> tuple[list[int], list[int]]:
    """Return (training, test) as places in *content*.

    The paper draws 20 % of the URLs, 100,000 at most, and tests on all of them, so that clusters are
    cut apart and what was learned from is tested on. Otherwise 20 % of the pages are drawn, and the test
    is on the others.
    """
    rng = np.random.default_rng(seed)
    if options.evaluation == "everything":
        count = min(round(TRAINING_SHARE * len(content)), MAX_TRAINING)
        chosen = rng.choice(len(content), count, replace=False) if count else np.zeros(0, dtype=np.intp)
        return sorted(chosen.tolist()), list(range(len(content)))
    pages = np.unique(np.asarray(content, dtype=np.int64))
    drawn = set(rng.permutation(pages)[: max(1, round(TRAINING_SHARE * len(pages)))].tolist()) if len(pages) else set()
    training = [i for i, page in enumerate(content) if page in drawn]
    return training, [i for i, page in enumerate(content) if page not in drawn]
