"""Walls that answer for all tokens of a path, and other signs that URLs of one content are pages of their own: all stay apart.

A wall (a log-in, an error, "0 results") answers for every id of a family; once it is gone each of the URLs is a page.
"""

import random
from collections.abc import Callable, Iterable

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules

SITE = "http://shop.example"
HOME = "the home page"
URLS, VARIANTS, OPEN = 900, 45, 60
HOUR = 3600.0

Rows = list[tuple[str, str]]
Token = Callable[[int], str]


def drawn(number: int) -> str:
    return f"{random.Random(number).getrandbits(64):016x}"


def home(token: Token = drawn, urls: int = URLS, variants: int = VARIANTS) -> Rows:
    """What the path shows for every token."""
    return [(f"/show?p=home&s={token(i)}&v={i % variants}", HOME) for i in range(urls)]


def others(pages: int = OPEN) -> Rows:
    """Other pages of the path, told apart by ``v``."""
    return [(f"/show?p=home&v={1000 + i}", f"page {i}") for i in range(pages)]


def observed(rows: Rows, at: Iterable[float]) -> list[Observation]:
    return [Observation(SITE + url, page, time=1e9 + time) for (url, page), time in zip(rows, at, strict=True)]


def evenly(rows: Rows) -> list[float]:
    """Pages with a token and pages without one in turns, in an hour."""
    turns = random.Random(7).sample(range(len(rows)), len(rows))
    found = [0.0] * len(rows)
    for there in (True, False):
        kind = [i for i in turns if ("s=" in rows[i][0]) is there]
        for place, i in enumerate(kind):
            found[i] = HOUR * (place + 0.5) / len(kind)
    return found


def learned(rows: Rows) -> RuleBook:
    return learn_rules(observed(rows, evenly(rows)))


def merges(book: RuleBook, one: str = "", other: str = "") -> bool:
    """Whether a book ignores tokens that were never seen."""
    one = one or f"/show?p=home&s={drawn(-1)}&v=7"
    other = other or f"/show?p=home&s={drawn(-2)}&v=7"
    return book.equivalent(SITE + one, SITE + other)


def each(share: int) -> Rows:
    """A family of items behind a wall, of which one in so many shows its own page."""
    return [(url, f"item {i}" if i % share == share - 1 else "please log in") for i, (url, _) in enumerate(home())]


