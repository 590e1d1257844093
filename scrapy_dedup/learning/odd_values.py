"""Odd contents that stand at one and the same value: that is no noise, which knows nothing of URLs.

Of five URLs of a page one has ``lang=de``. If it shows something else once in a while, that may be a clock; if what
shows something else is nearly always the one with ``lang=de``, it is another page.
"""

from collections.abc import Iterable

import numpy as np

from .evidence import CONFIDENCE, at_most
from .grouping import Flags
from .table import ABSENT, Codes, Rows

MIN_ODD = 2
"""Groups whose odd contents stand at one value, below which that says nothing."""


def owed_to_values(group: Rows, odd: Flags, columns: Iterable[tuple[str, Codes]]) -> dict[str, Rows]:
    """Return the numbers of the groups whose odd contents are owed to a value, by the key of the value.

    *group* is the number of each URL's group, *odd* tells which URLs have a content that no other one has, *columns*
    are keys and the code of each URL's value. Whether there is any value is asked, too. O(n log n) a key.
    """
    suspected = []
    for key, codes in columns:
        present = (codes != ABSENT).astype(codes.dtype)
        for values in (codes,) if codes.all() or not codes.any() else (codes, present):
            suspected += [(key, values, *found) for found in _suspected(group, odd, values)]
    owing: dict[str, Rows] = {}
    for key, values, code, count, trials, share in suspected:
        if is_too_often(count, trials, share, len(suspected)):
            numbers = np.unique(group[odd & (values == code)])
            owing[key] = np.union1d(owing[key], numbers) if key in owing else numbers
    return owing


def _suspected(group: Rows, odd: Flags, codes: Codes) -> list[tuple[int, int, int, float]]:
    """Return (code, groups in which an odd URL has it, groups that it divides, its usual share of their URLs)."""
    cells, place, counts = np.unique(np.stack((group, codes)), axis=1, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    numbers, sizes = np.unique(group, return_counts=True)
    share = counts / sizes[np.searchsorted(numbers, cells[0])]
    dividing = share < 1
    hit = np.zeros(len(share), dtype=np.bool_)
    hit[place[odd]] = True
    found = []
    values, counted = np.unique(cells[1][dividing & hit], return_counts=True)
    for code in values[counted >= MIN_ODD].tolist():
        there = dividing & (cells[1] == code)
        found.append(
            (int(code), int(np.count_nonzero(there & hit)), int(np.count_nonzero(there)), float(share[there].mean()))
        )
    return found


def is_too_often(count: int, trials: int, share: float, tried: int) -> bool:
    """Tell whether *count* of *trials* is more than chance explains, where so many values are *tried*.

    >>> is_too_often(8, 8, 0.2, 4), is_too_often(2, 8, 0.2, 4)
    (True, False)
    """
    return 1 - at_most(count - 1, trials, share) < (1 - CONFIDENCE) / tried
