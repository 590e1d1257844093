"""Constant pages: a log-in page under hundreds of URLs is one page after one crawl, a wall before other pages is not.

Each site here was crawled once, at one time. A page that answers for whatever a URL says is merged where something speaks for it: what
its URLs say of other pages, names of parameters, a password field. A wall (bots, "sold out", an empty result) is not.
"""

import base64
import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.search.references import decoded, is_address, name_in

SITE = "http://shop.example"
NAMES = [
    f"{first}{second}"
    for first in ("Red", "Old", "Long", "Far")
    for second in ("_Barn", "_Tower", "_Mill", "_Inn", "_Lake")
]
LOGIN = "please log in"

Rows = list[tuple[str, str]]


def pages() -> Rows:
    """The pages of a wiki: each by its name."""
    return [(f"/wiki/{name}", f"article {name}") for name in NAMES] + [
        (f"/wiki/Talk:{name}", f"talk {name}") for name in NAMES
    ]


def learned(rows: Rows, *, passwords: Sequence[str] | None = None, **options: Any) -> RuleBook:
    """Return the rules after one crawl; *passwords* are the contents with a password field, None where nobody looked."""
    seen = [
        Observation(SITE + url, text, time=1e9 + number, password=None if passwords is None else text in passwords)
        for number, (url, text) in enumerate(rows)
    ]
    random.Random(3).shuffle(seen)
    return learn_rules(seen, **options)


def merges(book: RuleBook, one: str, other: str) -> bool:
    return book.equivalent(SITE + one, SITE + other)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "name": lambda name: name,
    "name with spaces": lambda name: name.replace("_", "+"),
    "name in lower case": lambda name: name.lower().replace("_", "%20"),
    "path": lambda name: f"/wiki/{name}",
    "relative path": lambda name: f"wiki/{name}",
    "beside the page": lambda name: f"../wiki/{name}",
    "encoded path": lambda name: quote(f"/wiki/{name}", safe=""),
    "encoded twice": lambda name: quote(quote(f"/wiki/{name}", safe=""), safe=""),
    "address": lambda name: quote(f"{SITE}/wiki/{name}", safe=""),
    "base64": lambda name: quote(base64.b64encode(f"{SITE}/wiki/{name}".encode()).decode(), safe=""),
    "base64 for URLs": lambda name: base64.urlsafe_b64encode(f"/wiki/{name}?a=1".encode()).decode().rstrip("="),
}


def login(key: str, spelled: Callable[[str], str], path: str = "/user/login") -> Rows:
    return [(f"{path}?{key}={spelled(url.removeprefix('/wiki/'))}", LOGIN) for url, _ in pages()]


@pytest.mark.parametrize("password", [None, True, False])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_log_in_page_with_a_key_that_says_where_to_return_to(spelling: str, password: bool | None) -> None:
    passwords = None if password is None else [LOGIN] * password
    book = learned([*pages(), *login("returnto", SPELLINGS[spelling])], passwords=passwords)
    one, other = (f"/user/login?returnto={SPELLINGS[spelling](name)}" for name in ("Tall_Oak", "Small_Oak"))
    assert merges(book, one, other)
    assert not merges(book, "/wiki/Tall_Oak", "/wiki/Small_Oak")


@pytest.mark.parametrize("key", ["Return_URL", "back", "came-from", "redirect_to"])
def test_names_of_such_keys_in_any_spelling(key: str) -> None:
    book = learned([*pages(), *login(key, SPELLINGS["name"])])
    assert merges(book, f"/user/login?{key}=Tall_Oak", f"/user/login?{key}=Small_Oak")


def test_a_name_that_nobody_knows_needs_more() -> None:
    """Names of pages alone may be a search; a password field, or what the user says, tell that it is none."""
    rows = [*pages(), *login("zurueck", SPELLINGS["name"])]
    one, other = "/user/login?zurueck=Tall_Oak", "/user/login?zurueck=Small_Oak"
    assert not merges(learned(rows), one, other)
    assert not merges(learned(rows, passwords=[]), one, other)
    assert merges(learned(rows, passwords=[LOGIN]), one, other)
    assert merges(learned(rows, names={"return": ["zurueck"]}), one, other)
    assert merges(learned(rows, names={"return": ["ZUR*"]}), one, other)
    assert not merges(learned(rows, names={"return": ["vor*"]}), one, other)


def test_a_password_field_on_all_pages_says_nothing() -> None:
    """The log-in form in the head of each page is on the wall, too."""
    rows = [*pages(), *login("zurueck", SPELLINGS["name"])]
    book = learned(rows, passwords=[text for _, text in rows])
    assert not merges(book, "/user/login?zurueck=Tall_Oak", "/user/login?zurueck=Small_Oak")


def test_opaque_values_of_a_known_name_before_a_password_field() -> None:
    rng = random.Random(1)
    rows = [*pages(), *((f"/sso?RelayState={rng.getrandbits(80):020x}", LOGIN) for _ in range(300))]
    one, other = (f"/sso?RelayState={rng.getrandbits(80):020x}" for _ in range(2))
    assert merges(learned(rows, passwords=[LOGIN]), one, other)
    assert not merges(learned(rows, passwords=[]), one, other)


