"""One page under hundreds of URLs that differ in a token: merged where the crawl shows that it is no wall, and only there.

A wall (a log-in, an error, "0 results") answers for every id of a family, too, and then each of the URLs is a page of its
own. Each site here that must stay apart shows one sign of that, and is merged without it.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.rules import Absent, IgnoreValue, Literal, OfClass
from scrapy_dedup.urls import ValueClass

SITE = "http://shop.example"
HOME = "the home page"
URLS, VARIANTS, OPEN = 900, 45, 60
HOUR = 3600.0

Rows = list[tuple[str, str]]
Token = Callable[[int], str]


def drawn(number: int) -> str:
    return f"{random.Random(number).getrandbits(64):016x}"


def home(token: Token = drawn, urls: int = URLS, variants: int = VARIANTS) -> Rows:
    """The home page, whatever its token."""
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


@pytest.mark.parametrize("timed", [True, False])
def test_a_page_with_tokens_is_one_page(timed: bool) -> None:
    rows = [*home(), *others()]
    book = learned(rows) if timed else learn_rules([Observation(SITE + url, page) for url, page in rows])
    assert merges(book)
    (rule,) = book
    assert rule.ops == {"q.s": IgnoreValue(only=ValueClass("hex", 16, 16))}
    assert rule.match["q.p"] == Literal("home")
    assert rule.match["q.v"] == OfClass(ValueClass("int", 1, 2))
    assert rule.evidence is not None
    assert (rule.evidence.groups, rule.evidence.pages, rule.evidence.urls) == (VARIANTS, 1, URLS)
    assert not [text for pair in rule.evidence.examples for text in pair if any(drawn(i) in text for i in range(URLS))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s={a}&v=7", "s={b}&v=8"),
        ("s={a}&v=7", "v=7"),
        ("s={a}&v=1001", "s={b}&v=1001"),
        ("s={a}&v=1001", "v=1001"),
        ("s={a}{a}&v=7", "s={b}{b}&v=7"),
        ("s=word&v=7", "s=other&v=7"),
        ("s=12&v=7", "s=13&v=7"),
        ("s={a}", "s={b}"),
        ("s={a}&v=", "s={b}&v="),
    ],
)
def test_what_was_not_seen_is_kept(one: str, other: str) -> None:
    """``v`` is the page where there is no token; nothing is known of it beside one, nor of other shapes of tokens."""
    book = learned([*home(), *others()])
    urls = [f"/show?p=home&{query.format(a=drawn(-1), b=drawn(-2))}" for query in (one, other)]
    assert not merges(book, *urls)


def test_a_parameter_that_was_never_seen_beside_a_token_forbids_the_rule() -> None:
    prints = [(f"/show?p=home&v={2000 + i}&print=1", f"print {i}") for i in range(5)]
    book = learned([*home(), *others(), *prints])
    assert merges(book)
    assert [rule.match["q.print"] for rule in book] == [Absent()]
    one, other = (f"/show?p=home&s={drawn(i)}&v=7&print=1" for i in (-1, -2))
    assert not merges(book, one, other)


def test_names_made_up_for_each_url_are_no_part_of_the_pattern() -> None:
    odd = [(f"/show?p=home&v={2000 + i}&k{i:x}f=1", f"odd {i}") for i in range(100)]
    assert merges(learned([*home(), *others(), *odd]))


def test_two_tokens_are_ignored_together() -> None:
    rows = [(f"{url}&nonce={drawn(i + URLS)}", page) for i, (url, page) in enumerate(home())]
    book = learned([*rows, *others()])
    one, other = (f"/show?p=home&s={drawn(i)}&v=7&nonce={drawn(i - 9)}" for i in (-1, -2))
    assert merges(book, one, other)


def test_enough_urls_without_an_exception() -> None:
    """As many as leave one of another page in two hundred, at 95 % confidence."""
    assert merges(learned([*home(urls=598), *others()]))
    assert not merges(learned([*home(urls=597), *others()]))


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


def test_a_wall_that_went_up_during_the_crawl() -> None:
    """It was there when all that has a token was fetched, and the path was open before, or before and after."""
    step = HOUR / URLS
    before = observed(others(), (i * step for i in range(OPEN)))
    walled = observed(home(), (HOUR + i * step for i in range(URLS)))
    after = observed(others(2 * OPEN)[OPEN:], (3 * HOUR + i * step for i in range(OPEN)))
    assert not merges(learn_rules([*before, *walled]))
    assert not merges(learn_rules([*before, *walled, *after]))
    half = observed(others(2 * OPEN)[OPEN:], (HOUR + i * step for i in range(OPEN)))
    assert not merges(learn_rules([*before, *walled, *half])), "nor what was fetched since the path was seen open"
    among = observed(others(2 * OPEN)[OPEN:], (HOUR + (i + 0.5) * URLS / OPEN * step for i in range(OPEN)))
    assert merges(learn_rules([*walled, *among]))
    early = [seen for seen in among if not HOUR * 1.5 < seen.time - 1e9 < HOUR * 1.8]
    assert len(early) > 30
    assert not merges(learn_rules([*walled, *early])), "nor what was fetched while nothing else was"


def test_a_crawl_whose_times_are_all_the_same_tells_no_order() -> None:
    rows = [*home(), *others()]
    assert not merges(learn_rules(observed(rows, [0.0] * len(rows))))


def test_what_the_site_declares_to_be_content() -> None:
    rows = [*home(), *others()]
    said = {"no-vary-search": 'params, except=("s" "p" "v")'}
    seen = observed(rows, evenly(rows))
    assert not merges(learn_rules([replace(each, headers=said) for each in seen]))
    assert not merges(learn_rules([replace(each, canonical=each.url) for each in seen]))


@pytest.mark.parametrize("status", [301, 302, 401, 403, 404, 410])
def test_another_answer_for_a_token(status: int) -> None:
    """An item that is gone, or asks for a log-in in another way, is one all the same."""
    rows = [*home(), *others()]
    seen = observed(rows, evenly(rows))
    to = f"{SITE}/login" if status < 400 else None
    gone = Observation(f"{SITE}/show?p=home&s={drawn(-3)}&v=7", "", status=status, redirect=to, time=1e9)
    assert not merges(learn_rules([*seen, gone]))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_error_of_the_server_says_nothing_of_a_token(status: int) -> None:
    rows = [*home(), *others()]
    seen = observed(rows, evenly(rows))
    failed = [Observation(f"{SITE}/show?p=home&s={drawn(-3)}&v=7", "", status=status, time=1e9)]
    failed += [Observation(seen[3].url, "", status=404, time=1e9 - 9)]
    assert merges(learn_rules([*failed, *seen])), "nor does what was missing at first"


def test_noise_among_the_urls_of_the_page() -> None:
    """An error in the place of the page cannot be told from an item of its own."""
    rows = [*home(), *others()]
    rows[100] = (rows[100][0], "the connection was cut")
    assert not merges(learned(rows))


def test_what_stands_beside_it_is_learned_all_the_same() -> None:
    ids = [(f"/item?id={i}&ref={ref}", f"item {i}") for i in range(40) for ref in "abc"]
    book = learned([*home(), *others(), *ids])
    assert merges(book)
    assert book.equivalent(f"{SITE}/item?id=99&ref=a", f"{SITE}/item?id=99&ref=b")
    assert not book.equivalent(f"{SITE}/item?id=98&ref=a", f"{SITE}/item?id=99&ref=a")


def test_the_rules_do_not_depend_on_the_order_of_what_was_seen() -> None:
    rows = [*home(), *others()]
    seen = observed(rows, evenly(rows))
    (rule,) = learn_rules(seen)
    random.Random(1).shuffle(seen)
    assert [other.id for other in learn_rules(seen)] == [rule.id]
