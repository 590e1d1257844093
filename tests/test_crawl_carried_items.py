"""Items that are begun on one page and given by the callback of another: each field is stripped by the page it comes from."""

import gc
from dataclasses import dataclass
from typing import Any

import pytest
import scrapy
from itemadapter import ItemAdapter
from itemloaders import ItemLoader
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.items.field_pages import FieldPages
from scrapy_dedup.crawl.items.partial_items import MOST_STEPS, KeptPage, PartialItems, hands_over
from scrapy_dedup.crawl.support.request_meta import BEGUN
from scrapy_dedup.masks.fields.transient_page import FieldCuts, TransientPage
from scrapy_dedup.masks.model import Mask, TransientPath

from .conftest import Serve
from .crawling import Crawl, crawler_of, in_reactor, run
from .server import Answer, Asked, Server, redirect

MASK = Mask(
    paths=(
        TransientPath("html/body/ul/li/b"),
        TransientPath("html/body/p.online", slot=("", "people look at this")),
        TransientPath("html/body/p.seen", slot=("Asked for", "times")),
    )
)
NUMBERS = range(1, 6)


def teaser(number: int, left: str) -> str:
    return f"Chair number {number} of oak, made by hand, {left} sold today"


def site(asked: Asked) -> str | Answer | int:
    path, _, number = asked.path.rpartition("/")
    if asked.path in ("/list", "/list/2"):
        rows = "".join(
            f"<li>Chair number {n} of oak, made by hand, <b>{n * 7}</b> sold today <a href=/go/{n}>more</a>"
            for n in NUMBERS
        )
        more = "<a class=next href=/list/2>next</a>" if asked.path == "/list" else ""
        return f"<html><body><p class=seen>Asked for 44 times</p><ul>{rows}</ul>{more}</body></html>"
    if path == "/go":
        return redirect(f"/chair/{number}")
    if path == "/chair":
        return (
            f"<html><body><h1>Chair {number}</h1><p class=online>3{number} people look at this</p>"
            f"<p class=about>It is {number * 3} years old and weighs 7 kilograms.</p>"
            f"<p><a class=ratings href=/ratings/{number}>ratings</a></p></body></html>"
        )
    if path == "/ratings":
        return f"<html><body><p class=rating>Rated {number} of 5 by 28 people who sat on it.</p></body></html>"
    return 404


class Chairs(scrapy.Spider):
    """Begins an item in a list, goes on with it on a page of its own, and ends it on a third one."""

    name = "chairs"
    by = "cb_kwargs"
    marks: "list[str]" = []

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]

    def parse(self, response: Any) -> Any:
        self.crawler.marks = []  # type: ignore[attr-defined]
        for row in response.css("li"):
            item = self.begun(row)
            yield response.follow(row.css("a")[0], self.chair, **self.handed(item))

    def begun(self, row: Any) -> Any:
        return {"teaser": "".join(row.css("::text").getall()).removesuffix(" more")}

    def handed(self, item: Any) -> dict[str, Any]:
        return {self.by: {"item": item}}

    def chair(self, response: Any, item: Any = None) -> Any:
        item = response.meta.get("item") if item is None else item
        self.crawler.marks.append(response.meta.get(BEGUN, ""))  # type: ignore[attr-defined]
        item["about"] = " ".join(response.css("p.online::text, p.about::text").getall())
        yield response.follow(response.css("a.ratings")[0], self.ratings, **self.handed(item))

    def ratings(self, response: Any, item: Any = None) -> Any:
        item = response.meta.get("item") if item is None else item
        item["rating"] = response.css("p.rating::text").get()
        yield item


def with_mask(server: Server, spider: type[scrapy.Spider], mask: Mask = MASK, **settings: Any) -> Any:
    settings.setdefault("DEDUP_CONTENT_FIELDS", dict.fromkeys(("teaser", "about", "rating"), "text"))
    made = crawler_of(spider, **settings)

    def use() -> None:
        CrawlComponents.of(made).masks.use({f"127.0.0.1:{server.port}": mask})

    made.signals.connect(use, scrapy.signals.spider_opened, weak=False)
    return made


def assert_stripped(done: Crawl) -> None:
    items = [dict(ItemAdapter(item)) for item in done.items]
    assert len(items) == len(NUMBERS)
    by_rating = {item["rating"]: item for item in items}
    for number in NUMBERS:
        item = by_rating[f"Rated {number} of 5 by 28 people who sat on it."]
        assert item["teaser"] == f"Chair number {number} of oak, made by hand, sold today"
        assert item["about"] == f"people look at this It is {str(number) * 3} years old and weighs 7 kilograms."


