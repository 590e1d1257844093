"""Whether samples of filtered URLs refute the rule that filtered them: a sequential test.

Source: url-parameter-relevance, the passage on sampling discarded URLs ("further evidence to support
or refute existing rules"), which names no test. Ours is of the ratio of likelihoods: that of "any share
of the rule's URLs is another page", averaged over all shares, to that of "only noise makes them differ".
Where the noise is what is assumed, a right rule ever reaches :data:`REFUTING_RATIO` with a probability of at most
1 / REFUTING_RATIO, however often one looks (Ville's inequality). So that a rule that was right for long can still
be refuted soon, the last few samples are tested by themselves, too, for which that bound does not hold.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from math import exp, log, log1p

from ..evidence.shares import of_any_share, upper_bound

REFUTING_RATIO = 20.0
"""The ratio of likelihoods that refutes a rule."""
RECENT = 6
"""The last samples, which are also tested by themselves."""
UNKNOWN_NOISE = 0.05
"""The share of pages that differ from themselves where nobody has looked, and the weight of one look."""
UNKNOWN_CLEAR_NOISE = 0.001
"""The same of pages that have hardly anything in common with themselves."""
MOST_CLEAR_NOISE = 0.5
ENOUGH_OF_A_CRAWL = 5
"""Minimum number of pages fetched twice in one crawl from which on earlier crawls are not needed."""
MOST_MET = 1_000
"""Pages of differing samples that are remembered."""


class Difference(Enum):
    """How a page differs from the one that it is compared with."""

    #: Not at all.
    NONE = "none"
    #: In a few words, or nobody can tell in how many.
    NEAR = "near"
    #: In most of what is its own.
    CLEAR = "clear"
    #: One of them is no page, or has hardly any text.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Noise:
    """How often a page of a site differs from itself, when the same URL is fetched twice.

    Of *compared* pages that this crawl has fetched twice *differing* differ, *clear* of them clearly. Where those are
    few, earlier fetches count, too: *earlier_differing* of *earlier_compared* differ in some words. What differs clearly
    from what it was in another crawl is left out there: it may have become another page.
    """

    differing: int = 0
    compared: int = 0
    clear: int = 0
    earlier_differing: int = 0
    earlier_compared: int = 0

    @property
    def share(self) -> float:
        """Return the share of pages that differ by noise: where some was met, its upper bound.

        >>> Noise().share, Noise(0, 9).share, Noise(3, 3).share
        (0.05, 0.005, 1.0)
        >>> Noise(0, 9, 0, 9, 9).share, Noise(0, 0, 0, 9, 9).share
        (0.005, 1.0)
        """
        differing, compared = self.differing, self.compared
        if compared < ENOUGH_OF_A_CRAWL:
            differing, compared = differing + self.earlier_differing, compared + self.earlier_compared
        return upper_bound(differing, compared) if differing else UNKNOWN_NOISE / (compared + 1)

    @property
    def clear_share(self) -> float:
        """Return the share of pages that hardly resemble themselves; never above MOST_CLEAR_NOISE."""
        mean = (self.clear + UNKNOWN_CLEAR_NOISE) / (self.compared + 1)
        return min(MOST_CLEAR_NOISE, max(mean, UNKNOWN_CLEAR_NOISE))


@dataclass(slots=True)
class Trial:
    """The samples of one rule in a crawl, as they come."""

    samples: int = 0
    differing: int = 0
    clear: int = 0
    #: Others of which nobody can tell.
    undecided: int = 0
    _recent: deque[Difference] = field(default_factory=lambda: deque(maxlen=RECENT))
    _met: set[str] = field(default_factory=set)

    def met(self, page: str) -> bool:
        """Return whether another sample was this page, too: an error, a form to log in; otherwise remember it.

        One page counts once, however many samples lead to it.
        """
        known = page in self._met
        if len(self._met) < MOST_MET:
            self._met.add(page)
        return known

    def add(self, difference: Difference) -> None:
        """Count a sample. Raises ValueError for one that says nothing."""
        if difference is Difference.UNKNOWN:
            raise ValueError("a sample that cannot be compared is no evidence")
        self.samples += 1
        self.differing += difference is not Difference.NONE
        self.clear += difference is Difference.CLEAR
        self._recent.append(difference)

    @property
    def possibly_lost(self) -> tuple[int, int]:
        """Return the number of all samples, and of those that are not known to be the page they were taken for."""
        return self.samples + self.undecided, self.differing + self.undecided

    def refuted(self, noise: Noise) -> bool:
        """Return whether these samples refute the rule, where the site has so much *noise*."""
        recent = len(self._recent)
        differing = recent - self._recent.count(Difference.NONE)
        clear = self._recent.count(Difference.CLEAR)
        return any(
            likelihood_ratio(bad, total, share) >= REFUTING_RATIO
            for bad, total, share in (
                (self.clear, self.samples, noise.clear_share),
                (self.differing, self.samples, noise.share),
                (clear, recent, noise.clear_share),
                (differing, recent, noise.share),
            )
        )


def likelihood_ratio(bad: int, total: int, noise: float) -> float:
    """Return how much likelier it is that *bad* of *total* samples differ by a rule's fault than by *noise*.

    A rule's fault is any share of its URLs, each as likely as another.

    >>> likelihood_ratio(0, 9, 0.05) < 1 < likelihood_ratio(1, 1, 0.05) < 20 < likelihood_ratio(2, 2, 0.05)
    True
    """
    if bad == 0 or noise >= 1.0 or bad <= noise * total:
        return min(1.0, 1 / (total + 1)) if bad == 0 else 0.0
    by_fault = of_any_share(bad, total)
    by_noise = bad * log(noise) + (total - bad) * log1p(-noise)
    return exp(min(by_fault - by_noise, 700.0))


def noise_of(pairs: Iterable[tuple[Difference, bool]]) -> Noise:
    """Return the noise of URLs fetched twice: how each two fetches differ, and whether both are of this crawl."""
    found = Counter((difference, here) for difference, here in pairs if difference is not Difference.UNKNOWN)
    near, clear = found[Difference.NEAR, True], found[Difference.CLEAR, True]
    earlier = found[Difference.NEAR, False]
    return Noise(
        differing=near + clear,
        compared=near + clear + found[Difference.NONE, True],
        clear=clear,
        earlier_differing=earlier,
        earlier_compared=earlier + found[Difference.NONE, False],
    )
