"""Scripts in fields of text: what passes in them goes, as it does out of fields of HTML, and nothing else."""

import json
import re
from random import Random
from time import time as real_time
from typing import Any

import pytest
import scrapy
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.http import HtmlResponse

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.items.pipeline import _Field
from scrapy_dedup.crawl.observe import store_rows as observing
from scrapy_dedup.masks.fields import transient_page
from scrapy_dedup.masks.fields.script_texts import script_texts
from scrapy_dedup.masks.fields.transient_page import TransientPage
from scrapy_dedup.masks.fields.visible_text import Stream
from scrapy_dedup.masks.model import Mask, TransientPath

from .conftest import Serve
from .crawling import Crawl, crawler_of, in_reactor, run
from .crawling_parts import crawler
from .server import Asked, Server, prose
from .test_crawl_pipeline import processed
from .test_crawl_strip_markup import token

BODY = "html/body"
MASK = Mask(
    "shop.test",
    (
        TransientPath(f"{BODY}/script", "#script[request]"),
        TransientPath(f"{BODY}/script", "#script[at]"),
        TransientPath(f"{BODY}/div/noscript", "#script[r]"),
        TransientPath(f"{BODY}/div/noscript", "#script[Version]"),
        TransientPath(f"{BODY}/p.online", slot=("", "users online")),
    ),
)


def page_of(rng: Random, number: int = 1) -> str:
    """A page whose body has scripts and the like between its texts, with tokens, numbers and a counter."""
    state = {"kind": "chair", "request": token(rng), "at": rng.randint(10**9, 2 * 10**9), "n": number}
    product = {"@type": "Product", "name": f'"Chair" {number}', "price": f"{number}.99", "at": rng.randint(10, 10**6)}
    return (
        f"<!doctype html><html><head><title>Chair {number}</title></head><body><h1>Chair {number}</h1>"
        f"<style>p > b {{ color: red }}</style><p>{prose(number)}</p><script>\n  if (a < b && c) {{ s = {json.dumps(state)} }}\n</script>"
        f"<p class=online>{rng.randint(100, 999)} users online</p>"
        f'<script type="application/ld+json">{json.dumps(product, indent=1)}</script>'
        f"<div>Tables &amp; chairs <noscript><p>Version: {rng.randint(10**5, 10**6)} without <b>scripts</b> &amp; more</p>"
        f'<img src="/p.gif?r={token(rng)}"></noscript><template><i>a template</i></template> in the end</div></body></html>'
    )


PAGE, AGAIN = page_of(Random(1)), page_of(Random(2))
LASTING = (
    "Chair",
    "color: red",
    "a < b && c",
    '"kind"',
    '"Product"',
    "1.99",
    "Tables & chairs",
    "without",
    "scripts",
    "a template",
)


def shared_of(**settings: Any) -> CrawlComponents:
    settings.setdefault("DEDUP_CONTENT_FIELDS", {"text": "text"})
    shared = CrawlComponents.of(crawler(**settings))
    shared.masks.use({"shop.test": MASK})
    return shared


def response_of(html: str = PAGE) -> HtmlResponse:
    request = scrapy.Request("http://shop.test/p/1")
    return HtmlResponse(request.url, body=html.encode(), encoding="utf-8", request=request)


def stripped(field: Any, html: str = PAGE, **settings: Any) -> Any:
    return processed({"text": field}, shared_of(**settings), response_of(html))["text"]


def texts(response: Any) -> list[str]:
    found: list[str] = response.css("body ::text").getall()
    return found


