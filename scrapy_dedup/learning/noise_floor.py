"""The noise floor of a site: how often a URL is answered with something that is not its page.

An error page with status 200, a body cut short, a test version, a clock: where one URL was answered several times in
one crawl, in whatever spelling, no URL can be blamed for what differs. Source: design, section 6, "URLs that the normal
form already equates measure the noise floor".
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from .evidence import at_least_among

MIN_ODD, MIN_RESPONSES = 3, 60
"""Odd responses (and URLs that gave them), of so many, that it takes to speak of noise; kinds of pages, of that of a site."""
MAX_SHARE = 0.3
"""Share of odd responses from which on a site is not noisy, but new whenever it is asked."""
DOUBT = 0.01
"""Probability below which more odd responses than the floor has are no chance."""

Kind = Hashable


def kind_of(url: str) -> Kind:
    """Return a rough name of the kind of pages that a URL is of: its host does not count, nor its query."""
    path = url.partition("?")[0].split("/")[3:]
    return len(path), path[0] if len(path) > 1 else ""


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Of how many *responses* to URLs that were answered several times how many were *odd*: not what most of them were.

    ``share`` is the probability of a response to be odd. Of two that differ one is odd, which one cannot be told.
    """

    odd: int = 0
    responses: int = 0
    share: float = 0.0
    errors: frozenset[str] = frozenset()
    """What was seen in the place of several pages."""
    others: int = 0
    """Odd responses that are none of these errors."""
    kinds: frozenset[Kind] = frozenset()
    """The kinds of pages that were odd."""

    def __str__(self) -> str:
        return f"of {self.responses} responses to URLs that were asked several times {self.odd} were odd"

    @classmethod
    def of(cls, again: Iterable[tuple[str, Sequence[str]]]) -> "NoiseFloor":
        """Return the noise floor of a site, from (URL, what it showed in one crawl, response by response).

        Noise knows nothing of URLs. A kind of pages that differs far more often than the others do, the front page or
        the list of the latest, changes by itself and is left out.
        """
        kinds: defaultdict[Kind, list[Sequence[str]]] = defaultdict(list)
        for url, pages in again:
            kinds[kind_of(url)].append(pages)
        while kinds:
            every = _counted([pages for some in kinds.values() for pages in some])
            chance = {}
            for kind, some in kinds.items():
                odd, responses = _counted(some)
                chance[kind] = cls(every[0] - odd, every[1] - responses).chance(odd, responses)
            worst = min(kinds, key=lambda kind: chance[kind])
            if chance[worst] >= DOUBT or len(kinds) == 1:
                left = [pages for some in kinds.values() for pages in some]
                errors = _errors(left)
                others = sum(_odd([page for page in pages if page not in errors]) for pages in left)
                noisy = frozenset(kind for kind, some in kinds.items() if any(map(_odd, some)))
                floor = cls(*every, _share(left), errors, others, noisy)
                # What stands at one or two URLs is these URLs'.
                return floor if floor.is_noise and sum(_odd(pages) > 0 for pages in left) >= MIN_ODD else cls()
            del kinds[worst]
        return cls()

    @property
    def is_noise(self) -> bool:
        """Whether enough was seen, and most of it was no noise."""
        return self.odd >= MIN_ODD and self.responses >= MIN_RESPONSES and self.share <= MAX_SHARE

    def chance(self, odd: int, responses: int) -> float:
        """Return the probability of so many *odd* ones or more among other *responses* if these are as odd as those."""
        if not self.odd:
            return float(not odd)
        return at_least_among(odd, responses, self.odd + odd, self.responses + responses)

    def chance_of_others(self, odd: int, responses: int) -> float:
        """Return the same of odd ones that are no errors: a wall that went up in the crawl excuses no other content."""
        return at_least_among(odd, responses, self.others + odd, self.responses + responses)

    def is_of(self, url: str) -> bool:
        """Tell whether a URL's kind of pages is noisy: those that were seen to be, or all, where several were."""
        return len(self.kinds) >= MIN_ODD or kind_of(url) in self.kinds

    def usual(self, sizes: Sequence[int]) -> float:
        """Return the share of groups of so many URLs that noise spoils."""
        return sum(1 - (1 - self.share) ** size for size in sizes) / len(sizes)


def _odd(pages: Sequence[str]) -> int:
    return len(pages) - max(Counter(pages).values(), default=0)


def _counted(several: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return how many responses are odd, and how many there are."""
    return sum(map(_odd, several)), sum(map(len, several))


def _share(several: Sequence[Sequence[str]]) -> float:
    """Return the probability of an odd response that explains how many of some URLs have one."""
    seen = sum(_odd(pages) > 0 for pages in several)
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if sum(1 - (1 - middle) ** len(pages) for pages in several) < seen:
            low = middle
        else:
            high = middle
    return low


def _errors(several: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return what was seen beside several other pages."""
    beside: defaultdict[str, set[str]] = defaultdict(set)
    for pages in several:
        for page in set(pages):
            beside[page].update(other for other in pages if other != page)
    return frozenset(page for page, others in beside.items() if len(others) >= MIN_ODD)
