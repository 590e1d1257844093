"""Transient slots carried over from the pages that were fetched twice to all pages of a site."""

from itertools import combinations
from random import Random

import pytest

from scrapy_dedup.content.versions import version_of
from scrapy_dedup.learning.data.lasting import lasting_identities
from scrapy_dedup.learning.site_pages import Kept, SitePages
from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.observation import Observation
from scrapy_dedup.urls.templates import template_of

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
    """Return what pages are compared under."""
    return SitePages(SITE, kept).masks(None, None).comparing or Mask()


def found_pairs(kept: list[Kept], mask: Mask) -> tuple[int, int]:
    """Return (pairs of URLs of one page that are equal under *mask*, pairs of other URLs that are)."""
    latest = {url: version for url, _, version in kept}
    seen = [Observation(url, version.to_bytes().hex(), words=50, version=version) for url, version in latest.items()]
    told = lasting_identities(seen, mask)
    names = {each.url: told[each.fingerprint] for each in seen}
    right = wrong = 0
    for (one, name), (other, other_name) in combinations(names.items(), 2):
        if name is not None and name == other_name:
            same = one.partition("?")[0] == other.partition("?")[0]
            right += same
            wrong += not same
    return right, wrong


@pytest.mark.parametrize("noise", ["clock", "counter", "token", "duration"])
def test_the_start_page_teaches_typed_slots_of_the_whole_site(noise: str) -> None:
    kept = crawl(Shop(noise))
    mask = mask_of(kept)
    (path,) = [path for path in mask.paths if path.is_left_out]
    assert (path.typed, path.everywhere, path.pages, path.changes) == (True, True, 1, 1)
    assert path.kind == "volatile", "one page is not enough to strip it from items"
    assert found_pairs(kept, mask) == (30, 0)


def test_all_typed_slots_together_and_unknown_templates() -> None:
    shop = Shop("clock", "counter", "token", "duration")
    mask = mask_of(crawl(shop))
    new = [shop.respond(f"http://{SITE}/never/seen/before?id=7") for _ in range(2)]
    assert len({mask.masked(version, url=url) for url, _, version in new}) == 1
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
    latest = {url: mask.masked(version, url=url) for url, _, version in kept}
    assert len({latest[url] for url in items[45:]}) == 105


