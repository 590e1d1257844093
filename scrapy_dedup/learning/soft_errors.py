"""Soft errors: contents that unrelated URLs show with status 200, such as an error, an empty result or a log-in wall.

What the URLs of a page have in common, hardly any other URL has: an id, a title. What the URLs of a soft error have in
common, many others have, too. Soft errors are no evidence, either way.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["soft_errors"]

LEAST_URLS = 3
"""URLs that show a content before it can be told."""
SHARED = 0.8
"""Share of its URLs that have what these have in common."""
MOST_SHARE = 0.07
"""Share of the URLs with all that, up to which those of a content have nothing of their own in common."""
MOST_WORDS = 8
"""Words that are looked for, the rarest first."""
MOST_PARTS = 5
"""Words and numbers in a row up to which they are such, and not a token."""
_words = re.compile(r"[0-9A-Za-z]+").findall
_parts = re.compile(r"[0-9]+|[A-Za-z]+").findall


def soft_errors(urls: Sequence[str], content: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return which URLs show a soft error. Linear in the words of the URLs."""
    found = np.zeros(len(urls), dtype=np.bool_)
    numbers, counts = np.unique(content, return_counts=True)
    several = np.isin(content, numbers[counts >= LEAST_URLS])
    if not several.any():
        return found
    words = [_words_of(url.partition("//")[2].partition("/")[2]) for url in urls]
    holding: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    showing: defaultdict[int, list[int]] = defaultdict(list)
    for row, page in enumerate(content.tolist()):
        for word in words[row]:
            holding[word].add(row)
        if several[row]:
            showing[page].append(row)
    for rows in showing.values():
        counted = Counter(word for row in rows for word in words[row])
        common = [word for word, number in counted.items() if number >= SHARED * len(rows)]
        common = sorted(common, key=lambda word: (len(holding[word]), word))[:MOST_WORDS]
        having = set.intersection(*(holding[word] for word in common)) if common else range(len(urls))
        if len(rows) < MOST_SHARE * len(having):
            found[rows] = True
    return found


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
