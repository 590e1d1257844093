"""One answer under many URLs, after one crawl: a log-in page is one page, and walls before other pages, frames and end points are as many as their URLs.

What answers for whatever a URL says is merged where something speaks for it: what its URLs say of other pages, names of parameters, a
password field. Under which URLs a wall (bots, "sold out", an empty result), the frame of an application or ``{"available": true}`` stands says
nothing: none of them makes a rule, and session ids beside them do.
"""

import base64
import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules

from .learning import SITE, Rows, check, drawn, whole

NAMES = [
    f"{first}{second}"
    for first in ("Red", "Old", "Long", "Far")
    for second in ("_Barn", "_Tower", "_Mill", "_Inn", "_Lake")
]
LOGIN, WALL, HOME = "please log in", "verify that you are human", "the home page"
WIKI = [(f"/wiki/{talk}{name}", f"article {talk}{name}") for name in NAMES for talk in ("", "Talk:")]
SHOP = [(f"/shop/{name.lower()}", f"product {name}") for name in NAMES]
ARTICLES = [(f"/article?nr={i}&sid={drawn(i, n)}", f"article {i}") for i in range(60) for n in range(3)]
IGNORED = f"/article?nr=99&sid={drawn(-1)} == /article?nr=99"
"""What is learned of articles under three session ids each."""


def learned(rows: Iterable[tuple[str, str]], passwords: Sequence[str] | None = None, **options: Any) -> RuleBook:
    """Return the rules after one crawl; *passwords* are the contents with a password field, None where nobody looked."""
    seen = [
        Observation(whole(url), text, time=1e9 + number, password=None if passwords is None else text in passwords)
        for number, (url, text) in enumerate(rows)
    ]
    random.Random(3).shuffle(seen)
    return learn_rules(seen, **options)


# One page


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


def login(key: str, spelling: str = "name") -> Rows:
    return [(f"/user/login?{key}={SPELLINGS[spelling](url.removeprefix('/wiki/'))}", LOGIN) for url, _ in WIKI]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_log_in_page_with_a_key_that_says_where_to_return_to(spelling: str) -> None:
    for passwords in (None, [], [LOGIN]):
        book = learned([*WIKI, *login("returnto", spelling)], passwords)
        one, other = (f"/user/login?returnto={SPELLINGS[spelling](name)}" for name in ("Tall_Oak", "Small_Oak"))
        check(book, f"{one} == {other}", "/wiki/Tall_Oak != /wiki/Small_Oak")


