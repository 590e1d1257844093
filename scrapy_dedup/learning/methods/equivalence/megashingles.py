"""Equivalence classes of near-identical pages, by megashingles.

"url-normalization-rule-inference", FIG. 2, steps 200 and 210: one bucket per host; in each bucket
one hash table per position of the megashingle vector; pages that an entry holds together form an
equivalence class. To share a megashingle is not transitive - A and B may share one, B and C another
one, and A and C little - so that a class made in this way is parted again: every page must resemble
the *medoid* of its class, the page that resembles the others most.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

import numpy as np

from .shingles import MEGASHINGLES, MINWISE, Hashes, Shingling

MIN_RESEMBLANCE = 0.9
"""Estimated resemblance to the medoid that makes a page one of its class."""
MIN_WORDS = 100
"""Pages with fewer words have too few shingles for 84 values: they are equal or they are not."""
MAX_CANDIDATES = 32
"""Pages of a class that are tried as its medoid, and compared to find it."""
MAX_ROUNDS = 32
"""Classes at most into which pages that hang together are parted; what is left stays alone."""

Told = TypeVar("Told")


def equivalence_classes(
    pages: Iterable[tuple[str, Shingling | None]],
) -> list[list[str]]:
    """Return the classes of two URLs or more of the same host whose pages are near-identical.

    *pages* are URLs, each once, with the shingling of what they led to (None without words: in no
    class). URLs and classes keep the order in which they came. Linear in the pages, and in memory one
    host at a time beside the shinglings themselves.
    """
    found = []
    for bucket in buckets(pages):
        long = [(url, page) for url, page in bucket if page.words >= MIN_WORDS]
        by_checksum: defaultdict[int, list[str]] = defaultdict(list)
        for url, page in bucket:
            if page.words < MIN_WORDS:
                by_checksum[page.checksum].append(url)
        found += [urls for urls in by_checksum.values() if len(urls) > 1]
        shinglings = [page for _, page in long]
        for members in sharing(shinglings):
            for part in parted(shinglings, members):
                if len(part) > 1:
                    found.append([long[i][0] for i in part])
    return found


def buckets(pages: Iterable[tuple[str, Told | None]]) -> Iterator[list[tuple[str, Told]]]:
    """Yield the pages of each host, with what is told of them: URLs of different hosts are never compared."""
    by_host: defaultdict[str, list[tuple[str, Told]]] = defaultdict(list)
    for url, page in pages:
        if page is not None:
            by_host[host_of(url)].append((url, page))
    while by_host:
        yield by_host.pop(next(iter(by_host)))


def host_of(url: str) -> str:
    """Return the host of a URL with its port, "" where it has none."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def sharing(pages: Sequence[Shingling]) -> list[list[int]]:
    """Return the numbers of the pages that hang together by shared megashingles, two or more.

    A megashingle counts at its own position only. What shares one is joined, chain by chain.
    """
    leader = list(range(len(pages)))

    def led(page: int) -> int:
        while leader[page] != page:
            leader[page] = leader[leader[page]]
            page = leader[page]
        return page

    for position in range(MEGASHINGLES):
        table: dict[int, int] = {}
        for number, page in enumerate(pages):
            first = led(table.setdefault(page.megashingles[position], number))
            other = led(number)
            leader[max(first, other)] = min(first, other)
    joined: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(len(pages)):
        joined[led(number)].append(number)
    return [members for members in joined.values() if len(members) > 1]


def parted(
    pages: Sequence[Shingling],
    members: Sequence[int],
) -> list[list[int]]:
    """Return *members*, numbers of pages, parted so that each part resembles its medoid.

    Linear: the medoid is that of a bounded number of pages, and there is a bounded number of parts
    beside those of one page.
    """
    values = np.stack([pages[i].minwise for i in members]) if members else np.zeros((0, MINWISE), dtype=np.uint64)
    left = np.arange(len(members))
    parts: list[list[int]] = []
    for _ in range(MAX_ROUNDS):
        if not len(left):
            break
        alike = _resemblances(values[left], values[left[_medoid(values[left])]]) >= MIN_RESEMBLANCE
        parts.append([members[i] for i in left[alike].tolist()])
        left = left[~alike]
    parts += [[members[i]] for i in left.tolist()]
    return parts


def _medoid(values: Hashes) -> int:
    """Return which of some pages resembles the others most, of evenly spaced ones."""
    some = np.unique(np.linspace(0, len(values) - 1, MAX_CANDIDATES).astype(np.intp))
    alike = [float(_resemblances(values[some], values[candidate]).sum()) for candidate in some]
    return int(some[int(np.argmax(alike))])


def _resemblances(values: Hashes, one: Hashes) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    share: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = np.count_nonzero(values == one, axis=1) / MINWISE
    return share
