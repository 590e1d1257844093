"""What is common in URLs: limits, topics with several addresses, aliases of paths, sort links.

Each beside a site on which the same URLs name different pages, with and without odd responses.
"""

import random

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules

from .unseen import SITE, Page, Spell, learned, token

PAGES = range(100, 280)
WORDS = "heron canoe mill spade turret gorge candle fable kelp anvil reed dory ember flint grove hazel".split()
ODD = [0.0, 0.01, 0.03]


def title(n: int) -> str:
    return f"{WORDS[n % 16]}-{WORDS[n * 7 // 16 % 16]}-{n % 7}"


def numbered(page: Page) -> int:
    assert isinstance(page, int)
    return page


def pair(page: Page) -> tuple[int, int]:
    assert isinstance(page, tuple)
    return page[0], page[1]


def doubled(form: str, most: int) -> Spell:
    """URLs with a limit that was doubled so many times at most."""
    return lambda r, page: form.format(page, 10 * 2 ** r.randint(0, most))


def session(r: random.Random, url: str) -> str:
    return url + ("&" if "?" in url else "?") + "sid=" + token(r) if r.random() < 0.5 else url


@pytest.mark.parametrize("noise", ODD)
def test_a_limit_that_says_what_is_shown_is_kept(noise: float) -> None:
    def spell(r: random.Random, page: Page) -> str:
        topic, times = pair(page)
        return session(r, f"/topic/{topic}?limit={10 * 2**times}")

    share, lost, book = learned([(n, times) for n in range(40) for times in range(6)], spell, 1, noise)
    assert lost == 0
    assert share > 0.95
    assert not book.equivalent(f"{SITE}/topic/7?limit=640", f"{SITE}/topic/7?limit=1280")


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_numbers_beside_words_and_beside_a_number_that_differs(noise: float) -> None:
    """``limit=all`` is another page; so is ``limit=10`` where a topic is longer, and then nothing is said of other numbers."""

    def all_of_it(r: random.Random, page: Page) -> str:
        return f"/topic/{page}?limit={r.choice((10, 20, 40, 80, 160, 'all'))}"

    share, lost, book = learned(PAGES, all_of_it, 1, noise, shows=lambda url, page: (page, url.endswith("all")))
    assert lost == 0
    assert share > 0.1, "beside a word numbers are named one by one, as far as each was seen often enough"
    assert not book.equivalent(f"{SITE}/topic/7?limit=all", f"{SITE}/topic/7?limit=20")

    def part_of_it(url: str, page: Page) -> Page:
        return page, min(11 + numbered(page) % 9, int(url.rpartition("=")[2]))

    share, lost, book = learned(PAGES, doubled("/topic/{}?limit={}", 5), 1, noise, shows=part_of_it)
    assert lost == 0
    assert share > 0.95
    assert not book.equivalent(f"{SITE}/topic/7?limit=10", f"{SITE}/topic/7?limit=20")
    assert not book.equivalent(f"{SITE}/topic/7?limit=7", f"{SITE}/topic/7?limit=20")


def test_few_numbers_say_nothing_of_others() -> None:
    """``skin=1`` and ``skin=2`` on a few pages, and words however many."""
    rows = [Observation(f"{SITE}/a/{n}?skin={skin}", f"page {n}") for n in range(7) for skin in (1, 2)]
    words = [
        Observation(f"{SITE}/b/{n}?sort={word}", f"list {n}") for n in range(60) for word in WORDS[n % 8 : n % 8 + 3]
    ]
    book = learn_rules([*rows, *words])
    assert not book.equivalent(f"{SITE}/a/3?skin=3", f"{SITE}/a/3?skin=4")
    assert book.equivalent(f"{SITE}/b/99?sort=heron", f"{SITE}/b/99?sort=mill")
    assert not book.equivalent(f"{SITE}/b/99?sort=heron", f"{SITE}/b/99?sort=price")


@pytest.mark.parametrize("odd", ["", "9" * 5000])
def test_a_number_that_is_empty_or_endless_among_those_that_grow(odd: str) -> None:
    limits = ("10", "20", "40", "80", "160", odd)
    rows = [Observation(f"{SITE}/topic/{n}?limit={limit}", f"page {n}") for n in range(60) for limit in limits]
    book = learn_rules(rows)
    assert book.equivalent(f"{SITE}/topic/7?limit=10", f"{SITE}/topic/7?limit=160")
    assert not book.equivalent(f"{SITE}/topic/7?limit=10", f"{SITE}/topic/8?limit=10")


TOPICS = {
    "a title, a number, a query": ("/topic/{0}-{1}", "/t/{0}", "/?topic={0}"),
    "a number that ends in .0": ("/index.php?topic={0}", "/index.php?topic={0}.0", "/index.php/topic,{0}.0.html"),
    "boards": ("/{2}/topic-{0}.html", "/t/{0}", "/showthread.php?t={0}"),
    "extensions": ("/t{0}.html", "/map/tile/{0}", "/map.php?tile={0}"),
}


def topic(form: str, n: int) -> str:
    return form.format(n, title(n), WORDS[n % 6])