FORMS = {
    "joined": lambda response: " ".join(texts(response)),
    "joined without blanks": lambda response: "".join(texts(response)),
    "one line": lambda response: " ".join(" ".join(texts(response)).split()),
    "lines": lambda response: "\n".join(text.strip() for text in texts(response) if text.strip()),
    "a list": texts,
    "a list of stripped texts": lambda response: [text.strip() for text in texts(response)],
    "xpath": lambda response: response.xpath("string(//body)").get(),
    "normalize-space": lambda response: response.xpath("normalize-space(//body)").get(),
    "upper case": lambda response: " ".join(texts(response)).upper(),
    "without styles": lambda response: " ".join(response.xpath("//body//text()[not(parent::style)]").getall()),
    "with a word of the spider's": lambda response: "Page: " + " ".join(texts(response)),
    "scripts": lambda response: response.css("body script::text").getall(),
    "one script": lambda response: response.css("body script::text").get(),
    "a piece of it": lambda response: re.findall(r"s = (\{.*?), \"n\"", response.css("body script::text").get())[0],
    "JSON": lambda response: response.css("script[type]::text").get(),
    "JSON in a line": lambda response: " ".join(response.css("script[type]::text").get().split()),
    "JSON anew": lambda response: json.dumps(json.loads(response.css("script[type]::text").get())),
}


@pytest.mark.parametrize("form", FORMS)
def test_fields_of_all_forms(form: str) -> None:
    make = FORMS[form]
    before, other = make(response_of(PAGE)), make(response_of(AGAIN))
    assert before != other
    one, two = stripped(before), stripped(other, AGAIN)
    assert one == two
    joined, left = (" ".join(each) if isinstance(each, list) else each for each in (before, one))
    assert len(left) < len(joined)
    for value in LASTING:
        assert left.lower().count(value.lower()) == joined.lower().count(value.lower()), value
    if form.startswith("JSON"):
        lasting = json.loads(before)
        del lasting["at"]
        assert json.loads(one) == lasting


def test_json_among_other_texts_stays_json() -> None:
    done = stripped(" ".join(texts(response_of())))
    assert json.loads(re.findall(r"s = (\{.*?\}) \}", done)[0]) == {"kind": "chair", "request": "", "n": 1}
    assert json.loads(re.findall(r"\{\s*\"@type.*?\}", done, re.DOTALL)[0]) == {
        "@type": "Product",
        "name": '"Chair" 1',
        "price": "1.99",
    }
    as_html = processed({"text": PAGE}, shared_of(DEDUP_CONTENT_FIELDS={"text": "html"}), response_of())["text"]
    for script in response_of(as_html).css("body script::text").getall():
        assert " ".join(script.split()) in " ".join(done.split()), "what HTML fields have"


@pytest.mark.parametrize("given", [{"DEDUP_STRIP_MARKUP": False}, {"DEDUP_STRIP": "mark"}])
def test_switched_off(given: dict[str, Any]) -> None:
    for name, make in FORMS.items():
        field = make(response_of())
        done = stripped(field, **given)
        before, left = (" ".join(each) if isinstance(each, list) else each for each in (field, done))
        shown = re.findall(r"\d+(?=\s*users online)", before, re.IGNORECASE)
        assert (
            re.sub("[⟦⟧]", "", left).split()
            == (before if not shown or "DEDUP_STRIP" in given else before.replace(*shown, "")).split()
        ), name
        assert (left != before) is bool(shown), name


def test_what_the_page_shows_as_well() -> None:
    """A text that stands in a script and in what is shown, of which one is said to pass: nobody knows where a field is from."""
    text = "Chairs of oak and ash, sold since Monday"
    for tag in ("template", "script"):
        html = f"<html><body><p>{text}</p><{tag}>{text}</{tag}><p>An end</p></body></html>"
        shown, hidden = (match.span() for match in re.finditer("Monday", html))
        for spans, ambiguous in (([shown], True), ([hidden], False)):
            assert TransientPage(html, spans).find([text], "text") == ([[]], ambiguous)
        both = TransientPage(html, [shown, hidden]).find([text], "text")
        assert both == ([[(len(text) - 6, len(text))]], False)
        assert TransientPage(html, [shown], scripts=False).find([text], "text") == both
        whole = f"{text} {text} An end"
        found = TransientPage(html, [hidden]).find([whole], "text")
        assert found == ([[(2 * len(text) - 5, 2 * len(text) + 1)]], False), "all of it tells"