KEYS: dict[str, tuple[str, Sequence[str] | None, dict[str, Any], str]] = {
    "another spelling": ("Return_URL", None, {}, "=="),
    "a word that is known": ("back", None, {}, "=="),
    "with a dash": ("came-from", None, {}, "=="),
    "that the user says is relevant": ("returnto", None, {"names": {"relevant": ["returnto"]}}, "!="),
    # Names of pages alone may be a search; a password field, or what the user says, tell that it is none.
    "that nobody knows": ("zurueck", None, {}, "!="),
    "that nobody knows, and no password field": ("zurueck", [], {}, "!="),
    "that nobody knows, before a password field": ("zurueck", [LOGIN], {}, "=="),
    "that the user knows": ("zurueck", None, {"names": {"return": ["zurueck"]}}, "=="),
    "whose beginning the user knows": ("zurueck", None, {"names": {"return": ["ZUR*"]}}, "=="),
    "beside one that the user knows": ("zurueck", None, {"names": {"return": ["vor*"]}}, "!="),
    # The log-in form in the head of each page is on the wall, too.
    "that nobody knows, and all pages have a password field": (
        "zurueck",
        [text for _, text in (*WIKI, *login("zurueck"))],
        {},
        "!=",
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_log_in_page_with_a_key(name: str) -> None:
    key, passwords, options, sign = KEYS[name]
    book = learned([*WIKI, *login(key)], passwords, **options)
    check(book, f"/user/login?{key}=Tall_Oak {sign} /user/login?{key}=Small_Oak", "/wiki/Tall_Oak != /wiki/Small_Oak")


ONE_PAGE: dict[str, tuple[Any, ...]] = {
    "opaque values of a known name": (
        [*WIKI, *((f"/sso?RelayState={drawn(i, digits=20)}", LOGIN) for i in range(300))],
        [LOGIN],
        f"/sso?RelayState={drawn(-1, digits=20)} == /sso?RelayState={drawn(-2, digits=20)}",
    ),
    "opaque values of a known name, and no password field": (
        [*WIKI, *((f"/sso?RelayState={drawn(i, digits=20)}", LOGIN) for i in range(300))],
        [],
        f"/sso?RelayState={drawn(-1, digits=20)} != /sso?RelayState={drawn(-2, digits=20)}",
    ),
    "addresses of pages need no name": (
        [
            *WIKI,
            *((f"/tell?link={SPELLINGS['base64'](url.removeprefix('/wiki/'))}", "tell a friend") for url, _ in WIKI),
        ],
        [],
        f"/tell?link={SPELLINGS['base64']('Tall_Oak')} == /tell?link={SPELLINGS['base64']('Small_Oak')}",
    ),
    "a warning is another page": (
        [
            *WIKI,
            *((f"/index?title=Login&returnto={name}", LOGIN) for name in NAMES),
            *((f"/index?title=Login&returnto={name}&warning=edit", "log in to edit") for name in NAMES),
        ],
        None,
        "/index?title=Login&returnto=Tall_Oak == /index?title=Login&returnto=Small_Oak",
        "/index?title=Login&returnto=Tall_Oak&warning=edit == /index?title=Login&returnto=Small_Oak&warning=edit",
        "/index?title=Login&returnto=Tall_Oak != /index?title=Login&returnto=Tall_Oak&warning=edit",
    ),
    **{
        f"a path under ?{query}": (
            [*WIKI, *((f"{url}?{query}", LOGIN) for url, _ in WIKI)],
            [LOGIN],
            f"/wiki/Tall_Oak?{query} == /wiki/Small_Oak?{query}",
            "/wiki/Tall_Oak != /wiki/Small_Oak",
            "/wiki/Tall_Oak?action=edit != /wiki/Small_Oak?action=edit",
        )
        for query in ("action=login", "action=login&provider=Mail")
    },
    "a parameter beside another one": (
        [(f"/doc?id={name}{do}", LOGIN if do else f"article {name}") for name in NAMES for do in ("", "&do=login")],
        [LOGIN],
        "/doc?id=Tall_Oak&do=login == /doc?id=Small_Oak&do=login",
        "/doc?id=Tall_Oak != /doc?id=Small_Oak",
    ),
    "a path behind a segment": (
        [*WIKI, *((f"/login{url}", LOGIN) for url, _ in WIKI)],
        [LOGIN],
        "/login/wiki/Tall_Oak == /login/wiki/Small_Oak",
        "/wiki/Tall_Oak != /wiki/Small_Oak",
    ),
    "an answer with a password field": (
        [*ARTICLES, *((f"/api/stock?nr={i}", "yes") for i in range(60))],
        ["yes"],
        "/api/stock?nr=1 == /api/stock?nr=2",
        IGNORED,
    ),
}


@pytest.mark.parametrize("name", ONE_PAGE)
def test_a_page_that_its_urls_or_a_password_field_name(name: str) -> None:
    rows, passwords, *sayings = ONE_PAGE[name]
    check(learned(rows, passwords), *sayings)


def test_odd_responses_among_the_urls_and_times(tmp_path: Path) -> None:
    """What the judge takes for one page is a witness group, so that the rule acts when its file is read again."""
    rows = login("returnto", "path")
    rows[7] = (rows[7][0], "the connection was cut")
    book = learned([*WIKI, *rows])
    book.save(tmp_path)
    for each in (book, RuleBook.load(tmp_path), learn_rules([(whole(url), text) for url, text in [*WIKI, *rows]])):
        check(each, "/user/login?returnto=/wiki/Tall_Oak == /user/login?returnto=/wiki/Small_Oak")
        (rule,) = each
        assert rule.evidence is not None
        assert (rule.evidence.groups, rule.evidence.counterexamples, rule.evidence.removed) == (1, 0, len(rows) - 1)


@pytest.mark.parametrize("view", ["{}?tab=reviews", "{}/reviews", "/reviews{}"])
def test_a_view_of_each_page_that_shows_the_same_everywhere_stays(view: str) -> None:
    """No page has reviews yet, or they stand in a script: without a password field that is no log-in page."""
    rows = [(view.format(url), "no reviews") for url, _ in WIKI]
    for passwords, number in (([], len(rows)), (["no reviews"], 1)):
        book = learned([*WIKI, *rows], passwords)
        assert len({book.canonical_key(whole(url)) for url, _ in rows}) == number
        assert len({book.canonical_key(whole(url)) for url, _ in WIKI}) == len(WIKI)


# Pages of their own


def word(number: int) -> str:
    return f"{('red', 'blue', 'green', 'old', 'new')[number % 5]}-{('shirt', 'hat', 'shoe', 'coat')[number // 5 % 4]}-{number // 20 * 'x'}z"


def end_points(number: int, value: Callable[[int], str] = str, rare: float = 0.0) -> Rows:
    """End points that give one answer for all 80 SKUs, but the first one for a share of them."""
    names = ("stock", "rating", "promotion", "delivery", "gift", "badge", "offer", "size")[:number]
    return [
        (f"/api/{name}?sku={value(i)}", f"{name}: {'no' if name == 'stock' and i < rare * 80 else 'yes'}")
        for name in names
        for i in range(80)
    ]


def sections(number: int, pages: int, value: Callable[[int], str] = str) -> Rows:
    """Pages of sections, of which each shows one frame."""
    names = ("products", "news", "jobs", "events", "people", "places", "brands", "guides")[:number]
    return [(f"/{name}/{value(i)}", f"frame of {name}") for name in names for i in range(pages)]


def home(token: Callable[[int], str] = lambda i: drawn(i, digits=16), variants: int = 45) -> Rows:
    """What a path shows for every token, beside pages that ``v`` tells apart."""
    rows = [(f"/show?p=home&s={token(i)}&v={i % variants}", HOME) for i in range(300)]
    return rows + [(f"/show?p=home&v={1000 + i}", f"page {i}") for i in range(60)]


APART: dict[str, Rows] = {
    **{f"{number} end points": end_points(number) for number in (1, 3, 8)},
    **{f"one SKU in {1 / share:.0f} has another answer": end_points(5, str, share) for share in (0.025, 0.1, 0.5)},
    "SKUs are words": end_points(5, word),
    "SKUs of letters and numbers": end_points(5, lambda i: f"AB{i:04}"),
    "SKUs that have pages of their own": [*end_points(5), *((f"/p/{i}", f"product {i}") for i in range(80))],
    **{f"{number} sections of {pages}": sections(number, pages) for number, pages in ((2, 25), (8, 4), (8, 25))},
    "pages named by words": sections(8, 25, word),
    "pages named by hashes": sections(8, 25, lambda i: f"{i * 7919:032x}"),
    "a wall before numbers": [(f"/item?id={i}", WALL) for i in range(300)],
    "a wall before a path": [(f"/item/{i}", WALL) for i in range(300)],
    "a wall before a path of words": [*WIKI, *((f"/item/thing-{i}", WALL) for i in range(60))],
    "a wall before hashes": [*WIKI, *((f"/item?id={i * 7919:032x}", WALL) for i in range(60))],
    "a wall before named paths": [*WIKI, *((f"/review/{name}", WALL) for name in NAMES)],
    "sold out": [*WIKI, *SHOP, *((f"/buy?product={name.lower()}", "sold out") for name in NAMES)],
    "sold out, by number": [
        (f"/{do}?product={i}", "sold out" if do == "buy" else f"product {i}")
        for i in range(200)
        for do in ("buy", "show")
    ],
    "empty results": [*WIKI, *SHOP, *((f"/search?q={name.lower()}", "no results") for name in NAMES)],
    "other pages under the same pattern": [(f"/item?id={i}", WALL if i % 4 else f"item {i}") for i in range(300)],
    "members' pages": [(f"/circle/{i}?card={card}", LOGIN) for i in range(80) for card in ("talk", "files")],
    "numbers that are pages": [
        *((f"/item?id={i}&from=list", WALL) for i in range(60)),
        *((f"/item?id={i}", f"item {i}") for i in range(100, 160)),
    ],
    "a pay wall, late in the crawl": [
        (f"/news?id={i}&page={i // 60}", WALL if i > 300 else f"news {i}") for i in range(600)
    ],
    "not found under every tab": [
        *((f"/a?id={i}&tab={tab}", "not found") for i in range(25) for tab in ("x", "y")),
        *((f"/a?id={i}&tab={'x' if i % 2 else 'y'}", f"page {i}") for i in range(100, 160)),
    ],
    "not found by numbers": [(f"/v?id={i}&v={i % 5}", "not found" if i % 50 else f"page {i}") for i in range(1000)],
    # Tokens of a path that answers the same for all of them.
    "tokens beside pages": home(),
    "one in 100 shows its own page": [
        (url, f"own {i}" if i % 100 == 99 else page) for i, (url, page) in enumerate(home())
    ],
    "the wall stands at a URL of its own": [*home(), ("/login", HOME)],
    "the wall shows for another kind of page": [
        *home(),
        *((f"/show?p=order&s={drawn(300 + i, digits=16)}&v={i % 45}", HOME) for i in range(300)),
    ],
    "the wall shows without the token": [*home(), ("/show?p=home&v=7", HOME)],
    "the key identifies pages elsewhere": [
        *home(),
        *((f"/o?s={drawn('o', i, digits=16)}", f"order {i}") for i in range(8)),
    ],
    "a value is another page's name": [*home(), (f"/item/{drawn(5, digits=16)}", "item 5")],
    "long numbers": home(lambda i: str(1_400_000_000_000_000_000 + i * 7919**4)),
    "searches": home(lambda i: f"{'abcdefgh'[i % 8]}pple+{i}"),
    "few tokens": [(f"/show?p=home&s={drawn(i % 20, digits=16)}&v={i // 20}", HOME) for i in range(300)] + home()[300:],
    "nothing else on the path": home()[:300],
    "each token has its own shelf": home(variants=300),
    "the path tells the pages": [
        *((f"/show/{i % 45}?p=home&s={drawn(i, digits=16)}", HOME) for i in range(300)),
        *((f"/show/{1000 + i}?p=home", f"page {i}") for i in range(60)),
    ],
    "a shelf is shown for what is sold out": [
        *((f"/show?p=home&v={shelf}", f"shelf {shelf}") for shelf in range(60)),
        *((f"/show?p=home&s={drawn(i, digits=16)}&v={i % 2}", f"shelf {i % 2}") for i in range(300)),
    ],
}


@pytest.mark.parametrize("name", APART)
def test_what_shows_one_answer_stays_apart_and_session_ids_beside_it_are_ignored(name: str) -> None:
    rows = APART[name]
    looked: list[Sequence[str] | None] = [[], None]
    for passwords in looked if name.startswith("a wall") else looked[:1]:
        book = learned([*rows, *ARTICLES], passwords)
        assert len({book.canonical_key(whole(url)) for url, _ in rows}) == len(rows)
        check(book, IGNORED)
        for one, other in (rows[0][0], rows[-1][0]), (rows[1][0], rows[-2][0]):
            check(book, f"{one}x7 != {one}x8", f"{other}1 != {other}2")


@pytest.mark.parametrize("days", [1, 2])
def test_another_crawl_does_not_tell_a_wall_from_a_page(days: int) -> None:
    rows = [*((f"/item?id={i}", WALL) for i in range(60)), *ARTICLES]
    book = learn_rules(
        Observation(whole(url), text, time=1e9 + 86_400 * day) for day in range(days) for url, text in rows
    )
    check(book, "/item?id=98 != /item?id=99", IGNORED)


def test_a_domain_that_is_parked_hides_nothing_of_another_site() -> None:
    check(learned([*((f"http://parked.test/item?id={i}", "for sale") for i in range(50)), *ARTICLES]), IGNORED)


def test_a_parameter_beside_frames_may_be_learned_and_what_it_is_added_to_stays_apart() -> None:
    frames = sections(8, 25)
    book = learned([(f"{url}{more}", page) for url, page in frames for more in ("", "?src=list")])
    assert len({book.canonical_key(whole(url)) for url, _ in frames}) == 200


SMALL = ("about", "contact", "help", "terms", "privacy", "jobs", "press", "shop", "blog", "start")
EVIDENCE: dict[str, Rows] = {
    "few values of many pages": [(f"/view?id={i}&ref={i * 3 + n}", f"page {i}") for i in range(40) for n in range(3)],
    "many values of few pages": [
        (f"/view?id={i}&ref={(i * 9 + n) * 104729 % 10**12:012d}", f"page {i}") for i in range(12) for n in range(9)
    ],
    "session ids on pages named by words": [
        (f"/{name}?sid={drawn(name, n)}", name) for name in SMALL for n in range(20)
    ],
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_what_has_one_content_under_each_of_many_pages_is_evidence(name: str) -> None:
    book, rows = learned(EVIDENCE[name]), EVIDENCE[name]
    assert len({book.canonical_key(whole(url)) for url, _ in rows}) == len({page for _, page in rows})


def test_numbers_on_pages_that_two_words_name_together() -> None:
    """Each page is a place by itself: that it shows one content says nothing against it."""
    rng = random.Random(3)
    rows = [
        (f"/watch?path={path}&file={word(i)}&x={rng.randrange(1000)}", f"{path} {i}")
        for path in ("cats", "dogs", "birds", "fish", "mice")
        for i in range(20)
        for _ in range(6)
    ]
    book = learned(rows)
    assert len({book.canonical_key(whole(url)) for url, _ in rows}) <= 110
    check(book, "/watch?path=cats&file=red-hat&x=1 != /watch?path=dogs&file=red-hat&x=1")


# What the user says of names


def test_names_move_what_is_believed_and_never_outvote_pages() -> None:
    """So many groups let nothing act, or let act, by what the user says; other pages refute it all the same."""
    others = [(f"/p/{i}", f"other {i}") for i in range(60)]

    def acts(groups: int, names: Any) -> bool:
        few = [(f"/v?id={i}&view={view}", f"page {i}") for i in range(groups) for view in ("a", "b")]
        return learned([*few, *others], names=names).equivalent(f"{SITE}/v?id=99&view=a", f"{SITE}/v?id=99&view=b")

    first, second, third = (
        bisect_left(range(60), True, key=lambda groups: acts(groups, names))
        for names in ({"irrelevant": ["view"]}, None, {"relevant": ["view"]})
    )
    assert 1 < first < second < third < 60
    apart = [(f"/v?id={i}&view={view}", f"page {i} {view}") for i in range(40) for view in ("a", "b", "c")]
    check(learned([*apart, *others], names={"irrelevant": ["view"]}), "/v?id=99&view=a != /v?id=99&view=b")


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
