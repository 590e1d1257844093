"""Rules that are learned with a function that fetches URLs again: what looks alike and what differs by chance is told apart from what is one page."""

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.rules import Ignore, Rule, Status

from .learning import Rows, check, drawn, lost, observed, saved, whole

WORDS = [
    f"{colour}-{animal}" for colour in ("red", "blue", "old", "new") for animal in ("cat", "dog", "cow", "fox", "bee")
]
ARTICLES: Rows = [(f"/p/{n}", f"article {n}") for n in range(80)]


def truthful(rows: Rows) -> Callable[[str], str | None]:
    """What each URL shows again: the same."""
    shown = {whole(url): page for url, page in rows}
    return shown.get


def learned(rows: Rows, ask: Callable[[str], str | None] | None = None) -> RuleBook:
    return learn_rules(observed(rows), ask=ask or truthful(rows))


def merged(book: RuleBook, rows: Rows) -> int:
    """How many URLs get the key of another one."""
    return len(rows) - len({book.canonical_key(whole(url)) for url, _ in rows})


# -- places where different pages show one content

ALIKE: dict[str, Rows] = {
    **{
        f"{number} end points that answer alike{' beside articles' if beside else ''}": [
            (f"/api/e{end}?sku={n}", f"answer {end}") for end in range(number) for n in range(80)
        ]
        + ARTICLES * beside
        for number in (1, 5, 45, 60)
        for beside in (False, True)
    },
    **{
        f"{sections} sections of {number} pages": [
            (f"/s{section}/{n}", f"frame {section}") for section in range(sections) for n in range(number)
        ]
        for sections in (2, 5, 8)
        for number in (2, 4, 25)
    },
    "sections in sections": [
        (f"/s{one}/t{two}/{n}", f"frame {one} {two}") for one in range(8) for two in range(8) for n in range(20)
    ],
    "sections in sections, of words": [
        (f"/s{one}/t{two}/{word}", f"frame {one} {two}") for one in range(5) for two in range(10) for word in WORDS
    ],
}


@pytest.mark.parametrize("name", ALIKE)
def test_pages_that_look_alike_are_not_one(name: str) -> None:
    rows = ALIKE[name]
    tracked = [(f"/q/{n}?sid={drawn(name, n, k, digits=12)}", f"question {n}") for n in range(60) for k in range(3)]
    book = learned([*rows, *tracked])
    assert not merged(book, rows)
    assert saved(book, tracked) == 1.0, "what is drawn beside them is dropped"


# -- pairs that differ now and then

PAIRS: dict[str, Callable[[int, str], str]] = {
    "a folder": lambda n, v: f"/{'de' if v == 'a' else 'en'}/p/{n}",
    "a value": lambda n, v: f"/p?id={n}&lang={v}",
    "a parameter": lambda n, v: f"/p?id={n}" + ("" if v == "a" else "&view=print"),
    "a host": lambda n, v: f"http://{v}.shop.example/p/{n}",
    "an extension": lambda n, v: f"/p{n}" + (".html" if v == "a" else ".amp"),
    "a slash": lambda n, v: f"/p{n}" + ("/" if v == "a" else ""),
    "capitals": lambda n, v: "/" + (f"Page-{n}" if v == "a" else f"page-{n}"),
    "a session": lambda n, v: f"/p?id={n}&sid={drawn('pair', n, v, digits=12)}",
}


@pytest.mark.parametrize("form", PAIRS)
def test_a_difference_that_is_there_again_is_another_page(form: str) -> None:
    def pairs(every: int) -> Rows:
        return [
            (PAIRS[form](n, v), f"page {n}{v if every and n % every == 3 else ''}")
            for n in range(120)
            for v in ("a", "b")
        ]

    assert saved(learned(pairs(0)), pairs(0)) == 1.0
    for every in (40, 20, 8):
        assert not lost(learned(pairs(every)), pairs(every)), every


def test_a_difference_that_is_gone_was_an_odd_response() -> None:
    random = Random(1)
    rows = [(f"/p?id={n}&sid={drawn(n, k, digits=12)}", f"page {n}") for n in range(120) for k in range(2)]
    seen = [(url, f"odd {random.random()}" if random.random() < 0.03 else page) for url, page in rows]
    asked: list[str] = []

    def ask(url: str) -> str | None:
        asked.append(url)
        return truthful(rows)(url)

    book = learned(seen, ask)
    assert saved(book, rows) == 1.0
    assert 0 < len(asked) <= 12