def test_two_scripts_of_which_one_passes() -> None:
    first, second = '{"at": 1234567, "kind": "a"}', '{"kind": "b", "at": 1234567}'
    for one, other, ambiguous in ((first, first, True), (first, second, False)):
        html = f"<html><body><script>{one}</script><p>A text</p><script>{other}</script></body></html>"
        at = html.index("1234567")
        found = TransientPage(html, [(at, at + 7)]).find([f" {one}\n"], "text")
        assert found == ([[]], True) if ambiguous else found == ([[(8, 15)]], False)


def test_short_values_of_a_script_are_no_texts_of_it() -> None:
    html = '<html><body><script>s = {"at": 17, "n": 12}</script><p>12</p></body></html>'
    page = TransientPage(html, [(html.index("17"), html.index("17") + 2)])
    assert page.find(["17"], "text").cuts == page.find(["12"], "text").cuts == [[]]
    assert page.find(['s = {"at": 17, "n": 12}'], "text") == ([[(11, 13)]], False)


def test_a_field_without_scripts_is_not_looked_for_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []

    class Counted(Stream):
        def __init__(self, *args: Any, scripts: bool = False, **others: Any) -> None:
            made.append(scripts)
            super().__init__(*args, scripts=scripts, **others)

    monkeypatch.setattr(transient_page, "Stream", Counted)
    nodes = "//body//text()[not(ancestor::script or ancestor::style or ancestor::template{})]"
    shown = " ".join(response_of().xpath(nodes.format(" or ancestor::noscript")).getall())
    assert len(stripped(shown)) < len(shown)
    assert made
    assert True not in made
    held = " ".join(response_of().xpath(nodes.format("")).getall())
    assert "without" in held
    assert "Version: without" in stripped(held)
    assert True in made


def test_where_texts_stand() -> None:
    html = (
        "<script>a &amp; b</script><noscript>x &amp; <b>y</b><style>z</style></noscript><title>t</title>"
        "<template><i>1</i><template>2 &lt;<script>3</template></template><iframe><b>f</b></iframe>"
    )
    stream = Stream([html], html=True, scripts=True)
    assert stream.text == "a&amp;bx&yzt12<3<b>f</b>"
    assert Stream([html], html=True).text == "t"
    found = stream.tokens[0]
    raw = [
        text for number, each in enumerate(found) if each.kind.value == "raw" for text in script_texts(found, number)
    ]
    assert "".join(each.squeezed(html) for each in raw) == stream.text.replace("t", "")
    for node in stream.nodes:
        assert not stream.is_tag(node)
        begin, end = stream.source(node, node.at, node.at + node.length)
        assert node.start <= begin < end <= node.end
        assert html[begin:end].strip() == html[begin:end]


def test_templates_in_templates_take_no_more_time_than_their_length() -> None:
    html = "<template>a" * 3000
    stream = Stream([html], html=True, scripts=True)
    assert 1 <= len(stream.nodes) <= 4
    assert Stream([""], html=True, scripts=True).text == ""


PARTS = st.lists(
    st.sampled_from(
        (
            "<script>s = {'at': 12}</script>",
            "<noscript><b>12</b> &amp; 3</noscript>",
            "<template>12",
            "</template>",
            "<p>12 users</p>",
            "some words ",
            "&lt;",
            "<style>12",
            "</style>",
            "12",
            "<!-- 12 -->",
            "<script>",
            "</script>",
        )
    ),
    max_size=12,
)


@given(PARTS, st.lists(st.integers(0, 300), max_size=8))
@settings(max_examples=30)
def test_no_page_breaks_it(parts: list[str], places: list[int]) -> None:
    html = "".join(parts)
    ends = sorted({min(place, len(html)) for place in places})
    page = TransientPage(html, list(zip(ends[::2], ends[1::2], strict=False)))
    field = texts(HtmlResponse("http://a.test/", body=f"<body>{html}".encode(), encoding="utf-8"))
    for strings in (field, [" ".join(field)], [html]):
        found = page.find(strings, "text")
        assert len(found.cuts) == len(strings)
        for string, cuts in zip(strings, found.cuts, strict=True):
            assert all(0 <= start < end <= len(string) for start, end in cuts)
        _Field(page, "text", marks=False)(strings)


# -- a site, crawled on some days

PAGES = 12


