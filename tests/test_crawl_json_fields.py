"""Fields that hold JSON: what their strings mean is stripped, and they are JSON as before."""

import json
from typing import Any

import pytest
import scrapy
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.crawl.items.field_pages import FieldPages
from scrapy_dedup.crawl.items.pipeline import _Field
from scrapy_dedup.masks.fields.json_text import decoded, json_text
from scrapy_dedup.masks.fields.transient_page import TransientPage

from .conftest import Serve
from .crawling import in_reactor, run
from .test_crawl_pipeline import LASTING, TEXT, processed, shared_of, shop, stats, with_masks

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\/é😀\n12\u2028 ', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\é', max_size=3), inner, max_size=3),
    max_leaves=8,
)


def strings_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [string for part in parts for string in strings_in(part)]


def mapped(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: mapped(part, change) for name, part in value.items()}
    return [mapped(part, change) for part in value] if isinstance(value, list) else value


@given(VALUES.filter(lambda value: isinstance(value, str | dict | list)), st.booleans(), st.sampled_from([None, 2]))
def test_strings_are_found_and_replaced(value: Any, ascii_only: bool, indent: int | None) -> None:
    source = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    text = json_text(source)
    assert text is not None
    assert text.strings == strings_in(value)
    assert text.with_strings(text.strings) == source
    changed = text.with_strings([string.replace("1", "é\n") for string in text.strings])
    assert json.loads(changed) == mapped(value, lambda string: string.replace("1", "é\n"))
    assert changed.isascii() or not source.isascii()


@given(VALUES.filter(lambda value: isinstance(value, str | dict | list)), st.lists(st.integers(0, 60), max_size=6))
@settings(max_examples=30)
def test_whatever_is_cut_it_stays_json(value: Any, places: list[int]) -> None:
    source = json.dumps(value)
    text = json_text(source)
    assert text is not None
    ends = sorted({min(place, len(source)) for place in places})
    cuts = list(zip(ends[::2], ends[1::2], strict=False))

    def without(string: str, inside: list[tuple[int, int]]) -> str:
        for start, end in reversed(inside):
            assert 0 <= start < end <= len(string)
            string = string[:start] + string[end:]
        return string

    new = json.loads(text.rewritten(cuts, without))
    assert type(new) is type(value)
    if isinstance(value, dict):
        assert list(new) == list(value)
    elif isinstance(value, list):
        assert len(new) == len(value)
    if not cuts:
        assert new == value


@pytest.mark.parametrize("text", ["plain", "{broken", '"a" and "b"', "{'a': 1}", '"', "\\", "12", "a \\x b", ""])
def test_what_is_no_json(text: str) -> None:
    assert json_text(text) is None


def test_escapes_are_written_as_they_stood() -> None:
    text = json_text(r'{"a": "\u00e9 \u003cb\u003e \/ \ud83d\ude00 12", "n": 12, "a\"12": ["12"]}')
    assert text is not None
    assert text.strings == ["é <b> / 😀 12", "12"]
    left = text.with_strings([string.replace("12", "") for string in text.strings])
    assert left == r'{"a": "\u00e9 \u003cb\u003e \/ \ud83d\ude00 ", "n": 12, "a\"12": [""]}'


def test_numbers_that_pass_are_null_then() -> None:
    source = r'{"n": 12, "online": "12 users", "l": [true, 3.5e1], "s": "\u00e912"}'
    text = json_text(source)
    assert text is not None

    def cut(*pieces: str) -> str:
        places = sorted((source.index(piece), source.index(piece) + len(piece)) for piece in pieces)
        return text.rewritten(places, lambda string, inside: string[: inside[0][0]] + string[inside[-1][1] :])  # type: ignore[union-attr]

    assert cut('12, "online": "12') == source.replace('12, "online": "12', 'null, "online": "', 1)
    assert cut("3.5e1") == source.replace("3.5e1", "null")
    assert cut(".5") == source, "a part of a number stays"
    assert cut("e912") == source.replace(r"e912", "e9"), "an escape is cut or it is not"


def field_of(page: TransientPage, *, marks: bool = False) -> _Field:
    return _Field(FieldPages(page), "text", marks=marks)