# -- sections that nobody has seen


def shop(sections: int, products: int = 24) -> Rows:
    """Products with a free name behind their number, sorted and with a session, in some sections of a shop."""
    return [
        (
            f"/s{section}/item/{n}/{word}?sid={drawn('s', section, n, word, digits=16)}&sort={order}",
            f"product {section} {n}",
        )
        for section in range(sections)
        for n in range(products)
        for word, order in ((WORDS[n % 20], "name"), (WORDS[(n + 7) % 20], "price"))
    ]


def test_in_a_new_section_what_is_drawn_is_dropped_and_what_may_be_pages_is_kept() -> None:
    book = learned(shop(4))
    assert saved(book, shop(4)) > 0.95
    news = [(f"/archive/2024/{month:02}/{word}", f"news {month} {word}") for month in range(1, 13) for word in WORDS]
    assert not merged(book, news)
    new = [
        (f"/x{section}/p/{n}?sid={drawn('n', section, n, k, digits=16)}", f"new {section} {n}")
        for section in range(3)
        for n in range(9)
        for k in range(2)
    ]
    assert saved(book, new) == 1.0


def test_a_segment_below_numbers_is_dropped_below_numbers_only() -> None:
    rows = [
        (f"/{section}/{n}/{word}", f"product {section} {n}")
        for section in range(1, 5)
        for n in range(24)
        for word in (WORDS[n % 20], WORDS[(n + 7) % 20])
    ]
    book = learned(rows)
    assert saved(book, rows) > 0.95
    check(book, "/archive/3/red-cat != /archive/3/red-dog")


# -- what rules say of URLs that nobody has seen


def test_a_form_is_that_of_urls_without_what_it_writes() -> None:
    book = learned([(url, f"page {n}") for n in range(100, 180) for url in (f"/item/{n}", f"/view?id={n}")])
    check(book, "/item/105 == /view?id=105", "/item/105?id=7 != /item/105?id=8", "/item/900 == /view?id=900")


def test_urls_inside_of_urls() -> None:
    """Their parameters are keys, and what they lead to is no odd response to one URL."""
    inner = "http%3A%2F%2Fwww.a.example%2F%3Fid%3D{}%26sid%3D{}"
    rows = [(f"/p?u={inner.format(n, drawn(n, k, digits=12))}", f"page {n}") for n in range(60) for k in range(2)]
    assert saved(learned(rows), rows) == 1.0
    pairs = [(f"/p?id={n}&view={v}", f"page {n}{v if n % 8 == 3 else ''}") for n in range(120) for v in "ab"]
    leading = [(f"/go?u=http://site{n}.example/", f"site {n}") for n in range(300)]
    assert not lost(learned([*pairs, *leading]), [*pairs, *leading])


# -- of the learner as a whole


@settings(max_examples=6)
@given(st.randoms(use_true_random=False))
def test_the_order_of_observations_makes_no_difference(random: Random) -> None:
    rows = [*shop(2, 12), *ALIKE["5 end points that answer alike"][:120]]
    shuffled = [*rows]
    random.shuffle(shuffled)
    one, other = learned(rows), learned(shuffled)
    assert {str(rule) for rule in one} == {str(rule) for rule in other}


def test_rules_of_the_user_stay_and_each_url_is_asked_for_as_it_was_requested() -> None:
    manual = Rule("shop.example", {}, {"q.color": Ignore()}, Status.MANUAL)
    rows = [
        (f"/p?sid={drawn(n, k, digits=12)}&id={n}", f"page {n}{k if n == 5 else ''}")
        for n in range(40)
        for k in range(2)
    ]
    asked: Counter[str] = Counter()

    def ask(url: str) -> None:
        asked[url] += 1

    book = learn_rules(observed(rows), known=RuleBook([manual]), ask=ask)
    assert manual in [*book]
    assert set(asked) <= {whole(url) for url, _ in rows}
    assert book.canonical_key(whole("/p?id=1&color=red")) == book.canonical_key(whole("/p?id=1"))


def test_what_is_seen_twice_is_a_control() -> None:
    """Responses to one URL say how odd the site is; the last one is what it shows."""
    rows = [(f"/p?id={n}&sid={drawn(n, k, digits=12)}", f"page {n}") for n in range(60) for k in range(2)]
    seen = [Observation(whole(url), page, time=at) for at in (1.0, 2.0) for url, page in rows]
    assert saved(learn_rules(seen, ask=truthful(rows)), rows) == 1.0
