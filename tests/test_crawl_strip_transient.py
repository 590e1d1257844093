"""For spiders: responses that show lasting content only, and links that stand in transient places only."""

from dataclasses import replace
from typing import Any

import pytest
import scrapy
from scrapy import signals
from scrapy.http import HtmlResponse, Response, TextResponse

import scrapy_dedup
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.items import transient_content as transient
from scrapy_dedup.crawl.items.stripping import remember_crawl
from scrapy_dedup.masks.fields.transient_links import transient_links
from scrapy_dedup.masks.fields.transient_page import TransientPage
from scrapy_dedup.masks.model import Mask, TransientPath

from .conftest import Serve
from .crawling import Links, crawler_of, in_reactor, run
from .server import Asked, Server
from .test_crawl_pipeline import MASK, ONLINE, response_of, shared_of, shop_page


def test_with_a_mask() -> None:
    class Own(HtmlResponse):
        pass

    request = scrapy.Request("http://shop.test/p/1", meta={"a": 1})
    response = Own(request.url, body=shop_page().encode(), encoding="utf-8", request=request, flags=["x"])
    lasting = scrapy_dedup.strip_transient(response, MASK)
    assert type(lasting) is Own
    assert (lasting.url, lasting.meta, lasting.request, lasting.flags) == (request.url, {"a": 1}, request, ["x"])
    assert lasting.css("p.online::text").get() == " users online"
    assert lasting.css("p.text ::text").getall() == response.css("p.text ::text").getall()
    assert lasting.css("b::text").getall() == []
    assert response.css("b::text").getall() == ["10:00"]
    other = HtmlResponse(request.url, body=shop_page(7, "11:30", "/p/44").encode(), encoding="utf-8")
    assert scrapy_dedup.strip_transient(other, mask=MASK).body == lasting.body


def test_what_stays_as_it_is() -> None:
    response = response_of()
    assert scrapy_dedup.strip_transient(response) is response, "no crawl, no mask"
    assert scrapy_dedup.strip_transient(response, Mask()) is response
    for other in (
        Response(response.url, body=response.body),
        TextResponse(response.url, body=response.body, encoding="utf-8"),
        HtmlResponse(response.url, body=b"<p>A text</p>", encoding="utf-8"),
    ):
        assert scrapy_dedup.strip_transient(other, MASK) is other


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "shift_jis"])
def test_encodings(encoding: str) -> None:
    body = shop_page().encode(encoding, "xmlcharrefreplace")
    lasting = scrapy_dedup.strip_transient(HtmlResponse("http://shop.test/", body=body, encoding=encoding), MASK)
    assert lasting.encoding == HtmlResponse("http://shop.test/", body=body, encoding=encoding).encoding
    assert lasting.css("p.online::text").get() == " users online"


def test_what_cannot_be_decoded() -> None:
    body = b"<html><body><p class=online>12 users online</p><p>\xff\xfe \x8d</p>"
    response = HtmlResponse("http://shop.test/", body=body, encoding="ascii")
    lasting = scrapy_dedup.strip_transient(response, MASK)
    assert lasting.css("p ::text").getall() == [" users online", *response.css("p ::text").getall()[1:]]


def test_the_mask_of_the_crawl() -> None:
    shared = shared_of()
    response = response_of()
    assert response.request is not None
    remember_crawl(response.request, shared.transient)
    assert scrapy_dedup.strip_transient(response).css("b::text").getall() == []
    assert scrapy_dedup.strip_transient(response.replace(status=404)).status == 404
    assert scrapy_dedup.strip_transient(response.replace(status=404)).css("b::text").getall() == []
    alone = response_of(dedup=False)
    assert alone.request is not None
    remember_crawl(alone.request, shared.transient)
    assert scrapy_dedup.strip_transient(alone) is alone
    shared.masks.use({})
    assert scrapy_dedup.strip_transient(response) is response


def test_only_templates_that_are_known() -> None:
    from scrapy_dedup.urls.templates import template_of

    mask = Mask(paths=MASK.paths, templates=frozenset([template_of("http://shop.test/p/1")]))
    response = response_of()
    assert scrapy_dedup.strip_transient(response, mask) is not response
    other = response_of(url="http://shop.test/about/us/all")
    assert scrapy_dedup.strip_transient(other, mask) is other


# Links


def links_of(html: str, *spans: str) -> frozenset[str]:
    places = sorted((html.index(text), html.index(text) + len(text)) for text in spans)
    return transient_links(TransientPage(html, places), "http://shop.test/d/", lambda url: url.partition("#")[0])


def test_links_in_transient_places() -> None:
    html = """<A class="x > y" HREF = "/a?x=1&amp;y=2">a</A> <a href='b'>b</a><a data-x=1 href=c#top>c</a>
        <a href="mailto:x@y.test">d</a><a name=e>e</a><aside href=f>f</aside><a href="/b2">g</a><a href="http://[">h</a>"""
    whole = html[html.index("<a data") :]
    assert links_of(html, whole, "/a?x=1&amp;y=2") == {
        "http://shop.test/a?x=1&y=2",
        "http://shop.test/d/c",
        "http://shop.test/b2",
    }
    assert links_of(html) == frozenset()
    assert links_of(html, "<a href='b'>") == {"http://shop.test/d/b"}
    assert links_of(html, "x=1&amp;y=2") == frozenset(), "a part of an address"
    twice = "<p><a href=/a>1</a></p><div><a href='/a#2'>2</a></div>"
    assert links_of(twice, "<p><a href=/a>1</a></p>") == frozenset()


