"""Transient places from a single crawl: more like their neighbours than like themselves."""

from collections import deque
from random import Random

from scrapy_dedup.content.versions import Version
from scrapy_dedup.masks.learning.single_crawl.crawl_order import MOST_CRAWLS, crawl_numbers, crawls_of
from scrapy_dedup.masks.learning.single_crawl.visits import transient_places

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
    found = transient_places([shop(Random(1))])
    assert [path.selector for path in found.paths] == [RECENT]
    assert found.paths[0].pages >= 10
    assert len(found.templates) == 2


def test_without_it_nothing_is() -> None:
    assert transient_places([shop(Random(1), recent=False)]).paths == ()


def test_a_price_that_the_url_changes_is_content() -> None:
    assert transient_places([shop(Random(1), recent=False, coupon=True)]).paths == ()
    # Nor does it become passing where something else is: then too few pairs are explained.
    assert transient_places([shop(Random(1), coupon=True)]).paths == ()


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
    assert transient_places([pages]).paths == ()


def test_a_category_that_neighbours_share_is_content() -> None:
    pages = [
        (f"http://shop.example/item/{n}{campaign}", page(f"item {n}", (f"{BODY}/nav.trail", f"category {n // 12}")))
        for n in range(60)
        for campaign in ("", "?utm_source=mail")
    ]
    assert transient_places([pages]).paths == ()


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
    assert transient_places([pages]).paths == ()


def test_what_is_drawn_anew_each_time_is_left_undecided() -> None:
    rng = Random(3)
    pages = [
        (f"http://shop.example/item/{n}{campaign}", page(f"item {n}", (f"{BODY}/p.ad", f"buy {rng.random()}")))
        for n in range(60)
        for campaign in ("", "?utm_source=mail")
    ]
    assert transient_places([pages]).paths == ()


def heading(crawl: Pages) -> Pages:
    """The same pages; those with a list of what was viewed have a heading above it, and it is the pages' at first."""
    found = []
    for url, version in crawl:
        name = [(f"{BODY}/h2", "", "Viewed before")] if any(place == RECENT for place, _, _ in version.blocks) else []
        found.append((url, Version((*version.blocks, (f"{BODY}/h2", "", "Description"), *name))))
    return found


def at(crawl: Pages, begin: float) -> list[tuple[str, float, Version]]:
    return [(url, begin + number, version) for number, (url, version) in enumerate(crawl)]


def test_a_crawl_that_has_begun_anew_says_nothing_of_the_visits_of_the_last_one() -> None:
    """Its first pages show an empty list, right after those with a full one; and it discards what it knows."""
    first = heading(shop(Random(1)))
    second = [(url, version) for url, version in heading(shop(Random(5))) if "?" not in url]
    alone = transient_places([first]).paths
    assert RECENT in {path.selector for path in alone}
    for number in range(10, len(second), 10):
        crawls = crawls_of(at(first, 0.0) + at(second[:number], 130.0))
        told_apart = number >= min(13, len(first) // 10)
        assert [len(crawl) for crawl in crawls] == ([number, len(first)] if told_apart else [len(first)])
        assert transient_places(crawls).paths == alone


LIST = f"{BODY}/ul.recent/li"
VIEWED = {RECENT, f"{LIST}/p.price", f"{LIST}/p.hue"}


def stocked(crawl: Pages, *, said: bool = False) -> Pages:
    """The same pages, longer ones; each thing that was viewed has a price and a hue; *said* among them is the page's own.

    On a last page, which no other is compared with, one of these things is out of stock.
    """
    crawl = [*crawl, ("http://shop.example/item/900", Version((*page("item 900").blocks, (RECENT, "", "item 7"))))]
    found = []
    for url, version in crawl:
        viewed = [text for place, _, text in version.blocks if place == RECENT]
        more = [(f"{LIST}/p.{kind}", "", f"{kind} of {name}") for name in viewed for kind in ("price", "hue")]
        more += [(f"{BODY}/p.more", "", f"{url.partition('?')[0]} more {number}") for number in range(60)]
        more += [(f"{LIST}/p.note", "", f"seen from {url.partition('?')[0]}")] if said else []
        found.append((url, Version((*version.blocks, *more))))
    url, last = found[-1]
    found[-1] = url, Version((*last.blocks, (f"{LIST}/p.out", "", "Out of stock"), (f"{BODY}/p.out", "", "Sold out")))
    return found


def test_what_stands_in_a_passing_block_now_and_then_is_passing() -> None:
    """No two visits that are compared tell of it."""
    found = transient_places([stocked(shop(Random(1)))])
    assert {path.selector for path in found.paths} == VIEWED | {f"{LIST}/p.out"}
    assert all(path.pages >= 10 for path in found.paths)


def test_a_block_in_which_something_lasts_is_none() -> None:
    found = transient_places([stocked(shop(Random(1)), said=True)])
    assert {path.selector for path in found.paths} == VIEWED


def test_the_latest_crawl_counts_that_tells_anything() -> None:
    """A site that does without it now: what passed is none of its pages' business any more."""
    assert transient_places([shop(Random(2), recent=False), shop(Random(1))]).paths == ()


def test_crawls_are_told_by_the_pages_that_come_again() -> None:
    pages = [(f"http://shop.example/item/{n}", page(f"item {n}")) for n in range(40)]
    assert crawls_of(at(pages, 0.0)) == [pages]
    # Some pages are visited again at the end of a crawl, and one every now and then.
    assert crawls_of(at([*pages, *pages[:4]], 0.0)) == [pages]
    often = [
        each for number, each in enumerate(pages[1:]) for each in ([each, pages[0]] if number % 3 == 0 else [each])
    ]
    assert len(crawls_of(at([pages[0], *often], 0.0))) == 1
    # Three crawls, the last of which is at its beginning; an hour later it is another one at once.
    assert crawls_of(at([*pages, *pages, *pages[:7]], 0.0)) == [pages[:7], pages, pages]
    assert crawls_of(at(pages, 0.0) + at(pages[:2], 9_000.0)) == [pages[:2], pages]
    assert len(crawls_of(at(pages * 9, 0.0))) == MOST_CRAWLS
    assert crawls_of([]) == []


def test_nothing_to_compare() -> None:
    assert transient_places([]).paths == ()
    assert transient_places([[]]).paths == ()
    assert transient_places([[("http://shop.example/", page("one"))]]).paths == ()
    assert transient_places([[("no url", Version(())), ("http://[", Version(()))] * 20]).paths == ()


def test_pages_that_are_fetched_again_in_a_row_are_no_other_crawl() -> None:
    pages = [(f"http://a.example/{k}", float(k)) for k in range(300)]
    again = [(f"http://a.example/{k}", 300.0 + k) for k in range(0, 300, 25)]
    new = [(f"http://a.example/new/{k}", 700.0 + k) for k in range(20)]
    assert set(crawl_numbers([*pages, *again, *new])) == {0}, f"{len(again)} of them"
    second = [(url, at + 1_000) for url, at in pages]
    assert crawl_numbers([*pages, *again, *new, *second]) == [0] * 332 + [1] * 300
