"""Passing places from a single crawl: more like their neighbours than like themselves."""

from collections import deque
from random import Random

from scrapy_dedup.content.versions import Version
from scrapy_dedup.learning.transient.visits import passing_places

Pages = list[tuple[str, Version]]
BODY = "html/body/div.page"
RECENT = f"{BODY}/ul.recent/li/a"
PRICE = f"{BODY}/p.price"


def page(title: str, *extra: tuple[str, str]) -> Version:
    """A product page: a template, a title, a text of its own, and what is told."""
    own = [(f"{BODY}/p", "", f"{title} text {n}") for n in range(12)]
    template = [(f"{BODY}/nav/a", "", name) for name in ("home", "news", "help", "about")]
    return Version((*template, (f"{BODY}/h1", "", title), *own, *((place, "", text) for place, text in extra)))


def shop(rng: Random, *, recent: bool = True, coupon: bool = False) -> Pages:
    """A crawl of 60 products, each with and without a campaign, in an order of its own."""
    urls = [(n, campaign) for n in range(60) for campaign in ("", "?utm_source=mail")]
    rng.shuffle(urls)
    viewed: deque[str] = deque(maxlen=4)
    pages = []
    for number, campaign in urls:
        extra = [(RECENT, name) for name in viewed] if recent else []
        price = number * 10 + (5 if coupon and campaign and number % 3 else 0)
        pages.append(
            (f"http://shop.example/item/{number}{campaign}", page(f"item {number}", (PRICE, f"£{price}"), *extra))
        )
        viewed.append(f"item {number}")
    return pages


def test_what_was_viewed_before_is_passing() -> None:
    found = passing_places(shop(Random(1)))
    assert [path.selector for path in found.paths] == [RECENT]
    assert found.paths[0].pages >= 10
    assert len(found.templates) == 2


def test_without_it_nothing_is() -> None:
    assert passing_places(shop(Random(1), recent=False)).paths == ()


def test_a_price_that_the_url_changes_is_content() -> None:
    assert passing_places(shop(Random(1), recent=False, coupon=True)).paths == ()
    # Nor does it become passing where something else is: then too few pairs are explained.
    assert passing_places(shop(Random(1), coupon=True)).paths == ()


def test_another_order_of_a_list_is_content() -> None:
    rng = Random(2)
    pages: Pages = []
    for number in range(40):
        names = [f"thing {number}-{n}" for n in range(5)]
        for sort in ("", "?sort=name", "?sort=price"):
            shown = rng.sample(names, 3)
            pages.append(
                (
                    f"http://shop.example/list/{number}{sort}",
                    page(f"list {number}", *((f"{BODY}/ol/li", n) for n in shown)),
                )
            )
    rng.shuffle(pages)
    assert passing_places(pages).paths == ()


def test_a_category_that_neighbours_share_is_content() -> None:
    pages = [
        (f"http://shop.example/item/{n}{campaign}", page(f"item {n}", (f"{BODY}/nav.trail", f"category {n // 12}")))
        for n in range(60)
        for campaign in ("", "?utm_source=mail")
    ]
    assert passing_places(pages).paths == ()


def test_what_a_parameter_asks_for_is_content() -> None:
    """A tab is the same on all pages, and crawled one after the other."""
    pages = [
        (
            f"http://wiki.example/media?ns={n}{tab}",
            page(f"folder {n}", (f"{BODY}/div.tab", f"the tab {tab or 'first'}")),
        )
        for tab in ("", "&tab=upload", "&tab=search")
        for n in range(40)
    ]
    assert passing_places(pages).paths == ()


def test_what_is_drawn_anew_each_time_is_left_undecided() -> None:
    rng = Random(3)
    pages = [
        (f"http://shop.example/item/{n}{campaign}", page(f"item {n}", (f"{BODY}/p.ad", f"buy {rng.random()}")))
        for n in range(60)
        for campaign in ("", "?utm_source=mail")
    ]
    assert passing_places(pages).paths == ()


def test_nothing_to_compare() -> None:
    assert passing_places([]).paths == ()
    assert passing_places([("http://shop.example/", page("one"))]).paths == ()
    assert passing_places([("no url", Version(())), ("http://[", Version(()))] * 20).paths == ()
