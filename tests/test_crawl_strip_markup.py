"""What passes in attributes, scripts and comments goes out of items, whatever the form of the field, and nothing else does."""

import json
import re
from random import Random
from typing import Any

import pytest
import scrapy

import scrapy_dedup

from .conftest import Serve
from .crawling import Crawl, crawl, in_reactor, let_days_pass
from .exporting import export, place, stripped
from .server import Asked, prose

HEAD, BODY = "html/head", "html/body"
MASK = (
    place(f"{HEAD}/meta", attribute="content[name=csrf-token]"),
    place(f"{HEAD}/script", attribute="nonce"),
    place(f"{HEAD}/script", attribute="#script[request]"),
    place(f"{HEAD}/script", attribute="#script[at]"),
    place(f"{HEAD}/link", attribute="href[rel=stylesheet][?v]"),
    place(BODY, attribute="data-request"),
    place(f"{BODY}/p", "Made at {…}", attribute="title"),
    place(f"{BODY}/p", attribute="data-url[?t]"),
    place(BODY, "cache: {…}", attribute="#comment[cache]"),
    place(f"{BODY}/script", attribute="#script[request]"),
    place(f"{BODY}/script", attribute="#script[at]"),
    place(f"{BODY}/div/noscript/p", attribute="#script[Version]"),
    place(f"{BODY}/p.online", "{…} users online"),
)


def token(rng: Random) -> str:
    return f"{rng.getrandbits(128) | 1 << 127:032x}"


def page_of(rng: Random, number: int = 1) -> str:
    """A page with tokens, a time and versions in its markup and in the scripts between its texts, and values there that last."""
    clock = f"{rng.randint(10, 19)}:{rng.randint(10, 59)}"
    state = {"kind": "chair", "request": token(rng), "at": rng.randint(10**9, 2 * 10**9), "n": number}
    product = {"@type": "Product", "name": f'"Chair" {number}', "price": f"{number}.99", "at": rng.randint(10, 10**6)}
    return (
        f"<!doctype html><html><head><title>Chair {number}</title><meta charset=utf-8><meta name=csrf-token content={token(rng)}>"
        f'<meta property="og:title" content="Chair &quot;{number}&quot;"><link rel="stylesheet" href="/a.css?v={rng.randint(1, 99)}">'
        f'<script nonce=\'{token(rng)}\'>s = {{"kind": "chair", "request": \'{token(rng)}\', "at": {rng.randint(10**9, 2 * 10**9)}}}</script>'
        f'</head><body data-request={token(rng)} data-sku="S{number}"><h1>Chair {number}</h1><style>p > b {{ color: red }}</style>'
        f'<p title="Made at {clock}" data-url="/x?a={number}&amp;t={token(rng)}">{prose(number)}</p><!-- cache: {clock} {token(rng)} -->'
        f"<script>\n  if (a < b && c) {{ s = {json.dumps(state)} }}\n</script><p class=online>{rng.randint(100, 999)} users online</p>"
        f'<script type="application/ld+json">{json.dumps(product, indent=1)}</script>'
        f"<div>Tables &amp; chairs <noscript><p>Version: {rng.randint(10**5, 10**6)} without <b>scripts</b> &amp; more</p>"
        f"</noscript><template><i>a template</i></template> in the end</div>"
        f'<!-- chair {number} --><img src="/{number}.jpg" alt="Chair {number}"><a href="/">All</a></body></html>'
    )


def texts(response: Any) -> list[str]:
    found: list[str] = response.css("body ::text").getall()
    return found


