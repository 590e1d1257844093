"""The item pipeline: every type of item, in a crawl; nothing but transient content goes, and no item fails."""

import gc
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.http import HtmlResponse, Response, TextResponse

from scrapy_dedup.crawl import TransientPipeline
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.items.field_check import FieldCheck
from scrapy_dedup.crawl.items.field_hints import is_html
from scrapy_dedup.crawl.items.item_sources import ItemSources
from scrapy_dedup.crawl.support.item_fields import with_field
from scrapy_dedup.files.errors import RuleFileError
from scrapy_dedup.masks.model import Mask, TransientPath

from .conftest import Serve
from .crawling import Links, crawl, crawler_of, in_reactor, messages, run
from .crawling_parts import crawler
from .server import Asked, Server

ONLINE = TransientPath("html/body/p.online", slot=("", "users online"))
CLOCK = TransientPath("html/body/div.foot/b")
RECENT = TransientPath("html/body/ul.recent/li/a")
RECENT_HREF = TransientPath("html/body/ul.recent/li/a", attribute="href")
MASK = Mask(paths=(ONLINE, CLOCK, RECENT, RECENT_HREF))


def shop_page(number: int = 12, clock: str = "10:00", recent: str = "/p/3") -> str:
    """A page with a counter, a clock, and a link to what was viewed recently; the same figures stand in its text."""
    return (
        "<!doctype html><html><head><title>A chair</title></head><body>"
        f"<p class=online>{number} users online</p>"
        f"<p class=text>A chair that 12 users bought at 10:00 for <i>12.00</i> &euro;.</p><p><a href=/p/2>Another</a></p>"
        f"<ul class=recent><li><a href='{recent}'>Seen: {recent}</a></ul>"
        f"<div class=foot>It is <b>{clock}</b> o'clock where the chairs are made, which is far away.</div></body></html>"
    )


TEXT = "12 users online A chair that 12 users bought at 10:00 for 12.00 €."
LASTING = "users online A chair that 12 users bought at 10:00 for 12.00 €."


class ScrapyItem(scrapy.Item):
    text = scrapy.Field()
    price = scrapy.Field()
    unset = scrapy.Field()


@dataclass
class Plain:
    text: Any
    price: str = "12"


@dataclass(slots=True)
class Slots:
    text: Any
    price: str = "12"


@dataclass(frozen=True)
class Frozen:
    text: Any
    price: str = "12"
    id: str = field(init=False)
    length: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", uuid.uuid4().hex)
        object.__setattr__(self, "length", len(self.text))


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    text: Any
    price: str = "12"


@attrs.define
class Attrs:
    text: Any
    price: str = "12"


@attrs.define(weakref_slot=False)
class AttrsWithoutWeakref:
    text: Any
    price: str = "12"


@attrs.frozen
class AttrsFrozen:
    text: Any = attrs.field(validator=attrs.validators.min_len(1))
    price: str = "12"


class Model(pydantic.BaseModel):
    text: Any
    price: str = "12"

    def __init__(self, text: Any, price: str = "12") -> None:
        super().__init__(text=text, price=price)


class ModelFrozen(Model):
    model_config = pydantic.ConfigDict(frozen=True)


class ModelFrozenField(Model):
    text: Any = pydantic.Field(frozen=True)


class ModelChecked(Model):
    model_config = pydantic.ConfigDict(validate_assignment=True, extra="forbid")


def as_dict(text: Any) -> dict[str, Any]:
    return {"text": text, "price": "12"}


def as_item(text: Any) -> ScrapyItem:
    return ScrapyItem(text=text, price="12")


CHANGED_IN_PLACE = [as_dict, as_item, Plain, Slots, Attrs, AttrsWithoutWeakref, Model, ModelChecked]
FROZEN = [Frozen, FrozenSlots, AttrsFrozen, ModelFrozen, ModelFrozenField]
TYPES = pytest.mark.parametrize("make", CHANGED_IN_PLACE + FROZEN, ids=lambda make: make.__name__)


def shared_of(**settings: Any) -> CrawlComponents:
    """The state of a crawl whose site, shop.test, has the mask."""
    settings.setdefault("DEDUP_CONTENT_FIELDS", {"text": "text"})
    shared = CrawlComponents.of(crawler(**settings))
    shared.masks.use({"shop.test": MASK})
    return shared


def response_of(body: str = "", url: str = "http://shop.test/p/1", **meta: Any) -> HtmlResponse:
    request = scrapy.Request(url, meta=meta)
    return HtmlResponse(url, body=(body or shop_page()).encode(), encoding="utf-8", request=request)


