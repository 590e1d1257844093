"""The demo shop: each URL leads to its page, and there is enough of everything to learn from."""

import sys
from collections import defaultdict
from pathlib import Path

import pytest

from scrapy_dedup.content.sketch import sketch_of_html

PROJECT = Path(__file__).resolve().parent.parent / "example_project"
sys.path.insert(0, str(PROJECT))

from demo_site.pages import Page, links
from demo_site.server import html_of, identity
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
        pages_of_bag[sketch_of_html(html_of(page, PORT, f"{number:08}")).bag].add(identity(page))
    assert all(len(pages) == 1 for pages in pages_of_bag.values())
    assert len(pages_of_bag) == len({identity(page) for page in found.values()})


def test_what_is_no_page():
    for target in ("/nothing", "/p/kb07", "/category/lamps?page=9", "/category/lamps?page=x", "/p/kB07?lang=fr"):
        assert page_of(target) is None, target
