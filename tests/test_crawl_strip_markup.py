"""Attributes, scripts and comments in items: what passes in them goes out of HTML fields, and nothing else."""

import json
import re
from pathlib import Path
from random import Random
from time import time as real_time
from typing import Any

import pytest
import scrapy
from scrapy.http import HtmlResponse

import scrapy_dedup
from scrapy_dedup import Mask
from scrapy_dedup.content.tokenizer.unseen import unseen_blocks
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.items.stripping import remember_crawl
from scrapy_dedup.crawl.observe import store_rows as observing
from scrapy_dedup.masks.loading import load_masks
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import STORE, Crawl, crawler_of, in_reactor, run
from .crawling_parts import crawler
from .server import Asked, Server, prose
from .test_crawl_pipeline import processed

BODY = "html/body"
PATHS = (
    TransientPath("html/head/meta", "content[name=csrf-token]"),
    TransientPath("html/head/script", "nonce"),
    TransientPath("html/head/script", "#script[request]"),
    TransientPath("html/head/script", "#script[at]"),
    TransientPath("html/head/link", "href[rel=stylesheet][?v]"),
    TransientPath(BODY, "data-request"),
    TransientPath(f"{BODY}/p", "title", slot=("Made at", "")),
    TransientPath(f"{BODY}/p", "data-url[?t]"),
    TransientPath(BODY, "#comment[cache]", slot=("cache:", "")),
    TransientPath(f"{BODY}/img", "src", slot=("…?v=", "")),
)
MASK = Mask("shop.test", PATHS)


def page_of(rng: Random, number: int = 1) -> str:
    """A page with tokens, a time and versions in its markup, and values there that last."""
    clock = f"{rng.randint(10, 19)}:{rng.randint(10, 59)}"
    return (
        f"<!doctype html><html><head><title>Chair {number}</title><meta charset=utf-8><meta name=csrf-token content={token(rng)}>"
        f'<meta property="og:title" content="Chair &quot;{number}&quot;"><link rel="stylesheet" href="/a.css?v={rng.randint(1, 99)}">'
        f'<script nonce=\'{token(rng)}\'>s = {{"kind": "chair", "request": \'{token(rng)}\', "at": {rng.randint(10**9, 2 * 10**9)}}}</script>'
        f'<script type="application/ld+json">{{"@type": "Product", "price": "{number}.99"}}</script></head>'
        f'<body data-request={token(rng)} data-sku="S{number}"><h1>Chair {number}</h1>'
        f'<p title="Made at {clock}" data-url="/x?a={number}&amp;t={token(rng)}">{prose(number)}</p><!-- cache: {clock} {token(rng)} -->'
        f'<!-- chair {number} --><img src="/{number}.jpg?v={rng.randint(10**5, 10**6)}" alt="Chair {number}"><a href="/">All</a></body></html>'
    )


def token(rng: Random) -> str:
    return f"{rng.getrandbits(128) | 1 << 127:032x}"


PAGE, AGAIN = page_of(Random(1)), page_of(Random(2))
LASTING = (
    'content="Chair &quot;1&quot;"',
    '"price": "1.99"',
    'data-sku="S1"',
    "<!-- chair 1 -->",
    'alt="Chair 1"',
    "/x?a=1&amp;",
)


def shared_of(**settings: Any) -> CrawlComponents:
    settings.setdefault("DEDUP_CONTENT_FIELDS", {"html": "html", "text": "text"})
    shared = CrawlComponents.of(crawler(**settings))
    shared.masks.use({"shop.test": MASK})
    return shared


def response_of(html: str = PAGE) -> HtmlResponse:
    request = scrapy.Request("http://shop.test/p/1")
    return HtmlResponse(request.url, body=html.encode(), encoding="utf-8", request=request)


def stripped(field: Any, html: str = PAGE, **settings: Any) -> Any:
    return processed({"html": field}, shared_of(**settings), response_of(html))["html"]