class Pages(scrapy.Spider):
    """Gives an item for each page, with all texts of its body."""

    name = "pages"

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.start_urls = list(urls)

    def parse(self, response: Any) -> Any:
        found = response.css("body ::text").getall()
        yield {
            "url": response.url,
            "served": " ".join(found),
            "text": " ".join(found),
            "line": " ".join(" ".join(found).split()),
            "texts": found,
            "state": response.css("script[type]::text").get(),
        }


class Site:
    """Pages with scripts in their body that are drawn anew for each response, by a clock that is set."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.day = self.asked = 0
        self.rng = Random(1)

    def respond(self, asked: Asked) -> str:
        self.asked += 1
        number = int(asked.path.rpartition("/")[2])
        own, rng = Random(number), self.rng
        price, stock = own.randint(10, 99) + self.day % 3, own.randint(20, 60) - self.day
        product = {
            "@type": "Product",
            "name": f"Chair {number}",
            "request": token(rng),
            "offers": {"price": f"{price}.99", "stock": stock},
        }
        return (
            f"<!doctype html><html><head><title>Chair {number}</title></head><body><h1>Chair {number}</h1>"
            f'<p>{prose(number)}</p><script>s = {{"kind": "p", "nonce": "{token(rng)}", "id": "S{number}"}};</script>'
            f"<div>{price}.99 EUR, {stock} left</div><style>b {{ color: red }}</style>"
            f'<script type="application/ld+json">{json.dumps(product)}</script><p>The end of {number}.</p></body></html>'
        )


PASSING = {"nonce": r'"nonce": "([^"]*)"', "request": r'"request": "([^"]*)"'}
STAYING = {
    "number": r'"id": "(S\d+)"',
    "kind": r'"kind": "(p)"',
    "name": r'"name": "(Chair \d+)"',
    "price": r'"price": "([\d.]+)"',
    "stock": r'"stock": (\d+)',
    "price that is shown": r"([\d.]+) EUR",
    "stock that is shown": r"(\d+) left",
    "style": r"color: (\w+)",
    "end": r"The end of (\d+)",
}


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
    fields = dict.fromkeys(("text", "line", "texts", "state"), "text")
    given = {"CONCURRENT_REQUESTS": 1, "DEDUP_CONTENT_FIELDS": fields, **settings}
    done = await run(crawler_of(Pages, **given), *urls)
    assert len(done.items) == PAGES
    assert not [name for name in done.dedup() if name.startswith("errors")]
    return done


def values(place: str, items: list[dict[str, Any]], field: str) -> list[list[str]]:
    found = [item[field] for item in sorted(items, key=lambda item: item["url"])]
    return [re.findall(place, " ".join(each) if isinstance(each, list) else each) for each in found]


@in_reactor
async def test_crawls_on_several_days(site: Site) -> None:
    """Fields of text alone are named, and from the first crawl on what passes in scripts is recorded."""
    for day in range(4):
        learn = "close" if day == 3 else "off"
        await crawled(site, day, DEDUP_LEARN=learn, DEDUP_REVISITS=3)
    done, later = await crawled(site, 4), await crawled(site, 5)
    off = await crawled(site, 5, DEDUP_STRIP_MARKUP=False)
    changed = 0
    for crawl in (done, later):
        for part, place in PASSING.items():
            assert all(map(any, values(place, crawl.items, "served"))), part
            for field in ("text", "line", "texts"):
                assert not any(any(each) for each in values(place, crawl.items, field)), (part, field)
        for part, place in STAYING.items():
            served = values(place, crawl.items, "served")
            assert all(map(any, served)), part
            for field in ("text", "line", "texts"):
                assert values(place, crawl.items, field) == served, (part, field)
        for item in crawl.items:
            state = json.loads(item["state"])
            assert (state["request"], state["name"]) == ("", f"Chair {item['url'].rpartition('/')[2]}")
            assert int(state["offers"]["stock"]) >= 10
    for place in STAYING.values():
        changed += values(place, done.items, "served") != values(place, later.items, "served")
    assert changed >= 4, "prices and stock"
    for item in off.items:
        assert item["text"] == item["served"] == " ".join(item["texts"])
