"""What changes and is what the page is about stays in items, however often it changes; what surely passes goes."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from random import Random

import pytest

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.learning.site_masks import SiteMasks
from scrapy_dedup.masks.model import Place
from scrapy_dedup.observation import KeptPage
from scrapy_dedup.pages.response import version_of
from scrapy_dedup.rules import Ignore, Rule, RuleBook, Status

DAY = 86_400.0


@pytest.fixture(autouse=True, scope="module")
def _read_once() -> Iterator[None]:
    """Read each page once: one test learns of the same pages with and without times, another of more of their versions."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("scrapy_dedup.masks.learn_mask.version_of", lru_cache(1_000)(version_of))
        yield


Text = Callable[[int, int], str]
"""What page n shows in version k."""


def words(*names: object, number: int = 12) -> str:
    """Words that are always the same for the same names."""
    return " ".join(f"w{n}" for n in Random(repr(names)).choices(range(10**5), k=number))


def drawn(*names: object) -> Random:
    return Random(repr(names))


WHERE = ("after", "before", "after, in a box", "before, in a box", "in a bar below", "in a bar above")
"""Where on a page a text stands that changes: among its own texts, and apart from them."""


def page(number: int, text: str, where: str = "after") -> str:
    """A page with such a text, which may be HTML."""
    one = f"<p class=s>{text}</p>" if text else ""
    if "box" in where:
        one = f"<div class=box><b>Now:</b>{one}</div>"
    own = f"<h1>{words('title', number, number=3)}</h1><p class=m>{words('main', number, number=40)}</p>"
    head, _, foot = "<ul><li>Home<li>News</ul>", "", "<p class=foot>All rights reserved</p>"
    if "bar" in where:
        bar = f"<div class=bar><p>From our partners</p>{one}</div>"
        above, below = (bar, "") if "above" in where else ("", bar)
        return f"<html><body>{head}{above}<div class=main>{own}</div>{below}{foot}</body></html>"
    first, last = (one, "") if "before" in where else ("", one)
    if "box" in where:
        return f"<html><body>{head}<div class=main>{first}{own}{last}</div>{foot}</body></html>"
    return f"<html><body>{head}{first}{own}{last}</body></html>"


def versions_of(
    text: Text, pages: int = 12, versions: int = 3, where: str = "after", kinds: Sequence[str] = ("item",)
) -> dict[str, list[str]]:
    return {
        f"http://shop.example/{kinds[n % len(kinds)]}/{n}/": [page(n, text(n, k), where) for k in range(versions)]
        for n in range(pages)
    }


def at(times: Callable[[int, int], float], versions: dict[str, list[str]]) -> dict[str, list[float]]:
    """The times of versions: times(page, version)."""
    return {url: [times(n, k) for k in range(len(found))] for n, (url, found) in enumerate(versions.items())}


def daily(number: int, k: int) -> float:
    """Crawls a day apart, of which each takes a minute for a page."""
    return k * DAY + 60 * number


def act(mask: Mask) -> str:
    """What is done where something changes, at the only place."""
    (place,) = mask.places
    return place.act


def stripped(mask: Mask) -> list[Place]:
    """The places that items lose."""
    return [place for place in mask.places if place.act == "strip"]