def test_addresses_of_pages_need_no_name() -> None:
    """Tell a friend of this page: the link is the page, and the form the same."""
    rows = [(f"/tell?link={SPELLINGS['base64'](url.removeprefix('/wiki/'))}", "tell a friend") for url, _ in pages()]
    book = learned([*pages(), *rows], passwords=[])
    one, other = (f"/tell?link={SPELLINGS['base64'](name)}" for name in ("Tall_Oak", "Small_Oak"))
    assert merges(book, one, other)


def test_the_same_page_beside_others_of_the_same_path() -> None:
    """A warning is another page, and asked for not to be there."""
    one, other = (f"/index?title=Special:UserLogin&returnto={name}" for name in ("Tall_Oak", "Small_Oak"))
    rows = [(f"/index?title=Special:UserLogin&returnto={name}", LOGIN) for name in NAMES]
    rows += [(f"/index?title=Special:UserLogin&returnto={name}&warning=edit", "log in to edit") for name in NAMES]
    book = learned([*pages(), *rows])
    assert merges(book, one, other)
    assert merges(book, f"{one}&warning=edit", f"{other}&warning=edit")
    assert not merges(book, one, f"{one}&warning=edit")


@pytest.mark.parametrize("query", ["action=login", "action=login&provider=Mail"])
def test_a_path_is_ignored_under_a_parameter_that_makes_it_a_log_in_page(query: str) -> None:
    rows = [(f"{url}?{query}", LOGIN) for url, _ in pages()]
    book = learned([*pages(), *rows], passwords=[LOGIN])
    assert merges(book, f"/wiki/Tall_Oak?{query}", f"/wiki/Small_Oak?{query}")
    assert not merges(book, "/wiki/Tall_Oak", "/wiki/Small_Oak")
    assert not merges(book, "/wiki/Tall_Oak?action=edit", "/wiki/Small_Oak?action=edit")


def test_a_parameter_is_ignored_beside_another_that_makes_it_a_log_in_page() -> None:
    rows = [(f"/doc?id={name}", f"article {name}") for name in NAMES]
    book = learned([*rows, *((f"/doc?id={name}&do=login", LOGIN) for name in NAMES)], passwords=[LOGIN])
    assert merges(book, "/doc?id=Tall_Oak&do=login", "/doc?id=Small_Oak&do=login")
    assert not merges(book, "/doc?id=Tall_Oak", "/doc?id=Small_Oak")


def test_a_path_is_ignored_behind_a_segment_that_makes_it_a_log_in_page() -> None:
    book = learned([*pages(), *((f"/login{url}", LOGIN) for url, _ in pages())], passwords=[LOGIN])
    assert merges(book, "/login/wiki/Tall_Oak", "/login/wiki/Small_Oak")
    assert not merges(book, "/wiki/Tall_Oak", "/wiki/Small_Oak")


@pytest.mark.parametrize("view", ["{}?tab=reviews", "{}/reviews", "/reviews{}", "/doc?id={}&tab=reviews"])
def test_a_view_of_each_page_that_shows_the_same_everywhere_stays(view: str) -> None:
    """No page has reviews yet, or they stand in a script: without a password field that is no log-in page."""
    by_key = view.startswith("/doc")
    shown = [(f"/doc?id={name}", f"article {name}") for name in NAMES] if by_key else pages()
    rows = [(view.format(name if by_key else url), "no reviews") for name, (url, _) in zip(NAMES, shown, strict=False)]
    for passwords in ([], ["no reviews"]):
        book = learned([*shown, *rows], passwords=passwords)
        assert len({book.canonical_key(SITE + url) for url, _ in rows}) == (1 if passwords else len(rows))
        assert len({book.canonical_key(SITE + url) for url, _ in shown}) == len(shown)


def test_odd_responses_among_the_urls(tmp_path: Path) -> None:
    """What the judge takes for one page is a witness group, so that the rule acts when its file is read again."""
    rows = login("returnto", SPELLINGS["path"])
    rows[7] = (rows[7][0], "the connection was cut")
    book = learned([*pages(), *rows])
    book.save(tmp_path)
    for each in (book, RuleBook.load(tmp_path)):
        assert merges(each, "/user/login?returnto=/wiki/Tall_Oak", "/user/login?returnto=/wiki/Small_Oak")
    (rule,) = book
    assert rule.evidence is not None
    assert (rule.evidence.groups, rule.evidence.counterexamples, rule.evidence.removed) == (1, 0, len(rows) - 1)