def test_the_state_that_a_script_of_the_page_holds() -> None:
    state = r'{"online": 12, "note": "12 users \"online\"", "title": "A chair \/ 12"}'
    html = f'<script type="application/json">{state}</script><p>A chair / 12</p>'
    spans = [(html.index("12,"), html.index("12,") + 2), (html.index("12 users"), html.index("12 users") + 2)]
    assert field_of(TransientPage(html, spans))([state]) == [
        r'{"online": null, "note": "users \"online\"", "title": "A chair \/ 12"}'
    ]
    piece = r"12 users \"online\""
    assert field_of(TransientPage(html, spans))([piece]) == [r"users \"online\""]
    marked = field_of(TransientPage(html, spans), marks=True)([state])
    assert marked is not None
    assert json.loads(marked[0])["note"] == '⟦12⟧ users "online"'


PIECES = {
    "dumped": json.dumps({"id": 12, "text": TEXT, "tags": ["a", "b"]}),
    "readable": json.dumps({"text": TEXT}, ensure_ascii=False, indent=1),
    "lines": json.dumps([TEXT.replace(" A ", "\nA ")]),
    "string": json.dumps(TEXT.replace("12.00", '"12.00"')[: -len(' "12.00" €.')]),
    "piece": json.dumps(TEXT.replace(" A ", "\nA "))[1:-1],
    "slashes": json.dumps({"text": TEXT}).replace("1", "\\u0031"),
    "upper": json.dumps({"text": TEXT.upper()}),
}


@pytest.mark.parametrize("name", PIECES)
def test_json_of_the_texts_of_a_page(name: str) -> None:
    shared = shared_of()
    source = PIECES[name]
    new = processed({"text": source}, shared)["text"]
    assert stats(shared)["fields"] == 1
    wrap = '"{}"' if name == "piece" else "{}"
    before, after = json.loads(wrap.format(source)), json.loads(wrap.format(new))
    assert type(after) is type(before)
    if name == "dumped":
        assert (after["id"], after["tags"]) == (12, ["a", "b"])
    (old,) = [string for string in strings_in(before) if len(string) > 9]
    (left,) = [string for string in strings_in(after) if len(string) > 9]
    assert left == old.replace("12 ", "", 1)
    assert new.isascii() == source.isascii()


def test_text_in_quotes_or_with_backslashes_is_text() -> None:
    html = '<p>"12 users online"</p><p>C:\\new 12</p>'
    spans = [(4, 6), (html.rindex("12"), html.rindex("12") + 2)]
    assert field_of(TransientPage(html, spans))(['"12 users online"']) == ['" users online"']
    assert field_of(TransientPage(html, spans))(["C:\\new 12"]) == ["C:\\new "]
    assert field_of(TransientPage(html, [(3, 20)]))(['"12 users online"']) == []


def test_a_list_of_texts_and_documents() -> None:
    shared = shared_of()
    item = {"text": ["12 users online", json.dumps({"text": TEXT}), '{"n": 1}']}
    assert processed(item, shared)["text"] == ["users online", json.dumps({"text": LASTING}), '{"n": 1}']
    assert decoded("a\\n") == "a\n"


@in_reactor
async def test_a_crawl(serve: Serve) -> None:
    class States(scrapy.Spider):
        name = "states"

        def __init__(self, url: str) -> None:
            super().__init__()
            self.start_urls = [url]

        def parse(self, response: Any) -> Any:
            texts = response.css("p ::text").getall()
            yield {"url": response.url, "text": json.dumps({"all": " ".join(texts), "n": 7, "nested": [{"by": "x"}]})}
            yield from response.follow_all(css="a", callback=self.parse)

    server = serve(shop)
    done = await run(with_masks(server, States, DEDUP_CONTENT_FIELDS={"text": "text"}), server.url("/"))
    found = [json.loads(item["text"]) for item in done.items]
    assert len(found) == 3
    for each in found:
        assert each["all"].startswith(LASTING[:50])
        assert (each["n"], each["nested"]) == (7, [{"by": "x"}])
    assert done.dedup()["transient/fields"] == 3
