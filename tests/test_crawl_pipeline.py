"""Items of every type are exported without what passes on their page; no item fails, and nothing else changes."""

import uuid
from dataclasses import dataclass, field
from typing import Any

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem
from scrapy.http import TextResponse

from .conftest import Serve
from .crawling import Crawl, Links, crawl, in_reactor, messages, rules_of
from .exporting import export, place, write_mask
from .server import Answer

MASK = (
    place("html/body/p.online", "{…} users online"),
    place("html/body/div.foot/b"),
    place("html/body/ul.recent/li/a"),
    place("html/body/ul.recent/li/a", attribute="href"),
)
FIELDS = dict.fromkeys(("text", "about.text", "reviews.text", "text.text", "a.text", "more"), "text")
TEXT = "12 users online A chair that 12 users bought at 10:00 for 12.00 €."
LASTING = "users online A chair that 12 users bought at 10:00 for 12.00 €."


def shop_page(number: int = 12, clock: str = "10:00", recent: str = "/p/3") -> str:
    """A page with a counter, a clock, and a link to what was viewed recently; the same figures stand in its text."""
    return (
        "<!doctype html><html><head><title>A chair</title></head><body>"
        f"<p class=online>{number} users online</p>"
        f"<p class=text>A chair that 12 users bought at 10:00 for <i>12.00</i> &euro;.</p><p><a href=/p/2>Another</a></p>"
        f"<ul class=recent><li><a href='{recent}'>Seen: {recent}</a></ul>"
        f"<div class=foot>It is <b>{clock}</b> o'clock where the chairs are made, which is far away.</div></body></html>"
    )


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


