"""Transient slots carried over from the pages that were fetched twice to all pages of a site."""

from itertools import combinations
from random import Random

import pytest

from scrapy_dedup import Mask
from scrapy_dedup.masks.apply import acts_on
from scrapy_dedup.masks.learn import learned
from scrapy_dedup.masks.observe import Fetch, Observations
from scrapy_dedup.pages.response import version_of
from scrapy_dedup.pages.versions import Version

Kept = tuple[str, float, Version]

SITE = "shop.example"
WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll lagoon marsh north ocean pebble".split()
TEASERS = [f"{one} {other} sale" for one in WORDS for other in WORDS[::5]]


class Shop:
    """A site of which every response carries what *shows* of the noise, and every page has texts of its own."""

    def __init__(self, *shows: str, seed: int = 1, seconds: float = 1.5) -> None:
        self._random = Random(seed)
        self._seconds = seconds
        self._shows = shows
        self._clock = 1_790_000_000.0
        self.visitors = 1_000

    def respond(self, url: str, own: str | None = None, *, frame: str = "") -> Kept:
        """Return what is kept of a response, some time after the last one."""
        self._clock += self._seconds
        self.visitors += self._random.randrange(1, 4)
        seconds = int(self._clock)
        noise = {
            "clock": f"<div class=now>Mon, 21 Sep 2026 {seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}</div>",
            "counter": f"<p class=visits>Visitor no. {self.visitors} today</p>",
            "token": f"<div class=rid>{self._random.getrandbits(64):016x}</div>",
            "duration": f"<div class=took>Page generated in 0.{self._random.randrange(10_000):04} s</div>",
            "teasers": "<ul class=teasers>"
            + "".join(f"<li><a>{text}</a></li>" for text in self._random.sample(TEASERS, 3))
            + "</ul>",
        }
        shown = "".join(noise[name] for name in self._shows)
        body = own if own is not None else f"<h1>{text_of(url, 3)}</h1><p class=text>{text_of(url, 40)}</p>"
        html = f"<html><body><nav><a>Home</a> <a>Basket</a></nav>{shown}{body}{frame}</body></html>"
        return url, self._clock, version_of(html)


def text_of(url: str, words: int) -> str:
    """Return the words of the page that *url* leads to, whatever its session."""
    chosen = Random(url.partition("?sid=")[0])
    return " ".join(f"{chosen.choice(WORDS)}{chosen.randrange(100)}" for _ in range(words))


def urls(number: int = 90) -> list[str]:
    """Return URLs of three templates, a third of which lead to a page under a second URL, too."""
    found = [f"http://{SITE}/{('news', 'item', 'help')[k % 3]}/{k}" for k in range(number)]
    return [*found, *[f"{url}?sid={k:06}" for k, url in enumerate(found[::3])]]


def crawl(shop: Shop, again: "list[str] | None" = None) -> list[Kept]:
    """Return what is kept of a crawl that fetches the start page twice, and *again* what is named."""
    start = f"http://{SITE}/"
    seen = [shop.respond(url) for url in (start, *urls(), start)]
    return seen + [shop.respond(url) for url in again or ()]