OBJECT_IDS = random.Random(3).getrandbits(40)
WALLED: dict[str, Rows] = {
    # Something of the family is seen.
    "one in 100 shows its own page": [*each(100), *others()],
    "one in 300 shows its own page": [*each(300), *others()],
    "one in 900 shows its own page": [*each(900), *others()],
    # The wall shows elsewhere.
    "the wall stands at a URL of its own": [*home(), *others(), ("/login", HOME)],
    "the wall shows for another parameter": [*home(), *others(), (f"/show?p=home&order={drawn(-1)}", HOME)],
    "the wall shows for another kind of page": [
        *home(),
        *others(),
        *((f"/show?p=order&s={drawn(URLS + i)}&v={i % VARIANTS}", HOME) for i in range(URLS)),
    ],
    "the wall shows on another path": [*home(), *others(), *((f"/order?s={drawn(-i)}&v=1", HOME) for i in range(1, 4))],
    "the wall shows without the token": [*home(), *others(), ("/show?p=home&v=7", HOME)],
    # The key, or its values, are the identity of something.
    "the key identifies pages elsewhere": [*home(), *others(), *((f"/o?s={drawn(-i)}", f"o {i}") for i in range(1, 9))],
    "a value is another page's name": [*home(), *others(), (f"/item/{drawn(5)}", "item 5")],
    "numbers": [*home(lambda i: str(100_000 + i)), *others()],
    "long numbers": [*home(lambda i: str(1_400_000_000_000_000_000 + i * 7919**4)), *others()],
    "short tokens": [*home(lambda i: drawn(i)[:12]), *others()],
    "words": [*home(lambda i: f"thing-number-{i}"), *others()],
    "searches": [*home(lambda i: f"{'abcdefgh'[i % 8]}pple+{i}"), *others()],
    "numbers in hexadecimal": [*home(lambda i: f"{i * 7919:016x}"), *others()],
    "ids that begin with the time": [*home(lambda i: f"{1_500_000_000 + i:08x}{OBJECT_IDS:010x}{i:06x}"), *others()],
    "few tokens": [(f"/show?p=home&s={drawn(i % 20)}&v={i // 20}", HOME) for i in range(URLS)] + others(),
    # The path is walled, or nothing tells that it is not.
    "nothing else on the path": home(),
    "a few pages on the path": [*home(), *others(29)],
    "other pages elsewhere only": [*home(), *((f"/news?p=home&v={1000 + i}", f"page {i}") for i in range(OPEN))],
    "errors on the path": [*home(), *others(), *((f"/show?p=home&v={2000 + i}", "not found") for i in range(20))],
    "one in ten has to log in": [
        *home(),
        *((url, "log in" if i % 10 == 3 else page) for i, (url, page) in enumerate(others(300))),
    ],
    "another literal is open": [*home(), *((url.replace("home", "news"), page) for url, page in others())],
    # What is left tells nothing.
    "an id and nothing else": [
        *((f"/show?p=invoice&s={drawn(i)}", "please log in") for i in range(URLS)),
        *others(),
    ],
    "an id and a constant": [*home(variants=1), *others()],
    "each id has its own shelf": [*home(variants=URLS), *others()],
    "few shelves": [*home(variants=9), *others()],
    "half of the ids have a shelf of their own": [
        *((f"/show?p=home&s={drawn(i)}&v={i % 20 if i % 2 else 100 + i % 900}", HOME) for i in range(URLS)),
        *others(),
    ],
    "a page without a shelf": [*home(), *others(), (f"/show?p=home&s={drawn(-1)}", HOME)],
    "the path tells the pages": [
        *((f"/show/{i % VARIANTS}?p=home&s={drawn(i)}", HOME) for i in range(URLS)),
        *((f"/show/{1000 + i}?p=home", f"page {i}") for i in range(OPEN)),
    ],
    "a repeated key": [(f"{url}&tag=a&tag=b", page) for url, page in (*home(), *others())],
    "many other parameters": [
        *home(),
        *others(),
        *((f"/show?p=home&v={2000 + i}&k{i % 30}=1", f"odd {i}") for i in range(300)),
    ],
    "the page is another one without the token": [
        *home(),
        *others(),
        *((f"/show?p=home&v={i}", f"v {i}") for i in (3,)),
    ],
    "told by a parameter that the page lacks": [*home(), *((f"/show?p=home&id={i}", f"page {i}") for i in range(OPEN))],
    "told apart by a path": [*home(), *((f"/show/{i}?p=home&v={i % 9}", f"page {i}") for i in range(OPEN))],
    "a year that no open page has": [
        *((f"{url}&year={2000 + i % 12}", page) for i, (url, page) in enumerate(home(variants=20))),
        *others(),
    ],
}


@pytest.mark.parametrize("name", WALLED)
def test_a_sign_of_a_wall_keeps_urls_apart(name: str) -> None:
    book = learned(WALLED[name])
    tokens = {key for rule in book for key in rule.ops if key == "q.s" and rule.status.acts}
    assert not tokens
    assert not merges(book)


def test_a_shop_that_shows_the_shelf_for_items_that_are_sold_out() -> None:
    """Each shelf is a page; so is each item, once it is there again."""
    rows = [(f"/show?p=home&v={shelf}", f"shelf {shelf}") for shelf in range(OPEN)]
    rows += [(f"/show?p=home&s={drawn(i)}&v={i % 2}", f"shelf {i % 2}") for i in range(2 * URLS)]
    assert not merges(learned(rows), *(f"/show?p=home&s={drawn(i)}&v=1" for i in (-1, -2)))