class Choosy(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(validate_assignment=True)
    text: str = pydantic.Field(min_length=len(TEXT))
    more: str


class Angry(dict[str, Any]):
    def __setitem__(self, name: str, value: Any) -> None:
        raise RuntimeError


def as_dict(text: Any) -> dict[str, Any]:
    return {"text": text, "price": "12"}


def as_item(text: Any) -> ScrapyItem:
    return ScrapyItem(text=text, price="12")


CHANGED_IN_PLACE = [as_dict, as_item, Plain, Slots, Attrs, AttrsWithoutWeakref, Model, ModelChecked]
FROZEN = [Frozen, FrozenSlots, AttrsFrozen, ModelFrozen, ModelFrozenField]


async def export_all(serve: Serve, given: list[Any], html: Any = "", **settings: Any) -> Crawl:
    done, _ = await export(serve, {"p": html or shop_page()}, lambda _: given, *MASK, fields=FIELDS, **settings)
    assert len(done.items) == len(given)
    return done


@in_reactor
async def test_every_type_of_item(serve: Serve) -> None:
    """Alone, in another item, and with other items in it; what is frozen is replaced, and else the item is the same."""
    given = [make(TEXT) for make in CHANGED_IN_PLACE + FROZEN]
    before = [dict(ItemAdapter(item)) for item in given]
    done = await export_all(serve, given)
    for number, (item, was) in enumerate(zip(done.items, before, strict=True)):
        assert type(item) is type(given[number])
        assert dict(ItemAdapter(item)) == {**was, "text": LASTING}
        if number < len(CHANGED_IN_PLACE):
            assert item is given[number]
        else:
            assert dict(ItemAdapter(given[number])) == was
    found = {name: done.stat(f"transient/{name}") for name in ("items", "fields", "blocks", "characters")}
    assert found == {"items": 13, "fields": 13, "blocks": 13, "characters": 26}
    nested = [
        {"about": make(TEXT), "reviews": [make("a"), make(TEXT), None], "text": "12", "other": make(TEXT)}
        for make in CHANGED_IN_PLACE + FROZEN
    ]
    outer = [make({"text": [TEXT]}) for make in CHANGED_IN_PLACE + FROZEN]
    done = await export_all(serve, [*nested, *outer])
    for item in done.items[: len(nested)]:
        texts = [ItemAdapter(each)["text"] for each in (item["about"], *item["reviews"][:2], item["other"])]
        assert (texts, item["text"], item["reviews"][2]) == ([LASTING, "a", LASTING, TEXT], "12", None)
    for item in done.items[len(nested) :]:
        assert ItemAdapter(item)["text"] == {"text": [LASTING]}
    assert not done.faults()


PARTS = ["12 users online", "A chair that 12 users bought at 10:00 for ", "12.00", " €."]
VALUES: list[tuple[Any, Any]] = [
    *((value, value) for value in (None, 12, b"12 users online", [], [1, "a"], {"text": 1}, "", ("a", 1))),
    (PARTS, ["users online", *PARTS[1:]]),
    (tuple(PARTS), ("users online", *PARTS[1:])),
    (["It is", "10:00", "o'clock where the chairs are made"], ["It is", "o'clock where the chairs are made"]),
    ("not of this page: 10:00", "not of this page: 10:00"),
]


@in_reactor
async def test_values_and_names_of_fields(serve: Serve) -> None:
    given: list[Any] = [{"text": value} for value, _ in VALUES]
    others: list[Any] = [{}, ScrapyItem(price="12"), object.__new__(Slots)]
    done = await export_all(serve, [*given, *others, {"a.text": TEXT, "a": {"text": TEXT}}])
    assert [item["text"] for item in done.items[: len(VALUES)]] == [value for _, value in VALUES]
    assert done.items[len(VALUES) : -1] == others
    assert done.items[-1] == {"a.text": LASTING, "a": {"text": TEXT}}
    assert done.stat("transient/ambiguous") == 1
    assert not done.faults()


@in_reactor
async def test_what_an_item_refuses(serve: Serve) -> None:
    done = await export_all(serve, [Choosy(text=TEXT, more=TEXT), Angry(text=TEXT)])
    assert (done.items[0].text, done.items[0].more, done.items[1]) == (TEXT, LASTING, {"text": TEXT})
    assert done.stat("errors/pipeline") == 2


@in_reactor
async def test_html_and_marks(serve: Serve) -> None:
    pages = {"a": shop_page(), "b": shop_page(7, "11:30", "/p/44")}
    bodies = {}

    def give(response: Any) -> Any:
        bodies[response.url[-1]] = response.css("body").get()
        yield {"on": response.url[-1], "html": response.css("body").get(), "text": TEXT}

    fields = {"html": "html", "text": "text"}
    done, _ = await export(serve, pages, give, *MASK, fields=fields)
    one, other = (item["html"] for item in done.items)
    assert one == other
    assert '<p class="online">users online' in one or '<p class="online"> users online' in one
    assert "12 users bought at 10:00 for <i>12.00</i>" in one
    done, _ = await export(serve, {"a": pages["a"]}, give, *MASK, fields=fields, DEDUP_STRIP="mark")
    (item,) = done.items
    assert item["text"] == "⟦12⟧ " + LASTING
    assert '<p class="online"><span data-dedup="transient">12</span> users online' in item["html"]
    assert '<b><span data-dedup="transient">10:00</span></b>' in item["html"]
    assert item["html"].replace('<span data-dedup="transient">', "").replace("</span>", "") == bodies["a"]


@pytest.mark.parametrize(
    ("html", "settings"),
    [
        pytest.param("", {"DEDUP_STRIP": "off"}, id="switched off"),
        pytest.param("", {"DEDUP_ENABLED": False}, id="all switched off"),
        pytest.param("", {"DEDUP_CONTENT_FIELDS": {}}, id="no fields"),
        pytest.param("", {"DEDUP_SITES": {"127.0.0.1": False}}, id="another site"),
        pytest.param(Answer(shop_page(), content_type="text/plain"), {}, id="text"),
        pytest.param(Answer(b"\x00", content_type="image/png"), {}, id="a picture"),
        pytest.param(shop_page() + "<!--" + "x" * 3_000_000, {}, id="longer than anybody looks"),
    ],
)
@in_reactor
async def test_what_is_left_alone(serve: Serve, html: Any, settings: dict[str, Any]) -> None:
    server = serve({"/": html or shop_page()})
    write_mask(server.site, *MASK)
    if "DEDUP_SITES" in settings:
        settings = {"DEDUP_SITES": {server.site: False}}

    class Gives(Links):
        def parse(self, response: Any) -> Any:
            assert isinstance(response, TextResponse) or b"\x00" in response.body
            yield {"url": response.url, "text": TEXT}

    done = await crawl(Gives, server.url("/"), **{"DEDUP_CONTENT_FIELDS": FIELDS, **settings})
    assert [item["text"] for item in done.items] == [TEXT]
    assert not [name for name in done.dedup() if name.startswith(("transient", "errors"))]


class Shuffling:
    """An item pipeline before the plug-in's: drops, fails, replaces."""

    def process_item(self, item: Any) -> Any:
        if item["n"] == 0:
            raise DropItem("0")
        if item["n"] == 1:
            raise ValueError("1")
        return dict(item)


@in_reactor
async def test_items_that_others_take_away(serve: Serve) -> None:
    """Where the response that an item came from is not known, the item stays as it is."""

    def give(_: Any) -> Any:
        yield from ({"n": n, "text": TEXT} for n in range(3))

    done, _ = await export(
        serve, dict.fromkeys("pqr", shop_page()), give, *MASK, fields=FIELDS, ITEM_PIPELINES={Shuffling: 1}
    )
    assert done.items == [{"n": 2, "text": TEXT}] * 3
    assert done.stat("transient/unknown_response") == 3
    assert not done.faults()


@in_reactor
async def test_an_item_that_is_given_twice_and_one_for_two_pages(serve: Serve) -> None:
    """Items are told apart as objects, though they are equal."""
    again = {"n": 0, "text": TEXT}

    def give(response: Any) -> Any:
        yield from (again, again, {"n": 0, "text": TEXT}, {"n": 0, "text": TEXT.replace("12 ", "7 ", 1)})

    done, _ = await export(serve, {"p": shop_page(), "q": shop_page(7)}, give, *MASK, fields=FIELDS)
    left = sorted(item["text"] for item in done.items)
    assert len(left) == 8
    assert left.count(LASTING) >= 6
    assert not done.faults()


@in_reactor
async def test_a_faulty_mask_file_stops_the_start(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve({"/": shop_page()})
    write_mask(server.site, "site = 3")
    with pytest.raises(ValueError, match=r"mask\.toml"):
        await crawl(Links, server.url("/"))
    assert server.downloads == 0
    assert ".mask.toml" in "".join(messages(caplog))
    assert rules_of(server.site) == []