def test_a_number_of_its_page_in_the_frame_is_content() -> None:
    """The footer of each page holds its own number, as its text does; the start page's does not change."""
    shop = Shop("clock")

    def respond(url: str) -> Kept:
        return shop.respond(
            url, "<p>the same text for all " + "of them " * 20, frame=f"<div>Document {text_of(url, 1)}</div>"
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
    """Untyped slots are verified by the URL template of a page, or by its places."""
    shop = Shop("teasers", "clock")
    chosen = urls()[:4]
    kept = crawl(shop, chosen)
    mask = mask_of(kept)
    (teasers,) = [path for path in mask.paths if path.is_left_out and not path.typed]
    assert teasers.everywhere
    assert found_pairs(kept, mask) == (30, 0)
    url = f"http://{SITE}/never/seen/before"
    like = [shop.respond(url)[2] for _ in range(2)]
    unlike = [shop.respond(url, f"<table><tr><td>{text_of(url, 40)}</table>")[2] for _ in range(2)]
    assert [mask.is_verified(versions[0], url=url) for versions in (like, unlike)] == [True, False]
    assert len({mask.masked(version, url=url) for version in like}) == 1
    assert len({mask.masked(version, url=url) for version in unlike}) == 2
    assert len({mask.masked(version, url=url, carried=True) for version in unlike}) == 1


def test_pages_that_differ_in_what_is_not_verified_say_nothing() -> None:
    shop = Shop("teasers")
    kept = crawl(shop, urls()[:4])
    mask = mask_of(kept)
    url, own = f"http://{SITE}/other/kind/of/page", f"<table><tr><td>{text_of('x', 40)}</table>"
    seen = [shop.respond(f"{url}?sid={k}", own) for k in range(2)]
    observed = [Observation(url, f"{k}", words=50, version=version) for k, (url, _, version) in enumerate(seen)]
    assert list(lasting_identities(observed, mask).values()) == [None, None]


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
    assert any(path.is_left_out for path in mask.paths)
    assert not any(
        mask.masked(category(0)[2], url=category(0)[0]) == mask.masked(category(k)[2], url=category(k)[0])
        for k in (3, 6)
    )
    assert template_of(f"http://{SITE}/category/1/list") in mask.paths[0].excepted or not mask.paths[0].everywhere


def test_half_of_the_pages_carry_the_block() -> None:
    """Words that explain a slot are hidden with it, so that a page with the block is one without."""
    mask = Mask(paths=(TransientPath("body/p.visits", slot=("Visitor no.", "today"), typed=True),))
    page = "<body><p class=visits>Visitor no. {} today</p><p>A text of its own</p></body>"
    without = "<body><p>A text of its own</p></body>"
    assert mask.masked(version_of(page.format(17))) == mask.masked(version_of(without))
    assert mask.strip(page.format(17)) == page.format("").replace("no.  ", "no.  ")


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
    (whole,) = [path for path in mask.paths if path.is_left_out and not path.position]
    assert (whole.typed, whole.everywhere) == (True, True)
    assert (template_of(plans[0]) in whole.excepted) is bool(refetched)


@pytest.mark.parametrize("layout", ["p", "div"])
def test_what_lasts_on_a_page_that_was_fetched_again_is_no_matter_of_time_on_pages_with_its_places(layout: str) -> None:
    """Films have a time of their own where others have a clock, and plays may have: no page of theirs was fetched again."""
    shop = Shop()

    def respond(url: str, time: str = "", layout: str = "p") -> Kept:
        shop.visitors += 1
        shown = time or f"19:{shop.visitors // 60 % 60:02}:{shop.visitors % 60:02}"
        text = text_of(url, 40)
        return shop.respond(
            url, f"<div class=time>{shown}</div>" + (f"<{layout} class=a>{text}</{layout}>" if time else text)
        )

    films, plays = ([f"http://{SITE}/{kind}/{n}?at=1" for n in range(9)] for kind in ("film", "play"))
    start = f"http://{SITE}/"
    kept = [respond(url) for url in (start, *urls(), start, start, start, start)]
    kept += [respond(url, f"20:{n:02}:00") for n, url in enumerate([*films, films[0]]) for n in [n % 9]]
    kept += [respond(url, f"21:{n:02}:00", layout) for n, url in enumerate(plays)]
    (path,) = [path for path in mask_of(kept).paths if path.is_left_out]
    assert template_of(films[0]) in path.excepted
    assert (template_of(plays[0]) in path.excepted) is (layout == "p")


def test_one_of_five_advertisements_may_be_the_same_again() -> None:
    """It is now and then, by luck: that says neither that it stays, nor that it is its pages' own."""
    draw = Random(5)
    shop = Shop()
    names = ["Polish for oak", "Rent a van", "Learn to weave", "Old chairs bought", "Curtains sewn at once"]

    def respond(url: str) -> Kept:
        return shop.respond(url, f"<p class=ad>{draw.choice(names)}</p><h1>{text_of(url, 40)}</h1>")

    kept = [respond(url) for url in [*urls(), *urls()[:18]]]
    mask = mask_of(kept)
    (path,) = [path for path in mask.paths if path.is_left_out]
    assert path.changes < path.opportunities, "some were the same"
    assert (path.everywhere, path.excepted) == (True, ())
    assert found_pairs(kept, mask) == (30, 0)


def test_days_have_names_in_any_language() -> None:
    """They change with the numbers of the clock; what counts visitors tells the languages of a page apart."""
    shop = Shop()
    days = {"en": ("Tuesday", "Wednesday"), "hu": ("kedd", "szerda")}
    visitors = {"en": "{} visitors", "hu": "{} vendég"}

    def respond(url: str, day: int) -> Kept:
        shop.visitors += 7
        language = "hu" if "/hu/" in url else "en"
        clock = f"{days[language][day]} 19:{shop.visitors // 60 % 60:02}:{shop.visitors % 60:02}"
        text = text_of(url.replace("/hu/", "/en/"), 40)
        seen, at, version = shop.respond(
            url, f"<p class=now>{clock}</p><p class=n>{visitors[language].format(shop.visitors)}</p><p>{text}</p>"
        )
        return seen, at + 86_400.0 * day, version

    start = f"http://{SITE}/en/"
    pages = [f"http://{SITE}/{language}/item/{n}" for n in range(30) for language in days]
    twins = [f"{page}?sid={n}" for n, page in enumerate(pages)]
    kept = [respond(url, 0) for url in (start, *pages, start, *pages[:6])] + [
        respond(url, 1) for url in [*pages[:8], *twins]
    ]
    mask = mask_of(kept)
    (clock,) = [path for path in mask.paths if path.selector.endswith("now")]
    assert {"kedd", "szerda"} <= set(clock.words)
    latest = {url: version for url, _, version in kept}
    for page, twin in zip(pages, twins, strict=True):
        assert mask.masked(latest[page], url=page) == mask.masked(latest[twin], url=twin)
    assert mask.masked(latest[pages[0]], url=pages[0]) != mask.masked(latest[pages[1]], url=pages[1]), "two languages"


def test_where_other_words_stand_and_no_page_was_fetched_again_nothing_is_told() -> None:
    path = TransientPath(
        "body/p.n", slot=("", "visitors"), typed=True, everywhere=True, untested=(template_of(f"http://{SITE}/b/1"),)
    )
    mask = Mask(SITE, (path,), templates=frozenset({template_of(f"http://{SITE}/a/1")}))
    page = "<body><p class=n>{}</p><p>A text of its own that is long enough</p></body>"
    versions = [version_of(page.format(text)) for text in ("12 Besucher", "17 Besucher", "17 Gaeste")]
    assert len({mask.masked(version, url=f"http://{SITE}/b/1") for version in versions}) == 3
    observed = [
        Observation(f"http://{SITE}/b/{n}", f"{n:032}", words=9, version=version) for n, version in enumerate(versions)
    ]
    assert [name is None for name in lasting_identities(observed, mask).values()] == [True, True, False]