WALL = "verify that you are human"
SHOP: Rows = [(f"/shop/{name.lower()}", f"product {name}") for name in NAMES]
WALLS: dict[str, tuple[Rows, str]] = {
    "a bot wall before numbers": ([(f"/item?id={i}", WALL) for i in range(300)], "/item?id={}"),
    "a bot wall before a path": ([(f"/item/{i}", WALL) for i in range(300)], "/item/{}"),
    "a bot wall before named paths": ([(f"/review/{name}", WALL) for name in NAMES], "/review/{}"),
    "sold out": ([*SHOP, *((f"/buy?product={name.lower()}", "sold out") for name in NAMES)], "/buy?product={}"),
    "sold out, by number": (
        [(f"/buy?product={i}", "sold out") for i in range(200)]
        + [(f"/show?product={i}", f"product {i}") for i in range(200)],
        "/buy?product={}",
    ),
    "empty results": ([*SHOP, *((f"/search?q={name.lower()}", "no results") for name in NAMES)], "/search?q={}"),
    "other pages under the same pattern": (
        [(f"/item?id={i}", WALL if i % 4 else f"item {i}") for i in range(300)],
        "/item?id={}",
    ),
    "members' pages": (
        [(f"/circle/{i}?card={card}", LOGIN) for i in range(80) for card in ("talk", "files")],
        "/circle/{}?card=talk",
    ),
    "numbers that are pages": (
        [(f"/item?id={i}&from=list", WALL) for i in range(60)]
        + [(f"/item?id={i}", f"item {i}") for i in range(100, 160)],
        "/item?id={}&from=list",
    ),
    "a pay wall, late in the crawl": (
        [(f"/news?id={i}&page={i // 60}", WALL if i > 300 else f"news {i}") for i in range(600)],
        "/news?id={}&page=9",
    ),
}


@pytest.mark.parametrize("password", [None, False])
@pytest.mark.parametrize("name", WALLS)
def test_a_wall_before_other_pages(name: str, password: bool | None) -> None:
    rows, url = WALLS[name]
    book = learned([*pages(), *rows], passwords=None if password is None else [])
    one, other = (url.format(value) for value in (("tall_oak", "small_oak") if "q=" in url else (901, 902)))
    assert not merges(book, one, other)
    assert not merges(book, *(url.format(value) for value in ("tall_oak", "small_oak")))


def test_a_log_in_form_before_pages_that_their_numbers_name() -> None:
    rows, url = WALLS["members' pages"]
    book = learned([*pages(), *rows], passwords=[LOGIN])
    assert not merges(book, url.format(901), url.format(902))


def test_times_make_no_difference() -> None:
    rows = [*pages(), *login("returnto", SPELLINGS["name"]), *((f"/item?id={i}", WALL) for i in range(100))]
    at_once = learn_rules([Observation(SITE + url, text, time=1e9) for url, text in rows])
    assert {rule.id for rule in at_once} == {rule.id for rule in learned(rows)} != set()


def test_what_the_user_says_is_relevant_is_kept() -> None:
    rows = [*pages(), *login("returnto", SPELLINGS["name"])]
    book = learned(rows, names={"relevant": ["returnto"]})
    assert not merges(book, "/user/login?returnto=Tall_Oak", "/user/login?returnto=Small_Oak")


def few(groups: int) -> Rows:
    return [(f"/v?id={i}&view={view}", f"page {i}") for i in range(groups) for view in ("a", "b")]


def test_names_move_what_is_believed_and_never_outvote_pages() -> None:
    """So many groups let nothing act, or let act, by what the user says; other pages refute it all the same."""
    one, other = "/v?id=99&view=a", "/v?id=99&view=b"
    others = [(f"/p/{i}", f"other {i}") for i in range(60)]
    acting = {
        said: bisect_left(
            range(60), True, key=lambda groups: merges(learned([*few(groups), *others], names=names), one, other)
        )
        for said, names in (("no", {"irrelevant": ["view"]}), ("?", None), ("yes", {"relevant": ["view"]}))
    }
    assert 1 < acting["no"] < acting["?"] < acting["yes"] < 60
    apart = [(f"/v?id={i}&view={view}", f"page {i} {view}") for i in range(40) for view in ("a", "b", "c")]
    assert not merges(learned([*apart, *others], names={"irrelevant": ["view"]}), one, other)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a"], "it must be a dictionary"),
        ({"unknown": ["a"]}, "'unknown' is none of relevant, irrelevant, return"),
        ({"return": "a"}, "'return' has 'a', not a list of names"),
        ({"return": [7]}, "'return' has 7, not the name of a parameter"),
        ({"return": ["*"]}, "'return' has '\\*', not the name"),
        ({"relevant": ["A"], "irrelevant": ["a"]}, "'a' is listed as relevant, and as irrelevant or return, too"),
    ],
)
def test_lists_of_names_that_are_none(names: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=f"names is .*: {problem}.* Write a dictionary such as"):
        learn_rules([], names=names)


def test_values_in_any_spelling() -> None:
    assert decoded("L2sv") == "L2sv", "too short to be told from a word"
    assert decoded("aaaaaaaaaaaaaaaa") == "aaaaaaaaaaaaaaaa"
    assert decoded(quote("ä b")) == "ä b"
    assert not is_address(decoded("d41d8cd98f00b204"))
    assert name_in("2024-01-02") == ""
