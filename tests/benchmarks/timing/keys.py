"""The time of a canonical key against that of w3lib.canonicalize_url."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter

from w3lib.url import canonicalize_url

from scrapy_dedup import RuleBook, learn_rules

from ..sites.many_keys import PARAMETER_COUNTS, session_observations, shop_url


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """Medians over the rounds; the ratios are those of one round's two times."""

    what: str
    rules: int
    key_us: float
    w3lib_us: float
    ratio: float
    least_ratio: float
    most_ratio: float


def time_per_call(function: Callable[[str], str], urls: Sequence[str]) -> float:
    """Microseconds per URL."""
    start = perf_counter()
    for url in urls:
        function(url)
    return (perf_counter() - start) / len(urls) * 1e6


def compare(
    what: str,
    book: RuleBook,
    rules: int,
    rounds: Sequence[Sequence[str]],
) -> KeyTimes:
    """Both functions on each round's URLs, which no earlier round had; who goes first alternates."""
    ours, theirs = [], []
    for i, urls in enumerate(rounds):
        if i % 2:
            theirs.append(time_per_call(canonicalize_url, urls))
            ours.append(time_per_call(book.canonical_key, urls))
        else:
            ours.append(time_per_call(book.canonical_key, urls))
            theirs.append(time_per_call(canonicalize_url, urls))
    ratios = [our / their for our, their in zip(ours, theirs, strict=True)]
    return KeyTimes(what, rules, median(ours), median(theirs), median(ratios), min(ratios), max(ratios))


def measure(*, quick: bool) -> list[KeyTimes]:
    """The mix of all parameter counts, and each count, on a site without rules and on one with."""
    rng = Random(1)
    size, rounds = (400, 7) if quick else (1500, 15)
    book = learn_rules(session_observations(rng, "www.ruled.example"))
    found = []
    for site, kind in (("plain.example", "no rules"), ("ruled.example", "with rules")):
        rules = len(book.for_site(site))
        mix: list[list[str]] = [[] for _ in range(rounds)]
        each = []
        for count in PARAMETER_COUNTS:
            urls = [[shop_url(rng, site, count) for _ in range(size)] for _ in range(rounds)]
            each.append((f"{count} parameters, {kind}", urls))
            for round_urls, more in zip(mix, urls, strict=True):
                round_urls += more
        for round_urls in mix:
            rng.shuffle(round_urls)
        compare("warm-up", book, rules, mix[:1])
        found.append(compare(f"mix, {kind}", book, rules, mix[1:]))
        found += [compare(what, book, rules, urls) for what, urls in each]
    return found
