"""Other ways to tell that pages are identical or nearly so.

Those that "url-normalization-rule-inference" names beside shingling (summary, and the detailed
description of FIG. 2): a hash of the whole page, a hash of its non-markup words, its *rare* words, and
the lines in which two pages differ, as Unix ``diff`` finds them. The first three give a value per
page, and pages of one value are a class; the last compares a pair.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

from xxhash import xxh3_128_hexdigest

from .shingles import words_of_html

RARE = 4
"""Pages at most on which a rare word stands."""
MAX_LINES = 20_000
"""Lines at most that are compared line by line; longer pages are equal or they are not."""

LEAST_SHARED = 0.95
"""Share of their lines that near-identical pages have in common: the document's example."""

Value = TypeVar("Value", bound=Hashable)


def checksum(page: bytes) -> str:
    """Return a hash of the whole page, 32 hexadecimal digits."""
    return xxh3_128_hexdigest(page)


def words_checksum(page: str | bytes) -> str:
    """Return a hash of the non-markup words of an HTML page, 32 hexadecimal digits.

    >>> words_checksum("<p>one two") == words_checksum("<div><b>one</b> two</div>")
    True
    """
    return xxh3_128_hexdigest("\0".join(words_of_html(page)).encode("utf-8", "replace"))


def rare_words(pages: Mapping[str, Iterable[str]], *, most: int = RARE) -> dict[str, frozenset[str]]:
    """Return the rare words of each page: URL -> those of its words that stand on *most* pages or fewer.

    The document's assumption is that pages with the same rare words are highly similar. A word of a
    page with many URLs stands on as many pages as these and is not rare: small *most* finds small
    classes only. Pages without rare words are left out, since they have nothing in common by that.

    >>> rare_words({"/a": ["the", "axolotl"], "/b": ["the", "axolotl"], "/c": ["the", "bat"]}, most=2)
    {'/a': frozenset({'axolotl'}), '/b': frozenset({'axolotl'}), '/c': frozenset({'bat'})}
    """
    distinct = {url: frozenset(words) for url, words in pages.items()}
    frequency = Counter(word for words in distinct.values() for word in words)
    rare = {url: frozenset(word for word in words if frequency[word] <= most) for url, words in distinct.items()}
    return {url: words for url, words in rare.items() if words}


def classes(values: Mapping[str, Value]) -> list[list[str]]:
    """Return the URLs that have one value, two or more, in the order in which they came.

    >>> classes({"/a": 1, "/b": 2, "/c": 1})
    [['/a', '/c']]
    """
    table: defaultdict[Value, list[str]] = defaultdict(list)
    for url, value in values.items():
        table[value].append(url)
    return [urls for urls in table.values() if len(urls) > 1]


def line_classes(pages: Mapping[str, Sequence[str]], least: float = LEAST_SHARED) -> list[list[str]]:
    """Return the URLs whose lines are nearly the same as those of the first one of their class, two or more.

    Each page is compared with the first page of each class so far: O(pages x classes) comparisons, for a few pages.

    >>> line_classes({"/a": ["one", "two"], "/b": ["one", "2"], "/c": ["one", "two"]})
    [['/a', '/c']]
    """
    found: list[tuple[Sequence[str], list[str]]] = []
    for url, lines in pages.items():
        known = next((urls for first, urls in found if line_difference(first, lines) <= 1 - least + 1e-9), None)
        if known is None:
            found.append((lines, [url]))
        else:
            known.append(url)
    return [urls for _, urls in found if len(urls) > 1]


def line_difference(a: Sequence[str], b: Sequence[str]) -> float:
    """Return the share of the lines of two pages that ``diff`` would show, from 0 (equal) to 1.

    It compares pairs and costs the product of their lines at worst: for a few pages, not for a site.

    >>> line_difference(["one", "two", "three", "four"], ["one", "2", "three", "four"])
    0.25
    """
    if list(a) == list(b):
        return 0.0
    if len(a) + len(b) > MAX_LINES:
        return 1.0
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    common = sum(block.size for block in matcher.get_matching_blocks())
    return 1 - 2 * common / (len(a) + len(b))