def assert_nothing_kept(made: Any) -> None:
    transient = CrawlComponents.of(made).transient
    assert (len(transient.partial_items), transient.partial_items.size) == (0, 0)


@dataclass
class Chair:
    teaser: str
    about: str = ""
    rating: str = ""

    def __setitem__(self, name: str, value: str) -> None:
        setattr(self, name, value)


class ByMeta(Chairs):
    by = "meta"


class AsDataclass(Chairs):
    def begun(self, row: Any) -> Any:
        return Chair(**super().begun(row))


class Loaded(Chairs):
    """Hands over an item loader, into which nobody looks."""

    def begun(self, row: Any) -> Any:
        loader = ItemLoader(item={})
        loader.add_value("teaser", super().begun(row)["teaser"])
        return Loading(loader)

    def ratings(self, response: Any, item: Any = None) -> Any:
        for loading in super().ratings(response, item):
            yield {name: values[0] for name, values in loading.loader.load_item().items()}


class Loading:
    def __init__(self, loader: ItemLoader) -> None:
        self.loader = loader

    def __setitem__(self, name: str, value: str) -> None:
        self.loader.add_value(name, value)


class InPieces(Chairs):
    """Hands over a string, upper-cased later, and copies the meta of each response."""

    def parse(self, response: Any) -> Any:
        self.crawler.marks = []  # type: ignore[attr-defined]
        for row in response.css("li"):
            text = self.begun(row)["teaser"]
            yield response.follow(row.css("a")[0], self.chair, meta={**response.meta, "text": f" {text}\n"})

    def chair(self, response: Any, item: Any = None) -> Any:
        meta = dict(response.meta)
        for each in super().chair(response, {"teaser": meta["text"].strip()}):
            each.meta.update({**meta, **each.meta})
            yield each


@pytest.mark.parametrize("spider", [Chairs, ByMeta, AsDataclass, Loaded, InPieces])
@in_reactor
async def test_a_list_a_page_and_its_ratings(serve: Serve, spider: type[Chairs]) -> None:
    """The teasers come from the list, over redirects to the chairs; the pages are let go when the items are done."""
    server = serve(site)
    made = with_mask(server, spider)
    done = await run(made, server.url("/list"))
    assert_stripped(done)
    found = done.dedup()
    assert found["transient/fields"] == 10
    assert found["transient/carried"] == 10, "teasers and abouts, on the page of the ratings"
    assert not {"transient/ambiguous", "transient/forgotten"} & set(found)
    assert not [name for name in found if name.startswith("errors")]
    assert_nothing_kept(made)


@in_reactor
async def test_requests_that_go_through_a_queue_on_disk(serve: Serve) -> None:
    server = serve(site)
    made = with_mask(server, Chairs, JOBDIR="job")
    done = await run(made, server.url("/list"))
    assert done.stats["scheduler/enqueued/disk"] > 10
    assert_stripped(done)
    assert_nothing_kept(made)


@in_reactor
async def test_requests_that_are_dropped_or_asked_again(serve: Serve) -> None:
    """What the filter drops is let go; a retry is the request that it repeats."""
    failed: set[str] = set()

    def shaky(asked: Asked) -> str | Answer | int:
        if asked.path.startswith(("/chair", "/ratings")) and asked.path not in failed:
            failed.add(asked.path)
            return 503
        return site(asked)

    class Twice(Chairs):
        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each
                yield each.replace()
            yield {"teaser": "", "about": "", "rating": ""}

    server = serve(shaky)
    made = with_mask(server, Twice)
    done = await run(made, server.url("/list"))
    done.items.remove({"teaser": "", "about": "", "rating": ""})
    assert len(failed) == 10
    assert_stripped(done)
    assert_nothing_kept(made)


@pytest.mark.parametrize("settings", [{"DEDUP_CONTENT_FIELDS": {}}, {"DEDUP_STRIP": "off"}])
@in_reactor
async def test_without_fields_nothing_is_kept_or_marked(serve: Serve, settings: dict[str, Any]) -> None:
    server = serve(site)
    made = with_mask(server, Chairs, **settings)
    done = await run(made, server.url("/list"))
    assert {item["teaser"] for item in done.items} == {teaser(n, str(n * 7)) for n in NUMBERS}
    assert made.marks == [""] * 5
    assert_nothing_kept(made)