def mask_of(kept: list[Kept]) -> Mask:
    """Return the mask that is learned; responses a day apart are of two crawls."""
    fetches = [Fetch(url, at, int(at // 86_400), tuple(version.rows())) for url, at, version in kept]
    return Mask(SITE, tuple(learned(Observations(fetches))))


def bag(mask: Mask, kept: Kept) -> str:
    """Return what a response is compared by."""
    return mask.sketch(kept[2], kept[0]).bag


def found_pairs(kept: list[Kept], mask: Mask) -> tuple[int, int]:
    """Return (pairs of URLs of one page that are equal under *mask*, pairs of other URLs that are)."""
    names = {each[0]: bag(mask, each) for each in kept}
    right = wrong = 0
    for (one, name), (other, other_name) in combinations(names.items(), 2):
        if name == other_name:
            same = one.partition("?")[0] == other.partition("?")[0]
            right += same
            wrong += not same
    return right, wrong


@pytest.mark.parametrize("noise", ["clock", "counter", "token", "duration"])
def test_the_start_page_teaches_typed_slots_of_the_whole_site(noise: str) -> None:
    kept = crawl(Shop(noise))
    mask = mask_of(kept)
    (place,) = mask.places
    assert (place.typed, place.on, place.not_on, place.pages, place.changes) == (True, (), (), 1, 1)
    assert place.act == "compare", "one page is not enough to strip it from items"
    assert found_pairs(kept, mask) == (30, 0)


def test_all_typed_slots_together_and_unknown_templates() -> None:
    shop = Shop("clock", "counter", "token", "duration")
    mask = mask_of(crawl(shop))
    new = [shop.respond(f"http://{SITE}/never/seen/before?id=7") for _ in range(2)]
    assert len({bag(mask, each) for each in new}) == 1
    closed = shop.respond(f"http://{SITE}/never/seen/before?id=7", "<div class=now>Closed</div>")
    assert "Closed" in mask.text("<body><div class=now>Closed</div></body>", url=closed[0])


def test_a_start_page_that_is_fetched_again_within_the_second_says_nothing_of_clocks() -> None:
    shop = Shop("counter")
    start, at, version = shop.respond(f"http://{SITE}/")
    kept = [(start, at, version), (start, at + 0.4, version), *map(shop.respond, urls())]
    assert not mask_of(kept).version
    assert found_pairs([*kept, shop.respond(start)], mask_of([*kept, shop.respond(start)])) == (30, 0)


def test_a_crawl_so_fast_that_pages_show_the_same_second() -> None:
    shop = Shop("clock", seconds=0.02)
    news, *others = ([url for url in urls() if name in url] for name in ("news", "item", "help"))
    start = f"http://{SITE}/"
    in_order = [start, *news[::2], *others[0], *others[1], *news[1::2], start]
    kept = [shop.respond(url) for url in in_order]
    assert found_pairs(kept, mask_of(kept)) == (30, 0)


def test_pages_of_a_template_that_are_of_two_sorts() -> None:
    """More of them than are compared were fetched twice: a box of the first ones changes, and is the content of the others."""
    shop = Shop("clock")
    items = [f"http://{SITE}/item/{k:03}" for k in range(150)]
    sales = Random(5)

    def respond(number: int) -> Kept:
        box = sales.choice(TEASERS) if number < 45 else text_of(items[number], 3)
        return shop.respond(
            items[number], f"<h1>The same heading</h1><p>{'One text for all. ' * 9}</p><div class=box>{box}</div>"
        )

    kept = [respond(number) for number in range(150) for _ in range(2)]
    mask = mask_of(kept)
    latest = {each[0]: bag(mask, each) for each in kept}
    assert len({latest[url] for url in items[45:]}) == 105


def test_a_number_of_its_page_in_the_frame_is_content() -> None:
    """The footer of each page holds its own number, as its text does; the start page's does not change."""
    shop = Shop("clock")

    def respond(url: str) -> Kept:
        return shop.respond(
            url, "<p>the same text for all " + "of them " * 20, frame=f"<div>Document {text_of(url, 3)}</div>"
        )

    start = f"http://{SITE}/"
    kept = [respond(url) for url in (start, *urls(), start)]
    assert found_pairs(kept, mask_of(kept))[1] == 0


def test_a_list_that_is_pushed_on_is_no_matter_of_time() -> None:
    """All pages list numbered stories; the start page has one more when it is fetched again."""
    shop = Shop()

    def listed(number: int) -> str:
        return "<ul class=list>" + "".join(f"<li>Story {number - k}</li>" for k in range(5)) + "</ul>"

    start = f"http://{SITE}/"
    pages = [shop.respond(start, listed(1_000))]
    pages += [shop.respond(f"http://{SITE}/list/{k}", listed(1_000 - 5 * k)) for k in range(1, 60)]
    assert not mask_of([*pages, shop.respond(start, listed(1_001))]).version


def test_teasers_hide_nothing_on_pages_of_which_none_like_them_was_seen_twice() -> None:
    """Untyped slots are verified by the kind of a page, or by its places."""
    shop = Shop("teasers", "clock")
    unlike = [
        shop.respond(f"http://{SITE}/table/{n}", f"<table><tr><td>{text_of(str(n), 40)}</table>") for n in (1, 2, 3, 3)
    ]
    kept = [*crawl(shop, urls()[:2]), *unlike[:2]]
    mask = mask_of(kept)
    (teasers,) = [place for place in mask.places if not place.typed]
    assert all(acts_on(teasers, url) for url in urls())
    assert found_pairs(kept, mask) == (30, 0)
    assert bag(mask, unlike[2]) != bag(mask, unlike[3])


def test_veto() -> None:
    """What is drawn anew on product pages is the content of list pages, as one of these has shown."""
    rng = Random(3)
    shop = Shop()
    products = [text_of(str(k), 2) for k in range(60)]

    def drawn(names: "list[str]") -> str:
        return "<ul class=products>" + "".join(f"<li>{name}</li>" for name in names) + "</ul>"

    def product(k: int) -> Kept:
        text = f"<h1>{products[k]}</h1><p>{text_of(str(k), 40)}</p>"
        return shop.respond(f"http://{SITE}/product/{k}", text + drawn(rng.sample(products, 3)))

    def category(k: int) -> Kept:
        return shop.respond(
            f"http://{SITE}/category/{k}/list", "<h1>List</h1><p>One text</p>" + drawn(products[k : k + 3])
        )

    kept = [*map(product, range(60)), *map(category, range(0, 57, 3)), *map(product, range(5)), category(0)]
    mask = mask_of(kept)
    (place,) = mask.places
    assert acts_on(place, f"http://{SITE}/product/99")
    assert not acts_on(place, f"http://{SITE}/category/1/list")
    assert not any(bag(mask, category(0)) == bag(mask, category(k)) for k in (3, 6))


@pytest.mark.parametrize("refetched", [0, 1])
def test_a_price_that_stays_among_prices_that_are_drawn_is_its_pages_own(refetched: int) -> None:
    """All pages show prices that are drawn, and a plan its own price before them, which is all that tells it from others."""
    draw = Random(3)
    shop = Shop()

    def respond(url: str) -> Kept:
        prices = [f"{draw.randrange(9, 999)}.{draw.randrange(100):02} EUR" for _ in range(3)]
        _, is_plan, months = url.partition("?months=")
        prices[:0] = [f"{int(months) * 7}.99 EUR"] if is_plan else []
        cards = "".join(f"<div class=card><b>{price}</b></div>" for price in prices)
        return shop.respond(url, f"<h1>{text_of(url.partition('?')[0], 40)}</h1>{cards}")

    start = f"http://{SITE}/"
    plans = [f"http://{SITE}/plan/{plan}?months={months}" for plan in range(9) for months in (6, 12, 24)]
    kept = [respond(url) for url in (start, *urls(), start, start, *plans, start, *plans[:refetched])]
    mask = mask_of(kept)
    assert all(place.typed for place in mask.places)
    told = {bag(mask, each) for each in kept if "/plan/0" in each[0]}
    assert not refetched or len(told) >= 3


def test_one_of_five_advertisements_may_be_the_same_again() -> None:
    """It is now and then, by luck: that says neither that it stays, nor that it is its pages' own."""
    draw = Random(5)
    shop = Shop()
    names = ["Polish for oak", "Rent a van", "Learn to weave", "Old chairs bought", "Curtains sewn at once"]

    def respond(url: str) -> Kept:
        return shop.respond(url, f"<p class=ad>{draw.choice(names)}</p><h1>{text_of(url, 40)}</h1>")

    kept = [respond(url) for url in [*urls(), *urls()[:18]]]
    mask = mask_of(kept)
    (place,) = mask.places
    assert place.changes < place.opportunities, "some were the same"
    assert found_pairs(kept, mask) == (30, 0)