def processed(item: Any, shared: CrawlComponents, response: Any = None) -> Any:
    pipeline = shared.built(TransientPipeline)
    shared.transient.note_item(item, response or response_of())
    return pipeline.process_item(item)


def stats(shared: CrawlComponents) -> dict[str, Any]:
    found = shared.stats.get_stats()
    return {name.removeprefix("dedup/transient/"): value for name, value in found.items() if "dedup/transient" in name}


@TYPES
def test_every_type_of_item(make: Any) -> None:
    shared = shared_of()
    item = make(TEXT)
    before = dict(ItemAdapter(item))
    done = processed(item, shared)
    assert type(done) is type(item)
    assert dict(ItemAdapter(done)) == {**before, "text": LASTING}
    if make in FROZEN:
        assert dict(ItemAdapter(item)) == before
    else:
        assert done is item
    assert stats(shared) == {"items": 1, "fields": 1, "blocks": 1, "characters": 2}
    assert not len(shared.transient.sources)


@TYPES
def test_nested_items(make: Any) -> None:
    shared = shared_of(DEDUP_CONTENT_FIELDS={"about.text": "text", "reviews.text": "text", "text": "text"})
    item = {"about": make(TEXT), "reviews": [make("a"), make(TEXT), None], "text": "12", "other": make(TEXT)}
    done = processed(item, shared)
    texts = [ItemAdapter(each)["text"] for each in (done["about"], *done["reviews"][:2], done["other"])]
    assert texts == [LASTING, "a", LASTING, TEXT]
    assert done["text"] == "12"
    assert done["reviews"][2] is None
    outer = make({"text": [TEXT]})
    shared = shared_of(DEDUP_CONTENT_FIELDS={"text.text": "text"})
    assert ItemAdapter(processed(outer, shared))["text"] == {"text": [LASTING]}


@pytest.mark.parametrize("value", [None, 12, b"12 users online", [], [1, "a"], {"text": 1}, object(), "", ("a", 1)])
def test_other_values_stay(value: Any) -> None:
    shared = shared_of()
    assert processed({"text": value}, shared) == {"text": value}
    assert not any(name.startswith("dedup/errors") for name in shared.stats.get_stats())


def test_items_without_the_field() -> None:
    shared = shared_of(
        DEDUP_CONTENT_FIELDS={"text": "text", "unset": "html", "no.such": "text", "text.too.deep": "text"}
    )
    assert processed(ScrapyItem(price="12"), shared) == {"price": "12"}
    assert processed({}, shared) == {}
    assert processed({"text": TEXT}, shared) == {"text": LASTING}
    slotted = object.__new__(Slots)
    assert processed(slotted, shared) is slotted
    assert not any(name.startswith("dedup/errors") for name in shared.stats.get_stats())


def test_a_field_with_a_dot_in_its_name() -> None:
    shared = shared_of(DEDUP_CONTENT_FIELDS={"a.text": "text"})
    assert processed({"a.text": TEXT, "a": {"text": TEXT}}, shared) == {"a.text": LASTING, "a": {"text": TEXT}}


def test_tuples_and_lists() -> None:
    shared = shared_of()
    texts = ["12 users online", "A chair that 12 users bought at 10:00 for ", "12.00", " €."]
    assert processed({"text": texts}, shared)["text"] == ["users online", *texts[1:]]
    assert processed({"text": tuple(texts)}, shared)["text"] == ("users online", *texts[1:])
    assert processed({"text": ["It is", "10:00", "o'clock where the chairs are made"]}, shared)["text"] == [
        "It is",
        "o'clock where the chairs are made",
    ]


def test_html_and_marks() -> None:
    html = response_of().css("body").get()
    shared = shared_of(DEDUP_CONTENT_FIELDS={"html": "html", "text": "text"}, DEDUP_STRIP="mark")
    done = processed({"html": html, "text": TEXT}, shared)
    assert done["text"] == "⟦12⟧ " + LASTING
    assert '<p class="online"><span data-dedup="transient">12</span> users online' in done["html"]
    assert '<b><span data-dedup="transient">10:00</span></b>' in done["html"]
    assert done["html"].replace('<span data-dedup="transient">', "").replace("</span>", "") == html
    shared = shared_of(DEDUP_CONTENT_FIELDS={"html": "html"})
    done = processed({"html": html}, shared)["html"]
    assert '<p class="online">users online' in done or '<p class="online"> users online' in done
    assert "12 users bought at 10:00 for <i>12.00</i>" in done
    other = response_of(shop_page(7, "11:30", "/p/44"))
    assert processed({"html": other.css("body").get()}, shared, other)["html"] == done