def test_hostile_pages_cost_one_pass() -> None:
    for html in ("<a " * 200_000, "<a x='" * 100_000, "<a href=" * 100_000, '<a "' * 100_000, "<a\n" + " " * 400_000):
        assert transient_links(TransientPage(html, [(0, 1)]), "http://shop.test/", str) == frozenset()


class Following(Links):
    """Gives what is known of each link, and hands on the meta; the page's last link, a transient one, comes first."""

    def parse(self, response: Any) -> Any:
        yield {
            "url": response.url,
            "transient": response.meta.get("dedup_transient_link"),
            "p": response.request.priority,
        }
        for request in reversed(list(response.follow_all(css="a"))):
            yield request.replace(meta=dict(response.meta), priority=1)


def shop(asked: Asked) -> str:
    return shop_page(recent="/p/3") if asked.path in ("/", "/p/3") else "<p>nothing</p>"


def crawler_with_masks(server: Server, **settings: Any) -> Any:
    made = crawler_of(Following, **settings)
    path = TransientPath("html/body/ul.recent/li/a", attribute="href")

    def use() -> None:
        CrawlComponents.of(made).masks.use({f"127.0.0.1:{server.port}": Mask(paths=(path,))})

    made.signals.connect(use, signals.spider_opened, weak=False)
    return made


@in_reactor
async def test_requests_for_transient_links(serve: Serve) -> None:
    """One request after the other, so that the server is asked in the order of the queue."""
    server = serve(shop)
    one = {"CONCURRENT_REQUESTS": 1}
    done = await run(crawler_with_masks(server, DEDUP_TRANSIENT_PRIORITY=10, **one), server.url("/"))
    told = {item["url"].removeprefix(server.url("/")): (item["transient"], item["p"]) for item in done.items}
    assert told == {"": (None, 0), "p/2": (None, 1), "p/3": (True, -9)}
    assert done.stats["dedup/transient/links"] == 2, "p/3 links to itself"
    assert [asked.path for asked in server.asked] == ["/", "/p/2", "/p/3"]
    assert not [name for name in done.dedup() if name.startswith("errors")]
    server.reset()
    done = await run(crawler_with_masks(server, DEDUP_TRANSIENT_LINKS=True, **one), server.url("/"))
    assert [asked.path for asked in server.asked] == ["/", "/p/3", "/p/2"], "with one priority for all"
    assert {item["url"].removeprefix(server.url("/")): item["p"] for item in done.items} == {"": 0, "p/2": 1, "p/3": 1}
    assert done.stats["dedup/transient/links"] == 2


@pytest.mark.parametrize(("asked", "longest"), [({}, 100_000), ({"DEDUP_TRANSIENT_LINKS": True}, 100)])
@in_reactor
async def test_pages_are_looked_through_for_links_only_where_that_is_asked_for(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], longest: int
) -> None:
    """And never where they are long, as it is done in the event loop."""
    looked: list[Any] = []
    monkeypatch.setattr(transient, "transient_links", lambda *args: looked.append(args))
    monkeypatch.setattr(transient, "LONGEST", longest)
    server = serve(shop)
    done = await run(crawler_with_masks(server, **asked), server.url("/"))
    assert {item["transient"] for item in done.items} == {None}
    assert len(done.items) == 3
    assert not looked
    assert not [name for name in done.dedup() if name.startswith("errors")]


@in_reactor
async def test_in_a_callback(serve: Serve) -> None:
    class Stripping(Links):
        def parse(self, response: Any) -> Any:
            lasting = scrapy_dedup.strip_transient(response)
            yield {"url": response.url, "text": lasting.css("p.online::text").get()}

    server = serve(lambda asked: shop_page(int(asked.query.get("n", 1))))
    made = crawler_of(Stripping)

    def use() -> None:
        CrawlComponents.of(made).masks.use({f"127.0.0.1:{server.port}": MASK})

    made.signals.connect(use, signals.spider_opened, weak=False)
    done = await run(made, server.url("/?n=1"), server.url("/?n=22"))
    assert [item["text"] for item in done.items] == [" users online"] * 2


def test_links_whose_texts_pass() -> None:
    """A mask that is not sure of an address hides it all the same where it hides the link's whole text."""
    selector = "html/body/ul.recent/li/a"
    text = TransientPath(selector)
    href = TransientPath(selector, attribute="href", kind="undecided")
    shared = shared_of()
    for paths, expected in (
        ((text, href), {"http://shop.test/p/3"}),
        ((replace(text, slot=("Seen:", "")), href), set()),
        ((replace(text, kind="undecided"), href, ONLINE), set()),
        ((text, replace(href, state="keep")), set()),
        ((text,), set()),
        ((text, replace(href, kind="growing")), set()),
    ):
        shared.masks.use({"shop.test": Mask(site="shop.test", paths=paths)})
        page = shared.transient.page(response_of())
        assert page is not None
        assert transient_links(page, "http://shop.test/p/1", str) == expected
