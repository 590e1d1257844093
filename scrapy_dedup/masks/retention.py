"""Retention: which versions of a page are kept where not all can be.

They are spread over time: the first one, the last one, and those in between whose ages are far apart *in proportion*, so that
yesterday's stands beside that of a week and that of a month ago. A site that is crawled every ten minutes then shows what
changes by the day, as one does that is crawled daily. Two versions fetched within moments of one another
say something that no others do, what is drawn anew with each response, and two such pairs are kept where there are any.
"""

from collections.abc import Sequence
from math import log
from typing import Final

__all__ = ["MOMENTS", "MOST_OF_KIND", "MOST_VERSIONS", "Fetch", "retained"]

MOMENTS: Final = 900.0
"""Seconds between two responses within which hardly any page is edited: what differs was drawn anew, or is the time."""
PAIRS: Final = 2
"""Pairs within moments that are kept: one may be luck."""

MOST_VERSIONS: Final = 8
"""Versions of one page that are compared with one another."""
MOST_OF_KIND: Final = 40
"""Pages of a URL template that are compared: more of them tell what these have told."""

Fetch = tuple[float, str]
"""When a version was fetched, in seconds since 1970, and the URL that it was fetched from."""


def retained(fetches: Sequence[Fetch], most: int) -> list[int]:
    """Return the places of at most *most*, at least two, of the versions of a page that were fetched so, in order of time.

    They are taken in one after the other, and one goes as often as there are too many. So it makes no difference
    whether versions are left out from time to time or all at once, and what was left out is never asked for again.
    """
    kept: list[int] = []
    for place in range(len(fetches)):
        kept.append(place)
        if len(kept) > most:
            del kept[_least_telling([fetches[each] for each in kept])]
    return kept


def _least_telling(fetches: Sequence[Fetch]) -> int:
    """Return the place of the version that says least beside the others: neither the first nor the last."""
    last = fetches[-1][0]
    # Ages of less than moments are as good as the same.
    ages = [log(last - at + MOMENTS) for at, _ in fetches]
    inner = range(1, len(fetches) - 1)
    pairs = sum(_are_pair(*fetches[place : place + 2]) for place in range(len(fetches) - 1))

    def worth(place: int) -> tuple[int, float]:
        before, this, after = fetches[place - 1 : place + 2]
        left = pairs - _are_pair(before, this) - _are_pair(this, after) + _are_pair(before, after)
        # By so much, twice, the sum of the squares of the gaps grows without it.
        return -min(left, PAIRS), (ages[place - 1] - ages[place]) * (ages[place] - ages[place + 1])

    return min(inner, key=worth)


def _are_pair(one: Fetch, other: Fetch) -> bool:
    """Return whether two versions were fetched within moments of one another, under one URL."""
    return one[1] == other[1] and other[0] - one[0] <= MOMENTS