FORMS = {
    "the response": lambda response: response.text,
    "the body as it stands": lambda response: response.text[response.text.index("<body") :],
    "html by lxml": lambda response: response.css("html").get(),
    "head by lxml": lambda response: response.css("head").get(),
    "body by lxml": lambda response: response.css("body").get(),
    "one tag": lambda response: response.css("meta[name=csrf-token]").get(),
    "one script": lambda response: response.css("head script").get(),
    "the text of a script": lambda response: response.css("head script::text").get(),
    "a list": lambda response: response.css("head, body").getall(),
    "absolute addresses": lambda response: response.css("body").get().replace('"/', '"http://shop.test/'),
    "other white space": lambda response: response.css("html").get().replace("> <", ">\n<").replace("</p>", " </p>"),
    "without comments": lambda response: re.sub("<!--.*?-->", "", response.css("body").get()),
}


@pytest.mark.parametrize("form", FORMS)
def test_fields_of_all_forms(form: str) -> None:
    make = FORMS[form]
    before, other = make(response_of(PAGE)), make(response_of(AGAIN))
    assert before != other
    one, two = stripped(before), stripped(other, AGAIN)
    assert one == two
    joined, left = ("".join(each) if isinstance(each, list) else each for each in (before, one))
    assert len(left) < len(joined)
    for value in LASTING:
        assert left.count(value) == joined.count(value), value
    found = left.count("<!-- cache:")
    assert found == joined.count("<!-- cache:")


def test_what_of_a_page_stays() -> None:
    done = stripped(PAGE)
    for value in LASTING:
        assert value in done
    for part in (
        "<meta name=csrf-token content>",
        "<script nonce=''>",
        '{"kind": "chair", "request": \'\'}',
        '/a.css?v="',
        '&amp;t="',
    ):
        assert part in done
    assert "<body data-request data-sku=" in done
    assert 'title="Made at ' in done


def test_text_fields_have_the_scripts_of_it() -> None:
    shared = shared_of(DEDUP_CONTENT_FIELDS={"text": "text", "script": "text", "html": "html"})
    response = response_of()
    item = {
        "text": " ".join(response.css("body ::text").getall()),
        "script": response.css("script::text").get(),
        "html": response.text,
    }
    done = processed(dict(item), shared, response)
    assert done["text"] == item["text"]
    assert done["script"] == stripped(item["script"]) != item["script"]
    assert done["html"] == stripped(PAGE)


@pytest.mark.parametrize(
    "given",
    [
        {"DEDUP_STRIP_MARKUP": False},
        {"DEDUP_STRIP_MARKUP": "0"},
        {"DEDUP_STRIP": "mark"},
    ],
)
def test_switched_off(given: dict[str, Any]) -> None:
    for make in FORMS.values():
        assert stripped(make(response_of()), **given) == make(response_of())


def test_marks_are_set_in_what_is_shown_alone() -> None:
    shared = shared_of(DEDUP_STRIP="mark")
    shared.masks.use({"shop.test": Mask("shop.test", (*PATHS, TransientPath(f"{BODY}/h1")))})
    done = processed({"html": PAGE}, shared, response_of())["html"]
    marked = '<h1><span data-dedup="transient">Chair 1</span></h1>'
    assert done == PAGE.replace("<h1>Chair 1</h1>", marked)


def test_where_it_is_switched_off_it_costs_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("scrapy_dedup.masks.applying.stripper.unseen_blocks", lambda html: asked.append(html) or [])
    response = response_of()
    processed({"html": "x"}, shared_of(DEDUP_STRIP_MARKUP=False), response)
    assert not asked
    processed({"html": "x"}, shared_of(), response)
    assert asked == [PAGE]


def test_what_may_come_from_two_places() -> None:
    """Equal tags of which one has lost a token: which of them a field is from nobody knows, but by the token itself."""
    page = f'<html><body><p data-t="{token(Random(1))}">a b c</p><div><p data-t="{token(Random(2))}">a b c</p></div></body></html>'
    shared = shared_of()
    shared.masks.use({"shop.test": Mask("shop.test", (TransientPath(f"{BODY}/p", "data-t"),))})

    def done(field: str) -> str:
        return str(processed({"html": field}, shared, response_of(page))["html"])

    response = response_of(page)
    first, second = response.css("p").getall()
    assert done(first) == '<p data-t="">a b c</p>'
    assert done(second) == second
    one, other = (each.replace("a b c", "a  b c") for each in (first, second))
    assert (done(one), done(other)) == ('<p data-t="">a  b c</p>', other), "by its token"
    assert done("<p>a  b c</p>") == "<p>a  b c</p>"


