"""For spiders: responses that show lasting content only, and links that stand in transient places only."""

from typing import Any

import pytest
import scrapy
from scrapy.http import HtmlResponse, Response, TextResponse

import scrapy_dedup
from scrapy_dedup import Mask

from .conftest import Serve
from .crawling import Links, crawl, in_reactor
from .exporting import mask_of, place, write_mask
from .server import Asked, Server
from .test_crawl_pipeline import MASK, shop_page

URL = "http://shop.test/p/1"


def response_of(html: str = "", url: str = URL, encoding: str = "utf-8") -> HtmlResponse:
    return HtmlResponse(url, body=(html or shop_page()).encode(encoding, "xmlcharrefreplace"), encoding=encoding)


def test_with_a_mask() -> None:
    class Own(HtmlResponse):
        pass

    mask = mask_of(*MASK)
    request = scrapy.Request(URL, meta={"a": 1})
    response = Own(request.url, body=shop_page().encode(), encoding="utf-8", request=request, flags=["x"])
    lasting = scrapy_dedup.strip_transient(response, mask)
    assert type(lasting) is Own
    assert (lasting.url, lasting.meta, lasting.request, lasting.flags) == (request.url, {"a": 1}, request, ["x"])
    assert lasting.css("p.online::text").get() == " users online"
    assert lasting.css("p.text ::text").getall() == response.css("p.text ::text").getall()
    assert lasting.css("b::text").getall() == []
    assert response.css("b::text").getall() == ["10:00"]
    other = response_of(shop_page(7, "11:30", "/p/44"))
    assert scrapy_dedup.strip_transient(other, mask=mask).body == lasting.body


@pytest.mark.parametrize(
    "response",
    [
        Response(URL, body=shop_page().encode()),
        TextResponse(URL, body=shop_page().encode(), encoding="utf-8"),
        response_of("<p>A text</p>"),
        response_of(url="http://shop.test/about/us/all"),
    ],
    ids=["bytes", "text", "nothing passes", "another kind of page"],
)
def test_what_stays_as_it_is(response: Any) -> None:
    places = [place(f"html/body/{name}", on=["/p/*"]) for name in ("p.online", "div.foot/b")]
    mask = mask_of(*places)
    assert scrapy_dedup.strip_transient(response, mask) is response
    page = response_of()
    assert scrapy_dedup.strip_transient(page, mask) is not page
    assert scrapy_dedup.strip_transient(page) is page, "no crawl, no mask"
    assert scrapy_dedup.strip_transient(page, Mask()) is page


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "shift_jis"])
def test_encodings(encoding: str) -> None:
    response = response_of(encoding=encoding)
    lasting = scrapy_dedup.strip_transient(response, mask_of(*MASK))
    assert lasting.encoding == response.encoding
    assert lasting.css("p.online::text").get() == " users online"


def test_what_cannot_be_decoded() -> None:
    body = b"<html><body><p class=online>12 users online</p><p>\xff\xfe \x8d</p>"
    response = HtmlResponse(URL, body=body, encoding="ascii")
    lasting = scrapy_dedup.strip_transient(response, mask_of(*MASK))
    assert lasting.css("p ::text").getall() == [" users online", *response.css("p ::text").getall()[1:]]


@in_reactor
async def test_in_a_callback(serve: Serve) -> None:
    """The mask is that of the crawl; a request that is left alone has none."""

    class Stripping(Links):
        handle_httpstatus_list = [404]

        async def start(self) -> Any:
            for number, url in enumerate(self.start_urls):
                yield scrapy.Request(url, meta={"dedup": False} if number == 2 else {})

        def parse(self, response: Any) -> Any:
            lasting = scrapy_dedup.strip_transient(response)
            status = scrapy_dedup.strip_transient(response.replace(status=503))
            yield {"url": response.url, "text": lasting.css("p.online::text").get()}
            assert (status.status, status.body) == (503, lasting.body)

    server = serve(lambda asked: shop_page(int(asked.query.get("n", 1))))
    write_mask(server.site, *MASK)
    done = await crawl(Stripping, *(server.url(f"/?n={n}") for n in (1, 22, 333)))
    assert sorted(item["text"] for item in done.items) == [" users online"] * 2 + ["333 users online"]
    assert not done.faults()