def learned_rules(book: RuleBook) -> int:
    return sum(rule.status.acts for rule in book)


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("name", TOPICS)
def test_addresses_of_topics_are_one_rule_for_all_topics(name: str, noise: float) -> None:
    forms = TOPICS[name]
    share, lost, book = learned(PAGES, lambda r, page: topic(r.choice(forms), numbered(page)), 1, noise)
    assert lost == 0
    assert share > 0.95
    assert learned_rules(book) <= len(forms)


@pytest.mark.parametrize("noise", ODD)
@pytest.mark.parametrize("name", ["a title, a number, a query", "boards", "extensions"])
def test_addresses_of_other_pages_are_kept(name: str, noise: float) -> None:
    """``/t/17`` is no other name of ``/topic/17``: the numbers are the same by chance."""
    forms = TOPICS[name]

    def spell(r: random.Random, page: Page) -> str:
        number, form = pair(page)
        return session(r, topic(forms[form], number))

    share, lost, _ = learned([(n, form) for n in range(100, 170) for form in range(3)], spell, 1, noise)
    assert lost == 0
    assert share > 0.95


def test_a_value_of_two_parts_is_made_whole_of_what_says_one_or_both() -> None:
    """``/topic,17.20.html`` is the third page of a topic, and ``?topic=17`` the first one."""

    def spell(r: random.Random, page: Page) -> str:
        number, start = pair(page)
        first = ("/index.php?topic={}",) if start == 0 else ()
        return r.choice((*first, f"/index.php?topic={{}}.{start}", f"/index.php/topic,{{}}.{start}.html")).format(
            number
        )

    share, lost, book = learned([(n, start) for n in range(60) for start in (0, 20, 40)], spell, 1, 0.0)
    assert lost == 0
    assert share > 0.95
    assert book.equivalent(f"{SITE}/index.php?topic=17", f"{SITE}/index.php/topic,17.0.html")
    assert not book.equivalent(f"{SITE}/index.php?topic=17", f"{SITE}/index.php/topic,17.20.html")


def cased(r: random.Random, text: str) -> str:
    return r.choice((text, text, text.title(), text.upper()))


ALIASES: dict[str, Spell] = {
    "a slash": lambda r, page: f"/item/{title(numbered(page))}" + r.choice(("", "/")),
    "extensions": lambda r, page: f"/item/{page}" + r.choice(("", ".html", ".htm")),
    "case": lambda r, page: cased(r, f"/wiki/{WORDS[numbered(page) % 9]}/{title(numbered(page))}"),
    "all of them": lambda r, page: (
        f"/{cased(r, 'docs')}/{cased(r, title(numbered(page)))}" + r.choice(("", "/", ".html"))
    ),
}
NO_ALIASES: dict[str, tuple[str, str]] = {
    "a slash": ("/item/{0}", "/item/{0}/"),
    "extensions": ("/item/{0}.html", "/item/{0}.txt"),
    "case": ("/wiki/{0}", "/wiki/{1}"),
}


@pytest.mark.parametrize("noise", ODD)
@pytest.mark.parametrize("name", ALIASES)
def test_aliases_of_paths_are_merged(name: str, noise: float) -> None:
    share, lost, _ = learned(PAGES, ALIASES[name], 1, noise)
    assert lost == 0
    # Of three extensions each has a third of the evidence: beside that many odd responses one of them is too little.
    assert share > (0.4 if (name, noise) == ("extensions", 0.03) else 0.95)


@pytest.mark.parametrize("noise", ODD)
@pytest.mark.parametrize("name", NO_ALIASES)
def test_paths_that_look_like_aliases_are_kept(name: str, noise: float) -> None:
    def spell(r: random.Random, page: Page) -> str:
        number, form = pair(page)
        return session(r, NO_ALIASES[name][form].format(title(number), title(number).upper()))

    share, lost, _ = learned([(n, form) for n in range(90) for form in range(2)], spell, 1, noise)
    assert lost == 0
    assert share > 0.95


def sort_link(r: random.Random, page: Page) -> str:
    return f"/pub/{pair(page)[0]}/?C={r.choice('NMSD')}&O={r.choice('AD')}"


def lists(*rows: int) -> list[tuple[int, int]]:
    """Lists, and how many rows each has, these one after the other."""
    return [(n, rows[n % len(rows)]) for n in range(240)]


@pytest.mark.parametrize("noise", ODD)
def test_sort_links_of_lists_that_are_shown_whole(noise: float) -> None:
    """The words of the rows are the same in any order, whether there are two hundred, one or none."""
    share, lost, _ = learned(
        lists(0, 1, 12, 18, 200), sort_link, 1, noise, order=lambda url, page: url if pair(page)[1] > 1 else ""
    )
    assert lost == 0
    assert share > 0.95


@pytest.mark.parametrize("noise", ODD)
def test_sort_links_of_lists_that_are_shown_in_part(noise: float) -> None:
    """Twenty rows of two hundred are others in another order; that half of the lists are empty, or have one row, says nothing."""
    _, lost, book = learned(
        lists(0, 1, 200, 60), sort_link, 1, noise, shows=lambda url, page: (page, url if pair(page)[1] > 20 else "")
    )
    assert lost == 0
    assert not book.equivalent(f"{SITE}/pub/7/?C=N&O=A", f"{SITE}/pub/7/?C=S&O=A")