HTML_FORMS = {
    "the response": lambda response: response.text,
    "the body as it stands": lambda response: response.text[response.text.index("<body") :],
    "html by lxml": lambda response: response.css("html").get(),
    "head by lxml": lambda response: response.css("head").get(),
    "body by lxml": lambda response: response.css("body").get(),
    "one tag": lambda response: response.css("meta[name=csrf-token]").get(),
    "one script": lambda response: response.css("head script").get(),
    "a list": lambda response: response.css("head, body").getall(),
    "absolute addresses": lambda response: response.css("body").get().replace('"/', '"http://shop.test/'),
    "other white space": lambda response: response.css("html").get().replace("> <", ">\n<").replace("</p>", " </p>", 1),
    "without comments": lambda response: re.sub("<!--.*?-->", "", response.css("body").get()),
}
TEXT_FORMS = {
    "joined": lambda response: " ".join(texts(response)),
    "joined without blanks": lambda response: "".join(texts(response)),
    "one line": lambda response: " ".join(" ".join(texts(response)).split()),
    "lines": lambda response: "\n".join(text.strip() for text in texts(response) if text.strip()),
    "a list": texts,
    "a list of stripped texts": lambda response: [text.strip() for text in texts(response)],
    "xpath": lambda response: response.xpath("string(//body)").get(),
    "normalize-space": lambda response: response.xpath("normalize-space(//body)").get(),
    "without styles": lambda response: " ".join(response.xpath("//body//text()[not(parent::style)]").getall()),
    "with a word of the spider's": lambda response: "Page: " + " ".join(texts(response)),
    "scripts": lambda response: response.css("body script::text").getall(),
    "one script": lambda response: response.css("body script::text").get(),
    "a piece of it": lambda response: re.findall(r"s = (\{.*?), \"n\"", response.css("body script::text").get())[0],
    "JSON": lambda response: response.css("script[type]::text").get(),
    "JSON in a line": lambda response: " ".join(response.css("script[type]::text").get().split()),
    "JSON anew": lambda response: json.dumps(json.loads(response.css("script[type]::text").get())),
}
HTML_LASTING = ('content="Chair &quot;1&quot;"', 'data-sku="S1"', "<!-- chair 1 -->", 'alt="Chair 1"', "/x?a=1&amp;")
HTML_LASTING += ("<!-- cache:", '"1.99"', "color: red")
TEXT_LASTING = (
    "Chair",
    "color: red",
    "a < b && c",
    '"kind"',
    '"Product"',
    "1.99",
    "Tables & chairs",
    "without",
    "template",
)
FORMS = {"html": (HTML_FORMS, HTML_LASTING), "text": (TEXT_FORMS, TEXT_LASTING)}
PAGES = [page_of(Random(seed)) for seed in (1, 2)]


def joined(field: Any) -> str:
    return " ".join(field) if isinstance(field, list) else field


@pytest.mark.parametrize("kind", FORMS)
@in_reactor
async def test_fields_of_all_forms(serve: Serve, kind: str) -> None:
    """What is exported of two visits is the same, and all that lasts is there as often as before."""
    forms, lasting = FORMS[kind]
    served = [await stripped(serve, page, forms, *MASK, kind=kind, DEDUP_STRIP="off") for page in PAGES]
    one, other = [await stripped(serve, page, forms, *MASK, kind=kind) for page in PAGES]
    for form in forms:
        assert served[0][form] != served[1][form]
        assert one[form] == other[form], form
        before, left = joined(served[0][form]), joined(one[form])
        assert len(left) < len(before)
        for value in lasting:
            assert left.lower().count(value.lower()) == before.lower().count(value.lower()), (form, value)
        if form.startswith("JSON"):
            expected = json.loads(before)
            del expected["at"]
            assert json.loads(left) == expected
    if kind == "text":
        found = re.findall(r"s = (\{.*?\}) \}", one["joined"])
        assert json.loads(found[0]) == {"kind": "chair", "request": "", "n": 1}
    else:
        parts = ("<meta name=csrf-token content>", "<script nonce=''>", '{"kind": "chair", "request": \'\'}')
        parts += ('/a.css?v="', '&amp;t="', "<body data-request data-sku=", 'title="Made at ')
        assert [part for part in parts if part not in one["the response"]] == []


@in_reactor
async def test_marked(serve: Serve) -> None:
    """What is shown is marked, and all else is as the page has it."""
    for kind, (forms, _) in FORMS.items():
        served = await stripped(serve, PAGES[0], forms, *MASK, kind=kind, DEDUP_STRIP="off")
        found = await stripped(serve, PAGES[0], forms, *MASK, kind=kind, DEDUP_STRIP="mark")
        for form in forms:
            before, left = (
                joined(served[form]),
                re.sub('[⟦⟧]|<span data-dedup="transient">|</span>', "", joined(found[form])),
            )
            shown = re.findall(r"\d+(?=\s*users online)", before, re.IGNORECASE)
            assert left.split() == before.split(), form
            assert (joined(found[form]) != before) is bool(shown), form


