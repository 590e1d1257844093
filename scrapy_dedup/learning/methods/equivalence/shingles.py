"""Shingling: how much two pages have in common, told from 84 numbers of each.

The example algorithm of "url-normalization-rule-inference" (detailed description, FIG. 2), which is
that of Fetterly, Manasse and Najork, "On the evolution of clusters of near-duplicate web pages"
(2003), after Broder (1997): a page is the set of its *shingles*, runs of five words; of each of 84
random permutations of all shingles the page keeps its least one; 6 *supershingles* are hashes of 14
of these each, and 15 *megashingles* are the pairs of supershingles. Pages that are 95 % alike share a
megashingle with a probability of 0.88 (the document says 90 %), pages that are 80 % alike with 0.026.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from ....content.html import parse
from ....content.sketch import visible_texts

Hashes = npt.NDArray[np.uint64]

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
    """What is kept of a page: ``minwise`` 84 values, ``megashingles`` 15, all of 64 bits.

    ``words`` is the number of words of the page, ``checksum`` the hash of their sequence.
    """

    minwise: Hashes
    megashingles: tuple[int, ...]
    words: int
    checksum: int


def words_of_html(page: str | bytes) -> list[str]:
    """Return the non-markup words of an HTML page (text or UTF-8 bytes), those that a reader sees.

    >>> words_of_html("<p>one <b>two</b><script>three</script>")
    ['one', 'two']
    """
    return " ".join(visible_texts(parse(page))).split()


def shingling(words: Sequence[str]) -> Shingling | None:
    """Return the shingling of a page's words, None of a page without words, in O(84 n)."""
    if not words:
        return None
    minwise = minwise_values(shingles(words))
    checksum = xxh3_64_intdigest("\0".join(words).encode("utf-8", "replace"))
    return Shingling(minwise, megashingles(minwise), len(words), checksum)


def shingles(words: Sequence[str], size: int = SHINGLE_WORDS) -> Hashes:
    """Return the distinct shingles of *words*, hashed to 64 bits.

    A page of fewer than *size* words is one shingle. Raises ValueError for a size below 1.

    >>> len(shingles("a rose is a rose is a rose is".split(), 4))
    3
    """
    if size < 1:
        raise ValueError(f"a shingle of {size} words is none")
    hashes = np.array([xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in words], dtype=np.uint64)
    size = min(size, len(hashes))
    if not size:
        return hashes
    count = len(hashes) - size + 1
    total = np.zeros(count, dtype=np.uint64)
    for offset in range(size):
        # Mixed at each step: the order of the words counts.
        total = _mixed(total + hashes[offset : offset + count])
    return np.unique(total)


def minwise_values(shingle_hashes: Hashes) -> Hashes:
    """Return the least shingle of each of the 84 permutations. Raises ValueError where there is none.

    The share of values that two pages have in common estimates their resemblance, the size of the
    intersection of their shingles over that of the union, with a standard error of at most 0.055.
    """
    if not len(shingle_hashes):
        raise ValueError("a page without shingles has no minwise values")
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