STATES = ["Ready to ship within two days", "Sold out now, back in stock soon", "Only a few of these are left"]
SIZES = "XS S M L XL XXL".split()
SKIES = [
    f"{sky} with {wind} winds from the {side}"
    for sky in ("Sun", "Rain")
    for wind in ("no", "strong")
    for side in ("west", "north")
]
CONTENT: dict[str, Text] = {
    "stock, by and by": lambda n, k: f"{drawn(n).randrange(5, 500) - k} in stock",
    "stock, filled up": lambda n, k: f"{drawn(n, k).randrange(5, 500)} in stock",
    "stock in two languages": lambda n, k: f"{('Noch', 'Only')[n % 2]} {drawn(n, k).randrange(5, 500)}",
    "seats in three languages": lambda n, k: f"{('Noch', 'Only', 'Encore')[n % 3]} {drawn(n, k).randrange(5, 500)}",
    "price": lambda n, k: f"EUR {drawn(n, k).randrange(5, 500)}.99",
    "price without a currency": lambda n, k: f"{drawn(n, k).randrange(5, 500)}.99",
    "price in whole numbers": lambda n, k: f"{drawn(n, k).randrange(5, 5000)}",
    "rating": lambda n, k: f"{drawn(n, k).randrange(1, 5)} of 5 stars",
    "latest comment": lambda n, k: words("comment", n, k),
    "latest comment, with a label": lambda n, k: f"{('Letzter', 'Last')[n % 2]}: {words('comment', n, k)}",
    "availability": lambda n, k: drawn(n, k).choice(["in stock", "sold out", "soon"]),
    "badge": lambda n, k: drawn(n, k).choice(["Sale now on", ""]),
    "score": lambda n, k: f"{drawn(n, k).randrange(5)}:{drawn(n, k, 1).randrange(5)}",
    "score that rises": lambda n, k: f"Score {n + k} to {n + k // 2}",
    "next departure": lambda n, k: f"Next departure 1{drawn(n, k).randrange(9)}:{drawn(n, k, 2).randrange(10, 59)}",
    "date that is moved": lambda n, k: f"Date: {drawn(n, k).randrange(1, 28)} March 2026",
    "moved to another hour": lambda n, k: (
        f"Starts 2026-03-{drawn(n, k).randrange(10, 28)}T{drawn(n, k).randrange(10, 23)}:00"
    ),
    "best time": lambda n, k: (
        f"{drawn(n, k).randrange(1, 4)}:{drawn(n, k, 2).randrange(10, 59)}:{drawn(k, n).randrange(10, 59)}"
    ),
    "temperature of a town": lambda n, k: f"{drawn(n, k).randrange(-9, 30)} degrees",
    "temperatures of towns near each other": lambda n, k: f"{(2, 25, 12, -3, 8)[k] + n % 3} degrees",
    "availability in many words": lambda n, k: drawn(n, k).choice(STATES),
    "one of two states": lambda n, k: drawn(n, k).choice(STATES[:2]),
    "sizes": lambda n, k: f"Sizes {' '.join([size for size in SIZES if drawn(n, k, size).random() < 0.6])}",
    "list of sizes": lambda n, k: "".join(
        [f"<i>Size {size}, ready to be sent</i>" for size in SIZES if drawn(n, k, size).random() < 0.6]
    ),
    "forecast of a town": lambda n, k: drawn(n, k).choice(SKIES),
    "bids": lambda n, k: f"Current bid {100 * n + 10 + 7 * k}",
    "number of bids": lambda n, k: f"{3 + 7 * (n % 5) + 2 * k} bids so far",
    "ratings, more and more": lambda n, k: f"{20 * n + k * 3} ratings",
    "departures as the day goes on": lambda n, k: f"Next departure {8 + 3 * k:02}:{5 + n * 7 % 50:02}",
    "seller": lambda n, k: f"Sold by {drawn(n, k).choice(['Miller and Sons of London', 'The Corner Shop of York'])}",
    "badge in many words": lambda n, k: drawn(n, k).choice(["Free shipping for this one only", ""]),
    "checksum": lambda n, k: f"SHA-1 {drawn(n, (k + n % 2) // 2).getrandbits(160):040x}",
}


@pytest.mark.parametrize("versions", [2, 3, 5])
@pytest.mark.parametrize("name", CONTENT)
def test_what_a_page_is_about_stays(name: str, versions: int) -> None:
    """However new it is each time, wherever it stands among the page's texts, and whether or not it is known when that was."""
    for where in WHERE[:4]:
        seen = versions_of(CONTENT[name], versions=versions, where=where)
        for mask in (learn_mask(seen), learn_mask(seen, times=at(daily, seen))):
            assert not stripped(mask), where
            for url, found in seen.items():
                assert [mask.strip(html, url=url) for html in found] == found


