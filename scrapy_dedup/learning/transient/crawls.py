"""Which versions are of one crawl, told by their times and URLs: a store does not say.

A crawl fetches a page once, but for a few that it visits again. So where page after page comes again, another
crawl has begun, however soon after the last one.
"""

from collections import deque
from collections.abc import Iterable, Sequence

from ...content.versions import Version
from ..clusters import APART

AGAIN, AMONG = 5, 10
"""Of so many pages in a row so many come again: another crawl."""
MOST_CRAWLS = 4
"""Crawls that are looked at, the latest ones."""


def crawls_of(seen: Iterable[tuple[str, float, Version]]) -> list[Sequence[tuple[str, Version]]]:
    """Return the pages of each crawl, the latest crawl first: (URL, version) in order of time, each URL once.

    *seen* are (URL, seconds since 1970, version) in any order. Of at most MOST_CRAWLS crawls.
    """
    crawls: list[list[tuple[str, Version]]] = []
    met: set[str] = set()
    again: deque[bool] = deque(maxlen=AMONG)
    last: float | None = None
    for url, at, version in sorted(seen, key=lambda each: (each[1], each[0])):
        if last is None or at - last > APART:
            crawls.append([])
            met, again = set(), deque(maxlen=AMONG)
        last = at
        again.append(url in met)
        crawls[-1].append((url, version))
        met.add(url)
        if sum(again) >= AGAIN:
            begun = len(crawls[-1]) - len(again) + again.index(True)
            crawls.append(crawls[-1][begun:])
            del crawls[-2][begun:]
            met, again = {page for page, _ in crawls[-1]}, deque(maxlen=AMONG)
    return [_once(crawl) for crawl in reversed(crawls[-MOST_CRAWLS:])]


def _once(crawl: Sequence[tuple[str, Version]]) -> list[tuple[str, Version]]:
    """Return the pages of a crawl, each as it was seen last, then."""
    found: dict[str, Version] = {}
    for url, version in crawl:
        found.pop(url, None)
        found[url] = version
    return list(found.items())
