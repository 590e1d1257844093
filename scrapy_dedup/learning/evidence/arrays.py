"""Arrays in which URLs are held, one entry a URL, a group or a value, and how they are put together."""

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Codes = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.integer[Any]]

ABSENT = 0
"""The code of a key that the URL does not have."""


def pairs(one: Integers, other: Integers) -> Integers:
    """Return a number for each pair of numbers, in the order of the pairs."""
    least = int(other.min())
    found: Integers = one.astype(np.int64) * (int(other.max()) - least + 1) + (other - least)
    return found


def numbered(values: Integers) -> Rows:
    """Return the place of each value among the distinct ones."""
    return np.unique(values, return_inverse=True)[1].reshape(-1)


def spans(starts: Rows, sizes: Integers) -> Rows:
    """Return the indices start, start + 1, ... of each span (shape: the sum of the sizes).

    >>> spans(np.array([0, 10]), np.array([2, 3])).tolist()
    [0, 1, 10, 11, 12]
    """
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))


def mixed(numbers: Hashes) -> Hashes:
    """Return well-spread 64-bit hashes of numbers (the finalizer of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
