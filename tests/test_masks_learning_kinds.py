"""On which kinds of pages what changes is taken out, and what goes with the time: learned from crawls of a made-up site."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random

import pytest

from scrapy_dedup.masks.judge import Distances
from scrapy_dedup.masks.learn import learned
from scrapy_dedup.masks.model import Mask, Place
from scrapy_dedup.masks.observe import Fetch, Observations, Sighting
from scrapy_dedup.pages.response import version_of

DAY = 86_400.0
SECTIONS = ("news", "item", "help", "user")


def words(*names: object, number: int = 12) -> str:
    """Words that are always the same for the same names."""
    return " ".join(
        f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in Random(repr(names)).choices(range(600), k=number)
    )


def page(url: str, extra: str, main: str | None = None) -> str:
    """A page with a text of its own, and something around it."""
    title = words("title", url, number=3)
    own = words("main", url, number=40) if main is None else main
    return (
        f"<body><ul class=nav><li>Home<li>News<li>Help</ul><div class=main><h1>{title}</h1><p>{own}</p></div>"
        f"<div class=foot>{extra}</div><p class=legal>All rights reserved</p></body>"
    )


def urls(sections: Iterable[str] = SECTIONS, number: int = 12) -> list[str]:
    return ["http://a.example/", *[f"http://a.example/{section}/{n}-x" for section in sections for n in range(number)]]


Shown = Callable[[str, int, int], str]
"""What the response of a number to a URL shows in a crawl, as HTML."""


def crawls(show: Shown, again: Iterable[str] = (), number: int = 1, pages: Iterable[str] | None = None) -> list[Fetch]:
    """So many crawls a day apart of a site; pages *again* are fetched once more at the end of the first one."""
    found: list[Fetch] = []
    for crawl in range(number):
        for place, url in enumerate([*(pages or urls()), *(again if not crawl else ())]):
            at = 1e9 + crawl * DAY + 2.0 * place
            html = show(url, crawl, len(found))
            found.append(Fetch(url, at, crawl, tuple(version_of(html).rows())))
    return found


def places(fetches: list[Fetch], key_of: Callable[[str], str] = str) -> dict[str, Place]:
    """What is learned, by the last step of its selector, in whatever order responses come."""
    found = learned(Observations(fetches, key_of))
    assert learned(Observations(fetches[::-1], key_of)) == found
    assert Mask("a.example", tuple(found)).places is not None
    return {f"{place.selector.rpartition('/')[2]}{place.attribute}": place for place in found}


def acts_on(place: Place, section: str) -> bool:
    from scrapy_dedup.masks.apply import acts_on

    return acts_on(place, f"http://a.example/{section}/99-y")


def visits(response: int) -> str:
    return f"<p class=visits>Visitor no. {4000 + 3 * response} today</p>"


START = "http://a.example/"
EACH = [START, *[f"http://a.example/{section}/{n}-x" for section in SECTIONS for n in (1, 2)]]


# -- typed: numbers, codes, words of the calendar


@pytest.mark.parametrize(
    "extra",
    [
        lambda response: f"<p class=x>Visitor no. {4000 + 3 * response} today</p>",
        lambda response: f"<p class=x>{Random(response).getrandbits(64):016x}</p>",
        lambda response: f"<p class=x>It is {response // 3600:02}:{response // 60 % 60:02}:{response % 60:02}</p>",
    ],
    ids=["counter", "token", "clock"],
)
def test_one_page_fetched_twice_tells_what_stands_all_over_the_site(extra: Callable[[int], str]) -> None:
    found = places(crawls(lambda url, crawl, response: page(url, extra(response)), [START]))
    assert {name: place.act for name, place in found.items()} == {"p.x": "compare"}
    assert all(acts_on(found["p.x"], section) for section in (*SECTIONS, "new"))


def test_what_stands_on_one_kind_of_pages_alone_needs_more_than_one_page() -> None:
    def show(url: str, crawl: int, response: int) -> str:
        return page(url, visits(response) if url == START or "item" in url else "")

    assert not places(crawls(show, [START]))


@pytest.mark.parametrize("own", ["number", "another text"])
def test_where_something_else_stands_it_does_not_act(own: str) -> None:
    """The number of a thing is as long as that of visitors: a page of it that was fetched again tells. Other words do at once."""

    def show(url: str, crawl: int, response: int) -> str:
        mine = (
            f"Visitor no. {Random(url).randrange(9000)} today"
            if own == "number"
            else f"{Random(url).randrange(9000)} pieces"
        )
        return page(url, f"<p class=visits>{mine}</p>" if "item" in url else visits(response))

    found = places(crawls(show, EACH))
    assert not acts_on(found["p.visits"], "item") or own == "another text"
    assert all(acts_on(found["p.visits"], section) for section in ("news", "help", "user"))
    hidden = Mask("a.example", tuple(found.values())).text(page("x", "<p class=visits>7 pieces</p>"), url=EACH[-5])
    assert "7 pieces" in hidden


# -- untyped


def teasers(response: int) -> str:
    return "".join([f"<i>{words('teaser', n, number=4)}</i>" for n in Random(response).sample(range(30), 3)])


def test_teasers_go_where_they_were_seen_to_change_and_on_pages_laid_out_alike() -> None:
    def show(url: str, crawl: int, response: int) -> str:
        return page(url, teasers(response) + ("<b>Sign in</b><u>Sign out</u>" if "user" in url else ""))

    found = places(crawls(show, [url for url in EACH if "help" not in url and "user" not in url]))
    assert acts_on(found["i"], "news")
    assert acts_on(found["i"], "help"), "nothing was seen twice there, and its pages have the places of news"
    assert not acts_on(found["i"], "user")


def test_lists_of_pages_own_stay_where_other_pages_draw_theirs() -> None:
    def show(url: str, crawl: int, response: int) -> str:
        drawn = teasers(response) if "item" in url else teasers(hash_of(url))
        return page(url, drawn)

    found = places(crawls(show, EACH))
    assert acts_on(found["i"], "item")
    assert not any(acts_on(found["i"], section) for section in ("news", "help", "user"))


def hash_of(url: str) -> int:
    return Random(url).randrange(10**6)


# -- what goes with the time


@pytest.mark.parametrize("again", [[], EACH], ids=["each page once a crawl", "some twice"])
def test_a_date_that_changes_daily_goes_and_prices_stay(again: list[str]) -> None:
    """By the third crawl; that it stays within a crawl says nothing."""

    def show(url: str, crawl: int, response: int) -> str:
        price = Random(f"{url} {crawl if hash_of(url) % 4 == crawl % 4 else 0}").randrange(100, 9000)
        data = f'{{"offers": {{"price": "{price}.99", "priceValidUntil": "2026-12-{1 + crawl:02}"}}}}'
        return page(url, f"<p class=price>EUR {price}.99</p><script type='application/ld+json'>{data}</script>")

    found = places(crawls(show, again, 3))
    acts = {name.rpartition("[")[2].rpartition(".")[2].rstrip("]"): place.act for name, place in found.items()}
    assert acts == {"priceValidUntil": "strip"}


def test_a_banner_that_is_new_on_all_pages_at_once_goes() -> None:
    def show(url: str, crawl: int, response: int) -> str:
        return page(url, f"<p class=banner>{words('banner', crawl)}</p>")

    assert places(crawls(show, number=3))["p.banner"].act == "strip"


@pytest.mark.parametrize("new", [1, 4, 10])
@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_list_that_is_pushed_on_from_page_to_page_stays(new: int, number: int) -> None:
    def show(url: str, crawl: int, response: int) -> str:
        section, at = url.split("/")[3], int(url.split("/")[4].partition("-")[0] if url != START else 0)
        lines = [words(section, line) for line in range(10 * at - new * crawl, 10 * at - new * crawl + 10)]
        return page(section, "", "<ul>" + "".join([f"<li>{line}</li>" for line in lines]) + "</ul>")

    assert not [place for place in places(crawls(show, number=number)).values() if place.act == "strip"]


# -- redesigns


@pytest.mark.parametrize("again", [[], EACH], ids=["each page once a crawl", "some twice"])
def test_items_keep_what_stands_now_where_something_passed_in_a_past_design(again: list[str]) -> None:
    def show(url: str, crawl: int, response: int) -> str:
        if crawl < 2:
            return page(url, f"{visits(response)}<p class=x>{Random(response).randrange(900)} online</p>")
        article = f"<div class=foot><p class=x>{words('article', url, number=30)}</p></div>"
        return (
            f"<body><section><h2>{url}</h2></section>{article}<em>{Random(response).randrange(900)} online</em></body>"
        )

    mask = Mask("a.example", tuple(places(crawls(show, again, number=4)).values()))
    html = show(EACH[3], 3, 0)
    assert mask.text(html, url=EACH[3]) == f"{EACH[3]} {words('article', EACH[3], number=30)} online"


# -- the judge


@pytest.mark.parametrize(
    ("rising", "are_numbers"),
    [
        (("-12", "-3", "4", "15"), True),
        (("\N{MINUS SIGN}12 °C", "\N{MINUS SIGN}3 °C", "4 °C"), True),
        (("999 views", "1,002 views", "12,250 views"), True),
        (("999", "1 002", "12 250"), True),
        (("0.5", "0.75", "1.25", "7.25"), True),
        (("999.50", "1,234.50", "12,345.75"), True),
        (("999,50", "1.234,50", "12.345,75"), True),
        (("room 4, bed 12", "room 5, bed 9"), False),
    ],
)
def test_numbers_are_ranked_with_their_sign_and_scale(rising: tuple[str, ...], are_numbers: bool) -> None:
    found = [Sighting("p", Fetch(f"http://a.example/{n}", n, 0, ()), (text,)) for n, text in enumerate(rising)]
    distance = Distances(found)
    assert bool(distance.ranks) is are_numbers
    ranks = [distance.ranks[each.texts] for each in found] if are_numbers else []
    assert all(one < other for one, other in pairwise(ranks))


@pytest.mark.parametrize(("ticks", "act"), [(False, "strip"), (True, "compare")])
def test_a_control_in_which_the_page_s_own_has_changed_tells_nothing_of_the_rest(ticks: bool, act: str) -> None:
    def show(url: str, crawl: int, response: int) -> str:
        if "item" not in url:
            return page(url, visits(response))
        later = crawl, response >= len(urls())
        quote = Random(url).randrange(1000, 900_000) + 10 * crawl + (response >= len(urls()) and not crawl and ticks)
        volume = Random(f"{url} {later}").randrange(1000, 900_000)
        return page(url, f"<p class=quote>{quote}</p><p class=volume>{volume}</p>")

    found = places(crawls(show, EACH, number=2))
    assert found["p.volume"].act == act
    assert found["p.visits"].act == "strip"
