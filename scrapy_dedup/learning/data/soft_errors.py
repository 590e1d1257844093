"""Soft errors: contents that unrelated URLs show with status 200, such as an error, an empty result or a log-in wall.

What the URLs of a page have in common, hardly any other URL has: an id, a title. The URLs of a soft error have nothing in
common that others have not; each of them is nearer to URLs of the page that should have been there. Soft errors are no
evidence, either way.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..config import current
from ..evidence.arrays import Integers

MOST_WORDS = 8
"""Words that are looked for, the rarest first."""
MOST_ASKED = 12
"""URLs of a content whose nearest relatives are looked for."""
MOST_HOLDING = 2_000
"""URLs that hold a word up to which it is looked at in such a search."""
MOST_PARTS = 5
"""Words and numbers in a row up to which they are such, and not a token."""
_words = re.compile(r"[0-9A-Za-z]+").findall
_parts = re.compile(r"[0-9]+|[A-Za-z]+").findall


def soft_errors(urls: Sequence[str], content: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return which URLs show a soft error. Linear in the words of the URLs."""
    found = np.zeros(len(urls), dtype=np.bool_)
    numbers, counts = np.unique(content, return_counts=True)
    several = np.isin(content, numbers[counts >= current().soft_least_urls])
    if not several.any():
        return found
    words = _Words.of(url.partition("//")[2].partition("/")[2] for url in urls)
    rows = np.flatnonzero(several)
    rows = rows[np.argsort(content[rows], kind="stable")]
    for showing in np.split(rows, np.flatnonzero(np.diff(content[rows])) + 1):
        if len(showing) >= current().soft_own * words.having_in_common(showing):
            continue
        if words.nearest(showing[:: len(showing) // MOST_ASKED + 1], content) < current().soft_own:
            found[showing] = True
    return found


class _Words:
    """The words of some URLs: those of each, and the URLs that hold each, as numbers."""

    def __init__(self, of_url: Integers, ends: Integers) -> None:
        self._of_url, self._ends = of_url, ends
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)).astype(np.int32)
        self._holding = rows[np.argsort(of_url, kind="stable")]
        self._counts = np.bincount(of_url)
        self._until = np.cumsum(self._counts)

    @classmethod
    def of(cls, texts: Iterable[str]) -> "_Words":
        """Return the words of texts."""
        numbers: dict[tuple[str, int], int] = {}
        flat, ends = array("i"), array("q")
        for text in texts:
            flat.extend(numbers.setdefault(word, len(numbers)) for word in sorted(_words_of(text)))
            ends.append(len(flat))
        return cls(np.array(flat, dtype=np.int32), np.array(ends, dtype=np.int64))

    def _words_at(self, row: int) -> Integers:
        return self._of_url[self._ends[row - 1] if row else 0 : self._ends[row]]

    def _urls_with(self, word: int) -> Integers:
        return self._holding[self._until[word] - self._counts[word] : self._until[word]]

    def having_in_common(self, rows: Integers) -> int:
        """Return how many URLs have all that nearly all of some URLs have in common."""
        words, counts = np.unique(np.concatenate([self._words_at(row) for row in rows.tolist()]), return_counts=True)
        common = words[counts >= current().soft_in_common * len(rows)]
        if not len(common):
            return len(self._ends)
        having: Integers | None = None
        for word in common[np.lexsort((common, self._counts[common]))][:MOST_WORDS].tolist():
            those = self._urls_with(word)
            having = those if having is None else np.intersect1d(having, those, assume_unique=True)
        return len(having) if having is not None else len(self._ends)

    def nearest(self, rows: Integers, content: npt.NDArray[np.int32]) -> float:
        """Return the share of *rows* for which no URL of another content is nearer than one of their own.

        The rarer the words that two URLs share, the nearer they are.
        """
        return sum(self._is_among_its_own(row, content) for row in rows.tolist()) / len(rows)

    def _is_among_its_own(self, row: int, content: npt.NDArray[np.int32]) -> bool:
        own = self._words_at(row)
        shared = own[(self._counts[own] > 1) & (self._counts[own] <= MOST_HOLDING)]
        shared = shared[np.argsort(self._counts[shared], kind="stable")][:MOST_WORDS]
        if not len(shared):
            return False
        holding = np.concatenate([self._urls_with(word) for word in shared.tolist()])
        rarity = np.repeat(np.log(len(self._ends) / self._counts[shared]), self._counts[shared])
        others, place = np.unique(holding, return_inverse=True)
        near = np.bincount(place, rarity)
        alike = (content[others] == content[row]) & (others != row)
        apart = content[others] != content[row]
        return bool(alike.any()) and near[alike].max() >= near[apart].max(initial=0.0)


def _words_of(text: str) -> frozenset[tuple[str, int]]:
    """Return the words of a text, each with how often it came before, and the parts of words with numbers.

    A token has too many parts to be such a word.
    """
    path = text.partition("?")[0]
    found = {("/", path.count("/") + bool(path))}
    before: Counter[str] = Counter()
    for word in _words(text.lower()):
        some = _parts(word)
        for part in (word, *(f"{part}*" for part in some)) if 1 < len(some) <= MOST_PARTS else (word,):
            found.add((part, before[part]))
            before[part] += 1
    return frozenset(found)
