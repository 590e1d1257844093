"""Whether what changes belongs to its page.

A weather report is the same on all pages, an advertisement of one page stood on another before, and the number of
visitors says nothing of the page it stands on; a price or a stock figure of a page is nearer to what it was before than
to those of other pages. So a text and its predecessor on the same page are compared with what stands at that place on
other pages.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ..slots import pieces
from .alignment import aligned
from .evidence import Change

__all__ = ["Belonging", "belonging", "is_price", "is_rising", "tells_time"]

_MOST_CHANGES = 16
_MOST_OTHERS = 8

_number = re.compile(r"\D{0,3}(\d[\d.,' ]*)\D{0,3}").fullmatch
_digits = re.compile(r"\d+").findall
_price = re.compile(
    r"[$€£¥₹₽₩₺฿]\s?\d|\d\s?[$€£¥₹₽₩₺฿]"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|zł|kr|Kč|Fr)\.?\s?\d"
    r"|\d\s?(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|zł|kr|Kč|Fr|[Ee]uros?|[Dd]ollars?)(?![A-Za-z])"
).search
_time = re.compile(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)|(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)").search


@dataclass(frozen=True, slots=True)
class Belonging:
    """Comparisons of a text with its predecessor and with the texts of other pages: which is nearer to it."""

    to_page: float
    """Share of them in which its predecessor is."""
    shared: float
    """Share of them in which the other page's text is the same."""
    comparisons: int

    @property
    def is_pages(self) -> bool:
        """Whether it is a matter of the page."""
        return self.to_page > 0.7

    @property
    def is_sites(self) -> bool:
        """Whether it is a matter of the site: other pages show the same, and show it instead."""
        return self.shared >= 0.2 and self.to_page <= 0.5

    @property
    def is_everywhere(self) -> bool:
        """Whether (nearly) all pages show the same."""
        return self.shared >= 0.9


def belonging(changes: Sequence[Change], attribute: str = "") -> Belonging:
    """Compare changes of one place on several pages."""
    some = list(islice(changes, _MOST_CHANGES))
    values = [(change, *_values(change, attribute)) for change in some]
    nearer = {-1: 0, 0: 0, 1: 0}
    shared = 0
    for number, (change, before, after) in enumerate(values):
        within = distance(before, after)
        compared = 0
        for other, _, there in values[number + 1 :] + values[:number]:
            if other.page == change.page or not there:
                continue
            between = distance(there, after)
            nearer[(within > between) - (within < between)] += 1
            shared += not between
            compared += 1
            if compared == _MOST_OTHERS:
                break
    total = sum(nearer.values())
    if not total:
        return Belonging(0.0, 0.0, 0)
    return Belonging(nearer[-1] / total, shared / total, total)


def _values(change: Change, attribute: str) -> tuple[list[str], list[str]]:
    """Return what changed of single texts, in pieces; all texts of several."""
    if not len(change.before) == len(change.after) == 1:
        return list(change.before), list(change.after)
    before, after = pieces(change.before[0], attribute), pieces(change.after[0], attribute)
    for i, j in reversed(aligned(before, after)):
        del before[i], after[j]
    return before, after


def distance(a: Sequence[str], b: Sequence[str]) -> float:
    """Return how far two lists of words are apart, from 0 to 1: in their places if there are as many, else as bags.

    >>> distance(["12", "left"], ["11", "left"]) < distance(["12", "left"], ["90", "left"])
    True
    """
    if len(a) == len(b):
        return sum(map(_word_distance, a, b)) / (len(a) or 1)
    return 1 - (Counter(a) & Counter(b)).total() / max(len(a), len(b))


def _word_distance(a: str, b: str) -> float:
    if a == b:
        return 0.0
    x, y = _number_in(a), _number_in(b)
    if x is None or y is None or x + y == 0:
        return 1.0
    return abs(x - y) / (x + y)


def _number_in(word: str) -> float | None:
    """Return the number that a word is, whatever stands around and between its digits."""
    found = _number(word)
    return float("".join(_digits(found[1]))[:15]) if found else None


def is_rising(change: Change, attribute: str = "") -> bool:
    """Whether all that changed is one number that rose, as one that counts visits does."""
    before, after = _values(change, attribute)
    if not len(before) == len(after) == 1:
        return False
    x, y = _number_in(before[0]), _number_in(after[0])
    return x is not None and y is not None and x < y


def is_price(change: Change) -> bool:
    """Whether what changed is an amount of money."""
    return any(_price(text) for text in change.after) or any(_price(text) for text in change.before)


def tells_time(change: Change) -> bool:
    """Whether what changed tells a time of day or a date."""
    return any(_time(text) for text in change.after)