def test_for_spiders() -> None:
    assert (
        scrapy_dedup.strip_transient(response_of(), MASK).text
        == scrapy_dedup.strip_transient(response_of(AGAIN), MASK).text
    )
    for given, changes in (({}, True), ({"DEDUP_STRIP_MARKUP": False}, False)):
        response = response_of()
        assert response.request is not None
        shared = shared_of(**given)
        remember_crawl(response.request, shared.transient)
        assert (scrapy_dedup.strip_transient(response).text != PAGE) is changes


# -- a site, crawled on some days

PAGES = 12


class Pages(scrapy.Spider):
    """Gives an item for each page."""

    name = "pages"

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.start_urls = list(urls)

    def parse(self, response: Any) -> Any:
        yield {
            "url": response.url,
            "html": response.css("html").get(),
            "source": response.text,
            "text": " ".join(response.css("body ::text").getall()),
        }


class Site:
    """Pages whose markup is drawn anew for each response, by a clock that is set."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.day = 0
        self.asked = 0
        self.rng = Random(1)

    def respond(self, asked: Asked) -> str:
        self.asked += 1
        number = int(asked.path.rpartition("/")[2])
        own = Random(number)
        price, stock, rating = own.randint(10, 99) + self.day % 3, own.randint(20, 60) - self.day, own.randint(30, 49)
        rng, text = self.rng, prose(number)
        product = {"@type": "Product", "name": f"Chair {number}", "offers": {"price": f"{price}.99", "stock": stock}}
        return (
            f'<!doctype html><html><head><title>Chair {number}</title><meta name="csrf-token" content="{token(rng)}">'
            f'<meta property="og:title" content="Chair {number}"><meta name="description" content="{text[:40]}">'
            f'<script nonce="{token(rng)}">s = {{"kind": "p", "request": "{token(rng)}", "n": {rng.randint(10**9, 2 * 10**9)}}}</script>'
            f'<script type="application/ld+json">{json.dumps(product)}</script></head>'
            f'<body data-request="{token(rng)}"><h1>Chair {number}</h1><p>{text}</p>'
            f'<div data-sku="S{number}" data-price="{price}.99" data-stock="{stock}" data-rating="{rating / 10}">{price}.99 EUR</div>'
            f'<img src="/{number}.jpg?v={rng.getrandbits(60) | 1 << 59:015x}" alt="Chair {number}" title="Photograph {number}">'
            f"<!-- render: {self.day}:{token(rng)} --><!-- box {number} -->"
            f'<img src="http://t.example/p.gif?r={token(rng)}" width="1" alt=""></body></html>'
        )


PASSING = {
    "csrf meta tag": r'name="csrf-token" content="([^"]*)"',
    "nonce": r'nonce="([^"]*)"',
    "state": r'"request": "([^"]*)"',
    "number of the request": r'"n": (\d+)',
    "data attribute": r'data-request="([^"]*)"',
    "cache-buster": r'jpg\?v=([^"]*)"',
    "comment": r"<!-- render: ([^>]*) -->",
    "pixel": r'p\.gif\?r=([^"]*)"',
}
STAYING = {
    "title": r'property="og:title" content="(Chair \d+)"',
    "description": r'name="description" content="([^"]+)"',
    "price of the product": r'"price": "([\d.]+)"',
    "stock of the product": r'"stock": (\d+)',
    "name of the product": r'"name": "(Chair \d+)"',
    "number": r'data-sku="(S\d+)"',
    "price": r'data-price="([\d.]+)"',
    "stock": r'data-stock="(\d+)"',
    "rating": r'data-rating="([\d.]+)"',
    "alternative text": r'alt="(Chair \d+)"',
    "title of the image": r'title="(Photograph \d+)"',
    "picture": r'src="/(\d+\.jpg)',
    "comment": r"<!-- (box \d+) -->",
}
FIELDS = {"html": "html", "text": "text"}


@pytest.fixture
def site(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Site:
    server = serve(lambda asked: Site.respond(found, asked))
    found = Site(server)
    began = real_time() - 2_000_000.0  # older evidence is left aside
    monkeypatch.setattr(observing, "time", lambda: began + found.day * 86_400.0 + found.asked)
    return found


async def crawled(site: Site, day: int, **settings: Any) -> Crawl:
    site.day = day
    urls = [site.server.url(f"/p/{number}") for number in range(PAGES)]
    given = {"CONCURRENT_REQUESTS": 1, "DEDUP_CONTENT_FIELDS": FIELDS, **settings}
    done = await run(crawler_of(Pages, **given), *urls)
    assert len(done.items) == PAGES
    assert not [name for name in done.dedup() if name.startswith("errors")]
    return done


def values(place: str, items: list[dict[str, str]], field: str) -> list[list[str]]:
    return [re.findall(place, item[field]) for item in sorted(items, key=lambda item: item["url"])]


@in_reactor
async def test_crawls_on_several_days(site: Site) -> None:
    for day in range(4):
        learn = "close" if day == 3 else "off"
        await crawled(site, day, DEDUP_LEARN=learn, DEDUP_REVISITS=3)
    done, later = await crawled(site, 4), await crawled(site, 5)
    for part, place in PASSING.items():
        for crawl in (done, later):
            served, left = values(place, crawl.items, "source"), values(place, crawl.items, "html")
            assert all(map(any, served)), part
            assert not any(any(each) for each in left), part
    changed = 0
    for part, place in STAYING.items():
        for crawl in (done, later):
            served, left = values(place, crawl.items, "source"), values(place, crawl.items, "html")
            assert all(map(any, served)), part
            assert left == served, part
        changed += values(place, done.items, "source") != values(place, later.items, "source")
    assert changed >= 3, "prices and stock"
    for item in done.items:
        assert json.loads(re.findall(r"ld\+json\">(.*?)</script>", item["html"])[0])["offers"]
        assert (
            item["text"].split()
            == re.sub("<[^>]*>", " ", item["source"].partition("<body")[2].partition(">")[2]).split()
        )
    # Of the pages but prices and stock have changed.
    one, other = (
        {
            item["url"]: re.sub(r'data-(price|stock)="[^"]*"|[\d.]+ EUR|"offers": {[^}]*}', "", item["html"])
            for item in crawl.items
        }
        for crawl in (done, later)
    )
    assert one == other


@in_reactor
async def test_only_where_it_is_asked_for(site: Site) -> None:
    """Without fields, or with the setting off, nothing of it is recorded, and the mask says the same of the rest."""
    masks: dict[str, Mask] = {}
    recorded = {}
    ways: dict[str, dict[str, Any]] = {
        "html": {},
        "text": {"DEDUP_CONTENT_FIELDS": {"text": "text"}},
        "off": {"DEDUP_STRIP_MARKUP": False},
        "none": {"DEDUP_CONTENT_FIELDS": {}},
    }
    for name, given in ways.items():
        site.asked, site.rng = 0, Random(1)
        kept = {"DEDUP_DIR": f"rules-{name}", "DEDUP_STORE": f"{name}.sqlite"}
        for day in range(3):
            learn = "close" if day == 2 else "off"
            await crawled(site, day, DEDUP_LEARN=learn, DEDUP_REVISITS=3, **kept, **given)
        (masks[name],) = load_masks([f"rules-{name}"]).values()
        with Store.open(f"{name}.sqlite", readonly=True) as store:
            (seen,) = store.sites("")
            found = [version for _, _, version in store.versions("", seen.site)]
        assert len(found) >= 3 * PAGES
        recorded[name] = [bool(version.markup) for version in found]
    assert all([*recorded["html"], *recorded["text"]])
    assert not any([*recorded["off"], *recorded["none"]])
    assert masks["text"].paths == masks["html"].paths
    assert any(path.is_unseen and path.is_hidden for path in masks["html"].paths)
    seen_alone = [path for path in masks["html"].paths if not path.is_unseen]
    for name in ("off", "none"):
        assert list(masks[name].paths) == seen_alone != []
        assert masks[name].version == masks["html"].version
    switched_off = await crawled(site, 4, DEDUP_DIR="rules-html", DEDUP_STORE="html.sqlite", DEDUP_STRIP_MARKUP=False)
    for part, place in PASSING.items():
        assert values(place, switched_off.items, "html") == values(place, switched_off.items, "source"), part


def test_the_pages_of_these_tests_have_what_they_are_to_have() -> None:
    found = {block.attribute for block in unseen_blocks(PAGE)}
    assert {path.attribute for path in PATHS if path.is_unseen} <= found
    assert not Path(STORE).exists()
