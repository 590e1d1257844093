"""How much evidence is enough: the gates that every learner's rules pass (design, validation)."""

from functools import lru_cache
from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95
MIN_GROUPS = 10
"""Informative groups that a rule needs."""
MIN_STATED = 3
"""Those that must speak for dropping a parameter which the site names itself."""
MAX_BAD_SHARE = 0.005
"""Upper bound of the share of bad groups that a rule with counterexamples may have."""

MAX_OWED_SHARE = 0.001
"""Share of groups that may be two pages where a value tells which: what is no noise, and a site's budget allows."""


@lru_cache(maxsize=4096)
def upper_bound(bad: int, total: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided Clopper-Pearson upper bound of a share, 1.0 where nothing was seen.

    >>> round(upper_bound(0, 299), 4), round(upper_bound(0, 10), 3), upper_bound(0, 0)
    (0.01, 0.259, 1.0)
    """
    if bad >= total:
        return 1.0
    low, high = bad / total, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if at_most(bad, total, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def at_most(bad: int, total: int, share: float) -> float:
    """Return the probability of at most *bad* successes in *total* trials."""
    if share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0
    return sum(
        exp(lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) + k * log(share) + (total - k) * log1p(-share))
        for k in range(bad + 1)
    )


def at_least_among(odd: int, drawn: int, all_odd: int, total: int) -> float:
    """Return the probability that *drawn* of *total*, of which *all_odd* are odd, have *odd* odd ones or more (Fisher's test).

    >>> round(at_least_among(3, 3, 3, 6), 3), at_least_among(0, 5, 3, 100)
    (0.05, 1.0)
    """
    if odd <= 0:
        return 1.0

    def ways(total: int, chosen: int) -> float:
        return lgamma(total + 1) - lgamma(chosen + 1) - lgamma(total - chosen + 1)

    possible = range(max(odd, drawn + all_odd - total), min(drawn, all_odd) + 1)
    every = ways(total, drawn)
    return min(1.0, sum(exp(ways(all_odd, k) + ways(total - all_odd, drawn - k) - every) for k in possible))


def tolerable(bad: int, informative: int, lone: int = 0) -> bool:
    """Tell whether so many bad groups can be noise: none, or a share bounded by MAX_BAD_SHARE.

    *lone* of them are bad only by contents that a single URL of the site showed. That is what a
    clock, a counter or a cut connection leaves, while a page that counts shows elsewhere too where
    pages have many URLs. Where all are lone their share itself is bounded: to ask for its upper
    bound would take a rule with 900 clean groups away for one clock, and let one with 10 pass.

    >>> tolerable(1, 300), tolerable(1, 300, lone=1), tolerable(2, 300, lone=2)
    (False, True, False)
    """
    if bad == 0:
        return True
    if bad > MAX_BAD_SHARE * informative:
        return False
    return lone >= bad or upper_bound(bad, informative) <= MAX_BAD_SHARE


def like_noise(lone: float, clean: int) -> bool:
    """Tell whether so many groups that are bad by lone contents are few beside the *clean* ones."""
    return lone <= MAX_BAD_SHARE * (lone + clean)


def explained(pairs: int, twos: int, odd: int, urls: int) -> bool:
    """Tell whether *pairs* of *twos* groups of two URLs, each with a page of its own, can be noise.

    *odd* of the *urls* in larger groups stand beside one page with a content of a single URL, as a clock
    does. Beside a page of one URL a clock is as rare; there it looks like one page more. More of them
    than that, at 95 % confidence, are pages; so are all of them where no noise was seen.

    >>> explained(4, 3000, 41, 60_000), explained(12, 3000, 41, 60_000), explained(1, 3000, 0, 60_000)
    (True, False, False)
    """
    if not odd or odd > MAX_BAD_SHARE * urls or pairs > MAX_BAD_SHARE * twos:
        return False
    return pairs == 0 or 1 - at_most(pairs - 1, 2 * twos, odd / urls) > 1 - CONFIDENCE


def plausible_pages(lost: int, lone: int, lone_share: float) -> int:
    """Return how many of the *lost* contents can be pages and not noise, at 95 % confidence.

    *lone* of them showed at one URL of the site only, as *lone_share* of all its contents do. Were
    they all pages, about that share of them would be lone: where none or few show twice, the most
    are clocks and cut connections. Where pages hardly ever show twice, this says nothing.

    >>> plausible_pages(45, 45, 0.5), plausible_pages(45, 45, 0.99), plausible_pages(45, 30, 0.5)
    (4, 45, 41)
    """
    twice = lost - lone
    pages = twice
    while pages < lost and at_most(twice, pages + 1, 1 - lone_share) > 1 - CONFIDENCE:
        pages += 1
    return pages
