"""The demo shop: each URL leads to its page, and there is enough of everything to learn from."""

import re
import sys
from collections import defaultdict
from pathlib import Path
from urllib.request import urlopen

import pytest

from scrapy_dedup.pages.response import sketch_of_html

PROJECT = Path(__file__).resolve().parent.parent / "example_project"
sys.path.insert(0, str(PROJECT))

from demo_site.pages import Page, links
from demo_site.passing import Moment
from demo_site.server import Shop, html_of, identity, passing_spans
from demo_site.urls import VARIANTS, link, page_of, url_of

PORT = 8000


@pytest.fixture(scope="module")
def found() -> dict[str, Page]:
    """What a crawl that leaves out nothing finds: URL -> page."""
    urls: dict[str, Page] = {}
    todo = [(url_of(Page("home"), PORT), Page("home"))]
    while todo:
        url, page = todo.pop()
        if url not in urls:
            urls[url] = page
            todo += [(link(target, page, PORT), target) for target in links(page)]
    return urls


def test_every_url_leads_to_its_page(found):
    for url, page in found.items():
        assert page_of(url.partition(f":{PORT}")[2]) == page
        assert all(page_of(url_of(page, PORT, n).partition(f":{PORT}")[2]) == page for n in range(VARIANTS[page.kind]))


def test_pages_and_duplicates(found):
    pages = {identity(page) for page in found.values()}
    assert 150 <= len(pages) <= 300
    assert 0.40 <= 1 - len(pages) / len(found) <= 0.65
    for part in ("sid=", "utm_source=", "page=1", "lang=en", "//www.", "/p/", "index.html"):
        assert sum(part in url for url in found) >= 20, part


def test_content_is_the_page_and_nothing_else(found):
    """Two pages have the same words if and only if they are the same page, and the bodies always differ."""
    pages_of_bag = defaultdict(set)
    for number, page in enumerate(found.values()):
        pages_of_bag[sketch_of_html(html_of(page, PORT, Moment(number))).bag].add(identity(page))
    assert all(len(pages) == 1 for pages in pages_of_bag.values())
    assert len(pages_of_bag) == len({identity(page) for page in found.values()})


def test_what_is_no_page():
    for target in ("/nothing", "/p/kb07", "/category/lamps?page=9", "/category/lamps?page=x", "/p/kB07?lang=fr"):
        assert page_of(target) is None, target


# -- what passes

KINDS = ("home", "product", "category", "tag", "guide")
ONE, TWO = Moment(7), Moment(1234, 86_400.0)


def lasting(page: Page, moment: Moment) -> str:
    """The HTML without what the shop says to pass."""
    html = html_of(page, PORT, moment, passing=True)
    for start, end in reversed(passing_spans(page, PORT, moment)):
        html = html[:start] + html[end:]
    return html


def of_kind(found: dict[str, Page], kind: str, language: str) -> list[Page]:
    return [page for page in found.values() if page.kind == kind and page.language == language]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_pages_of_every_kind_differ_in_what_passes_and_in_nothing_else(found, kind, language):
    pages = of_kind(found, kind, language)
    assert pages or (language == "de" and kind in ("tag", "guide"))
    for page in pages[:10]:
        one, two = (html_of(page, PORT, moment, passing=True) for moment in (ONE, TWO))
        assert sketch_of_html(one).bag != sketch_of_html(two).bag
        assert one == html_of(page, PORT, ONE, passing=True)
        assert lasting(page, ONE) == lasting(page, TWO)
        passed = [one[start:end] for start, end in passing_spans(page, PORT, ONE)]
        # The clock, three tokens, the visitors, the advertisement, three products and their links.
        assert len(passed) == 12
        assert all(part and "<" not in part for part in passed)


def test_without_its_switch_nothing_passes_but_the_token(found):
    for page in list(found.values())[:50]:
        plain = html_of(page, PORT, ONE)
        assert plain.replace(ONE.token, TWO.token) == html_of(page, PORT, TWO)
        assert not re.search("class=.(clock|ad|visitors|recent)", plain)


def test_prices_and_what_items_are_made_of_last(found):
    for page in of_kind(found, "product", "en")[:20]:
        (product,) = re.findall(
            "<h1>.*?</h1><p class=.price.>[0-9]+ euros</p><p class=.description.>.*?</p>", lasting(page, ONE)
        )
        assert product in html_of(page, PORT, TWO, passing=True)


def test_what_passes_leads_to_urls_that_are_linked_anyway(found):
    pages = [page for kind in KINDS for page in of_kind(found, kind, "de")[:20] + of_kind(found, kind, "en")[:20]]
    for number, page in enumerate(pages):
        targets = re.findall('href="([^"]*)"', html_of(page, PORT, Moment(number), passing=True))
        others = [target for target in targets if target.replace("&amp;", "&") not in found]
        assert others == [f"/basket?token={number:08}"]


def test_the_shop_counts_requests_and_has_a_time_of_its_own():
    with Shop(passing=True) as shop:

        def get(path: str) -> str:
            with urlopen(shop.url.replace("localhost", "127.0.0.1") + path) as response:
                return response.read().decode()

        first, second = get(""), get("")
        shop.time = 86_400.0
        third = get("")
        home = Page("home")
        assert [first, second] == [html_of(home, shop.port, Moment(n), passing=True) for n in (1, 2)]
        assert third == html_of(home, shop.port, Moment(3, 86_400.0), passing=True)
        assert "05.01.2026, 09:00:01" in first
        assert "06.01.2026, 09:00:03" in third
        assert "Disallow: /basket" in get("robots.txt")
        assert shop.pages == {home: 3}