# Links


class Following(Links):
    """Gives what is known of each link, and hands on the meta; the page's last link comes first."""

    def parse(self, response: Any) -> Any:
        yield {
            "url": response.url,
            "transient": response.meta.get("dedup_transient_link"),
            "p": response.request.priority,
        }
        for request in reversed(list(response.follow_all(css="a[href]"))):
            yield request.replace(meta=dict(response.meta), priority=1)


HREF = place("html/body/ul.recent/li/a", attribute="href")


def shop(asked: Asked) -> str:
    return shop_page(recent="/p/3") if asked.path in ("/", "/p/3") else "<p>nothing</p>"


async def followed(serve: Serve, site: Any, *places: str, **settings: Any) -> tuple[dict[str, Any], Server, Any]:
    """Where the crawl of a site has come to, one request after the other; and whether by links that pass."""
    server = serve(site)
    write_mask(server.site, *places)
    done = await crawl(Following, server.url("/"), CONCURRENT_REQUESTS=1, **settings)
    assert not done.faults()
    return {each["url"].removeprefix(server.url("/")): each for each in done.items}, server, done


@in_reactor
async def test_requests_for_transient_links(serve: Serve) -> None:
    told, server, done = await followed(serve, shop, HREF, DEDUP_TRANSIENT_PRIORITY=10)
    found = {name: (each["transient"], each["p"]) for name, each in told.items()}
    assert found == {"": (None, 0), "p/2": (None, 1), "p/3": (True, -9)}
    assert done.stat("transient/links") == 2, "p/3 links to itself"
    assert [asked.path for asked in server.asked] == ["/", "/p/2", "/p/3"]
    told, server, done = await followed(serve, shop, HREF, DEDUP_TRANSIENT_LINKS=True)
    assert [asked.path for asked in server.asked] == ["/", "/p/3", "/p/2"], "with one priority for all"
    assert {name: each["p"] for name, each in told.items()} == {"": 0, "p/2": 1, "p/3": 1}
    assert done.stat("transient/links") == 2
    told, server, done = await followed(serve, shop, HREF)
    assert {each["transient"] for each in told.values()} == {None}, (
        "pages are looked through only where it is asked for"
    )


TEXT, SEEN = place("html/body/ul.recent/li/a"), place("html/body/ul.recent/li/a", "Seen: {…}")
ANCHORS = """<html><body><div class=x><A title="x > y" HREF = "/a?x=1&amp;y=2">a</A></div><p class=t><a data-x=1 href=c#top>c</a>
<a name=e>e</a><a href="/b2">g</a><a href=twice>i</a></p><a href="twice#2">i</a></body></html>"""


@pytest.mark.parametrize(
    ("html", "places", "expected"),
    [
        pytest.param(shop_page(), [TEXT], {"p/3"}, id="the whole text of a link passes"),
        pytest.param(shop_page(), [SEEN], set(), id="a part of its text"),
        pytest.param(shop_page(), [TEXT, f'{HREF}\nstate = "keep"'], set(), id="to be kept"),
        pytest.param(
            ANCHORS,
            [place("html/body/p.t/a", attribute="href"), place("html/body/div.x/a", attribute="href")],
            {"a?x=1&y=2", "c", "b2"},
            id="addresses of all forms",
        ),
        pytest.param("<a " * 50_000 + "<a href=/b>", [HREF], set(), id="tags that do not end"),
        pytest.param(ANCHORS + " " * 3_000_000, [place("html/body/p.t/a", attribute="href")], set(), id="too long"),
    ],
)
@in_reactor
async def test_links_in_transient_places(serve: Serve, html: str, places: list[str], expected: set[str]) -> None:
    def site(asked: Asked) -> str:
        return html if asked.path == "/" else "<p>nothing</p>"

    told, _, done = await followed(serve, site, *places, DEDUP_TRANSIENT_LINKS=True, LOG_LEVEL="CRITICAL")
    assert {name for name, each in told.items() if each["transient"]} == expected
    assert done.stat("transient/links") == len(expected)
