"""Features of a place: how what stands there changes with the page, with the time, and from response to response.

What is transient is a matter of the moment or of the single response, content is a matter of its page. So the distances between
fetches of one page are held against those between pages fetched one after the other, and those between any two responses. Beside these:
what was shown looks like, and where on the page it stands. Source: ours; the transient-content document counts changes alone.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log

from .distances import Distances, Shown, is_number

__all__ = ["MOMENTS", "features"]

MOMENTS = 900.0
"""Seconds between two fetches that are moments apart."""
TRIALS = 2.0
"""Fetches within moments that count of one page: one that is fetched again and again says no more than two."""
USUAL = 0.3, 1.0
"""Share of fetches within moments that differ where nothing was seen, and how many fetches that weighs."""
FEW = 6.0
"""Pairs of responses that say half of what any number says."""

_token = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w+/=.:|~-]{10,}", re.ASCII).search


def features(shown: Sequence[Shown], *, everywhere: float) -> dict[str, float]:
    """Return the features of a place, by name, from what was *shown*, in any order.

    *everywhere* is the share of the kinds of pages that have the place. All features are about 0 to 1, and ``anew`` a logarithm of odds.
    """
    shown = sorted(shown, key=lambda each: (each.at, each.page))
    pages: defaultdict[str, list[Shown]] = defaultdict(list)
    for each in shown:
        pages[each.page].append(each)
    distance = Distances(shown)
    again = [pair for found in pages.values() for pair in pairwise(found)]
    others = [pair for pair in pairwise(shown) if pair[0].page != pair[1].page]
    any_two = _mean([distance(*pair) for pair in _far(shown)], 1.0)
    there = [each for each in shown if each.value]
    texts = [" ".join(each.value) for each in there]
    with_time = distance.as_clock  # a page's own time of day may be near to that of the page before
    if with_time is None:
        with_time = max(_nearer([distance(*pair) for pair in others], any_two), distance.as_counter)
    return {
        "anew": _anew(pages.values()),
        "time": with_time,
        "page": _nearer([distance(*pair) for pair in again], any_two) if len(pages) > 1 else 0.0,
        "pool": _shared(there),
        "number": _share(map(is_number, texts)),
        "token": _share(_token(text) is not None for text in texts),
        "words": min(1.0, _mean([len(text.split()) for text in texts], 0.0) / 10),
        "near": _mean([each.near for each in there], 1.0),
        "everywhere": everywhere,
        "kinds": min(3, len({each.kinds for each in there}) - 1) / 3,
        "comes": _share((not one.value or not other.value) for one, other in again if one.value != other.value),
    }


def _anew(pages: Iterable[Sequence[Shown]]) -> float:
    """Return the log-odds that a URL shows something else within moments, less those of any place."""
    changes = trials = 0.0
    for found in pages:
        soon = [
            one.value != other.value
            for one, other in pairwise(found)
            if other.at - one.at <= MOMENTS and one.url == other.url
        ]
        if soon:
            weight = min(1.0, TRIALS / len(soon))
            changes, trials = changes + weight * sum(soon), trials + weight * len(soon)
    share, weight = USUAL
    posterior = (changes + share * weight) / (trials + weight)
    return log(posterior / (1 - posterior)) - log(share / (1 - share))


def _far(shown: Sequence[Shown]) -> Iterator[tuple[Shown, Shown]]:
    """Yield responses of different pages that are far from each other in time."""
    step = max(1, len(shown) // 3)
    for shift in (step, step + 1, 2 * step + 1):
        for one, other in zip(shown, shown[shift:], strict=False):
            if one.page != other.page:
                yield one, other


def _nearer(distances: Sequence[float], any_two: float) -> float:
    """Return by how much *distances* are smaller than those of any two responses: from -.5 to 1, and 0 without any."""
    certain = len(distances) / (len(distances) + FEW)
    return certain * (1 - min(1.5, _mean(distances, 0.0) / (any_two + 0.02)))


def _shared(there: Sequence[Shown]) -> float:
    """Return the share of the texts that other pages have shown, too."""
    pages: defaultdict[str, set[str]] = defaultdict(set)
    times: Counter[str] = Counter()
    for each in there:
        times.update(each.value)
        for text in each.value:
            pages[text].add(each.page)
    return sum(number for text, number in times.items() if len(pages[text]) > 1) / (times.total() + 3.0)


def _mean(found: Sequence[float], otherwise: float) -> float:
    return sum(found) / len(found) if found else otherwise


def _share(found: Iterable[bool]) -> float:
    """Return the share of what is true; 0 of nothing."""
    values = [float(each) for each in found]
    return _mean(values, 0.0)
