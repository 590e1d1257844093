"""Rules that are learned from made-up observations, and what they say of URLs: ``/a?x=1 == /a``, ``/a != /b``."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from scrapy_dedup import Observation, RuleBook, learn_rules

SITE = "http://shop.example"

Rows = Sequence[tuple[str, str]]
"""URLs, whole or without the site, and the pages that they showed."""


def whole(url: str) -> str:
    return SITE + url if url.startswith("/") else url


def observed(rows: Iterable[tuple[str, str]], **more: Any) -> list[Observation]:
    return [Observation(whole(url), page, **more) for url, page in rows]


def drawn(*names: object, digits: int = 32) -> str:
    """Return a random number in hexadecimal, always the same for the same names."""
    return f"{Random(repr(names)).getrandbits(4 * digits):0{digits}x}"


def lost(book: RuleBook, rows: Iterable[tuple[str, str]]) -> set[str]:
    """Return the pages that no first URL of a key leads to."""
    rows, first = list(rows), dict[str, str]()
    for url, page in rows:
        first.setdefault(book.canonical_key(whole(url)), page)
    return {page for _, page in rows} - set(first.values())


def saved(book: RuleBook, rows: Rows) -> float:
    """Return the share of the duplicates among URLs that are merged."""
    keys, pages = {book.canonical_key(whole(url)) for url, _ in rows}, {page for _, page in rows}
    return (len(rows) - len(keys)) / (len(rows) - len(pages))


def learned(rows: Iterable[tuple[str, str]], **options: Any) -> RuleBook:
    """Return the rules that are learned from what URLs showed; they lose none of these pages."""
    rows = list(rows)
    book = learn_rules(observed(rows), **options)
    assert not lost(book, rows)
    return book


def check(book: RuleBook, *sayings: str) -> None:
    """Hold a book against what is said of pairs of URLs: which are one page, and which are not."""
    for saying in sayings:
        one, sign, other = saying.split(" ")
        assert sign in {"==", "!="}
        keys = [book.canonical_key(whole(url)) for url in (one, other)]
        assert [book.canonical_key(key) for key in keys] == keys
        assert (keys[0] == keys[1]) is (sign == "=="), (saying, keys)
