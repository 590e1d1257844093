"""Ranges (start, end) of a text, in sorted lists without overlaps."""

from bisect import bisect_left
from collections.abc import Iterable

Range = tuple[int, int]


def overlapping(ranges: list[Range], low: int, high: int) -> list[Range]:
    """Return those of sorted, disjoint *ranges* that have a part in [low, high)."""
    first = bisect_left(ranges, (low, low))
    if first and ranges[first - 1][1] > low:
        first -= 1
    last = bisect_left(ranges, (high, high))
    return ranges[first:last]


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Return sorted, disjoint ranges that cover the same; those that touch are one."""
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def between(ranges: list[Range], length: int) -> list[Range]:
    """Return what *ranges* leave of [0, length)."""
    ends = [0, *(end for _, end in ranges)]
    starts = [*(start for start, _ in ranges), length]
    return [(start, end) for start, end in zip(ends, starts, strict=True) if start < end]
