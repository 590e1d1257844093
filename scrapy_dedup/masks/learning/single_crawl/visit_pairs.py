"""Visits of pages, and pairs of them that may be of one page: their URLs differ in a few parameters, and they are nearly the same."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from ....content.versions import Version
from ....urls import values_of
from ..counts.place_counts import Place
from ..parameters import current

MOST_KEYS = 60
"""Sets of parameters that are looked at, those in which most URLs differ first: each costs a look at all visits."""
MOST_PAIRS = 400
"""Pairs of visits of one set that are compared; more tell nothing new."""
MOST_OF_A_PAGE = 3
"""Further visits of one page that are paired with its first: a page with many must not outweigh the others."""

Values = Mapping[str, str | None]
Pairs = Sequence[tuple[int, int]]
Pages = Sequence[tuple[str, Version]]


@dataclass(frozen=True)
class Visit:
    """A page at one time, with its texts by place (computed on demand: most pages are never compared).

    Addresses of links are left out, since they echo the page's own.
    """

    version: Version

    @cached_property
    def places(self) -> Mapping[Place, Counter[str]]:
        """The texts at each place."""
        found: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        for (selector, attribute, text), number in self.blocks.items():
            found[selector, attribute][text] += number
        return dict(found)

    @cached_property
    def blocks(self) -> Counter[tuple[str, str, str]]:
        """All texts, each with its place."""
        return Counter([block for block in self.version.blocks if not block[1]])


def telling(crawls: Iterable[Pages]) -> dict[frozenset[str], tuple[Pages, Sequence[Values], Sequence[Visit], Pairs]]:
    """Return the crawl that has the most pairs of pages whose URLs differ in given parameters, for each of these."""
    found: dict[frozenset[str], tuple[Pages, Sequence[Values], Sequence[Visit], Pairs]] = {}
    for pages in crawls:
        urls = [values_of(url) for url, _ in pages]
        visits = [Visit(version) for _, version in pages]
        for keys in _bundles(urls):
            pairs = list(islice(_pairs(urls, visits, keys), MOST_PAIRS))
            if len({one for one, _ in pairs}) < current().visited_pages:
                continue  # this crawl tells nothing of them
            if keys not in found or len(pairs) > len(found[keys][3]):
                found[keys] = pages, urls, visits, pairs
    return found


def _bundles(urls: Sequence[Values]) -> list[frozenset[str]]:
    """Return the query keys, and those together that always occur together, the most frequent first."""
    where: dict[str, list[int]] = defaultdict(list)
    for number, values in enumerate(urls):
        for key in values:
            if key.startswith("q."):
                where[key].append(number)
    together: dict[tuple[int, ...], set[str]] = defaultdict(set)
    for key, numbers in where.items():
        together[tuple(numbers)].add(key)
    bundles = {frozenset(keys): len(numbers) for numbers, keys in together.items()}
    bundles.update({frozenset({key}): len(numbers) for key, numbers in where.items()})
    ranked = sorted(bundles, key=lambda keys: (-bundles[keys], -len(keys), sorted(keys)))
    return [keys for keys in ranked if bundles[keys] >= current().visited_pages][:MOST_KEYS]


def _pairs(urls: Sequence[Values], visits: Sequence[Visit], keys: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of pages whose URLs agree but for *keys*, and which are nearly the same."""
    first: dict[tuple[tuple[str, str | None], ...], list[int]] = defaultdict(list)
    for number, values in enumerate(urls):
        rest = tuple(sorted(((key, value) for key, value in values.items() if key not in keys), key=repr))
        alike = first[rest]
        if (
            alike
            and len(alike) <= MOST_OF_A_PAGE
            and similarity(visits[alike[0]], visits[number]) >= current().one_page
        ):
            yield alike[0], number
        alike.append(number)


def similarity(one: Visit, other: Visit) -> float:
    """Return the Jaccard similarity of the blocks of two pages."""
    return jaccard(one.blocks, other.blocks)


def jaccard(one: Counter[Any], other: Counter[Any]) -> float:
    """Return how much two bags have in common, of all that they hold (Jaccard)."""
    if one == other:
        return 1.0
    common = sum(min(number, other[item]) for item, number in one.items())
    return common / (one.total() + other.total() - common)
