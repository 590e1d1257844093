"""Near-identical pages: shingles, classes of pages by megashingles, and what these make of the clusters of a site.

The example algorithm of "url-normalization-rule-inference" (detailed description, FIG. 2, steps 200 and 210), which is
that of Fetterly, Manasse and Najork, "On the evolution of clusters of near-duplicate web pages"
(2003), after Broder (1997): a page is the set of its *shingles*, runs of five words; of each of 84
random permutations of all shingles the page keeps its least one; 6 *supershingles* are hashes of 14
of these each, and 15 *megashingles* are the pairs of supershingles. Pages that are 95 % alike share a
megashingle with a probability of 0.88 (the document says 90 %), pages that are 80 % alike with 0.026.

One bucket per host; in each bucket one hash table per position of the megashingle vector; pages that an entry holds
together form an equivalence class. To share a megashingle is not transitive - A and B may share one, B and C another
one, and A and C little - so that a class made in this way is parted again: every page must resemble
the *medoid* of its class, the page that resembles the others most.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from math import comb
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from ...observation import Observation
from ...pages.versions import Version
from ...urls import normal_form, site_of_url
from ..contents import why_no_page
from ..data.clusters import NO_EVIDENCE, Clusters

Hashes = npt.NDArray[np.uint64]

RARE = 4
"""Pages at most on which a rare word stands."""
SHINGLE_WORDS = 5
"""Words of a shingle."""
MINWISE = 84
SUPERSHINGLES = 6
MEGASHINGLES = comb(SUPERSHINGLES, 2)
_EACH = MINWISE // SUPERSHINGLES
_PAIRS = tuple(combinations(range(SUPERSHINGLES), 2))
_CHUNK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Shingling:
    """What is kept of a page: ``minwise`` 84 values, ``megashingles`` 15, all of 64 bits."""

    minwise: Hashes
    megashingles: tuple[int, ...]


def shingling(words: Sequence[str]) -> Shingling:
    """Return the shingling of a page's words, of which there is one at least, in O(84 n)."""
    minwise = minwise_values(shingles(words))
    return Shingling(minwise, megashingles(minwise))


def shingles(words: Sequence[str]) -> Hashes:
    """Return the distinct shingles of *words*, hashed to 64 bits; a page of fewer words than one has is one shingle.

    >>> len(shingles("a rose is a rose is a rose is a rose".split()))
    3
    """
    hashes = np.array([xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in words], dtype=np.uint64)
    size = min(SHINGLE_WORDS, len(hashes))
    count = len(hashes) - size + 1 if size else 0
    total = np.zeros(count, dtype=np.uint64)
    for offset in range(size):
        # Mixed at each step: the order of the words counts.
        total = _mixed(total + hashes[offset : offset + count])
    return np.unique(total)


def minwise_values(shingle_hashes: Hashes) -> Hashes:
    """Return the least shingle of each of the 84 permutations.

    The share of values that two pages have in common estimates their resemblance, the size of the
    intersection of their shingles over that of the union, with a standard error of at most 0.055.
    """
    seeds = _seeds()[:, np.newaxis]
    least = np.full(MINWISE, np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(shingle_hashes), _CHUNK):
        part = shingle_hashes[start : start + _CHUNK]
        least = np.minimum(least, _mixed(part[np.newaxis, :] ^ seeds).min(axis=1))
    return least


def megashingles(minwise: Hashes) -> tuple[int, ...]:
    """Return the 15 megashingles of 84 minwise values: hashes of the pairs of 6 supershingles."""
    groups = np.ascontiguousarray(minwise, dtype="<u8").reshape(SUPERSHINGLES, _EACH)
    supers = [xxh3_64_intdigest(group.tobytes()).to_bytes(8, "little") for group in groups]
    return tuple(xxh3_64_intdigest(supers[a] + supers[b]) for a, b in _PAIRS)


