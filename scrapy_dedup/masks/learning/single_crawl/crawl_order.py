"""The crawls that versions are from, inferred from their times and URLs: a store does not say.

A crawl fetches a page once, but for a few that it fetches again, which may come one after the other. So where page after
page comes again, more than a few for the size of the site, another crawl has begun, however soon after the last one.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from ....content.versions import Version
from ....observation import APART

AGAIN, AMONG = 5, 10
"""Of so many pages in a row so many come again where another crawl may have begun."""
FEW, MOST = 0.1, 13
"""Pages that a crawl fetches again in a row are fewer than this share of its pages, and than so many."""
MOST_CRAWLS = 4
"""Crawls that are looked at, the latest ones."""


def crawl_numbers(fetches: Sequence[tuple[str, float]]) -> list[int]:
    """Return for each of *fetches*, (URL, seconds since 1970) in order of time, the number of its crawl, from 0."""
    numbers: list[int] = []
    number = 0
    met: set[str] = set()
    again: deque[bool] = deque(maxlen=AMONG)
    begun: int | None = None  # where another crawl may have begun, in which so many pages have come again
    repeated = 0
    last: float | None = None
    for place, (url, at) in enumerate(fetches):
        if last is not None and at - last > APART:
            number += 1
            met, again, begun = set(), deque(maxlen=AMONG), None
        last = at
        again.append(url in met)
        numbers.append(number)
        met.add(url)
        if sum(again) < AGAIN:
            begun = None
            continue
        if begun is None:
            begun = place + 1 - len(again) + again.index(True)
            repeated = sum(again) - again[-1]
        repeated += again[-1]
        if repeated >= max(AGAIN, min(FEW * len(met), MOST)):
            number += 1
            numbers[begun:] = [number] * (place + 1 - begun)
            met, again = {page for page, _ in fetches[begun : place + 1]}, deque(maxlen=AMONG)
            begun = None
    return numbers


def crawls_of(seen: Iterable[tuple[str, float, Version]]) -> list[Sequence[tuple[str, Version]]]:
    """Return the pages of each crawl, the latest crawl first: (URL, version) in order of time, each URL once.

    *seen* are (URL, seconds since 1970, version) in any order. Of at most MOST_CRAWLS crawls.
    """
    in_order = sorted(seen, key=lambda each: (each[1], each[0]))
    crawls: dict[int, list[tuple[str, Version]]] = {}
    numbers = crawl_numbers([(url, at) for url, at, _ in in_order])
    for number, (url, _, version) in zip(numbers, in_order, strict=True):
        crawls.setdefault(number, []).append((url, version))
    return [_once(crawl) for crawl in list(crawls.values())[: -MOST_CRAWLS - 1 : -1]]


def _once(crawl: Sequence[tuple[str, Version]]) -> list[tuple[str, Version]]:
    """Return the pages of a crawl, each as seen first: refetches come out of order."""
    found: dict[str, Version] = {}
    for url, version in crawl:
        found.setdefault(url, version)
    return list(found.items())