def test_what_an_item_refuses() -> None:
    class Choosy(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(validate_assignment=True)
        text: str = pydantic.Field(min_length=60)
        more: str

    class Angry(dict[str, Any]):
        def __setitem__(self, name: str, value: Any) -> None:
            raise RuntimeError

    text = TEXT[: TEXT.index("12.00")]
    shared = shared_of(DEDUP_CONTENT_FIELDS={"text": "text", "more": "text"})
    done = processed(Choosy(text=text + " " * (60 - len(text)), more=TEXT), shared)
    assert (done.text[:2], done.more) == ("12", LASTING)
    assert processed(Angry(text=TEXT), shared) == {"text": TEXT}
    assert shared.stats.get_value("dedup/errors/pipeline") == 2


def test_what_is_left_alone() -> None:
    shared = shared_of()
    for response in (
        response_of(url="http://other.test/"),
        response_of(dedup=False),
        TextResponse("http://shop.test/", body=shop_page().encode(), encoding="utf-8"),
        Response("http://shop.test/", body=b"\x00"),
        response_of(shop_page() + "x" * shared.settings.max_body),
    ):
        assert processed({"text": TEXT}, shared, response) == {"text": TEXT}
    assert not stats(shared)
    assert shared.built(TransientPipeline).process_item({"text": TEXT}) == {"text": TEXT}
    assert stats(shared) == {"unknown_response": 1}
    shared.masks.use({})
    assert processed({"text": TEXT}, shared) == {"text": TEXT}
    assert stats(shared) == {"unknown_response": 1}
    off = shared_of(DEDUP_SITES={"shop.test": False})
    assert processed({"text": TEXT}, off) == {"text": TEXT}


def test_ambiguous_text_is_counted() -> None:
    shared = shared_of()
    assert processed({"text": "not of this page: 10:00"}, shared)["text"] == "not of this page: 10:00"
    assert stats(shared) == {"ambiguous": 1}


@pytest.mark.parametrize("settings", [{"DEDUP_CONTENT_FIELDS": {}}, {"DEDUP_STRIP": "off"}])
def test_not_configured(settings: dict[str, Any]) -> None:
    with pytest.raises(NotConfigured):
        TransientPipeline.from_crawler(crawler(**settings))
    made = crawler(**{"DEDUP_CONTENT_FIELDS": {"text": "text"}, **settings})
    assert TransientPipeline not in made.settings["ITEM_PIPELINES"]


def test_the_add_on_lists_it_once() -> None:
    fields = {"text": "text"}
    assert crawler(DEDUP_CONTENT_FIELDS=fields).settings.getdict("ITEM_PIPELINES") == {TransientPipeline: 50}
    own = {"scrapy_dedup.crawl.TransientPipeline": 7}
    found = crawler(DEDUP_CONTENT_FIELDS=fields, ITEM_PIPELINES=own).settings.getdict("ITEM_PIPELINES")
    assert [found[name] for name in found] == [7]


async def faulty(serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str) -> dict[str, Any]:
    def breaks(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(name, breaks)
    server = serve(shop)
    settings: dict[str, Any] = {"DEDUP_CONTENT_FIELDS": {"text": "text"}, "DEDUP_TRANSIENT_LINKS": True}
    done = await run(with_masks(server, Shop, **settings), server.url("/"))
    assert len(done.items) == 9
    assert {item["text"][:3] for item in done.items} == {"101", "104"}
    return done.dedup()


@in_reactor
async def test_faults_of_our_own(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items pass as they are, links are followed, and all is counted."""
    with monkeypatch.context() as patched:
        found = await faulty(serve, patched, "scrapy_dedup.crawl.items.transient_content.TransientPage")
        assert found["errors/pipeline"] == 9
        assert found["errors/transient"] == 6, "each request"
    with monkeypatch.context() as patched:
        found = await faulty(serve, patched, "scrapy_dedup.masks.fields.transient_page.TransientPage.find")
        assert found["errors/pipeline"] == 9
    with monkeypatch.context() as patched:
        found = await faulty(serve, patched, "scrapy_dedup.crawl.items.item_sources.ItemSources.note")
        assert found["errors/transient"] == found["transient/unknown_response"] == 9


def test_a_faulty_mask_file_stops_the_start(caplog: pytest.LogCaptureFixture) -> None:
    made = crawler()
    Path("dedup-rules").mkdir()
    Path("dedup-rules/shop.test.mask.toml").write_text("site = 3\n")
    with pytest.raises(RuleFileError):
        CrawlComponents.of(made)
    assert len(messages(caplog)) == 1
    assert "shop.test.mask.toml" in messages(caplog)[0]


def test_with_field_leaves_what_is_no_item() -> None:
    for value in (None, 3, "text", [1], object()):
        assert with_field(value, "text", lambda strings: strings) is value


# Which response an item came from


def test_origins() -> None:
    sources = ItemSources()
    first, second = response_of(), response_of()
    a, b, c = {"n": 1}, {"n": 1}, FrozenSlots("x")
    for item, response in ((a, first), (b, second), (c, second)):
        sources.note(item, response)
    assert sources.take(b) is second
    assert sources.take(b) is None
    assert sources.take(a) is first
    assert sources.take(replace(c)) is None, "equal, but another object"
    sources.done(second)
    assert len(sources) == 1
    sources.done(second)
    assert not len(sources)
    assert sources.take(c) is None
    sources.done(None)
    sources.done(response_of())


def test_an_item_that_is_given_twice() -> None:
    sources = ItemSources()
    first, second = response_of(), response_of()
    item: dict[str, Any] = {}
    sources.note(item, first)
    sources.note(item, second)
    sources.done(first)
    assert sources.take(item) is second
    assert sources.take(item) is None
    sources.note(item, first)
    sources.note(item, first)
    assert [sources.take(item), sources.take(item)] == [first, first]
    sources.done(first)
    sources.done(first)
    assert not len(sources)
    assert not sources._sources.keys() - {id(second)}


def test_origins_are_bounded() -> None:
    """Items that vanish without a signal, in another spider middleware, keep few responses alive."""
    sources = ItemSources(most=3)
    for number in range(10):
        sources.note({"n": number}, response_of())
    assert len(sources) == 3
    gc.collect()
    assert len(sources._sources) == 3


def test_origins_are_bounded_by_bytes() -> None:
    long = HtmlResponse("http://a.example/", body=b"x" * 1_000)
    sources = ItemSources(most_bytes=2_500)
    items = [{"n": number} for number in range(5)]
    for item in items:
        sources.note(item, long.replace())
    assert [sources.take(item) is not None for item in items] == [False, False, False, True, True]
    alone = ItemSources(most_bytes=10)
    for item in items:
        alone.note(item, long.replace())
    kept = alone.take(items[4])
    assert kept is not None, "the last one is remembered however long it is"
    alone.done(kept)
    assert alone._bytes == 0


class Shop(Links):
    def parse(self, response: Any) -> Any:
        self.crawler.shared = CrawlComponents.of(self.crawler)  # type: ignore[attr-defined]
        for number in range(3):
            yield {"url": response.url, "n": number, "text": " ".join(response.css("p ::text").getall())}
        yield from response.follow_all(css="a")


class Shuffling:
    """An item pipeline before the plug-in's: drops, fails, replaces."""

    def process_item(self, item: Any) -> Any:
        if item["n"] == 0:
            raise DropItem("0")
        if item["n"] == 1:
            raise ValueError("1")
        return dict(item)


def shop(asked: Asked) -> str:
    return shop_page(number=len(asked.target) + 100)


def with_masks(server: Server, spider: type[scrapy.Spider], **settings: Any) -> Any:
    """A crawler that uses the mask for the server's site."""
    made = crawler_of(spider, **settings)

    def use() -> None:
        CrawlComponents.of(made).masks.use({f"127.0.0.1:{server.port}": MASK})

    made.signals.connect(use, signals.spider_opened, weak=False)
    return made


@in_reactor
async def test_items_that_others_take_away(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    made = with_masks(
        server, Shop, DEDUP_CONTENT_FIELDS={"text": "text"}, ITEM_PIPELINES={Shuffling: 1}, LOG_LEVEL="CRITICAL"
    )
    done = await run(made, server.url("/"))
    assert len(done.items) == 3
    assert {item["text"][:3] for item in done.items} == {"101", "104"}
    found = done.dedup()
    assert found["transient/unknown_response"] == 3
    assert not any(name.startswith("errors") for name in found)
    sources = CrawlComponents.of(made).transient.sources
    assert (len(sources), len(sources._sources)) == (0, 0)
    assert not messages(caplog)


@in_reactor
async def test_a_crawl(serve: Serve) -> None:
    server = serve(shop)
    made = with_masks(server, Shop, DEDUP_CONTENT_FIELDS={"text": "text"})
    done = await run(made, server.url("/"))
    assert len(done.items) == 9
    assert {item["text"] for item in done.items} == {
        " ".join(response_of().css("p ::text").getall()).removeprefix("12 ")
    }
    found = done.dedup()
    assert (found["transient/items"], found["transient/blocks"]) == (9, 9)
    sources = CrawlComponents.of(made).transient.sources
    assert (len(sources), len(sources._sources)) == (0, 0)


@pytest.mark.parametrize(
    ("shown", "html"),
    [
        ("<p>A <b>chair</b></p>", True),
        ('<DIV class="a">A<br>chair</DIV >', True),
        ("<section>" + "a chair " * 500 + "</section>", True),
        ("Alice <a@example.org>, Bob <b@example.org>", False),
        ("<Alice> said: a < b and c > d, </Alice>", False),
        ("an <br> or an <a href=x> without an end", False),
    ],
)
def test_html_is_told_from_text_with_angle_brackets(shown: str, html: bool) -> None:
    assert is_html(shown, f"<html><body>{shown}</body></html>") is html


def test_text_that_quotes_a_tag_is_no_html() -> None:
    page = "<html><body><p>Write &lt;b&gt;bold&lt;/b&gt; for <b>bold</b>, or &lt;a href=x>x&lt;/a>.</p></body></html>"
    response = response_of(page)
    assert not is_html("".join(response.css("p ::text").getall()), response.text)
    assert is_html(response.css("p").get(""), response.text)


@in_reactor
async def test_text_fields_with_angle_brackets_are_named_as_text(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    class Texts(Links):
        def parse(self, response: Any) -> Any:
            yield {"text": " ".join(response.css("body ::text").getall()), "html": response.css("body").get()}

    words = " ".join(f"word{number}" for number in range(60))
    text = f"Alice &lt;a@example.org&gt; writes &lt;b&gt;bold&lt;/b&gt; {words}"
    server = serve({"/": f"<html><body><p>{text}</p></body></html>"})
    caplog.set_level("INFO")
    await crawl(Texts, server.url("/"))
    (told,) = [line for line in messages(caplog, 20) if "DEDUP_CONTENT_FIELDS" in line]
    assert "{'html': 'html', 'text': 'text'}" in told


class Fields(Links):
    def parse(self, response: Any) -> Any:
        for number in range(3):
            yield {
                "body": response.text,
                "price": number,
                "seller": {"name": "Bob", "about": [{"words": "long"}]},
                "none": None,
                "empty": [],
                "mixed": "text" if number else None,
            }


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (["body", "mixed", "seller.name", "seller.about.words", "none", "empty"], None),
        (["boddy"], "no item has the field 'boddy': is 'body' meant?"),
        (["words"], "no item has the field 'words': is 'seller.about.words' meant?"),
        (["seller.nam"], "no item has the field 'seller.nam': is 'seller.name' meant?"),
        (["qqq"], "no item has the field 'qqq': items have body, empty, mixed, none, price, seller, seller.about, "),
        (["price"], "the field 'price' holds int and not a string or a list of strings: take it out of the setting"),
        (
            ["seller"],
            "the field 'seller' holds dict and not a string or a list of strings: name a field in it, such as ",
        ),
        (["body", "boddy", "price"], "is 'body' meant?; the field 'price' holds int"),
        (["mixe"], "no item has the field 'mixe': is 'mixed' meant?"),
        (["seller.words"], "is 'seller.about.words' or "),
    ],
)
@in_reactor
async def test_fields_that_no_item_has_or_that_do_not_fit_are_told_once(
    serve: Serve, caplog: pytest.LogCaptureFixture, fields: list[str], said: str | None
) -> None:
    server = serve(shop)
    done = await crawl(Fields, server.url("/"), DEDUP_CONTENT_FIELDS=dict.fromkeys(fields, "html"))
    assert len(done.items) == 3
    told = messages(caplog)
    if said is None:
        assert told == []
    else:
        assert [line.startswith("DEDUP_CONTENT_FIELDS is to be corrected: ") for line in told] == [True]
        assert said in told[0]


class Kinds(Links):
    def parse(self, response: Any) -> Any:
        yield {
            "html": response.css("p").get(),
            "parts": response.css("p").getall(),
            "text": " ".join(response.css("p ::text").getall()),
            "name": "Bob",
            "empty": "",
            "nested": [{"text": "Some words of a text"}],
            "seldom": "Some words of a text, " + ("<b>bold</b>" if "/p/" in response.url else "plain"),
        }
        yield from response.follow_all(css="a")


@pytest.mark.parametrize(
    ("kind", "names", "said"),
    [
        ("html", ["html", "parts", "name", "empty", "seldom"], None),
        ("text", ["text", "name", "empty", "nested.text"], None),
        (
            "html",
            ["text"],
            "the field 'text' is named as \"html\", and none of its values has a tag: {'text': 'text'} is right",
        ),
        ("html", ["nested.text"], "the field 'nested.text' is named as \"html\", and none of its values has a tag"),
        ("text", ["html"], "the field 'html' is named as \"text\", and its values are HTML: {'html': 'html'} is right"),
        ("text", ["parts"], "the field 'parts' is named as \"text\", and its values are HTML"),
    ],
)
@in_reactor
async def test_a_kind_that_does_not_fit_is_told_once(
    serve: Serve, caplog: pytest.LogCaptureFixture, kind: str, names: list[str], said: str | None
) -> None:
    server = serve(shop)
    done = await crawl(Kinds, server.url("/"), DEDUP_CONTENT_FIELDS=dict.fromkeys(names, kind))
    assert len(done.items) == 3
    told = messages(caplog)
    assert len(told) == (said is not None)
    assert done.dedup().get("content_fields/mistaken", 0) == (said is not None)
    assert "content_fields/missing" not in done.dedup()
    if said is not None:
        assert f"is to be corrected: {said}" in told[0]


@in_reactor
async def test_fields_that_are_wrong_are_counted(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    fields = {"txet": "text", "htlm": "html", "text": "html", "html": "text", "nested": "text"}
    done = await crawl(Kinds, server.url("/"), DEDUP_CONTENT_FIELDS=fields)
    found = done.dedup()
    assert (found["content_fields/missing"], found["content_fields/mistaken"]) == (2, 3)
    (told,) = messages(caplog)
    assert told.count("; ") == 4
    assert "no item has the field 'txet': is 'text' " in told
    assert "no item has the field 'htlm': is 'html' meant?" in told


def test_text_that_quotes_tags_is_text() -> None:
    check = FieldCheck({"text": "text"})
    page = "<p>Write &lt;b&gt;bold&lt;/b&gt; for a bold word</p>"
    check.look({"text": "Write <b>bold</b> for a bold word"}, response_of(page))
    assert check.problem == ""
    check = FieldCheck({"text": "text"})
    check.look({"text": "Write <b>bold</b> for a bold word"}, response_of("<p>Write <b>bold</b> for a bold word</p>"))
    assert "are HTML" in check.problem


@in_reactor
async def test_fields_are_not_judged_where_there_is_no_item(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    class Silent(Links):
        def parse(self, response: Any) -> Any:
            return ()

    server = serve(shop)
    await crawl(Silent, server.url("/"), DEDUP_CONTENT_FIELDS={"body": "html"})
    assert messages(caplog) == []


@in_reactor
async def test_fields_that_look_like_page_content_are_named(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    class Wordy(Links):
        def parse(self, response: Any) -> Any:
            yield {
                "url": response.url,
                "title": "A chair",
                "body": response.text,
                "parts": [{"text": " ".join(response.css("::text").getall() * 2)}],
                "elsewhere": "words that stand in no page " * 20,
            }

    server = serve(shop)
    caplog.set_level("INFO")
    await crawl(Wordy, server.url("/"))
    told = [line for line in messages(caplog, 20) if "DEDUP_CONTENT_FIELDS" in line]
    assert len(told) == 1
    assert "scrapy-dedup: DEDUP_CONTENT_FIELDS = {'body': 'html', 'parts.text': 'text'} would strip" in told[0]
    for settings in ({"DEDUP_STRIP": "off"}, {"DEDUP_CONTENT_FIELDS": {"body": "html"}}):
        caplog.clear()
        await crawl(Wordy, server.url("/"), **settings)
        assert not [line for line in messages(caplog, 20) if "DEDUP_CONTENT_FIELDS" in line]
    caplog.clear()
    await crawl(Links, server.url("/"))
    assert not [line for line in messages(caplog, 20) if "DEDUP_CONTENT_FIELDS" in line]