#: Pages of which a field may be from two places: (page, places, fields, what is left).
AT = place(f"{BODY}/script", attribute="#script[at]")
TAGS = [f'<p data-t="{token(Random(seed))}">a b c</p>' for seed in (1, 2)]
SCRIPTS = ['{"at": 1234567, "kind": "a"}', '{"kind": "b", "id": 1234567}']
DOUBTS: dict[str, tuple[str, str, str, Any, Any]] = {
    "equal tags": ("html", f"{TAGS[0]}<div>{TAGS[1]}</div>", place(f"{BODY}/p", attribute="data-t"), TAGS[1], None),
    "its token tells": (
        "html",
        f"{TAGS[0]}<div>{TAGS[1]}</div>",
        place(f"{BODY}/p", attribute="data-t"),
        TAGS[0],
        '<p data-t="">a b c</p>',
    ),
    "the script": (
        "text",
        f"<script>{SCRIPTS[0]}</script><p>A text</p><div>{SCRIPTS[1]}</div>",
        AT,
        SCRIPTS[0],
        '{ "kind": "a"}',
    ),
    "a short value": ("text", '<script>s = {"at": 17, "n": 12}</script><p>12</p>', AT, "17", None),
    "a script with it": (
        "text",
        '<script>s = {"at": 17, "n": 12}</script>',
        AT,
        's = {"at": 17, "n": 12}',
        's = { "n": 12}',
    ),
}


@pytest.mark.parametrize("name", DOUBTS)
@in_reactor
async def test_what_may_come_from_two_places(serve: Serve, name: str) -> None:
    kind, html, of, field, left = DOUBTS[name]
    found = await stripped(serve, f"<html><body>{html}</body></html>", {"field": field}, of, kind=kind)
    assert found["field"] == (field if left is None else left)


@in_reactor
async def test_for_spiders(serve: Serve) -> None:
    """``strip_transient`` strips markup, too."""

    def give(response: Any) -> Any:
        yield {"text": scrapy_dedup.strip_transient(response).text}

    pages = dict(zip("ab", PAGES, strict=True))
    done, _ = await export(serve, pages, give, *MASK, fields={})
    assert len({item["text"] for item in done.items}) == 1


# -- a site, crawled on some days, of which the mask is learned

NUMBERS = 12


class Pages(scrapy.Spider):
    """Gives an item for each page."""

    name = "pages"

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.start_urls = list(urls)

    def parse(self, response: Any) -> Any:
        every = " ".join(texts(response))
        yield {
            "url": response.url,
            "source": response.text,
            "html": response.css("html").get(),
            "served": every,
            "text": every,
            "line": " ".join(every.split()),
            "price": response.css("p.price::text").get(),
        }


class Site:
    """Pages of which all that passes is drawn anew for each response; prices and stock change from day to day."""

    def __init__(self) -> None:
        self.day = 0
        self.rng = Random(1)

    def __call__(self, asked: Asked) -> str:
        number = int(asked.path.rpartition("/")[2])
        own, rng = Random(number), self.rng
        price, stock, rating = own.randint(10, 99) + self.day % 3, own.randint(20, 60) - self.day, own.randint(30, 49)
        product = {
            "@type": "Product",
            "name": f"Chair {number}",
            "request": token(rng),
            "offers": {"price": f"{price}.99", "stock": stock},
        }
        return (
            f'<!doctype html><html><head><title>Chair {number}</title><meta name="csrf-token" content="{token(rng)}">'
            f'<meta property="og:title" content="Chair {number}"><meta name="description" content="{prose(number)[:40]}">'
            f'<script nonce="{token(rng)}">s = {{"kind": "p", "request": "{token(rng)}", "n": {rng.randint(10**9, 2 * 10**9)}}}</script>'
            f'</head><body data-request="{token(rng)}"><p class="clock">It is {rng.randint(10, 19)}:{rng.randint(10, 59)}</p>'
            f'<p class="ad">Buy our {rng.choice(ADS)} now</p><h1>Chair {number}</h1><p>{prose(number)}</p>'
            f'<form><input name="token" value="{token(rng)}"></form><a class="basket" href="/basket?token={token(rng)}">Basket</a>'
            f'<div data-sku="S{number}" data-price="{price}.99" data-stock="{stock}" data-rating="{rating / 10}"></div>'
            f'<p class="price">{price}.99 EUR, {stock} left</p><script type="application/ld+json">{json.dumps(product)}</script>'
            f'<img src="/{number}.jpg?v={rng.getrandbits(60) | 1 << 59:015x}" alt="Chair {number}" title="Photograph {number}">'
            f"<!-- render: {self.day}:{token(rng)} --><!-- box {number} --><p class=visitors>{rng.randint(100, 999)} visitors right now</p>"
            f'<img src="http://t.example/p.gif?r={token(rng)}" width="1" alt=""></body></html>'
        )