@pytest.mark.parametrize("name", CONTENT)
def test_what_a_page_is_about_stays_where_it_stands_by_itself(name: str) -> None:
    """Apart from the page's text, as an advertisement does; but pages of other kinds do not have it."""
    for where in WHERE[4:]:
        one = versions_of(CONTENT[name], where=where)
        two = versions_of(CONTENT[name], where=where, kinds=("shoes", "hats"))
        other = {
            f"http://shop.example/{kind}/{n}/": [page(100 + n, "", "in a bar below")] * 3
            for kind in ("news", "help")
            for n in range(6)
        }
        for versions in (one, one | other, two | other):
            for mask in (learn_mask(versions), learn_mask(versions, times=at(daily, versions))):
                assert not stripped(mask), where


def shortly_after(number: int, k: int) -> float:
    """Each second fetch is a minute after the one before, and days lie between."""
    return (k // 2) * DAY * 3 + (k % 2) * 60 + number


@pytest.mark.parametrize("name", ["availability", "stock, filled up", "latest comment"])
def test_before_the_page_s_own_text_it_stays_where_it_lasts_for_minutes(name: str) -> None:
    """The place in the page says nothing any more where it is known that nothing changes within minutes."""
    seen = versions_of(lambda n, k: CONTENT[name](n, k // 2), versions=6, where="before")
    assert not stripped(learn_mask(seen, times=at(shortly_after, seen)))


ADS = [f"Buy {words('ad', n, number=4)} now" for n in range(6)]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri"]
PASSING: dict[str, Text] = {
    "date and time": lambda n, k: f"{DAYS[k]} {4 + k} May, {drawn(k).randrange(10, 24)}:{10 + n}:0{n % 7}",
    "day": lambda n, k: f"Today is {DAYS[k]}",
    "weather": lambda n, k: f"{drawn(k).randrange(-9, 30)} degrees, {drawn(k).choice(['sun', 'rain'])}",
    "token": lambda n, k: f"Request {drawn(n, k).getrandbits(96):024x}",
}
"""What is the same on all pages at one time, and what is random: it passes wherever it stands."""
CLOCKS: dict[str, Text] = {
    "clock": lambda n, k: f"Now it is 1{k}:{10 + n}",
    "clock with seconds": lambda n, k: f"1{k}:{10 + n}:0{n % 7} now",
}
"""What is as much later on each page as that was fetched later."""
AROUND: dict[str, Text] = {
    "visits": lambda n, k: f"{drawn(n, k).randrange(5_000)} visitors today",
    "advertisement": lambda n, k: drawn(n, k).choice(ADS),
    "advertisement that comes and goes": lambda n, k: ADS[0] if drawn(n, k).random() < 0.5 else "",
}
"""What could as well be content: it passes around the text of pages of several kinds."""


@pytest.mark.parametrize("name", PASSING)
@pytest.mark.parametrize("where", WHERE)
def test_what_passes_goes_even_among_the_page_s_own_texts(name: str, where: str) -> None:
    seen = versions_of(PASSING[name], where=where)
    for mask in (learn_mask(seen), learn_mask(seen, times=at(daily, seen))):
        assert act(mask) == "strip"


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks_go_with_the_times_of_fetches(name: str) -> None:
    seen = versions_of(CLOCKS[name])
    # The clock is an hour later in each crawl.
    assert act(learn_mask(seen, times=at(lambda n, k: daily(n, k) + 3600 * k, seen))) == "strip"
    # Next departures do not, and nobody can tell without the times.
    late = {url: [60.0 * (n * 11 % 7 + 100 * k) for k in range(3)] for n, url in enumerate(seen)}
    assert act(learn_mask(seen, times=late)) == "compare"
    assert act(learn_mask(seen)) == "compare"


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("where", WHERE)
def test_what_passes_goes_around_pages_of_several_kinds(name: str, where: str) -> None:
    """Fetches within moments tell; without any, pages are but compared without it."""
    seen = versions_of(AROUND[name], where=where, kinds=("item", "news"))
    anew = at(lambda n, k: 60.0 * k + 600 * n, seen)
    assert act(learn_mask(seen, times=anew)) == "strip"
    assert act(learn_mask(versions_of(AROUND[name], where=where))) == "compare"


@pytest.mark.parametrize("name", ["advertisement", "stock, filled up", "price without a currency", "availability"])
def test_what_is_drawn_anew_for_each_response_goes(name: str) -> None:
    """Two fetches of a minute tell what no name and no word does: pages do not sell out and fill up so fast."""
    seen = versions_of((CONTENT | AROUND)[name])
    assert act(learn_mask(seen, times=at(lambda n, k: 60.0 * k + 600 * n, seen))) == "strip"


def test_one_page_s_word_is_not_enough_for_what_is_drawn_anew() -> None:
    """A live score changes within minutes, and the others do not."""
    seen = versions_of(lambda n, k: f"{n}:{k if n == 3 else 0}", versions=5)
    assert not stripped(learn_mask(seen, times=at(lambda n, k: 60.0 * k, seen)))


def test_counters_and_ratings_above_the_page() -> None:
    def rating(n: int, k: int) -> str:
        return f"Rated {CONTENT['rating'](n, k)}"

    seen = versions_of(AROUND["visits"], where="in a bar above", kinds=("item", "news"))
    mask = learn_mask(seen, times=at(lambda n, k: 60.0 * k + 600 * n, seen))
    text = mask.text(page(99, "8501 visitors today", "in a bar above"), url="http://shop.example/item/99/")
    assert "visitors today" in text
    assert "8501" not in text
    for where in ("before", "in a bar above"):
        assert act(learn_mask(versions_of(rating, where=where))) == "compare"


def test_pages_are_compared_without_what_may_be_content() -> None:
    """It is new each time: two copies of one page differ in it."""
    seen = versions_of(CONTENT["stock, filled up"])
    mask = learn_mask(seen)
    assert act(mask) == "compare"
    assert mask.version
    prints = {url: {mask.sketch(version_of(html), url).bag for html in found} for url, found in seen.items()}
    assert [len(found) for found in prints.values()] == [1] * 12
    assert len(set.union(*prints.values())) == 12


@pytest.mark.parametrize("at", [float("nan"), float("inf"), None, "1"])
def test_times_of_versions_are_numbers(at: float) -> None:
    with pytest.raises(ValueError, match=r"^a: times are .*: numbers of seconds are expected"):
        learn_mask({"a": ["", ""]}, times={"a": [0.0, at]})


def test_times_of_versions_are_as_many_and_in_order() -> None:
    with pytest.raises(ValueError, match="3 versions and 2 times"):
        learn_mask({"a": ["", "", ""]}, times={"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="0 versions and 1 times"):
        learn_mask({}, times={"a": [1.0]})
    with pytest.raises(ValueError, match="not in order of time"):
        learn_mask({"a": ["", ""]}, times={"a": [2.0, 1.0]})


# -- from a store


def kept(text: Text, *, again: bool) -> list[KeptPage]:
    """Two crawls, of which each meets every page under two URLs, minutes apart; *again*: and visits one of them again."""
    found = []
    for n in range(12):
        for crawl in range(2):
            at = 1e9 + crawl * DAY + 20 * n
            visits = [("a", at), ("b", at + 300), *([("a", at + 600)] if again else [])]
            for number, (sid, time) in enumerate(visits):
                html = page(n, text(n, 3 * crawl + number))
                found.append(KeptPage(f"http://shop.example/item/{n}/?sid={sid}", time, version_of(html)))
    return found


def learned(text: Text, *, again: bool) -> Mask:
    rule = Rule(site="shop.example", status=Status.ACTIVE, ops={"q.sid": Ignore()})
    mask = SiteMasks("shop.example", kept(text, again=again)).mask(RuleBook([rule]).canonical_key, None).mask
    return mask or Mask()


@pytest.mark.parametrize("name", ["availability", "stock, filled up", "latest comment", "price without a currency"])
@pytest.mark.parametrize("again", [False, True])
def test_two_crawls_keep_what_is_another_one_each_day(name: str, again: bool) -> None:
    assert not stripped(learned(lambda n, k: CONTENT[name](n, k // 3), again=again))


def test_two_urls_of_one_page_do_not_tell_what_is_drawn_anew_and_one_visited_twice_does() -> None:
    """The rule that makes them one page may be wrong: then it is another size that is not in stock."""
    assert act(learned(CONTENT["stock, filled up"], again=False)) == "compare"
    assert act(learned(CONTENT["stock, filled up"], again=True)) == "strip"