@in_reactor
async def test_without_a_mask_nothing_is_kept_or_marked(serve: Serve) -> None:
    server = serve(site)
    made = with_mask(server, Chairs, Mask())
    done = await run(made, server.url("/list"))
    assert len(done.items) == 5
    assert made.marks == [""] * 5
    assert_nothing_kept(made)


@in_reactor
async def test_pages_that_are_not_kept_any_more_are_counted(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound holds all the time, and what it costs is told; what the response itself shows is stripped all the same."""
    most = 0

    def limited(self: PartialItems) -> None:
        made(self, most=2)

    made = PartialItems.__init__
    note = PartialItems.note

    def noted(self: PartialItems, *args: Any) -> None:
        nonlocal most
        note(self, *args)
        most = max(most, len(self))

    monkeypatch.setattr(PartialItems, "__init__", limited)
    monkeypatch.setattr(PartialItems, "note", noted)

    class Short(Chairs):
        def chair(self, response: Any, item: Any = None) -> Any:
            for _ in super().chair(response, item):
                yield item

    server = serve(site)
    done = await run(with_mask(server, Short), server.url("/list"))
    assert len(done.items) == 5
    kept = [item for item in done.items if item["teaser"].endswith("made by hand, sold today")]
    assert len(kept) == most == 2
    assert done.dedup()["transient/forgotten"] == 3
    assert all(item["about"].startswith("people look at this") for item in done.items)


@in_reactor
async def test_a_list_that_hands_its_items_on_for_ever(serve: Serve) -> None:
    """Each page hands over what was found before: no more pages are kept than steps."""

    class Endless(scrapy.Spider):
        name = "endless"
        most = 0

        def __init__(self, url: str) -> None:
            super().__init__()
            self.start_urls = [url]

        def parse(self, response: Any, texts: tuple[str, ...] = ()) -> Any:
            number = int(response.url.rpartition("/")[2])
            text = " ".join(response.css("p::text").getall())
            carried = CrawlComponents.of(self.crawler).transient.partial_items
            Endless.most = max(Endless.most, len({step.page for steps in carried._steps.values() for step in steps}))
            if number < 30:
                yield response.follow(f"/{number + 1}", self.parse, cb_kwargs={"texts": (*texts, text)})
            yield {"last": [*texts, text][-1], "first": [*texts, text][0], "number": number}

    def pages(asked: Asked) -> str:
        number = asked.path[1:]
        return f"<html><body><p class=online>{number}{number} people look at this</p><p>Text {number} of many</p></body></html>"

    server = serve(pages)
    fields = {"first": "text", "last": "text"}
    made = with_mask(server, Endless, DEDUP_CONTENT_FIELDS=fields)
    done = await run(made, server.url("/0"))
    assert len(done.items) == 31
    for item in done.items:
        assert item["last"] == f"people look at this Text {item['number']} of many"
        assert item["first"].startswith("people") == (item["number"] <= MOST_STEPS)
    assert Endless.most == MOST_STEPS
    assert_nothing_kept(made)


# Which page it is


def kept(html: str) -> KeptPage:
    return KeptPage(html, "http://shop.test/list")


def pages_of(own: str | None, list_page: str, *handed_over: str, cut: str = "12") -> FieldPages:
    """The pages of an item: in each, a text between ``[`` and ``]`` passes."""
    carried = PartialItems()
    request = Request("http://shop.test/1", cb_kwargs={"item": {"texts": list(handed_over)}})
    carried.note(request, HtmlResponse("http://shop.test/list"), kept(list_page))
    steps = carried.of(HtmlResponse("http://shop.test/1", request=request))
    return FieldPages(page(own) if own is not None else None, steps, lambda each: page(each.html))


def page(html: str) -> TransientPage:
    start = html.find("[")
    if start < 0:
        return TransientPage(html, [])
    end = html.index("]") - 1
    return TransientPage(html.replace("[", "").replace("]", ""), [(start, end)])


NOTHING = FieldCuts([[]], False)
DOUBT = FieldCuts([[]], True)


def test_that_which_fits_for_sure_wins() -> None:
    text = "12 chairs of oak were sold"
    passes = FieldCuts([[(0, 2)]], False)
    listed, lasts, other = f"<p>[12]{text[2:]}</p>", f"<p>{text}</p>", "<p>Something else altogether</p>"
    # Handed over, and on one of the pages, or on both.
    assert pages_of(other, listed, text).find([text], "text") == passes
    assert pages_of(None, listed, text).find([text], "text") == passes
    assert pages_of(listed, listed, text).find([text], "text") == passes
    assert pages_of(listed, other, text).find([text], "text") == passes, "the spider has made the same of it"
    assert pages_of(lasts, listed, text).find([text], "text") == DOUBT
    assert pages_of(listed, lasts, text).find([text], "text") == DOUBT
    assert pages_of(other, lasts, text).find([text], "text") == NOTHING
    # In several places of one page, for sure on the other.
    twice = f"<p>[12]{text[2:]}</p><p>{text}</p>"
    assert pages_of(twice, listed, text).find([text], "text") == passes
    assert pages_of(twice, other, text).find([text], "text") == DOUBT
    # Not handed over as it is: the response's own page goes before, as for all items.
    assert pages_of(lasts, listed, "x").find([text], "text") == NOTHING
    assert pages_of(listed, lasts, "x").find([text], "text") == passes
    assert pages_of(other, listed, "x").find([text.upper()], "text") == passes
    assert pages_of(other, listed, "x").find([text + " and more"], "text") == NOTHING


def test_lists_of_which_some_strings_were_handed_over() -> None:
    listed = "<p>[12] chairs of oak were sold</p>"
    own = "<p>They weigh seven kilograms or [8] if wet</p>"
    texts = ["12 chairs of oak were sold", "They weigh seven kilograms or 8 if wet"]
    pages = pages_of(own, listed, texts[0])
    assert pages.find(texts, "text") == FieldCuts([[(0, 2)], [(30, 31)]], False)
    assert pages.elsewhere == 1
    html = "<p>12 chairs of oak were sold</p><p>They weigh seven kilograms or [8] if wet</p>"
    assert pages_of(html, listed, texts[0]).find(texts, "text") == FieldCuts([[], [(30, 31)]], False), (
        "a list of its page"
    )


def test_what_a_request_hands_over() -> None:
    for meta in (
        {},
        {"depth": 3, "download_slot": "a", "rule": 0, "proxy": "p", "dedup_key": "k"},
        {"page": 3, "last": None},
    ):
        assert not hands_over(Request("http://shop.test/", meta=meta))
    for given in ({"meta": {"link_text": "a"}}, {"cb_kwargs": {"item": {}}}, {"cb_kwargs": {"n": 1, "x": object()}}):
        assert hands_over(Request("http://shop.test/", **given))  # type: ignore[arg-type]


def test_pages_are_bounded_by_bytes_and_let_go() -> None:
    long = "".join(map(chr, range(0x4E00, 0x9000)))
    size = kept(long).size
    carried = PartialItems(most_bytes=size * 5 // 2)
    requests = [Request("http://shop.test/", cb_kwargs={"a": "text"}) for _ in range(10)]
    pages = [kept(long) for _ in range(5)]
    for number, request in enumerate(requests):
        carried.note(request, HtmlResponse("http://shop.test/"), pages[number // 2])
        assert carried.size <= size * 5 // 2
    assert len(carried) == 4
    responses = [HtmlResponse("http://shop.test/", request=request) for request in requests]
    assert [carried.is_forgotten(response) for response in responses] == [True] * 6 + [False] * 4
    carried.note(Request("http://shop.test/"), responses[9], None)
    assert len(carried) == 5, "the step before it has a page"
    for request in requests:
        carried.done(request)
        carried.done(request)
    assert (len(carried), carried.size) == (1, size)
    assert carried.of(responses[9]), "items of a response may be under way"
    del responses
    gc.collect()
    assert len(carried._come) == 0
    huge = PartialItems(most_bytes=10)
    huge.note(requests[0], HtmlResponse("http://shop.test/"), kept(long))
    assert (len(huge), huge.size) == (0, 0)


def test_a_request_that_carries_nothing_has_no_mark() -> None:
    carried = PartialItems()
    request = Request("http://shop.test/", cb_kwargs={"a": "b"})
    carried.note(request, HtmlResponse("http://shop.test/"), None)
    assert BEGUN not in request.meta
    assert carried.of(HtmlResponse("http://shop.test/")) == ()
    assert not carried.is_forgotten(HtmlResponse("http://shop.test/", request=request))
    carried.done(None)