@cache
def _seeds() -> Hashes:
    # Odd steps of 2**64 / golden ratio, mixed: fixed, so that values of today compare with tomorrow's.
    return _mixed(np.arange(1, MINWISE + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _mixed(numbers: Hashes) -> Hashes:
    """Return a permutation of all 64-bit numbers (the finalizer of splitmix64), applied to *numbers*."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


MIN_RESEMBLANCE = 0.9
"""Estimated resemblance to the medoid that makes a page one of its class."""
MIN_WORDS = 100
"""Pages with fewer words have too few shingles for 84 values: they are equal or they are not."""
MAX_CANDIDATES = 32
"""Pages of a class that are tried as its medoid, and compared to find it."""
MAX_ROUNDS = 32
"""Classes at most into which pages that hang together are parted; what is left stays alone."""


def equivalence_classes(pages: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the classes of two URLs or more of the same host whose pages are near-identical.

    *pages* are the words of what each URL led to; a page without words is in no class. Linear in the words.
    """
    found = []
    for bucket in buckets(pages):
        long = [url for url in bucket if len(pages[url]) >= MIN_WORDS]
        short: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for url in bucket:
            if 0 < len(pages[url]) < MIN_WORDS:
                short[tuple(pages[url])].append(url)
        shinglings = [shingling(pages[url]) for url in long]
        parts = [part for members in sharing(shinglings) for part in parted(shinglings, members)]
        found += [*short.values(), *([long[i] for i in part] for part in parts)]
    return [urls for urls in found if len(urls) > 1]


def buckets(urls: Iterable[str]) -> list[list[str]]:
    """Return the URLs of each host: those of different hosts are never compared."""
    by_host: defaultdict[str, list[str]] = defaultdict(list)
    for url in urls:
        by_host[host_of(url)].append(url)
    return list(by_host.values())


def host_of(url: str) -> str:
    """Return the host of a URL with its port, "" where it has none."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def joined(pairs: Iterable[tuple[int, int]]) -> Callable[[int], int]:
    """Return what gives the least number that a number hangs together with, chain by chain, by some pairs."""
    less: dict[int, int] = {}

    def least(number: int) -> int:
        way = []
        while number in less:
            way.append(number)
            number = less[number]
        less.update(dict.fromkeys(way, number))
        return number

    for pair in pairs:
        low, high = sorted(map(least, pair))
        if low < high:
            less[high] = low
    return least


def sharing(pages: Sequence[Shingling]) -> list[list[int]]:
    """Return the numbers of the pages that hang together by shared megashingles, two or more.

    A megashingle counts at its own position only. What shares one is joined, chain by chain.
    """
    first: dict[tuple[int, int], int] = {}
    least = joined(
        (first.setdefault(megashingle, number), number)
        for number, page in enumerate(pages)
        for megashingle in enumerate(page.megashingles)
    )
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(len(pages)):
        groups[least(number)].append(number)
    return [members for members in groups.values() if len(members) > 1]


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


logger = logging.getLogger(__name__)


def rare_word_classes(pages: Mapping[str, Sequence[str]], *, most: int = RARE) -> list[list[str]]:
    """Return the classes of two URLs or more of the same host whose pages have the same rare words: on *most* pages or fewer.

    The document's assumption is that such pages are highly similar. A word of a page with many URLs stands on as many pages
    as these and is not rare: small *most* finds small classes only. Pages without rare words are in no class.

    >>> rare_word_classes({"/a": ["the", "axolotl"], "/b": ["the", "axolotl"], "/c": ["the", "bat"], "/d": ["the"]}, most=2)
    [['/a', '/b']]
    """
    found = []
    for bucket in buckets(pages):
        frequency = Counter(word for url in bucket for word in set(pages[url]))
        table: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for url in bucket:
            table[frozenset(word for word in pages[url] if frequency[word] <= most)].append(url)
        found += [urls for rare, urls in table.items() if rare and len(urls) > 1]
    return found


def near_identical(found: Clusters, seen: Iterable[Observation], how: str = "shingles") -> Clusters:
    """Return the clusters of a site, joined where their pages are near-identical by *how*: "shingles" or "rare words".

    A page takes part if one of the observations that were *seen* has its texts. One page of each cluster and host is
    compared. O(84 x words of these).
    """
    versions = _latest_versions(seen)
    content = dict(zip(found.urls, found.content, strict=True))
    compared: dict[tuple[str, int], str] = {}
    for url in sorted(versions.keys() & content.keys()):
        if content[url] != NO_EVIDENCE:
            compared.setdefault((host_of(url), content[url]), url)
    if not compared and found.urls:
        logger.warning(
            "%s: no page has its texts in the store, so that none is compared by %s", site_of_url(found.urls[0]), how
        )
    words = {url: _words(versions[url]) for url in compared.values()}
    alike = rare_word_classes(words) if how == "rare words" else equivalence_classes(words)
    least = joined((content[urls[0]], content[url]) for urls in alike for url in urls)
    numbered: dict[int, int] = {NO_EVIDENCE: NO_EVIDENCE}
    together = [numbered.setdefault(least(number), len(numbered) - 1) for number in found.content]
    passwords = found.passwords and frozenset(numbered[least(number)] for number in found.passwords)
    return replace(found, content=together, passwords=passwords)


def _latest_versions(seen: Iterable[Observation]) -> dict[str, Version]:
    """Return the version that each URL has shown last, as far as texts are kept."""
    versions: dict[str, Version] = {}
    for each in sorted(seen, key=lambda one: one.time or 0.0):
        if each.version is not None and why_no_page(each) is None:
            versions[normal_form(each.url)] = each.version
    return versions


def _words(version: Version) -> list[str]:
    """Return the words of a page that a reader sees."""
    return " ".join([text for _, attribute, text in version.seen if not attribute]).split()
