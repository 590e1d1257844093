"""Rules learned from some pages of a made-up site, and scored on URLs of pages that were not seen."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from scrapy_dedup import Observation, RuleBook, learn_rules

SITE = "http://shop.example"
Page = Hashable
Spell = Callable[[random.Random, Page], str]
"""Spells a URL of a page."""
Shows = Callable[[str, Page], Page]
"""Says which page a URL of a page shows, if it is not that page itself."""
Order = Callable[[str, Page], Hashable]
"""Says in which order a URL of a page shows the words of what it shows."""


def token(r: random.Random, digits: str = "0123456789abcdef", length: int = 16) -> str:
    return "".join(r.choice(digits) for _ in range(length))


def learned(
    pages: Sequence[Page],
    spell: Spell,
    seed: int,
    noise: float,
    *,
    new_spell: Spell | None = None,
    shows: Shows | None = None,
    order: Order | None = None,
) -> tuple[float, int, RuleBook]:
    """(share of the duplicates among URLs of other pages that are merged, pages of them that are lost, the rules).

    *new_spell* spells the URLs of those other pages where it is another one; a share of the responses is *noise*.
    """
    r = random.Random(seed)
    pages = r.sample(list(pages), len(pages))
    new, known = pages[: len(pages) // 3], pages[len(pages) // 3 :]
    seen = {SITE + spell(r, page): page for page in known for _ in range(r.choice((1, 2, 3, 5)))}
    rows = []
    for n, (url, page) in enumerate(seen.items()):
        shown = repr(shows(url, page) if shows else page) if r.random() >= noise else f"odd {n}"
        ordered = f"{shown} {order(url, page)}" if order else shown
        rows.append(Observation(url, ordered, bag=shown if order else None))
    book = learn_rules(rows)
    others = {SITE + (new_spell or spell)(r, page): page for page in new for _ in range(4)}
    return *scored(book, {url: shows(url, page) if shows else page for url, page in others.items()}), book


def scored(book: RuleBook, truth: dict[str, Page]) -> tuple[float, int]:
    """(share of the duplicates that are merged, pages that are lost)."""
    keys: defaultdict[str, set[Page]] = defaultdict(set)
    for url, page in truth.items():
        key = book.canonical_key(url)
        assert book.canonical_key(key) == key
        keys[key].add(page)
    lost = sum(len(found) - 1 for found in keys.values())
    return (len(truth) - len(keys) - lost) / max(1, len(truth) - len(set(truth.values()))), lost