ADS = ("finest tables", "warmest blankets", "softest cushions", "brightest lamps", "largest shelves")
PASSING = {
    "csrf meta tag": r'name="csrf-token" content="([^"]*)"',
    "nonce": r'nonce="([^"]*)"',
    "state": r'"request": "([^"]*)"',
    "number of the request": r'"n": (\d+)',
    "data attribute": r'data-request="([^"]*)"',
    "cache-buster": r'jpg\?v=([^"]*)"',
    "comment": r"<!-- render: ([^>]*) -->",
    "pixel": r'p\.gif\?r=([^"]*)"',
    "clock": r"It is ([\d:]+)",
    "advertisement": r"our (\w+ \w+) now",
    "form": r'name="token" value="([^"]*)',
    "link": r'/basket\?token=([^"]*)',
    "counter": r"(\d+) visitors",
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
    "price that is shown": r"([\d.]+) EUR",
    "stock that is shown": r"(\d+) left",
    "alternative text": r'alt="(Chair \d+)"',
    "title of the image": r'title="(Photograph \d+)"',
    "picture": r'src="/(\d+\.jpg)',
    "comment": r"<!-- (box \d+) -->",
    "visitors": r"(visitors) right",
}
#: What of it a field of text has.
IN_TEXT = {"state", "clock", "advertisement", "counter"}
IN_TEXT |= {name for name in STAYING if name.endswith(("product", "shown")) or name == "visitors"}
KINDS = {"html": "html", "text": "text", "line": "text"}


def values(place: str, items: list[dict[str, str]], field: str) -> list[list[str]]:
    return [re.findall(place, item[field]) for item in sorted(items, key=lambda item: item["url"])]


async def days(serve: Serve, fields: dict[str, str], count: int = 4, **settings: Any) -> tuple[Any, Site]:
    """A function that crawls the site, after crawls on *count* days, of which the last one learned."""
    site = Site()
    server = serve(site)
    urls = [server.url(f"/p/{number}") for number in range(NUMBERS)]

    async def crawled(**more: Any) -> Crawl:
        given = {"CONCURRENT_REQUESTS": 1, "DEDUP_CONTENT_FIELDS": fields, **settings, **more}
        done = await crawl(Pages, *urls, **given)
        assert len(done.items) == NUMBERS
        assert not done.faults()
        site.day += 1
        let_days_pass(1)
        return done

    for day in range(count):
        await crawled(DEDUP_LEARN="close" if day == count - 1 else "off", DEDUP_REVISITS=3)
    return crawled, site


@in_reactor
async def test_crawls_on_several_days(serve: Serve) -> None:
    crawled, _ = await days(serve, KINDS)
    done, later = await crawled(), await crawled()
    changed = 0
    for field, source in (("html", "source"), ("text", "served"), ("line", "served")):
        for part, where in (PASSING | STAYING).items():
            if field != "html" and part not in IN_TEXT:
                continue
            for each in (done, later):
                served, left = values(where, each.items, source), values(where, each.items, field)
                assert all(map(any, served)), part
                if part in PASSING and where == PASSING[part]:
                    assert not any(any(found) for found in left), (part, field)
                else:
                    assert left == served, (part, field)
            changed += part in STAYING and values(where, done.items, source) != values(where, later.items, source)
    assert changed >= 5, "prices and stock"
    for item in done.items:
        assert json.loads(re.findall(r"ld\+json\">(.*?)</script>", item["html"])[0])["offers"]
    # Of the pages but prices and stock have changed.
    gone = r'data-(price|stock)="[^"]*"|[\d.]+ EUR, \d+ left|"offers": {[^}]*}'
    one, other = (
        {item["url"]: re.sub(gone, "", item["html"] + item["text"]) for item in each.items} for each in (done, later)
    )
    assert one == other


@in_reactor
async def test_it_goes_from_the_first_crawl_on_that_names_fields(serve: Serve) -> None:
    """It is recorded before somebody asks for it, so that nothing looks as if it had come since."""
    crawled, _ = await days(serve, {}, 3)
    done = await crawled(DEDUP_CONTENT_FIELDS=KINDS)
    for part in ("clock", "nonce"):
        assert not any(any(found) for found in values(PASSING[part], done.items, "html")), part
